//! What a comparison looks like on a terminal.

use juror_compare::{
    ChangeLimit, CompareOptions, Condition, Gate, GateLevel, GateVerdict, Gates, LevelLimit, Margin,
};
use juror_report::{ComparisonView, Palette, comparison_text, is_unchanged};

use crate::support::{Answer, answer, compared, facts, table, two_runs};

fn gates() -> Gates {
    let change = |metric: &str, limit| Condition::Change { metric: metric.into(), limit };
    let fall = ChangeLimit::MaxDrop(Margin::Absolute(0.02));
    let rise = ChangeLimit::MaxRise(Margin::Percent(10.0));
    let warn = |condition| Gate { level: GateLevel::Warn, ..Gate::blocking(condition) };
    let gates = vec![
        Gate::blocking(change("steps_score", fall)),
        warn(change("total_tokens", rise)),
        Gate::on_mean("steps_score", LevelLimit::Min(0.9)),
    ];
    Gates { gates, ..Gates::default() }
}

const VIEW: ComparisonView =
    ComparisonView { flips: 2, by_group: false, all_metrics: false, all_flips: "--flips all" };

#[test]
fn a_comparison_says_what_changed_and_how_sure_that_is() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let options = CompareOptions { gates: gates(), ..CompareOptions::default() };
    let mut comparison = compared(&[("main", &a), ("pr-412", &b)], &options);
    let flips = &mut comparison.candidates[0].flips[0];
    flips.broken[0].why = Some("sparql_query: 1 row missing\n(`spleenwort`)".into());
    let text = comparison_text(&comparison, &VIEW, Palette::Plain);
    assert_eq!(
        text,
        "\
A main    e09f11  2026-11-16
B pr-412  e09f11  2026-11-16  same reference · same judge
48 of 48 questions joined · errors 1, 1 · 95 % intervals, clustered by 12 templates

metric            A      B      B−A         interval      p  better  won  lost   n    MDE
steps_score   0.674  0.630   −0.043  −0.228 … +0.141  0.614   0.307    2     4  46  0.258
total_tokens  1,003  1,174  +17.0 %  +16.1 … +17.9 %  <.001   0.000    0    48  48  1.3 %
steps_score: 97.9 % of the questions of A and 97.9 % of B have a number; with errors as 0 the change is −0.062

gate                        verdict       why
steps_score may fall 0.02   inconclusive  between 0.228 lower and 0.141 higher; about 2,900 questions would settle it
total_tokens may rise 10 %  warn          rises at least 16.1 %
steps_score at least 0.9    block         steps_score is 0.6170, at least 0.9 was asked

5 broken, 2 fixed by steps_score; most broken in template_1 (3 of 4)
broken
  1.00 → 0.00  q4  sparql_query: 1 row missing (`spleenwort`)
  1.00 → 0.00  q5
  … 3 more: --flips all
fixed
  0.00 → 1.00  q0
  0.00 → 1.00  q3
"
    );
    let coloured = comparison_text(&comparison, &VIEW, Palette::Colour);
    assert!(coloured.contains("\u{1b}[31msteps_score at least 0.9    block"), "{coloured}");
}

#[test]
fn several_candidates_have_a_block_each_with_adjusted_p() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let runs = [("main", &a), ("one", &b), ("two", &a)];
    let comparison = compared(&runs, &CompareOptions::default());
    let view = ComparisonView { flips: 0, ..VIEW };
    let text = comparison_text(&comparison, &view, Palette::Plain);
    let second = text.split("\nC compared with A\n").nth(1).expect("a block");
    assert_eq!(
        second,
        "\
48 of 48 questions joined · errors 1, 1 · 95 % intervals, clustered by 12 templates

metric            A      C    C−A  interval  p (Holm)  better  won  lost   n  MDE
steps_score   0.681  0.681  0.000         –     1.000       –    0     0  47    –
total_tokens  1,003  1,003  0.0 %         –     1.000       –    0     0  48    –
steps_score, total_tokens: no number changed, so there is no interval
p is adjusted for 2 candidates, by Holm's method
steps_score: 97.9 % of the questions of A and 97.9 % of C have a number; with errors as 0 the change is 0.000

0 broken, 0 fixed by steps_score
"
    );
}

#[test]
fn templates_are_listed_with_the_largest_loss_first() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let options = CompareOptions { by_group: true, ..CompareOptions::default() };
    let comparison = compared(&[("main", &a), ("pr-412", &b)], &options);
    let view = ComparisonView { by_group: true, ..VIEW };
    let text = comparison_text(&comparison, &view, Palette::Plain);
    let (_, templates) = text.split_once("steps_score by template").expect("a table");
    let names: Vec<&str> =
        templates.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names[..3], ["template_1", "template_10", "template_2"]);
    assert_eq!(names[11], "template_0");
    assert!(!text.contains("total_tokens by template"), "no gate and no flips are about it");
    let all = ComparisonView { all_metrics: true, ..view };
    let text = comparison_text(&comparison, &all, Palette::Plain);
    assert!(text.contains("total_tokens by template"), "{text}");
}

