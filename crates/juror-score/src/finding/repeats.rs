//! What several repeats of the same judging found, as one.
//!
//! A judge may be asked several times about the same case. Every verdict is kept: numbers count by
//! their mean, anything else by the majority.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Aspect, Cause, Claims, Finding, Judgement, KeyPart, Repeats, Score, Verdict};

impl Finding {
    /// Hands on the key of each number that was judged several times, with the scores of all
    /// repeats that gave one.
    pub fn each_repeats(&self, mut each: impl FnMut(&str, Vec<f64>)) {
        let known =
            |runs: &Repeats| -> Vec<f64> { runs.scores().iter().flatten().copied().collect() };
        let mut tell = |at: usize, scores: Vec<f64>| {
            if scores.len() > 1 {
                each(&self.aspect.key(KeyPart::Value(at)), scores);
            }
        };
        match &self.verdict {
            Verdict::Scored(Score::Repeats(runs)) => tell(0, known(runs)),
            Verdict::Scored(Score::RepeatedClaims(runs)) => {
                runs.scores.iter().enumerate().for_each(|(at, runs)| tell(at, known(runs)));
            }
            Verdict::Scored(Score::RepeatedOutputs(RepeatedOutputs { repeats, .. })) => {
                for (at, values) in repeats.iter().enumerate() {
                    tell(at, values.iter().filter_map(Value::as_f64).collect());
                }
            }
            _ => {}
        }
    }
}

/// The claims that several repeats counted.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedClaims {
    /// The claims of the repeat whose f1 is the median, the lower one if there are two.
    pub shown: Claims,
    /// The recall, the precision and the f1 of each repeat.
    pub scores: [Repeats; 3],
}

impl RepeatedClaims {
    /// Combines the claims of each repeat; `None` for a repeat without a verdict. Returns `None` if
    /// all are.
    fn new(repeats: &[Option<Claims>]) -> Option<RepeatedClaims> {
        let scores = |at: usize| {
            let score = |claims: &Option<Claims>| claims.as_ref().map(|own| own.scores()[at]);
            Repeats::new(repeats.iter().map(score).collect())
        };
        let scores = [scores(0)?, scores(1)?, scores(2)?];
        let shown = repeats[scores[2].median()].clone()?;
        Some(RepeatedClaims { shown, scores })
    }

    /// Returns the means of recall, precision and f1.
    pub fn means(&self) -> [f64; 3] {
        self.scores.each_ref().map(Repeats::mean)
    }
}

/// The values of a custom evaluation that several repeats gave.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedOutputs {
    /// The values that count, in the order of the outputs.
    pub values: Vec<Value>,
    /// The values of each output, in the order of the repeats; `null` where there is none.
    pub repeats: Vec<Vec<Value>>,
}

impl RepeatedOutputs {
    /// Combines the values of each output.
    pub fn new(repeats: Vec<Vec<Value>>) -> RepeatedOutputs {
        RepeatedOutputs { values: repeats.iter().map(|values| value_of(values)).collect(), repeats }
    }

    /// Returns whether a repeat gave no value at all.
    fn lacks_repeat(&self) -> bool {
        let n_repeats = self.repeats.first().map_or(0, Vec::len);
        (0..n_repeats).any(|at| self.repeats.iter().all(|values| values[at].is_null()))
    }
}

/// Returns the mean of numbers, or else the value that most repeats gave; `null` if there is no such
/// value.
fn value_of(repeats: &[Value]) -> Value {
    let known: Vec<&Value> = repeats.iter().filter(|value| !value.is_null()).collect();
    let numbers: Option<Vec<Option<f64>>> =
        known.iter().map(|value| value.as_f64().map(Some)).collect();
    match numbers.and_then(Repeats::new) {
        Some(numbers) => Value::from(numbers.mean()),
        None => majority(&known).cloned().unwrap_or_default(),
    }
}

/// Returns the value that occurs most often; `None` if several do.
fn majority<'v>(values: &[&'v Value]) -> Option<&'v Value> {
    let n_times = |value: &Value| values.iter().filter(|other| **other == value).count();
    let most = values.iter().map(|value| n_times(value)).max()?;
    let mut winners = values.iter().filter(|value| n_times(value) == most);
    let first = winners.next()?;
    winners.all(|value| value == first).then_some(first)
}

impl Repeats {
    /// Returns the index of the run with the median score, the lower one if there are two.
    fn median(&self) -> usize {
        let scores = self.scores().iter().enumerate();
        let mut known: Vec<(f64, usize)> =
            scores.filter_map(|(at, score)| Some(((*score)?, at))).collect();
        let order = |(one, at): &(f64, usize), (other, next): &(f64, usize)| -> Ordering {
            one.total_cmp(other).then(at.cmp(next))
        };
        known.sort_by(order);
        known[(known.len() - 1) / 2].1
    }

