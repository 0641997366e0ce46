//! Finds the expected steps among the actual ones.
//!
//! Groups of expected steps come in order; the steps of a group may come in any order. The last
//! group is looked for first, since later steps are closer to the answer. Each earlier group is then
//! looked for only before the first step found for the group after it, so found groups never overlap
//! and are in order. The search ends with the first group that is incomplete.
//!
//! Within a group, similarities form a matrix of expected by actual steps, and the pairing with the
//! largest total is chosen (`juror-assignment`). Repeated steps share one column (`repeated.rs`).

use std::cell::OnceCell;
use std::rc::Rc;

use juror_assignment::PairingWork;

use crate::compare::{Expectation, Spare, View};
use crate::limits::{Excess, TooLarge, Whose};
use crate::profile::{Choice, MissingStatus, Profile, ScoredGroups};
use crate::question::ExpectedStep;
use crate::repeated::{FirstColumns, RepeatedSteps};
use crate::trajectory::{Status, Step};

/// Which expected steps were found, and the score that follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matching {
    /// The pairs, sorted by group and expected step.
    pub pairs: Vec<Pair>,
    /// The steps score, from 0 to 1.
    pub score: f64,
    /// What exceeded a limit, and therefore counts as unreadable or may not be paired optimally.
    pub too_large: Vec<TooLarge>,
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
    /// The similarity of the two, above 0 and at most 1.
    pub similarity: f64,
}

impl Matching {
    /// Returns the pair of an expected step.
    pub fn pair_of(&self, group: usize, expected: usize) -> Option<&Pair> {
        let found =
            self.pairs.binary_search_by_key(&(group, expected), |pair| (pair.group, pair.expected));
        found.ok().map(|at| &self.pairs[at])
    }
}

/// Why a question's steps cannot be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMatching {
    /// A group, counted from 0, has no steps.
    #[error("group {} of the reference steps is empty", .0 + 1)]
    EmptyGroup(usize),
    /// Comparing every expected with every actual step would take too long.
    #[error(
        "{n_expected} expected steps and {n_actual} different steps are more pairs than \
         `limits.step_pairs` allows ({most})"
    )]
    TooManyPairs {
        /// The number of expected steps in the group.
        n_expected: usize,
        /// The number of different actual steps.
        n_actual: usize,
        /// The number of pairs that may be compared.
        most: usize,
    },
    /// Comparing all groups together would take too long.
    #[error(
        "{n_groups} groups of expected steps and the steps before them are more pairs than \
         `limits.step_pairs` allows ({most})"
    )]
    TooManyGroups {
        /// The number of groups looked for.
        n_groups: usize,
        /// The number of pairs that may be compared.
        most: usize,
    },
}

/// Pairs expected with actual steps. Groups are looked for from the last to the first, each before
/// the steps found for the group after it. The profile decides which groups count.
pub fn match_steps(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    profile: &Profile,
) -> Result<Matching, NoMatching> {
    let actual = View::of_answer(steps, profile);
    match_views(groups, steps, &actual, profile)
}

