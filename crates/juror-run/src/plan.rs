//! The plan of a run: settings with every choice made.

use juror_compare::{Calibration, Gate, Gates};
use juror_read::RepeatedIds;
use juror_runs::Shard;
use juror_score::{Aggregator, Case, Profile, Record, Release, ToldRules, Traits, explain, score};

/// A gate names something that is not a metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a metric")]
pub struct UnknownMetric(pub String);

/// Everything an evaluation needs besides its inputs and judges.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The rules of judgement.
    pub profile: Profile,
    /// The rules instead of `profile` for results that tell that they are of profile 6; `None` if the
    /// user chose the rules.
    pub profile_of_6: Option<Box<Profile>>,
    /// The outputs of custom evaluations, which aggregates include.
    pub custom_metrics: Vec<String>,
    /// What each of them requires of a question.
    pub custom_needs: Vec<Traits>,
    /// The requirements that results must meet to pass.
    pub gates: Gates,
    /// What is known about the judges' errors.
    pub calibrations: Vec<Calibration>,
    /// What several responses with the same id are.
    pub repeated_ids: RepeatedIds,
    /// How many questions of the reference count, from the first on; all of them by default.
    pub limit: Option<usize>,
    /// Files of lines of at least this many bytes are not kept in memory, but read again where they are
    /// needed; `None` keeps all files.
    pub kept_below: Option<usize>,
    /// Which questions of the reference count, of those; all of them by default.
    pub shard: Option<Shard>,
    /// Whether results explain why expected steps were missed.
    pub explain: bool,
    /// The number of scoring threads.
    pub threads: usize,
}

impl Plan {
    /// Creates a plan with the rules of a profile, using all cores.
    pub fn new(profile: Profile) -> Plan {
        let threads = juror_document::n_cores();
        Plan {
            profile,
            profile_of_6: None,
            custom_metrics: Vec::new(),
            custom_needs: Vec::new(),
            gates: Gates::default(),
            calibrations: Vec::new(),
            repeated_ids: RepeatedIds::default(),
            limit: None,
            kept_below: None,
            shard: None,
            explain: false,
            threads,
        }
    }

    /// Adds a gate; fails if results cannot have its metric.
    pub fn add_gate(&mut self, gate: Gate) -> Result<(), UnknownMetric> {
        if let Some(name) = gate.metric().filter(|name| !self.has_metric(name)) {
            return Err(UnknownMetric(name.to_owned()));
        }
        self.gates.gates.push(gate);
        Ok(())
    }

    /// Returns whether results can have a metric.
    pub fn has_metric(&self, name: &str) -> bool {
        let is_custom = || self.custom_metrics.iter().any(|known| known == name);
        juror_score::question_metric(name).is_some() || is_custom()
    }

    /// Computes every score of a case that needs no model.
    pub fn score<'a>(&self, case: &Case<'a>) -> Record<'a> {
        let mut record = score(case, &self.profile);
        if self.explain {
            record.misses = explain(&record, &self.profile);
        }
        record
    }

    /// Returns the rules for results that tell by which profile they were made, if these are not
    /// already the rules of the plan.
    pub fn profile_for(&self, told: ToldRules) -> Option<&Profile> {
        self.profile_of_6.as_deref().filter(|_| told.release() == Some(Release::Six))
    }

    /// Returns the same plan with other rules, which were chosen.
    #[must_use]
    pub fn by(&self, profile: &Profile) -> Plan {
        Plan { profile: profile.clone(), profile_of_6: None, ..self.clone() }
    }

    /// Returns how many failed responses have numbers of which nobody knows whether they count: the
    /// user did not choose, and the results do not tell.
    pub fn n_unsure(&self, told: ToldRules) -> usize {
        if self.profile_of_6.is_some() { told.n_unsure() } else { 0 }
    }

    /// Creates an empty aggregator for this plan.
    pub fn aggregator(&self) -> Aggregator {
        Aggregator::with_needs(&self.profile, &self.custom_metrics, &self.custom_needs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_compare::LevelLimit;

    #[test]
    fn gates_are_set_on_metrics_that_results_can_have() {
        let mut plan = Plan::new(Profile::V5);
        plan.custom_metrics = vec!["politeness".into()];
        let mut add = |metric: &str| plan.add_gate(Gate::on_mean(metric, LevelLimit::Min(0.5)));
        assert_eq!(add("steps_score"), Ok(()));
        assert_eq!(add("politeness"), Ok(()));
        assert_eq!(add("steps_scores"), Err(UnknownMetric("steps_scores".into())));
        assert_eq!(plan.gates.gates.len(), 2);
    }
}
