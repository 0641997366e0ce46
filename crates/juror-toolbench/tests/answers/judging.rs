//! Judging with scripted replies, and what is summed up of it.

use std::collections::BTreeMap;

use juror_json::Object;
use juror_toolbench::answer::{Answer, Recorded, read_answer, read_answers};
use juror_toolbench::judged::{
    Ask, Basis, Contest, GiveUp, Judgement, Outcome, Pass, PassRate, Points, Progress, Round, Side,
    Solvability, Status, Vote, WinRate, begin, begin_with, final_answer_rate, first_shown, go_on,
    guess_status, passes, read_final_verdict, read_judgements, read_points, text_to_judge,
    write_judgements, write_judgements_csv, write_points,
};
use serde_json::{Value, json};

use crate::reading::{document, field};
use crate::{Checked, near, same, text};

fn rates(rate: &PassRate) -> Value {
    json!({"scores": rate.runs, "solve_rate": rate.rate * 100.0, "std": rate.judge_noise * 100.0})
}

/// The wanted fields that are also got.
pub(crate) fn those_of(wanted: &Value, got: &Value) -> Value {
    let fields = wanted.as_object().expect("an object").iter();
    fields.filter(|(key, _)| got.get(key).is_some()).map(|(k, v)| (k.clone(), v.clone())).collect()
}

fn sum_up(judgements: &[Judgement], n_runs: usize) -> PassRate {
    let statuses: Vec<_> = judgements.iter().map(|judged| judged.statuses(n_runs)).collect();
    PassRate::of(statuses.iter().map(Vec::as_slice), n_runs)
}

pub(crate) fn sopr(raw: &Object<'_>, input: &Value, wanted: &Value) -> Checked {
    let n_runs = usize::try_from(input["evaluate_times"].as_u64().expect("runs")).expect("few");
    // The recorded tables have the id as the query, one function, and nothing of the steps.
    let runs: Object<'_> = serde_json::from_str(field(raw, "is_solved")).expect("an object");
    let entry = |(id, runs): (std::borrow::Cow<'_, str>, &serde_json::value::RawValue)| {
        let id = json!(id);
        format!(
            r#"{id}: {{"query": {id}, "tool_names": ["f_for_t"], "is_solved": {}}}"#,
            runs.get()
        )
    };
    let entries: Vec<String> = runs.iter().map(entry).collect();
    let file = document(&format!("{{{}}}", entries.join(", ")));
    let (judgements, problems) = read_judgements(&file);
    assert!(problems.is_empty(), "{problems}");
    let again = document(&write_judgements(&judgements));
    assert_eq!(read_judgements(&again).0, judgements);
    let rate = sum_up(&judgements, n_runs);
    let got = rates(&rate);
    near(&those_of(&got, wanted), &those_of(wanted, &got))?;
    if let Some(printed) = wanted.get("printed") {
        let (rate, noise) = (rate.rate * 100.0, rate.judge_noise * 100.0);
        same(&json!(format!("Solve rate: {rate:.1}% Std: {noise:.1}%")), printed)?;
    }
    if let Some(csv) = wanted.get("csv") {
        same(&json!(write_judgements_csv(&judgements, "m")), csv)?;
    }
    for judged in judgements.iter().filter(|_| wanted.get("majority").is_some()) {
        // Without runs there is nothing to count.
        let Some(leading) = wanted["majority"][&judged.id].as_array() else {
            assert!(judged.is_solved.is_empty());
            continue;
        };
        let is_tie = leading.len() > 1;
        let word = judged.majority().file_word();
        // What is no status has no vote.
        let has_vote = leading.iter().all(|word| Status::of_file(text(word)).is_some());
        let wanted = if is_tie { "AnswerStatus.Unsure" } else { text(&leading[0]) };
        if has_vote {
            same(&json!(word), &json!(wanted))?;
        }
    }
    Ok(())
}

/// Goes through the questions with scripted replies; tells what was asked, and the outcome.
fn ask(
    begun: Progress,
    mut reply: impl FnMut(Ask) -> Result<Status, String>,
) -> (Vec<Ask>, Outcome) {
    let (mut asked, mut progress) = (Vec::new(), begun);
    loop {
        match progress {
            Progress::Done(outcome) => return (asked, outcome),
            Progress::Ask(ask) => {
                asked.push(ask);
                progress = go_on(ask, reply(ask));
            }
        }
    }
}

