//! Sources of replies that are not known yet.

use juror_models::Pending;
use juror_store::Origin;

use crate::call::ToolCall;

/// Makes replies to calls.
pub trait ToolSource: Send + Sync {
    /// The name in settings, logs and metrics.
    fn name(&self) -> &'static str;

    /// Makes a reply to a call. If it returns an error, the next source is asked.
    fn reply<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, Result<SourceReply, NoReply>>;
}

/// A reply from a source.
#[derive(Clone, Debug)]
pub struct SourceReply {
    /// Compact JSON.
    pub reply: String,
    /// Where it came from.
    pub origin: Origin,
    /// The model that made it, if any.
    pub model: Option<String>,
}

/// Why a source has no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoReply {
    /// The message for the caller, if no other source has a reply.
    pub told: String,
    /// The message for the log.
    pub why: String,
    /// Whether the source could not be reached, which is not the caller's fault.
    pub is_unasked: bool,
}

impl NoReply {
    /// Tells the caller the same as the log.
    pub fn new(why: impl Into<String>) -> NoReply {
        let why = why.into();
        NoReply { told: why.clone(), why, is_unasked: false }
    }

    /// Marks the source as unreachable.
    #[must_use]
    pub fn unasked(self) -> NoReply {
        NoReply { is_unasked: true, ..self }
    }
}
