//! Where a reply may come from when none is known.

use juror_models::Pending;
use juror_store::Origin;

use crate::call::ToolCall;

/// Makes replies to calls.
pub trait ToolSource: Send + Sync {
    /// Its name in settings, logs and metrics.
    fn name(&self) -> &'static str;

    /// A reply to a call, or why there is none; the next source is asked then.
    fn reply<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, Result<Made, NoReply>>;
}

/// A reply that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// JSON without space between its pieces.
    pub reply: String,
    /// Where it came from.
    pub origin: Origin,
    /// The model that made it, if one did.
    pub model: Option<String>,
}

/// Why a source has no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoReply {
    /// What the caller is told if no other source has one.
    pub told: String,
    /// What the log says.
    pub why: String,
    /// Whether the source could not be asked: that is nobody's fault who called.
    pub is_unasked: bool,
}

impl NoReply {
    /// Tells the caller the same as the log.
    pub fn new(why: impl Into<String>) -> NoReply {
        let why = why.into();
        NoReply { told: why.clone(), why, is_unasked: false }
    }

    /// The same of a source that could not be asked.
    #[must_use]
    pub fn unasked(self) -> NoReply {
        NoReply { is_unasked: true, ..self }
    }
}
