//! Comparisons as Markdown, read back by a parser of `CommonMark`.

use juror_compare::{CompareOptions, Comparison, Condition, Flip, Gate, GateVerdict, Gates};
use juror_report::{ComparisonView, comparison_markdown};
use proptest::prelude::*;

use crate::parsed::{has_only_own_html, read};
use crate::support::{Answer, answer, compared, table, two_runs};

/// Compares two runs with a gate on each question that breaks.
fn gated(runs: &[(&str, &[Answer])], ids: Vec<String>) -> Comparison {
    let gate = Gate::blocking(Condition::Questions { ids, metric: None, may_break: 0 });
    let gates = Gates { gates: vec![gate], ..Gates::default() };
    let options = CompareOptions { gates, by_group: true, ..CompareOptions::default() };
    let tables: Vec<_> = runs.iter().map(|(name, answers)| (*name, table(answers))).collect();
    let runs: Vec<_> = tables.iter().map(|(name, table)| (*name, table)).collect();
    compared(&runs, &options)
}

fn with_groups() -> ComparisonView {
    ComparisonView { by_group: true, ..ComparisonView::default() }
}

#[test]
fn a_pull_request_sees_verdict_gates_metrics_and_broken_questions() {
    let [a, b] = two_runs();
    let comparison = gated(&[("main", &a), ("pr-412", &b)], vec!["q4".into()]);
    let markdown = comparison_markdown(&comparison, &with_groups(), Some("nightly"));
    let lines: Vec<&str> = markdown.lines().collect();
    assert_eq!(lines[..2], ["<!-- juror compare: nightly -->", "### Verdict: block (1 block)"]);
    let read = read(&markdown);
    assert!(has_only_own_html(&read), "{:?}", read.html);
    let sizes: Vec<(usize, usize)> =
        read.tables.iter().map(|table| (table.len(), table[0].len())).collect();
    // Gates, metrics, five broken questions, two fixed ones, templates.
    assert_eq!(sizes, [(2, 3), (3, 11), (6, 4), (3, 4), (13, 11)], "{markdown}");
    assert_eq!(read.tables[0][1], ["q4 may not break", "block", "worse by steps_score: q4"]);
    assert_eq!(read.tables[1][2][4..7], ["+16.1 … +17.9 %", "<.001", "0.000"]);
    assert_eq!(read.tables[2][1], ["1.00 → 0.00", "q4", "template_1", ""]);
    assert_eq!(read.tables[2][4][0], "1.00 → error");
}

#[test]
fn a_comparison_without_gates_says_so() {
    let [a, b] = two_runs().map(|answers| table(&answers));
    let runs = [("main", &a), ("one", &b), ("two", &b)];
    let comparison = compared(&runs, &CompareOptions::default());
    let markdown = comparison_markdown(&comparison, &ComparisonView::default(), None);
    let first = "<!-- juror compare: main and one and two -->\n### Comparison without gates\n";
    assert!(markdown.starts_with(first), "{markdown}");
    assert_eq!(read(&markdown).headings, 3, "the verdict and two candidates");
}

/// What tries to be anything but text.
const NASTY: &str =
    "a|b `c` <img src=x> @octocat #123 --> <!-- [l](http://x.y) \\| \n| d |\n# h **b** https://x.y";