/// Like [`match_steps`], given views of the actual steps.
pub(crate) fn match_views(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    actual: &[View<'_>],
    profile: &Profile,
) -> Result<Matching, NoMatching> {
    let scored = scored_groups(groups, profile);
    if let Some(empty) = scored.clone().find(|&group| groups[group].is_empty()) {
        return Err(NoMatching::EmptyGroup(empty));
    }
    let all: Vec<usize> = can_match(steps, profile).collect();
    let mut matcher = Matcher {
        actual,
        all: &all,
        kinds: OnceCell::new(),
        spare: Rc::new(Spare::new(&profile.limits)),
        work: PairingWork::new(profile.limits.pairing_work),
        n_pairs: 0,
        too_large: Vec::new(),
        profile,
    };
    let mut before = steps.len();
    let mut pairs = Vec::new();
    for (n_later, group) in scored.clone().rev().enumerate() {
        let found = matcher.match_group(group, &groups[group], before, n_later)?;
        let complete = found.len() == groups[group].len();
        before = found.iter().map(|pair| pair.actual).min().unwrap_or(before);
        pairs.extend(found);
        if !complete {
            break;
        }
    }
    pairs.sort_by_key(|pair: &Pair| (pair.group, pair.expected));
    let mut found = pairs.iter().peekable();
    let group_score = |group: usize| {
        let own = std::iter::from_fn(|| found.next_if(|pair| pair.group == group));
        total(own.map(|pair| pair.similarity)) / groups[group].len() as f64
    };
    let score = total(scored.clone().map(group_score)) / scored.len() as f64;
    Ok(Matching { pairs, score, too_large: matcher.met_limits() })
}

/// Sums values, starting from 0. The standard library's sum of no floats is -0.
fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// Returns the groups that count.
pub(crate) fn scored_groups(
    groups: &[Vec<ExpectedStep<'_>>],
    profile: &Profile,
) -> std::ops::Range<usize> {
    match profile.scored_groups {
        ScoredGroups::Last => groups.len().saturating_sub(1)..groups.len(),
        ScoredGroups::All => 0..groups.len(),
    }
}

/// Returns the actual steps that can match: those that succeeded.
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

/// From this many pairs on, looking for repeated steps pays.
const MANY_PAIRS: usize = 1 << 14;

/// Finds the groups of a question among the actual steps.
struct Matcher<'m, 't> {
    actual: &'m [View<'t>],
    /// The steps that can match, in order.
    all: &'m [usize],
    /// The same steps by kind; computed on first use, for all groups.
    kinds: OnceCell<RepeatedSteps>,
    /// The room that the expected outputs of all groups share.
    spare: Rc<Spare>,
    work: PairingWork,
    /// The number of pairs compared, in all groups.
    n_pairs: usize,
    too_large: Vec<TooLarge>,
    profile: &'m Profile,
}

impl Matcher<'_, '_> {
    /// Returns the kinds of the first steps; each step is a kind of its own if there are few pairs.
    fn kinds(&self, n_expected: usize, n_before: usize) -> FirstColumns<'_> {
        let n_pairs = n_expected.saturating_mul(n_before).saturating_add(self.n_pairs);
        let all = || RepeatedSteps::of(self.all.iter().map(|&at| &self.actual[at]));
        let kinds = (n_pairs >= MANY_PAIRS).then(|| self.kinds.get_or_init(all));
        FirstColumns::new(kinds, n_before)
    }

    /// Finds a group among the steps before `before`, after `n_later` later groups were found.
    fn match_group(
        &mut self,
        group: usize,
        expected: &[ExpectedStep<'_>],
        before: usize,
        n_later: usize,
    ) -> Result<Vec<Pair>, NoMatching> {
        let profile = self.profile;
        let most = profile.limits.step_pairs;
        let n_before = self.all.partition_point(|index| *index < before);
        let n_expected = expected.len();
        let n_actual = self.kinds(n_expected, n_before).n_kinds();
        let n_pairs = n_expected.saturating_mul(n_actual);
        if n_pairs > most {
            return Err(NoMatching::TooManyPairs { n_expected, n_actual, most });
        }
        if n_pairs.saturating_add(self.n_pairs) > most {
            return Err(NoMatching::TooManyGroups { n_groups: n_later + 1, most });
        }
        let kinds = self.kinds(n_expected, n_before);
        let view = |step| View::of_expected(step).under(profile).sharing(&self.spare);
        let views: Vec<View> = expected.iter().map(view).collect();
        let expectations: Vec<Expectation> =
            expected.iter().zip(&views).map(|(step, view)| Expectation::new(step, view)).collect();
        let of_kind: Vec<&View> = kinds.firsts().map(|at| &self.actual[self.all[at]]).collect();
        let similarity: Vec<Vec<f64>> = expectations
            .iter()
            .map(|expectation| {
                of_kind.iter().map(|actual| expectation.similarity(actual, profile)).collect()
            })
            .collect();
        let mut order: Vec<usize> = (0..n_expected).collect();
        if profile.choice == Choice::LastToFirst {
            order.reverse();
        }
        let pairing = kinds.assign(&similarity, &order, most, &self.work);
        let found = pairing.iter().enumerate().filter_map(|(expected, column)| {
            let column = (*column)?;
            let similarity = similarity[expected][kinds.of_column(column)];
            Some(Pair { group, expected, actual: self.all[column], similarity })
        });
        let found = found.collect();
        self.n_pairs += n_pairs;
        self.too_large.extend(views.iter().enumerate().filter_map(|(step, view)| {
            Some(TooLarge { place: Whose::Expected { group, step }, excess: view.excess()? })
        }));
        Ok(found)
    }

    /// Returns what exceeded a limit, by place.
    fn met_limits(mut self) -> Vec<TooLarge> {
        self.too_large.sort_by_key(|met| match met.place {
            Whose::Expected { group, step } => (group, step),
            Whose::Actual(_) | Whose::Question => (0, 0),
        });
        self.too_large.extend(self.actual.iter().enumerate().filter_map(|(step, view)| {
            Some(TooLarge { place: Whose::Actual(step), excess: view.excess()? })
        }));
        if self.work.was_too_little() {
            let (place, excess) = (Whose::Question, Excess::Pairing);
            self.too_large.push(TooLarge { place, excess });
        }
        self.too_large
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{StepBuilder, TrajectoryBuilder};

    #[test]
    fn steps_are_of_the_same_kind_for_every_group() {
        let step =
            |at: usize| StepBuilder::new("s").id(&at.to_string()).output((at % 4).to_string());
        let taken = (0..400).fold(TrajectoryBuilder::new(), |all, at| all.step(step(at)));
        let steps = taken.build().steps.expect("steps");
        let views: Vec<View> = steps.iter().map(View::of_actual).collect();
        let all = RepeatedSteps::of(views.iter());
        for n in [1, 3, 4, 5, 400] {
            let (few, own) =
                (FirstColumns::new(Some(&all), n), RepeatedSteps::of(views[..n].iter()));
            assert!(FirstColumns::columns(&all, n).eq(own.columns()), "{n}");
            assert_eq!(few.n_kinds(), own.columns().count());
            let own = FirstColumns::new(Some(&own), n);
            assert!(few.firsts().eq(own.firsts()), "{n}");
            assert!((0..n).all(|at| few.of_column(at) == own.of_column(at)), "{n}");
        }
    }
}
