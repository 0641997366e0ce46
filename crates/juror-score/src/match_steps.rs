//! Finding the expected steps among the actual ones.

use crate::assignment::assign;
use crate::compare::{Expectation, View};
use crate::profile::{Choice, MissingStatus, Profile, ScoredGroups};
use crate::question::ExpectedStep;
use crate::trajectory::{Status, Step};

/// Which expected steps were found, and the score that follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matching {
    /// The pairs, by group from the first and by expected step.
    pub pairs: Vec<Pair>,
    /// The steps score, from 0 to 1.
    pub score: f64,
}

/// An expected step and the actual step found for it, both by position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The group of the expected step.
    pub group: usize,
    /// The expected step in its group.
    pub expected: usize,
    /// The actual step.
    pub actual: usize,
    /// How alike they are, above 0 and at most 1.
    pub similarity: f64,
}

impl Matching {
    /// The pair of an expected step.
    pub fn pair_of(&self, group: usize, expected: usize) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.group == group && pair.expected == expected)
    }
}

/// Why a question's steps cannot be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("group {} of the reference steps is empty", .0 + 1)]
pub struct EmptyGroup(pub usize);

/// Pairs expected with actual steps. Groups are looked for from the last, each before the steps
/// that were found for the group after it; how many groups count is the profile's to say.
pub fn match_steps(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    profile: &Profile,
) -> Result<Matching, EmptyGroup> {
    let view = |step| View::of_actual(step).known_by(&profile.kind_names);
    let actual: Vec<View> = steps.iter().map(view).collect();
    match_views(groups, steps, &actual, profile)
}

/// The same, with views of the actual steps at hand.
pub(crate) fn match_views(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    actual: &[View<'_>],
    profile: &Profile,
) -> Result<Matching, EmptyGroup> {
    let scored = scored_groups(groups, profile);
    if let Some(empty) = scored.clone().find(|&group| groups[group].is_empty()) {
        return Err(EmptyGroup(empty));
    }
    let candidates: Vec<usize> = can_match(steps, profile).collect();
    let mut before = steps.len();
    let mut pairs = Vec::new();
    for group in scored.clone().rev() {
        let candidates: Vec<usize> =
            candidates.iter().copied().filter(|index| *index < before).collect();
        let found = match_group(group, &groups[group], actual, &candidates, profile);
        let complete = found.len() == groups[group].len();
        before = found.iter().map(|pair| pair.actual).min().unwrap_or(before);
        pairs.extend(found);
        if !complete {
            break;
        }
    }
    pairs.sort_by_key(|pair: &Pair| (pair.group, pair.expected));
    let group_score = |group: usize| {
        let found = pairs.iter().filter(|pair| pair.group == group);
        total(found.map(|pair| pair.similarity)) / groups[group].len() as f64
    };
    let score = total(scored.clone().map(group_score)) / scored.len() as f64;
    Ok(Matching { pairs, score })
}

/// A sum that is 0 for nothing; the standard library's is -0.
fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// The groups that count.
pub(crate) fn scored_groups(
    groups: &[Vec<ExpectedStep<'_>>],
    profile: &Profile,
) -> std::ops::Range<usize> {
    match profile.scored_groups {
        ScoredGroups::Last => groups.len().saturating_sub(1)..groups.len(),
        ScoredGroups::All => 0..groups.len(),
    }
}

/// The actual steps that may be found at all: those that succeeded.
pub(crate) fn can_match<'s>(
    steps: &'s [Step<'_>],
    profile: &'s Profile,
) -> impl Iterator<Item = usize> + Clone + 's {
    steps.iter().enumerate().filter_map(|(index, step)| {
        let succeeded = match step.status {
            Status::Success => true,
            Status::Missing => profile.missing_status == MissingStatus::Success,
            Status::Error | Status::Other => false,
        };
        succeeded.then_some(index)
    })
}

fn match_group(
    group: usize,
    expected: &[ExpectedStep<'_>],
    actual: &[View<'_>],
    candidates: &[usize],
    profile: &Profile,
) -> Vec<Pair> {
    let view = |step| View::of_expected(step).known_by(&profile.kind_names);
    let views: Vec<View> = expected.iter().map(view).collect();
    let expectations: Vec<Expectation> =
        expected.iter().zip(&views).map(|(step, view)| Expectation::new(step, view)).collect();
    let similarity: Vec<Vec<f64>> = expectations
        .iter()
        .map(|expectation| {
            candidates.iter().map(|&at| expectation.similarity(&actual[at], profile)).collect()
        })
        .collect();
    let mut order: Vec<usize> = (0..expected.len()).collect();
    if profile.choice == Choice::LastToFirst {
        order.reverse();
    }
    let pairing = assign(&similarity, &order);
    pairing
        .iter()
        .enumerate()
        .filter_map(|(expected, column)| {
            let column = (*column)?;
            let similarity = similarity[expected][column];
            Some(Pair { group, expected, actual: candidates[column], similarity })
        })
        .collect()
}
