//! What holds whatever the data: identity scores 1, column order never matters, a wrong extra row
//! never helps, shards merge to the whole.

use juror_document::{Document, Format};
use juror_read::{read_reference, read_responses, read_results};
use juror_score::compare::compare_sparql_results;
use juror_score::{Aggregator, Case, Profile, Rules, score};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A cell: unbound, or one of few values of several types, so that collisions are common.
fn cell() -> impl Strategy<Value = Option<Value>> {
    let xsd = |name: &str| format!("http://www.w3.org/2001/XMLSchema#{name}");
    prop_oneof![
        1 => Just(None),
        3 => (0..4_u8).prop_map(|n| Some(json!({"type": "uri", "value": format!("urn:{n}")}))),
        2 => (0..4_u8).prop_map(|n| Some(json!({"type": "literal", "value": n.to_string()}))),
        2 => (0..4_u8).prop_map(move |n| Some(json!({
            "type": "literal", "value": format!("{n}.0"), "datatype": xsd("decimal")}))),
        1 => any::<bool>().prop_map(move |b| Some(json!({
            "type": "literal", "value": b.to_string(),
            "datatype": "http://www.w3.org/2001/XMLSchema#boolean"}))),
    ]
}

/// Rows of as many cells as there are columns.
fn rows(columns: usize) -> impl Strategy<Value = Vec<Vec<Option<Value>>>> {
    prop::collection::vec(prop::collection::vec(cell(), columns), 1..6)
}

fn table() -> impl Strategy<Value = (usize, Vec<Vec<Option<Value>>>)> {
    (1..5_usize).prop_flat_map(|columns| rows(columns).prop_map(move |rows| (columns, rows)))
}

fn result(names: &[String], rows: &[Vec<Option<Value>>]) -> String {
    let bindings = rows.iter().map(|row| {
        let bound =
            names.iter().zip(row).filter_map(|(name, cell)| Some((name.clone(), cell.clone()?)));
        Value::Object(bound.collect())
    });
    let bindings: Vec<Value> = bindings.collect();
    json!({"head": {"vars": names}, "results": {"bindings": bindings}}).to_string()
}

fn names(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|at| format!("{prefix}{at}")).collect()
}

fn rules() -> impl Strategy<Value = Rules<'static>> {
    (any::<bool>(), any::<bool>()).prop_map(|(ordered, ignore_duplicates)| Rules {
        required_columns: None,
        ordered,
        ignore_duplicates,
    })
}

