//! Explains in words why expected steps were not found.

mod difference;
mod examine;
mod explainer;
pub(crate) use examine::MatchedSteps;

use crate::match_steps::Matching;
use crate::profile::Profile;
use crate::question::ExpectedStep;
use crate::record::Record;
use crate::trajectory::Step;

/// An expected step that was not found, or only partly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The group of the step, counted from 0.
    pub group: usize,
    /// The position of the step in its group.
    pub expected: usize,
    /// The name of the step.
    pub name: String,
    /// How the nearest actual step differs, or why there is none.
    pub why: String,
}

/// Explains every expected step that lowers the record's steps score.
pub fn explain(record: &Record<'_>, profile: &Profile) -> Vec<Miss> {
    MatchedSteps::of(record, profile).map_or_else(Vec::new, misses)
}

/// Explains every expected step that [`match_steps`](fn@crate::match_steps) did not find completely.
pub fn explain_matching(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    matching: &Matching,
    profile: &Profile,
) -> Vec<Miss> {
    misses(MatchedSteps { groups, steps, matching, too_large: &matching.too_large, profile })
}

fn misses(matched: MatchedSteps<'_>) -> Vec<Miss> {
    let pairs = matched.examine(&matched.views(), None);
    let miss = |pair: crate::alignment::StepPair| {
        let (group, expected) = (pair.group, pair.expected);
        let name = matched.groups[group][expected].name.to_string();
        Some(Miss { group, expected, name, why: pair.why? })
    };
    pairs.into_iter().filter_map(miss).collect()
}
