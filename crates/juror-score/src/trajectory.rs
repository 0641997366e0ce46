//! What a subject did with a question.

use std::borrow::Cow;

use juror_json::{self as json, Object};
use serde_json::value::RawValue;

use crate::output::Output;

/// The steps a subject took and how it ended.
#[derive(Clone, Debug, Default)]
pub struct Trajectory<'a> {
    /// How it ended.
    pub ending: Ending<'a>,
    /// The answer as written, if one was given.
    pub answer: Option<&'a RawValue>,
    /// The steps, in the order they were taken; `None` when the response lists none.
    pub steps: Option<Vec<Step<'a>>>,
    /// What it cost the subject.
    pub usage: Usage<'a>,
}

/// How a trajectory ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ending<'a> {
    /// With a response, which may or may not hold an answer.
    Responded,
    /// With an error, whose message is kept as written.
    Failed(Cow<'a, str>),
    /// There is no response to this question.
    #[default]
    Missing,
}

impl Ending<'_> {
    /// Whether the question counts as an error.
    pub fn is_error(&self) -> bool {
        !matches!(self, Ending::Responded)
    }
}

/// Tokens and time, each as written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage<'a> {
    /// Tokens sent to the subject's model.
    pub input_tokens: Option<&'a RawValue>,
    /// Tokens the model wrote.
    pub output_tokens: Option<&'a RawValue>,
    /// Their sum.
    pub total_tokens: Option<&'a RawValue>,
    /// Seconds from question to answer.
    pub elapsed_sec: Option<&'a RawValue>,
}

impl<'a> Usage<'a> {
    /// The values that are present, by the name of their metric.
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
    /// The step as written.
    pub fields: Object<'a>,
    /// The kind of step, such as `sparql_query`.
    pub name: Cow<'a, str>,
    /// How the step ended.
    pub status: Status,
    /// What it returned.
    pub output: Option<Output<'a>>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It says it succeeded.
    Success,
    /// It says it failed.
    Error,
    /// It has no error and no status.
    Missing,
    /// Any other word.
    Other,
}

impl<'a> Step<'a> {
    /// Reads the parts that scoring needs; everything else stays as written.
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

    /// The step's id as JSON: its own, or its position counted from 1.
    pub fn id(&self, index: usize) -> Cow<'a, str> {
        match self.fields.get_set("id") {
            Some(id) => Cow::Borrowed(id.get()),
            None => Cow::Owned(format!("\"{}\"", index + 1)),
        }
    }

    /// An argument of the call, as written.
    pub fn arg(&self, name: &str) -> Option<&'a RawValue> {
        argument(&self.fields, name)
    }
}

/// An argument from a step's `args`, which may be absent or something other than an object.
pub(crate) fn argument<'a>(fields: &Object<'a>, name: &str) -> Option<&'a RawValue> {
    let args: Object<'a> = json::from_str(fields.get("args")?.get()).ok()?;
    args.get_set(name)
}
