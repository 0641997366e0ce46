//! Expected and actual steps side by side, of results read back.

use juror_read::{ResultCase, judged_aspects};
use juror_score::{
    Alignment, Profile, ShownLimits, ShownOutput, StepState, explain, score, show_expected,
};
use serde_json::{Value, json};

/// Scores steps and aligns them, and shows the reference.
fn aligned_within(
    expected: &Value,
    actual: &Value,
    profile: &Profile,
    limits: &ShownLimits,
) -> (Alignment, Vec<Vec<Option<ShownOutput>>>) {
    let result = json!({"template_id": "t", "question_id": "q", "question_text": "Q",
        "reference_steps": expected, "status": "success", "actual_steps": actual})
    .to_string();
    let result = ResultCase::read(&result, &judged_aspects(profile, [])).expect("a result");
    let case = result.case();
    let record = score(&case, profile);
    let mut alignments = [Alignment::of(&record, profile, limits)];
    let shown = show_expected(&result.question, profile, limits, &mut alignments);
    let [alignment] = alignments;
    let told: Vec<_> = explain(&record, profile).into_iter().map(|miss| miss.why).collect();
    let why: Vec<_> = alignment.pairs.iter().filter_map(|pair| pair.why.clone()).collect();
    assert_eq!(told, why, "an explanation says what the alignment says");
    (alignment, shown)
}

fn aligned(expected: &Value, actual: &Value) -> Value {
    let limits = ShownLimits::DEFAULT;
    let (alignment, _) = aligned_within(expected, actual, &Profile::V6, &limits);
    serde_json::to_value(alignment.pairs).expect("JSON")
}

fn query(output: &str) -> Value {
    json!({"name": "sparql_query", "status": "success", "output": output,
        "output_media_type": "text/csv"})
}

fn retrieval(output: &Value, k: &Value) -> Value {
    json!({"name": "retrieval", "status": "success", "args": {"k": k},
        "output": output.to_string()})
}

#[test]
fn a_pair_has_the_keys_of_reports() {
    let table = query("a,b\n1,x\n2,y\n");
    assert_eq!(
        aligned(&json!([[table]]), &json!([query("z"), query("b,a\ny,2\nx,1\n")])),
        json!([{"group": 0, "expected": 0, "state": "found", "actual": 1, "nearest": null,
            "similarity": 1.0, "why": null, "documents": null, "args": null, "table": {
                "columns": [[0, 1], [1, 0]], "rows": [[0, 1], [1, 0]], "n_same": 2,
                "n_changed": 0, "n_missing": 0, "n_extra": 0, "order_differs": false}}])
    );
    let missed = aligned(&json!([[table]]), &json!([query("a,b\n1,x\n2,z\n")]));
    let (pair, rows) = (&missed[0], &missed[0]["table"]["rows"]);
    assert_eq!((&pair["state"], &pair["nearest"]), (&json!("missed"), &json!(0)));
    assert_eq!(pair["why"], "1 row missing (`2, y`), 1 row extra");
    assert_eq!(rows, &json!([[0, 0], [1, 1, [1]]]));
}

#[test]
fn steps_are_found_partly_missed_or_not_scored() {
    let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
    let states = |expected: &Value, actual: &Value, profile: &Profile| -> Vec<_> {
        let (found, _) = aligned_within(expected, actual, profile, &ShownLimits::DEFAULT);
        found.pairs.iter().map(|pair| (pair.state, pair.actual, pair.nearest)).collect()
    };
    let (two, a) = (json!([[step("a")], [step("b")]]), json!([step("b")]));
    assert_eq!(
        states(&two, &a, &Profile::V5),
        [(StepState::NotScored, None, None), (StepState::Found, Some(0), None)]
    );
    assert_eq!(
        states(&two, &a, &Profile::V6),
        [(StepState::Missed, None, Some(0)), (StepState::Found, Some(0), None)]
    );
    let failed = json!([{"name": "s", "status": "error", "error": "e"}]);
    assert_eq!(
        states(&two, &failed, &Profile::V6),
        [(StepState::Missed, None, None), (StepState::Missed, None, Some(0))]
    );
    let one = json!([[retrieval(&json!([{"id": 1}, {"id": 2}]), &json!(null))]]);
    let half = json!([retrieval(&json!([{"id": 2}]), &json!(5))]);
    let partly = states(&one, &half, &Profile::V6);
    assert_eq!(partly, [(StepState::Partly, Some(0), None)]);
}

