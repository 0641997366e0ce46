//! Which shards of which whole a part is.

use std::collections::BTreeSet;

use crate::merge_error::MergeError;

/// Which shards of which whole the numbers of a partial are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What identifies the whole, piece by piece: what it is in words, and a hash.
    pub(crate) whole: Vec<(String, String)>,
    /// How many shards the whole has.
    pub(crate) of: u32,
    /// Which of them these are, from 1 on.
    pub(crate) shards: BTreeSet<u32>,
}

impl Origin {
    /// One shard of a whole. `whole` has everything that must be the same for all shards: what it is
    /// in words, and a text or hash that identifies it.
    pub fn new(whole: Vec<(String, String)>, shard: u32, of: u32) -> Origin {
        Origin { whole, of, shards: BTreeSet::from([shard]) }
    }

    /// Returns how many shards the whole has.
    pub fn of(&self) -> u32 {
        self.of
    }

    /// Returns the shards that are here, from 1 on.
    pub fn shards(&self) -> impl Iterator<Item = u32> {
        self.shards.iter().copied()
    }

    /// Returns the shards that are not here.
    pub fn missing(&self) -> Vec<u32> {
        (1..=self.of).filter(|shard| !self.shards.contains(shard)).collect()
    }

    pub(crate) fn check(&self, other: &Origin) -> Result<(), MergeError> {
        if self.whole != other.whole {
            let differs = self.whole.iter().find(|piece| !other.whole.contains(piece));
            let what = differs.or(other.whole.first()).map_or("", |(what, _)| what).to_owned();
            return Err(MergeError::OtherRun { what });
        }
        if self.of != other.of {
            return Err(MergeError::OtherCount { mine: self.of, theirs: other.of });
        }
        match self.shards.intersection(&other.shards).next() {
            Some(shard) => Err(MergeError::Twice { shard: *shard, of: self.of }),
            None => Ok(()),
        }
    }

    pub(crate) fn merge(&mut self, other: &Origin) {
        self.shards.extend(&other.shards);
    }
}
