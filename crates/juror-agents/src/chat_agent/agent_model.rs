//! The model that an agent asks.

use std::sync::Arc;

use juror_models::{Message, Pending, Said};

use crate::environment::Environment;

/// Replies to a conversation.
pub trait Model: Send + Sync {
    /// Asks once. Retries are up to the model.
    fn ask<'a>(&'a self, ask: Ask<'a>) -> Pending<'a, Result<Reply, AskError>>;
}

/// A question to a model.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The conversation so far. Messages that are not valid are on record only and not sent.
    pub messages: &'a [Arc<Message>],
    /// The functions it can call.
    pub environment: &'a Environment,
}

/// A model's reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Its text and calls.
    pub said: Said,
    /// Input and output tokens.
    pub n_tokens: u64,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// This question failed for good; another may succeed.
    #[error("{0}")]
    Failed(String),
    /// No more questions are asked at all.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Asking has stopped, which leaves the query unanswered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Stopped(pub String);
