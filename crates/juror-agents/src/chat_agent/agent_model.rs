//! Whom an agent asks.

use std::sync::Arc;

use juror_models::{Message, Pending, Said};

use crate::environment::Environment;

/// Replies to a conversation.
pub trait Model: Send + Sync {
    /// Asks once. Retries are the model's own affair.
    fn ask<'a>(&'a self, ask: Ask<'a>) -> Pending<'a, Result<Reply, AskError>>;
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// What was said so far. Messages that are not valid are on record only, and are not sent.
    pub messages: &'a [Arc<Message>],
    /// What can be called.
    pub environment: &'a Environment,
}

/// What a model replied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it said.
    pub said: Said,
    /// The tokens it took, read and written.
    pub n_tokens: u64,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// This question failed for good; another may succeed.
    #[error("{0}")]
    Failed(String),
    /// Nothing more is asked at all.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Asking has stopped, so the query is as open as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Stopped(pub String);
