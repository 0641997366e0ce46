//! What an agent made of a query, as a run logs it.

use std::sync::Arc;

use juror_toolbench::answer::Answer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::manifest::RunKind;
use crate::run_log::{Entry, RunLog, RunLogError};

/// What an agent made of a query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attempted {
    /// The set of the query.
    pub set: String,
    /// Its id.
    pub query_id: String,
    /// What is asked.
    #[serde(default)]
    pub query: String,
    /// The final answer; none where the agent gave none.
    pub final_answer: Option<String>,
    /// What it did, where that is known already and need not be read or kept.
    #[serde(skip)]
    pub answer: Option<Arc<Answer<'static>>>,
    /// What the agent says it did, in the form of answer files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_details: Option<Box<RawValue>>,
    /// The APIs that it says it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_apis: Vec<(String, String)>,
    /// The APIs that it says it called in one way or another, where they are not those that its
    /// calls arrived at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<(String, String)>,
    /// How many of the built-in agent's calls were read from the text of its model's replies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls_from_text: usize,
    /// Why the built-in agent was stopped before its steps ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The calls that were served to it.
    #[serde(default)]
    pub calls: Vec<ServedCall>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took, in seconds, where that is known.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Tokens of its models, where they are known.
    #[serde(default)]
    pub tokens: u64,
    /// What they cost in US dollars, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

impl Entry for Attempted {
    const KIND: RunKind = RunKind::Bench;
    type Line = Attempted;
    type Id = (String, String);

    fn id(line: &Attempted) -> (String, String) {
        (line.set.clone(), line.query_id.clone())
    }
}

impl RunLog<Attempted> {
    /// What an earlier process logged about a query.
    pub fn get(&self, set: &str, id: &str) -> Option<&Attempted> {
        self.known.get(&(set.to_owned(), id.to_owned()))
    }

    /// Appends what became of a query.
    pub fn append(&self, attempted: &Attempted) -> Result<(), RunLogError> {
        self.append_line(attempted)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A call that was served to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServedCall {
    /// The category, as asked.
    pub category: String,
    /// The tool, as asked.
    pub tool_name: String,
    /// The API, as asked.
    pub api_name: String,
    /// The arguments.
    pub tool_input: Box<RawValue>,
    /// The reply.
    pub reply: Box<RawValue>,
    /// Where it came from: `cache`, `simulator`, `real` or `none`.
    pub source: String,
    /// In what the arguments of a known reply differ from these: `numbers`, `order`.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// Who made a known reply that no cache folder brought: `simulator` or `real`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<String>,
    /// Why there is no reply though one might have been had, such as a source that is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
