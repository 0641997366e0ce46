//! What is asked of a model, what it replies, and how it fails: the same for every provider.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::conversation::{Conversation, TurnReply};
use crate::schema::Schema;

/// A reply that is on its way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Writes text.
pub trait ChatModel: Send + Sync {
    /// Asks once; no retries, no cache.
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Pending<'a, Result<ModelReply, ModelError>>;

    /// Goes on with a conversation, once; no retries, no cache.
    fn converse<'a>(&'a self, talk: &'a Conversation)
    -> Pending<'a, Result<TurnReply, ModelError>>;
}

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// One vector a text, in order. Numbers keep the precision they were sent with.
    fn embed<'a>(&'a self, texts: &'a [String]) -> Pending<'a, Result<Embeddings, ModelError>>;
}

/// What a chat model is asked.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// What the call is for; names the schema, so that logs and test servers can tell calls apart.
    pub purpose: String,
    /// What the model is to be.
    pub system: Option<String>,
    /// What it is asked.
    pub user: String,
    /// The shape of the reply; plain text when there is none.
    pub schema: Option<Schema>,
}

/// What a chat model replied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    /// What it said.
    pub said: Outcome,
    /// What it cost in tokens, where the provider tells.
    pub usage: Option<Usage>,
}

/// What a chat model said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A text, or the JSON it was asked for as text.
    Text(String),
    /// That it will not answer, and why.
    Declined(String),
}

impl Outcome {
    /// The text, or that there is none.
    pub(crate) fn into_text(self) -> Result<String, ModelError> {
        match self {
            Outcome::Text(text) => Ok(text),
            Outcome::Declined(why) => Err(ModelError::Declined(why)),
        }
    }

    /// The text, whether it is a reply or says why there is none.
    pub fn as_str(&self) -> &str {
        match self {
            Outcome::Text(text) | Outcome::Declined(text) => text,
        }
    }

    /// The same with its text changed.
    pub(crate) fn map(self, change: impl FnOnce(String) -> String) -> Outcome {
        match self {
            Outcome::Text(text) => Outcome::Text(change(text)),
            Outcome::Declined(why) => Outcome::Declined(change(why)),
        }
    }
}

/// What an embedder replied.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// One vector a text.
    pub vectors: Vec<Vec<f64>>,
    /// What it cost in tokens, where the provider tells.
    pub usage: Option<Usage>,
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sent.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
}

/// How a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The key is missing, wrong or has no more credit: asking again is of no use.
    #[error("the model refuses the key: {0}")]
    Unauthorized(String),
    /// The provider does not let this call through.
    #[error("the model refuses access: {0}")]
    Forbidden(String),
    /// There is no such model, or nothing at the address: asking again is of no use.
    #[error("there is no such model or address: {0}")]
    NotThere(String),
    /// Too many calls.
    #[error("the model asks to slow down: {message}")]
    RateLimited {
        /// What the provider said.
        message: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The server failed, or the connection did.
    #[error("the model cannot be reached: {0}")]
    Unavailable(String),
    /// The server is there, and its model is not loaded yet.
    #[error("the model is being loaded: {0}")]
    Loading(String),
    /// No reply came in time.
    #[error("no reply within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The request itself is refused.
    #[error("the model refuses the request: {message}")]
    BadRequest {
        /// What the provider said.
        message: String,
        /// The parameter it names, if it names one.
        parameter: Option<String>,
    },
    /// The model declined to answer.
    #[error("the model declined: {0}")]
    Declined(String),
    /// The reply is whole and of no use.
    #[error("the reply cannot be used: {0}")]
    Unusable(String),
    /// What came is not what the protocol promises.
    #[error("the reply is malformed: {0}")]
    Garbled(String),
}

impl ModelError {
    /// The same error with its text changed.
    #[must_use]
    pub(crate) fn map_text(self, change: impl Fn(&str) -> String) -> ModelError {
        match self {
            ModelError::Unauthorized(text) => ModelError::Unauthorized(change(&text)),
            ModelError::Forbidden(text) => ModelError::Forbidden(change(&text)),
            ModelError::NotThere(text) => ModelError::NotThere(change(&text)),
            ModelError::RateLimited { message, retry_after } => {
                ModelError::RateLimited { message: change(&message), retry_after }
            }
            ModelError::Unavailable(text) => ModelError::Unavailable(change(&text)),
            ModelError::Loading(text) => ModelError::Loading(change(&text)),
            ModelError::TimedOut(time) => ModelError::TimedOut(time),
            ModelError::BadRequest { message, parameter } => {
                ModelError::BadRequest { message: change(&message), parameter }
            }
            ModelError::Declined(text) => ModelError::Declined(change(&text)),
            ModelError::Unusable(text) => ModelError::Unusable(change(&text)),
            ModelError::Garbled(text) => ModelError::Garbled(change(&text)),
        }
    }

    /// Whether the same call may succeed a moment later.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            ModelError::RateLimited { .. }
                | ModelError::Unavailable(_)
                | ModelError::Loading(_)
                | ModelError::TimedOut(_)
                | ModelError::Garbled(_)
        )
    }
}
