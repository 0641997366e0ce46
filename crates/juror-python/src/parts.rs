//! Objects by where they stand in the JSON text that is being made of them.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

use crate::fill::Hole;
use crate::known::{Entry, Known};

/// What is written in place of a text that stands beside the JSON.
pub(crate) const NO_TEXT: &[u8] = b"\"\"";

/// What belongs into a text, and objects that results hand on, in the order of the text.
#[derive(Default)]
pub(crate) struct Parts<'py> {
    list: Vec<Part<'py>>,
}

/// Something at a place of the text but for the holes.
struct Part<'py> {
    at: usize,
    kind: Kind,
    object: Bound<'py, PyAny>,
}

enum Kind {
    /// A text that is missing there.
    Hole,
    /// A text in whose place an empty one is written.
    Aside,
    /// An object that was written up to some place, with the number of parts by then.
    Object { end: usize, n_parts: usize },
    /// An object that turned out to be nothing to remember.
    Nothing,
}

impl<'py> Parts<'py> {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn truncate(&mut self, n_parts: usize) {
        self.list.truncate(n_parts);
    }

    /// A text that is missing at a place.
    pub(crate) fn hole(&mut self, at: usize, text: &Bound<'py, PyAny>) {
        self.list.push(Part { at, kind: Kind::Hole, object: text.clone() });
    }

    /// A text in whose place an empty one is written.
    pub(crate) fn aside(&mut self, at: usize, text: &Bound<'py, PyAny>) {
        self.list.push(Part { at, kind: Kind::Aside, object: text.clone() });
    }

    /// Begins an object that may be worth remembering.
    pub(crate) fn begin(&mut self, at: usize, object: &Bound<'py, PyAny>) -> usize {
        self.list.push(Part { at, kind: Kind::Nothing, object: object.clone() });
        self.list.len() - 1
    }

    /// Ends it at a place of the text.
    pub(crate) fn end(&mut self, part: usize, end: usize, is_known: bool) {
        if is_known {
            self.list[part].kind = Kind::Object { end, n_parts: self.list.len() };
        } else if self.list.len() == part + 1 {
            self.list.pop();
        }
    }

    /// Remembers an object whose inside is written already, before the part of a number.
    pub(crate) fn put_before(
        &mut self,
        index: usize,
        range: std::ops::Range<usize>,
        object: &Bound<'py, PyAny>,
    ) {
        for part in &mut self.list[index..] {
            if let Kind::Object { n_parts, .. } = &mut part.kind {
                *n_parts += 1;
            }
        }
        let kind = Kind::Object { end: range.end, n_parts: self.list.len() + 1 };
        self.list.insert(index, Part { at: range.start, kind, object: object.clone() });
    }

    /// The texts that were put aside with their places, to be taken to a thread without Python.
    pub(crate) fn asides(&self) -> PyResult<Vec<(usize, PyBackedStr)>> {
        let asides = self.list.iter().filter(|part| matches!(part.kind, Kind::Aside));
        let text =
            |part: &Part<'py>| Ok((part.at, part.object.cast::<PyString>()?.clone().try_into()?));
        asides.map(text).collect()
    }

    pub(crate) fn holes(&self) -> impl Iterator<Item = Hole<'_>> {
        self.list.iter().filter(|part| matches!(part.kind, Kind::Hole)).map(|part| {
            // It was read when the hole was made, and texts do not change.
            let text = part.object.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
            Hole { at: part.at, text: text.unwrap_or_default() }
        })
    }

    /// The objects by their places in the whole text, given how much was put into each hole.
    pub(crate) fn known(&self, lengths: &[usize]) -> Known<'py> {
        let mut lengths = lengths.iter();
        // By the number of parts, how much longer the whole is than the text with holes.
        let mut added = Vec::with_capacity(self.list.len() + 1);
        let mut sum = 0;
        added.push(sum);
        for part in &self.list {
            if matches!(part.kind, Kind::Hole) {
                sum += lengths.next().copied().unwrap_or_default();
            }
            added.push(sum);
        }
        let entries = self.list.iter().enumerate().filter_map(|(index, part)| {
            let start = part.at + added[index];
            let end = match part.kind {
                Kind::Hole => part.at + added[index + 1],
                Kind::Aside => start + NO_TEXT.len(),
                Kind::Object { end, n_parts } => end + added[n_parts],
                Kind::Nothing => return None,
            };
            Some(Entry { start, end, object: part.object.clone() })
        });
        Known::new(entries.collect())
    }
}