    fn lacks_repeat(&self) -> bool {
        self.scores().iter().any(Option::is_none)
    }
}

impl Finding {
    /// Returns whether one of several repeats came to no verdict.
    pub fn lacks_repeat(&self) -> bool {
        match &self.verdict {
            Verdict::Scored(Score::Repeats(runs)) => runs.lacks_repeat(),
            Verdict::Scored(Score::RepeatedClaims(claims)) => claims.scores[0].lacks_repeat(),
            Verdict::Scored(Score::RepeatedOutputs(outputs)) => outputs.lacks_repeat(),
            Verdict::Scored(Score::One(_) | Score::Claims(_) | Score::Outputs(_))
            | Verdict::NotApplicable(_)
            | Verdict::Failed(_) => false,
        }
    }

    /// Combines what each repeat found about the same thing; `None` for a repeat that found
    /// nothing. Without any finding there is none.
    fn of_repeats(repeats: &[Option<Finding>]) -> Option<Finding> {
        let mut found = repeats.iter().flatten();
        let first = found.next()?;
        // A model that could not be asked may be asked later, and only then is the verdict whole.
        let mut failures = repeats.iter().flatten().filter_map(Finding::failure);
        let outside = failures.find(|why| why.cause != Cause::Data);
        let scored = || Some(first_scored(repeats)?.of_all(repeats));
        let (verdict, reason) = match outside {
            Some(why) => (Verdict::Failed(why.clone()), None),
            None => scored().unwrap_or_else(|| (first.verdict.clone(), first.reason.clone())),
        };
        let costs: Vec<f64> = repeats.iter().flatten().filter_map(|own| own.cost).collect();
        let cost = (!costs.is_empty()).then(|| costs.iter().sum());
        Some(Finding { aspect: first.aspect.clone(), step: first.step, verdict, reason, cost })
    }

    fn score(&self) -> Option<&Score> {
        match &self.verdict {
            Verdict::Scored(score) => Some(score),
            Verdict::NotApplicable(_) | Verdict::Failed(_) => None,
        }
    }
}

fn first_scored(repeats: &[Option<Finding>]) -> Option<&Score> {
    repeats.iter().flatten().find_map(Finding::score)
}

impl Score {
    /// Combines the scores of all repeats, of which this is the first. Also returns the reason of
    /// the repeat that the combined score shows.
    fn of_all(&self, repeats: &[Option<Finding>]) -> (Verdict, Option<String>) {
        let scores = repeats.iter().map(|own| own.as_ref().and_then(Finding::score));
        let reason = |at: usize| repeats[at].as_ref().and_then(|own| own.reason.clone());
        let combined = match self {
            Score::One(_) => {
                let number = |score: &Score| match score {
                    Score::One(value) => Some(*value),
                    _ => None,
                };
                let runs = Repeats::new(scores.map(|score| score.and_then(number)).collect());
                runs.map(|runs| (runs.median(), Score::Repeats(runs)))
            }
            Score::Claims(_) => {
                let claims = |score: &Score| match score {
                    Score::Claims(claims) => Some(claims.clone()),
                    _ => None,
                };
                let all: Vec<Option<Claims>> = scores.map(|own| own.and_then(claims)).collect();
                let runs = RepeatedClaims::new(&all);
                runs.map(|runs| (runs.scores[2].median(), Score::RepeatedClaims(Box::new(runs))))
            }
            Score::Outputs(values) => Some(of_outputs(values.len(), scores)),
            // These are combined already.
            Score::Repeats(_) | Score::RepeatedClaims(_) | Score::RepeatedOutputs(_) => None,
        };
        match combined {
            Some((at, score)) => (Verdict::Scored(score), reason(at)),
            None => (Verdict::Scored(self.clone()), None),
        }
    }
}

/// Combines the outputs of all repeats. Also returns the first repeat that has any.
fn of_outputs<'s>(
    n_outputs: usize,
    scores: impl Iterator<Item = Option<&'s Score>>,
) -> (usize, Score) {
    let nothing = vec![Value::Null; n_outputs];
    let outputs: Vec<&[Value]> = scores
        .map(|score| match score {
            Some(Score::Outputs(values)) => values.as_slice(),
            _ => nothing.as_slice(),
        })
        .collect();
    let of_output = |at: usize| outputs.iter().map(|values| values[at].clone()).collect();
    let first = outputs.iter().position(|values| values.iter().any(|value| !value.is_null()));
    let runs = RepeatedOutputs::new((0..n_outputs).map(of_output).collect());
    (first.unwrap_or(0), Score::RepeatedOutputs(runs))
}