#[test]
fn documents_come_by_rank_and_then_those_not_retrieved() {
    let relevant = json!([{"id": "a"}, {"id": "b"}, {"id": "a"}]);
    let retrieved = json!([{"id": "x"}, {"id": "b"}, {"id": "x"}, {"text": "t"}]);
    let found = aligned(
        &json!([[retrieval(&relevant, &json!(null))]]),
        &json!([retrieval(&retrieved, &json!(3))]),
    );
    assert_eq!(
        found[0]["documents"],
        json!({"k": 3, "rows": [
            {"id": "x", "expected": false, "rank": 1}, {"id": "b", "expected": true, "rank": 2},
            {"id": "", "expected": false, "rank": 3}, {"id": "a", "expected": true, "rank": null}]})
    );
    let without_k = aligned(
        &json!([[retrieval(&relevant, &json!(null))]]),
        &json!([retrieval(&relevant, &json!(null))]),
    );
    assert_eq!(without_k[0]["documents"]["k"], json!(null));
    assert_eq!(without_k[0]["state"], "found");
}

#[test]
fn arguments_that_differ_are_listed() {
    let call = |args: Value| {
        json!({"name": "s", "args": args, "match": "args", "output": "x",
        "status": "success"})
    };
    let found = aligned(
        &json!([[call(json!({"a": 1, "b": [2], "c": 3}))]]),
        &json!([call(json!({"a": 1, "b": [4], "d": 5}))]),
    );
    assert_eq!(found[0]["args"], json!([["b", "[2]", "[4]"], ["c", "3", null], ["d", null, "5"]]));
}

#[test]
fn rows_are_named_by_their_places_in_what_is_shown() {
    let table = |other: usize| {
        let row = |at: usize| if at == other { "x\n".into() } else { format!("{at}\n") };
        query(&format!("a\n{}", (0..50).map(row).collect::<String>()))
    };
    let limits = ShownLimits { rows: 3, ..ShownLimits::DEFAULT };
    let (expected, actual) = (json!([[table(40)]]), json!([table(30)]));
    let (found, shown) = aligned_within(&expected, &actual, &Profile::V6, &limits);
    let pair = &found.pairs[0];
    let rows = &pair.details.table.as_ref().expect("tables").rows;
    // The 30 of the reference is missing, the 40 of the answer is extra, and 0 is the same.
    assert_eq!(serde_json::to_value(rows).expect("JSON"), json!([[0, 0], [3, null], [null, 3]]));
    let cells = |shown: &Option<ShownOutput>| match shown {
        Some(ShownOutput::Table { rows, n_rows: 50, .. }) => {
            rows.iter().flatten().flatten().cloned().collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(cells(&shown[0][0]), ["0", "1", "2", "30"]);
    assert_eq!(cells(&found.outputs[0]), ["0", "1", "2", "40"]);
}

#[test]
fn answers_to_a_question_share_what_is_shown_of_the_reference() {
    let table = |other: usize| {
        let row = |at: usize| if at == other { "x\n".into() } else { format!("{at}\n") };
        query(&format!("a\n{}", (0..50).map(row).collect::<String>()))
    };
    let (profile, limits) = (Profile::V6, ShownLimits { rows: 1, ..ShownLimits::DEFAULT });
    let text = |other| {
        json!({"template_id": "t", "question_id": "q", "question_text": "Q",
            "reference_steps": [[table(0)]], "actual_steps": [table(other)]})
        .to_string()
    };
    let texts = [text(20), text(10)];
    let results = texts.each_ref().map(|text| ResultCase::read(text, &[]).expect("a result"));
    let mut alignments = results.each_ref().map(|result| {
        let case = result.case();
        Alignment::of(&score(&case, &profile), &profile, &limits)
    });
    let shown = show_expected(&results[0].question, &profile, &limits, &mut alignments);
    let Some(ShownOutput::Table { rows, .. }) = &shown[0][0] else { panic!("{shown:?}") };
    let rows: Vec<_> = rows.iter().map(|row| row[0].as_deref()).collect();
    assert_eq!(rows, [Some("x"), Some("10"), Some("20")]);
    let named = alignments.map(|alignment| {
        alignment.pairs[0].details.table.as_ref().expect("a table").rows[0].expected
    });
    assert_eq!(named, [Some(2), Some(1)]);
}

#[test]
fn an_actual_table_without_a_media_type_is_shown_as_it_was_compared() {
    let actual = json!([{"name": "sparql_query", "status": "success", "output": "a\n1\n"}]);
    let (found, _) = aligned_within(
        &json!([[query("a\n1\n2\n")]]),
        &actual,
        &Profile::V6,
        &ShownLimits::DEFAULT,
    );
    assert_eq!(found.pairs[0].details.table.as_ref().map(|table| table.n_missing), Some(1));
    assert!(matches!(found.outputs[0], Some(ShownOutput::Table { n_rows: 1, .. })));
}

#[test]
fn steps_that_were_not_scored_are_shown_nevertheless() {
    let (found, _) =
        aligned_within(&json!([]), &json!([query("a\n1\n")]), &Profile::V6, &ShownLimits::DEFAULT);
    assert!(found.pairs.is_empty());
    assert!(matches!(found.outputs[0], Some(ShownOutput::Table { .. })));
}
