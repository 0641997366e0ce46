//! Finding the expected steps among the actual ones.

use std::cell::OnceCell;

use crate::compare::{Expectation, View};
use crate::profile::{Choice, MissingStatus, Profile, ScoredGroups};
use crate::question::ExpectedStep;
use crate::repeated::Kinds;
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
        let found =
            self.pairs.binary_search_by_key(&(group, expected), |pair| (pair.group, pair.expected));
        found.ok().map(|at| &self.pairs[at])
    }
}

/// Why a question's steps cannot be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMatching {
    /// A group, counted from 0, expects nothing.
    #[error("group {} of the reference steps is empty", .0 + 1)]
    EmptyGroup(usize),
    /// Comparing every expected with every actual step would take too long.
    #[error(
        "{n_expected} expected steps and {n_actual} different steps are more pairs than \
         `limits.step_pairs` allows ({most})"
    )]
    TooManyPairs {
        /// How many steps a group expects.
        n_expected: usize,
        /// How many different steps were taken.
        n_actual: usize,
        /// How many pairs may be compared.
        most: usize,
    },
}

/// Pairs expected with actual steps. Groups are looked for from the last, each before the steps
/// that were found for the group after it; how many groups count is the profile's to say.
pub fn match_steps(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    profile: &Profile,
) -> Result<Matching, NoMatching> {
    let actual = View::of_answer(steps, profile);
    match_views(groups, steps, &actual, profile)
}

/// The same, with views of the actual steps at hand.
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
    let indices: Vec<usize> = can_match(steps, profile).collect();
    let kinds = OnceCell::new();
    let mut before = steps.len();
    let mut pairs = Vec::new();
    for group in scored.clone().rev() {
        let n_before = indices.partition_point(|index| *index < before);
        let candidates = Candidates { actual, all: &indices, n_before, kinds: &kinds };
        let found = match_group(group, &groups[group], &candidates, profile)?;
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

/// From this many pairs on it is looked for steps that are repeated, which compare alike.
const MANY_PAIRS: usize = 1 << 14;

/// The actual steps that a group may be found in.
struct Candidates<'c, 't> {
    actual: &'c [View<'t>],
    /// All steps that may be found at all, in order; those of the group are the first.
    all: &'c [usize],
    n_before: usize,
    /// Which of all are alike: made when first needed, for all groups.
    kinds: &'c OnceCell<Kinds>,
}

impl<'c, 't> Candidates<'c, 't> {
    fn view(&self, at: usize) -> &'c View<'t> {
        &self.actual[self.all[at]]
    }

    /// Which of them are alike, where looking for that is worth it.
    fn kinds(&self, n_expected: usize) -> Kinds {
        if n_expected.saturating_mul(self.n_before) < MANY_PAIRS {
            return Kinds::all_different(self.n_before);
        }
        let all = || Kinds::of(self.all.iter().map(|&at| &self.actual[at]));
        self.kinds.get_or_init(all).of_first(self.n_before)
    }
}

