//! What a run will do: settings with every question answered.

use std::num::NonZero;

use juror_score::Profile;

/// Everything an evaluation needs to know besides its inputs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The rules of judgement.
    pub profile: Profile,
    /// The outputs of custom evaluations, which aggregates take in.
    pub custom_metrics: Vec<String>,
    /// How many threads judge.
    pub threads: usize,
}

impl Plan {
    /// A plan by a profile, on all cores.
    pub fn new(profile: Profile) -> Plan {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        Plan { profile, custom_metrics: Vec::new(), threads }
    }
}
