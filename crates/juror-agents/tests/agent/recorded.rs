//! Whole runs that were recorded: what the model was asked, and the files that were written.
//!
//! The words an agent is asked in are taken from the cases: Juror has its own.

use std::path::Path;
use std::sync::Arc;

use juror_agents::chat_agent::{
    AgentLimits, AskError, ChatAgent, Method, MethodError, Model, Reply, Transcript,
};
use juror_agents::tree::Prompts;
use juror_models::{Call, Message, Said};
use juror_testing::{Checked, read_cases, recorded_cases, text};
use serde_json::{Map, Value, json};

use crate::answers::check_answer;
use crate::scripted::{Script, Shelf, block_on, environment, setup};

#[test]
fn recorded_runs_are_repeated() {
    let Some(folder) = recorded_cases() else { return };
    let cases = cases(&folder, "algo_trace");
    let prompts = prompts(&cases);
    let mut failures = Vec::new();
    for case in &cases {
        if let Err(why) = check(case, &prompts) {
            failures.push(format!("{}: {why}", case["id"]));
        }
    }
    println!("algo_trace: {} run, {} failed", cases.len(), failures.len());
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

pub(crate) fn cases(folder: &Path, file: &str) -> Vec<Value> {
    let cases = read_cases(&folder.join(format!("toolbench/{file}.jsonl")));
    cases.into_iter().map(|case| case.value).collect()
}

/// Files are long: the first place where they differ is told.
pub(crate) fn same(got: &Value, wanted: &Value) -> Checked {
    match (got, wanted) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().try_for_each(|(key, value)| {
                same(value, &b[key]).map_err(|why| format!("{key}.{why}"))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).try_for_each(|(a, b)| same(a, b))
        }
        _ if got == wanted => Ok(()),
        _ => Err(format!(" got {got}, wanted {wanted}")),
    }
}

/// The messages of all cases, in which the prompts are to be found.
fn messages(cases: &[Value]) -> Vec<&Value> {
    let lists = cases.iter().filter_map(|case| {
        case.pointer("/expected/raw/answer_generation/train_messages").and_then(Value::as_array)
    });
    lists.flatten().filter_map(Value::as_array).flatten().collect()
}

fn prompts(cases: &[Value]) -> Prompts {
    let messages = messages(cases);
    let find = |is_it: &dyn Fn(&Value) -> bool| {
        text(&messages.iter().find(|message| is_it(message)).expect("a message")["content"])
    };
    let system = find(&|message| message["role"] == "system");
    let user = find(&|message| message["role"] == "user" && message.get("valid").is_none());
    // What follows the list of candidates: a line about what was observed, or nothing.
    let parts = |message: &Value| {
        let content = text(&message["content"]).to_owned();
        let (before, rest) = content.split_once("[\n  {").expect("a list");
        let (_, after) = rest.split_once("\n]\n").expect("the end of a list");
        (before.to_owned(), after.to_owned())
    };
    let all: Vec<(String, String)> = messages
        .iter()
        .filter(|message| message["valid"] == json!(false))
        .map(|message| parts(message))
        .collect();
    let (before, plain) = all.iter().min_by_key(|(_, after)| after.len()).expect("one of them");
    let (_, longer) = all.iter().find(|(_, after)| after != plain).expect("another one");
    let observed = longer.strip_suffix(plain.as_str()).expect("the same end");
    let (words, _) = observed.split_once('{').expect("an observation");
    Prompts {
        system: system.strip_suffix("TASK").expect("the task").to_owned() + "{{task}}",
        user: user.replace("QUERY", "{{query}}"),
        again: format!("{before}{{{{candidates}}}}{plain}"),
        observed: format!("{words}{{{{observation}}}}\n"),
    }
}

fn check(case: &Value, prompts: &Prompts) -> Checked {
    let (input, wanted) = (&case["input"], &case["expected"]);
    let method = match method(input) {
        Err(MethodError::Ranked(_)) if case["recommended"]["unsupported_or_working"] == true => {
            return Ok(());
        }
        method => method.map_err(|error| error.to_string())?,
    };
    let script = Script::new(input["llm_script"].as_array().expect("replies").iter().map(reply));
    let attempt = run(method, input, prompts, &script);
    check_answer(&attempt, &method.to_string())?;
    let mut got = json!(attempt.raw());
    same(&json!(take_flags(&mut got)), &json!([]))?;
    if case["recommended"]["stop_after_finish_call"] == true {
        return check_stopped(&got);
    }
    same(&json!(script.n_asked()), &wanted["llm_calls"])?;
    same(&roles(&script), &wanted["messages_roles_seen_per_call"])?;
    let mut wanted_raw = wanted["raw"].clone();
    take_flags(&mut wanted_raw);
    leave_out_what_cases_lack(&mut got);
    let is_drawn = wanted["give_up_nodes"].as_u64() > Some(1) && wanted_raw["win"] == false;
    if is_drawn {
        // Which of several is told was drawn by lot (`dep-algo-6`).
        for raw in [&mut got, &mut wanted_raw] {
            fields(&mut raw["answer_generation"]).remove("train_messages");
        }
    }
    same(&got, &wanted_raw)
}

