//! What holds whatever the data.

use juror_document::{Document, Format};
use juror_toolbench::answer::{
    Thoughts, convert, read_answer, read_answers, read_finish, write_answers,
};
use juror_toolbench::judged::{
    PassRate, Status, majority, read_final_verdict, read_judgements, read_points, write_judgements,
};
use juror_toolbench::result::read_result_file;
use juror_toolbench::{CallScore, Called};
use proptest::prelude::*;

/// A file of each kind.
const FILES: [&str; 6] = [
    r#"{"answer_generation": {"valid_data": true, "query": "é", "function": [{"name": "f"}],
        "train_messages": [[], [{"role": "system"}, {"role": "user"}, {"role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "\ud800"}]]}, "trys": [{"chain": []}]}"#,
    r#"{"tree": {"tree": {"node_type": "Action Input", "children": [{"node_type": "Action",
        "description": "f", "children": [{"node_type": "Action Input", "description": "{}",
        "observation": "o", "children": []}]}]}}, "answer_generation": {"valid_data": false}}"#,
    r#"{"1": {"query": "q", "available_tools": [{"function": {"name": "f"}}], "answer": {"method": "m",
        "final_answer": "{\"return_type\": \"give_answer\", \"final_answer\": \"x\"}", "answer_details":
        [{"role": "tool", "message": "{'name': 'f', 'argu", "next": [{"role": "tool", "message":
        {"name": "Finish"}, "next": []}]}]}}}"#,
    r#"{"1": {"query": "q", "tool_names": ["f"], "is_solved": {"0": "AnswerStatus.Solved"}}}"#,
    r#"{"1": {"a": 1, "b": 2, "round_0": "complete"}}"#,
    r#"{"metadata": {"framework": "f"}, "results": [{"query_id": 1, "scores": {"sopr_score": 1.0}}]}"#,
];

fn document(text: &str) -> Document {
    Document::new("file.json", text.into(), Format::Json).expect("UTF-8")
}

/// Reads a text as everything it could be, and what is read is written and read again.
fn read_all(text: &str) {
    let file = document(text);
    let answers = read_answers(&file).0;
    let again = document(&write_answers(&answers));
    assert_eq!(read_answers(&again).0.len(), answers.len(), "{text}");
    for thoughts in [Thoughts::Dropped, Thoughts::Kept] {
        if let Ok(recorded) = convert(&file, "DFS", thoughts) {
            let written = document(&write_answers(&[("1".into(), recorded.clone())]));
            // What is only copied may be broken, and is lost then.
            assert_eq!(read_answers(&written).0[0].1.answer, recorded.answer, "{text}");
        }
    }
    if let Some(answer) = read_answer(text) {
        let (_, _) = (answer.steps(), answer.has_finish());
    }
    let judgements = read_judgements(&file).0;
    let again = document(&write_judgements(&judgements));
    assert_eq!(read_judgements(&again).0, judgements, "{text}");
    let _ = (read_points(&file, "a", "b"), read_result_file(&file).0.summary());
    let _ = (read_finish(text), read_final_verdict(text));
}

fn statuses() -> impl Strategy<Value = Vec<Option<Status>>> {
    let status = prop_oneof![
        Just(None),
        Just(Some(Status::Solved)),
        Just(Some(Status::Unsure)),
        Just(Some(Status::Unsolved)),
    ];
    prop::collection::vec(status, 0..4)
}

proptest! {
    #[test]
    fn damaged_files_are_read_or_told(
        which in 0..FILES.len(),
        at in any::<prop::sample::Index>(),
        n_cut in 0..40_usize,
        inserted in r#"[\[\]{}":,\\ué0-9 ]{0,3}"#,
    ) {
        let mut chars: Vec<char> = FILES[which].chars().collect();
        let at = at.index(chars.len());
        let end = (at + n_cut).min(chars.len());
        chars.splice(at..end, inserted.chars());
        read_all(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn any_text_is_read_or_told(text in ".{0,60}") {
        read_all(&text);
    }

    #[test]
    fn rates_lie_between_nothing_and_all(queries in prop::collection::vec(statuses(), 0..8)) {
        let rate = PassRate::of(queries.iter().map(Vec::as_slice), 3);
        prop_assert_eq!(rate.runs.len(), 3);
        prop_assert!((0.0..=1.0).contains(&rate.rate) && (0.0..=0.5).contains(&rate.judge_noise));
        let mut reversed = queries.clone();
        reversed.reverse();
        prop_assert_eq!(PassRate::of(reversed.iter().map(Vec::as_slice), 3), rate);
    }

    #[test]
    fn one_more_query_without_an_answer_never_helps(queries in prop::collection::vec(statuses(), 0..8)) {
        let rate = PassRate::of(queries.iter().map(Vec::as_slice), 3);
        let more = queries.iter().map(Vec::as_slice).chain([[].as_slice()]);
        prop_assert!(PassRate::of(more, 3).rate <= rate.rate);
    }

    #[test]
    fn the_order_of_runs_does_not_matter(queries in statuses()) {
        let mut statuses: Vec<Status> = queries.into_iter().flatten().collect();
        let status = majority(&statuses);
        statuses.reverse();
        prop_assert_eq!(majority(&statuses), status);
    }

    #[test]
    fn other_calls_cost_precision_alone(called in prop::collection::vec("[ab]", 0..6), extra in "[c-e]") {
        let gold = [("t".to_owned(), "a".to_owned()), ("t".to_owned(), "b".to_owned())];
        let api = |name: &String| Called::Api("t".into(), name.clone().into());
        let mut called: Vec<Called<'_>> = called.iter().map(api).collect();
        let before = CallScore::of(&called, &gold);
        called.push(api(&extra));
        let after = CallScore::of(&called, &gold);
        prop_assert_eq!(after.score(), before.score());
        prop_assert!(after.precision() <= before.precision().or(Some(1.0)));
        prop_assert_eq!(after.n_other_calls, before.n_other_calls + 1);
    }
}
