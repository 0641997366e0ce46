//! Writing result files in the form of the document.

use std::collections::BTreeMap;

use juror_json::python::Layout;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::summary::{Evaluated, Summary, is_zero};
use crate::answer::{Answer, Finish, Json, Messages, read_finish};
use crate::judged::Status;
use crate::{CallScore, Query};

/// What is told of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metadata {
    /// What was evaluated.
    pub framework: String,
    /// How: the set of queries, their number, who judged and by which method.
    pub config: BTreeMap<String, Value>,
    /// How long all of it took, in seconds.
    pub overall_time: f64,
    /// When it was, as `2024-01-15 10:30:45`.
    pub timestamp: String,
}

/// A result file.
#[derive(Clone, Debug, Serialize)]
pub struct Report<'a> {
    /// What is told of the run.
    pub metadata: Metadata,
    /// What is summed up.
    pub summary: Summary,
    /// The results, in the order of the queries.
    pub results: Vec<Evaluation<'a>>,
}

impl<'a> Report<'a> {
    /// The file of results.
    pub fn new(metadata: Metadata, results: Vec<Evaluation<'a>>) -> Report<'a> {
        let evaluated: Vec<Evaluated> = results.iter().map(Evaluation::evaluated).collect();
        Report { metadata, summary: Summary::of(&evaluated), results }
    }
}

/// The result of one answer.
#[derive(Clone, Debug)]
pub struct Evaluation<'a> {
    /// The query.
    pub query: &'a Query,
    /// What the agent did; nothing where it gave no answer.
    pub answer: Option<&'a Answer<'a>>,
    /// Its id; of a query without one, what it is called instead.
    pub id: &'a str,
    /// The set it is from, where a file has several.
    pub set: Option<&'a str>,
    /// Which of several answers to the query it is, from 1 on.
    pub trial: Option<usize>,
    /// The status that the judge runs came to; nothing where nobody judged.
    pub status: Option<Status>,
    /// The mean score of the judge runs; nothing where nobody judged.
    pub sopr_score: Option<f64>,
    /// How the calls fit the right ones.
    pub calls: CallScore,
    /// What was called, tool and API; a name that no tool has stands without one.
    pub called: &'a [(String, String)],
    /// What the agent says it called, where that differs.
    pub claimed: &'a [(String, String)],
    /// How many of the built-in agent's calls were read from the text of its model's replies.
    pub calls_from_text: usize,
    /// Why the built-in agent was stopped before its steps ran out.
    pub stopped: Option<&'a str>,
    /// How the status was found.
    pub method: &'a str,
    /// Why it is this status.
    pub reason: String,
    /// What went wrong, where evaluating failed.
    pub error: Option<String>,
    /// How long evaluating took, in seconds.
    pub evaluation_seconds: f64,
    /// How long the agent took, in seconds, where that is known.
    pub answer_seconds: Option<f64>,
}

impl Evaluation<'_> {
    /// What is summed up of it.
    pub fn evaluated(&self) -> Evaluated {
        Evaluated {
            query_id: match self.set {
                Some(set) => format!("{set}/{}", self.id),
                None => self.id.to_owned(),
            },
            sopr_score: self.sopr_score,
            api_call_score: self.calls.score(),
            status: self.status,
            is_error: self.error.is_some(),
            has_finish: self.has_finish(),
            evaluation_seconds: self.evaluation_seconds,
            answer_seconds: self.answer_seconds,
        }
    }

    fn has_finish(&self) -> bool {
        self.answer.is_some_and(Answer::has_finish)
    }
}

/// The status of an answer that nobody judged.
pub(super) const UNJUDGED: &str = "Unjudged";

/// Without right APIs the score of calls is 0, as the document has it.
#[derive(Serialize)]
struct Scores {
    sopr_score: Option<f64>,
    api_call_score: f64,
    api_call_precision: Option<f64>,
    other_calls: usize,
}