/// What is found in every repeat: an aspect of a case or of one of its steps. If a repeat has
/// several findings of it, they are numbered.
struct Slot {
    aspect: Aspect,
    step: Option<usize>,
    number: usize,
    found: Vec<Option<Finding>>,
}

impl Judgement {
    /// Combines what each repeat of the same judging found. A single one stays as it is.
    pub fn of_repeats(mut repeats: Vec<Judgement>) -> Judgement {
        if repeats.len() < 2 {
            return repeats.pop().unwrap_or_default();
        }
        let is_cut: Vec<bool> = repeats.iter().map(|own| own.outside().is_some()).collect();
        let mut slots: Vec<Slot> = Vec::new();
        let (mut judgement, n_repeats) = (Judgement::default(), repeats.len());
        for (at, own) in repeats.into_iter().enumerate() {
            own.fill(&mut slots, at, n_repeats);
            judgement.extend(Judgement { flags: own.flags, ..Judgement::default() });
        }
        // What a repeat lacks because a model could not be asked is not known yet.
        let is_known = |slot: &Slot| {
            slot.found.iter().zip(&is_cut).all(|(found, is_cut)| found.is_some() || !is_cut)
        };
        let known = slots.iter().filter(|slot| is_known(slot));
        judgement.findings = known.filter_map(|slot| Finding::of_repeats(&slot.found)).collect();
        judgement
    }

    /// Puts the findings of a repeat into their slots.
    fn fill(&self, slots: &mut Vec<Slot>, repeat: usize, n_repeats: usize) {
        for (at, finding) in self.findings.iter().enumerate() {
            let (aspect, step) = (&finding.aspect, finding.step);
            let is_same = |other: &&Finding| other.aspect == *aspect && other.step == step;
            let number = self.findings[..at].iter().filter(is_same).count();
            let is_it = |slot: &&mut Slot| {
                slot.number == number && slot.step == step && slot.aspect == *aspect
            };
            let slot = match slots.iter_mut().find(is_it) {
                Some(slot) => slot,
                None => {
                    let found = vec![None; n_repeats];
                    slots.push(Slot { aspect: aspect.clone(), step, number, found });
                    let last = slots.len() - 1;
                    &mut slots[last]
                }
            };
            slot.found[repeat] = Some(finding.clone());
        }
    }

