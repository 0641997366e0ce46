//! Objects by their position in the JSON that is being made from them.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

use crate::fill::Hole;
use crate::known::{Entry, Known};

/// Written in place of a text that is stored next to the JSON.
pub(crate) const NO_TEXT: &[u8] = b"\"\"";

/// The texts missing from the JSON, and the objects that results reuse, in the order of the JSON.
#[derive(Default)]
pub(crate) struct Parts<'py> {
    list: Vec<Part<'py>>,
}

/// Something at a position of the JSON without its missing texts.
struct Part<'py> {
    at: usize,
    kind: Kind,
    object: Bound<'py, PyAny>,
}

enum Kind {
    /// A text that is missing at this position.
    Hole,
    /// A text for which an empty string is written.
    Aside,
    /// An object that was written up to a position, with the number of parts at that point.
    Object { end: usize, n_parts: usize },
    /// An object that turned out not to be worth remembering.
    Nothing,
}

impl<'py> Parts<'py> {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn truncate(&mut self, n_parts: usize) {
        self.list.truncate(n_parts);
    }

    /// Adds a text that is missing at a position.
    pub(crate) fn hole(&mut self, at: usize, text: &Bound<'py, PyAny>) {
        self.list.push(Part { at, kind: Kind::Hole, object: text.clone() });
    }

    /// Adds a text for which an empty string is written.
    pub(crate) fn aside(&mut self, at: usize, text: &Bound<'py, PyAny>) {
        self.list.push(Part { at, kind: Kind::Aside, object: text.clone() });
    }

    /// Starts an object that may be worth remembering.
    pub(crate) fn begin(&mut self, at: usize, object: &Bound<'py, PyAny>) -> usize {
        self.list.push(Part { at, kind: Kind::Nothing, object: object.clone() });
        self.list.len() - 1
    }

    /// Ends the object at a position.
    pub(crate) fn end(&mut self, part: usize, end: usize, is_known: bool) {
        if is_known {
            self.list[part].kind = Kind::Object { end, n_parts: self.list.len() };
        } else if self.list.len() == part + 1 {
            self.list.pop();
        }
    }

    /// Inserts an object whose contents are already written, before the part with this number.
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

    /// Returns the texts that were put aside, with their positions, for a thread without Python.
    pub(crate) fn asides(&self) -> PyResult<Vec<(usize, PyBackedStr)>> {
        let asides = self.list.iter().filter(|part| matches!(part.kind, Kind::Aside));
        let text =
            |part: &Part<'py>| Ok((part.at, part.object.cast::<PyString>()?.clone().try_into()?));
        asides.map(text).collect()
    }

    pub(crate) fn holes(&self) -> impl Iterator<Item = Hole<'_>> {
        self.list.iter().filter(|part| matches!(part.kind, Kind::Hole)).map(|part| {
            // It was read when the hole was made, and strings are immutable.
            let text = part.object.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
            Hole { at: part.at, text: text.unwrap_or_default() }
        })
    }

    /// Returns the objects by their positions in the complete JSON, given the length of each filled
    /// hole.
    pub(crate) fn known(&self, lengths: &[usize]) -> Known<'py> {
        let mut lengths = lengths.iter();
        // By number of parts, how much longer the complete JSON is than the one with holes.
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
