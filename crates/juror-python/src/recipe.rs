//! A result as a list of steps for building it in Python.
//!
//! Threads that judge write recipes without Python; the one that has Python builds what they say.
//! What repeats the input is named by its place there.

use std::sync::Arc;

use juror_document::Document;
use juror_json::Object;
use juror_report::{ResultSink, tell_fields};

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

/// A step of building. There are very many of them where files are judged, so they are small: a
/// piece of text is its home, its length and where it begins, JSON tells its end by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    OpenObject,
    OpenList,
    Close,
    /// A key: a text without quotes.
    Key(Home, u32, usize),
    /// A key: a JSON string.
    KeyAsWritten(Home, u32, usize),
    /// A text without quotes.
    Text(Home, u32, usize),
    Number(f64),
    /// Any JSON.
    Json(Home, usize),
    /// All fields of an object.
    Fields(Home, usize),
}

const _: () = assert!(size_of::<Step>() == 16);

/// How some results are built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recipe {
    pub(crate) steps: Vec<Step>,
    /// Texts that stand in no input.
    pub(crate) texts: String,
    /// At which step each result begins.
    pub(crate) starts: Vec<usize>,
    /// Whether an id is written as something other than a text.
    pub(crate) has_odd_ids: bool,
}

impl Recipe {
    /// An empty one with room for as much as another has.
    pub(crate) fn as_large_as(other: &Recipe) -> Recipe {
        Recipe {
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

    /// The steps of one result.
    pub(crate) fn steps_of(&self, result: usize) -> &[Step] {
        let end = self.starts.get(result + 1).copied().unwrap_or(self.steps.len());
        &self.steps[self.starts[result]..end]
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
    /// For the next result of a recipe.
    pub(crate) fn new(inputs: &'w Inputs, recipe: &'w mut Recipe) -> Writer<'w> {
        recipe.starts.push(recipe.steps.len());
        Writer { inputs, recipe }
    }

    /// Where a text stands; one that stands in no input is put into the recipe.
    fn place(&mut self, text: &str) -> (Home, usize) {
        if let Some(start) = start_in(self.inputs.reference.json(), text) {
            return (Home::Reference, start);
        }
        if let Some(start) = start_in(self.inputs.responses.json(), text) {
            return (Home::Responses, start);
        }
        self.recipe.texts.push_str(text);
        (Home::Recipe, self.recipe.texts.len() - text.len())
    }

    /// Where an object of an input begins.
    fn start_of(&self, object: &Object<'_>) -> Option<(Home, usize)> {
        let (key, _) = object.iter_raw().next()?;
        let Inputs { reference, responses, .. } = self.inputs;
        let inputs = [(Home::Reference, reference), (Home::Responses, responses)];
        inputs.into_iter().find_map(|(home, input)| {
            let first_key = start_in(input.json(), key.get())?;
            let before = input.json()[..first_key].trim_ascii_end().strip_suffix('{')?;
            Some((home, before.len()))
        })
    }

    fn push(&mut self, text: &str, step: impl FnOnce(Home, u32, usize) -> Step) {
        let (home, start) = self.place(text);
        // No key or id is longer than four gigabytes.
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.recipe.steps.push(step(home, length, start));
    }
}

/// Where a text begins in another, if it is a part of it in memory.
fn start_in(whole: &str, part: &str) -> Option<usize> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (start + part.len() <= whole.len() && !part.is_empty()).then_some(start)
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
        self.push(text, Step::Text);
        let Some(Step::Text(home, _, start)) = self.recipe.steps.last().copied() else { return };
        let whole = match home {
            Home::Reference => self.inputs.reference.json(),
            Home::Responses => self.inputs.responses.json(),
            Home::Recipe => return,
        };
        // An id that is written as a number is a text for Juror, and stays a number for its user.
        if whole.as_bytes().get(start.wrapping_sub(1)) != Some(&b'"') {
            self.recipe.steps.pop();
            self.recipe.steps.push(Step::Json(home, start));
            self.recipe.has_odd_ids = true;
        }
    }

    fn number(&mut self, number: f64) {
        self.recipe.steps.push(Step::Number(number));
    }

    fn json(&mut self, json: &str) {
        let (home, start) = self.place(json);
        if home == Home::Recipe {
            // A number ends where something else begins.
            self.recipe.texts.push(' ');
        }
        self.recipe.steps.push(Step::Json(home, start));
    }

    fn fields(&mut self, object: &Object<'_>, leave_out: impl Fn(&str) -> bool) {
        let is_whole = !object.iter().any(|(key, _)| leave_out(&key));
        match self.start_of(object).filter(|_| is_whole) {
            Some((home, at)) => self.recipe.steps.push(Step::Fields(home, at)),
            None => tell_fields(self, object, leave_out),
        }
    }
}
