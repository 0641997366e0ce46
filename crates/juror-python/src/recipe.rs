//! A result as a list of steps for building it in Python.
//!
//! Threads that judge write recipes without Python; the one that has Python builds what they say.
//! What repeats the input is named by its place there.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use juror_report::ResultSink;
use juror_score::read::Document;
use juror_score::{Object, unescape};

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
    /// All fields of an object, which begins at a place.
    Fields(Home, usize),
}

/// How some results are built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recipe {
    pub(crate) steps: Vec<Step>,
    /// Texts that stand in no input.
    pub(crate) texts: String,
}

impl Recipe {
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.texts.clear();
    }
}

/// The inputs of an evaluation.
#[derive(Clone)]
pub(crate) struct Inputs {
    pub(crate) reference: Arc<Document>,
    pub(crate) responses: Arc<Document>,
    /// Whether each of them is a file.
    pub(crate) are_files: (bool, bool),
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

    /// A text of a file without its escapes, so that the thread with Python has less to do. Where
    /// the text was made of an object, the object is handed on instead.
    fn unescaped(&mut self, json: &str, span: &Span) -> Option<Step> {
        let is_file = match span.home {
            Home::Reference => self.inputs.are_files.0,
            Home::Responses => self.inputs.are_files.1,
            Home::Recipe => false,
        };
        let inside = json.strip_prefix('"').filter(|_| is_file)?.strip_suffix('"')?;
        let Cow::Owned(text) = unescape(inside) else { return None };
        // Half of a surrogate pair is for Python to read.
        if memchr::memmem::find(text.as_bytes(), "\u{fffd}".as_bytes()).is_some() {
            return None;
        }
        let start = self.recipe.texts.len();
        self.recipe.texts.push_str(&text);
        Some(Step::Text(Span { home: Home::Recipe, range: start..self.recipe.texts.len() }))
    }

    /// Where an object begins that was made of Python's.
    fn start_of(&self, object: &Object<'_>) -> Option<(Home, usize)> {
        let (key, _) = object.iter_raw().next()?;
        let Inputs { reference, responses, are_files } = self.inputs;
        let inputs =
            [(Home::Reference, reference, are_files.0), (Home::Responses, responses, are_files.1)];
        inputs.into_iter().filter(|(.., is_file)| !is_file).find_map(|(home, input, _)| {
            // Nothing stands between an object's bracket and its first key where Juror wrote it.
            let at = range_in(input.json(), key.get())?.start.checked_sub(1)?;
            (input.json().as_bytes()[at] == b'{').then_some((home, at))
        })
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
        let span = self.span(json);
        let step = self.unescaped(json, &span).unwrap_or(Step::Json(span));
        self.recipe.steps.push(step);
    }

    fn fields(&mut self, object: &Object<'_>, leave_out: impl Fn(&str) -> bool) {
        let is_whole = object.iter_raw().all(|(key, _)| !leave_out(key.get().trim_matches('"')));
        if let Some((home, at)) = self.start_of(object).filter(|_| is_whole) {
            self.recipe.steps.push(Step::Fields(home, at));
            return;
        }
        for (key, value) in object.iter_raw() {
            if !leave_out(key.get().trim_matches('"')) {
                self.key_as_written(key.get());
                self.json(value.get());
            }
        }
    }
}
