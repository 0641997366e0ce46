//! Statistics of runs.

use crate::support::table;
use juror_compare::{Caution, Method, Statistics};
use juror_score::{
    Aggregator, Aspect, Finding, Number, Observation, Profile, ScoreTable, Scorecard, Traits,
    Verdict,
};
use proptest::prelude::*;

/// The example of the published document: templates of 8 of 10, 0 of 10, 9 of 9 and 0 of 10, and one
/// error.
fn documented() -> ScoreTable {
    let mut answers = Vec::new();
    let ids: Vec<String> = (0..10).map(|id| id.to_string()).collect();
    for (template, n_right, n) in [("a", 8, 10), ("b", 0, 10), ("c", 9, 9), ("d", 0, 10)] {
        for (at, id) in ids.iter().take(n).enumerate() {
            answers.push((template, id.as_str(), Some(f64::from(u8::from(at < n_right)))));
        }
    }
    answers.push(("c", "9", None));
    table(&answers)
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9 * other.abs().max(1.0)
}

#[test]
fn the_documented_example_rests_on_four_templates() {
    let statistics = Statistics::of(&documented(), 0.95);
    let steps = statistics.metric("steps_score").expect("a metric");
    assert!(close(steps.mean, 17.0 / 39.0));
    assert!((steps.se.expect("an error") - 0.259_863_129).abs() < 1e-9);
    assert_eq!(steps.clusters, Some(4));
    assert_eq!(steps.caution, Some(Caution::FewClusters));
    let interval = steps.interval.expect("an interval");
    assert!((interval.low + 0.3911).abs() < 1e-4 && (interval.high - 1.2629).abs() < 1e-4);
    assert!((steps.deff.expect("a design effect") - 10.44).abs() < 0.01);
    assert_eq!((steps.n, steps.n_scored, steps.n_error), (40, 39, 1));
    assert!(close(steps.mean_errors_as_zero.expect("a mean"), 17.0 / 40.0));
    assert!(close(steps.mean_errors_as_one.expect("a mean"), 18.0 / 40.0));
    let over = &statistics.macro_means["steps_score"];
    assert!(close(over.mean, 0.45) && (over.se.expect("an error") - 0.262_995_564).abs() < 1e-8);
    assert!((over.se_fixed.expect("an error") - 0.033_333_333).abs() < 1e-8);
    assert_eq!(statistics.groups["a"]["steps_score"].method, Some(Method::Wilson));
}

#[test]
fn a_number_that_cannot_be_had_says_why() {
    let caution = |answers: &[crate::support::Answer<'_>]| {
        let statistics = Statistics::of(&table(answers), 0.95);
        let own = statistics.metric("steps_score").expect("a metric").clone();
        assert_eq!((own.interval, own.se), (None, None));
        own.caution
    };
    let half = Some(0.5);
    assert_eq!(caution(&[("a", "1", half)]), Some(Caution::OneValue));
    assert_eq!(caution(&[("a", "1", half), ("a", "2", Some(1.0))]), Some(Caution::OneCluster));
    assert_eq!(caution(&[("a", "1", half), ("b", "2", half)]), Some(Caution::NoSpread));
    let equal = [("a", "1", half), ("a", "2", half), ("b", "3", half)];
    assert_eq!(caution(&equal), Some(Caution::NoSpread));
    assert!(Statistics::of(&table(&[("a", "1", None)]), 0.95).micro.is_empty());
}

#[test]
fn templates_of_one_question_are_no_clusters() {
    let ids: Vec<String> = (0..20).map(|id| id.to_string()).collect();
    let answers: Vec<_> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| (id.as_str(), id.as_str(), Some(at as f64 / 20.0)))
        .collect();
    let statistics = Statistics::of(&table(&answers), 0.95);
    let steps = statistics.metric("steps_score").expect("a metric");
    assert_eq!((steps.method, steps.clusters, steps.caution), (Some(Method::T), None, None));
}

fn attempt(id: &str, trial: usize, solved: f64) -> Scorecard<'static> {
    let found = Finding::new(Aspect::Metric("sopr_score"), Verdict::scored(solved));
    Scorecard {
        trial: Some(trial),
        judged: vec![found].into(),
        ..Scorecard::of_attempt("G1", id.to_owned())
    }
}

