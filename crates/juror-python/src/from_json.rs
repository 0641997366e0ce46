//! Converts JSON to Python's objects, as Python's own reader would.
//!
//! The text has been read before, so it is known to be valid JSON.

use hashbrown::HashMap;
use juror_json::{end_of_string, unescape};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::known::{Cursor, Known};
use crate::to_json::DEEPEST;

/// How many distinct keys are kept for reuse.
const MOST_KEYS: usize = 4096;

/// Creates Python's objects.
pub(crate) struct Builder<'py> {
    pub(crate) py: Python<'py>,
    /// Keys by their JSON, including quotes: results have few different ones.
    keys: HashMap<Box<str>, Bound<'py, PyString>>,
}

impl<'py> Builder<'py> {
    pub(crate) fn new(py: Python<'py>) -> Builder<'py> {
        Builder { py, keys: HashMap::new() }
    }

    /// Returns the value of a JSON text.
    pub(crate) fn value(&mut self, json: &str) -> PyResult<Bound<'py, PyAny>> {
        self.part(json, 0, None)
    }

    /// Returns the value that starts at a position of a JSON text whose objects may be known.
    pub(crate) fn part(
        &mut self,
        json: &str,
        at: usize,
        known: Option<&Known<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut reader = self.reader(json, at, known);
        reader.skip_space();
        reader.value()
    }

    /// Returns the object that starts at a position, always as a new dict, even if it is known as
    /// another object.
    pub(crate) fn dict(
        &mut self,
        json: &str,
        at: usize,
        known: Option<&Known<'py>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut reader = self.reader(json, at, known);
        match reader.known.at(at) {
            Some((object, _)) if object.is_instance_of::<PyDict>() => {
                Ok(own_copy(object)?.cast_into()?)
            }
            _ => Ok(reader.object()?.cast_into()?),
        }
    }

    fn reader<'r>(
        &'r mut self,
        json: &'r str,
        at: usize,
        known: Option<&'r Known<'py>>,
    ) -> Reader<'r, 'py> {
        let known = known.map(|known| known.from(at)).unwrap_or_default();
        Reader { json, at, known, builder: self, depth: 0 }
    }

    /// Returns a key that is written as a JSON string.
    pub(crate) fn key(&mut self, quoted: &str) -> PyResult<Bound<'py, PyString>> {
        if let Some(key) = self.keys.get(quoted) {
            return Ok(key.clone());
        }
        let key = self.text(&quoted[1..quoted.len() - 1])?;
        if self.keys.len() < MOST_KEYS {
            self.keys.insert(quoted.into(), key.clone());
        }
        Ok(key)
    }

    /// Returns a key defined by Juror.
    pub(crate) fn own_key(&mut self, key: &str) -> Bound<'py, PyString> {
        if let Some(known) = self.keys.get(key) {
            return known.clone();
        }
        let made = PyString::intern(self.py, key);
        self.keys.insert(key.into(), made.clone());
        made
    }

    /// Returns a text, given the inside of a JSON string.
    fn text(&self, inside: &str) -> PyResult<Bound<'py, PyString>> {
        let text = unescape(inside);
        if memchr::memmem::find(text.as_bytes(), "\u{fffd}".as_bytes()).is_some() {
            // Half of a surrogate pair, which Python's strings can hold and Rust's cannot.
            let loads = self.py.import("json")?.getattr("loads")?;
            return Ok(loads.call1((format!("\"{inside}\""),))?.cast_into()?);
        }
        Ok(PyString::new(self.py, &text))
    }
}

/// Copies dicts and lists, so that changing a result changes no input; returns any other object as
/// it is.
fn own_copy(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if let Ok(dict) = object.cast::<PyDict>() {
        let copy = PyDict::new(object.py());
        // Copied in one call, which is fast; most values need no copy of their own.
        copy.update(dict.as_mapping())?;
        for (key, value) in dict.iter() {
            if value.is_instance_of::<PyDict>() || value.is_instance_of::<PyList>() {
                copy.set_item(key, own_copy(value)?)?;
            }
        }
        return Ok(copy.into_any());
    }
    if object.is_instance_of::<PyList>() {
        let copy = PyList::empty(object.py());
        for item in object.try_iter()? {
            copy.append(own_copy(item?)?)?;
        }
        return Ok(copy.into_any());
    }
    Ok(object)
}