fn method(input: &Value) -> Result<Method, MethodError> {
    match input["algorithm"].as_str() {
        Some("CoT") => format!("CoT@{}", input["pass_at"]).parse(),
        _ if input["with_filter"] == true => format!("DFS_w{}", input["tree_beam_size"]).parse(),
        _ => format!("DFS_woFilter_w{}", input["tree_beam_size"]).parse(),
    }
}

fn reply(turn: &Value) -> Result<Reply, AskError> {
    let message = &turn["message"];
    if turn.get("error_code").is_some_and(|code| code != &json!(0)) {
        return Err(AskError::Failed(text(&message["content"]).to_owned()));
    }
    let call = |call: &Value| Call {
        id: text(&call["id"]).to_owned(),
        name: text(&call["function"]["name"]).to_owned(),
        arguments: text(&call["function"]["arguments"]).to_owned(),
    };
    let calls = message["tool_calls"].as_array().map(|calls| calls.iter().map(call).collect());
    let content = message["content"].as_str().map(str::to_owned);
    let said = Said { content, calls: calls.unwrap_or_default(), provider: Vec::new() };
    Ok(Reply { said, n_tokens: turn["tokens"].as_u64().unwrap_or(10) })
}

fn run(method: Method, input: &Value, prompts: &Prompts, script: &Script) -> Transcript {
    let number = |name: &str| {
        input[name].as_u64().map(|number| usize::try_from(number).expect("a small number"))
    };
    let limits = AgentLimits {
        max_steps: number("single_chain_max_step").expect("a number"),
        max_queries: number("max_query_count").unwrap_or(200),
        // The public agents know no such limit.
        max_idle: usize::MAX,
    };
    let agent = ChatAgent { method, limits, prompts: prompts.clone() };
    let functions: Vec<&str> =
        input["functions"].as_array().expect("names").iter().map(text).collect();
    let tools = Shelf::recorded(&input["http_replies"]);
    let environment = environment(&functions, &setup("TASK"));
    let attempt = agent.answer("QUERY", environment, script as &dyn Model, &tools);
    block_on(attempt).expect("asking does not stop")
}

fn roles(script: &Script) -> Value {
    let role = |message: &Arc<Message>| {
        let mark = if message.is_valid() { "" } else { "!" };
        format!("{}{mark}", message.role())
    };
    let asked = script.asked.lock().expect("a list");
    let roles: Vec<Vec<String>> =
        asked.iter().map(|messages| messages.iter().map(role).collect()).collect();
    json!(roles)
}

fn fields(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().expect("an object")
}

/// Takes the flag that the public files always have as `false` out of every node, and returns the
/// nodes where it is wrong (`dep-algo-4`).
fn take_flags(value: &mut Value) -> Vec<Value> {
    match value {
        Value::Object(fields) => {
            let flag = fields.remove("is_terminal");
            let is_answered = fields.get("observation_code") == Some(&json!(3));
            let is_wrong = flag.is_some_and(|flag| flag != json!(is_answered));
            let wrong = is_wrong.then(|| json!(fields));
            wrong.into_iter().chain(fields.values_mut().flat_map(take_flags)).collect()
        }
        Value::Array(values) => values.iter_mut().flat_map(take_flags).collect(),
        _ => Vec::new(),
    }
}

fn leave_out_what_cases_lack(raw: &mut Value) {
    fields(raw).remove("forward_args");
    let generation = fields(&mut raw["answer_generation"]);
    generation.remove("function");
    generation.remove("query");
    // The list of tools that follows the task is not in the cases.
    let messages = generation.get_mut("train_messages").and_then(Value::as_array_mut);
    for message in messages.into_iter().flatten().filter_map(Value::as_array_mut).flatten() {
        if message["role"] == "system" {
            let (words, _) = text(&message["content"]).split_once("TASK").expect("the task");
            message["content"] = json!(format!("{words}TASK"));
        }
    }
}

/// What is said after an end is not done (`dep-algo-1`, `dep-algo-2`).
fn check_stopped(raw: &Value) -> Checked {
    fn check(value: &Value) -> Checked {
        if matches!(value["observation_code"].as_i64(), Some(3 | 4)) {
            same(&value["child_count"], &json!(0))?;
        }
        match value {
            Value::Object(fields) => fields.values().try_for_each(check),
            Value::Array(values) => values.iter().try_for_each(check),
            _ => Ok(()),
        }
    }
    check(raw)?;
    let answer = &raw["answer_generation"]["final_answer"];
    let wanted = if raw["win"] == true { "\"give_answer\"" } else { "" };
    same(&json!(text(answer).contains(wanted)), &json!(true))
}
