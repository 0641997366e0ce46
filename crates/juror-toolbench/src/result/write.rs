//! Writing result files in the documented form.

use std::collections::BTreeMap;

use juror_json::python::Layout;
use juror_score::{Resources, Score, Scorecard, Verdict};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::findings::{
    API_CALL_PRECISION, API_CALL_SCORE, EVALUATION_TIME, HAS_FINISH, OTHER_CALLS, SOPR_SCORE,
    SYSTEM_ANSWER_TIME, status_of,
};
use super::summary::{Summary, is_zero};
use crate::Query;
use crate::answer::{Answer, Finish, Json, Messages, read_finish};
use crate::judged::Status;

/// How a run was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metadata {
    /// The system evaluated.
    pub framework: String,
    /// The settings: the query set, the number of queries, the judge and the method.
    pub config: BTreeMap<String, Value>,
    /// The duration of the whole run, in seconds.
    pub overall_time: f64,
    /// The time of the run, as `2024-01-15 10:30:45`.
    pub timestamp: String,
}

/// A result file.
#[derive(Clone, Debug, Serialize)]
pub struct Report<'a> {
    /// How the run was made.
    pub metadata: Metadata,
    /// The summary.
    pub summary: Summary,
    /// The results, in query order.
    pub results: Vec<QueryResult<'a>>,
}

impl<'a> Report<'a> {
    /// Creates the file and its summary.
    pub fn new(metadata: Metadata, results: Vec<QueryResult<'a>>) -> Report<'a> {
        let summary = Summary::of(results.iter().map(|result| &result.card));
        Report { metadata, summary, results }
    }
}

/// The result of one attempt at a query.
#[derive(Clone, Debug)]
pub struct QueryResult<'a> {
    /// The query.
    pub query: &'a Query,
    /// The findings about the attempt.
    pub card: Scorecard<'a>,
    /// Whether to write the set, as a file of several sets must.
    pub names_set: bool,
    /// What the agent did; `None` if it neither answered nor called anything.
    pub answer: Option<&'a Answer<'a>>,
    /// The pairs of tool and API called; an unknown name follows an empty string.
    pub called: &'a [(String, String)],
    /// The calls the agent claims, if they differ.
    pub claimed: &'a [(String, String)],
    /// How many calls of the built-in agent were read from the text of its model's replies.
    pub calls_from_text: usize,
    /// Why the built-in agent was stopped before its steps ran out.
    pub stopped: Option<&'a str>,
    /// How the status was determined.
    pub method: &'a str,
}

/// The status of an answer that nobody judged.
pub(super) const UNJUDGED: &str = "Unjudged";

/// The keys of what the agent used.
pub(super) const AGENT_TOKENS: &str = "agent_tokens";
pub(super) const AGENT_USD: &str = "agent_usd";

/// If no API is right, the call score is 0, as documented.
#[derive(Serialize)]
struct Scores {
    sopr_score: Option<f64>,
    api_call_score: f64,
    api_call_precision: Option<f64>,
    other_calls: u64,
}

impl Scores {
    fn of(card: &Scorecard<'_>) -> Scores {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let other_calls = card.number(OTHER_CALLS).unwrap_or(0.0) as u64;
        Scores {
            sopr_score: card.number(SOPR_SCORE),
            api_call_score: card.number(API_CALL_SCORE).unwrap_or(0.0),
            api_call_precision: card.number(API_CALL_PRECISION),
            other_calls,
        }
    }
}

#[derive(Serialize)]
struct Found<'a> {
    answer_status: &'static str,
    has_finish: bool,
    evaluation_method: &'a str,
    reason: &'a str,
    /// The score by each of several judge runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    sopr_score_repeats: Option<&'a [Option<f64>]>,
}

