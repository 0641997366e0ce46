//! Converts Python's objects to JSON, so that they are judged as files are.
//!
//! Whatever JSON can express exactly is written as it is. Whatever it cannot (`nan`, tuples, dates,
//! keys that are not strings) is written in its nearest form, and the object itself is remembered,
//! so that results reuse it unchanged. Long texts are remembered as well, so that they need not be
//! created again.

use std::io::Write;
use std::thread;

use juror_document::Problem;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString,
};
use pyo3::types::{PyByteArray, PyTuple};

use crate::escape::push_text;
use crate::fill::{Hole, fill};
use crate::known::Known;
use crate::parts::{NO_TEXT, Parts};
use crate::problem::{Found, Segment};

/// Nesting beyond this depth is taken for a mistake, such as a list that contains itself.
pub(crate) const DEEPEST: usize = 200;

/// Texts of at least this length are remembered.
const LONG: usize = 32;

/// JSON with holes for long texts, which threads without Python fill in.
#[derive(Default)]
pub(crate) struct Written<'py> {
    /// The JSON without the missing texts.
    pub(crate) json: Vec<u8>,
    pub(crate) parts: Parts<'py>,
    /// What could not be written; `null` is in its place.
    pub(crate) problems: Vec<Found>,
    /// The first number that JSON lacks, which is written as a string.
    pub(crate) not_number: Option<Found>,
    /// Whether `nan` and the infinities are written the way Python's `json` does.
    pub(crate) keeps_nan: bool,
    /// Whether long texts are written like others, leaving no holes.
    is_whole: bool,
    depth: usize,
}

/// The complete JSON, and the objects in it.
pub(crate) struct Filled<'py> {
    pub(crate) json: Vec<u8>,
    pub(crate) known: Known<'py>,
}

