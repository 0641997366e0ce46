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
    use crate::Limits;
    use crate::read::{read_reference, read_responses};
    use juror_document::{Document, Format};

    fn matched(expected: &str, actual: &str, profile: &Profile) -> Result<Matching, NoMatching> {
        matched_groups(&format!("[{expected}]"), actual, profile)
    }

    fn matched_groups(
        groups: &str,
        actual: &str,
        profile: &Profile,
    ) -> Result<Matching, NoMatching> {
        let document =
            |text: String| Document::new("d", text.into_bytes(), Format::Json).expect("JSON");
        let reference = document(format!(
            r#"[{{"template_id": "t", "questions": [{{"id": "q", "question_text": "Q",
                "reference_steps": [{groups}]}}]}}]"#
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
        let before = juror_document::bytes_compared();
        let matching = matched(&expected, &actual, &Profile::V6).expect("a matching");
        assert_eq!((matching.score, matching.pairs[0].actual), (1.0, 0));
        let n_read = juror_document::bytes_compared() - before;
        assert!(n_read < 10 * (expected.len() + actual.len()), "{n_read}");
    }

    #[test]
    fn one_step_is_found_for_the_first_of_thousands_that_expect_it() {
        let equal = steps(std::iter::repeat_n(7, 3_000));
        let one = steps(std::iter::once(7));
        // Enough for a few visits of each step, not of each pair of steps.
        let limits = Limits { pairing_work: 30_000, ..Limits::DEFAULT };
        let profile = Profile { limits, ..Profile::V6 };
        let matching = matched(&equal, &one, &profile).expect("a matching");
        assert_eq!((matching.pairs.len(), matching.too_large.len()), (1, 0));
    }

    #[test]
    fn pairs_of_all_groups_together_are_limited() {
        let groups = |n: usize, of: fn(usize) -> usize| {
            let group = |at: usize| format!("[{}]", steps(std::iter::once(of(at))));
            (0..n).map(group).collect::<Vec<_>>().join(",")
        };
        // 5,000 groups of one step each, every one before the next.
        let (distinct, all) = (groups(5_000, |at| at), steps(0..5_000));
        let refused = matched_groups(&distinct, &all, &Profile::V6).expect_err("too many");
        let most = Limits::DEFAULT.step_pairs;
        assert!(matches!(refused, NoMatching::TooManyGroups { most: told, .. } if told == most));
        let told = refused.to_string();
        assert!(
            told.ends_with("are more pairs than `limits.step_pairs` allows (4194304)"),
            "{told}"
        );
        // Repeated steps are compared once, in many groups as in one.
        let equal = groups(20_000, |_| 7);
        let all = steps(std::iter::repeat_n(7, 20_000));
        let matching = matched_groups(&equal, &all, &Profile::V6).expect("a matching");
        assert_eq!((matching.score, matching.pairs.len()), (1.0, 20_000));
        let few = groups(200, |at| at);
        let matching = matched_groups(&few, &steps(0..200), &Profile::V6).expect("a matching");
        assert_eq!((matching.score, matching.pairs[7].actual), (1.0, 7));
    }

    fn tsv_step(output: &str) -> String {
        let output = serde_json::to_string(output).expect("JSON");
        format!(
            r#"{{"name": "sparql_query", "status": "success", "output": {output},
                "output_media_type": "text/tab-separated-values"}}"#
        )
    }

    #[test]
    fn tables_of_a_reference_share_what_they_take_beyond_their_texts() {
        // Each has 20 cells, of which its text answers for a few.
        let table = |n: usize| tsv_step(&format!("?a{n}\t?b\t?c\t?d\n1\n\n\n\n\n"));
        let limits = Limits { table_cells: 40, ..Limits::DEFAULT };
        let profile = Profile { limits, ..Profile::V6 };
        let refused = |n: usize| {
            let expected: Vec<String> = (0..n).map(table).collect();
            let one = tsv_step("?a\n2\n");
            let matching = matched(&expected.join(","), &one, &profile).expect("a matching");
            matching.too_large
        };
        assert_eq!(refused(2), []);
        let all = refused(30);
        let first =
            TooLarge { place: Whose::Expected { group: 0, step: 2 }, excess: Excess::TableCells };
        assert_eq!((all.len(), all[0]), (28, first));
    }

    #[test]
    fn tables_that_are_refused_do_not_spoil_a_small_one_that_is_right() {
        let csv = |cell: &str| {
            let row = format!("{cell},{cell},{cell}\n");
            tsv_step(&format!("a,b,c\n{}", row.repeat(10))).replace("tab-separated-values", "csv")
        };
        let large = tsv_step(&format!("{}\n{}", "?x\t".repeat(1_000), "\n".repeat(5_000)));
        let actual = format!("{}{}", format!("{large},").repeat(30), csv("1"));
        // Rows in another order of columns have to be read.
        let expected = csv("1").replace("a,b,c", "c,a,b");
        let matching = matched(&expected, &actual, &Profile::V5).expect("a matching");
        assert_eq!((matching.score, matching.too_large.len()), (1.0, 30));
        assert_eq!(matching.pairs[0].actual, 30);
    }

    #[test]
    fn a_pairing_that_need_not_be_the_best_is_told() {
        let retrieved = |ids: &[u32]| {
            let ids: Vec<String> = ids.iter().map(|id| format!(r#"{{\"id\": {id}}}"#)).collect();
            format!(
                r#"{{"name": "retrieval", "args": {{"k": 2}}, "status": "success", "output": "[{}]"}}"#,
                ids.join(",")
            )
        };
        let either = retrieved(&[1, 2]);
        let expected = [either.clone(), retrieved(&[1]), either].join(",");
        let actual = [retrieved(&[2]), retrieved(&[1])].join(",");
        let matching = matched(&expected, &actual, &Profile::V6).expect("a matching");
        assert_eq!((matching.score, matching.too_large.len()), (0.5, 0));
        let limits = Limits { pairing_work: 1, ..Limits::DEFAULT };
        let profile = Profile { limits, ..Profile::V6 };
        let matching = matched(&expected, &actual, &profile).expect("a matching");
        let told = TooLarge { place: Whose::Question, excess: Excess::Pairing };
        assert_eq!(matching.too_large, [told]);
    }

    #[test]
    fn more_pairs_than_may_be_compared_are_not() {
        let distinct = steps(0..10_000);
        let refused = matched(&distinct, &distinct, &Profile::V6).err().map(|why| why.to_string());
        let told = "10000 expected steps and 10000 different steps are more pairs than \
                    `limits.step_pairs` allows (4194304)";
        assert_eq!(refused.as_deref(), Some(told));
        let (few, limits) = (steps(0..200), Limits { step_pairs: 200 * 199, ..Default::default() });
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
