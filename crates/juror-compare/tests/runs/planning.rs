//! Plans from runs.

use juror_compare::{
    ASSUMED_VARIANCE, AtHand, Basis, CannotPlan, PlanOptions, Planning, ScoreSpread,
};
use juror_score::statistics::SplitMix64;
use juror_score::{Aggregator, Number, Observation, Profile, ScoreTable, Traits};

use crate::support::table;

const OPTIONS: PlanOptions =
    PlanOptions { detect: Some(0.03), power: 0.8, confidence: 0.95, trials: None, at_hand: None };

fn plan(spread: ScoreSpread, options: PlanOptions) -> Planning {
    Planning::of("steps_score", spread, options).expect("a plan")
}

/// Answers by template, id, trial and score.
fn trials(answers: &[(&str, &str, u32, f64)]) -> ScoreTable {
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    for (template, id, trial, score) in answers {
        aggregator.observe(&Observation {
            id,
            template,
            trial: Some(*trial),
            traits: Traits { steps: true, ..Traits::NONE },
            values: vec![("steps_score", Number::real(*score).expect("a number"))],
            ..Observation::default()
        });
    }
    aggregator.scores().clone()
}

#[test]
fn without_a_run_the_published_assumption_holds() {
    let at_hand = Some(AtHand { questions: 969, groups: 5 });
    let found = plan(ScoreSpread::assumed(), PlanOptions { at_hand, ..OPTIONS });
    assert_eq!((found.questions_needed, found.spread.basis), (Some(969), Basis::Assumption));
    let least = found.least_detectable.expect("a difference");
    assert!(least <= 0.03 && least > 0.0299, "{least}");
    assert_eq!((found.trials_needed, found.groups_needed), (None, None));
    assert_eq!(found.spread.variance_of_differences, ASSUMED_VARIANCE);
}

#[test]
fn two_runs_are_planned_by_their_differences() {
    let a = table(&[("a", "1", Some(1.0)), ("b", "2", Some(0.0)), ("c", "3", Some(0.5))]);
    let b = table(&[("a", "1", Some(0.5)), ("b", "2", Some(0.5)), ("c", "3", Some(0.5))]);
    let spread = ScoreSpread::of_pair(&a, &b, "steps_score").expect("a spread");
    assert_eq!((spread.basis, spread.questions), (Basis::PairedDifferences, 3));
    assert!((spread.variance_of_differences - 0.25).abs() < 1e-12, "{spread:?}");
    assert_eq!((spread.deff, spread.variance_within), (None, None));
    let found = plan(spread, OPTIONS);
    // (1.959964 + 0.841621)² · 0.25 / 0.03²
    assert_eq!(found.questions_needed, Some(2181));
    assert_eq!(found.at_hand, Some(AtHand { questions: 3, groups: 3 }));
}

#[test]
fn one_run_is_planned_by_an_assumed_correlation() {
    let run = table(&[("a", "1", Some(1.0)), ("b", "2", Some(0.0)), ("c", "3", Some(0.5))]);
    let variance = |correlation| {
        let spread = ScoreSpread::of_run(&run, "steps_score", correlation).expect("a spread");
        assert_eq!((spread.correlation, spread.mean), (Some(correlation), Some(0.5)));
        spread.variance_of_differences
    };
    assert!((variance(0.0) - 0.5).abs() < 1e-12);
    assert!((variance(0.5) - 0.25).abs() < 1e-12);
    assert_eq!(variance(1.0), 0.0);
}

#[test]
fn templates_take_more_questions() {
    let ids: Vec<String> = (0..40).map(|id| id.to_string()).collect();
    let names: Vec<String> = (0..4).map(|id| format!("t{id}")).collect();
    let answers: Vec<_> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| (&*names[at / 10], &**id, Some(f64::from(u8::from(at < 20)))))
        .collect();
    let spread = ScoreSpread::of_run(&table(&answers), "steps_score", 0.5).expect("a spread");
    let deff = spread.deff.expect("a design effect");
    assert!(deff > 10.0 && spread.clusters == Some(4), "{spread:?}");
    let clustered = plan(spread.clone(), OPTIONS);
    let independent = plan(ScoreSpread { deff: None, clusters: None, ..spread }, OPTIONS);
    let (many, few) = (clustered.questions_needed, independent.questions_needed);
    assert!(many.expect("a number") > 10 * few.expect("a number"));
    assert_eq!(clustered.groups_needed, many.map(|n| n.div_ceil(10)));
    // A reference with smaller templates takes fewer: 1 + (5 - 1) · (deff - 1) / (10 - 1).
    let at_hand = Some(AtHand { questions: 20, groups: 4 });
    let smaller = plan(clustered.spread.clone(), PlanOptions { at_hand, ..OPTIONS });
    let wanted = 1.0 + 4.0 * (deff - 1.0) / 9.0;
    assert!((smaller.deff.expect("a design effect") - wanted).abs() < 1e-12, "{smaller:?}");
}

