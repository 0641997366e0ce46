//! Trajectories: what a subject did with a question.

use std::borrow::Cow;
use std::num::NonZero;

use juror_json::{self as json, Object};
use serde_json::value::RawValue;

use crate::compare::{Instant, View};
use crate::output::Output;

/// The steps a subject took and how it ended. Read from a file, or built with a
/// [`TrajectoryBuilder`](crate::TrajectoryBuilder).
#[derive(Clone, Debug, Default)]
pub struct Trajectory<'a> {
    /// Which of several answers to the question it is, from 1 on; `None` if it is the only one.
    pub trial: Option<NonZero<u32>>,
    /// How it ended.
    pub ending: Ending<'a>,
    /// The answer, as JSON.
    pub answer: Option<&'a RawValue>,
    /// The steps in order; `None` if the response does not list steps.
    pub steps: Option<Vec<Step<'a>>>,
    /// Tokens and time used.
    pub usage: Usage<'a>,
    /// Where it was recorded.
    pub recorded: RecordedIn<'a>,
}

/// The trace from which a trajectory was imported, by its ids, each as JSON. Scores that are exported
/// name them, so that they can be shown beside the trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordedIn<'a> {
    /// The trace.
    pub trace_id: Option<&'a RawValue>,
    /// Its outermost span.
    pub span_id: Option<&'a RawValue>,
}

/// How a trajectory ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ending<'a> {
    /// With a response, which need not contain an answer.
    Responded,
    /// With an error, whose message is kept as JSON.
    Failed(Cow<'a, str>),
    /// There is no response to this question.
    #[default]
    Missing,
}

impl Ending<'_> {
    /// Whether the question counts as an error.
    #[inline]
    pub fn is_error(&self) -> bool {
        !matches!(self, Ending::Responded)
    }
}

/// Tokens and time, each as JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage<'a> {
    /// Tokens that the subject's model read.
    pub input_tokens: Option<&'a RawValue>,
    /// Tokens that the model wrote.
    pub output_tokens: Option<&'a RawValue>,
    /// The sum of both.
    pub total_tokens: Option<&'a RawValue>,
    /// Seconds from question to answer.
    pub elapsed_sec: Option<&'a RawValue>,
}

impl<'a> Usage<'a> {
    /// Iterates over the values that are present, with the names of their metrics.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'a RawValue)> {
        [
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("total_tokens", self.total_tokens),
            ("elapsed_sec", self.elapsed_sec),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }
}

/// A step the subject took.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// All fields, verbatim.
    pub fields: Object<'a>,
    /// The kind of step, such as `sparql_query`.
    pub name: Cow<'a, str>,
    /// How the step ended.
    pub status: Status,
    /// What the step returned.
    pub output: Option<Output<'a>>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its status is `success`.
    Success,
    /// Its status is `error`, or it has an error and no status.
    Error,
    /// It has neither an error nor a status.
    Missing,
    /// Any other status.
    Other,
}

impl Step<'_> {
    /// When the step ran, in seconds since 1970, if the response says so.
    pub fn ran_at(&self) -> Option<f64> {
        let written = self.fields.get_set("execution_timestamp")?;
        Some(Instant::parse(&json::text_of(written)?)?.seconds())
    }
}

impl<'a> Step<'a> {
    /// Reads the parts that scoring needs from a step's fields.
    #[inline]
    pub fn new(fields: Object<'a>) -> Step<'a> {
        let name = fields.get("name").and_then(json::scalar_text).unwrap_or_default();
        let output = fields.get_set("output").map(Output::Json);
        let status = match fields.get_set("status").map(json::scalar_text) {
            Some(Some(word)) if word == "success" => Status::Success,
            Some(Some(word)) if word == "error" => Status::Error,
            Some(_) => Status::Other,
            None if fields.get_set("error").is_some() => Status::Error,
            None => Status::Missing,
        };
        Step { fields, name, status, output }
    }

    /// Whether the step returned a SPARQL result without rows.
    pub fn has_empty_result(&self) -> bool {
        View::of_actual(self).is_empty_result()
    }

    /// Returns the step's id as JSON: its own, or its position counted from 1.
    pub fn id(&self, index: usize) -> Cow<'a, str> {
        match self.fields.get_set("id") {
            Some(id) => Cow::Borrowed(id.get()),
            None => Cow::Owned(format!("\"{}\"", index + 1)),
        }
    }

    /// Returns an argument of the call, as JSON.
    pub fn arg(&self, name: &str) -> Option<&'a RawValue> {
        argument(&self.fields, name)
    }
}

/// Returns an argument from a step's `args`, or `None` if `args` is missing or not an object.
pub(crate) fn argument<'a>(fields: &Object<'a>, name: &str) -> Option<&'a RawValue> {
    let args: Object<'a> = json::from_str(fields.get("args")?.get()).ok()?;
    args.get_set(name)
}
