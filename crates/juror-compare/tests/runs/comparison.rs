//! Comparison of runs, and gates on it.

use crate::support::{Answer, facts, table};
use juror_compare::{
    Caution, ChangeLimit, CompareOptions, ComparedRun, Comparison, Condition, Difference, Flip,
    Gate, GateVerdict, Gates, Incomparable, Kind, LevelLimit, Limit, Margin, MetricComparison,
    RunFacts, compare,
};
use juror_score::statistics::Interval;
use juror_score::{
    Aggregator, Aspect, Finding, Number, Observation, Profile, ScoreTable, Scorecard, Verdict,
};
use proptest::prelude::*;

fn compared(a: &ScoreTable, b: &ScoreTable, options: &CompareOptions) -> Comparison {
    let (facts_a, facts_b) = (facts("a"), facts("b"));
    let baseline = ComparedRun { facts: &facts_a, scores: a };
    let candidate = ComparedRun { facts: &facts_b, scores: b };
    compare(baseline, &[candidate], options).expect("comparable")
}

fn steps(comparison: &Comparison) -> &MetricComparison {
    &comparison.candidates[0].metrics["steps_score"]
}

fn gated(condition: Condition) -> CompareOptions {
    let gates = Gates { gates: vec![Gate::blocking(condition)], ..Gates::default() };
    CompareOptions { gates, ..CompareOptions::default() }
}

fn may_fall(margin: f64) -> CompareOptions {
    let limit = ChangeLimit::MaxDrop(Margin::Absolute(margin));
    gated(Condition::Change { metric: "steps_score".into(), limit })
}

/// Scores of `n_templates` templates with four questions each.
fn run(n_templates: usize, score: impl Fn(usize, usize) -> Option<f64>) -> ScoreTable {
    let names: Vec<String> = (0..n_templates).map(|at| format!("t{at}")).collect();
    let ids: Vec<String> = (0..n_templates * 4).map(|at| format!("q{at}")).collect();
    let answers: Vec<Answer<'_>> = (0..n_templates * 4)
        .map(|at| (names[at / 4].as_str(), ids[at].as_str(), score(at / 4, at % 4)))
        .collect();
    table(&answers)
}

#[test]
fn identical_runs_are_equal_and_pass() {
    let one = run(12, |template, at| Some(f64::from(u8::from((template + at) % 3 == 0))));
    let comparison = compared(&one, &one, &may_fall(0.01));
    let steps = steps(&comparison);
    assert_eq!((steps.delta, steps.p), (0.0, Some(1.0)));
    assert_eq!((steps.interval, steps.caution), (None, Some(Caution::NoSpread)), "never width 0");
    assert_eq!(comparison.verdict, GateVerdict::Pass);
    assert_eq!(comparison.candidates[0].gates[0].why, "no question changed");
}

#[test]
fn a_change_passes_blocks_or_is_inconclusive() {
    let before = run(20, |template, at| Some(((template + at) % 5) as f64 / 4.0));
    let shifted = |by: f64| {
        run(20, move |template, at| {
            let noise = if (template * 7 + at) % 3 == 0 { 0.02 } else { -0.01 };
            Some(((template + at) % 5) as f64 / 4.0 + by + noise)
        })
    };
    let verdict = |by: f64, margin: f64| compared(&before, &shifted(by), &may_fall(margin)).verdict;
    assert_eq!(verdict(0.0, 0.05), GateVerdict::Pass);
    assert_eq!(verdict(-0.2, 0.05), GateVerdict::Block);
    assert_eq!(verdict(-0.05, 0.05), GateVerdict::Inconclusive);
    let why =
        compared(&before, &shifted(-0.05), &may_fall(0.0499)).candidates[0].gates[0].why.clone();
    assert!(why.contains("loses at least") && why.contains("questions would settle it"), "{why}");
}

#[test]
fn a_change_that_is_the_same_everywhere_needs_no_interval() {
    let before = run(12, |template, _| Some(if template % 2 == 0 { 1.0 } else { 0.5 }));
    let after = run(12, |template, _| Some(if template % 2 == 0 { 0.75 } else { 0.25 }));
    assert_eq!(compared(&before, &after, &may_fall(0.2)).verdict, GateVerdict::Block);
    assert_eq!(compared(&before, &after, &may_fall(0.3)).verdict, GateVerdict::Pass);
    let one = |score| table(&[("t", "1", Some(score))]);
    let verdict = compared(&one(1.0), &one(0.5), &may_fall(0.1)).verdict;
    assert_eq!(verdict, GateVerdict::Inconclusive, "one question cannot tell");
}

