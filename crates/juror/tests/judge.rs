//! Judging recorded answers of agents: the program against a scripted server.

#![expect(clippy::print_stderr, reason = "tests tell what they skipped")]

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use juror_scripted::{Fault, Matching, Reply, Script, Server};
use serde_json::{Value, json};

/// A folder with answers, and a server to ask.
struct Stage {
    folder: tempfile::TempDir,
    server: Server,
}

struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Stage {
    fn new(script: Script) -> Stage {
        Stage { folder: tempfile::tempdir().expect("a folder"), server: Server::start(script) }
    }

    fn file(self, name: &str, content: &Value) -> Stage {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content.to_string()).expect("a file");
        self
    }

    fn run_with(&self, line: &str, has_key: bool) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("OPENAI_BASE_URL", format!("{}/v1", self.server.address()))
            .stdin(Stdio::null());
        if has_key {
            command.env("OPENAI_API_KEY", "sk-scripted");
        }
        let output = command.output().expect("the program starts");
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn run(&self, line: &str) -> Ended {
        self.run_with(line, true)
    }

    /// Runs a command that prints JSON.
    fn json(&self, line: &str, code: i32) -> Value {
        let ended = self.run(&format!("{line} --json"));
        assert_eq!(ended.code, code, "{}{}", ended.stdout, ended.stderr);
        serde_json::from_str(&ended.stdout).expect("JSON")
    }

    fn written(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.folder.path().join(name)).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// A converted answer that ends with a call of `Finish`.
fn answer(query: &str, final_answer: &str) -> Value {
    let finish = json!({"role": "tool", "message": {"name": "Finish", "arguments": {}, "response": ""}, "next": []});
    let call = json!({"role": "tool", "next": [finish],
        "message": {"name": "look_for_tool", "arguments": {"q": 1}, "response": "found"}});
    json!({"query": query, "available_tools": [{"name": "look_for_tool"}], "answer": {
        "method": "CoT@1", "total_steps": 3, "final_answer": final_answer,
        "answer_details": [{"role": "system", "message": "", "next": [call]}]}})
}

fn status(word: &str) -> Reply {
    Reply::Json(json!({"answer_status": word, "reason": format!("because {word}")}))
}

fn replies(of: &[(&str, Vec<Reply>)]) -> BTreeMap<String, Vec<Reply>> {
    of.iter().map(|(purpose, replies)| ((*purpose).to_owned(), replies.clone())).collect()
}

fn matching(contains: &str, reply: Reply) -> Matching {
    Matching { purpose: None, contains: contains.into(), reply }
}

fn of_purpose(purpose: &str, contains: &str, reply: Reply) -> Matching {
    Matching { purpose: Some(purpose.into()), ..matching(contains, reply) }
}

fn statuses(summary: &Value) -> Vec<&str> {
    let queries = summary["queries"].as_array().expect("queries");
    queries.iter().map(|query| query["status"].as_str().expect("a status")).collect()
}