fn match_group(
    group: usize,
    expected: &[ExpectedStep<'_>],
    candidates: &Candidates<'_, '_>,
    profile: &Profile,
) -> Result<Vec<Pair>, NoMatching> {
    let view = |step| View::of_expected(step).under(profile);
    let views: Vec<View> = expected.iter().map(view).collect();
    let expectations: Vec<Expectation> =
        expected.iter().zip(&views).map(|(step, view)| Expectation::new(step, view)).collect();
    let kinds = candidates.kinds(expected.len());
    let most = profile.limits.step_pairs;
    if expected.len().saturating_mul(kinds.len()) > most {
        let (n_expected, n_actual) = (expected.len(), kinds.len());
        return Err(NoMatching::TooManyPairs { n_expected, n_actual, most });
    }
    let of_kind: Vec<&View> = kinds.firsts().map(|at| candidates.view(at)).collect();
    let similarity: Vec<Vec<f64>> = expectations
        .iter()
        .map(|expectation| {
            of_kind.iter().map(|actual| expectation.similarity(actual, profile)).collect()
        })
        .collect();
    let mut order: Vec<usize> = (0..expected.len()).collect();
    if profile.choice == Choice::LastToFirst {
        order.reverse();
    }
    let pairing = kinds.assign(&similarity, &order, most);
    let found = pairing.iter().enumerate().filter_map(|(expected, column)| {
        let column = (*column)?;
        let similarity = similarity[expected][kinds.of_column(column)];
        Some(Pair { group, expected, actual: candidates.all[column], similarity })
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{read_reference, read_responses};
    use juror_document::{Document, Format};

    fn matched(expected: &str, actual: &str, profile: &Profile) -> Result<Matching, NoMatching> {
        let document =
            |text: String| Document::new("d", text.into_bytes(), Format::Json).expect("JSON");
        let reference = document(format!(
            r#"[{{"template_id": "t", "questions": [{{"id": "q", "question_text": "Q",
                "reference_steps": [[{expected}]]}}]}}]"#
        ));
        let responses =
            document(format!(r#"[{{"question_id": "q", "actual_steps": [{actual}]}}]"#));
        let dataset = read_reference(&reference).expect("a reference");
        let responses = read_responses(&responses).expect("responses");
        let question = &dataset.questions[0];
        let steps = responses.of(question).steps.as_deref().unwrap_or_default();
        match_steps(question.groups.as_deref().unwrap_or_default(), steps, profile)
    }

    fn steps(outputs: impl Iterator<Item = usize>) -> String {
        let step = |(id, output): (usize, usize)| {
            format!(r#"{{"id": "{id}", "name": "s", "status": "success", "output": "{output}"}}"#)
        };
        outputs.enumerate().map(step).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn ten_thousand_equal_steps_are_found() {
        let equal = steps(std::iter::repeat_n(7, 10_000));
        let matching = matched(&equal, &equal, &Profile::V5).expect("a matching");
        assert_eq!((matching.score, matching.pairs.len()), (1.0, 10_000));
        assert_eq!((matching.pairs[0].actual, matching.pairs[9_999].actual), (9_999, 0));
    }

    #[test]
    fn a_large_output_is_not_read_again_for_every_step() {
        let list = |n: usize| vec!["{}"; n].join(",");
        let step = |output: &str| {
            format!(
                r#"{{"name": "s", "status": "success", "output": [{output}],
                "output_media_type": "application/json"}}"#
            )
        };
        let expected = step(&list(100_000));
        let small: Vec<String> = (0..20_000).map(|at| step(&at.to_string())).collect();
        let actual = format!("{}, {}", step(&format!(" {}", list(100_000))), small.join(","));
        let matching = matched(&expected, &actual, &Profile::V6).expect("a matching");
        assert_eq!((matching.score, matching.pairs[0].actual), (1.0, 0));
    }

    #[test]
    fn one_step_is_found_for_the_first_of_thousands_that_expect_it() {
        let equal = steps(std::iter::repeat_n(7, 3_000));
        let one = steps(std::iter::once(7));
        let matching = matched(&equal, &one, &Profile::V6).expect("a matching");
        assert_eq!(matching.pairs.len(), 1);
    }

    #[test]
    fn more_pairs_than_may_be_compared_are_not() {
        let distinct = steps(0..10_000);
        let refused = matched(&distinct, &distinct, &Profile::V6).err().map(|why| why.to_string());
        let told = "10000 expected steps and 10000 different steps are more pairs than \
                    `limits.step_pairs` allows (4194304)";
        assert_eq!(refused.as_deref(), Some(told));
        let (few, limits) =
            (steps(0..200), crate::Limits { step_pairs: 200 * 199, ..Default::default() });
        let profile = Profile { limits, ..Profile::V5 };
        assert_eq!(matched(&few, &few, &Profile::V5).expect("a matching").score, 1.0);
        assert!(matched(&few, &few, &profile).is_err());
    }

    #[test]
    fn steps_are_of_the_same_kind_for_every_group() {
        let text = format!("[{}]", steps((0..400).map(|at| at % 4)));
        let steps: Vec<juror_json::Object<'_>> = serde_json::from_str(&text).expect("steps");
        let steps: Vec<Step> = steps.into_iter().map(Step::new).collect();
        let views: Vec<View> = steps.iter().map(View::of_actual).collect();
        let all = Kinds::of(views.iter());
        for n in [1, 3, 4, 5, 400] {
            let (few, own) = (all.of_first(n), Kinds::of(views[..n].iter()));
            assert!(few.columns().eq(own.columns()), "{n}");
            assert!((0..n).all(|at| few.of_column(at) == own.of_column(at)), "{n}");
        }
    }

    #[test]
    fn repeated_steps_are_paired_as_single_ones() {
        // Twice as many of each are there as are expected: the latest are taken.
        let expected = steps((0..200).map(|at| at % 3));
        let actual = steps((0..400).map(|at| at % 4));
        let matching = matched(&expected, &actual, &Profile::V5).expect("a matching");
        assert_eq!(matching.pairs.len(), 200);
        assert!(matching.pairs.iter().all(|pair| pair.expected % 3 == pair.actual % 4));
        assert!(matching.pairs.iter().all(|pair| pair.actual >= 130));
    }
}