#[test]
fn a_gate_never_passes_on_survivors() {
    let before = run(75, |_, _| Some(1.0));
    let after = run(75, |template, at| (template == 0 && at == 0).then_some(1.0));
    for options in
        [may_fall(0.5), gated(Gate::on_mean("steps_score", LevelLimit::Min(0.9)).condition)]
    {
        let comparison = compared(&before, &after, &options);
        let gate = &comparison.candidates[0].gates[0];
        assert_eq!(gate.verdict, GateVerdict::Block);
        assert!(gate.lacks_coverage && gate.why.contains("1 of the 300 questions"), "{}", gate.why);
    }
    let errors = gated(Condition::Errors { most: Limit::Count(298) });
    assert_eq!(compared(&before, &after, &errors).verdict, GateVerdict::Block);
}

#[test]
fn questions_that_the_candidate_lacks_are_no_survivors_either() {
    let before = run(12, |_, _| Some(1.0));
    let few: Vec<String> = (0..4).map(|at| format!("q{at}")).collect();
    let few: Vec<Answer<'_>> = few.iter().map(|id| ("t0", id.as_str(), Some(1.0))).collect();
    let after = table(&few);
    for condition in [
        may_fall(0.5).gates.gates[0].condition.clone(),
        Gate::on_mean("steps_score", LevelLimit::Min(0.9)).condition,
        Condition::Errors { most: Limit::Count(43) },
    ] {
        let comparison = compared(&before, &after, &gated(condition.clone()));
        let gate = &comparison.candidates[0].gates[0];
        assert_eq!(gate.verdict, GateVerdict::Block, "{}", gate.why);
        assert!(
            gate.why.contains("of the 48 questions") || gate.why.contains("44 of 48"),
            "{}",
            gate.why
        );
        let options = CompareOptions { allow_mismatch: true, ..gated(condition) };
        assert_eq!(
            compared(&before, &after, &options).verdict,
            GateVerdict::Pass,
            "in common alone"
        );
    }
}

#[test]
fn questions_that_both_runs_lack_are_no_survivors_either() {
    let few = table(&[("t", "1", Some(1.0)), ("t", "2", Some(1.0))]);
    let mut told = facts("a");
    told.questions =
        (0..10).map(|id| ((String::new(), id.to_string()), format!("hash {id}"))).collect();
    for condition in [
        may_fall(0.5).gates.gates[0].condition.clone(),
        Gate::on_mean("steps_score", LevelLimit::Min(0.9)).condition,
        Condition::Errors { most: Limit::Count(7) },
    ] {
        let side = ComparedRun { facts: &told, scores: &few };
        let comparison = compare(side, &[side], &gated(condition)).expect("runs");
        let gate = &comparison.candidates[0].gates[0];
        assert_eq!(gate.verdict, GateVerdict::Block, "{}", gate.why);
    }
}

#[test]
fn a_gate_on_questions_passes_only_if_both_runs_have_them() {
    let before = table(&[("t", "1", Some(1.0)), ("t", "2", Some(1.0))]);
    let after = table(&[("t", "1", Some(1.0)), ("t", "3", Some(1.0))]);
    let gate = |ids: &[&str], metric: Option<&str>| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let metric = metric.map(str::to_owned);
        let options = gated(Condition::Questions { ids, metric, may_break: 0 });
        compared(&before, &after, &options).candidates[0].gates[0].clone()
    };
    assert_eq!(gate(&["1"], None).verdict, GateVerdict::Pass);
    for id in ["2", "3", "misspelt"] {
        let outcome = gate(&["1", id], None);
        assert_eq!((outcome.verdict, outcome.questions), (GateVerdict::Block, vec![id.to_owned()]));
    }
    let other = gate(&["1"], Some("answer_f1"));
    assert_eq!(other.verdict, GateVerdict::Block, "{}", other.why);
}

/// Answers with tokens; `None` for an error.
fn tokens(answers: &[(&str, Option<f64>)]) -> ScoreTable {
    let mut aggregator = Aggregator::new(&Profile::V5, &[]);
    for (id, tokens) in answers {
        let value = tokens.map(|tokens| ("total_tokens", Number::real(tokens).expect("a number")));
        aggregator.observe(&Observation {
            id,
            template: "t",
            is_error: tokens.is_none(),
            values: value.into_iter().collect(),
            ..Observation::default()
        });
    }
    aggregator.into_scores()
}