#[derive(Serialize)]
struct Found<'a> {
    answer_status: &'static str,
    has_finish: bool,
    evaluation_method: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Timing {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_answer_time: Option<f64>,
    evaluation_time: f64,
}

/// What was right.
#[derive(Serialize)]
struct Gold<'a> {
    relevant_apis: &'a [(String, String)],
    available_tools: &'a crate::AvailableTools,
}

/// What the agent did.
#[derive(Serialize)]
struct Did<'a> {
    final_answer: Json<'a>,
    answer_details: Json<'static>,
    called_apis: &'a [(String, String)],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    claimed_apis: &'a [(String, String)],
    #[serde(skip_serializing_if = "is_zero")]
    calls_from_text: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'a str>,
}

impl<'a> Did<'a> {
    fn of(evaluation: &Evaluation<'a>) -> Did<'a> {
        let answer = evaluation.answer;
        let mut details = String::new();
        match answer {
            Some(answer) => answer.write_details(Messages::Texts, Layout::LINE, &mut details),
            None => details.push_str("[]"),
        }
        Did {
            final_answer: answer.map_or(Json::EMPTY, plain_answer),
            answer_details: Json::made(details),
            called_apis: evaluation.called,
            claimed_apis: evaluation.claimed,
            calls_from_text: evaluation.calls_from_text,
            stopped: evaluation.stopped,
        }
    }
}

/// The answer that users read: of arguments of `Finish`, the text that they give. Giving up is said
/// in no other words.
fn plain_answer<'a>(answer: &'a Answer<'a>) -> Json<'a> {
    match read_finish(&answer.final_text()) {
        Finish::Answered(text) if text != answer.final_text() => Json::of_text(&text),
        _ => answer.final_answer.clone(),
    }
}

impl Serialize for Evaluation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Evaluation { query, calls, sopr_score, .. } = self;
        let gold = Gold { relevant_apis: &query.gold, available_tools: &query.available_tools };
        let scores = Scores {
            sopr_score: *sopr_score,
            api_call_score: calls.score().unwrap_or(0.0),
            api_call_precision: calls.precision(),
            other_calls: calls.n_other_calls,
        };
        let found = Found {
            answer_status: self.status.map_or(UNJUDGED, Status::name),
            has_finish: self.has_finish(),
            evaluation_method: self.method,
            reason: &self.reason,
        };
        let timing = Timing {
            system_answer_time: self.answer_seconds,
            evaluation_time: self.evaluation_seconds,
        };
        let mut fields = serializer.serialize_struct("Evaluation", 9)?;
        match &query.id {
            Some(id) => fields.serialize_field("query_id", id)?,
            None => fields.serialize_field("query_id", self.id)?,
        }
        match self.set {
            Some(set) => fields.serialize_field("test_set", set)?,
            None => fields.skip_field("test_set")?,
        }
        match self.trial {
            Some(trial) => fields.serialize_field("trial", &trial)?,
            None => fields.skip_field("trial")?,
        }
        fields.serialize_field("query_text", &query.text)?;
        fields.serialize_field("gold_answer", &gold)?;
        fields.serialize_field("system_answer", &Did::of(self))?;
        fields.serialize_field("scores", &scores)?;
        fields.serialize_field("evaluation", &found)?;
        fields.serialize_field("timing", &timing)?;
        match &self.error {
            Some(error) => fields.serialize_field("error", error)?,
            None => fields.skip_field("error")?,
        }
        fields.end()
    }
}

/// The name of a result file: what was evaluated, with how many tools and queries where these
/// were bounded, and the set of queries.
pub fn file_name(
    framework: &str,
    test_set: &str,
    n_tools: Option<usize>,
    n_queries: Option<usize>,
) -> String {
    let tools = n_tools.map(|n| format!("_{n}tools")).unwrap_or_default();
    let queries = n_queries.map(|n| format!("_{n}queries")).unwrap_or_default();
    format!("{framework}{tools}{queries}_{test_set}.json")
}
