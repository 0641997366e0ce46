use std::num::NonZero;

use proptest::prelude::*;

use super::parts::{about_lines, parts_of};
use super::record::MOST_STEPS;
use super::*;
use crate::{ReadOptions, read_both};
use juror_document::{DatasetError, Format, Spelling};
use juror_score::{Ending, Status};
use serde_json::value::RawValue;

#[test]
fn a_large_file_is_read_in_parts_as_if_it_were_one() {
    let answer = "x".repeat(1 << 16);
    let mut lines: Vec<String> = (0..160)
        .map(|id| format!(r#"{{"question_id": {id}, "actual_answer": "{answer}{id}"}}"#))
        .collect();
    lines[40] = "{".into();
    lines[80] = String::new();
    lines[120] = lines[3].replace(&answer, "later");
    lines[159] = lines[3].replace(&answer, "last");
    let text = lines.join("\n");
    assert_eq!(parts_of(&text).concat(), text);
    assert_eq!(parts_of(&text).len(), 8);
    let document = Document::new("r.jsonl", text.into_bytes(), Format::JsonLines).expect("a text");
    let reference = Document::new("r.json", b"[]".to_vec(), Format::Json).expect("a text");
    for n_threads in 1..4 {
        let (_, responses) =
            read_both(&reference, &document, ReadOptions { n_threads, ..ReadOptions::default() });
        let responses = responses.expect("responses");
        assert_eq!(responses.len(), 156);
        let last = &responses.by_question["3"].trajectory;
        assert_eq!(last.answer.map(RawValue::get), Some("\"last3\""));
        let places: Vec<usize> =
            responses.problems.errors.iter().map(|error| error.place.line).collect();
        assert_eq!(places, [41, 121, 160]);
    }
}

proptest! {
    #[test]
    fn parts_are_whole_lines(
        lengths in prop::collection::vec(0..1_usize << 20, 0..24),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        is_cut: bool,
    ) {
        let mut text: String =
            lengths.iter().map(|length| "x".repeat(*length) + end).collect();
        if is_cut {
            text.truncate(text.len().saturating_sub(end.len()));
        }
        let parts = parts_of(&text);
        prop_assert!(parts.concat() == text);
        prop_assert!(parts.len() <= 9);
        prop_assert!(parts[..parts.len() - 1].iter().all(|part| part.ends_with('\n')));
    }
}

fn places(document: &Document, questions: &[Question<'_>]) -> Vec<(usize, usize)> {
    let responses = read_responses(document).expect("responses");
    let mut problems = responses.problems.clone();
    problems.extend(responses.unknown(document, questions));
    problems.errors.iter().map(|error| (error.place.line, error.place.column)).collect()
}

#[test]
fn a_short_response_has_no_end_of_steps() {
    let record = |id: &str, step: &str, n: usize| {
        format!(r#"{{"question_id": "{id}", "actual_steps": [{}]}}"#, vec![step; n].join(","))
    };
    let text = [
        record("few", "{}", MOST_STEPS),
        record("many", "{}", MOST_STEPS + 1),
        record("long", r#"{"name": "search"}"#, MOST_STEPS + 1),
    ];
    let document =
        Document::new("r.jsonl", text.join("\n").into(), Format::JsonLines).expect("a text");
    let responses = read_responses(&document).expect("responses");
    let failed = |id: &str| responses.by_question[id].trajectory.ending.is_error();
    assert_eq!((failed("few"), failed("many"), failed("long")), (false, true, false));
    let told = responses.problems.errors[0].to_string();
    assert!(told.starts_with("r.jsonl:2:1: expected at most 65536 steps"), "{told}");
}

#[test]
fn a_status_says_error_however_it_is_written() {
    let text = [
        r#"{"question_id": "q", "status": "\u0065rror"}"#,
        r#"{"question_id": "\u0072", "st\u0061tus": "success", "actual_steps": ["#,
        r#"{"\u006eame": "s", "status": "\u0073uccess"}, {"name": "s", "status": "e\u0072ror"}]}"#,
    ];
    let text = format!("{}\n{}{}\n", text[0], text[1], text[2]);
    let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("a text");
    let responses = read_responses(&document).expect("responses");
    assert!(responses.by_question["q"].trajectory.ending.is_error());
    let other = &responses.by_question["r"].trajectory;
    let steps = other.steps.as_deref().expect("steps");
    assert!(!other.ending.is_error());
    assert_eq!((steps[0].status, steps[1].status), (Status::Success, Status::Error));
    assert_eq!(steps[0].name, "s");
    assert!(responses.problems.is_empty(), "{}", responses.problems);
    assert!(responses.other_keys(&document).is_empty());
}

#[test]
fn problems_of_the_first_lines_are_told_whatever_their_kind() {
    let mut text = b"{\n\n{}\n".to_vec();
    text.extend(b"\xff\n".repeat(Problems::MOST + 10));
    let document = Document::new("r.jsonl", text, Format::JsonLines).expect("a document");
    let responses = read_responses(&document).expect("responses");
    let lines: Vec<usize> =
        responses.problems.errors.iter().map(|error| error.place.line).collect();
    assert_eq!(lines[..3], [1, 3, 4]);
    assert_eq!((lines.len(), responses.problems.n_more), (Problems::MOST, 12));
}

#[test]
fn problems_in_yaml_have_the_place_of_their_record() {
    let text = b"- question_id: q1\n  actual_steps: wrong\n- question_id: q2\n".to_vec();
    let document = Document::new("r.yaml", text, Format::Yaml).expect("a document");
    // q1 cannot be read, and neither question is in the dataset.
    assert_eq!(places(&document, &[]), [(1, 3), (1, 3), (3, 3)]);
    let text = b"q1: wrong\nq2: {actual_answer: x}\n".to_vec();
    let document = Document::new("r.yaml", text, Format::Yaml).expect("a document");
    assert_eq!(places(&document, &[])[0].0, 1);
    assert_eq!(places(&document, &[])[2].0, 2);
}

#[test]
fn a_key_that_is_used_twice_in_yaml_is_told_where_it_stands() {
    let text = "- question_id: q1\n  actual_steps:\n  - name: a\n    output: x\n    output: y\n- question_id: q2\n  actual_steps: wrong\n- question_id: q3\n";
    let document = Document::new("r.yaml", text.into(), Format::Yaml).expect("a document");
    let responses = read_responses(&document).expect("responses");
    let told: Vec<String> = responses.problems.errors.iter().map(ToString::to_string).collect();
    assert!(told[0].starts_with("r.yaml:5:5: the key `output` is used twice"), "{told:?}");
    assert!(told[1].starts_with("r.yaml:6:3: invalid type"), "{told:?}");
    assert_eq!(told.len(), 2);
    let failed =
        |id: &str| matches!(responses.by_question[id].trajectory.ending, Ending::Failed(_));
    assert_eq!((failed("q1"), failed("q2"), failed("q3")), (true, true, false));
}

#[test]
fn many_keys_that_are_used_twice_are_each_looked_at_once() {
    let record = |id: usize| format!("- question_id: q{id}\n  x: 1\n  x: 2\n");
    let text: String = (0..60_000).map(record).collect();
    let document = Document::new("r.yaml", text.into(), Format::Yaml).expect("a document");
    let responses = read_responses(&document).expect("responses");
    assert_eq!((responses.len(), responses.problems.len()), (60_000, 60_000));
    let is_failed = |response: &Response| response.trajectory.ending.is_error();
    assert!(responses.by_question.values().all(is_failed));
    let same = "q1: {x: 1, x: 2}\n".repeat(3);
    let document = Document::new("r.yaml", same.into(), Format::Yaml).expect("a document");
    assert_eq!(document.repeated_keys().len(), 5, "and the id, twice");
    let told = read_responses(&document).expect("responses").problems;
    assert_eq!(told.len(), 3, "each once: {told}");
}

fn told_of(text: &str) -> Vec<String> {
    let document = Document::new("r.json", text.into(), Format::Json).expect("a document");
    let problems = read_responses(&document).expect("responses").problems;
    let hint = |error: &DatasetError| error.hint().unwrap_or_default();
    problems.errors.iter().map(|error| hint(error).spelled(Spelling::Program)).collect()
}

#[test]
fn a_key_that_is_there_is_not_what_another_one_means() {
    let record = r#"[{"question_id": "q", "status": "success", "error": null,
        "actual_answer": "x", "stats": {}, "errors": [], "total_token": 1}]"#;
    assert_eq!(told_of(record), ["did you mean `total_tokens`?"]);
    let without = record.replace(r#""status": "success", "error": null,"#, "");
    assert_eq!(told_of(&without).len(), 3);
}

#[test]
fn whether_a_key_is_a_mistake_depends_on_its_own_record() {
    let good = r#"{"question_id": "q1", "actual_answer": "x", "reference_answer": "x"}"#;
    let wrong = r#"{"question_id": "q2", "reference_answer": "x", "status": "success"}"#;
    let hint = ["did you mean `actual_answer`?"];
    assert_eq!(told_of(&format!("[{good}, {wrong}]")), hint);
    assert_eq!(told_of(&format!("[{wrong}, {good}]")), hint);
    // Juror's own results are responses again.
    let result = wrong.replace('{', r#"{"template_id": "t", "steps_score": 1.0, "#);
    assert_eq!(told_of(&format!("[{result}, {good}]")), [""; 0]);
}

#[test]
fn a_question_that_is_answered_twice_in_yaml_is_told_as_in_json() {
    let text = "q1: {}\nq2: {}\nq1: {}\n";
    let document = Document::new("r.yaml", text.into(), Format::Yaml).expect("a document");
    assert_eq!(read_responses(&document).expect("responses").problems.errors.len(), 1);
    assert_eq!(places(&document, &[])[0], (3, 5));
}

#[test]
fn words_for_numbers_that_are_none_are_read_as_texts() {
    let record = r#"{"question_id": "q1", "elapsed_sec": NaN, "input_tokens": -Infinity, "actual_steps": [{"name": "a", "args": {"x": [Infinity]}}]}"#;
    let texts = [
        (Format::JsonLines, format!("{{\"question_id\": \"q0\"}}\n{record}\n{{\"question_id\": \"q2\", \"total_tokens\": NaN}}\n")),
        (Format::Json, format!("[\n{record}\n]")),
        (Format::Json, format!("{{\"q1\":\n{record}\n}}")),
        (Format::Yaml, "- question_id: q1\n  elapsed_sec: .nan\n  input_tokens: -.inf\n  actual_steps: [{name: a, args: {x: [.inf]}}]\n".into()),
    ];
    for (format, text) in texts {
        let document = Document::new("r", text.clone().into(), format).expect("a document");
        let responses = read_responses(&document).expect("responses");
        let trajectory = &responses.by_question["q1"].trajectory;
        assert!(!trajectory.ending.is_error(), "{text}");
        let usage = trajectory.usage;
        assert_eq!(usage.elapsed_sec.map(RawValue::get), Some("\"NaN\""));
        assert_eq!(usage.input_tokens.map(RawValue::get), Some("\"-Infinity\""));
        let steps = trajectory.steps.as_deref().unwrap_or_default();
        assert_eq!(steps[0].arg("x").map(RawValue::get), Some("[\"Infinity\"]"));
        let told: Vec<String> = responses.problems.errors.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("r:2:"), "{told:?}");
        assert!(responses.problems.errors[0].problem.is_warning());
    }
}

#[test]
fn a_status_that_is_no_known_word_is_told_of_once() {
    let step = |status: &str| format!(r#"{{"name": "s", "output": "x", "status": {status}}}"#);
    let steps = [r#""ok""#, r#""success""#, "null", r#""ok""#, r#""error""#, r#""SUCCESS""#];
    let steps = steps.map(step).join(", ");
    let text = format!("{{\"question_id\": \"q1\", \"actual_steps\": [{steps}]}}\n");
    let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("lines");
    let responses = read_responses(&document).expect("responses");
    let told = responses.problems.errors.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(told.len(), 2, "{told:?}");
    let first = "unknown status `ok` of a step; the step cannot match, here and in 1 more place";
    assert!(told[0].contains(first), "{told:?}");
    assert!(told[0].ends_with("hint: write `success` or `error`, or leave it out"), "{told:?}");
    assert!(told[1].contains("`SUCCESS`"), "{told:?}");
    assert!(responses.problems.errors.iter().all(|error| error.problem.is_warning()));
}

#[test]
fn responses_whose_keys_are_all_misspelt_are_told_what_was_meant() {
    let told = |line: &str| {
        let text = format!("{line}\n").into_bytes();
        let document = Document::new("r.jsonl", text, Format::JsonLines).expect("lines");
        read_responses(&document).expect_err("no responses").to_string()
    };
    let answer = told(r#"{"question_id": "norway", "answer": "Oslo"}"#);
    assert!(answer.ends_with("hint: did you mean `actual_answer` by `answer`?"), "{answer}");
    let steps = told(r#"{"question_id": "norway", "actual_step": []}"#);
    assert!(steps.ends_with("did you mean `actual_steps` by `actual_step`?"), "{steps}");
    let other = told(r#"{"question_id": "norway", "moose": 1}"#);
    assert!(other.contains("hint: looked for"), "{other}");
}

#[test]
fn a_number_that_is_too_large_to_count_is_told_of() {
    let text = "{\"question_id\": \"q1\", \"output_tokens\": 1e400, \"input_tokens\": 5}\n";
    let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("lines");
    let responses = read_responses(&document).expect("responses");
    let told = responses.problems.to_string();
    let wanted = "`output_tokens` is too large a number, and is left out of the statistics";
    assert!(told.contains(wanted) && !told.contains("hint"), "{told}");
}

#[test]
fn a_record_with_such_a_word_and_another_mistake_is_told_as_others_are() {
    let text = "{\"question_id\": \"q1\", \"a\": NaN, \"actual_steps\": 5}\n{\"b\": NaN, x}\n";
    let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("lines");
    let responses = read_responses(&document).expect("responses");
    let told = responses.problems.errors.iter();
    let places: Vec<_> = told.map(|error| (error.place.line, error.place.column)).collect();
    assert_eq!(places, [(1, 28), (1, 49), (2, 12)]);
}

#[test]
fn a_small_file_is_one_part() {
    assert_eq!(parts_of("{}\n{}\n"), ["{}\n{}\n"]);
    assert_eq!(parts_of(""), [""]);
    let one_line = "x".repeat(9 << 20);
    assert_eq!(parts_of(&one_line).len(), 1);
}

#[test]
fn all_of_many_broken_lines_are_counted() {
    let text =
        "{\"question_id\": 1, \"actual_answer\": \"x\"}\n".to_owned() + &"x\n".repeat(20_000);
    let document = Document::new("r.jsonl", text.into_bytes(), Format::JsonLines).expect("a text");
    let problems = read_responses(&document).expect("responses").problems;
    assert_eq!(problems.errors.len() + problems.n_more, 20_000);
}

#[test]
fn short_lines_of_a_large_file_are_read_as_long_ones_are() {
    let long = "x".repeat(300);
    let lines = (0..40_000).map(|id| {
        let answer = if id % 2 == 0 { "" } else { &*long };
        format!("{{\"question_id\": {id}, \"actual_answer\": \"{id}{answer}\"}}\nx\n")
    });
    let mut text = lines.collect::<String>();
    text += &" \n".repeat(1 << 20);
    assert!(parts_of(&text).len() > 1);
    let reference = "[]".to_owned().into_bytes();
    let reference = Document::new("r.json", reference, Format::Json).expect("a text");
    let document = Document::new("r.jsonl", text.into_bytes(), Format::JsonLines).expect("a text");
    let (_, answers) =
        read_both(&reference, &document, ReadOptions { n_threads: 2, ..ReadOptions::default() });
    let (parts, whole) = (answers.expect("responses"), read_responses(&document).expect("all"));
    assert_eq!((parts.len(), whole.len()), (40_000, 40_000));
    assert_eq!(parts.problems.to_string(), whole.problems.to_string());
}

/// The answers to a question, each with its trial, in order.
fn answers(responses: &Responses<'_>, id: &str) -> Vec<(Option<u32>, String)> {
    let first = responses.by_question.get(id).into_iter();
    let further = responses.further.get(id).into_iter().flat_map(FurtherAnswers::values);
    let answer = |response: &Response<'_>| {
        let trajectory = &response.trajectory;
        let answer = trajectory.answer.map_or("none", RawValue::get);
        (trajectory.trial.map(NonZero::get), answer.trim_matches('"').to_owned())
    };
    first.chain(further).map(answer).collect()
}

/// Reads one answer to the question `q` per line; `None` for a line without a trial.
fn of_trials<T>(
    trials: &[Option<&str>],
    repeated_ids: RepeatedIds,
    look: impl FnOnce(&Responses<'_>) -> T,
) -> T {
    let line = |(at, trial): (usize, Option<&str>)| {
        let trial = trial.map(|trial| format!(r#""trial": {trial}, "#)).unwrap_or_default();
        format!("{{\"question_id\": \"q\", {trial}\"actual_answer\": \"{at}\"}}\n")
    };
    let text: String = trials.iter().copied().enumerate().map(line).collect();
    let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("lines");
    look(&read_responses_as(&document, repeated_ids).expect("responses"))
}

#[test]
fn several_answers_to_a_question_are_told_apart_by_their_trials() {
    let check = |trials: &[Option<&str>], repeated_ids, wanted: &[(Option<u32>, &str)]| {
        of_trials(trials, repeated_ids, |responses| {
            let wanted: Vec<_> =
                wanted.iter().map(|(trial, answer)| (*trial, (*answer).to_owned())).collect();
            assert_eq!(answers(responses, "q"), wanted, "{trials:?}");
            let n_replaced = trials.len() - wanted.len();
            assert_eq!((responses.len(), responses.problems.len()), (wanted.len(), n_replaced));
        });
    };
    for rule in [RepeatedIds::LastCounts, RepeatedIds::Trials] {
        check(&[None], rule, &[(None, "0")]);
        check(&[Some("1")], rule, &[(Some(1), "0")]);
        check(&[Some("3"), Some("1")], rule, &[(Some(1), "1"), (Some(3), "0")]);
        check(&[None, Some("2.0")], rule, &[(Some(1), "0"), (Some(2), "1")]);
        check(&[Some("2"), Some("2")], rule, &[(Some(2), "1")]);
    }
    check(&[None, None], RepeatedIds::LastCounts, &[(None, "1")]);
    check(&[Some("2"), None, None], RepeatedIds::LastCounts, &[(Some(1), "2"), (Some(2), "0")]);
    check(&[None, None], RepeatedIds::Trials, &[(Some(1), "0"), (Some(2), "1")]);
    let mixed = [(Some(1), "0"), (Some(5), "1"), (Some(6), "2")];
    check(&[None, Some("5"), None], RepeatedIds::Trials, &mixed);
}

#[test]
fn a_trial_that_is_replaced_is_told_by_its_number() {
    let told = of_trials(&[Some("2"), Some("2")], RepeatedIds::LastCounts, |responses| {
        responses.problems.to_string()
    });
    let wanted =
        "r.jsonl:2:1: trial 2 of the question `q` has another response; the last one counts";
    assert_eq!(told, wanted);
    let told = of_trials(&[None, None], RepeatedIds::LastCounts, |own| own.problems.to_string());
    assert!(told.ends_with(
        "hint: several answers to a question are told apart by `trial`: 1, 2 and so on"
    ));
}

#[test]
fn an_amount_below_0_is_told_of_once_for_each_key() {
    let text = r#"[{"question_id": "a", "total_tokens": -5, "elapsed_sec": -0.5},
        {"question_id": "b", "total_tokens": -7, "elapsed_sec": 0}]"#;
    let document = Document::new("r.json", text.into(), Format::Json).expect("JSON");
    let responses = read_responses(&document).expect("responses");
    let told = responses.problems.to_string();
    let wanted = "`total_tokens` is -5, and an amount cannot be below 0, here and in 1 more place";
    assert!(told.starts_with(&format!("r.json:1:39: {wanted}")), "{told}");
    assert!(told.contains("`elapsed_sec` is -0.5, and an amount cannot be below 0\n"), "{told}");
    assert!(responses.problems.errors.iter().all(|error| error.problem.is_warning()));
}

#[test]
fn a_trial_that_is_no_number_is_ignored_and_told_of_once() {
    let trials = [Some("0"), Some("\"b\""), Some("1.5"), Some("null"), Some("-1")];
    of_trials(&trials, RepeatedIds::Trials, |responses| {
        let numbers: Vec<_> = answers(responses, "q").into_iter().map(|own| own.0).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5].map(Some));
        let told = responses.problems.to_string();
        let wanted = "`trial` is not a whole number of at least 1, and is ignored, here and in 3 more places";
        assert!(told.starts_with(&format!("r.jsonl:1:31: {wanted}")), "{told}");
        assert!(responses.problems.errors.iter().all(|error| error.problem.is_warning()));
    });
}

#[test]
fn a_trial_that_cannot_be_read_is_an_error_of_this_trial() {
    let text = r#"[{"question_id": "q", "trial": 1, "actual_answer": "x"},
        {"question_id": "q", "trial": 2, "actual_steps": "wrong"}]"#;
    let document = Document::new("r.json", text.into(), Format::Json).expect("a document");
    let responses = read_responses(&document).expect("responses");
    assert_eq!(responses.len(), 2);
    let failed = &responses.further["q"][&NonZero::new(2_u32).expect("two")];
    assert!(failed.trajectory.ending.is_error());
    assert!(!responses.by_question["q"].trajectory.ending.is_error());
}

#[test]
fn very_many_answers_to_a_question_are_each_put_once() {
    let trials = vec![None; 50_000];
    of_trials(&trials, RepeatedIds::Trials, |responses| assert_eq!(responses.len(), 50_000));
}

proptest! {
    #[test]
    fn every_answer_has_the_trial_that_it_names(trials in prop::collection::vec(1..20_u32, 1..20)) {
        let written: Vec<String> = trials.iter().map(ToString::to_string).collect();
        let written: Vec<Option<&str>> = written.iter().map(|trial| Some(trial.as_str())).collect();
        let found = of_trials(&written, RepeatedIds::LastCounts, |own| answers(own, "q"));
        let last: std::collections::BTreeMap<u32, usize> =
            trials.iter().copied().zip(0..).collect();
        let wanted: Vec<_> =
            last.into_iter().map(|(trial, at)| (Some(trial), at.to_string())).collect();
        prop_assert_eq!(found, wanted);
    }
}

#[test]
fn room_is_made_for_records_and_not_for_lines_that_say_nothing() {
    let text = "}\n".repeat(100_000);
    assert!(about_lines(&text) <= text.len() / 20);
    let text = "{\"question_id\": \"1\", \"actual_answer\": \"x\"}\n".repeat(1_000);
    assert!((1_000..=1_200).contains(&about_lines(&text)));
}
