use super::*;
use juror_document::Format;
use juror_score::Profile;

#[test]
fn a_result_is_an_error_however_its_status_is_written() {
    let text = r#"[{"template_id": "t", "status": "\u0065rror"},
        {"template_id": "t", "status": "error"}, {"template_id": "t", "status": "success"}]"#;
    let document = Document::new("r.json", text.into(), Format::Json).expect("JSON");
    let mut aggregator = Aggregator::new(&Profile::V5, &[]);
    let (n_results, _) = read_results(&document, &mut aggregator).expect("results");
    let micro = aggregator.finish().micro;
    assert_eq!((n_results, micro.n_errors), (3, 2));
}

/// How many rows have a steps score, and to how many it applies.
fn covered(rows: &str) -> (usize, usize) {
    let scored = r#"{"template_id": "t", "question_id": "1", "steps_score": 1.0}"#;
    let text = format!("[{scored}, {rows}]");
    let document = Document::new("r.json", text.into(), Format::Json).expect("JSON");
    let mut aggregator = Aggregator::new(&Profile::V5, &[]);
    read_results(&document, &mut aggregator).expect("results");
    let coverage = aggregator.finish().micro.coverage("steps_score").expect("a metric");
    (coverage.n_scored, coverage.n_applicable)
}

#[test]
fn a_score_that_its_metric_cannot_have_is_told_and_left_out() {
    let rows = [
        r#"{"template_id": "t", "question_id": "1", "steps_score": 1.0, "total_tokens": 85}"#,
        r#"{"template_id": "t", "question_id": "2", "steps_score": 85, "answer_relevance": -0.2}"#,
        r#"{"template_id": "t", "question_id": "3", "actual_steps": [{"name": "retrieval", "retrieval_context_recall": -0.5}]}"#,
    ];
    let list = format!("[{}]", rows.join(",\n"));
    for (name, text) in [("r.jsonl", rows.join("\n")), ("r.json", list)] {
        let format = Format::from_name(name).expect("a format");
        let document = Document::new(name, text.into(), format).expect("JSON");
        let mut aggregator = Aggregator::new(&Profile::V5, &[]);
        let (n_results, problems) = read_results(&document, &mut aggregator).expect("results");
        let told: Vec<String> =
            problems.errors.iter().map(juror_document::DatasetError::brief).collect();
        assert_eq!((n_results, told.len()), (3, 2), "{told:?}");
        assert!(told[0].starts_with(&format!("{name}:2:")), "{told:?}");
        assert!(told[0].contains("`steps_score` is 85, outside 0 to 1"), "{told:?}");
        assert!(told[1].starts_with(&format!("{name}:3:")), "{told:?}");
        let path = problems.errors[1].place.path.to_string();
        assert!(path.ends_with("actual_steps[0].retrieval_context_recall"), "{path}");
        let micro = aggregator.finish().micro;
        assert_eq!(
            micro.spread("steps_score").map(|spread| (spread.n, spread.mean)),
            Some((1, 1.0))
        );
        let coverage = micro.coverage("steps_score").expect("a metric");
        assert_eq!((coverage.n_scored, coverage.n_applicable), (1, 2));
        assert!(micro.spread("retrieval_context_recall").is_none());
        assert_eq!(micro.spread("answer_relevance").map(|spread| spread.n), Some(1));
    }
}

#[test]
fn a_score_that_is_no_number_is_told_with_its_place() {
    let lines = [
        r#"{"template_id": "t", "steps_score": 1.0, "answer_relevance": null}"#,
        r#"{"template_id": "t", "steps_score": "0.5", "note": "mine"}"#,
        r#"{"template_id": "t", "steps_score": "0.5", "total_tokens": 1e999}"#,
        r#"{"template_id": "t", "steps_score": true, "actual_steps": [{"name": "retrieval", "retrieval_context_recall": "1"}]}"#,
    ];
    let list = format!("[{}]", lines.join(",\n"));
    for (name, text) in [("r.jsonl", lines.join("\n")), ("r.json", list)] {
        let format = Format::from_name(name).expect("a format");
        let document = Document::new(name, text.into(), format).expect("JSON");
        let mut aggregator = Aggregator::new(&Profile::V5, &[]);
        let (_, problems) = read_results(&document, &mut aggregator).expect("results");
        assert!(problems.errors.iter().all(|own| own.problem.is_warning()));
        let told: Vec<String> =
            problems.errors.iter().map(juror_document::DatasetError::brief).collect();
        assert_eq!(told.len(), 4, "{told:?}");
        for (line, wanted) in [
            (4, "`retrieval_context_recall` is a text, not a number, and is left out"),
            (4, "`steps_score` is a boolean, not a number, and is left out"),
            (
                2,
                "`steps_score` is a text, not a number, and is left out of the statistics, here and in 1 more place",
            ),
            (3, "`total_tokens` is too large a number"),
        ] {
            let is_told =
                |own: &String| own.starts_with(&format!("{name}:{line}:")) && own.contains(wanted);
            assert!(told.iter().any(is_told), "{wanted}: {told:?}");
        }
    }
}