/// The slow way to tell: every injection of columns, rows compared as the rules say.
fn by_brute_force(
    reference: &[Vec<Option<Value>>],
    actual: &[Vec<Option<Value>>],
    columns: (usize, usize),
    rules: &Rules<'_>,
) -> bool {
    fn injections(from: usize, to: usize) -> Vec<Vec<usize>> {
        if from == 0 {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for used in injections(from - 1, to) {
            let free = (0..to).filter(|at| !used.contains(at));
            all.extend(free.map(|at| [used.clone(), vec![at]].concat()));
        }
        all
    }
    let text = |cell: &Option<Value>| cell.as_ref().map(Value::to_string);
    let key = |row: Vec<Option<String>>| format!("{row:?}");
    let expected: Vec<String> =
        reference.iter().map(|row| key(row.iter().map(text).collect())).collect();
    injections(columns.0, columns.1).into_iter().any(|injection| {
        let mut got: Vec<String> = actual
            .iter()
            .map(|row| key(injection.iter().map(|&at| text(&row[at])).collect()))
            .collect();
        let mut expected = expected.clone();
        if !rules.ordered {
            got.sort();
            expected.sort();
            if rules.ignore_duplicates {
                got.dedup();
                expected.dedup();
            }
        }
        got == expected
    })
}

/// Cells whose equality is plain identity, for comparison with the slow way.
fn plain_cell() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        1 => Just(None),
        5 => (0..3_u8).prop_map(|n| Some(json!({"type": "uri", "value": format!("urn:{n}")}))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_table_agrees_with_itself((n, rows) in table(), rules in rules()) {
        let table = result(&names("c", n), &rows);
        prop_assert_eq!(compare_sparql_results(&table, &table, &rules), 1.0);
    }

    #[test]
    fn the_order_and_names_of_columns_never_matter(
        (n, rows) in table(),
        rules in rules(),
        order in Just((0..4_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let reference = result(&names("c", n), &rows);
        let order: Vec<usize> = order.into_iter().filter(|at| *at < n).collect();
        let permuted: Vec<Vec<Option<Value>>> = rows
            .iter()
            .map(|row| order.iter().map(|&at| row[at].clone()).collect())
            .collect();
        let actual = result(&names("other", n), &permuted);
        prop_assert_eq!(compare_sparql_results(&reference, &actual, &rules), 1.0);
    }

    #[test]
    fn the_order_of_rows_matters_only_when_the_rules_say_so(
        (rows, shuffled) in (1..4_usize).prop_flat_map(rows).prop_flat_map(|rows| {
            (Just(rows.clone()), Just(rows).prop_shuffle())
        }),
        ignore_duplicates: bool,
    ) {
        let n = rows[0].len();
        let rules = Rules { ignore_duplicates, ..Rules::default() };
        let (reference, actual) = (result(&names("c", n), &rows), result(&names("c", n), &shuffled));
        prop_assert_eq!(compare_sparql_results(&reference, &actual, &rules), 1.0);
    }

    #[test]
    fn a_wrong_extra_row_never_helps((n, rows) in table(), other in table(), rules in rules()) {
        let reference = result(&names("c", n), &rows);
        let (m, mut actual) = other;
        let before = compare_sparql_results(&reference, &result(&names("c", m), &actual), &rules);
        actual.push(vec![Some(json!({"type": "uri", "value": "urn:wrong"})); m]);
        let after = compare_sparql_results(&reference, &result(&names("c", m), &actual), &rules);
        prop_assert!(after <= before);
        prop_assert_eq!(after, 0.0);
    }

    #[test]
    fn the_search_finds_what_trying_everything_finds(
        reference in (1..4_usize).prop_flat_map(|n| {
            prop::collection::vec(prop::collection::vec(plain_cell(), n), 1..5)
        }),
        actual in (1..5_usize).prop_flat_map(|n| {
            prop::collection::vec(prop::collection::vec(plain_cell(), n), 1..5)
        }),
        rules in rules(),
    ) {
        let (n, m) = (reference[0].len(), actual[0].len());
        let expected = n <= m && by_brute_force(&reference, &actual, (n, m), &rules);
        let (a, b) = (result(&names("c", n), &reference), result(&names("d", m), &actual));
        prop_assert_eq!(compare_sparql_results(&a, &b, &rules) == 1.0, expected);
    }

    #[test]
    fn nothing_makes_a_comparison_panic(text in "\\PC{0,60}") {
        let _ = compare_sparql_results(&text, &text, &Rules::default());
    }

    #[test]
    fn steps_equal_to_the_reference_score_one(
        outputs in prop::collection::vec(prop::collection::vec("[a-c]{1,2}", 1..4), 1..4),
        profile in prop_oneof![Just(Profile::V5), Just(Profile::V6)],
    ) {
        let step = |output: &String| json!({"name": "s", "output": output});
        let groups: Vec<Vec<Value>> =
            outputs.iter().map(|group| group.iter().map(step).collect()).collect();
        let actual: Vec<Value> = outputs.iter().flatten().enumerate().map(|(at, output)| {
            json!({"name": "s", "id": at, "status": "success", "output": output})
        }).collect();
        let reference = json!([{"template_id": "t", "questions": [
            {"id": "q", "question_text": "Q", "reference_steps": groups}]}]).to_string();
        let responses = json!([{"question_id": "q", "actual_steps": actual}]).to_string();
        let reference = Document::new("r", reference.into(), Format::Json).expect("JSON");
        let responses = Document::new("a", responses.into(), Format::Json).expect("JSON");
        let dataset = read_reference(&reference).expect("a dataset");
        let answers = read_responses(&responses).expect("responses");
        let question = &dataset.questions[0];
        let record = score(&Case { question, trajectory: answers.of(question) }, &profile);
        prop_assert_eq!(record.matching.expect("scored").score, 1.0);
    }

    #[test]
    fn shards_merge_to_the_whole(
        results in prop::collection::vec((0..3_u8, any::<bool>(), -1e6..1e6_f64, 0..2_u8), 0..12),
        cut in 0..12_usize,
        profile in prop_oneof![Just(Profile::V5), Just(Profile::V6)],
    ) {
        let results: Vec<Value> = results.into_iter().map(|(template, failed, seconds, n_steps)| {
            let steps = vec![json!({"name": "s", "status": "success", "output": "x"}); n_steps.into()];
            let mut result = json!({"template_id": template.to_string(), "elapsed_sec": seconds,
                "steps_score": seconds.abs() / 1e6, "actual_steps": steps});
            if failed { result["error"] = json!("failed"); }
            result
        }).collect();
        let aggregate = |results: &[Value]| {
            let text = json!(results).to_string();
            let document = Document::new("r", text.into(), Format::Json).expect("JSON");
            let mut aggregator = Aggregator::new(&profile, &[]);
            read_results(&document, &mut aggregator).expect("results");
            aggregator
        };
        let cut = cut.min(results.len());
        let (first, second) = (aggregate(&results[..cut]), aggregate(&results[cut..]));
        let whole = aggregate(&results).finish();
        let mut merged = first.clone();
        merged.merge(second.clone());
        prop_assert_eq!(&merged.finish(), &whole);
        let mut the_other_way = second;
        the_other_way.merge(first);
        prop_assert_eq!(the_other_way.finish().micro, whole.micro);
    }
}