#[test]
fn attempts_at_a_query_are_a_cluster_and_have_pass_rates() {
    let mut table = ScoreTable::of_attempts();
    for (id, solved) in [("1", [1.0, 1.0, 0.0]), ("2", [0.0, 0.0, 0.0]), ("3", [1.0, 1.0, 1.0])] {
        for (at, solved) in solved.into_iter().enumerate() {
            table.push_attempt(&attempt(id, at + 1, solved));
        }
    }
    let statistics = Statistics::of(&table, 0.95);
    assert_eq!((statistics.questions, statistics.answers), (3, 9));
    let sopr = statistics.metric("sopr_score").expect("a metric");
    assert_eq!((sopr.clusters, sopr.method), (Some(3), Some(Method::ClusteredT)));
    let trials = &statistics.trials["sopr_score"];
    assert_eq!((trials.trials, trials.questions), (3, 3));
    assert!(close(trials.solved_sometimes, 1.0 / 3.0));
    let means = |rates: &[juror_compare::PassRate]| -> Vec<f64> {
        rates.iter().map(|rate| (rate.mean * 1e6).round() / 1e6).collect()
    };
    assert_eq!(means(&trials.pass_at_k), [0.555_556, 0.666_667, 0.666_667]);
    assert_eq!(means(&trials.pass_hat_k), [0.555_556, 0.444_444, 0.333_333]);
}

#[test]
fn the_noise_of_a_judge_is_told_from_the_spread_of_questions() {
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    for (id, verdicts) in [
        ("1", vec![1.0, 1.0, 1.0, 1.0]),
        ("2", vec![0.0, 0.0, 0.5, 0.0]),
        ("3", vec![1.0, 0.5, 1.0, 1.0]),
        ("4", vec![0.0, 1.0, 0.0, 0.0]),
        ("5", vec![0.5, 0.5, 1.0, 0.5]),
        ("6", vec![1.0, 1.0, 1.0, 1.0]),
        ("7", vec![1.0, 0.0]),
    ] {
        let mean = verdicts.iter().sum::<f64>() / verdicts.len() as f64;
        aggregator.observe(&Observation {
            id,
            template: "t",
            values: vec![("answer_f1", Number::real(mean).expect("a number"))],
            repeats: vec![("answer_f1", verdicts)],
            ..Observation::default()
        });
    }
    let statistics = Statistics::of(aggregator.scores(), 0.95);
    let judge = &statistics.judge["answer_f1"];
    assert_eq!((judge.repeats, judge.answers, judge.n_left_out), (4, 6, 1));
    let near = |number: Option<f64>, wanted: f64| (number.expect("a number") - wanted).abs() < 1e-8;
    assert!(near(judge.judge_variance, 0.072_916_667) && near(judge.question_variance, 0.128_125));
    assert!(near(judge.icc, 0.637_305_699) && near(judge.se, 0.156_180_540));
    assert!(near(judge.se_without_repeats, 0.183_049_022));
    assert!(close(judge.flip_rate, 4.0 / 6.0));
}

/// Several answers to questions: template, id, and the score of each answer; `None` for an error.
fn with_trials(answers: &[(&str, &str, &[Option<f64>])]) -> ScoreTable {
    let flat: Vec<crate::support::Answer<'_>> = answers
        .iter()
        .flat_map(|(template, id, scores)| scores.iter().map(|score| (*template, *id, *score)))
        .collect();
    table(&flat)
}

#[test]
fn amounts_of_nothing_are_no_failures() {
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    for at in 0..20 {
        let (id, template) = (at.to_string(), at.to_string());
        aggregator.observe(&Observation {
            id: &id,
            template: &template,
            values: vec![("total_tokens", Number::real(0.0).expect("a number"))],
            ..Observation::default()
        });
    }
    let statistics = Statistics::of(aggregator.scores(), 0.95);
    let tokens = statistics.metric("total_tokens").expect("a metric");
    assert_eq!((tokens.interval, tokens.method), (None, None));
    assert_eq!((tokens.se, tokens.caution), (None, Some(Caution::NoSpread)));
}

#[test]
fn shares_that_do_not_vary_have_an_interval_and_no_error() {
    let ids: Vec<String> = (0..20).map(|id| id.to_string()).collect();
    let answers: Vec<_> = ids.iter().map(|id| (id.as_str(), id.as_str(), Some(1.0))).collect();
    let statistics = Statistics::of(&table(&answers), 0.95);
    let steps = statistics.metric("steps_score").expect("a metric");
    assert_eq!((steps.method, steps.se), (Some(Method::Wilson), None));
}