    /// Returns whether every finding is a score to which all repeats contributed.
    pub fn is_whole(&self) -> bool {
        !self.has_failure() && !self.findings.iter().any(Finding::lacks_repeat)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::finding::Why;
    use crate::profile::AnswerErrorKey;

    const RECALL: Aspect = Aspect::Metric("retrieval_answer_recall");

    fn of(findings: Vec<Finding>) -> Judgement {
        Judgement { findings, ..Judgement::default() }
    }

    fn recall(verdict: Verdict) -> Judgement {
        of(vec![Finding::new(RECALL, verdict).of_step(0)])
    }

    fn outside() -> Verdict {
        Verdict::Failed(Why { message: "down".into(), cause: Cause::Outside })
    }

    fn only(judgement: &Judgement) -> &Finding {
        assert_eq!(judgement.findings.len(), 1, "{judgement:?}");
        &judgement.findings[0]
    }

    #[test]
    fn numbers_count_by_their_mean_and_are_all_kept() {
        let repeat = |score: f64, reason: &str, cost| {
            let mut judgement = recall(Verdict::scored(score));
            judgement.findings[0].reason = Some(reason.into());
            judgement.findings[0].cost = cost;
            judgement.flags = vec![format!("flag {reason}"), "both".into()];
            judgement
        };
        let judged = Judgement::of_repeats(vec![
            repeat(1.0, "high", Some(0.25)),
            repeat(0.0, "low", None),
            repeat(0.5, "half", Some(0.5)),
        ]);
        let finding = only(&judged);
        assert_eq!(finding.verdict.number(), Some(0.5));
        assert_eq!(finding.reason.as_deref(), Some("half"), "of the median");
        assert_eq!((finding.cost, finding.step), (Some(0.75), Some(0)), "costs add up");
        assert_eq!(judged.flags, ["flag high", "both", "flag low", "flag half"]);
        let Verdict::Scored(Score::Repeats(runs)) = &finding.verdict else { panic!("{finding:?}") };
        assert_eq!(runs.scores(), [Some(1.0), Some(0.0), Some(0.5)]);
        assert!(judged.is_whole());
    }

    #[test]
    fn claims_are_those_of_the_median_and_scores_are_means() {
        let claims = |matching, reason: &str| {
            let claims = Claims { reference: 4, actual: 4, matching, listed: None };
            let verdict = Verdict::Scored(Score::Claims(claims));
            let finding = Finding::new(Aspect::Claims(AnswerErrorKey::Eval), verdict);
            of(vec![Finding { reason: Some(reason.into()), ..finding }])
        };
        let repeats = vec![claims(4, "all"), claims(1, "one"), claims(2, "two"), claims(4, "all")];
        let judged = Judgement::of_repeats(repeats);
        let finding = only(&judged);
        let Verdict::Scored(Score::RepeatedClaims(runs)) = &finding.verdict else {
            panic!("{finding:?}")
        };
        assert_eq!(runs.shown.matching, 2, "the lower of the two in the middle");
        assert_eq!(finding.reason.as_deref(), Some("two"));
        assert_eq!(runs.means(), [0.6875; 3]);
    }

    #[test]
    fn outputs_count_by_mean_or_majority_and_a_tie_is_nothing() {
        let check = |repeats: Value, value: Value| {
            let repeats: Vec<Value> = serde_json::from_value(repeats).expect("values");
            assert_eq!(value_of(&repeats), value, "{repeats:?}");
        };
        check(json!([1, 2, 3]), json!(2.0));
        check(json!([1, null, 2]), json!(1.5));
        check(json!(["yes", "no", "yes"]), json!("yes"));
        check(json!(["yes", "no"]), Value::Null);
        check(json!([true, false, true, true]), json!(true));
        check(json!([1, "one", 1]), json!(1));
        check(json!([null, null]), Value::Null);
    }

    #[test]
    fn a_repeat_without_a_verdict_is_left_out_and_noticed() {
        let judged = Judgement::of_repeats(vec![
            recall(Verdict::failed("no JSON")),
            recall(Verdict::scored(0.5)),
        ]);
        assert_eq!(only(&judged).verdict.number(), Some(0.5));
        assert!(!judged.has_failure() && !judged.is_whole());
        let none = vec![recall(Verdict::failed("first")), recall(Verdict::failed("second"))];
        let judged = Judgement::of_repeats(none);
        assert_eq!(only(&judged).failure().map(|why| &*why.message), Some("first"));
    }

    #[test]
    fn a_model_that_could_not_be_asked_once_leaves_the_verdict_open() {
        let f1 = Finding::new(Aspect::Metric("retrieval_answer_f1"), Verdict::scored(1.0));
        let mut whole = recall(Verdict::scored(1.0));
        whole.findings.push(f1.of_step(0));
        let judged = Judgement::of_repeats(vec![whole.clone(), recall(outside())]);
        assert_eq!(only(&judged).failure().map(|why| why.cause), Some(Cause::Outside));
        let judged = Judgement::of_repeats(vec![whole, recall(Verdict::failed("no JSON"))]);
        assert_eq!(judged.findings.len(), 2, "what is lacking for good is left out");
    }

    #[test]
    fn findings_of_the_same_thing_are_paired_in_order() {
        let two = |one: f64, other: f64| {
            let finding = |score| Finding::new(RECALL, Verdict::scored(score)).of_step(3);
            of(vec![finding(one), finding(other)])
        };
        let judged = Judgement::of_repeats(vec![two(0.0, 1.0), two(0.5, 1.0)]);
        let numbers: Vec<_> = judged.findings.iter().map(|own| own.verdict.number()).collect();
        assert_eq!(numbers, [Some(0.25), Some(1.0)]);
    }

    proptest! {
        #[test]
        fn one_repeat_changes_nothing_and_equal_repeats_agree(
            score in 0.0..1.0_f64,
            n_repeats in 1..5_usize,
        ) {
            let judgement = recall(Verdict::scored(score));
            let repeats = vec![judgement.clone(); n_repeats];
            let judged = Judgement::of_repeats(repeats);
            let number = only(&judged).verdict.number().expect("a score");
            prop_assert!((number - score).abs() < 1e-12);
            prop_assert_eq!(judged == judgement, n_repeats == 1);
        }

        #[test]
        fn the_median_is_one_of_the_scores(
            scores in prop::collection::vec(prop::option::of(0.0..1.0_f64), 1..9),
        ) {
            if let Some(runs) = Repeats::new(scores.clone()) {
                let median = scores[runs.median()].expect("a score");
                let n_below = scores.iter().flatten().filter(|score| **score < median).count();
                let n_above = scores.iter().flatten().filter(|score| **score > median).count();
                let n_known = scores.iter().flatten().count();
                prop_assert!(n_below <= n_known / 2 && n_above <= n_known / 2);
            }
        }
    }
}
