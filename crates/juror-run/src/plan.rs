//! What a run will do: settings with every question answered.

use std::num::NonZero;

use juror_score::{Aggregator, Case, Gate, Gates, Profile, Record, Traits, explain, score};

/// A gate names something that is not a metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a metric")]
pub struct UnknownMetric(pub String);

/// Everything an evaluation needs to know besides its inputs and judges.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The rules of judgement.
    pub profile: Profile,
    /// The outputs of custom evaluations, which aggregates take in.
    pub custom_metrics: Vec<String>,
    /// What each of those needs a question to have.
    pub custom_needs: Vec<Traits>,
    /// What is asked of the results before they may pass.
    pub gates: Gates,
    /// Whether results say why expected steps were missed.
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
            gates: Gates { metrics: Vec::new(), coverage: Gates::COVERAGE, max_errors: None },
            explain: false,
            threads,
        }
    }

    /// Adds a gate; fails if results cannot have its metric.
    pub fn add_gate(&mut self, gate: Gate) -> Result<(), UnknownMetric> {
        let is_known = juror_score::question_metric(&gate.metric).is_some()
            || self.custom_metrics.contains(&gate.metric);
        if !is_known {
            return Err(UnknownMetric(gate.metric));
        }
        self.gates.metrics.push(gate);
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_set_on_metrics_that_results_can_have() {
        let mut plan = Plan::new(Profile::V5);
        plan.custom_metrics = vec!["politeness".into()];
        let mut add = |metric: &str| plan.add_gate(Gate { metric: metric.into(), least: 0.5 });
        assert_eq!(add("steps_score"), Ok(()));
        assert_eq!(add("politeness"), Ok(()));
        assert_eq!(add("steps_scores"), Err(UnknownMetric("steps_scores".into())));
        assert_eq!(plan.gates.metrics.len(), 2);
    }
}
