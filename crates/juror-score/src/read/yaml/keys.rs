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
    /// Their numbers by their hashes, where there are many.
    table: HashTable<usize>,
}

/// Up to so many keys are compared one by one.
const FEW: usize = 12;

impl Keys {
    /// For a mapping that begins here.
    pub(super) fn of_new_mapping(&self) -> OwnKeys {
        OwnKeys { first: self.ranges.len(), table: HashTable::new() }
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
        let is_it = |at: usize| *text(at) == json[key.clone()];
        let is_new = if numbers.len() < FEW {
            !numbers.clone().any(is_it)
        } else {
            // From the moment on that there are many, all are in the table.
            for at in numbers.skip(own.table.len()) {
                own.table.insert_unique(hash(at), at, |at| hash(*at));
            }
            let wanted = self.hasher.hash_one(&json[key.clone()]);
            own.table.find(wanted, |at| is_it(*at)).is_none()
        };
        self.ranges.push(key);
        is_new
    }
}
