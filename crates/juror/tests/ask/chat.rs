//! The built-in agent on the questions of a reference.

use std::collections::BTreeMap;

use juror_scripted::{FunctionCall, Reply, Script, Server};
use serde_json::{Value, json};

use crate::stage::{Ended, Stage, each, end};

fn call(name: &str, arguments: Value) -> Reply {
    let calls = vec![FunctionCall { name: name.into(), arguments, id: None }];
    Reply::Calls { content: None, calls }
}

fn finish(answer: &str) -> Reply {
    call("Finish", json!({"return_type": "give_answer", "final_answer": answer}))
}

fn model(replies: Vec<Reply>) -> Server {
    Server::start(Script {
        replies: BTreeMap::from([("functions".to_owned(), replies)]),
        ..Script::default()
    })
}

fn ask(stage: &Stage, server: &Server, options: &str) -> Ended {
    let address = format!("{}/v1", server.address());
    let line = format!("-o responses.jsonl --jobs 1 {options}");
    let mut command = stage.command("ask", "chat", &line);
    end(command.env("OPENAI_API_KEY", "sk-x").env("OPENAI_BASE_URL", address))
}

#[test]
fn without_tools_it_answers_by_itself() {
    let stage = Stage::new();
    let server = model(["1", "2", "3", "4"].map(finish).to_vec());
    let ended = ask(&stage, &server, "");
    assert_eq!(ended.code, 0, "{ended}");
    let responses = stage.responses();
    assert_eq!(each(&responses, "actual_answer"), ["1", "2", "3", "4"]);
    assert_eq!(responses[0]["actual_steps"], json!([]));
    assert!(responses[0]["total_tokens"].as_u64().is_some_and(|n| n > 0));
    let offered = server.seen()[0].body["tools"].as_array().expect("functions").clone();
    assert_eq!(offered.len(), 1, "Finish alone: {offered:?}");
}

#[test]
fn with_tools_its_calls_are_steps() {
    let stage = Stage::new();
    let server = model(vec![
        call("current_for_garden_weather", json!({"garden": "Thornfold"})),
        finish("overcast"),
    ]);
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let options = format!(
        "--limit 1 --pool top:5 --tools {examples}/tools --tool-cache {examples}/tool_cache"
    );
    stage.write(
        "reference.json",
        r#"[{"template_id": "t", "questions":
        [{"id": "q1", "question_text": "What is the current weather in the garden?"}]}]"#,
    );
    let ended = ask(&stage, &server, &options);
    assert_eq!(ended.code, 0, "{ended}");
    let response = &stage.responses()[0];
    assert_eq!(response["actual_answer"], "overcast");
    assert_eq!(response["actual_steps"][0]["name"], "current_for_garden_weather");
    assert_eq!(response["actual_steps"][0]["output"]["sky"], "overcast");
}