#[test]
fn answers_are_solved_unsolved_or_asked_about_again() {
    let script = Script {
        matching: vec![
            of_purpose("answer_status", "zright", status("Solved")),
            of_purpose("answer_status", "zwrong", status("Unsolved")),
            of_purpose("answer_status", "zopen", status("Unsure")),
            of_purpose("answer_status_detailed", "zopen one", status("Solved")),
            of_purpose("answer_status_detailed", "zopen two", status("Unsure")),
        ],
        ..Script::default()
    };
    let mut unfinished = answer("q6", "zright");
    unfinished["answer"]["answer_details"] = json!([]);
    let gave_up = answer("q7", r#"{"return_type": "give_up_and_restart"}"#);
    let answers = json!({"1": answer("q1", "zright"), "2": answer("q2", "zwrong"),
        "3": answer("q3", "zopen one"), "4": answer("q4", "zopen two"), "5": answer("q5", ""),
        "6": unfinished, "7": gave_up});
    let stage = Stage::new(script).file("answers.json", &answers);
    let line = "judge pass-rate answers.json -o out.json --csv out.csv";
    let summary = stage.json(line, 0);
    let wanted = ["Solved", "Unsolved", "Solved", "Unsure", "Unsolved", "Unsolved", "Unsolved"];
    assert_eq!(statuses(&summary), wanted);
    assert_eq!(summary["solve_rate"], json!(2.5 / 7.0));
    assert_eq!(summary["queries"][0]["reason"], "because Solved");
    assert_eq!(summary["queries"][5]["reason"], "the agent did not call Finish");
    assert_eq!(stage.server.seen().len(), 6, "four statuses and two in detail");
    let written = stage.written("out.json");
    assert_eq!(written["3"]["is_solved"], json!({"0": "AnswerStatus.Solved"}));
    assert_eq!(written["3"]["judged_by"], "openai/gpt-4o-mini");
    assert_eq!(written["3"]["tool_names"], json!(["look_for_tool"]));
    assert!(
        written["3"]["answer_steps"].as_str().expect("steps").starts_with("Step 1: {'arguments'")
    );
    let csv = fs::read_to_string(stage.folder.path().join("out.csv")).expect("a table");
    assert!(csv.starts_with("query\tavailable_tools\tmodel_intermediate_steps"), "{csv}");
    // The same again asks nothing.
    let again = stage.json(line, 0);
    assert_eq!(statuses(&again), wanted);
    assert_eq!(stage.server.seen().len(), 6);
    let text = stage.run("judge pass-rate answers.json");
    assert!(
        text.stdout.starts_with(
            "SoPR (solvable pass rate; unsure counts half): 35.7 %\n\
             judged by openai/gpt-4o-mini\n7 queries: "
        ),
        "{}",
        text.stdout
    );
}

#[test]
fn most_runs_decide_and_their_spread_is_noise() {
    let runs = vec![status("Solved"), status("Solved"), status("Unsolved")];
    let script = Script { replies: replies(&[("answer_status", runs)]), ..Script::default() };
    let stage = Stage::new(script).file("answers.json", &json!({"1": answer("q", "a")}));
    let summary =
        stage.json("judge pass-rate answers.json --repeats 3 --concurrency 1 -o out.json", 0);
    assert_eq!(summary["runs"], json!([1.0, 1.0, 0.0]));
    assert_eq!(statuses(&summary), ["Solved"]);
    let noise = summary["judge_noise"].as_f64().expect("a number");
    assert!((noise - (2.0_f64 / 9.0).sqrt()).abs() < 1e-12, "{noise}");
    let is_solved = stage.written("out.json")["1"]["is_solved"].clone();
    assert_eq!(is_solved["2"], "AnswerStatus.Unsolved");
}

#[test]
fn a_reply_without_a_verdict_is_unsure_and_a_judge_that_cannot_be_asked_is_left_out() {
    let script = Script {
        matching: vec![
            matching("zfine", status("Solved")),
            matching("zmalformed", Reply::Json(json!({"answer_status": "Perhaps"}))),
            matching("zgarbled", Reply::Text("well, solved I think".into())),
            matching("zdeclined", Reply::Refusal("I would rather not".into())),
            matching("zbroken", Reply::Status { status: 500, retry_after: None, body: None }),
        ],
        faults: vec![Fault {
            calls: vec![1],
            purpose: None,
            reply: Reply::Status { status: 429, retry_after: Some("0".into()), body: None },
        }],
        ..Script::default()
    };
    let texts = ["zfine", "zmalformed", "zgarbled", "zdeclined", "zbroken"];
    let answers: serde_json::Map<String, Value> =
        texts.iter().map(|text| ((*text).to_owned(), answer("q", text))).collect();
    let stage = Stage::new(script).file("answers.json", &Value::Object(answers));
    fs::write(
        stage.folder.path().join("juror.yaml"),
        "llm: {retries: 1, generation: {provider: openai, model: gpt-4o-mini}}\n",
    )
    .expect("settings");
    let summary =
        stage.json("judge pass-rate answers.json -c juror.yaml --concurrency 1 -o out.json", 3);
    assert_eq!(summary["n_errors"], 4, "{summary:#}");
    assert_eq!((&summary["n_unusable"], &summary["n_unjudged"]), (&json!(3), &json!(1)));
    assert_eq!((&summary["n_queries"], &summary["n_judged_queries"]), (&json!(5), &json!(4)));
    assert_eq!(summary["solve_rate"], json!(2.5 / 4.0));
    for query in summary["queries"].as_array().expect("queries") {
        let (status, reason) = match query["query_id"].as_str().expect("an id") {
            "zfine" => ("Solved", "because Solved"),
            "zbroken" => ("Unjudged", "the judge could not be asked: "),
            _ => ("Unsure", "the judge gave no verdict: "),
        };
        assert_eq!(query["status"], status, "{query}");
        assert!(query["reason"].as_str().expect("a reason").starts_with(reason), "{query}");
    }
    let written = stage.written("out.json");
    assert_eq!(written["zgarbled"]["is_solved"]["0"], "AnswerStatus.Unsure");
    assert!(written.get("zbroken").is_none(), "the file sums up to the same rate");
}

#[test]
fn rates_say_how_many_queries_they_are_over() {
    let refused = Reply::Status { status: 400, retry_after: None, body: None };
    let script = Script { matching: vec![matching("zbroken", refused)], ..Script::default() };
    let answers = json!({"1": answer("q", "zbroken"), "2": answer("q", "")});
    let others = json!({"1": answer("q", "zother"), "2": answer("q", "")});
    let stage = Stage::new(script).file("answers.json", &answers).file("other.json", &others);
    let text = stage.run("judge pass-rate answers.json").stdout;
    assert!(text.contains("unsure counts half): 0.0 %, over 1 of 2 queries"), "{text}");
    assert!(text.contains("0 solved, 0 unsure, 1 unsolved, 1 unjudged;"), "{text}");
    let text = stage.run("judge final-answer answers.json").stdout;
    assert!(text.contains("right: 0.0 %, over 1 of 2 queries"), "{text}");
    assert!(text.contains("0 solved, 1 unsolved, 1 unjudged"), "{text}");
    assert_eq!(stage.json("judge final-answer answers.json", 3)["n_judged_queries"], 1);
    let text = stage.run("judge preference answers.json other.json").stdout;
    assert!(text.contains("100.0 % tied, 0.0 % lost, over 1 of 2 queries"), "{text}");
    assert!(text.contains("0 won, 1 tied, 0 lost, 1 unjudged;"), "{text}");
    let one = |text| json!({"1": answer("q", text)});
    let stage = stage.file("one.json", &one("zbroken")).file("two.json", &one("zother"));
    let text = stage.run("judge preference one.json two.json").stdout;
    assert!(!text.contains("0.0 %"), "{text}");
    assert!(text.contains("not known, since nothing could be judged"), "{text}");
}

#[test]
fn a_judge_that_refuses_every_call_scores_nothing() {
    let refused = Reply::Status { status: 400, retry_after: None, body: None };
    let script = Script { matching: vec![matching("", refused)], ..Script::default() };
    let answers = json!({"1": answer("q", "a"), "2": answer("q", "b"), "3": answer("q", "")});
    let stage = Stage::new(script).file("answers.json", &answers).file(
        "other.json",
        &json!({
        "1": answer("q", "c"), "2": answer("q", "b"), "3": answer("q", "d")}),
    );
    let summary = stage.json("judge pass-rate answers.json -o out.json", 3);
    assert_eq!((&summary["solve_rate"], &summary["n_unjudged"]), (&json!(0.0), &json!(2)));
    assert_eq!(summary["n_judged_queries"], 1, "an empty answer is unsolved without asking");
    let text = stage.run("judge pass-rate answers.json").stdout;
    assert!(text.contains("2 left out: the judge could not be asked"), "{text}");
    let summary = stage.json("judge final-answer answers.json -o final.json", 3);
    assert_eq!((&summary["final_answer_rate"], &summary["n_unjudged"]), (&json!(0.0), &json!(2)));
    assert_eq!(stage.written("final.json")["1"]["answer_status"], "Unjudged");
    let summary = stage.json("judge preference answers.json other.json", 3);
    let counts = ["n_wins", "n_ties", "n_losses", "n_unjudged"].map(|name| summary[name].as_u64());
    assert_eq!(counts, [0, 0, 0, 3].map(Some), "{summary:#}");
    assert_eq!(summary["win_rate"], Value::Null, "nothing was judged");
    let only = Stage::new(Script {
        matching: vec![matching("", Reply::Status { status: 400, retry_after: None, body: None })],
        ..Script::default()
    });
    let only = only.file("answers.json", &json!({"1": answer("q", "a")}));
    assert_eq!(only.json("judge pass-rate answers.json", 3)["solve_rate"], Value::Null);
    let text = only.run("judge pass-rate answers.json").stdout;
    assert!(text.starts_with("SoPR (solvable pass rate; unsure counts half): not known"), "{text}");
}

#[test]
fn a_judge_that_cannot_be_asked_leaves_earlier_files_alone() {
    let refused = Reply::Status { status: 400, retry_after: None, body: None };
    let script = Script { matching: vec![matching("", refused)], ..Script::default() };
    let answers = json!({"1": answer("q", "a"), "2": answer("q", "")});
    let stage = Stage::new(script).file("answers.json", &answers);
    let stage = stage.file("out.json", &json!("earlier")).file("out.csv", &json!("earlier"));
    let ended = stage.run("judge pass-rate answers.json -o out.json --csv out.csv -q");
    assert_eq!((ended.code, ended.stdout.as_str()), (3, ""), "{}", ended.stderr);
    assert_eq!([stage.written("out.json"), stage.written("out.csv")], ["earlier", "earlier"]);
    let told = "error: 1 of 2 answers could not be judged: ";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    let ended = stage.run("judge pass-rate answers.json -o out.json");
    assert!(ended.stderr.contains("no file was written"), "{}", ended.stderr);
}

/// A result of a benchmark run.
fn result(id: u32, final_answer: &str) -> Value {
    json!({"query_id": id, "query_text": format!("query {id}"),
        "system_answer": {"final_answer": final_answer}})
}

#[test]
fn several_answers_to_a_query_are_all_judged() {
    let script = Script {
        matching: vec![
            matching("zright", status("Solved")),
            matching("zwrong", status("Unsolved")),
        ],
        ..Script::default()
    };
    let results = json!({"metadata": {}, "results": [
        result(1, "zright"), result(1, "zright too"), result(1, "zwrong"),
        result(2, "zwrong"), result(2, "zwrong too"), result(2, "zwrong again"),
        result(3, "zright"),
    ]});
    let stage = Stage::new(script).file("results.json", &results);
    let summary = stage.json("judge pass-rate results.json -o out.json", 0);
    assert_eq!((&summary["n_queries"], &summary["n_answers"]), (&json!(3), &json!(7)));
    let rate = summary["solve_rate"].as_f64().expect("a rate");
    assert!((rate - (2.0 / 3.0 + 0.0 + 1.0) / 3.0).abs() < 1e-12, "{rate}");
    let trials: Vec<&Value> =
        summary["queries"].as_array().expect("queries").iter().map(|one| &one["trial"]).collect();
    assert_eq!(json!(trials), json!([1, 2, 3, 1, 2, 3, null]));
    let written = stage.written("out.json");
    let keys: Vec<&String> = written.as_object().expect("an object").keys().collect();
    assert_eq!(keys.len(), 7);
    assert_eq!(written["1#3"]["is_solved"]["0"], "AnswerStatus.Unsolved");
    let final_answers = stage.json("judge final-answer results.json", 0);
    assert_eq!(final_answers["n_answers"], 7);
    let rate = final_answers["final_answer_rate"].as_f64().expect("a rate");
    assert!((rate - 5.0 / 9.0).abs() < 1e-12, "{rate}");
    let one = json!({"results": [result(1, "zright"), result(2, "zwrong"), result(3, "zright")]});
    let stage = stage.file("one.json", &one);
    let refused = stage.run("judge preference one.json results.json");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("the query `1` has 1 answers"), "{}", refused.stderr);
    let paired = stage.json("judge preference results.json results.json --candidate-name b", 0);
    assert_eq!((&paired["n_answers"], &paired["n_ties"]), (&json!(7), &json!(7)));
}