#[test]
fn responses_instead_of_results_are_told_once() {
    let response = |id: &str| format!(r#"{{"question_id": "{id}", "actual_answer": "x"}}"#);
    for (name, text) in [
        ("r.jsonl", [response("1"), response("2")].join("\n")),
        ("r.json", format!("[{}, {}]", response("1"), response("2"))),
    ] {
        let format = Format::from_name(name).expect("a format");
        let document = Document::new(name, text.into(), format).expect("JSON");
        let mut aggregator = Aggregator::new(&Profile::V5, &[]);
        let problems = read_results(&document, &mut aggregator).expect_err("responses");
        assert_eq!(problems.len(), 1, "{problems}");
        assert!(problems.to_string().contains("these are responses, not results"), "{problems}");
    }
}

#[test]
fn an_amount_below_0_is_told_and_counts_as_it_stands() {
    let lines = [
        r#"{"template_id": "t", "total_tokens": -85, "elapsed_sec": 2.5}"#,
        r#"{"template_id": "t", "total_tokens": 15, "answer_relevance": -0.2}"#,
    ];
    let document = Document::new("r.jsonl", lines.join("\n").into(), Format::JsonLines);
    let mut aggregator = Aggregator::new(&Profile::V5, &[]);
    let read = read_results(&document.expect("JSON"), &mut aggregator);
    let (_, problems) = read.expect("results");
    let told = problems.to_string();
    let wanted = "r.jsonl:1:38: `total_tokens` is -85, and an amount cannot be below 0";
    assert!(told.starts_with(wanted) && problems.len() == 1, "{told}");
    let micro = aggregator.finish().micro;
    assert_eq!(micro.spread("total_tokens").map(|spread| spread.sum), Some(-70.0));
}

#[test]
fn a_step_whose_score_cannot_be_is_owed_one() {
    let row = |recall: &str| {
        let step = format!(r#"{{"name": "retrieval", "retrieval_context_recall": {recall}}}"#);
        format!(r#"{{"template_id": "t", "actual_steps": [{step}]}}"#)
    };
    let lines = format!("{}\n{}\n{}\n", row("1.0"), row("85"), row("85"));
    let document = Document::new("r.jsonl", lines.into(), Format::JsonLines).expect("JSON");
    let mut aggregator = Aggregator::new(&Profile::V5, &[]);
    read_results(&document, &mut aggregator).expect("results");
    let micro = aggregator.finish().micro;
    let coverage = micro.coverage("retrieval_context_recall").expect("a metric");
    assert_eq!((coverage.n_scored, coverage.n_applicable), (1, 3));
}

#[test]
fn repeats_that_cannot_be_are_told_and_rounding_is_no_fault() {
    let read = |repeats: &str| {
        let line =
            format!(r#"{{"template_id": "t", "answer_f1": 1.0, "answer_f1_repeats": {repeats}}}"#);
        let document = Document::new("r.jsonl", line.into(), Format::JsonLines).expect("JSON");
        let mut aggregator = Aggregator::new(&Profile::V5, &[]);
        let (_, problems) = read_results(&document, &mut aggregator).expect("results");
        let scores = aggregator.into_scores();
        let n = scores.column("answer_f1").expect("a metric").repeats().len();
        (n, problems.to_string())
    };
    assert_eq!(read("[1.0000000001, null, 0.5]"), (1, String::new()));
    let (n, told) = read("[1, 85]");
    assert_eq!(n, 0);
    assert!(told.contains("`answer_f1_repeats` is [1, 85], outside 0 to 1"), "{told}");
}

#[test]
fn results_without_a_reference_tell_by_their_keys_what_applies() {
    for (row, n_applicable) in [
        (r#"{"template_id": "t", "question_id": "2", "steps_score": NaN}"#, 2),
        (r#"{"template_id": "t", "question_id": "2", "steps_score": null}"#, 2),
        (r#"{"template_id": "t", "question_id": "2", "steps_score_error": "no reply"}"#, 2),
        (r#"{"template_id": "t", "question_id": "2", "status": "error"}"#, 2),
        (r#"{"template_id": "t", "question_id": "2", "steps_score_error": null}"#, 1),
        (r#"{"template_id": "t", "question_id": "2", "status": "success"}"#, 1),
        (r#"{"template_id": "t", "steps_score": null, "reference_steps": null}"#, 1),
        (r#"{"template_id": "t", "status": "error", "reference_answer": "x"}"#, 1),
        (r#"{"template_id": "t", "status": "error", "reference_steps": [[{}]]}"#, 2),
    ] {
        assert_eq!(covered(row), (1, n_applicable), "{row}");
    }
}

#[test]
fn results_read_back_tell_to_which_questions_overlap_applies() {
    let keys = r#""answer_exact_match": 0.0, "answer_token_f1": 0.0"#;
    let row = |reference: &str, rest: &str| {
        format!(r#"{{"template_id": "t", "reference_answer": "{reference}", {rest}}}"#)
    };
    let rows = [
        row(
            "Oslo",
            &format!(
                r#""actual_answer": "x", {keys}, "answer_rouge_l": 0.0, "answer_mention_recall": 0.0"#
            ),
        ),
        row("nobody", &format!(r#""actual_answer": "x", {keys}, "answer_rouge_l": 0.0"#)),
        row("Осло", r#""status": "error", "error": "down""#),
        row("Oslo", r#""status": "success""#),
        row("Oslo", r#""actual_answer": " ", "answer_exact_match_error": "blank""#),
    ];
    let document = Document::new("r.jsonl", rows.join("\n").into(), Format::JsonLines);
    let mut aggregator = Aggregator::new(&Profile::V5, &[]);
    read_results(&document.expect("JSON"), &mut aggregator).expect("results");
    let micro = aggregator.finish().micro;
    let coverage = |name| {
        let own = micro.coverage(name).expect("a metric");
        (own.n_scored, own.n_applicable)
    };
    let metrics =
        ["answer_exact_match", "answer_token_f1", "answer_rouge_l", "answer_mention_recall"];
    assert_eq!(metrics.map(coverage), [(2, 5), (2, 5), (2, 4), (1, 4)]);
}