/// Reads one value.
struct Reader<'r, 'py> {
    json: &'r str,
    at: usize,
    known: Cursor<'r, 'py>,
    builder: &'r mut Builder<'py>,
    depth: usize,
}

impl<'py> Reader<'_, 'py> {
    fn value(&mut self) -> PyResult<Bound<'py, PyAny>> {
        if let Some((object, end)) = self.known.at(self.at) {
            self.at = end;
            return own_copy(object);
        }
        let py = self.builder.py;
        match self.peek() {
            Some(b'"') => Ok(self.string()?.into_any()),
            Some(b'{' | b'[') if self.depth == DEEPEST => Ok(self.deep()),
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b't') => Ok(self.word("true", PyBool::new(py, true).to_owned().into_any())),
            Some(b'f') => Ok(self.word("false", PyBool::new(py, false).to_owned().into_any())),
            Some(b'n') => Ok(self.word("null", py.None().into_bound(py))),
            _ => Ok(self.number()),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str, object: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        self.at += word.len();
        object
    }

    /// Reads a JSON string with its quotes.
    fn quoted(&mut self) -> &str {
        let start = self.at;
        self.at = end_of_string(self.json, start).unwrap_or(self.json.len());
        &self.json[start..self.at]
    }

    fn string(&mut self) -> PyResult<Bound<'py, PyString>> {
        let start = self.at;
        let end = start + self.quoted().len();
        self.builder.text(&self.json[start + 1..end - 1])
    }

    fn object(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let dict = PyDict::new(self.builder.py);
        self.depth += 1;
        self.open();
        while self.peek().is_some_and(|byte| byte != b'}') {
            let start = self.at;
            let end = start + self.quoted().len();
            let key = self.builder.key(&self.json[start..end])?;
            self.pass(b':');
            dict.set_item(key, self.value()?)?;
            self.pass(b',');
        }
        self.at += 1;
        self.depth -= 1;
        Ok(dict.into_any())
    }

    fn list(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(self.builder.py);
        self.depth += 1;
        self.open();
        while self.peek().is_some_and(|byte| byte != b']') {
            list.append(self.value()?)?;
            self.pass(b',');
        }
        self.at += 1;
        self.depth -= 1;
        Ok(list.into_any())
    }

    /// Skips a bracket.
    fn open(&mut self) {
        self.at += 1;
        self.skip_space();
    }

    /// Skips a punctuation character, if present, and the whitespace around it.
    fn pass(&mut self, sign: u8) {
        self.skip_space();
        if self.peek() == Some(sign) {
            self.at += 1;
            self.skip_space();
        }
    }

    fn number(&mut self) -> Bound<'py, PyAny> {
        let py = self.builder.py;
        let rest = &self.json[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let text = &rest[..rest.bytes().take_while(|byte| is_part(byte)).count()];
        self.at += text.len().max(1);
        if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            return PyFloat::new(py, text.parse().unwrap_or(f64::NAN)).into_any();
        }
        match text.parse::<i64>() {
            Ok(whole) => PyInt::new(py, whole).into_any(),
            // Python refuses numbers with more digits than its limit: those stay strings.
            Err(_) => py
                .get_type::<PyInt>()
                .call1((text,))
                .unwrap_or_else(|_| PyString::new(py, text).into_any()),
        }
    }

    /// Returns whatever is nested too deeply for Python's reader as a string.
    fn deep(&mut self) -> Bound<'py, PyAny> {
        let rest = &self.json[self.at..];
        let mut values =
            serde_json::Deserializer::from_str(rest).into_iter::<&serde_json::value::RawValue>();
        let text = match values.next() {
            Some(Ok(value)) => value.get(),
            _ => rest,
        };
        self.at += text.len();
        PyString::new(self.builder.py, text).into_any()
    }
}