#[test]
fn sets_that_share_ids_stay_apart() {
    let script = Script {
        matching: vec![
            matching("zright", status("Solved")),
            matching("zwrong", status("Unsolved")),
        ],
        ..Script::default()
    };
    let of = |set: &str, id, text| {
        let mut one = result(id, text);
        one["test_set"] = json!(set);
        one
    };
    let results = json!({"results": [of("G1_instruction", 1, "zright"), of("G1_tool", 1, "zwrong"),
        of("G1_tool", 2, "zwrong")]});
    let stage = Stage::new(script).file("results.json", &results);
    let summary = stage.json("judge pass-rate results.json -o out.json", 0);
    assert_eq!(summary["n_queries"], 3);
    assert_eq!(statuses(&summary), ["Solved", "Unsolved", "Unsolved"]);
    assert_eq!(summary["queries"][1]["test_set"], "G1_tool");
    let written = stage.written("out.json");
    assert_eq!(written["G1_tool/1"]["is_solved"]["0"], "AnswerStatus.Unsolved");
    assert!(written.get("2").is_some(), "what no other set has is known by its id");
}

#[test]
fn answers_are_found_where_sets_are_named_in_one_place_alone() {
    let script = Script { matching: vec![matching("", status("Solved"))], ..Script::default() };
    let of = |set: &str, id| {
        let mut one = result(id, "zright");
        one["test_set"] = json!(set);
        one
    };
    let query = |id| json!({"query_id": id, "query": "q", "api_list": []});
    let stage = Stage::new(script)
        .file("results.json", &json!({"results": [of("G1", 1), of("G2", 2)]}))
        .file("converted.json", &json!({"1": answer("q", "zright"), "2": answer("q", "zright")}))
        .file("shared.json", &json!({"results": [of("G1", 1), of("G2", 1)]}))
        .file("all.json", &json!([query(1), query(2)]));
    let summary = stage.json("judge pass-rate results.json --queries all.json", 0);
    assert_eq!((&summary["n_missing"], statuses(&summary).len()), (&json!(0), 2));
    for line in ["results.json converted.json", "converted.json results.json"] {
        let paired = stage.json(&format!("judge preference {line}"), 0);
        assert_eq!(paired["n_queries"], 2, "{line}: {paired}");
    }
    let refused = stage.run("judge pass-rate shared.json --queries all.json");
    let told = "shared.json: `1` is the id of a query of `G1` and of `G2`";
    assert_eq!((refused.code, refused.stderr.contains(told)), (2, true), "{}", refused.stderr);
}