#[test]
fn pass_rates_of_questions_allow_for_their_templates() {
    let (right, wrong): (&[_], &[_]) = (&[Some(1.0), Some(1.0)], &[Some(0.0), Some(0.0)]);
    let one = with_trials(&[("t", "1", right), ("t", "2", wrong)]);
    let rate = &Statistics::of(&one, 0.95).trials["steps_score"].pass_at_k[0].clone();
    assert_eq!((rate.interval, rate.caution), (None, Some(Caution::OneCluster)));
    let three = with_trials(&[
        ("t", "1", right),
        ("t", "2", right),
        ("u", "3", wrong),
        ("u", "4", wrong),
        ("v", "5", right),
    ]);
    let statistics = Statistics::of(&three, 0.95);
    let rate = &statistics.trials["steps_score"].pass_at_k[0];
    assert_eq!(rate.caution, Some(Caution::FewClusters));
    let (own, all) = (rate.interval.expect("one"), statistics.micro["steps_score"].interval);
    assert!(close(own.half_width(), all.expect("one").half_width()), "as careful as the mean");
}

#[test]
fn a_question_whose_answers_all_failed_is_left_out_and_counted() {
    let trials = with_trials(&[
        ("t", "1", &[Some(1.0), Some(0.0)]),
        ("u", "2", &[None, None]),
        ("v", "3", &[Some(1.0), None]),
    ]);
    let statistics = Statistics::of(&trials, 0.95);
    let own = &statistics.trials["steps_score"];
    let counts: Vec<_> = own.pass_at_k.iter().map(|rate| (rate.n, rate.n_left_out)).collect();
    assert_eq!((own.questions, counts), (2, vec![(2, 1), (1, 2)]));
}

#[test]
fn answering_again_makes_no_template_surer() {
    let of = |trials: usize| {
        let (one, half): (Vec<_>, Vec<_>) = (vec![Some(1.0); trials], vec![Some(0.5); trials]);
        let answers = [
            ("t", "1", &one[..]),
            ("t", "2", &half[..]),
            ("u", "3", &one[..]),
            ("u", "4", &half[..]),
        ];
        Statistics::of(&with_trials(&answers), 0.95).macro_means["steps_score"].clone()
    };
    let (once, often) = (of(1), of(9));
    assert!(close(once.se_fixed.expect("an error"), often.se_fixed.expect("an error")));
    assert_eq!((once.se, once.interval, once.caution), (None, None, Some(Caution::NoSpread)));
    let few = &Statistics::of(&documented(), 0.95).macro_means["steps_score"];
    assert_eq!(few.caution, Some(Caution::FewClusters));
    let single = Statistics::of(&table(&[("t", "1", Some(1.0))]), 0.95);
    assert_eq!(single.macro_means["steps_score"].caution, Some(Caution::OneCluster));
}

/// Answers to questions: template, id, and the steps score; `None` for an error.
fn answers() -> impl Strategy<Value = Vec<(u8, u8, Option<f64>)>> {
    let score = prop_oneof![Just(None), Just(Some(1.0)), (0.0..1.0_f64).prop_map(Some)];
    proptest::collection::vec((0..3_u8, 0..4_u8, score), 0..16)
}

proptest! {
    #[test]
    fn shards_have_the_statistics_of_the_whole(answers in answers(), cut in 0..16_usize) {
        let aggregate = |answers: &[(u8, u8, Option<f64>)]| {
            let mut aggregator = Aggregator::new(&Profile::V6, &[]);
            for (template, id, score) in answers {
                let score = score.map(|own| ("steps_score", Number::real(own).expect("a number")));
                aggregator.observe(&Observation {
                    id: &id.to_string(),
                    template: &template.to_string(),
                    is_error: score.is_none(),
                    traits: Traits { steps: true, ..Traits::NONE },
                    values: score.into_iter().collect(),
                    ..Observation::default()
                });
            }
            aggregator
        };
        let cut = cut.min(answers.len());
        let mut merged = aggregate(&answers[..cut]);
        merged.merge(aggregate(&answers[cut..]));
        let whole = Statistics::of(aggregate(&answers).scores(), 0.95);
        prop_assert_eq!(Statistics::of(merged.scores(), 0.95), whole);
    }
}
