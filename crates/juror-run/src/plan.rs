//! What a run will do: settings with every question answered.

use std::num::NonZero;

use juror_score::{Aggregator, Case, Gates, Profile, Record, Share, Traits, explain, score};

/// Everything an evaluation needs to know besides its inputs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The rules of judgement.
    pub profile: Profile,
    /// The outputs of custom evaluations, which aggregates take in.
    pub custom_metrics: Vec<String>,
    /// What each of those needs of a question.
    pub custom_needs: Vec<Traits>,
    /// The share of questions with a verdict that a gate asks for.
    pub coverage: Share,
    /// Whether results tell why expected steps were missed.
    pub explain: bool,
    /// How many threads judge.
    pub threads: usize,
}

impl Plan {
    /// A plan by a profile, on all cores.
    pub fn new(profile: Profile) -> Plan {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        Plan {
            profile,
            custom_metrics: Vec::new(),
            custom_needs: Vec::new(),
            coverage: Gates::COVERAGE,
            explain: false,
            threads,
        }
    }

    /// Computes everything of a case that needs no model.
    pub fn score<'a>(&self, case: &Case<'a>) -> Record<'a> {
        let mut record = score(case, &self.profile);
        if self.explain {
            record.misses = explain(&record, &self.profile);
        }
        record
    }

    /// An empty aggregator by its rules.
    pub fn aggregator(&self) -> Aggregator {
        Aggregator::new(&self.profile, &self.custom_metrics).with_needs(&self.custom_needs)
    }
}
