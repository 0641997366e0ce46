//! Steps compared by their arguments.

use juror_score::{Profile, Verdict, explain, score};

use crate::stage::with_steps;

/// Returns the score of one step, and why it was not found.
fn scored(expected: &str, actual: &str) -> (f64, String) {
    with_steps(&format!("[{expected}]"), actual, |case| {
        let record = score(case, &Profile::V6);
        let score = record.verdict("steps_score").and_then(Verdict::number);
        let score = score.unwrap_or_else(|| panic!("no score of {actual}"));
        let why = explain(&record, &Profile::V6).pop().map_or(String::new(), |miss| miss.why);
        (score, why)
    })
}

fn by_args(expected: &str, actual: &str) -> (f64, String) {
    scored(
        &format!(r#"{{"name": "a", "match": "args"{expected}}}"#),
        &format!(r#"{{"name": "a", "status": "success", "output": "x"{actual}}}"#),
    )
}

#[test]
fn large_numbers_of_arguments_are_told_apart() {
    let args = |id: &str| format!(r#", "args": {{"id": {id}, "é": 1}}"#);
    let (one, other) = (args("123456789012345678901"), args("123456789012345678902"));
    assert_eq!(by_args(&one, &one.replace("901,", "901.0,")).0, 1.0);
    let (score, why) = by_args(&one, &other);
    assert_eq!(score, 0.0);
    let told = "id: expected `123456789012345678901`, got `123456789012345678902`";
    assert_eq!(why, told);
    let as_text = other.replace("{\"id\"", "\"{\\\"id\\\"").replace("\"é\": 1}", "\\\"é\\\": 1}\"");
    assert_eq!((by_args(&one, &as_text).0, by_args(&other, &as_text).0), (0.0, 1.0));
}

#[test]
fn arguments_that_cannot_be_read_are_not_taken_for_none() {
    let deep = format!(r#", "args": {{"x": {}1{}}}"#, "[".repeat(200), "]".repeat(200));
    let huge = r#", "args": {"x": 1e999}"#;
    for args in [deep.as_str(), huge] {
        assert_eq!(by_args("", args).0, 0.0, "{args}");
        assert_eq!(by_args(r#", "args": {}"#, args).0, 0.0, "{args}");
        assert_eq!(by_args(args, args).0, 1.0, "{args}");
    }
    assert_eq!(by_args("", r#", "args": {}"#).0, 1.0);
    assert_eq!(by_args(r#", "args": null"#, "").0, 1.0);
}

#[test]
fn large_numbers_tell_time_series_and_data_points_apart() {
    let step = |name: &str, args: &str| {
        format!(r#"{{"name": "{name}", "status": "success", "output": "x", "args": {args}}}"#)
    };
    let large = ["123456789012345678901", "123456789012345678902"];
    for (name, args) in [
        ("retrieve_time_series", r#"{"mrid": N}"#),
        ("retrieve_time_series", r#"{"mrid": ["m", N]}"#),
        ("retrieve_time_series", r#"{"mrid": "m", "limit": N}"#),
        ("retrieve_data_points", r#"{"external_id": [N]}"#),
        ("retrieve_data_points", r#"{"external_id": "e", "limit": N}"#),
        ("retrieve_data_points", r#"{"external_id": "e", "start": N}"#),
        ("retrieve_data_points", r#"{"external_id": "e", "granularity": N}"#),
    ] {
        let [one, other] = large.map(|number| step(name, &args.replace('N', number)));
        assert_eq!((scored(&one, &other).0, scored(&one, &one).0), (0.0, 1.0), "{args}");
    }
}

#[test]
fn names_are_the_same_in_any_order() {
    let step = |args: &str| {
        format!(
            r#"{{"name": "retrieve_time_series", "status": "success", "output": "x",
            "args": {{"mrid": {args}}}}}"#
        )
    };
    for (a, b, expected) in [
        (r#"["a", "b"]"#, r#"[ "b","\u0061"]"#, 1.0),
        ("[123456789012345678901, 1]", "[1, 123456789012345678901]", 1.0),
        ("[1, 2]", "[2.0, 1.0]", 1.0),
        (r#""a""#, r#"["a"]"#, 1.0),
        ("5", "[5]", 0.0),
        (r#"["a", "b"]"#, r#"["a", "a"]"#, 0.0),
    ] {
        assert_eq!(scored(&step(a), &step(b)).0, expected, "{a} and {b}");
    }
}