#[test]
fn few_templates_missing_questions_and_metrics_that_are_left_out_are_told() {
    let before = [
        answer("t", "1", 1.0),
        answer("t", "2", 0.5),
        answer("u", "3", 1.0),
        answer("u", "gone", 1.0),
    ];
    let after = [answer("t", "1", 0.0), answer("t", "2", 0.5), answer("u", "3", 0.75)];
    let (a, b) = (table(&before), table(&after));
    let mut comparison = compared(&[("a", &a), ("b", &b)], &CompareOptions::default());
    let candidate = &mut comparison.candidates[0];
    candidate
        .left_out
        .insert("answer_f1".into(), "the runs were judged by different judges".into());
    candidate.same_judge = false;
    candidate.run.reference = Some("other".into());
    candidate.run.is_complete = false;
    let text = comparison_text(&comparison, &VIEW, Palette::Plain);
    for line in [
        "B b  e09f11  2026-11-16  another reference: equal questions are compared · another judge · \
         not finished",
        "3 of 4 questions joined · errors 0, 0 · 95 % intervals, clustered by 2 templates",
        "steps_score: 2 templates are too few for a reliable interval: check each one",
        "exact p over templates: steps_score 0.500",
        "not compared: answer_f1: the runs were judged by different judges",
        "1 question is in A alone: gone",
    ] {
        assert!(text.lines().any(|own| own == line), "no `{line}` in\n{text}");
    }
}

#[test]
fn no_text_controls_the_terminal() {
    let id = "q\u{1b}[2J\n\u{202e}x";
    let (a, b) = (table(&[answer(id, id, 1.0)]), table(&[answer(id, id, 0.0)]));
    let ids = vec![id.to_owned()];
    let gate = Gate::blocking(Condition::Questions { ids, metric: None, may_break: 0 });
    let gates = Gates { gates: vec![gate], ..Gates::default() };
    let options = CompareOptions { gates, ..CompareOptions::default() };
    let mut comparison = compared(&[(id, &a), (id, &b)], &options);
    comparison.baseline.began = Some(id.into());
    comparison.baseline.id = Some(id.into());
    let text = comparison_text(&comparison, &VIEW, Palette::Plain);
    let is_odd = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!text.contains(is_odd), "{text:?}");
    assert!(text.contains("1 broken, 0 fixed"), "{text}");
}

#[test]
fn runs_without_flips_and_with_gates_that_pass_are_unchanged() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let same = compared(&[("a", &a), ("b", &a)], &CompareOptions::default());
    assert!(is_unchanged(&same, &VIEW));
    assert!(!is_unchanged(&compared(&[("a", &a), ("b", &b)], &CompareOptions::default()), &VIEW));
    let gated = CompareOptions { gates: gates(), ..CompareOptions::default() };
    let blocked = compared(&[("a", &a), ("b", &a)], &gated);
    assert_eq!(blocked.verdict, GateVerdict::Block);
    assert!(!is_unchanged(&blocked, &VIEW));
}

#[test]
fn whatever_a_report_would_show_is_a_change() {
    let [before, _] = two_runs();
    let is_silent = |change: &dyn Fn(&mut Vec<Answer>)| {
        let mut after = before.clone();
        change(&mut after);
        let tables = [&before, &after].map(|answers| table(answers));
        let runs = [("a", &tables[0]), ("b", &tables[1])];
        is_unchanged(&compared(&runs, &CompareOptions::default()), &VIEW)
    };
    assert!(is_silent(&|_| {}));
    assert!(!is_silent(&|after| after[1].tokens += 1.0), "another metric than that of flips");
    assert!(!is_silent(&|after| drop(after.pop())), "a question less");
    assert!(!is_silent(&|after| after.push(answer("new", "q", 1.0))), "a question more");
    assert!(!is_silent(&|after| after[0].score = None), "an error in place of a score of 0");
}

#[test]
fn files_of_results_have_neither_ids_nor_days() {
    let scores = table(&[answer("t", "1", 1.0)]);
    let mut comparison = compared(&[("a", &scores), ("b", &scores)], &CompareOptions::default());
    for run in [&mut comparison.baseline, &mut comparison.candidates[0].run] {
        *run = juror_compare::RunFacts {
            id: None,
            began: None,
            reference: None,
            judge: None,
            ..facts("f.json", "", "")
        };
    }
    let text = comparison_text(&comparison, &VIEW, Palette::Plain);
    assert!(text.starts_with("A f.json\nB f.json\n1 of 1 questions joined"), "{text}");
}
