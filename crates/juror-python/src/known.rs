//! Objects that results reuse, by their position in the JSON that was made from them.

use std::cell::Cell;

use pyo3::prelude::*;

/// The objects in the order of the JSON; an object comes before those inside it.
#[derive(Default)]
pub(crate) struct Known<'py> {
    entries: Vec<Entry<'py>>,
    /// Where the last lookup ended: results nearly always come in the order of the inputs.
    last: Cell<usize>,
}

pub(crate) struct Entry<'py> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) object: Bound<'py, PyAny>,
}

impl<'py> Known<'py> {
    pub(crate) fn new(entries: Vec<Entry<'py>>) -> Known<'py> {
        Known { entries, last: Cell::new(0) }
    }

    /// Returns a cursor that looks up objects from a position onwards.
    pub(crate) fn from(&self, start: usize) -> Cursor<'_, 'py> {
        let mut at = self.last.get();
        let is_before = |entry: Option<&Entry<'py>>| entry.is_some_and(|entry| entry.start < start);
        let follows = |at: usize| at == 0 || is_before(self.entries.get(at - 1));
        // Take a few steps from the last position, or else search from the beginning.
        let mut n_steps = 0;
        while is_before(self.entries.get(at)) && n_steps < 8 {
            at += 1;
            n_steps += 1;
        }
        if is_before(self.entries.get(at)) || !follows(at) {
            at = self.entries.partition_point(|entry| entry.start < start);
        }
        self.last.set(at);
        Cursor { entries: &self.entries[at..] }
    }
}

/// Looks up positions in ascending order.
#[derive(Default)]
pub(crate) struct Cursor<'k, 'py> {
    entries: &'k [Entry<'py>],
}

impl<'py> Cursor<'_, 'py> {
    /// Returns the object at a position, and where it ends.
    pub(crate) fn at(&mut self, place: usize) -> Option<(Bound<'py, PyAny>, usize)> {
        while let [first, rest @ ..] = self.entries {
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