fn status(word: &Value) -> Result<Status, String> {
    Status::of_reply(text(word)).ok_or_else(|| format!("{word} is no status"))
}

fn function(ask: Ask) -> &'static str {
    match ask {
        Ask::Status => "check_answer_status",
        Ask::Detailed => "parse_answer_status",
    }
}

pub(crate) fn sopr_flow(
    raw: &Object<'_>,
    input: &Value,
    expected: &Value,
    wanted: &Value,
) -> Checked {
    let file = document(field(raw, "converted"));
    let (answers, problems) = read_answers(&file);
    assert!(problems.is_empty(), "{problems}");
    let n_runs = usize::try_from(input["evaluate_times"].as_u64().expect("runs")).expect("few");
    let selected: Vec<String> = match &input["test_ids"] {
        Value::Object(ids) => ids.keys().cloned().collect(),
        _ => answers.iter().map(|(id, _)| id.to_string()).collect(),
    };
    let mut calls: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut judgements, mut shown, mut names) = (Vec::new(), json!({}), json!({}));
    for id in &selected {
        let recorded = answers.iter().find(|(other, _)| other == id).map(|(_, recorded)| recorded);
        let query = recorded.map(|recorded| recorded.query.text().expect("a text").into_owned());
        let mut judged = recorded.map(|of| Judgement::of(id, of)).unwrap_or_default();
        for _ in 0..n_runs {
            let begun = begin(recorded.map(|recorded| &recorded.answer), GiveUp::Said);
            let query = query.as_deref().unwrap_or_default();
            let (asked, outcome) = ask(begun, |ask| {
                let key = if ask == Ask::Status { "check" } else { "parse" };
                status(&input["judge"][query][key])
            });
            for ask in asked {
                *calls.entry((function(ask).to_owned(), query.to_owned())).or_default() += 1;
            }
            judged.push(outcome.status);
        }
        if recorded.is_some() {
            let runs = judged.is_solved.iter().map(|(run, word)| (run.clone(), json!(word)));
            shown[id] = Value::Object(runs.collect());
            names[id] = json!(judged.tool_names);
        }
        judgements.push(judged);
    }
    same(&shown, &expected["is_solved"])?;
    same(&names, &expected["tool_names"])?;
    let calls: Vec<Value> =
        calls.iter().map(|((call, query), n)| json!([call, query, n])).collect();
    let mut wanted_calls = expected["judge_calls"].as_array().expect("calls").clone();
    wanted_calls.sort_by_key(ToString::to_string);
    same(&json!(calls), &json!(wanted_calls))?;
    let rate = sum_up(&judgements, n_runs);
    if let Some(denominator) = wanted.get("denominator") {
        same(&json!(rate.n_queries), denominator)?;
    }
    let got = rates(&rate);
    near(&got, &those_of(wanted, &got))
}

pub(crate) fn judge_unit(input: &Value, wanted: &Value) -> Checked {
    match text(&input["fn"]) {
        "check_is_solved" => check_is_solved(input, wanted),
        "is_passed" => {
            let query = match text(&input["task_status"]) {
                "Solvable" => Solvability::Solvable,
                "Unsolvable" => Solvability::Unsolvable,
                _ => Solvability::Unsure,
            };
            let got = match passes(status(&input["answer_status"])?, query) {
                Pass::Passed => "Passed",
                Pass::Unsure => "Unsure",
                Pass::Failed => "Failed",
            };
            same(&json!(got), wanted)
        }
        "normalized_openai_completions" => prefer(input, wanted),
        other => Err(format!("unknown function {other}")),
    }
}

/// Recorded of the public evaluation, which takes any mention of giving up for giving up.
fn check_is_solved(input: &Value, wanted: &Value) -> Checked {
    let give_up = if input["give_up"] == "said" { GiveUp::Said } else { GiveUp::Mentioned };
    let mut replies = input["judge_replies"].as_array().expect("replies").iter();
    let begun = begin_with(text(&input["final_answer"]), give_up);
    let (asked, outcome) = ask(begun, |_| status(replies.next().expect("a reply")));
    let asked: Vec<&str> = asked.into_iter().map(function).collect();
    same(&json!(asked), &wanted["functions_called"])?;
    if wanted["result"].get("raises").is_some() {
        let is_failed = matches!(outcome.basis, Basis::Failed(_));
        return same(&json!((is_failed, outcome.status.name())), &json!((true, "Unsure")));
    }
    let is_asked = matches!(outcome.basis, Basis::Judged(_));
    same(&json!(outcome.basis.reason().is_none()), &json!(is_asked))?;
    same(&json!(outcome.status.name()), &wanted["result"][0])
}

