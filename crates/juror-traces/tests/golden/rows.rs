//! Rows of the tables that only one dialect has.

use juror_traces::{Kind, Oddity};
use serde_json::{Value, json};

use crate::story::{check, import, lines};

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn call(id: u64, n: u64) -> Value {
    request(id, "tools/call", json!({"name": "weather", "arguments": {"n": n}}))
}

fn result(id: u64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})
}

fn sent(direction: &str, message: Value) -> Value {
    json!({"ts": 1, "dir": direction, "msg": message})
}

#[test]
fn logs_of_mcp_tell_all_stories() {
    let check = |told: &str, records: &[Value], steps: &[&str], odd: &[(Oddity, usize)]| {
        check(told, &lines(records), steps, None, odd)
    };
    check(
        "out of order, without a result, tried again",
        &[
            call(1, 1),
            call(2, 2),
            result(2, "two"),
            result(1, "one"),
            call(3, 1),
            call(4, 1),
            result(4, "again"),
        ],
        &[
            "weather {\"n\":1} → one",
            "weather {\"n\":2} → two",
            "weather {\"n\":1} ✗ no result recorded (no_result)",
            "weather {\"n\":1} → again",
        ],
        &[(Oddity::NoResult, 1)],
    );
    let broken = request(1, "tools/call", json!({"name": "weather", "arguments": "{\"n\": "}));
    check(
        "broken arguments",
        &[broken, result(1, "what?")],
        &["weather {} ✗ the arguments are not JSON args_raw {\"n\":  (invalid_args)"],
        &[(Oddity::InvalidArgs, 1)],
    );
    check(
        "logged twice",
        &[call(1, 1), call(1, 1), result(1, "one"), result(1, "one")],
        &["weather {\"n\":1} → one"],
        &[(Oddity::RepeatedHistory, 2)],
    );
    let tools = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "weather", "inputSchema": {}}]}});
    let (conversations, _) = import(&lines(&[request(1, "tools/list", json!({})), tools]));
    assert!(conversations.is_empty(), "what is only listed was not called");
}

#[test]
fn replies_go_the_other_way_than_their_requests() {
    let filled = json!({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"city": "Oslo"}}});
    let roots = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "mine"}]}});
    // Both sides number their requests from 1.
    let with_directions = [
        sent("c2s", call(1, 1)),
        sent("s2c", request(1, "elicitation/create", json!({"message": "Which city?"}))),
        sent("c2s", filled.clone()),
        sent("s2c", request(1, "mine/ask", json!({}))),
        sent("c2s", roots),
        sent("s2c", result(1, "one")),
    ];
    check("directions", &lines(&with_directions), &["weather {\"n\":1} → one"], None, &[]);
    let without =
        [call(1, 1), request(1, "elicitation/create", json!({})), filled, result(1, "one")];
    check("no directions", &lines(&without), &["weather {\"n\":1} → one"], None, &[]);
}

#[test]
fn tasks_and_requests_for_input_stay_one_step() {
    let wants = |id: u64, state: &str| json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "input_required", "requestState": state}});
    let goes_on = |id: u64, n: u64, state: &str| {
        let params = json!({"name": "weather", "arguments": {"n": n}, "inputResponses": {}, "requestState": state});
        request(id, "tools/call", params)
    };
    let records = [
        call(1, 1),
        call(2, 2),
        wants(2, "b"),
        wants(1, "a"),
        goes_on(3, 1, "a"),
        goes_on(4, 2, "b"),
        result(4, "two"),
        result(3, "one"),
    ];
    check(
        "input",
        &lines(&records),
        &["weather {\"n\":1} → one", "weather {\"n\":2} → two"],
        None,
        &[],
    );
    // The first revision with tasks has no types of results.
    let made = json!({"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "k", "status": "working"}}});
    let records =
        [call(1, 1), made, request(2, "tasks/result", json!({"taskId": "k"})), result(2, "one")];
    check("task", &lines(&records), &["weather {\"n\":1} → one"], None, &[]);
}

#[test]
fn a_traceparent_links_to_spans() {
    let meta = json!({"traceparent": "00-5b8efff798038103d269b633813fc60c-eee19b7ec3c1b174-01"});
    let linked =
        request(1, "tools/call", json!({"name": "weather", "arguments": {"n": 1}, "_meta": meta}));
    let told = lines(&[linked, result(1, "one")]);
    let conversation = check("linked", &told, &["weather {\"n\":1} → one"], None, &[]);
    assert_eq!(conversation.trace_id.as_deref(), Some("5b8efff798038103d269b633813fc60c"));
    assert_eq!(conversation.steps[0].parent_id.as_deref(), Some("eee19b7ec3c1b174"));
}

#[test]
fn old_functions_in_lines_have_ids_of_their_own() {
    let function = json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}});
    let reply = |text: &str| json!({"role": "function", "name": "f", "content": text});
    let told = lines(&[function.clone(), reply("one"), function, reply("two")]);
    let conversation = check("lines", &told, &["f {} → one", "f {} → two"], None, &[]);
    let ids: Vec<&str> = conversation.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["fc_0", "fc_2"]);
}