#[test]
fn trials_are_told_apart_from_questions() {
    let mut answers = Vec::new();
    let ids: Vec<String> = (0..8).map(|id| id.to_string()).collect();
    for (at, id) in ids.iter().enumerate() {
        let base = if at % 2 == 0 { 0.25 } else { 0.75 };
        answers.push((&*ids[at], &**id, 1, base + 0.125));
        answers.push((&*ids[at], &**id, 2, base - 0.125));
    }
    let spread = ScoreSpread::of_run(&trials(&answers), "steps_score", 0.0).expect("a spread");
    let within = spread.variance_within.expect("a variance");
    assert!((within - 0.031_25).abs() < 1e-12 && spread.trials == 2.0, "{spread:?}");
    // The means have a variance of 1/14, of which half of 1/32 is noise.
    let between = 1.0 / 14.0 - 1.0 / 64.0;
    assert!((spread.variance_of_differences - 2.0 * between).abs() < 1e-12, "{spread:?}");
    let questions = |trials| {
        let options = PlanOptions { trials: Some(trials), ..OPTIONS };
        plan(spread.clone(), options).questions_needed.expect("a number")
    };
    assert!(questions(1) > questions(2) && questions(2) > questions(10));
    let found = plan(spread.clone(), PlanOptions { detect: Some(0.4), ..OPTIONS });
    assert_eq!(found.trials, 2);
    let trials_needed = found.trials_needed.expect("a number");
    let detectable = |trials| {
        let options = PlanOptions { trials: Some(trials), detect: None, ..OPTIONS };
        plan(spread.clone(), options).least_detectable.expect("a difference")
    };
    assert!(detectable(trials_needed) <= 0.4);
    assert!(trials_needed == 1 || detectable(trials_needed - 1) > 0.4);
}

#[test]
fn the_part_of_the_judge_is_told() {
    let judged = |verdicts: [[f64; 2]; 3]| {
        let mut aggregator = Aggregator::new(&Profile::V6, &[]);
        for (at, own) in verdicts.iter().enumerate() {
            let mean = f64::midpoint(own[0], own[1]);
            aggregator.observe(&Observation {
                id: &at.to_string(),
                template: &at.to_string(),
                traits: Traits { answer: true, ..Traits::NONE },
                values: vec![("answer_f1", Number::real(mean).expect("a number"))],
                repeats: vec![("answer_f1", own.to_vec())],
                ..Observation::default()
            });
        }
        ScoreSpread::of_run(aggregator.scores(), "answer_f1", 0.0).expect("a spread")
    };
    let spread = judged([[1.0, 1.0], [0.0, 0.0], [0.25, 0.75]]);
    let judge = spread.judge.expect("a judge");
    // One pair of verdicts is 0.25 off its mean; half of that variance is in means of two.
    assert!((judge.variance - 0.125 / 3.0).abs() < 1e-12 && judge.verdicts == 2.0, "{judge:?}");
    let wanted = 2.0 * judge.variance / 2.0 / spread.variance_of_differences;
    assert!((judge.share - wanted).abs() < 1e-12, "{judge:?}");
    let sure = judged([[1.0, 1.0], [0.0, 0.0], [0.5, 0.5]]).judge.expect("a judge");
    assert_eq!((sure.variance, sure.share), (0.0, 0.0));
}

/// Runs of `n` questions whose true difference is 0.1, as large as the plan says can be found.
fn is_found(n: u32, generator: &mut SplitMix64) -> bool {
    let mut run = |share: f64| {
        let ids: Vec<String> = (0..n).map(|id| id.to_string()).collect();
        let mut chance = || (generator.next_number() >> 11) as f64 / 2_f64.powi(53) < share;
        let scores: Vec<f64> = (0..n).map(|_| f64::from(u8::from(chance()))).collect();
        (ids, scores)
    };
    let ((_, a), (_, b)) = (run(0.4), run(0.5));
    let found = juror_score::statistics::paired(&a, &b, None, 0.95).expect("a comparison");
    found.p.is_some_and(|p| p < 0.05) && found.delta > 0.0
}

#[test]
fn as_many_questions_as_planned_find_the_difference_as_often_as_planned() {
    // Two independent scores of 0 or 1 differ by a variance of 0.24 + 0.25.
    let spread = ScoreSpread { variance_of_differences: 0.49, ..ScoreSpread::assumed() };
    let found = plan(spread, PlanOptions { detect: Some(0.1), ..OPTIONS });
    let n = u32::try_from(found.questions_needed.expect("a number")).expect("few");
    let mut generator = SplitMix64::new(3);
    let n_found = (0..1000).filter(|_| is_found(n, &mut generator)).count();
    assert!((770..=830).contains(&n_found), "{n_found} of 1000 with {n} questions");
}

#[test]
fn what_cannot_be_planned_says_why() {
    let of_run = |answers: &[crate::support::Answer<'_>], metric: &str| {
        ScoreSpread::of_run(&table(answers), metric, 0.5).expect_err("no plan")
    };
    let one = [("a", "1", Some(1.0))];
    let equal = [("a", "1", Some(1.0)), ("b", "2", Some(1.0))];
    assert_eq!(of_run(&one, "steps_score"), CannotPlan::OneQuestion("steps_score".into()));
    assert_eq!(of_run(&equal, "steps_score"), CannotPlan::NoSpread("steps_score".into()));
    assert_eq!(of_run(&equal, "answer_f1"), CannotPlan::NoScores("answer_f1".into()));
    let (a, b) = (table(&equal), table(&[("a", "9", Some(0.5))]));
    let apart = ScoreSpread::of_pair(&a, &b, "steps_score").expect_err("no plan");
    assert_eq!(apart, CannotPlan::NothingInCommon("steps_score".into()));
    for options in [
        PlanOptions { detect: Some(0.0), ..OPTIONS },
        PlanOptions { power: 1.0, ..OPTIONS },
        PlanOptions { confidence: 95.0, ..OPTIONS },
    ] {
        let found = Planning::of("m", ScoreSpread::assumed(), options);
        assert_eq!(found, Err(CannotPlan::Options), "{options:?}");
    }
}