impl<'a> Found<'a> {
    fn of(result: &'a QueryResult<'_>) -> Found<'a> {
        let card = &result.card;
        let sopr = card.finding(SOPR_SCORE);
        let reason = sopr.and_then(|finding| finding.reason.as_deref());
        let repeats = sopr.and_then(|finding| match &finding.verdict {
            Verdict::Scored(Score::Repeats(runs)) => Some(runs.scores()),
            _ => None,
        });
        Found {
            answer_status: status_of(card).map_or(UNJUDGED, Status::name),
            has_finish: card.number(HAS_FINISH).is_some_and(|number| number > 0.0),
            evaluation_method: result.method,
            reason: reason.unwrap_or_default(),
            sopr_score_repeats: repeats.filter(|scores| scores.len() > 1),
        }
    }
}

#[derive(Serialize)]
struct Timing {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_answer_time: Option<f64>,
    evaluation_time: f64,
}

impl Timing {
    fn of(card: &Scorecard<'_>) -> Timing {
        Timing {
            system_answer_time: card.number(SYSTEM_ANSWER_TIME),
            evaluation_time: card.number(EVALUATION_TIME).unwrap_or(0.0),
        }
    }
}

/// The expected calls and the tools offered.
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
    fn of(result: &QueryResult<'a>) -> Did<'a> {
        let answer = result.answer;
        let mut details = String::new();
        match answer {
            Some(answer) => answer.write_details(Messages::Texts, Layout::LINE, &mut details),
            None => details.push_str("[]"),
        }
        Did {
            final_answer: answer.map_or(Json::EMPTY, plain_answer),
            answer_details: Json::made(details),
            called_apis: result.called,
            claimed_apis: result.claimed,
            calls_from_text: result.calls_from_text,
            stopped: result.stopped,
        }
    }
}

/// Returns the answer for readers: the text inside the arguments of `Finish`. Giving up stays as
/// written.
fn plain_answer<'a>(answer: &'a Answer<'a>) -> Json<'a> {
    match read_finish(&answer.final_text()) {
        Finish::Answered(text) if text != answer.final_text() => Json::of_text(&text),
        _ => answer.final_answer.clone(),
    }
}

impl Serialize for QueryResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(self.names_set, serializer)?.end()
    }
}

/// A result that stands alone, as on a line of a run's results: it names its set, and tells what the
/// agent used.
#[derive(Clone, Copy, Debug)]
pub struct ResultLine<'r>(pub &'r QueryResult<'r>);

impl Serialize for ResultLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Resources { total_tokens, usd, .. } = &self.0.card.usage;
        let mut fields = self.0.write(true, serializer)?;
        if let Some(tokens) = total_tokens {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            fields.serialize_field(AGENT_TOKENS, &(tokens.value as u64))?;
        }
        if let Some(usd) = usd {
            fields.serialize_field(AGENT_USD, &usd.value)?;
        }
        fields.end()
    }
}

impl QueryResult<'_> {
    /// Writes all fields, and leaves room for more.
    fn write<S: Serializer>(
        &self,
        names_set: bool,
        serializer: S,
    ) -> Result<S::SerializeStruct, S::Error> {
        let QueryResult { query, card, .. } = self;
        let gold = Gold { relevant_apis: &query.gold, available_tools: &query.available_tools };
        let mut fields = serializer.serialize_struct("QueryResult", 9)?;
        match &query.id {
            Some(id) => fields.serialize_field("query_id", id)?,
            None => fields.serialize_field("query_id", &card.id)?,
        }
        if names_set {
            fields.serialize_field("test_set", &card.group)?;
        }
        if let Some(trial) = card.trial {
            fields.serialize_field("trial", &trial)?;
        }
        fields.serialize_field("query_text", &query.text)?;
        fields.serialize_field("gold_answer", &gold)?;
        fields.serialize_field("system_answer", &Did::of(self))?;
        fields.serialize_field("scores", &Scores::of(card))?;
        fields.serialize_field("evaluation", &Found::of(self))?;
        fields.serialize_field("timing", &Timing::of(card))?;
        if let Some(error) = card.error() {
            fields.serialize_field("error", error)?;
        }
        Ok(fields)
    }
}

/// Returns the name of a result file: the system evaluated, the limits on tools and queries if
/// there were any, and the query set.
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
