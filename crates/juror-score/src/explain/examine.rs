//! Looks at every expected step: where it was found, or why it was not.

use std::rc::Rc;

use hashbrown::HashMap;

use super::explainer::{Explainer, Explanation, LookedFor};
use crate::alignment::{StepDetails, StepPair, StepState};
use crate::compare::{Expectation, Spare, View};
use crate::limits::{Excess, TooLarge, Whose};
use crate::match_steps::{Matching, Pair, scored_groups};
use crate::profile::Profile;
use crate::question::ExpectedStep;
use crate::record::Record;
use crate::shown_output::ShownLimits;
use crate::trajectory::Step;

/// Expected and actual steps, and which of them were paired.
#[derive(Clone, Copy)]
pub(crate) struct MatchedSteps<'m> {
    pub(crate) groups: &'m [Vec<ExpectedStep<'m>>],
    pub(crate) steps: &'m [Step<'m>],
    pub(crate) matching: &'m Matching,
    pub(crate) too_large: &'m [TooLarge],
    pub(crate) profile: &'m Profile,
}

impl<'m> MatchedSteps<'m> {
    /// Returns the steps of a record, if they were scored.
    pub(crate) fn of(record: &'m Record<'m>, profile: &'m Profile) -> Option<MatchedSteps<'m>> {
        Some(MatchedSteps {
            groups: record.case.question.groups.as_deref().unwrap_or_default(),
            steps: record.case.trajectory.steps.as_deref().unwrap_or_default(),
            matching: record.matching.as_ref()?,
            too_large: &record.too_large,
            profile,
        })
    }

    /// Returns the actual steps for comparison. Outputs that exceeded a limit when the steps were
    /// matched count as unreadable here too, since the explanation is for the score as it is.
    pub(crate) fn views(&self) -> Vec<View<'m>> {
        let mut views = View::of_answer(self.steps, self.profile);
        for TooLarge { place, excess } in self.too_large {
            if let Whose::Actual(step) = place {
                let view = View::of_actual(&self.steps[*step]).under(self.profile);
                views[*step] = view.known_to_exceed(*excess);
            }
        }
        views
    }

    /// Looks at every expected step, by group and position: with limits, to show how it stands to the
    /// actual one; without, to say in words what is wrong. `views` are those of the actual steps.
    pub(crate) fn examine(
        &self,
        views: &[View<'_>],
        limits: Option<&ShownLimits>,
    ) -> Vec<StepPair> {
        let scored = scored_groups(self.groups, self.profile);
        let explainer = Explainer::new(self, views, limits);
        let refused = self.refused();
        let spare = Rc::new(Spare::new(&self.profile.limits));
        let mut pairs = Vec::new();
        let mut incomplete = None;
        for (group, steps) in self.groups.iter().enumerate().rev() {
            if !scored.contains(&group) {
                pairs.extend((0..steps.len()).map(|at| StepPair::of(group, at)));
                continue;
            }
            let pair_of = |at| self.matching.pair_of(group, at);
            let is_complete = (0..steps.len()).all(|at| pair_of(at).is_some());
            let looked_for = (!is_complete && incomplete.is_none())
                .then(|| LookedFor::of(group, self.groups, self.matching));
            for (at, step) in steps.iter().enumerate() {
                let pair = pair_of(at);
                let is_found = pair.is_some_and(|pair| pair.similarity >= 1.0);
                if is_found && limits.is_none() {
                    continue;
                }
                let mut view = View::of_expected(step).under(self.profile).sharing(&spare);
                if let Some(excess) = refused.get(&(group, at)) {
                    view = view.known_to_exceed(*excess);
                }
                let expected = Expectation::new(step, &view);
                let missed = |explanation| StepPair::missed(group, at, explanation);
                pairs.push(match (pair, &looked_for) {
                    (Some(pair), _) => examined_pair(&explainer, &expected, pair),
                    (None, Some(group)) => missed(explainer.not_found(&expected, group)),
                    (None, None) => {
                        let later = incomplete.unwrap_or(group) + 1;
                        let why = format!("not looked for, since group {later} is incomplete");
                        missed(Explanation::new(why, None))
                    }
                });
            }
            if !is_complete && incomplete.is_none() {
                incomplete = Some(group);
            }
        }
        pairs.sort_by_key(|pair| (pair.group, pair.expected));
        pairs
    }

    /// Returns the expected outputs that exceeded a limit.
    fn refused(&self) -> HashMap<(usize, usize), Excess> {
        let refused = self.too_large.iter().filter_map(|too_large| match too_large.place {
            Whose::Expected { group, step } => Some(((group, step), too_large.excess)),
            Whose::Actual(_) | Whose::Question => None,
        });
        refused.collect()
    }
}

/// Looks at a step that was found, at least partly.
fn examined_pair(
    explainer: &Explainer<'_, '_>,
    expected: &Expectation<'_>,
    pair: &Pair,
) -> StepPair {
    let pair_of = |state, why, details| StepPair {
        state,
        actual: Some(pair.actual),
        similarity: Some(pair.similarity),
        why,
        details,
        ..StepPair::of(pair.group, pair.expected)
    };
    if pair.similarity >= 1.0 {
        let details = explainer.details_of_found(expected, pair.actual);
        return pair_of(StepState::Found, None, details);
    }
    let Explanation { why, details, .. } = explainer.difference(expected, pair.actual);
    pair_of(StepState::Partly, Some(why), details)
}

impl StepPair {
    /// A step that is not scored.
    fn of(group: usize, expected: usize) -> StepPair {
        StepPair {
            group,
            expected,
            state: StepState::NotScored,
            actual: None,
            nearest: None,
            similarity: None,
            why: None,
            details: StepDetails::default(),
        }
    }

    fn missed(group: usize, expected: usize, explanation: Explanation) -> StepPair {
        let Explanation { why, against: nearest, details } = explanation;
        let (state, why) = (StepState::Missed, Some(why));
        StepPair { state, nearest, why, details, ..StepPair::of(group, expected) }
    }
}