#[test]
fn what_is_mixed_loses_no_calls() {
    let chat_call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c2", "function": {"name": "weather", "arguments": "{\"n\": 2}"}}]});
    let chat_result = json!({"role": "tool", "tool_call_id": "c2", "content": "two"});
    let anthropic = json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {"n": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "one"}]},
        chat_call, chat_result]);
    let responses = json!([
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{\"n\": 1}"},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        chat_call, chat_result]);
    let steps = ["weather {\"n\":1} → one", "weather {\"n\":2} → two"];
    for trace in [anthropic, responses] {
        check("mixed", &trace.to_string(), &steps, None, &[(Oddity::MixedDialects, 2)]);
    }
}

#[test]
fn tokens_count_once() {
    let chat = json!([{"role": "user", "content": "?"}]);
    let usage = json!({"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 2});
    let reply = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "4."}], "usage": usage});
    let exchange = json!({"request": {"messages": chat}, "response": reply});
    let (conversations, _) = import(&exchange.to_string());
    let read = conversations[0].usage;
    assert_eq!(
        (read.input_tokens, read.output_tokens),
        (Some(14), Some(1)),
        "with what was cached"
    );
    let message = json!({"type": "ai", "content": "4.", "usage_metadata": {"input_tokens": 5, "output_tokens": 1}});
    let around = json!({"messages": [{"type": "human", "content": "?"}, message], "usage": {"input_tokens": 5, "output_tokens": 1}});
    assert_eq!(import(&around.to_string()).0[0].usage.total(), Some(6));
}

#[test]
fn tools_of_the_server_have_keys_of_their_own() {
    let given = json!([{"role": "assistant", "parts": [
        {"type": "server_tool_call", "id": "c1", "name": "code_interpreter", "server_tool_call": {"type": "code_interpreter", "code": "1 + 1"}},
        {"type": "server_tool_call_response", "id": "c1", "server_tool_call_response": {"type": "code_interpreter", "outputs": ["2"]}},
        {"type": "text", "content": "2."}]}]);
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let attributes = [
        attribute("gen_ai.operation.name", "chat"),
        attribute("gen_ai.input.messages", &given.to_string()),
    ];
    let span = json!({"traceId": "t", "spanId": "s", "name": "chat", "startTimeUnixNano": "1785578400000000000", "attributes": attributes});
    let trace = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string();
    let (conversations, _) = import(&trace);
    let [step] = &conversations[0].steps[..] else { panic!("one step") };
    assert_eq!(
        (step.kind, Value::Object(step.args.clone())),
        (Kind::Builtin, json!({"code": "1 + 1"}))
    );
    assert_eq!(step.output.as_deref(), Some("{\"outputs\":[\"2\"],\"type\":\"code_interpreter\"}"));
}

#[test]
fn runs_are_ordered_by_their_dotted_order() {
    let run = |id: &str, n: u64, second: u64| {
        json!({"id": id, "run_type": "tool", "name": "weather", "dotted_order": format!("20260801T100000000000Zroot.20260801T1000{second:02}000000Z{id}"),
            "inputs": {"n": n}, "outputs": {"output": "x"}})
    };
    let root = json!({"id": "root", "run_type": "chain", "name": "garden", "dotted_order": "20260801T100000000000Zroot", "inputs": {}, "outputs": {"output": "So."}});
    let never = json!({"id": "z", "trace_id": "root", "parent_run_id": "root", "run_type": "tool", "name": "weather", "start_time": "2026-08-01T10:00:09", "inputs": {"n": 3}, "outputs": null});
    let told = lines(&[run("b", 2, 5), run("a", 1, 3), root, never]);
    let steps = [
        "weather {\"n\":1} → x",
        "weather {\"n\":2} → x",
        "weather {\"n\":3} ✗ no result recorded (no_result)",
    ];
    check("dotted", &told, &steps, Some("So."), &[]);
}