#[test]
fn what_failed_used_no_fewer_tokens() {
    let before = tokens(&[("1", Some(100.0)), ("2", None), ("3", Some(100.0))]);
    let after = tokens(&[("1", None), ("2", Some(100.0)), ("3", Some(90.0))]);
    let options =
        CompareOptions { metrics: vec!["total_tokens".into()], ..CompareOptions::default() };
    let comparison = compared(&before, &after, &options);
    let flips = comparison.candidates[0].flips_of(Some("total_tokens")).expect("flips");
    let ids = |flips: &[Flip]| flips.iter().map(|flip| flip.id.clone()).collect::<Vec<_>>();
    assert_eq!(
        (ids(&flips.broken), ids(&flips.fixed)),
        (vec!["1".into()], vec!["2".into(), "3".into()])
    );
}

#[test]
fn only_metrics_without_a_gate_are_adjusted_for_being_many() {
    let run = |by: f64| {
        let mut aggregator = Aggregator::new(&Profile::V6, &[]);
        for at in 0..12_u32 {
            let number = |value: f64| Number::real(value).expect("a number");
            let values = ["steps_score", "answer_relevance", "total_tokens"];
            let values = values.map(|name| (name, number(f64::from(at % 5) + by * f64::from(at))));
            let (id, template) = (at.to_string(), at.to_string());
            aggregator.observe(&Observation {
                id: &id,
                template: &template,
                values: values.to_vec(),
                ..Observation::default()
            });
        }
        aggregator.into_scores()
    };
    let comparison = compared(&run(0.0), &run(0.1), &may_fall(0.1));
    let adjusted = |name: &str| comparison.candidates[0].metrics[name].p_benjamini_hochberg;
    assert_eq!(adjusted("steps_score"), None, "it has a gate");
    assert_eq!(adjusted("answer_relevance"), comparison.candidates[0].metrics["total_tokens"].p);
}

#[test]
fn questions_that_fail_where_they_had_a_score_are_broken() {
    let before = table(&[("t", "1", Some(1.0)), ("t", "2", Some(0.0)), ("u", "3", Some(0.5))]);
    let after = table(&[("t", "1", None), ("t", "2", Some(1.0)), ("u", "3", Some(0.25))]);
    let ids = vec!["1".to_owned(), "2".to_owned()];
    let options = gated(Condition::Questions { ids, metric: None, may_break: 0 });
    let comparison = compared(&before, &after, &options);
    let candidate = &comparison.candidates[0];
    let flips = &candidate.flips[0];
    let broken: Vec<_> = flips.broken.iter().map(|flip| (&*flip.id, flip.a, flip.b)).collect();
    assert_eq!(broken, [("1", Some(1.0), None), ("3", Some(0.5), Some(0.25))]);
    assert_eq!(flips.fixed.len(), 1);
    assert_eq!(flips.broken_groups()[0].group, "t");
    assert_eq!(candidate.gates[0].questions, ["1"]);
    assert_eq!(comparison.verdict, GateVerdict::Block);
}

#[test]
fn runs_that_differ_are_refused_with_what_differs() {
    let scores = table(&[("t", "1", Some(1.0)), ("t", "2", Some(0.0))]);
    let with = |reference: &str, rules: &str| RunFacts {
        reference: Some(reference.into()),
        rules: Some(rules.into()),
        ..facts(reference)
    };
    let check = |a: &RunFacts, b: &RunFacts, options: &CompareOptions| {
        let baseline = ComparedRun { facts: a, scores: &scores };
        compare(baseline, &[ComparedRun { facts: b, scores: &scores }], options)
    };
    let (one, other) = (with("r1", "x"), with("r2", "y"));
    let refused = check(&one, &other, &CompareOptions::default()).expect_err("they differ");
    let differences = vec![Difference::Reference, Difference::Rules];
    assert_eq!(refused, Incomparable::Differ { a: "r1".into(), b: "r2".into(), differences });
    let mismatch = CompareOptions { allow_mismatch: true, ..CompareOptions::default() };
    assert!(check(&one, &other, &mismatch).is_ok());
    let unfinished = RunFacts { is_complete: false, ..facts("u") };
    let refused = check(&facts("f"), &unfinished, &CompareOptions::default());
    assert_eq!(refused.expect_err("unfinished"), Incomparable::Incomplete("u".into()));
    let named = CompareOptions { metrics: vec!["taste".into()], ..CompareOptions::default() };
    let refused = check(&facts("a"), &facts("b"), &named).expect_err("nobody has it").to_string();
    assert_eq!(refused, "no run has `taste`");
}

