//! Requests to models, their replies and their failures, the same for every provider.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::conversation::{Conversation, TurnReply};
use crate::schema::Schema;

/// A boxed future.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model that writes text.
pub trait ChatModel: Send + Sync {
    /// Asks once, without retries or cache.
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Pending<'a, Result<ModelReply, ModelError>>;

    /// Asks once for the next turn of a conversation, without retries or cache.
    fn converse<'a>(&'a self, talk: &'a Conversation)
    -> Pending<'a, Result<TurnReply, ModelError>>;
}

/// A model that turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Returns one vector per text, in order. Numbers keep the precision they were sent with.
    fn embed<'a>(&'a self, texts: &'a [String]) -> Pending<'a, Result<Embeddings, ModelError>>;
}

/// A request to a chat model.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// The purpose of the call. It names the schema, so that logs and test servers can distinguish
    /// calls.
    pub purpose: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The user prompt.
    pub user: String,
    /// The shape of the reply; `None` for plain text.
    pub schema: Option<Schema>,
}

/// The reply of a chat model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    /// What the model said.
    pub said: Outcome,
    /// Tokens, if the provider reports them.
    pub usage: Option<Usage>,
}

/// What a chat model said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A text, or the requested JSON as text.
    Text(String),
    /// The model declined to answer, for this reason.
    Declined(String),
}

impl Outcome {
    /// Returns the text, or an error if the model declined.
    pub(crate) fn into_text(self) -> Result<String, ModelError> {
        match self {
            Outcome::Text(text) => Ok(text),
            Outcome::Declined(why) => Err(ModelError::Declined(why)),
        }
    }

    /// Returns the text of the reply, or the reason why the model declined.
    pub fn as_str(&self) -> &str {
        match self {
            Outcome::Text(text) | Outcome::Declined(text) => text,
        }
    }

    /// Changes the text.
    pub(crate) fn map(self, change: impl FnOnce(String) -> String) -> Outcome {
        match self {
            Outcome::Text(text) => Outcome::Text(change(text)),
            Outcome::Declined(why) => Outcome::Declined(change(why)),
        }
    }
}

/// The reply of an embedder.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// One vector per text.
    pub vectors: Vec<Vec<f64>>,
    /// Tokens, if the provider reports them.
    pub usage: Option<Usage>,
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
}

/// How a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The key is missing, wrong or out of credit; asking again is of no use.
    #[error("the model refuses the key: {0}")]
    Unauthorized(String),
    /// The provider rejects this call.
    #[error("the model refuses access: {0}")]
    Forbidden(String),
    /// The model or the address does not exist; asking again is of no use.
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
    /// The server is reachable but has not loaded its model yet.
    #[error("the model is being loaded: {0}")]
    Loading(String),
    /// No reply came in time.
    #[error("no reply within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The provider refuses the request itself.
    #[error("the model refuses the request: {message}")]
    BadRequest {
        /// What the provider said.
        message: String,
        /// The parameter that the provider objects to, if it names one.
        parameter: Option<String>,
    },
    /// The model declined to answer.
    #[error("the model declined: {0}")]
    Declined(String),
    /// The reply is complete but not usable.
    #[error("the reply cannot be used: {0}")]
    Unusable(String),
    /// The reply does not follow the protocol.
    #[error("the reply is malformed: {0}")]
    Garbled(String),
}

impl ModelError {
    /// Changes the text of the error.
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
