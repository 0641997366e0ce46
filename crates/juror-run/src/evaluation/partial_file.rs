//! Writes the numbers of an evaluation for merging with those of other shards.

use juror_partial::{Origin, Partial};
use juror_score::Aggregator;

use super::identity::whole_identity;
use super::{Evaluation, EvaluationError};
use crate::models::Judges;
use crate::output::{Output, OutputError};

/// A file that gets the numbers of an evaluation.
#[derive(Debug)]
pub struct PartialFile {
    output: Output,
    origin: Origin,
    positions: Vec<u64>,
}

impl Evaluation<'_> {
    /// Starts a file that gets the numbers of this evaluation, to be merged with those of the other
    /// shards. Without shards, it is the only one.
    pub fn begin_partial(
        &self,
        name: &str,
        judges: Option<&Judges>,
    ) -> Result<PartialFile, OutputError> {
        let (number, of) = self.plan.shard.map_or((1, 1), |shard| (shard.number, shard.of));
        Ok(PartialFile {
            output: Output::create_text(name)?,
            origin: Origin::new(whole_identity(self, judges), number, of),
            positions: self.positions(),
        })
    }
}

impl PartialFile {
    /// Writes everything but for the file's taking its place.
    pub(super) fn write(self, aggregator: &Aggregator) -> Result<Output, EvaluationError> {
        let PartialFile { mut output, origin, positions } = self;
        let partial = Partial::at(aggregator, |row| positions[row]).from_shard(origin);
        output.write(&partial.to_bytes())?;
        Ok(output)
    }
}
