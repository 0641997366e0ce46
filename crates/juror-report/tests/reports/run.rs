//! Reports of single runs.

use juror_compare::{Condition, Gate, GatedRun, Gates, LevelLimit, Statistics};
use juror_report::{ReportFormat, RunReport, Threshold, render_run, run_junit, run_markdown};
use juror_score::ScoreTable;
use juror_score::statistics::CONFIDENCE;
use proptest::prelude::*;
use quick_junit::{TestCaseStatus, XmlString};

use crate::parsed::{has_only_own_html, read, read_junit};
use crate::support::{Answer, answer, table, two_runs};

/// Makes a report of a run that is gated, and looks at it.
fn check(
    scores: &ScoreTable,
    threshold: Option<&Threshold>,
    reasons: &[String],
    look: impl FnOnce(&RunReport<'_>),
) {
    let statistics = Statistics::of(scores, CONFIDENCE);
    let gate = Gate::on_mean("steps_score", LevelLimit::Min(0.9));
    let ids = vec!["q0".to_owned()];
    let on_question = Gate::blocking(Condition::Questions { ids, metric: None, may_break: 0 });
    let gates = Gates { gates: vec![gate, on_question], ..Gates::default() };
    let outcomes = gates.check(GatedRun::new(&statistics, scores));
    look(&RunReport {
        name: "nightly",
        scores,
        statistics: &statistics,
        gates: &outcomes,
        threshold,
        reasons,
        moved: &[],
    });
}

#[test]
fn a_graph_that_moved_is_told_by_question() {
    let [answers, _] = two_runs();
    let mut moved = vec![String::new(); answers.len()];
    moved[3] = "1 row missing (`a|b`); the agent is right by the graph as it is now".into();
    check(&table(&answers), None, &[], |report| {
        assert!(!run_markdown(report).contains("The graph moved"));
        let report = RunReport { moved: &moved, ..*report };
        let markdown = run_markdown(&report);
        let told = "**The graph moved**: the expected results of 1 question are not as recorded";
        assert!(markdown.contains(told), "{markdown}");
        let read = read(&markdown);
        let table = read.tables.iter().find(|table| table[0] == ["question", "how"]);
        assert_eq!(table.expect("a table")[1], ["q3", &*moved[3]]);
        let junit = String::from_utf8(run_junit(&report)).expect("text");
        assert_eq!(
            junit.matches("<property name=\"graph_moved\" value=\"1 row missing").count(),
            1
        );
    });
}

#[test]
fn a_pull_request_sees_means_and_the_worst_questions() {
    let [answers, _] = two_runs();
    let mut reasons = vec![String::new(); answers.len()];
    reasons[21] = "it <crashed>\nafter | 5 s".into();
    check(&table(&answers), None, &reasons, |report| {
        let markdown = run_markdown(report);
        let first = "<!-- juror eval: nightly -->\n### Verdict: block (2 block)\n\n`nightly` · 48 \
                     questions · errors 1 · 95 % intervals, clustered by 12 templates\n";
        assert!(markdown.starts_with(first), "{markdown}");
        assert!(markdown.contains("**16 questions** without `steps_score` of at least 1\n"));
        let read = read(&markdown);
        assert!(has_only_own_html(&read), "{:?}", read.html);
        let sizes: Vec<(usize, usize)> =
            read.tables.iter().map(|table| (table.len(), table[0].len())).collect();
        // Gates, metrics, the five worst questions, eleven more, templates.
        assert_eq!(sizes, [(3, 3), (3, 6), (6, 4), (12, 4), (13, 5)], "{markdown}");
        let worst = ["error", "q21", "template_5", "it <crashed> after | 5 s"];
        assert_eq!(read.tables[2][1], worst);
        assert_eq!(
            read.tables[1][1],
            ["steps_score", "0.681", "0.589 … 0.773", "1.000", "47", "97.9 %"]
        );
    });
}

#[test]
fn a_pipeline_sees_each_question_as_a_test() {
    let [answers, _] = two_runs();
    let mut reasons = vec![String::new(); answers.len()];
    (reasons[1], reasons[21]) = ("unused".into(), format!("crashed\n{}", "at line 1\n".repeat(50)));
    let scores = table(&answers);
    check(&scores, None, &reasons, |report| {
        let junit = read_junit(&run_junit(report));
        // Fifteen questions have less than the full score, and two gates are not met.
        assert_eq!((junit.tests, junit.failures, junit.errors), (50, 17, 1));
        assert_eq!(junit.name, Some(XmlString::new("nightly")));
        let q0 = &junit.test_suites[1].test_cases[0];
        let TestCaseStatus::NonSuccess { message, reruns, .. } = &q0.status else { panic!() };
        assert_eq!(message.as_ref().map(XmlString::as_str), Some("gate not met: q0 may not break"));
        assert_eq!(reruns.runs.len(), 1, "and it has less than the full score");
        let q21 = &junit.test_suites[6].test_cases[1];
        let TestCaseStatus::NonSuccess { message, description, .. } = &q21.status else { panic!() };
        assert_eq!(message.as_ref().map(XmlString::as_str), Some("crashed"));
        assert!(description.as_ref().is_some_and(|text| text.starts_with("crashed\nat line 1")));
    });
    let tokens = Threshold { metric: "total_tokens".into(), value: 1003.0 };
    check(&scores, Some(&tokens), &[], |report| {
        let junit = read_junit(&render_run(report, ReportFormat::Junit));
        assert_eq!(junit.test_suites[1].failures, 1, "q0 breaks a gate");
        let q4 = &junit.test_suites[2].test_cases[0];
        let TestCaseStatus::NonSuccess { message, .. } = &q4.status else { panic!() };
        let said = "total_tokens is 1004, at most 1003 was asked";
        assert_eq!(message.as_ref().map(XmlString::as_str), Some(said));
        let markdown = String::from_utf8(render_run(report, ReportFormat::Markdown));
        let markdown = markdown.expect("UTF-8");
        assert!(markdown.contains("without `total_tokens` of at most 1003"), "{markdown}");
        let low = &read(&markdown).tables[2];
        assert_eq!([&low[1][0], &low[2][0]], ["error", "1,006"], "the most tokens first");
    });
}

#[test]
fn several_answers_to_a_question_have_pass_rates() {
    let trial =
        |id: &str, trial, score: f64| Answer { trial: Some(trial), ..answer("t", id, score) };
    let answers = [trial("a", 1, 1.0), trial("a", 2, 0.0), trial("b", 1, 1.0), trial("b", 2, 1.0)];
    check(&table(&answers), None, &[], |report| {
        let markdown = run_markdown(report);
        assert!(markdown.contains("2 questions with 4 answers"), "{markdown}");
        assert!(markdown.contains("50 % of 2 questions are solved sometimes, by `steps_score`"));
        let rates = &read(&markdown).tables[2];
        assert_eq!(rates[0], ["k", "pass@k", "interval", "pass^k", "interval", "n"]);
        assert_eq!(rates[2][..2], ["2", "1.000"]);
        assert_eq!(rates[2][3], "0.500");
    });
}

#[test]
fn a_run_of_ten_thousand_wrong_answers_stays_below_sixty_thousand_characters() {
    let long = "x|`y`".repeat(200);
    let wrong = |at: usize| answer(&format!("{at}{long}"), &format!("{at}{long}"), 0.0);
    let answers: Vec<Answer> = (0..10_000).map(wrong).collect();
    let reasons = vec![long.clone(); answers.len()];
    check(&table(&answers), None, &reasons, |report| {
        let markdown = run_markdown(report);
        assert!(markdown.chars().count() < 60_000);
        let read = read(&markdown);
        assert!(has_only_own_html(&read));
        let n_shown = read.tables[2].len() + read.tables[3].len() - 2;
        let left_out = juror_compare::thousands((10_000 - n_shown) as f64);
        assert!(
            markdown.contains(&format!("more questions: {left_out} left out for lack of room"))
        );
    });
}

#[test]
fn a_file_name_picks_the_report() {
    for (name, format) in [
        ("report.md", Some(ReportFormat::Markdown)),
        ("a/report.junit.xml", Some(ReportFormat::Junit)),
        ("REPORT.XML", Some(ReportFormat::Junit)),
        ("results.json", None),
        ("md", None),
    ] {
        assert_eq!(ReportFormat::from_name(name), format, "{name}");
    }
}

proptest! {
    #[test]
    fn any_reason_stays_text(reason in any::<String>(), id in any::<String>()) {
        let scores = table(&[answer("t", &id, 0.0), answer("u", "2", 1.0)]);
        check(&scores, None, &[reason, String::new()], |report| {
            let read = read(&run_markdown(report));
            assert!(has_only_own_html(&read), "{:?}", read.html);
            let sizes: Vec<Vec<usize>> =
                read.tables.iter().map(|table| table.iter().map(Vec::len).collect()).collect();
            assert_eq!(sizes, [vec![3; 3], vec![6; 2], vec![4; 2], vec![5; 3]]);
            read_junit(&run_junit(report));
        });
    }
}