fn answer(final_answer: &str) -> Answer<'static> {
    let text = json!({"final_answer": final_answer, "answer_details": []}).to_string();
    read_answer(Box::leak(text.into_boxed_str())).expect("an answer")
}

fn prefer(input: &Value, wanted: &Value) -> Checked {
    let (reference, candidate) = (answer("one"), answer("two"));
    let statuses = Some((status(&input["statuses"][0])?, status(&input["statuses"][1])?));
    let contest = Contest { reference: Some(&reference), candidate: Some(&candidate), statuses };
    let calls = wanted["functions_called"].as_array().expect("calls");
    let is_asked = calls.contains(&json!("select_better_answer"));
    let vote = match contest.begin() {
        Round::Decided(vote) if !is_asked => vote,
        Round::Ask if is_asked => {
            let index = input["judge_index"].as_u64().expect("an index");
            Vote::of_index(index, Side::Reference).expect("a vote")
        }
        round => return Err(format!("{round:?}")),
    };
    let side = if wanted["preferred_index"] == 0 { Side::Reference } else { Side::Candidate };
    if vote == Vote::For(side) { Ok(()) } else { Err(format!("{vote:?}")) }
}

pub(crate) fn sowr(raw: &Object<'_>, wanted: &Value) -> Checked {
    let file = document(field(raw, "prefer"));
    let (queries, problems) = read_points(&file, "reference", "candidate");
    assert!(problems.is_empty(), "{problems}");
    let [win, tie, lose] = WinRate::of(queries.iter().map(|(_, points)| *points)).rates();
    let got = json!({"win_rate": win, "tie_rate": tie, "lose_rate": lose});
    near(&got, &those_of(wanted, &got))?;
    let votes = |(id, points): &(String, Points)| {
        let of =
            |side, n| std::iter::repeat_n(Some(Vote::For(side)), usize::try_from(n).expect("few"));
        let votes =
            of(Side::Reference, points.reference).chain(of(Side::Candidate, points.candidate));
        (id.clone(), votes.collect::<Vec<_>>())
    };
    let written =
        write_points(&queries.iter().map(votes).collect::<Vec<_>>(), "reference", "candidate");
    assert_eq!(read_points(&document(&written), "reference", "candidate").0, queries);
    Ok(())
}

pub(crate) fn heuristic(input: &Value, wanted: &Value) -> Checked {
    let score = input["api_call_score"].as_f64().expect("a score");
    let has_finish = input["has_finish"] == true;
    let status = guess_status(text(&input["final_answer"]), has_finish, score);
    same(
        &json!((status.name(), status.score())),
        &json!([wanted["answer_status"], wanted["sopr_score"]]),
    )
}

pub(crate) fn departure(case: &Value) -> Option<Checked> {
    passing(case).or_else(|| preferring(case)).or_else(|| final_answers(case))
}

pub(crate) fn finished(final_answer: &str) -> Answer<'static> {
    let details = json!([{"role": "tool", "message": {"name": "Finish"}, "next": []}]);
    let text = json!({"final_answer": final_answer, "answer_details": details}).to_string();
    read_answer(Box::leak(text.into_boxed_str())).expect("an answer")
}

fn passing(case: &Value) -> Option<Checked> {
    let solved: &[Option<Status>] = &[Some(Status::Solved)];
    Some(match text(&case["id"]) {
        "dep-sopr-1" => same(&json!(PassRate::of([solved, &[]], 1).rate), &json!(0.5)),
        "dep-sopr-2" => same(
            &rates(&PassRate::of([], 3)),
            &json!({"scores": [0.0, 0.0, 0.0],
            "solve_rate": 0.0, "std": 0.0}),
        ),
        "dep-sopr-3" => {
            let said =
                r#"{"return_type":"give_answer","final_answer":"never give_up_and_restart"}"#;
            let is_asked = begin(Some(&finished(said)), GiveUp::Said) == Progress::Ask(Ask::Status);
            same(&json!(is_asked), &json!(true))
        }
        "dep-sopr-4" => {
            let begun = begin(Some(&finished("x")), GiveUp::Said);
            let (_, outcome) = ask(begun, |_| Err("no status".to_owned()));
            let is_failed = outcome.basis == Basis::Failed("no status".to_owned());
            same(&json!((outcome.status.name(), is_failed)), &json!(("Unsure", true)))
        }
        "dep-sopr-5" => {
            let text = "The three largest cities are these: Oslo, Bergen and Trondheim.";
            same(
                &json!(guess_status(text, finished(text).has_finish(), 1.0).name()),
                &json!("Solved"),
            )
        }
        _ => return None,
    })
}

