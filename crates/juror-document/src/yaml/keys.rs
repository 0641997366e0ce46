//! The keys of open mappings, to detect keys that are used twice.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The ranges of the keys of open mappings in the JSON, those of the innermost mapping last.
#[derive(Default)]
pub(super) struct MappingKeys {
    ranges: Vec<Range<usize>>,
    hasher: DefaultHashBuilder,
}

/// The keys of one mapping.
pub(super) struct OwnKeys {
    /// The index of the first key among those of all mappings.
    first: usize,
    /// The indices of distinct keys by hash; filled once there are many keys.
    table: HashTable<usize>,
    /// How many keys were added to the table, repeated ones included.
    n_tabled: usize,
}

/// Up to this many keys are compared one by one.
const FEW: usize = 12;

impl MappingKeys {
    /// Starts a mapping.
    pub(super) fn of_new_mapping(&self) -> OwnKeys {
        OwnKeys { first: self.ranges.len(), table: HashTable::new(), n_tabled: 0 }
    }

    /// Forgets the keys of a mapping and of all mappings inside it.
    pub(super) fn forget(&mut self, own: &OwnKeys) {
        self.ranges.truncate(own.first);
    }

    /// Returns the last key.
    pub(super) fn last(&self) -> Range<usize> {
        self.last_before(None)
    }

    /// Returns the last key before those of an inner mapping.
    pub(super) fn last_before(&self, inner: Option<&OwnKeys>) -> Range<usize> {
        let end = inner.map_or(self.ranges.len(), |own| own.first);
        self.ranges[..end].last().cloned().unwrap_or_default()
    }

    /// Adds a key to the innermost mapping and returns whether it is new there.
    pub(super) fn add(&mut self, own: &mut OwnKeys, json: &[u8], key: Range<usize>) -> bool {
        let text = |at: usize| &json[self.ranges[at].clone()];
        let numbers = own.first..self.ranges.len();
        let hash = |at: usize| self.hasher.hash_one(text(at));
        let is_like = |at: usize, other: &[u8]| text(at) == other;
        let key_text = &json[key.clone()];
        let is_new = if numbers.len() < FEW {
            !numbers.clone().any(|at| is_like(at, key_text))
        } else {
            // Once there are many keys, the table holds all of them.
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