#[test]
fn queries_whose_agent_crashed_are_unsolved() {
    let script = Script { matching: vec![matching("", status("Solved"))], ..Script::default() };
    let results = json!({"metadata": {"agent_name": "mas"}, "results": [
        result(1, "zright"), {"query_id": 2, "query": "q2", "error": "KeyError: 'x'"},
        {"query_id": 3, "error": "timeout", "system_answer": null}]});
    let stage = Stage::new(script).file("results.json", &results);
    let summary = stage.json("judge pass-rate results.json", 0);
    assert_eq!(statuses(&summary), ["Solved", "Unsolved", "Unsolved"]);
    assert_eq!((&summary["n_missing"], &summary["solve_rate"]), (&json!(2), &json!(1.0 / 3.0)));
    assert_eq!(summary["n_agent_errors"], 2);
    let said = stage.run("judge pass-rate results.json").stdout;
    assert!(said.contains("2 without an answer (2 because the agent failed)"), "{said}");
}

#[test]
fn ids_select_answers_without_queries() {
    let script = Script { matching: vec![matching("", status("Solved"))], ..Script::default() };
    let answers = json!({"1": answer("q", "a"), "2": answer("q", "b"), "3": answer("q", "c")});
    let stage =
        Stage::new(script).file("answers.json", &answers).file("ids.json", &json!([3, "1", 9]));
    let summary = stage.json("judge pass-rate answers.json --ids ids.json", 0);
    assert_eq!(statuses(&summary), ["Solved", "Solved", "Unsolved"], "9 has no answer");
    assert_eq!(summary["solve_rate"], json!(2.0 / 3.0));
}

