//! From Python's objects to JSON text, so that they are judged as files are.
//!
//! What JSON says exactly is written as it is. What it cannot say (`nan`, tuples, dates, keys that
//! are not texts) is written as its nearest reading, and the object itself is remembered, so that
//! results hand it on unchanged. Long texts are remembered as well: they need not be made anew.

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString,
};
use pyo3::types::{PyByteArray, PyTuple};

use crate::escape::push_text;
use crate::known::Known;
use crate::problem::{Found, Segment};

/// Objects in objects beyond this depth are taken for a mistake, such as a list within itself.
pub(crate) const DEEPEST: usize = 200;

/// Texts from this length on are remembered.
const LONG: usize = 32;

/// What became of objects.
#[derive(Default)]
pub(crate) struct Written<'py> {
    /// The JSON text.
    pub(crate) json: Vec<u8>,
    /// Objects that results hand on, by where they stand in the text.
    pub(crate) known: Known<'py>,
    /// What could not be written; `null` stands in its place.
    pub(crate) problems: Vec<Found>,
    /// Whether `nan` and the infinities are written as Python's `json` writes them.
    pub(crate) keeps_nan: bool,
    depth: usize,
    path: Vec<Segment>,
}

impl<'py> Written<'py> {
    /// Appends a value.
    pub(crate) fn value(&mut self, value: &Bound<'py, PyAny>) {
        if let Ok(text) = value.cast::<PyString>() {
            self.text(text);
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.nested(value, Written::dict, dict);
        } else if let Ok(list) = value.cast::<PyList>() {
            self.nested(value, |written, list| written.list(list.iter()), list);
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

    /// Takes back everything written since a mark, with its problems.
    pub(crate) fn take_back(&mut self, mark: &Mark) -> Vec<Found> {
        self.json.truncate(mark.n_bytes);
        self.known.truncate(mark.n_known);
        self.problems.split_off(mark.n_problems)
    }

    /// Where writing stands.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            n_bytes: self.json.len(),
            n_known: self.known.len(),
            n_problems: self.problems.len(),
        }
    }

    /// Whether something since a mark could not be written.
    pub(crate) fn failed_since(&self, mark: &Mark) -> bool {
        self.problems.len() > mark.n_problems
    }

