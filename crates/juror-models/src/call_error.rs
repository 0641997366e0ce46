//! Why a call has no reply.

use crate::model::ModelError;

/// Why no more calls are sent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stop {
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// The provider rejects the key.
    #[error("the model refuses the key: {0}")]
    BadKey(String),
    /// The model or the address does not exist.
    #[error("there is no such model or address: {0}")]
    NotThere(String),
    /// Many calls failed and none succeeded, so the server seems unreachable.
    #[error("nobody answers: {0}")]
    Unreachable(String),
    /// Many calls failed and none succeeded, the last because it took too long.
    #[error("nobody answers: {0}")]
    TooSlow(String),
    /// Replies cannot be kept and would have to be bought again.
    #[error("replies cannot be kept: {0}")]
    CannotKeep(String),
    /// The next call could exceed the cost limit.
    #[error("the cost ceiling of {0} USD is reached")]
    CostCeiling(f64),
}

/// Why a call has no usable reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The model failed.
    #[error(transparent)]
    Failed(#[from] ModelError),
    /// The reply is not usable.
    #[error("{0}")]
    Unreadable(String),
    /// Calls were stopped before or by this call.
    #[error("not asked: {0}")]
    NotAsked(Stop),
    /// Only recorded replies may be used, and there is none for this call.
    #[error("no recorded reply to this `{purpose}` call (key {key})")]
    NotRecorded {
        /// The purpose of the call.
        purpose: String,
        /// The beginning of its key.
        key: String,
    },
    /// Calls are only counted.
    #[error("only counted")]
    OnlyCounted,
    /// No model of this kind is configured.
    #[error("no embedding model is configured")]
    NoEmbedder,
}

impl CallError {
    /// Whether there is no reply at all, rather than one that is not usable.
    pub fn is_unasked(&self) -> bool {
        self.is_outside() || matches!(self, CallError::OnlyCounted | CallError::NoEmbedder)
    }

    /// Whether the reply did not come in time, so that asking again with the same timeout is of
    /// little use.
    pub fn is_late(&self) -> bool {
        matches!(
            self,
            CallError::Failed(ModelError::TimedOut(_)) | CallError::NotAsked(Stop::TooSlow(_))
        )
    }

    /// Whether the cause is outside, so that a later run may succeed.
    pub fn is_outside(&self) -> bool {
        match self {
            CallError::Failed(error) => {
                !matches!(error, ModelError::Declined(_) | ModelError::Unusable(_))
            }
            CallError::NotAsked(_) | CallError::NotRecorded { .. } => true,
            _ => false,
        }
    }
}

/// Why something is missing, if the cause is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideReason {
    /// The reason in words.
    pub why: String,
    /// Whether the reply did not come in time.
    pub is_late: bool,
}

impl OutsideReason {
    /// Returns the reason of an error, or `None` if its cause is not outside.
    pub fn of(error: &CallError) -> Option<OutsideReason> {
        let is_late = error.is_late();
        error.is_outside().then(|| OutsideReason { why: error.to_string(), is_late })
    }
}