#[test]
fn another_server_is_asked_though_its_model_has_the_same_name() {
    let script = |word| Script { matching: vec![matching("", status(word))], ..Script::default() };
    let mut stage =
        Stage::new(script("Solved")).file("answers.json", &json!({"1": answer("q", "a")}));
    let line = "judge pass-rate answers.json";
    assert_eq!(stage.json(line, 0)["solve_rate"], 1.0);
    stage.server = Server::start(script("Unsolved"));
    assert_eq!(stage.json(line, 0)["solve_rate"], 0.0, "its verdict is its own");
    let replayed = stage.json(&format!("{line} --cache-mode read-only"), 0);
    assert_eq!((&replayed["solve_rate"], stage.server.seen().len()), (&json!(0.0), 1));
}

fn two_queries() -> Value {
    let query = |id: &str| {
        json!({"query_id": id, "query": format!("query {id}"),
        "relevant APIs": [["Tool", "look"]],
        "api_list": [{"category_name": "C", "tool_name": "Tool", "api_name": "look"}]})
    };
    json!([query("1"), query("2"), query("3")])
}

#[test]
fn all_selected_queries_count() {
    let script = Script { matching: vec![matching("", status("Solved"))], ..Script::default() };
    let answers = json!({"1": answer("q", "a"), "9": answer("q", "a")});
    let stage = Stage::new(script)
        .file("answers.json", &answers)
        .file("queries/test_instruction/G1.json", &two_queries())
        .file("queries/test_query_ids/G1.json", &json!(["1", "2"]))
        .file("three.json", &json!({"1": 0, "2": 0, "3": 0}));
    let line = "judge pass-rate answers.json --queries queries --set G1 -o out.json";
    let summary = stage.json(line, 0);
    assert_eq!((&summary["n_queries"], &summary["n_missing"]), (&json!(2), &json!(1)));
    assert_eq!(summary["solve_rate"], 0.5);
    assert_eq!(statuses(&summary), ["Solved", "Unsolved"]);
    let written = stage.written("out.json");
    assert_eq!(written["2"]["is_solved"]["0"], "AnswerStatus.Unsolved");
    assert_eq!(written["2"]["query"], "query 2");
    assert!(written["9"].is_null());
    let three = stage.json(&format!("{line} --ids three.json"), 0);
    assert_eq!(three["n_queries"], 3);
    let final_answers = stage.json("judge final-answer answers.json --queries queries --set G1", 0);
    assert_eq!(final_answers["final_answer_rate"], 0.5);
    let told = stage.run("judge pass-rate answers.json --queries queries");
    assert!(told.code == 2 && told.stderr.contains("there are G1"), "{}", told.stderr);
}

