//! Gates that must not pass on what nobody measured.

use crate::support::{Answer, facts, table};
use juror_compare::{
    Bound, ChangeLimit, CompareOptions, ComparedRun, Condition, Gate, GateOutcome, GateVerdict,
    GatedRun, Gates, LevelLimit, Margin, RunFacts, Statistics, compare,
};
use juror_score::{Aggregator, Number, Observation, Profile, ScoreTable, Traits};

fn options(condition: Condition) -> CompareOptions {
    let gates = Gates { gates: vec![Gate::blocking(condition)], ..Gates::default() };
    CompareOptions { gates, ..CompareOptions::default() }
}

fn may_fall(margin: f64) -> Condition {
    let limit = ChangeLimit::MaxDrop(Margin::Absolute(margin));
    Condition::Change { metric: "steps_score".into(), limit }
}

fn may_not_break(ids: &[&str]) -> Condition {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    Condition::Questions { ids, metric: None, may_break: 0 }
}

fn outcome(a: &ScoreTable, b: &ScoreTable, options: &CompareOptions) -> GateOutcome {
    judged_outcome((&facts("a"), a), (&facts("b"), b), options)
}

fn judged_outcome(
    a: (&RunFacts, &ScoreTable),
    b: (&RunFacts, &ScoreTable),
    options: &CompareOptions,
) -> GateOutcome {
    let run = |(facts, scores)| ComparedRun { facts, scores };
    let comparison = compare(run(a), &[run(b)], options).expect("comparable");
    comparison.candidates[0].gates[0].clone()
}

fn check(scores: &ScoreTable, condition: Condition) -> GateOutcome {
    let gates = Gates { gates: vec![Gate::blocking(condition)], ..Gates::default() };
    let statistics = Statistics::of(scores, 0.95);
    gates.check(GatedRun::new(&statistics, scores)).remove(0)
}

/// A hundred questions of ten templates.
fn hundred(score: impl Fn(usize) -> Option<f64>) -> ScoreTable {
    let names: Vec<String> = (0..10).map(|at| format!("t{at}")).collect();
    let ids: Vec<String> = (0..100).map(|at| format!("q{at}")).collect();
    let answers: Vec<Answer<'_>> =
        (0..100).map(|at| (names[at / 10].as_str(), ids[at].as_str(), score(at))).collect();
    table(&answers)
}

#[test]
fn no_verdict_is_no_better_than_one() {
    let (before, none) = (hundred(|_| Some(1.0)), hundred(|_| None));
    let gate = outcome(&before, &none, &options(may_fall(0.01)));
    assert_eq!((gate.verdict, gate.lacks_coverage), (GateVerdict::Block, true));
    assert!(gate.why.contains("0 of the 100 questions"), "{}", gate.why);
    let gate = outcome(&before, &none, &options(may_not_break(&["q1", "q2"])));
    assert_eq!(gate.verdict, GateVerdict::Block);
    assert_eq!(
        (gate.questions, &*gate.why),
        (vec!["q1".into(), "q2".into()], "without steps_score: q1, q2")
    );
    let gate = check(&none, may_not_break(&["q1"]));
    assert_eq!((gate.verdict, gate.questions), (GateVerdict::Block, vec!["q1".into()]));
}

#[test]
fn what_different_judges_say_is_not_known() {
    let relevance = |score: f64| {
        let mut aggregator = Aggregator::new(&Profile::V6, &[]);
        let values = vec![("answer_relevance", Number::real(score).expect("a number"))];
        aggregator.observe(&Observation {
            id: "1",
            template: "t",
            values,
            ..Observation::default()
        });
        aggregator.into_scores()
    };
    let judge = |name: &str| RunFacts { judge: Some(name.into()), ..facts(name) };
    let (a, b) = (relevance(1.0), relevance(0.0));
    let gate =
        judged_outcome((&judge("m"), &a), (&judge("n"), &b), &options(may_not_break(&["1"])));
    assert_eq!(gate.verdict, GateVerdict::Inconclusive);
    assert!(gate.why.contains("different judges"), "{}", gate.why);
}

#[test]
fn the_end_of_an_interval_lets_no_mean_pass_that_fails() {
    let level =
        |limit, bound| Condition::Level { metric: "steps_score".into(), group: None, limit, bound };
    let one_template = table(&[("t", "1", Some(0.2)), ("t", "2", Some(0.0))]);
    for (limit, bound, verdict) in [
        (LevelLimit::Min(0.8), Bound::Lower, GateVerdict::Block),
        (LevelLimit::Max(0.05), Bound::Upper, GateVerdict::Block),
        (LevelLimit::Min(0.05), Bound::Lower, GateVerdict::Inconclusive),
        (LevelLimit::Max(0.8), Bound::Upper, GateVerdict::Inconclusive),
    ] {
        let gate = check(&one_template, level(limit, bound));
        assert_eq!(gate.verdict, verdict, "{}", gate.why);
    }
}