impl<'py> Written<'py> {
    /// Creates JSON without holes.
    pub(crate) fn whole() -> Written<'py> {
        Written { is_whole: true, ..Written::default() }
    }

    /// Appends a value.
    pub(crate) fn value(&mut self, value: &Bound<'py, PyAny>) {
        if let Ok(text) = value.cast::<PyString>() {
            self.text(text);
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.nested(value, Written::dict, dict);
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            self.nested(value, |written, list| written.list(list.iter()), list);
        } else if value.is_instance_of::<PyList>() {
            // A subclass may iterate over other items than it stores.
            self.nested(value, Written::sequence, value);
        } else if value.is_none() {
            self.json.extend_from_slice(b"null");
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.json.extend_from_slice(if truth.is_true() { b"true" } else { b"false" });
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number);
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.int(number);
        } else {
            self.odd(value);
        }
    }

    /// Reverts everything written since a mark, and returns its problems.
    pub(crate) fn take_back(&mut self, mark: &Mark) -> Vec<Found> {
        self.json.truncate(mark.n_bytes);
        self.parts.truncate(mark.n_parts);
        self.problems.split_off(mark.n_problems)
    }

    /// Returns a mark at the current position.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            n_bytes: self.json.len(),
            n_parts: self.parts.len(),
            n_problems: self.problems.len(),
        }
    }

    /// Returns whether something since a mark could not be written.
    pub(crate) fn failed_since(&self, mark: &Mark) -> bool {
        self.problems.len() > mark.n_problems
    }

    /// Writes something one step further down the path. Steps are recorded on the way back, and
    /// only if there is a problem, which is rare.
    pub(crate) fn at(
        &mut self,
        segment: impl Fn() -> Segment,
        write: impl FnOnce(&mut Written<'py>),
    ) {
        let (before, had_word) = (self.problems.len(), self.not_number.is_some());
        write(self);
        let word = self.not_number.as_mut().filter(|_| !had_word);
        for found in self.problems[before..].iter_mut().chain(word) {
            found.path.push(segment());
        }
    }

    fn text(&mut self, text: &Bound<'py, PyString>) {
        match text.to_str() {
            Ok(plain) if plain.len() >= LONG && !self.is_whole => {
                self.parts.hole(self.json.len(), text.as_any());
            }
            Ok(plain) => push_text(plain, &mut self.json),
            Err(_) => {
                self.remembering(text.as_any(), |written| written.surrogates(text));
            }
        }
    }

    /// Writes a string with lone surrogates, which is not valid Unicode but can be written in JSON.
    fn surrogates(&mut self, text: &Bound<'py, PyString>) {
        match text.call_method1("encode", ("utf-16-le", "surrogatepass")) {
            Ok(bytes) => {
                let bytes = bytes.cast_into::<PyBytes>().map(|bytes| bytes.as_bytes().to_vec());
                self.json.push(b'"');
                for unit in bytes.unwrap_or_default().chunks_exact(2) {
                    let unit = u16::from_le_bytes([unit[0], unit[1]]);
                    self.json.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
                self.json.push(b'"');
            }
            Err(error) => self.problem(format!("the text cannot be read: {error}"), None),
        }
    }

    /// Writes the contents of another object, unless the nesting is too deep.
    pub(crate) fn nested<T>(
        &mut self,
        value: &Bound<'py, PyAny>,
        write: impl FnOnce(&mut Written<'py>, &T),
        inner: &T,
    ) {
        if self.depth == DEEPEST {
            let name = type_name(value);
            self.problem(
                format!("this {name} is nested more than {DEEPEST} deep"),
                Some("does it contain itself?".into()),
            );
            return;
        }
        self.depth += 1;
        write(self, inner);
        self.depth -= 1;
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>) {
        let (start, n_before) = (self.json.len(), self.parts.len());
        if !self.entries(dict, |written, _, value| written.value(value)) {
            self.parts.put_before(n_before, start..self.json.len(), dict.as_any());
        }
    }

    /// Writes a dict whose values need special treatment; returns whether all keys are strings.
    pub(crate) fn entries(
        &mut self,
        dict: &Bound<'py, PyDict>,
        mut write: impl FnMut(&mut Written<'py>, &Bound<'py, PyAny>, &Bound<'py, PyAny>),
    ) -> bool {
        let mut is_exact = true;
        self.json.push(b'{');
        for (index, (key, value)) in dict.iter().enumerate() {
            is_exact &= self.entry(index, &key, |written| write(written, &key, &value));
        }
        self.json.push(b'}');
        is_exact
    }

    /// Writes a key and its value; returns whether the key is a string.
    fn entry(
        &mut self,
        index: usize,
        key: &Bound<'py, PyAny>,
        write: impl FnOnce(&mut Written<'py>),
    ) -> bool {
        if index > 0 {
            self.json.push(b',');
        }
        let is_text = self.key(key);
        self.json.push(b':');
        self.at(|| Segment::Object(key.clone().unbind()), write);
        is_text
    }

    /// Puts a long text aside and writes an empty string in its place; returns whether the object
    /// is a long text.
    pub(crate) fn put_aside(&mut self, text: &Bound<'py, PyAny>) -> bool {
        let is_long =
            |text: &Bound<'py, PyString>| text.to_str().is_ok_and(|text| text.len() >= LONG);
        if !text.cast::<PyString>().is_ok_and(is_long) {
            return false;
        }
        self.parts.aside(self.json.len(), text);
        self.json.extend_from_slice(NO_TEXT);
        true
    }

    /// Writes something, and remembers the object it stands for.
    pub(crate) fn remembering(
        &mut self,
        object: &Bound<'py, PyAny>,
        write: impl FnOnce(&mut Written<'py>),
    ) {
        let part = self.parts.begin(self.json.len(), object);
        write(self);
        self.parts.end(part, self.json.len(), true);
    }

    /// Writes a key the way Python's `json` does; returns whether that loses nothing.
    pub(crate) fn key(&mut self, key: &Bound<'py, PyAny>) -> bool {
        if let Ok(text) = key.cast::<PyString>() {
            return match text.to_str() {
                Ok(plain) => {
                    push_text(plain, &mut self.json);
                    true
                }
                Err(_) => {
                    self.surrogates(text);
                    false
                }
            };
        }
        let mut scalar = Written::default();
        let is_scalar =
            key.is_none() || key.is_instance_of::<PyInt>() || key.is_instance_of::<PyFloat>();
        if is_scalar {
            scalar.value(key);
        }
        if !is_scalar || !scalar.problems.is_empty() {
            let name = type_name(key);
            self.problem_without_value(
                format!("a key of type `{name}` is not text"),
                Some("keys are texts or numbers".into()),
            );
        }
        self.json.push(b'"');
        self.json.extend_from_slice(&scalar.json);
        self.json.push(b'"');
        false
    }

    fn list(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) {
        self.items(items, Written::value);
    }

    /// Writes a list whose items need special treatment.
    pub(crate) fn items(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        write: impl Fn(&mut Written<'py>, &Bound<'py, PyAny>),
    ) {
        self.json.push(b'[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.json.push(b',');
            }
            self.at(|| Segment::Index(index), |written| write(written, &item));
        }
        self.json.push(b']');
    }

    fn float(&mut self, number: &Bound<'py, PyFloat>) {
        let value = number.value();
        if value.is_finite() {
            // Writing to memory does not fail.
            let _ = write!(self.json, "{value:?}");
            return;
        }
        let word = match value {
            _ if value.is_nan() => "NaN",
            ..0.0 => "-Infinity",
            _ => "Infinity",
        };
        if self.keeps_nan {
            self.json.extend_from_slice(word.as_bytes());
            return;
        }
        // JSON has no such number, and no mean may include it.
        self.remembering(number.as_any(), |written| push_text(word, &mut written.json));
        self.not_number.get_or_insert_with(|| Found::of(&Problem::NumberAsText(word)));
    }

    fn int(&mut self, number: &Bound<'py, PyInt>) {
        if let Ok(value) = number.extract::<i64>() {
            let _ = write!(self.json, "{value}");
            return;
        }
        // A subclass may print itself differently than `int` does.
        let digits = number.call_method1("__format__", ("d",)).and_then(|text| text.extract());
        match digits {
            Ok::<String, _>(digits) => self.json.extend_from_slice(digits.as_bytes()),
            Err(error) => self.problem(format!("the number cannot be written: {error}"), None),
        }
    }

    /// Writes an object without a form of its own in JSON; results reuse the object itself.
    fn odd(&mut self, value: &Bound<'py, PyAny>) {
        let part = self.parts.begin(self.json.len(), value);
        let n_problems = self.problems.len();
        if let Ok(tuple) = value.cast::<PyTuple>() {
            self.nested(value, |written, tuple| written.list(tuple.iter()), tuple);
        } else if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
            self.problem("bytes are not text".into(), Some("decode them".into()));
        } else if let Ok(mapping) = value.cast::<PyMapping>() {
            self.nested(value, Written::mapping, mapping);
        } else if let Ok(sequence) = value.cast::<PySequence>() {
            self.nested(value, Written::sequence, sequence.as_any());
        } else if let Some(plain) = plain_form(value) {
            self.nested(value, Written::value, &plain);
        } else {
            let name = type_name(value);
            let hint = "use dict, list, str, int, float, bool or None";
            self.problem(format!("a value of type `{name}` cannot be read"), Some(hint.into()));
        }
        self.parts.end(part, self.json.len(), self.problems.len() == n_problems);
    }

    fn mapping(&mut self, mapping: &Bound<'py, PyMapping>) {
        let items = mapping.items().map(|items| items.iter().collect::<Vec<_>>());
        let pair =
            |item: Bound<'py, PyAny>| item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>();
        let entries: PyResult<Vec<_>> =
            items.and_then(|items| items.into_iter().map(pair).collect());
        match entries {
            Ok(entries) => {
                self.json.push(b'{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.entry(index, key, |written| written.value(value));
                }
                self.json.push(b'}');
            }
            Err(error) => self.problem(format!("its items cannot be read: {error}"), None),
        }
    }

    fn sequence(&mut self, sequence: &Bound<'py, PyAny>) {
        let items: PyResult<Vec<_>> = sequence.try_iter().and_then(Iterator::collect);
        match items {
            Ok(items) => self.list(items.into_iter()),
            Err(error) => self.problem(format!("its items cannot be read: {error}"), None),
        }
    }

    /// Records something that cannot be written, and writes `null` in its place.
    fn problem(&mut self, message: String, hint: Option<String>) {
        self.problem_without_value(message, hint);
        self.json.extend_from_slice(b"null");
    }

    fn problem_without_value(&mut self, message: String, hint: Option<String>) {
        self.problems.push(Found { path: Vec::new(), message, hint });
    }
}

impl<'py> Written<'py> {
    /// Fills long texts into their holes; other threads may use Python in the meantime.
    pub(crate) fn fill(self, py: Python<'py>) -> Filled<'py> {
        self.fill_while(py, || ()).0
    }

    /// Like [`Written::fill`], on another thread, while this one does something else.
    pub(crate) fn fill_while<T>(
        self,
        py: Python<'py>,
        other: impl FnOnce() -> T,
    ) -> (Filled<'py>, T) {
        let (holes, text): (Vec<Hole<'_>>, _) = (self.parts.holes().collect(), &self.json);
        let (filled, other) = thread::scope(|scope| {
            let filling = scope.spawn(|| fill(text, &holes));
            let other = other();
            (py.detach(|| filling.join()), other)
        });
        let (json, lengths) = filled.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let known = self.parts.known(&lengths);
        (Filled { json, known }, other)
    }
}

/// A position in the JSON to return to.
pub(crate) struct Mark {
    n_bytes: usize,
    n_parts: usize,
    n_problems: usize,
}

/// Converts an object of another library to Python's own types: numbers and arrays of numpy, dates,
/// paths.
pub(crate) fn plain_form<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = value.py();
    let number = |module: &str, name: &str, method: &str| {
        let has_it = value.hasattr(method).ok()?;
        let make = py.import(module).ok()?.getattr(name).ok()?;
        has_it.then(|| make.call1((value,)).ok()).flatten()
    };
    let say = |method: &str| {
        value.hasattr(method).ok()?.then(|| value.call_method0(method).ok()).flatten()
    };
    say("tolist")
        .or_else(|| number("operator", "index", "__index__"))
        .or_else(|| number("builtins", "float", "__float__"))
        .or_else(|| say("isoformat"))
        .or_else(|| say("__fspath__"))
}

/// Returns the name of an object's type, for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string())
}