#[test]
fn questions_that_changed_are_not_compared() {
    let scores = table(&[("t", "1", Some(1.0)), ("t", "2", Some(0.0))]);
    let with = |hash: &str| {
        let mut run = facts(hash);
        for (id, hash) in [("1", "same"), ("2", hash)] {
            run.questions.insert(("t".into(), id.into()), hash.into());
        }
        run
    };
    let (one, other) = (with("old"), with("new"));
    let baseline = ComparedRun { facts: &one, scores: &scores };
    let candidate = ComparedRun { facts: &other, scores: &scores };
    let comparison = compare(baseline, &[candidate], &CompareOptions::default()).expect("runs");
    let candidate = &comparison.candidates[0];
    assert_eq!(candidate.questions, 1);
    assert_eq!(candidate.only_in_baseline[0].id, "2");
    assert_eq!(candidate.only_in_candidate[0].id, "2");
}

#[test]
fn within_a_template_every_question_stands_for_itself() {
    let before = table(&[
        ("t", "1", Some(1.0)),
        ("t", "2", Some(0.5)),
        ("t", "3", Some(1.0)),
        ("u", "4", Some(0.0)),
        ("gone", "5", Some(1.0)),
    ]);
    let after = table(&[
        ("u", "4", Some(1.0)),
        ("t", "1", Some(0.0)),
        ("t", "2", Some(0.5)),
        ("t", "3", None),
    ]);
    let options = CompareOptions { by_group: true, ..CompareOptions::default() };
    let comparison = compared(&before, &after, &options);
    let candidate = &comparison.candidates[0];
    let sizes: Vec<_> = candidate.groups.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(sizes, [("t", 3), ("u", 1)]);
    let [t, u] = ["t", "u"].map(|name| &candidate.by_group[name]["steps_score"]);
    assert_eq!((t.n, t.delta, t.lost, t.clusters), (2, -0.5, 1, None));
    assert!(t.interval.is_some(), "two questions have an interval");
    assert_eq!((t.coverage, t.delta_errors_as_zero), ([1.0, 2.0 / 3.0], Some(-2.0 / 3.0)));
    assert_eq!((u.delta, u.caution), (1.0, Some(Caution::OneValue)));
    let plain = compared(&before, &after, &CompareOptions::default());
    assert!(plain.candidates[0].by_group.is_empty(), "only if it is asked for");
}

#[test]
fn a_metric_that_one_run_alone_has_is_named() {
    let taste = |names: &[&str]| {
        let own: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut aggregator = Aggregator::new(&Profile::V6, &own);
        let number = Number::real(1.0).expect("a number");
        let values = names.iter().map(|name| (*name, number)).collect();
        aggregator.observe(&Observation {
            id: "1",
            template: "t",
            values,
            ..Observation::default()
        });
        aggregator.into_scores()
    };
    let (a, b) = (taste(&["taste", "old"]), taste(&["taste", "new"]));
    let comparison = compared(&a, &b, &CompareOptions::default());
    let candidate = &comparison.candidates[0];
    assert!(candidate.metrics.contains_key("taste"));
    assert_eq!(candidate.left_out["old"], "the second run does not have it");
    assert_eq!(candidate.left_out["new"], "the first run does not have it");
}