    /// Writes something at a further step of the path.
    pub(crate) fn at(&mut self, segment: Segment, write: impl FnOnce(&mut Written<'py>)) {
        self.path.push(segment);
        write(self);
        self.path.pop();
    }

    fn text(&mut self, text: &Bound<'py, PyString>) {
        let start = self.json.len();
        match text.to_str() {
            Ok(plain) => {
                push_text(plain, &mut self.json);
                if plain.len() >= LONG {
                    self.known.put(start, self.json.len(), text.as_any().clone());
                }
            }
            Err(_) => {
                self.surrogates(text);
                self.known.put(start, self.json.len(), text.as_any().clone());
            }
        }
    }

    /// A text that is not Unicode's, with its lone surrogates, which JSON can write.
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

    fn nested<T>(
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
        let (start, at) = (self.json.len(), self.known.reserve());
        let mut is_exact = true;
        self.json.push(b'{');
        for (index, (key, value)) in dict.iter().enumerate() {
            is_exact &= self.entry(index, &key, &value);
        }
        self.json.push(b'}');
        self.known.settle(at, (!is_exact).then(|| (start, self.json.len(), dict.as_any().clone())));
    }

    /// A key and its value; returns whether the key is a text.
    fn entry(&mut self, index: usize, key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> bool {
        if index > 0 {
            self.json.push(b',');
        }
        let (segment, is_text) = self.key(key);
        self.json.push(b':');
        self.at(segment, |written| written.value(value));
        is_text
    }

    /// Keys are written as Python's `json` writes them.
    pub(crate) fn key(&mut self, key: &Bound<'py, PyAny>) -> (Segment, bool) {
        if let Ok(text) = key.cast::<PyString>() {
            return match text.to_str() {
                Ok(plain) => {
                    push_text(plain, &mut self.json);
                    (Segment::Object(key.clone().unbind()), true)
                }
                Err(_) => {
                    self.surrogates(text);
                    (Segment::Object(key.clone().unbind()), false)
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
                format!("a key of type `{name}` is no text"),
                Some("keys are texts or numbers".into()),
            );
        }
        self.json.push(b'"');
        self.json.extend_from_slice(&scalar.json);
        self.json.push(b'"');
        (Segment::Object(key.clone().unbind()), false)
    }

    fn list(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) {
        self.json.push(b'[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.json.push(b',');
            }
            self.at(Segment::Index(index), |written| written.value(&item));
        }
        self.json.push(b']');
    }

    fn float(&mut self, number: &Bound<'py, PyFloat>) {
        let value = number.value();
        if value.is_finite() {
            self.json.extend_from_slice(format!("{value:?}").as_bytes());
        } else if self.keeps_nan {
            let word = if value.is_nan() { "NaN" } else { "Infinity" };
            self.json.extend_from_slice(if value < 0.0 { b"-" } else { b"" });
            self.json.extend_from_slice(word.as_bytes());
        } else {
            // JSON has no such number, and no mean may rest on it.
            let start = self.json.len();
            self.json.extend_from_slice(b"null");
            self.known.put(start, self.json.len(), number.as_any().clone());
        }
    }

    fn int(&mut self, number: &Bound<'py, PyInt>) {
        if let Ok(value) = number.extract::<i64>() {
            self.json.extend_from_slice(value.to_string().as_bytes());
            return;
        }
        // A subclass may print itself in another way than `int` does.
        let digits = number.call_method1("__format__", ("d",)).and_then(|text| text.extract());
        match digits {
            Ok::<String, _>(digits) => self.json.extend_from_slice(digits.as_bytes()),
            Err(error) => self.problem(format!("the number cannot be written: {error}"), None),
        }
    }

    /// What has no form of its own in JSON; results hand on the object itself.
    fn odd(&mut self, value: &Bound<'py, PyAny>) {
        let (start, at) = (self.json.len(), self.known.reserve());
        let n_problems = self.problems.len();
        if let Ok(tuple) = value.cast::<PyTuple>() {
            self.nested(value, |written, tuple| written.list(tuple.iter()), tuple);
        } else if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
            self.problem("bytes are no text".into(), Some("decode them".into()));
        } else if let Ok(mapping) = value.cast::<PyMapping>() {
            self.nested(value, Written::mapping, mapping);
        } else if let Ok(sequence) = value.cast::<PySequence>() {
            self.nested(value, Written::sequence, sequence);
        } else if let Some(plain) = plain_form(value) {
            self.nested(value, Written::value, &plain);
        } else {
            let name = type_name(value);
            let hint = "use dict, list, str, int, float, bool or None";
            self.problem(format!("a value of type `{name}` cannot be read"), Some(hint.into()));
        }
        let is_known = self.problems.len() == n_problems;
        self.known.settle(at, is_known.then(|| (start, self.json.len(), value.clone())));
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
                    self.entry(index, key, value);
                }
                self.json.push(b'}');
            }
            Err(error) => self.problem(format!("its items cannot be read: {error}"), None),
        }
    }

    fn sequence(&mut self, sequence: &Bound<'py, PySequence>) {
        let items: PyResult<Vec<_>> = sequence.try_iter().and_then(Iterator::collect);
        match items {
            Ok(items) => self.list(items.into_iter()),
            Err(error) => self.problem(format!("its items cannot be read: {error}"), None),
        }
    }

    /// Notes what cannot be written, and writes `null` in its place.
    fn problem(&mut self, message: String, hint: Option<String>) {
        self.problem_without_value(message, hint);
        self.json.extend_from_slice(b"null");
    }

    fn problem_without_value(&mut self, message: String, hint: Option<String>) {
        let path = self.path.iter().map(Segment::copy).collect();
        self.problems.push(Found { path, message, hint });
    }
}

/// A place in the text, to go back to.
pub(crate) struct Mark {
    n_bytes: usize,
    n_known: usize,
    n_problems: usize,
}

/// What an object of another library says in Python's own types: numbers and arrays as numpy has
/// them, dates, paths.
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

/// The name of an object's type, for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string())
}