#[test]
fn a_baseline_of_survivors_lets_nothing_pass() {
    let before = hundred(|at| (at == 0).then_some(1.0));
    let after = hundred(|at| Some(f64::from(u8::from(at == 0))));
    let gate = outcome(&before, &after, &options(may_fall(0.01)));
    assert_eq!((gate.verdict, gate.lacks_coverage), (GateVerdict::Block, true));
    assert!(gate.why.contains("in both runs for 1 % of the 100 questions"), "{}", gate.why);
    let alone = table(&[("t0", "q0", Some(1.0))]);
    let gate = outcome(&alone, &after, &options(may_fall(0.01)));
    assert_eq!(gate.verdict, GateVerdict::Block, "{}", gate.why);
    let in_common = CompareOptions { allow_mismatch: true, ..options(may_fall(0.01)) };
    assert_eq!(outcome(&alone, &after, &in_common).verdict, GateVerdict::Pass);
}

#[test]
fn failures_that_hit_different_questions_leave_few_in_both() {
    let (before, after) =
        (hundred(|at| (at > 3).then_some(1.0)), hundred(|at| (at < 96).then_some(1.0)));
    let gate = outcome(&before, &after, &options(may_fall(0.01)));
    assert!(gate.why.contains("for 92 % of the 100") && gate.lacks_coverage, "{}", gate.why);
}

#[test]
fn a_verdict_of_the_baseline_is_owed_by_the_candidate() {
    let before = hundred(|_| Some(1.0));
    let mut unread = Aggregator::new(&Profile::V6, &[]);
    for at in 0..100 {
        let (id, template) = (format!("q{at}"), format!("t{}", at / 10));
        let score = Number::real(1.0).expect("a number");
        let values = if at == 0 { vec![("steps_score", score)] } else { Vec::new() };
        unread.observe(&Observation {
            id: &id,
            template: &template,
            values,
            ..Observation::default()
        });
    }
    let after = unread.into_scores();
    for condition in [may_fall(0.01), Gate::on_mean("steps_score", LevelLimit::Min(0.9)).condition]
    {
        let gate = outcome(&before, &after, &options(condition));
        assert!(gate.lacks_coverage && gate.why.contains("1 of the 100"), "{}", gate.why);
    }
}

#[test]
fn many_answers_to_some_questions_do_not_cover_others() {
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    for at in 0..100 {
        let id = format!("q{at}");
        let n_answers = if at < 51 { 20 } else { 1 };
        for trial in 0..n_answers {
            let score = Number::real(1.0).expect("a number");
            let values = if at < 51 { vec![("steps_score", score)] } else { Vec::new() };
            aggregator.observe(&Observation {
                id: &id,
                template: "t",
                trial: (at < 51).then_some(trial + 1),
                is_error: at >= 51,
                traits: Traits { steps: true, ..Traits::NONE },
                values,
                ..Observation::default()
            });
        }
    }
    let gate = check(
        &aggregator.into_scores(),
        Gate::on_mean("steps_score", LevelLimit::Min(0.9)).condition,
    );
    assert_eq!((gate.verdict, gate.lacks_coverage), (GateVerdict::Block, true));
    assert!(gate.why.contains("for 51 % of the answers to the 100 questions"), "{}", gate.why);
}

#[test]
fn equal_sums_of_templates_do_not_hide_questions_that_lost() {
    let names = ["a", "b", "c"];
    let run = |first: f64, second: f64| {
        let answers: Vec<Answer<'_>> = names
            .iter()
            .flat_map(|name| [(*name, "1", Some(first)), (*name, "2", Some(second))])
            .collect();
        table(&answers)
    };
    let (before, after) = (run(0.0, 1.0), run(1.0, 0.0));
    let verdict = |margin| outcome(&before, &after, &options(may_fall(margin))).verdict;
    assert_eq!(verdict(0.0), GateVerdict::Inconclusive);
    assert_eq!(verdict(1.0), GateVerdict::Pass, "no question may lose more");
    let gate = outcome(&before, &run(0.0, 0.5), &options(may_fall(0.1)));
    assert_eq!(gate.verdict, GateVerdict::Block, "{}", gate.why);
    let gate = outcome(&before, &run(0.5, 1.0), &options(may_fall(0.0)));
    assert_eq!(gate.verdict, GateVerdict::Pass, "none lost: {}", gate.why);
}

#[test]
fn the_metrics_that_are_shown_do_not_change_what_a_gate_checks() {
    let run = |steps: f64, relevance: f64| {
        let mut aggregator = Aggregator::new(&Profile::V6, &[]);
        for id in ["1", "2"] {
            let number = |value| Number::real(value).expect("a number");
            aggregator.observe(&Observation {
                id,
                template: id,
                traits: Traits { steps: true, ..Traits::NONE },
                values: vec![
                    ("steps_score", number(steps)),
                    ("answer_relevance", number(relevance)),
                ],
                ..Observation::default()
            });
        }
        aggregator.into_scores()
    };
    let (before, after) = (run(1.0, 0.5), run(0.0, 0.75));
    let all = options(may_not_break(&["1"]));
    let shown = CompareOptions { metrics: vec!["answer_relevance".into()], ..all.clone() };
    for options in [all, shown] {
        let gate = outcome(&before, &after, &options);
        assert_eq!((gate.verdict, &*gate.why), (GateVerdict::Block, "worse by steps_score: 1"));
    }
}