#[test]
fn verdicts_of_different_judges_are_not_compared() {
    let scores = table(&[("t", "1", Some(1.0)), ("u", "2", Some(0.0))]);
    let judged = RunFacts { judge: Some("m".into()), ..facts("a") };
    let comparison = compare(
        ComparedRun { facts: &judged, scores: &scores },
        &[ComparedRun { facts: &facts("b"), scores: &scores }],
        &CompareOptions::default(),
    );
    let comparison = comparison.expect("runs");
    assert!(comparison.candidates[0].same_judge, "one judge is not known");
    assert!(comparison.candidates[0].metrics.contains_key("steps_score"), "no judge decides it");
    let mut attempts = ScoreTable::of_attempts();
    let solved = Finding::new(Aspect::Metric("sopr_score"), Verdict::scored(1.0));
    attempts.push_attempt(&Scorecard {
        judged: vec![solved].into(),
        ..Scorecard::of_attempt("G1", "1")
    });
    let bench = |judge: &str| RunFacts {
        judge: Some(judge.into()),
        kind: Kind::Bench,
        ..RunFacts::of_file(judge, Kind::Bench)
    };
    let (one, other) = (bench("m"), bench("n"));
    let comparison = compare(
        ComparedRun { facts: &one, scores: &attempts },
        &[ComparedRun { facts: &other, scores: &attempts }],
        &CompareOptions::default(),
    );
    let candidate = &comparison.expect("runs").candidates[0];
    assert!(candidate.left_out.contains_key("sopr_score"));
    assert!(candidate.flips_of(None).is_none_or(|flips| flips.metric != "sopr_score"));
}

fn scores() -> impl Strategy<Value = Vec<(u8, f64, f64)>> {
    let score = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
    proptest::collection::vec((0..6_u8, score(), score()), 2..40)
}

fn tables(scores: &[(u8, f64, f64)]) -> (ScoreTable, ScoreTable) {
    let names: Vec<String> = (0..6).map(|at| format!("t{at}")).collect();
    let ids: Vec<String> = (0..scores.len()).map(|at| format!("q{at}")).collect();
    let of = |pick: fn(&(u8, f64, f64)) -> f64| {
        let answers: Vec<Answer<'_>> = scores
            .iter()
            .zip(&ids)
            .map(|(own, id)| (names[own.0 as usize].as_str(), id.as_str(), Some(pick(own))))
            .collect();
        table(&answers)
    };
    (of(|own| own.1), of(|own| own.2))
}

proptest! {
    #[test]
    fn swapping_runs_mirrors_everything(scores in scores()) {
        let (a, b) = tables(&scores);
        let (there, back) = (
            compared(&a, &b, &CompareOptions::default()),
            compared(&b, &a, &CompareOptions::default()),
        );
        let (there, back) = (steps(&there), steps(&back));
        prop_assert_eq!(there.delta, -back.delta);
        prop_assert_eq!(there.interval, back.interval.map(Interval::negated));
        prop_assert_eq!(there.p, back.p);
        prop_assert_eq!((there.won, there.lost, there.a), (back.lost, back.won, back.b));
        let near = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - (1.0 - other)).abs() < 1e-9,
            (one, other) => one == other,
        };
        prop_assert!(near(there.probability_better, back.probability_better));
    }

    #[test]
    fn repeating_every_question_in_its_template_does_not_shrink_an_interval(scores in scores()) {
        let doubled: Vec<_> = scores.iter().flat_map(|own| [*own, *own]).collect();
        let ((a, b), (a2, b2)) = (tables(&scores), tables(&doubled));
        let once = compared(&a, &b, &CompareOptions::default());
        let twice = compared(&a2, &b2, &CompareOptions::default());
        let (once, twice) = (steps(&once), steps(&twice));
        if let (Some(once), Some(twice), true) = (once.interval, twice.interval, once.clusters.is_some()) {
            prop_assert!(twice.half_width() >= once.half_width() * (1.0 - 1e-9));
        }
    }

    #[test]
    fn the_changes_of_templates_add_up_to_that_of_all(scores in scores()) {
        let (a, b) = tables(&scores);
        let options = CompareOptions { by_group: true, ..CompareOptions::default() };
        let comparison = compared(&a, &b, &options);
        let candidate = &comparison.candidates[0];
        let parts = || candidate.by_group.values().filter_map(|own| own.get("steps_score"));
        let all = steps(&comparison);
        prop_assert_eq!(parts().map(|own| own.n).sum::<usize>(), all.n);
        prop_assert_eq!(parts().map(|own| own.won).sum::<usize>(), all.won);
        let total: f64 = parts().map(|own| own.delta * own.n as f64).sum();
        prop_assert!((total / all.n as f64 - all.delta).abs() < 1e-9);
    }

    #[test]
    fn no_number_is_nan(scores in scores()) {
        let (a, b) = tables(&scores);
        let json = serde_json::to_string(&compared(&a, &b, &may_fall(0.01))).expect("JSON");
        prop_assert!(!json.contains("NaN"));
        let again: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        prop_assert_eq!(&again["format"], "juror.compare/1");
    }
}
