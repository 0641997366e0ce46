//! Comparisons as `JUnit` files, read back by strict readers, and as tables.

use juror_compare::{CompareOptions, Comparison, Condition, Gate, Gates};
use juror_report::{Threshold, comparison_json, comparison_junit, comparison_tsv};
use juror_score::ScoreTable;
use proptest::prelude::*;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite, XmlString};
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::parsed::read_junit;
use crate::support::{Answer, answer, compared, table, two_runs};

fn gated(runs: &[(&str, &ScoreTable)], ids: Vec<String>) -> Comparison {
    let gate = Gate::blocking(Condition::Questions { ids, metric: None, may_break: 0 });
    let gates = Gates { gates: vec![gate], ..Gates::default() };
    compared(runs, &CompareOptions { gates, ..CompareOptions::default() })
}

fn case<'r>(suite: &'r TestSuite, name: &str) -> &'r TestCase {
    let is_it = |case: &&TestCase| case.name.as_str() == name;
    suite.test_cases.iter().find(is_it).unwrap_or_else(|| panic!("no case {name}"))
}

fn property<'r>(case: &'r TestCase, name: &str) -> Option<&'r str> {
    let own = case.properties.iter().find(|own| own.name.as_str() == name);
    own.map(|own| own.value.as_str())
}

/// What went wrong: whether it is a failure or an error, the message, the text.
fn trouble(case: &TestCase) -> (NonSuccessKind, &str, Option<&str>) {
    match &case.status {
        TestCaseStatus::NonSuccess { kind, message, description, .. } => {
            let message = message.as_ref().map_or("", XmlString::as_str);
            (*kind, message, description.as_ref().map(XmlString::as_str))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_case_fails_by_a_gate_on_it_or_by_the_threshold_and_errors_are_apart() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let mut comparison = gated(&[("main", &a), ("pr-412", &b)], vec!["q4".into(), "q20".into()]);
    comparison.candidates[0].flips[0].broken[1].why = Some("a <step> is\nmissing".into());
    let report = read_junit(&comparison_junit(&comparison, &[&a, &b], None));
    assert_eq!(report.name.as_ref().map(XmlString::as_str), Some("main and pr-412"));
    assert_eq!((report.tests, report.failures, report.errors, report.skipped), (49, 2, 1, 0));
    let names: Vec<&str> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
    assert_eq!(names[..3], ["gates", "template_0", "template_1"]);
    let gates = &report.test_suites[0];
    let (kind, message, why) = trouble(&gates.test_cases[0]);
    assert_eq!(kind, NonSuccessKind::Failure);
    assert_eq!(message, "gate not met: of 2 questions 0 may break");
    assert_eq!(why, Some("worse by steps_score: q4, q20"));
    let q4 = case(&report.test_suites[2], "q4");
    assert_eq!(trouble(q4).1, "gate not met: of 2 questions 0 may break");
    assert_eq!(property(q4, "steps_score"), Some("0"));
    assert_eq!(property(q4, "baseline.steps_score"), Some("1"));
    let q20 = case(&report.test_suites[6], "q20");
    assert_eq!(trouble(q20).0, NonSuccessKind::Error, "no answer is no wrong answer");

    let threshold = Threshold { metric: "steps_score".into(), value: 0.5 };
    let report = read_junit(&comparison_junit(&comparison, &[&a, &b], Some(&threshold)));
    let q5 = case(&report.test_suites[2], "q5");
    assert_eq!(
        trouble(q5),
        (
            NonSuccessKind::Failure,
            "steps_score is 0, at least 0.5 was asked",
            Some("a <step> is\nmissing")
        )
    );
    let tokens = Threshold { metric: "total_tokens".into(), value: 1160.0 };
    let report = read_junit(&comparison_junit(&comparison, &[&a, &b], Some(&tokens)));
    let q47 = case(&report.test_suites[12], "q47");
    assert_eq!(trouble(q47).1, "total_tokens is 1197, at most 1160 was asked");
}

#[test]
fn trials_that_disagree_are_flaky() {
    let trial = |id: &str, trial, score: Option<f64>| Answer {
        trial: Some(trial),
        ..answer("t", id, score)
    };
    let scores = table(&[
        trial("mixed", 1, Some(1.0)),
        trial("mixed", 2, Some(0.25)),
        trial("mixed", 3, None),
        trial("wrong", 1, Some(0.0)),
        trial("wrong", 2, None),
        trial("right", 1, Some(1.0)),
        trial("right", 2, Some(1.0)),
    ]);
    let comparison = compared(&[("a", &scores), ("b", &scores)], &CompareOptions::default());
    let threshold = Threshold { metric: "steps_score".into(), value: 1.0 };
    let bytes = comparison_junit(&comparison, &[&scores, &scores], Some(&threshold));
    let report = read_junit(&bytes);
    assert_eq!((report.tests, report.failures, report.errors), (3, 1, 0));
    let suite = &report.test_suites[0];
    let TestCaseStatus::Success { flaky_runs } = &case(suite, "mixed").status else {
        panic!("flaky cases pass")
    };
    let kinds: Vec<NonSuccessKind> = flaky_runs.iter().map(|run| run.kind).collect();
    assert_eq!(kinds, [NonSuccessKind::Failure, NonSuccessKind::Error]);
    assert_eq!(property(case(suite, "mixed"), "trials"), Some("3"));
    assert_eq!(property(case(suite, "mixed"), "steps_score"), Some("0.625"));
    let TestCaseStatus::NonSuccess { kind, reruns, .. } = &case(suite, "wrong").status else {
        panic!("no trial is right")
    };
    assert_eq!((*kind, reruns.runs.len()), (NonSuccessKind::Failure, 1));
    assert_eq!(case(suite, "right").status, TestCaseStatus::success());
    let unasked = read_junit(&comparison_junit(&comparison, &[&scores, &scores], None));
    assert_eq!((unasked.tests, unasked.failures, unasked.errors), (3, 0, 0));
    let flaky = |name: &str| match &case(&unasked.test_suites[0], name).status {
        TestCaseStatus::Success { flaky_runs } => flaky_runs.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!((flaky("mixed"), flaky("wrong"), flaky("right")), (2, 1, 0), "an error is no pass");
    let text = String::from_utf8(bytes).expect("UTF-8");
    assert!(text.contains("<flakyFailure message=") && text.contains("<rerunError "), "{text}");
}

#[test]
fn what_cannot_be_told_is_skipped() {
    let scores = table(&[answer("t", "1", 1.0)]);
    let mut comparison = gated(&[("a", &scores), ("b", &scores)], vec!["1".into()]);
    comparison.candidates[0].gates[0].verdict = juror_compare::GateVerdict::Inconclusive;
    let threshold = Threshold { metric: "answer_f1".into(), value: 1.0 };
    let report = read_junit(&comparison_junit(&comparison, &[&scores, &scores], Some(&threshold)));
    assert_eq!((report.tests, report.skipped, report.failures), (2, 2, 0));
    let TestCaseStatus::Skipped { message, .. } = &report.test_suites[1].test_cases[0].status
    else {
        panic!("the metric does not apply")
    };
    assert_eq!(message.as_ref().map(XmlString::as_str), Some("answer_f1 does not apply"));
}

#[test]
fn suites_of_several_candidates_have_their_names() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let runs = [("main", &a), ("one", &b), ("two", &a)];
    let comparison = compared(&runs, &CompareOptions::default());
    let report = read_junit(&comparison_junit(&comparison, &[&a, &b, &a], None));
    assert_eq!((report.tests, report.test_suites.len()), (96, 24));
    assert_eq!(report.test_suites[12].name.as_str(), "two: template_0");
}

#[test]
fn a_table_has_a_row_for_each_candidate_and_metric() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let options = CompareOptions { by_group: true, ..CompareOptions::default() };
    let comparison = compared(&[("main", &a), ("tab\tbed", &b), ("two", &a)], &options);
    let table = String::from_utf8(comparison_tsv(&comparison)).expect("UTF-8");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 1 + 2 * 2 * 13, "titles, then candidates, metrics, all and templates");
    assert!(rows.iter().all(|row| row.len() == 22));
    assert_eq!(rows[1][..6], ["main", "tab bed", "", "steps_score", "higher", "46"]);
    let mean = comparison.candidates[0].metrics["steps_score"].a;
    assert_eq!(rows[1][6].parse(), Ok(mean), "all digits, not what is shown");
    assert_eq!(rows[3][2], "template_0");
    let json: serde_json::Value =
        serde_json::from_slice(&comparison_json(&comparison)).expect("JSON");
    assert_eq!(json["candidates"][0]["metrics"]["steps_score"]["n"], 46);
}

