//! The keys of mappings that are being read, so that one that is used twice is noticed.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Where the keys of open mappings stand in the JSON, those of the innermost one last.
#[derive(Default)]
pub(super) struct Keys {
    ranges: Vec<Range<usize>>,
    hasher: DefaultHashBuilder,
}

/// The keys of one mapping.
pub(super) struct OwnKeys {
    /// The number of the first among those of all mappings.
    first: usize,
    /// Their numbers by their hashes, where there are many; each key once.
    table: HashTable<usize>,
    /// How many were put there, repeated ones and all.
    n_tabled: usize,
}

/// Up to so many keys are compared one by one.
const FEW: usize = 12;

impl Keys {
    /// For a mapping that begins here.
    pub(super) fn of_new_mapping(&self) -> OwnKeys {
        OwnKeys { first: self.ranges.len(), table: HashTable::new(), n_tabled: 0 }
    }

    /// Forgets those of a mapping, and of all inside.
    pub(super) fn forget(&mut self, own: &OwnKeys) {
        self.ranges.truncate(own.first);
    }

    /// The last one.
    pub(super) fn last(&self) -> Range<usize> {
        self.last_before(None)
    }

    /// The last one before those of a mapping inside.
    pub(super) fn last_before(&self, inner: Option<&OwnKeys>) -> Range<usize> {
        let end = inner.map_or(self.ranges.len(), |own| own.first);
        self.ranges[..end].last().cloned().unwrap_or_default()
    }

    /// Adds a key to the innermost mapping; returns whether it is new there.
    pub(super) fn add(&mut self, own: &mut OwnKeys, json: &[u8], key: Range<usize>) -> bool {
        let text = |at: usize| &json[self.ranges[at].clone()];
        let numbers = own.first..self.ranges.len();
        let hash = |at: usize| self.hasher.hash_one(text(at));
        let is_like = |at: usize, other: &[u8]| text(at) == other;
        let key_text = &json[key.clone()];
        let is_new = if numbers.len() < FEW {
            !numbers.clone().any(|at| is_like(at, key_text))
        } else {
            // From the moment on that there are many, all are in the table.
            let n_keys = numbers.len();
            for at in numbers.skip(own.n_tabled) {
                let is_it = |other: &usize| is_like(*other, text(at));
                own.table.entry(hash(at), is_it, |at| hash(*at)).or_insert(at);
            }
            own.n_tabled = n_keys;
            let wanted = self.hasher.hash_one(key_text);
            own.table.find(wanted, |at| is_like(*at, key_text)).is_none()
        };
        self.ranges.push(key);
        is_new
    }
}