#[test]
fn guesses_are_asked_for_and_labelled() {
    let long = "Here is what was found about the matter, in all the detail that was wanted.";
    let answers =
        json!({"1": answer("q", long), "2": answer("q", "Sorry, this cannot be done by me")});
    let stage = Stage::new(Script::default())
        .file("answers.json", &answers)
        .file("queries.json", &two_queries());
    let ended = stage.run_with("judge pass-rate answers.json --queries queries.json", false);
    assert!(ended.code == 2 && ended.stderr.contains("hint: --heuristic"), "{}", ended.stderr);
    let ended = stage.run_with("judge pass-rate answers.json --heuristic", false);
    assert!(ended.code == 2 && ended.stderr.contains("--queries"), "{}", ended.stderr);
    let line = "judge pass-rate answers.json --queries queries.json --heuristic -o out.json";
    let ended = stage.run_with(line, false);
    let label = "SoPR (solvable pass rate; unsure counts half; heuristic, a guess): ";
    assert!(ended.stdout.starts_with(label), "{}", ended.stdout);
    assert!(!ended.stdout.contains("noise"), "one run has none: {}", ended.stdout);
    let summary = stage.json(line, 0);
    assert_eq!(summary["judged_by"], "heuristic");
    assert_eq!(statuses(&summary), ["Solved", "Unsolved", "Unsolved"]);
    assert_eq!(stage.written("out.json")["1"]["judged_by"], "heuristic");
    assert!(stage.server.seen().is_empty());
}

