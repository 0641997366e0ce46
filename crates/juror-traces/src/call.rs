//! Calls and their results, as records contain them.

use serde_json::Value;

use crate::args::Args;
use crate::outcome::Outcome;

/// What a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A call of a tool.
    #[default]
    Tool,
    /// A search in documents.
    Retrieval,
    /// A handover to another agent.
    Agent,
    /// A tool that the model's provider runs.
    Builtin,
}

/// How far a call came.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The model asked for it, and nothing says whether it was made.
    Requested,
    /// It has a result.
    Executed,
    /// No result is recorded.
    NoResult,
    /// Its arguments cannot be read.
    InvalidArgs,
    /// What the record itself says, such as `incomplete`.
    #[serde(untagged)]
    Other(String),
}

/// How a record knows of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Made {
    /// A model asked for it, in a message.
    #[default]
    Requested,
    /// It was begun, and nothing says that it ended.
    Started,
    /// It was carried out: a span of the tool.
    Executed,
}

/// A call, as one record contains it.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Call {
    /// The call's id, by which results refer to it.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub args: Args,
    /// How the record knows of it.
    pub made: Made,
    /// The result, if the same record has it.
    pub outcome: Option<Outcome>,
    /// When the call was made, in nanoseconds; records without times have none.
    pub at: Option<u64>,
    /// When it was over.
    pub until: Option<u64>,
    /// What it is.
    pub kind: Kind,
    /// The server that has the tool.
    pub server: Option<String>,
    /// The agent that called.
    pub agent: Option<String>,
    /// The call within which this one was made.
    pub parent_id: Option<String>,
    /// Where it stands in the input: a JSON pointer.
    pub source: String,
    /// What the record says about how far it came, other than `completed`.
    pub state: Option<String>,
    /// A name for a call that has no id, used if nothing better is known, such as a span's id.
    pub stand_in: Option<String>,
}

impl Call {
    /// A call that a model asked for.
    pub(crate) fn requested(id: Option<String>, name: &str, args: Args, source: String) -> Call {
        Call { id, name: name.to_owned(), args, source, ..Call::default() }
    }

    /// The same call with its result.
    #[must_use]
    pub(crate) fn with(mut self, outcome: Outcome) -> Call {
        self.outcome = Some(outcome);
        self
    }
}

/// A result that stands apart from its call.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct CallResult {
    /// The id of the call; formats without ids join by name and order.
    pub id: Option<String>,
    /// The tool's name.
    pub name: Option<String>,
    /// What came of the call.
    pub outcome: Outcome,
}

impl CallResult {
    /// The result of the call with an id.
    pub(crate) fn of(id: Option<String>, outcome: Outcome) -> CallResult {
        CallResult { id, name: None, outcome }
    }

    /// A result of a format that does not say whether calls fail.
    pub(crate) fn unflagged(id: Option<String>, content: &Value) -> CallResult {
        CallResult::of(id, Outcome::unflagged(content))
    }
}
