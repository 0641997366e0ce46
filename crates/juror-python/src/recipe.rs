//! A result as a list of steps for building it in Python.
//!
//! Threads that judge write recipes without Python; the one that has Python builds what they say.
//! What repeats the input is named by its place there.

use std::ops::Range;
use std::sync::Arc;

use juror_report::ResultSink;
use juror_score::read::Document;

/// Where a piece of text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// In the reference.
    Reference,
    /// In the responses.
    Responses,
    /// In the recipe itself.
    Recipe,
}

/// A piece of text.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) home: Home,
    pub(crate) range: Range<usize>,
}

/// A step of building.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    OpenObject,
    OpenList,
    Close,
    /// A key: a text without quotes.
    Key(Span),
    /// A key: a JSON string.
    KeyAsWritten(Span),
    /// A text without quotes.
    Text(Span),
    Number(f64),
    /// Any JSON.
    Json(Span),
}

/// How some results are built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recipe {
    pub(crate) steps: Vec<Step>,
    /// Texts that stand in no input.
    pub(crate) texts: String,
}

/// The inputs of an evaluation.
#[derive(Clone)]
pub(crate) struct Inputs {
    pub(crate) reference: Arc<Document>,
    pub(crate) responses: Arc<Document>,
}

/// Writes a recipe.
pub(crate) struct Writer<'w> {
    inputs: &'w Inputs,
    recipe: &'w mut Recipe,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(inputs: &'w Inputs, recipe: &'w mut Recipe) -> Writer<'w> {
        Writer { inputs, recipe }
    }

    fn span(&mut self, text: &str) -> Span {
        if let Some(range) = range_in(self.inputs.reference.json(), text) {
            return Span { home: Home::Reference, range };
        }
        if let Some(range) = range_in(self.inputs.responses.json(), text) {
            return Span { home: Home::Responses, range };
        }
        let start = self.recipe.texts.len();
        self.recipe.texts.push_str(text);
        Span { home: Home::Recipe, range: start..self.recipe.texts.len() }
    }

    fn push(&mut self, text: &str, step: impl FnOnce(Span) -> Step) {
        let span = self.span(text);
        self.recipe.steps.push(step(span));
    }
}

/// Where a text stands in another, if it is a part of it in memory.
fn range_in(whole: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start + part.len();
    (end <= whole.len() && !part.is_empty()).then_some(start..end)
}

impl ResultSink for Writer<'_> {
    fn open_object(&mut self) {
        self.recipe.steps.push(Step::OpenObject);
    }

    fn open_list(&mut self) {
        self.recipe.steps.push(Step::OpenList);
    }

    fn close_object(&mut self) {
        self.recipe.steps.push(Step::Close);
    }

    fn close_list(&mut self) {
        self.recipe.steps.push(Step::Close);
    }

    fn key(&mut self, key: &str) {
        self.push(key, Step::Key);
    }

    fn key_as_written(&mut self, key: &str) {
        self.push(key, Step::KeyAsWritten);
    }

    fn text(&mut self, text: &str) {
        let span = self.span(text);
        let whole = match span.home {
            Home::Reference => self.inputs.reference.json(),
            Home::Responses => self.inputs.responses.json(),
            Home::Recipe => "\"",
        };
        // An id that is written as a number is a text for Juror, and stays a number for its user.
        let is_bare = whole.as_bytes().get(span.range.start.wrapping_sub(1)) != Some(&b'"');
        let is_bare = is_bare && span.home != Home::Recipe;
        self.recipe.steps.push(if is_bare { Step::Json(span) } else { Step::Text(span) });
    }

    fn number(&mut self, number: f64) {
        self.recipe.steps.push(Step::Number(number));
    }

    fn json(&mut self, json: &str) {
        self.push(json, Step::Json);
    }
}
