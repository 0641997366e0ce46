//! Objects that results hand on, by where they stand in the JSON text that was made of them.

use pyo3::prelude::*;

/// In the order of the text; an object comes before those inside it.
#[derive(Default)]
pub(crate) struct Known<'py>(Vec<Option<Entry<'py>>>);

struct Entry<'py> {
    start: usize,
    end: usize,
    object: Bound<'py, PyAny>,
}

impl<'py> Known<'py> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// Remembers an object.
    pub(crate) fn put(&mut self, start: usize, end: usize, object: Bound<'py, PyAny>) {
        self.0.push(Some(Entry { start, end, object }));
    }

    /// Keeps a place for an object that may turn out to be worth remembering.
    pub(crate) fn reserve(&mut self) -> usize {
        self.0.push(None);
        self.0.len() - 1
    }

    /// Says what became of a reserved place.
    pub(crate) fn settle(&mut self, at: usize, known: Option<(usize, usize, Bound<'py, PyAny>)>) {
        match known {
            Some((start, end, object)) => self.0[at] = Some(Entry { start, end, object }),
            None if self.0.len() == at + 1 => self.0.truncate(at),
            None => {}
        }
    }

    /// Drops places that were reserved for nothing.
    pub(crate) fn finish(&mut self) {
        self.0.retain(Option::is_some);
    }

    /// A cursor that looks objects up from some place of the text onwards.
    pub(crate) fn from(&self, start: usize) -> Cursor<'_, 'py> {
        let at =
            self.0.partition_point(|entry| entry.as_ref().is_none_or(|entry| entry.start < start));
        Cursor { entries: &self.0[at..] }
    }
}

/// Looks up places that come in order.
#[derive(Default)]
pub(crate) struct Cursor<'k, 'py> {
    entries: &'k [Option<Entry<'py>>],
}

impl<'py> Cursor<'_, 'py> {
    /// The object that stands at a place, and where it ends.
    pub(crate) fn at(&mut self, place: usize) -> Option<(Bound<'py, PyAny>, usize)> {
        while let [Some(first), rest @ ..] = self.entries {
            if first.start > place {
                return None;
            }
            self.entries = rest;
            if first.start == place {
                return Some((first.object.clone(), first.end));
            }
        }
        None
    }
}
