//! How responses are read.

use clap::Args;
use juror_read::RepeatedIds;

use crate::boolish;

/// How responses are read.
#[derive(Args, Clone, Copy, Default)]
pub struct ResponseArgs {
    /// Take several responses with the same id for several answers to the question, in the order of
    /// the file. Without this, a `trial` tells them apart, and otherwise the last one counts.
    #[arg(long, env = "JUROR_TRIALS_IN_RESPONSES", value_parser = boolish())]
    trials_in_responses: bool,
}

impl ResponseArgs {
    /// Returns what several responses with the same id are.
    pub fn repeated_ids(self) -> RepeatedIds {
        if self.trials_in_responses { RepeatedIds::Trials } else { RepeatedIds::LastCounts }
    }
}