#[test]
fn the_better_answer_wins_in_both_orders() {
    let script = Script {
        matching: vec![
            of_purpose("answer_status", "zsolves", status("Solved")),
            of_purpose("answer_status", "zfails", status("Unsolved")),
            // Whoever is shown first is liked better: neither may gain from it.
            of_purpose("better_answer", "", Reply::Json(json!({"index": 0, "reason": "first"}))),
        ],
        ..Script::default()
    };
    let reference = json!({"1": answer("q1", "zsolves"), "2": answer("q2", "zfails"),
        "3": answer("q3", "zsolves one"), "4": answer("q4", "zsolves"), "5": answer("q5", "zsolves")});
    let candidate = json!({"1": answer("q1", "zfails"), "2": answer("q2", "zsolves"),
        "3": answer("q3", "zsolves two"), "4": answer("q4", "zsolves")});
    let stage = Stage::new(script).file("one/G1.json", &reference).file("two/G1.json", &candidate);
    let line = "judge preference one/G1.json two/G1.json -o out.json --csv out.csv";
    let summary = stage.json(line, 0);
    let better: Vec<&str> = summary["queries"]
        .as_array()
        .expect("queries")
        .iter()
        .map(|query| query["better"].as_str().expect("who"))
        .collect();
    assert_eq!(better, ["reference", "candidate", "tie", "tie", "reference"]);
    assert_eq!(summary["queries"][2]["rounds"], json!(["reference", "candidate"]));
    let rates = ["n_wins", "n_ties", "n_losses"].map(|name| summary[name].as_u64());
    assert_eq!(rates, [Some(1), Some(2), Some(2)]);
    let written = stage.written("out.json");
    let wanted = json!({"one": 1, "two": 1, "round_0": "complete", "round_1": "complete"});
    assert_eq!(written["3"], wanted);
    let table = fs::read_to_string(stage.folder.path().join("out.csv")).expect("a table");
    for (label, id) in [("1", "1"), ("2", "2"), ("3", "3"), ("3", "4"), ("1", "5")] {
        assert!(table.contains(&format!("\t{label}\t{id}\tone\ttwo\r\n")), "{id}: {table}");
    }
    let n_requests = stage.server.seen().len();
    stage.json(line, 0);
    assert_eq!(stage.server.seen().len(), n_requests, "nothing is asked again");
}

#[test]
fn statuses_of_files_decide_and_a_failed_round_is_incomplete() {
    let script = Script {
        replies: replies(&[(
            "better_answer",
            vec![Reply::Json(json!({"index": 7})), Reply::Json(json!({"index": 0}))],
        )]),
        ..Script::default()
    };
    let judged = |word: &str| {
        json!({"1": {"is_solved": {"0": format!("AnswerStatus.{word}")}},
        "2": {"is_solved": {"0": "AnswerStatus.Unsure"}}})
    };
    let stage = Stage::new(script)
        .file("a.json", &json!({"1": answer("q", "x"), "2": answer("q", "x")}))
        .file("b.json", &json!({"1": answer("q", "y"), "2": answer("q", "y")}))
        .file("a_rate.json", &judged("Solved"))
        .file("b_rate.json", &judged("Unsolved"));
    let line = "judge preference a.json b.json --reference-pass-rate a_rate.json \
        --candidate-pass-rate b_rate.json --concurrency 1 -o out.json";
    let summary = stage.json(line, 0);
    assert_eq!(stage.server.seen().len(), 2);
    assert_eq!(summary["n_errors"], 1);
    let written = stage.written("out.json");
    assert_eq!(written["1"]["a"], 2);
    assert_eq!(written["2"]["round_0"], "incomplete");
    assert_eq!((&written["2"]["a"], &written["2"]["b"]), (&json!(1), &json!(0)));
}