fn preferring(case: &Value) -> Option<Checked> {
    let (one, two) = (answer("one"), answer("two"));
    let both = |reference, candidate| {
        let statuses = Some((reference, candidate));
        Contest { reference: Some(&one), candidate: Some(&two), statuses }.begin()
    };
    let is = |got: Round, wanted: Round| {
        if got == wanted { Ok(()) } else { Err(format!("got {got:?}, wanted {wanted:?}")) }
    };
    let reference = Round::Decided(Vote::For(Side::Reference));
    Some(match text(&case["id"]) {
        "dep-sowr-1" => is(both(Status::Solved, Status::Unsure), reference),
        "dep-sowr-2" => {
            let mut judged = Judgement::default();
            for status in [Status::Solved, Status::Unsolved, Status::Solved] {
                judged.push(status);
            }
            is(both(judged.majority(), Status::Unsolved), reference)
        }
        "dep-sowr-3" => {
            let tools = r#"{"1": {"available_tools": [{"type": "function", "function": {"name": "f"}},
                {"name": "g"}], "answer": {}}}"#;
            let file = document(tools);
            let recorded: &Recorded<'_> = &read_answers(&file).0[0].1;
            same(&json!(recorded.tool_names()), &json!(["f", "g"]))
        }
        "dep-sowr-4" => {
            let contest = Contest { reference: Some(&one), candidate: None, statuses: None };
            is(contest.begin(), reference)
        }
        "dep-sowr-5" => {
            let votes = vec![Some(Vote::For(Side::Reference)), None, Some(Vote::Tie)];
            let written = write_points(&[("1".to_owned(), votes)], "a", "b");
            let rounds = json!({"a": 1, "b": 0, "round_0": "complete", "round_1": "incomplete",
                "round_2": "complete"});
            same(&serde_json::from_str(&written).expect("JSON"), &json!({"1": rounds}))
        }
        _ => return None,
    })
}

fn final_answers(case: &Value) -> Option<Checked> {
    Some(match text(&case["id"]) {
        "dep-fac-1" => {
            let reply = "Answer Status: Solved\nReason: no part is left unsolved";
            same(&json!(i32::from(read_final_verdict(reply))), &case["recommended_value"])
        }
        "dep-fac-2" => {
            let answer = finished(r#"{"return_type": "give_answer", "final_answer": "Oslo"}"#);
            same(&json!(text_to_judge(Some(&answer))), &json!("Oslo"))
        }
        "dep-fac-3" => {
            let is_asked = text_to_judge(None).is_some();
            same(&json!((is_asked, final_answer_rate([true], 2))), &json!((false, 0.5)))
        }
        _ => return None,
    })
}

#[test]
fn answers_are_shown_first_in_turn() {
    for query in 0..4 {
        let n_first = (0..4).filter(|round| first_shown(query, *round) == Side::Reference).count();
        assert_eq!(n_first, 2);
    }
    let n_first = (0..4).filter(|query| first_shown(*query, 0) == Side::Reference).count();
    assert_eq!(n_first, 2);
}

#[test]
fn the_same_answer_twice_ties_and_unknown_statuses_are_found_first() {
    let (one, same) = (answer("one"), answer("one"));
    let contest = |statuses| Contest { reference: Some(&one), candidate: Some(&same), statuses };
    assert_eq!(contest(None).begin(), Round::NeedsStatuses);
    let unsure = Some((Status::Unsure, Status::Unsure));
    assert_eq!(contest(unsure).begin(), Round::Decided(Vote::Tie));
    let neither = Contest { reference: None, candidate: None, statuses: None };
    assert_eq!(neither.begin(), Round::Decided(Vote::Tie));
    assert_eq!(Vote::of_index(2, Side::Reference), None);
    assert_eq!(Vote::of_index(1, Side::Candidate), Some(Vote::For(Side::Reference)));
}