/// The values of an attribute, as XML gives them.
fn attributes(bytes: &[u8], key: &str) -> Vec<String> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut values = Vec::new();
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(element) | Event::Empty(element) => {
                for own in element.attributes() {
                    let own = own.expect("an attribute");
                    let value = quick_xml::escape::unescape(&own.value).expect("escaped");
                    values.extend((own.key.as_ref() == key).then(|| value.into_owned()));
                }
            }
            Event::Eof => return values,
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn any_text_comes_back(id in any::<String>(), group in "\\PC*|[\u{0}-\u{9f}<>&'\"\u{fffe}]{0,9}") {
        prop_assume!(!id.is_empty());
        let scores = [1.0, 0.0].map(|score| table(&[answer(&group, &id, score)]));
        let mut comparison = gated(&[(&group, &scores[0]), (&id, &scores[1])], vec![id.clone()]);
        comparison.candidates[0].flips[0].broken[0].why = Some(id.clone());
        let threshold = Threshold { metric: "steps_score".into(), value: 1.0 };
        let bytes = comparison_junit(&comparison, &[&scores[0], &scores[1]], Some(&threshold));
        let known = |c: char| match c {
            '\t' | '\n' | '\r' => c,
            '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            c if c < ' ' => '\u{fffd}',
            c => c,
        };
        let clean = |text: &str| text.chars().map(known).collect::<String>();
        let names = attributes(&bytes, "name");
        prop_assert!(names.contains(&clean(&id)) && names.contains(&clean(&group)), "{:?}", names);
        prop_assert!(attributes(&bytes, "classname").contains(&clean(&group)));
        let report = read_junit(&bytes);
        prop_assert_eq!(&report.test_suites[1].test_cases[0].name, &XmlString::new(clean(&id)));
    }
}
