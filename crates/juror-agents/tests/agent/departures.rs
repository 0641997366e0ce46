//! Places where the public agents are wrong, and what is right instead.

use juror_agents::chat_agent::{
    AgentLimits, AskError, ChatAgent, Ending, Method, MethodError, Pauses, Reply, Transcript,
    prompts,
};
use juror_testing::{Checked, recorded_cases};
use serde_json::{Value, json};

use crate::recorded::{cases, same};
use crate::scripted::{Script, Shelf, block_on, calls, environment, setup};

const ANSWER: &str = r#"{"return_type": "give_answer", "final_answer": "done"}"#;
const GIVE_UP: &str = r#"{"return_type": "give_up_and_restart"}"#;

#[test]
fn what_is_wrong_elsewhere_is_right_here() {
    let Some(folder) = recorded_cases() else { return };
    let mut failures = Vec::new();
    let mut n_run = 0;
    for case in cases(&folder, "departures") {
        let Some(checked) = check(case["id"].as_str().expect("an id")) else { continue };
        n_run += 1;
        failures.extend(checked.err().map(|why| format!("{}: {why}", case["id"])));
    }
    println!("departures of agents: {n_run} run, {} failed", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Nothing for those that other tests check.
fn check(id: &str) -> Option<Checked> {
    let x = ("get_x_for_t", r#"{"q": 1}"#);
    Some(match id {
        "dep-env-3" => {
            let Pauses { before_call, after_rate_limit } = Pauses::default();
            same(&json!((before_call + after_rate_limit).as_secs()), &json!(0))
        }
        "dep-algo-1" => both(|method| {
            let raw = raw(method, 1, vec![calls(None, &[("Finish", ANSWER), x])]);
            same(&raw["answer_generation"]["final_answer"], &json!(ANSWER))
        }),
        "dep-algo-2" => both(|method| {
            let attempt = run(method, 5, vec![calls(None, &[("Finish", GIVE_UP), x])]);
            same(&json!(attempt.ending == Ending::GaveUp), &json!(true))
        }),
        "dep-algo-3" => both(|method| {
            let attempt = run(method, 9, (0..9).map(|_| calls(None, &[])).collect());
            same(&json!(attempt.n_queries <= 9), &json!(true))
        }),
        "dep-algo-4" => {
            let raw = raw("CoT@1", 5, vec![calls(None, &[("Finish", ANSWER)])]);
            same(&raw["trys"][0]["chain"][1]["is_terminal"], &json!(true))
        }
        "dep-algo-5" => {
            let refused = "DFS_w2".parse::<Method>();
            same(&json!(matches!(refused, Err(MethodError::Ranked(_)))), &json!(true))
        }
        "dep-algo-6" => {
            let up = |first: &str| calls(Some(first), &[("Finish", GIVE_UP)]);
            let replies = || vec![calls(None, &[x]), up("1"), up("2")];
            let train = |raw: Value| raw["answer_generation"]["train_messages"].clone();
            let first = train(raw("DFS_woFilter_w2", 20, replies()));
            same(&first, &train(raw("DFS_woFilter_w2", 20, replies())))
        }
        "dep-algo-7" => both(|method| {
            let args = raw(method, 5, vec![calls(None, &[("Finish", ANSWER)])]);
            let args = &args["forward_args"];
            let told = [&args["single_chain_max_step"], &args["max_query_count"]];
            same(&json!(told), &json!([12, 5]))
        }),
        "dep-algo-8" => both(|method| {
            let fail = || Err(AskError::Failed("boom".into()));
            let attempt = run(method, 5, (0..5).map(|_| fail()).collect());
            same(&json!(attempt.ending == Ending::Failed("boom".into())), &json!(true))
        }),
        _ => return None,
    })
}

fn both(check: impl Fn(&str) -> Checked) -> Checked {
    check("CoT@1").and_then(|()| check("DFS_woFilter_w2"))
}

fn run(method: &str, max_queries: usize, replies: Vec<Result<Reply, AskError>>) -> Transcript {
    let agent = ChatAgent {
        method: method.parse().expect("a method"),
        limits: AgentLimits {
            max_steps: 12,
            max_queries: max_queries.max(2),
            max_idle: usize::MAX,
        },
        prompts: prompts(),
    };
    let script = Script::new(replies);
    let tools = Shelf::new(&[("get_x", r#"{"error": "", "response": "X"}"#)]);
    let environment = environment(&["get_x_for_t"], &setup(""));
    block_on(agent.answer("q", environment, &script, &tools)).expect("asking goes on")
}

fn raw(method: &str, max_queries: usize, replies: Vec<Result<Reply, AskError>>) -> Value {
    json!(run(method, max_queries, replies).raw())
}
