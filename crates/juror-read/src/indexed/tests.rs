//! What is read question by question is what is read at once.

use std::fmt::Write;

use juror_document::{Document, Format};
use proptest::prelude::*;

use super::*;
use crate::RepeatedIds;

/// How many kinds of lines of a reference can be read, and how many there are.
const GOOD_LINES: u8 = 12;
const LINES: u8 = 19;

/// A line of a reference, of one of many kinds.
fn reference_line(kind: u8, at: usize) -> String {
    let table = r#""output_media_type": "application/sparql-results+json", "output": "{\"head\": {\"vars\": [\"a\"]}, \"results\": {\"bindings\": []}}""#;
    let question = |fields: &str| {
        format!(r#"{{"template_id": "t{}", "id": "q{at}", "question_text": "?"{fields}}}"#, at % 2)
    };
    let steps = |step: &str| question(&format!(r#", "reference_steps": [[{step}]]"#));
    match kind {
        0 => question(""),
        1 => steps(&format!(r#"{{"name": "s", "required_columns": ["a"], {table}}}"#)),
        2 => steps(r#"{"name": "s"}"#),
        3 => question(r#", "reference_steps": [[], [{"name": "s", "outptu": 1, "comment": 2}]]"#),
        4 => question(r#", "refrence_answer": "x", "mine": 1"#),
        5 => steps(r#"{"name": "s", "output": "x", "args": {"k": NaN, "l": [-Infinity]}}"#),
        6 => question("").replace('q', r"\u0071"),
        7 => format!(r#"{{"template_id": 7, "id": {at}, "question_text": ["?"]}}"#),
        8 => format!(
            r#" {{"template_id": "u", "questions": [{{"id": "a{at}", "question_text": "?", "nmae": 1}},
                {{"id": "b{at}", "question_text": "?", "reference_steps": [[{{"name": "x"}}]]}}]}}  "#
        )
        .replace('\n', " "),
        9 => format!(
            r#"{{"template_id": "\u0075", "own": NaN, "questions": [{{"x": NaN, "id": "a{at}", "question_text": "?"}},
                {{"id": "b\u0061{at}", "reference_answer": Infinity, "question_text": "?", "outptu": NaN}}]}}"#
        )
        .replace('\n', " "),
        10 => r#"{"template_id": "none", "questions": []}"#.into(),
        11 => "  \r".into(),
        12 => question("").replace("question_text", "question_txt"),
        13 => r#"{"template_id": "t", "id": "q0", "question_text": "twice?"}"#.into(),
        14 => steps(&format!(r#"{{"name": "s", "required_columns": ["b"], {table}}}"#)),
        15 => r#"{"template_id": "t", "id": "#.into(),
        16 => question(r#", "reference_steps": [[NaN]]"#),
        17 => question(r#", "id": "again""#),
        _ => "[1]".into(),
    }
}

/// A line of responses, of one of many kinds.
fn response_line(kind: u8, at: usize) -> String {
    let id = at / 2;
    let response = |fields: &str| format!(r#"{{"question_id": "q{id}", {fields}}}"#);
    match kind {
        0 => response(r#""actual_answer": "x", "total_tokens": 5"#),
        1 => response(r#""actual_steps": [{"name": "s", "status": "success", "output": "x"}]"#),
        2 => response(r#""actual_steps": [{"name": "s", "status": "SUCCESS", "arguments": 1}]"#),
        3 => response(r#""elapsed_sec": NaN, "actual_answer": null, "mine": 3"#),
        4 => response(r#""elapsed_sec": [NaN], "total_tokens": -5"#),
        5 => response(r#""total_tokens": -5, "output_tokens": 1e400"#),
        6 => response(&format!(r#""trial": {}, "actual_answer": "{at}""#, at % 3)),
        7 => response(r#""trial": 2.0, "error": "no", "answer": "x""#),
        8 => response(r#""actual_steps": 5"#),
        9 => response(r#""actual_steps": NaN, "trial": 3"#),
        10 => response(r#""elapsed_sec": NaN, x"#),
        11 => r#"{"actual_answer": "x"}"#.into(),
        12 => "null".into(),
        13 => " \t".into(),
        14 => r#"{"question_id": "\u0071\u0030", "actual_answer": -Infinity}"#.into(),
        15 => format!(r#"{{"question_id": {at}, "status": "error"}}"#),
        16 => r#"{"question_id": "nobody", "actual_answer": "x"}"#.into(),
        17 => r#"{"question_id": "q1", "answr": NaN}"#.into(),
        _ => "{broken".into(),
    }
}

fn document(name: &str, line: fn(u8, usize) -> String, kinds: &[u8]) -> Document {
    let lines = kinds.iter().enumerate().map(|(at, kind)| line(*kind, at) + "\n");
    Document::new(name, lines.collect::<String>().into(), Format::JsonLines).expect("lines")
}

/// Tells everything that was read.
fn told(reference: &[u8], responses: &[u8], profile: &Profile, options: ReadOptions) -> String {
    let reference = document("reference.jsonl", reference_line, reference);
    let responses = document("responses.jsonl", response_line, responses);
    let mut told = String::new();
    let (questions, answers) = read_inputs(&reference, &responses, profile, options);
    if let Err(problems) = &questions {
        writeln!(told, "{problems:#?}").expect("told");
    } else if let Ok(questions) = &questions {
        writeln!(told, "{:#?}", questions.warnings()).expect("told");
    }
    let answers = match answers {
        Ok(answers) => answers,
        Err(problems) => return format!("{told}{problems:#?}"),
    };
    writeln!(told, "{:#?} {}", answers.problems(), answers.have_answers()).expect("told");
    let Ok(questions) = questions else { return told };
    writeln!(told, "{:#?}", answers.unknown(&responses, questions.ids())).expect("told");
    for (index, id) in questions.ids().enumerate() {
        let further = answers.further_trials(id).into_iter().map(Some);
        for trial in [None].into_iter().chain(further) {
            let room = CaseRoom::default();
            let read = ReadCase::of(&questions, &answers, (index, trial), &room).expect("read");
            assert_eq!(read.case().question.id, id);
            let first = trial.or_else(|| answers.first_trial(id));
            assert_eq!(first, read.case().trajectory.trial);
            writeln!(told, "{:?} {}", read.case(), answers.has(id)).expect("told");
        }
    }
    told
}

/// Compares inputs that are read at once with the same inputs read line by line, one of them or both.
fn check(reference: &[u8], responses: &[u8]) {
    for (profile, repeated_ids) in
        [(Profile::V5, RepeatedIds::LastCounts), (Profile::V6, RepeatedIds::Trials)]
    {
        let kept = ReadOptions { n_threads: 2, repeated_ids, kept_below: None };
        let wanted = told(reference, responses, &profile, kept);
        for (n_threads, kept_below) in [(1, 0), (3, 0), (2, 300)] {
            let options = ReadOptions { n_threads, kept_below: Some(kept_below), ..kept };
            let found = told(reference, responses, &profile, options);
            assert!(found == wanted, "{n_threads} threads:\n{found}\ninstead of:\n{wanted}");
        }
    }
}

#[test]
fn every_kind_of_line_is_read_alike() {
    for kind in 0..LINES {
        check(&[0, kind, 8, 0], &[0, 1, kind, 0, kind]);
    }
    let all: Vec<u8> = (0..GOOD_LINES).collect();
    check(&all, &(0..LINES).collect::<Vec<u8>>());
}

#[test]
fn more_oddities_than_are_told_are_counted_alike() {
    // Enough for several parts of the files.
    check(&[2].repeat(12_000), &[8].repeat(30_000));
    check(&[[3, 4, 8].as_slice(); 60].concat(), &[[2, 3, 18].as_slice(); 60].concat());
}

#[test]
fn a_line_that_is_another_by_now_is_none() {
    let responses = document("responses.jsonl", response_line, &[0]);
    let deferred = responses::read(&responses, RepeatedIds::default(), 1).expect("responses");
    let room = OnceLock::new();
    assert!(deferred.read("q0", None, &room).is_some_and(|own| own.answer.is_some()));
    assert!(deferred.read("q9", None, &room).is_some_and(|own| own.ending.is_error()));
    let other = r#"{"question_id": "q1", "actual_answer": "x"}"#;
    assert!(responses::read_again(other, &room).is_some_and(|(id, _)| id == "q1"));
    assert!(responses::read_again("\0\0", &room).is_none());
}

proptest! {
    #[test]
    fn any_lines_are_read_alike(
        reference in prop_oneof![
            3 => prop::collection::vec(0..GOOD_LINES, 0..12),
            1 => prop::collection::vec(0..LINES, 0..12),
        ],
        responses in prop::collection::vec(0..LINES, 0..24),
    ) {
        check(&reference, &responses);
    }
}