#[test]
fn final_answers_are_right_or_not() {
    let script = Script {
        matching: vec![
            matching("zright", status("Solved")),
            matching("zwrong", status("Unsolved")),
            matching("zodd", status("Unsure")),
        ],
        ..Script::default()
    };
    let answers = json!({"1": answer("q", "zright"), "2": answer("q", "zwrong"), "3": answer("q", ""),
        "4": answer("q", "zodd")});
    let stage = Stage::new(script).file("answers.json", &answers);
    let summary = stage.json("judge final-answer answers.json -o out.json", 0);
    assert_eq!((&summary["final_answer_rate"], &summary["n_errors"]), (&json!(0.25), &json!(1)));
    assert_eq!(stage.server.seen().len(), 3);
    let written = stage.written("out.json");
    assert_eq!(written["1"]["answer_status"], "Solved");
    assert_eq!(written["4"]["is_error"], true);
}

#[test]
fn calls_are_counted_before_they_are_paid() {
    let stage = Stage::new(Script::default()).file("answers.json", &json!({"1": answer("q", "a")}));
    let ended = stage.run("judge pass-rate answers.json --repeats 3 --dry-run -o out.json");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("1 query to judge; nothing was sent"), "{}", ended.stderr);
    assert!(!stage.folder.path().join("out.json").exists() && stage.server.seen().is_empty());
    let ended = stage.run("judge pass-rate answers.json --max-cost 0.0000001 -o out.json");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(!stage.folder.path().join("out.json").exists());
}

#[test]
fn logs_are_converted_and_bad_ones_left_out() {
    let log = |text: &str| {
        json!({"answer_generation": {"query": text, "function": [],
        "valid_data": false, "final_answer": ""}, "trys": []})
    };
    let stage = Stage::new(Script::default())
        .file("logs/10_CoT@1.json", &log("ten"))
        .file("logs/9_CoT@1.json", &log("nine"))
        .file("logs/8_CoT@1.json", &json!([]))
        .file("logs/7_DFS.json", &log("seven"));
    let ended = stage.run("convert logs --method CoT@1 -o -");
    assert_eq!(ended.code, 3);
    assert!(ended.stderr.contains("logs/8_CoT@1.json:1:1: expected the log"), "{}", ended.stderr);
    assert!(ended.stderr.contains("2 answers converted, 1 unreadable"), "{}", ended.stderr);
    let places = ["\"9\"", "\"10\""].map(|id| ended.stdout.find(id).expect("an id"));
    assert!(places[0] < places[1]);
    let ended = stage.run("convert logs --method DFS_w2 -o out.json");
    assert!(ended.code == 2 && ended.stderr.contains("CoT@1, DFS"), "{}", ended.stderr);
}

#[test]
fn the_published_example_is_converted_and_judged() {
    let Some(vectors) = juror_testing::recorded_cases() else { return };
    let example = vectors.join("../data/toolbench/data_example");
    if !example.is_dir() {
        eprintln!("no published example here: skipped");
        return;
    }
    let stage = Stage::new(Script::default());
    for (agent, method) in
        [("virtual_chatgpt_cot", "CoT@1"), ("virtual_chatgpt_dfs", "DFS_woFilter_w2")]
    {
        let logs = example.join("answer").join(agent).join("G1_instruction");
        let converted = example.join("model_predictions_converted").join(agent);
        let ended =
            stage.run(&format!("convert {} --method {method} -o {agent}.json", logs.display()));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let wanted = fs::read_to_string(converted.join("G1_instruction.json")).expect("a file");
        let wanted: Value = serde_json::from_str(&wanted).expect("JSON");
        assert_eq!(stage.written(&format!("{agent}.json")), wanted, "{agent}");
        // Judging the logs themselves asks the same.
        let of_file = stage.json(&format!("judge pass-rate {agent}.json"), 0);
        let n_requests = stage.server.seen().len();
        let line = format!("judge pass-rate {} --method {method}", logs.display());
        assert_eq!(statuses(&stage.json(&line, 0)), statuses(&of_file));
        assert_eq!(stage.server.seen().len(), n_requests);
    }
}