#[test]
fn texts_stay_texts() {
    let (a, b) = ([answer(NASTY, NASTY, 1.0)], [answer(NASTY, NASTY, 0.0)]);
    let mut comparison = gated(&[(NASTY, &a), (NASTY, &b)], vec![NASTY.into()]);
    comparison.candidates[0].flips[0].broken[0].why = Some(NASTY.into());
    comparison.candidates[0].left_out.insert(NASTY.into(), "*a*\n# b | `c` <d>".into());
    let markdown = comparison_markdown(&comparison, &with_groups(), None);
    let read = read(&markdown);
    assert!(has_only_own_html(&read), "{:?}", read.html);
    assert_eq!((read.n_links, read.headings), (0, 1), "{markdown}");
    let flat = NASTY.replace('\n', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let (shown, _) = flat.rsplit_once(' ').expect("words");
    let broken = &read.tables[2][1];
    assert_eq!(broken[..3], ["1.00 → 0.00".into(), format!("{shown} …"), format!("{shown} …")]);
    assert_eq!(broken[3], flat);
    let is_live = |text: &str| markdown.split('`').step_by(2).any(|part| part.contains(text));
    assert!(!is_live("@octocat") && !is_live(" #123") && !is_live("https://"), "{markdown}");
}

#[test]
fn ten_thousand_flips_stay_below_sixty_thousand_characters() {
    let [a, b] = two_runs();
    let mut comparison = gated(&[("main", &a), ("pr-412", &b)], vec!["q4".into()]);
    for (id, width) in [("short", 5), ("long|`\\", 1000), ("żółć", 1000)] {
        let flip = |at: usize| Flip {
            group: format!("{at}{}", id.repeat(width / id.len())),
            id: format!("{at}{}", id.repeat(width / id.len())),
            a: Some(1.0),
            b: Some(0.0),
            row: at,
            why: Some(id.repeat(100)),
        };
        let flips = &mut comparison.candidates[0].flips[0];
        flips.broken = (0..10_000).map(flip).collect();
        flips.fixed = (0..10_000).map(flip).collect();
        let markdown = comparison_markdown(&comparison, &with_groups(), None);
        let n_characters = markdown.chars().count();
        assert!(n_characters < 60_000, "{n_characters}");
        assert!(n_characters > 30_000, "there was room for more than {n_characters}");
        let read = read(&markdown);
        assert!(has_only_own_html(&read), "{:?}", read.html);
        let n_broken = read.tables[2].len() + read.tables[3].len() - 2;
        let left_out = format!("more broken questions: {} left out", thousands(10_000 - n_broken));
        assert!(markdown.contains(&left_out), "{left_out} of {n_broken}");
        assert!(markdown.contains("fixed questions: 10,000 left out for lack of room"));
        let opened = read.html.iter().filter(|html| *html == "<details>").count();
        assert_eq!(opened, read.html.iter().filter(|html| *html == "</details>").count());
    }
}

fn thousands(n: usize) -> String {
    juror_compare::thousands(n as f64)
}

#[test]
fn many_candidates_gates_and_metrics_stay_below_sixty_thousand_characters() {
    let [a, b] = two_runs();
    let mut comparison = gated(&[("main", &a), ("pr-412", &b)], vec!["q4".into()]);
    let own = &mut comparison.candidates[0];
    let metric = own.metrics["steps_score"].clone();
    for at in 0..2000 {
        own.metrics.insert(format!("custom_{at}"), metric.clone());
        own.gates.push(own.gates[0].clone());
    }
    let own = own.clone();
    comparison.candidates.extend(std::iter::repeat_n(own, 300));
    comparison.verdict = GateVerdict::Block;
    let markdown = comparison_markdown(&comparison, &with_groups(), None);
    assert!(markdown.chars().count() < 60_000);
    let read = read(&markdown);
    assert_eq!(read.headings, 26, "a heading for each candidate that is shown");
    assert!(markdown.contains("candidates: 276 left out for lack of room"));
    assert!(markdown.contains("gates: "), "{markdown}");
}

proptest! {
    #[test]
    fn no_text_breaks_a_table(id in "\\PC{0,20}|[|`<>\\\\!@#\\[\\]*_&;\n\t -]{0,12}", name in any::<String>()) {
        let (a, b) = ([answer(&name, &id, 1.0)], [answer(&name, &id, 0.0)]);
        prop_assume!(!id.is_empty());
        let comparison = gated(&[(&name, &a), (&id, &b)], vec![id.clone()]);
        let markdown = comparison_markdown(&comparison, &with_groups(), None);
        let read = read(&markdown);
        prop_assert!(has_only_own_html(&read), "{:?}", read.html);
        let sizes: Vec<Vec<usize>> =
            read.tables.iter().map(|table| table.iter().map(Vec::len).collect()).collect();
        prop_assert_eq!(sizes, [vec![3, 3], vec![11, 11], vec![4, 4], vec![11, 11]], "{}", markdown);
        prop_assert_eq!((read.n_links, read.headings), (0, 1));
        let shown = id.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_plain = |c: char| !c.is_control() && !matches!(c, '\u{200b}'..='\u{206f}');
        if !shown.is_empty() && shown.chars().all(is_plain) {
            prop_assert_eq!(&read.tables[2][1][1], &shown);
        }
    }
}
