//! A result as a list of steps that build it in Python.
//!
//! Scoring threads do not use Python: they write the steps, and the thread that holds Python
//! executes them. Anything copied from the inputs is referred to by its position there.

use std::sync::Arc;

use juror_document::Document;
use juror_json::Object;
use juror_report::{ResultSink, emit_fields};

/// The text that a piece is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The reference.
    Reference,
    /// The responses.
    Responses,
    /// The texts of the plan itself.
    Plan,
}

/// A step of building. There are very many of them, so they are small: a piece of text is its
/// source, its length and its start; JSON needs no length.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BuildStep {
    OpenObject,
    OpenList,
    Close,
    /// A key: text without quotes.
    Key(Source, u32, usize),
    /// A key: a JSON string.
    KeyAsWritten(Source, u32, usize),
    /// Text without quotes.
    Text(Source, u32, usize),
    Number(f64),
    /// Any JSON.
    Json(Source, usize),
    /// All fields of an object.
    Fields(Source, usize),
}

const _: () = assert!(size_of::<BuildStep>() == 16);

/// The steps that build a few results.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildPlan {
    pub(crate) steps: Vec<BuildStep>,
    /// Texts that are not part of any input.
    pub(crate) texts: String,
    /// The index of the first step of each result.
    pub(crate) starts: Vec<usize>,
    /// Whether an id is written as something other than a string.
    pub(crate) has_odd_ids: bool,
}

impl BuildPlan {
    /// Creates an empty plan with the capacity of another.
    pub(crate) fn as_large_as(other: &BuildPlan) -> BuildPlan {
        BuildPlan {
            steps: Vec::with_capacity(other.steps.len() + other.steps.len() / 8),
            texts: String::with_capacity(other.texts.len() + other.texts.len() / 8),
            starts: Vec::with_capacity(other.starts.len()),
            has_odd_ids: false,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.texts.clear();
        self.starts.clear();
        self.has_odd_ids = false;
    }

    /// Returns the steps of one result.
    pub(crate) fn steps_of(&self, result: usize) -> &[BuildStep] {
        let end = self.starts.get(result + 1).copied().unwrap_or(self.steps.len());
        &self.steps[self.starts[result]..end]
    }
}

/// The documents of an evaluation.
#[derive(Clone)]
pub(crate) struct Documents {
    pub(crate) reference: Arc<Document>,
    pub(crate) responses: Arc<Document>,
    /// Whether each of them is a file.
    pub(crate) are_files: (bool, bool),
}

impl Documents {
    pub(crate) fn are_both_files(&self) -> bool {
        self.are_files == (true, true)
    }
}

/// Writes the steps of a result.
pub(crate) struct PlanWriter<'w> {
    documents: &'w Documents,
    plan: &'w mut BuildPlan,
}

impl<'w> PlanWriter<'w> {
    /// Creates a writer for the next result of a plan.
    pub(crate) fn new(documents: &'w Documents, plan: &'w mut BuildPlan) -> PlanWriter<'w> {
        plan.starts.push(plan.steps.len());
        PlanWriter { documents, plan }
    }

    /// Returns the position of a text; adds it to the plan if it is not part of any input.
    fn place(&mut self, text: &str) -> (Source, usize) {
        if let Some(start) = start_in(self.documents.reference.json(), text) {
            return (Source::Reference, start);
        }
        if let Some(start) = start_in(self.documents.responses.json(), text) {
            return (Source::Responses, start);
        }
        self.plan.texts.push_str(text);
        (Source::Plan, self.plan.texts.len() - text.len())
    }

    /// Returns the position of an object of an input.
    fn start_of(&self, object: &Object<'_>) -> Option<(Source, usize)> {
        let (key, _) = object.iter_raw().next()?;
        let Documents { reference, responses, .. } = self.documents;
        let inputs = [(Source::Reference, reference), (Source::Responses, responses)];
        inputs.into_iter().find_map(|(source, input)| {
            let first_key = start_in(input.json(), key.get())?;
            let before = input.json()[..first_key].trim_ascii_end().strip_suffix('{')?;
            Some((source, before.len()))
        })
    }

    fn push(&mut self, text: &str, step: impl FnOnce(Source, u32, usize) -> BuildStep) {
        let (source, start) = self.place(text);
        // No key or id is longer than four gigabytes.
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.plan.steps.push(step(source, length, start));
    }
}

/// Returns where a text starts in another, if it is part of it in memory.
fn start_in(whole: &str, part: &str) -> Option<usize> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (start + part.len() <= whole.len() && !part.is_empty()).then_some(start)
}

impl ResultSink for PlanWriter<'_> {
    fn open_object(&mut self) {
        self.plan.steps.push(BuildStep::OpenObject);
    }

    fn open_list(&mut self) {
        self.plan.steps.push(BuildStep::OpenList);
    }

    fn close_object(&mut self) {
        self.plan.steps.push(BuildStep::Close);
    }

    fn close_list(&mut self) {
        self.plan.steps.push(BuildStep::Close);
    }

    fn key(&mut self, key: &str) {
        self.push(key, BuildStep::Key);
    }

    fn key_as_written(&mut self, key: &str) {
        self.push(key, BuildStep::KeyAsWritten);
    }

    fn text(&mut self, text: &str) {
        self.push(text, BuildStep::Text);
        let Some(BuildStep::Text(source, _, start)) = self.plan.steps.last().copied() else {
            return;
        };
        let whole = match source {
            Source::Reference => self.documents.reference.json(),
            Source::Responses => self.documents.responses.json(),
            Source::Plan => return,
        };
        // An id that is written as a number is a string for Juror, but stays a number for its user.
        if whole.as_bytes().get(start.wrapping_sub(1)) != Some(&b'"') {
            self.plan.steps.pop();
            self.plan.steps.push(BuildStep::Json(source, start));
            self.plan.has_odd_ids = true;
        }
    }

    fn number(&mut self, number: f64) {
        self.plan.steps.push(BuildStep::Number(number));
    }

    fn json(&mut self, json: &str) {
        let (source, start) = self.place(json);
        if source == Source::Plan {
            // A number ends only where something else begins.
            self.plan.texts.push(' ');
        }
        self.plan.steps.push(BuildStep::Json(source, start));
    }

    fn fields(&mut self, object: &Object<'_>, leave_out: impl Fn(&str) -> bool) {
        let is_whole = !object.iter().any(|(key, _)| leave_out(&key));
        match self.start_of(object).filter(|_| is_whole) {
            Some((source, at)) => self.plan.steps.push(BuildStep::Fields(source, at)),
            None => emit_fields(self, object, leave_out),
        }
    }
}
