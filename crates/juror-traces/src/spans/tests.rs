//! Golden tests of spans in every convention: each row of the tables, and what is odd.

use std::io::Cursor;

use serde_json::{Value, json};

use super::{Gatherer, Histories, Packed, PackedBefore, otlp_json};
use crate::call::{CallStatus, Kind};
use crate::conversation::{Conversation, Status, Step};
use crate::import::Importer;
use crate::oddity::Oddity;
use crate::report::Report;
use crate::rules::Rules;

/// Writes a value as OTLP does.
fn any(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Bool(bool) => json!({"boolValue": bool}),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            json!({"intValue": number.to_string()})
        }
        Value::Number(number) => json!({"doubleValue": number}),
        Value::Array(items) => {
            json!({"arrayValue": {"values": items.iter().map(any).collect::<Vec<_>>()}})
        }
        Value::Object(object) => {
            json!({"kvlistValue": {"values": attributes(&Value::Object(object.clone()))}})
        }
        Value::Null => json!({}),
    }
}

fn attributes(object: &Value) -> Value {
    let pairs = object.as_object().expect("an object").iter();
    pairs.map(|(key, value)| json!({"key": key, "value": any(value)})).collect()
}

/// A span that starts and ends at these seconds.
fn span(id: &str, parent: &str, name: &str, at: (u64, u64), given: Value) -> Value {
    let time = |second: u64| format!("{}", (1_785_578_400 + second) * 1_000_000_000);
    json!({"traceId": "t1", "spanId": id, "parentSpanId": parent, "name": name,
        "startTimeUnixNano": time(at.0), "endTimeUnixNano": time(at.1), "attributes": attributes(&given), "status": {}})
}

fn failed(mut span: Value, message: &str) -> Value {
    span["status"] = json!({"code": 2, "message": message});
    span
}

fn with_event(mut span: Value, name: &str, given: Value) -> Value {
    let event = json!({"name": name, "attributes": attributes(&given)});
    span["events"] = json!([event]);
    span
}

fn envelope(spans: &[Value]) -> String {
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "mine"}, "spans": spans}]}]}).to_string()
}

fn import(text: &str) -> (Vec<Conversation>, Report) {
    let mut conversations = Vec::new();
    let mut importer = Importer::new(Rules::default(), None);
    importer
        .read("trace", &mut text.as_bytes(), &mut |found| conversations.push(found))
        .expect("read");
    let report = importer.finish(&mut |found| conversations.push(found)).expect("finished");
    (conversations, report)
}

/// Imports spans of one trace.
fn of(spans: &[Value]) -> Conversation {
    let (mut conversations, _) = import(&envelope(spans));
    assert_eq!(conversations.len(), 1, "one conversation");
    conversations.remove(0)
}

fn shown(step: &Step) -> String {
    let end = step.output.as_deref().or(step.error.as_deref()).unwrap_or_default();
    format!("{} {} {} {end}", step.name, Value::Object(step.args.clone()), step.id)
}

fn steps(conversation: &Conversation) -> Vec<String> {
    conversation.steps.iter().map(shown).collect()
}

fn tool(id: &str, at: (u64, u64), more: Value) -> Value {
    let mut given =
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "sparql_query"});
    for (key, value) in more.as_object().expect("attributes") {
        given[key] = value.clone();
    }
    span(id, "", "execute_tool sparql_query", at, given)
}

#[test]
fn spans_of_tools_are_steps() {
    let conversation = of(&[
        tool(
            "s1",
            (0, 1),
            json!({"gen_ai.tool.call.id": "call_1", "gen_ai.tool.call.arguments": "{\"query\":\"ASK {}\"}", "gen_ai.tool.call.result": {"boolean": true}}),
        ),
        failed(tool("s2", (2, 3), json!({"error.type": "timeout"})), "upstream timed out"),
        with_event(
            failed(tool("s3", (4, 5), json!({"gen_ai.tool.call.arguments": {"query": "x"}})), ""),
            "exception",
            json!({"exception.message": "no such graph"}),
        ),
        tool(
            "s4",
            (6, 7),
            json!({"error.type": "timeout", "gen_ai.tool.call.arguments": "{\"query\": "}),
        ),
    ]);
    assert_eq!(
        steps(&conversation),
        [
            "sparql_query {\"query\":\"ASK {}\"} call_1 {\"boolean\":true}",
            "sparql_query {} s2 upstream timed out",
            "sparql_query {\"query\":\"x\"} s3 no such graph",
            "sparql_query {} s4 timeout",
        ]
    );
    assert_eq!(conversation.steps[0].started_at.as_deref(), Some("2026-08-01T10:00:00Z"));
    assert_eq!(conversation.steps[3].call_status, CallStatus::InvalidArgs);
    assert_eq!(conversation.trace_id.as_deref(), Some("t1"));
}

#[test]
fn a_retrieval_has_documents_with_ids() {
    let documents = json!([{"id": "d1", "score": 0.9}, {"id": "d2", "score": 0.5}]);
    let conversation = of(&[span(
        "s",
        "",
        "retrieval x",
        (0, 1),
        json!({"gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "fern", "gen_ai.request.top_k": 2, "gen_ai.data_source.id": "garden", "gen_ai.retrieval.documents": documents.to_string()}),
    )]);
    let step = &conversation.steps[0];
    assert_eq!((step.name.as_str(), step.kind), ("retrieval", Kind::Retrieval));
    assert_eq!(
        Value::Object(step.args.clone()),
        json!({"query": "fern", "k": 2, "data_source": "garden"})
    );
    assert_eq!(step.output.as_deref(), Some(documents.to_string().as_str()));
}

fn chat(id: &str, at: (u64, u64), given: &Value, gave: &Value) -> Value {
    span(
        id,
        "agent",
        "chat m",
        at,
        json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": given.to_string(),
        "gen_ai.output.messages": gave.to_string(), "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2,
        "gen_ai.tool.definitions": "[{\"type\":\"function\",\"name\":\"never_called\"}]"}),
    )
}

/// Two models, two tools without contents, and an agent around them.
fn agent_run() -> Vec<Value> {
    let user = json!({"role": "user", "parts": [{"type": "text", "content": "How warm?"}]});
    let asked = json!({"role": "assistant", "parts": [{"type": "tool_call", "id": " a", "name": "t", "arguments": {"n": 1}}, {"type": "tool_call", "id": "b", "name": "t", "arguments": "{\"n\":2}"}]});
    let results = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "b", "result": "two"}, {"type": "tool_call_response", "id": "a", "response": {"c": 1}}]});
    let said = json!({"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Warm."}]});
    let ran = |id: &str, call: &str, at: u64| {
        span(
            id,
            "agent",
            "execute_tool t",
            (at, at + 1),
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": call}),
        )
    };
    vec![
        span(
            "agent",
            "",
            "invoke_agent g",
            (0, 9),
            json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "g", "gen_ai.conversation.id": "q1", "gen_ai.usage.input_tokens": 20}),
        ),
        chat("m1", (1, 2), &json!([user]), &json!([asked])),
        ran("r1", "a", 3),
        ran("r2", "b", 4),
        chat("m2", (6, 7), &json!([user, asked, results]), &json!([said])),
    ]
}

#[test]
fn spans_are_filled_from_messages() {
    let conversation = of(&agent_run());
    assert_eq!(steps(&conversation), ["t {\"n\":1} a {\"c\":1}", "t {\"n\":2} b two"]);
    assert_eq!(conversation.answer.as_deref(), Some("Warm."));
    assert_eq!(conversation.questions, ["How warm?"]);
    assert_eq!(
        (conversation.usage.input_tokens, conversation.usage.output_tokens),
        (Some(20), Some(4))
    );
    assert_eq!(conversation.other_ids, ["q1", "t1"]);
    assert_eq!(conversation.steps[0].agent.as_deref(), Some("g"));
    assert_eq!(conversation.elapsed_sec, Some(9.0));
    assert!(conversation.oddities.count(Oddity::RepeatedHistory) >= 2);
}

#[test]
fn spans_may_be_spread_over_lines_in_any_order() {
    let whole = of(&agent_run());
    let mut lines: Vec<String> = agent_run().into_iter().map(|span| envelope(&[span])).collect();
    lines.reverse();
    let (conversations, report) = import(&lines.join("\n"));
    assert_eq!(conversations.len(), 1);
    assert_eq!(steps(&conversations[0]), steps(&whole));
    assert_eq!(conversations[0].answer, whole.answer);
    assert_eq!(report.count(Oddity::OutOfOrder), 1);
}

#[test]
fn definitions_alone_are_no_calls() {
    let conversation = of(&[chat(
        "m",
        (0, 1),
        &json!([]),
        &json!([{"role": "assistant", "parts": [{"type": "text", "content": "Hi."}]}]),
    )]);
    assert!(conversation.steps.is_empty());
    assert_eq!(conversation.answer.as_deref(), Some("Hi."));
}

#[test]
fn requests_without_spans_are_steps_too() {
    let asked = json!([{"role": "assistant", "parts": [{"type": "tool_call", "id": "a", "name": "t", "arguments": {}}, {"type": "server_tool_call", "id": "s", "name": "web_search", "arguments": {"q": 1}}]}]);
    let conversation = of(&[chat("m", (0, 1), &json!([]), &asked)]);
    let found: Vec<_> = conversation
        .steps
        .iter()
        .map(|step| (step.kind, step.call_status.clone(), step.status))
        .collect();
    assert_eq!(
        found,
        [
            (Kind::Tool, CallStatus::NoResult, Status::Error),
            (Kind::Builtin, CallStatus::NoResult, Status::Error)
        ]
    );
}

#[test]
fn calls_without_ids_are_told_apart_by_order() {
    let ask = |n: u64| json!({"role": "assistant", "parts": [{"type": "tool_call", "name": "t", "arguments": {"n": n}}]});
    let reply = |text: &str| json!({"role": "tool", "parts": [{"type": "tool_call_response", "response": text}]});
    let conversation = of(&[
        chat("m1", (0, 1), &json!([]), &json!([ask(1)])),
        chat("m2", (2, 3), &json!([ask(1), reply("one")]), &json!([ask(1)])),
        chat("m3", (4, 5), &json!([ask(1), reply("one"), ask(1), reply("again")]), &json!([])),
    ]);
    assert_eq!(
        steps(&conversation),
        ["t {\"n\":1} call_1 one", "t {\"n\":1} call_2 again"],
        "a retry is a step of its own"
    );
}

#[test]
fn spans_of_one_call_are_one_step() {
    let outer = span(
        "o",
        "",
        "execute_tool t",
        (0, 5),
        json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": "a"}),
    );
    let client = span(
        "c",
        "o",
        "tools/call t",
        (1, 4),
        json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "t", "jsonrpc.request.id": "3", "gen_ai.tool.call.arguments": "{\"n\":1}"}),
    );
    let server = span(
        "s",
        "c",
        "tools/call t",
        (2, 3),
        json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "t", "jsonrpc.request.id": "3", "gen_ai.tool.call.result": "one"}),
    );
    let conversation = of(&[outer, client.clone(), server]);
    assert_eq!(steps(&conversation), ["t {\"n\":1} a one"]);
    assert_eq!(conversation.oddities.count(Oddity::MergedSpans), 2);
    let alone = of(&[failed(client, "")]);
    assert_eq!((alone.steps[0].id.as_str(), alone.steps[0].status), ("3", Status::Error));
}

#[test]
fn a_nested_agent_has_steps_within_its_call() {
    let kind = |operation: &str, more: Value| {
        let mut given = json!({"gen_ai.operation.name": operation});
        more.as_object()
            .expect("attributes")
            .iter()
            .for_each(|(key, value)| given[key] = value.clone());
        given
    };
    let said = |text: &str| {
        json!([{"role": "assistant", "parts": [{"type": "text", "content": text}]}]).to_string()
    };
    let conversation = of(&[
        span(
            "a",
            "",
            "invoke_agent g",
            (0, 9),
            kind("invoke_agent", json!({"gen_ai.agent.name": "g"})),
        ),
        span(
            "x",
            "a",
            "execute_tool ask",
            (1, 6),
            kind(
                "execute_tool",
                json!({"gen_ai.tool.name": "ask", "gen_ai.tool.call.id": "x1", "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "inner"}),
            ),
        ),
        span(
            "b",
            "x",
            "invoke_agent h",
            (2, 5),
            kind("invoke_agent", json!({"gen_ai.agent.name": "h"})),
        ),
        span(
            "y",
            "b",
            "execute_tool look",
            (3, 4),
            kind(
                "execute_tool",
                json!({"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "y1", "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "seen"}),
            ),
        ),
        span(
            "m",
            "b",
            "chat",
            (4, 5),
            kind("chat", json!({"gen_ai.output.messages": said("inner")})),
        ),
        span(
            "n",
            "a",
            "chat",
            (7, 8),
            kind("chat", json!({"gen_ai.output.messages": said("outer")})),
        ),
    ]);
    let found: Vec<_> = conversation
        .steps
        .iter()
        .map(|step| (step.id.as_str(), step.parent_id.as_deref(), step.agent.as_deref()))
        .collect();
    assert_eq!(found, [("x1", None, Some("g")), ("y1", Some("x1"), Some("h"))]);
    assert_eq!(conversation.answer.as_deref(), Some("outer"));
}

#[test]
fn agents_with_questions_of_their_own_are_conversations() {
    let agent = |id: &str, question: &str, at: u64| {
        span(
            id,
            "root",
            "invoke_agent g",
            (at, at + 3),
            json!({"gen_ai.operation.name": "invoke_agent", "question_id": question}),
        )
    };
    let ran = |id: &str, agent: &str, at: u64| {
        span(
            id,
            agent,
            "execute_tool t",
            (at, at + 1),
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.result": "x"}),
        )
    };
    let spans = [
        span("root", "", "batch", (0, 20), json!({})),
        agent("a", "q1", 1),
        ran("r1", "a", 2),
        agent("b", "q2", 5),
        ran("r2", "b", 6),
        ran("r3", "b", 7),
    ];
    let (conversations, _) = import(&envelope(&spans));
    let found: Vec<_> = conversations
        .iter()
        .map(|found| (found.question_id.as_deref(), found.steps.len()))
        .collect();
    assert_eq!(found, [(Some("q1"), 1), (Some("q2"), 2)]);
}

#[test]
fn older_conventions_have_events() {
    let model = json!({"gen_ai.system": "openai", "gen_ai.operation.name": "chat", "gen_ai.usage.prompt_tokens": 5, "gen_ai.usage.completion_tokens": 1});
    let event = |name: &str, given: Value| json!({"name": name, "attributes": attributes(&given)});
    let calls = json!([{"id": "a", "type": "function", "function": {"name": "t", "arguments": "{\"n\":1}"}}]);
    let mut first = span("m1", "", "chat", (0, 1), model.clone());
    first["events"] = json!([
        event("gen_ai.user.message", json!({"content": "How?"})),
        event("gen_ai.choice", json!({"message": json!({"tool_calls": calls}).to_string()}))
    ]);
    let mut second = span("m2", "", "chat", (2, 3), model);
    second["events"] = json!([
        event("gen_ai.assistant.message", json!({"tool_calls": calls.to_string()})),
        event("gen_ai.tool.message", json!({"id": "a", "content": "one"})),
        event(
            "gen_ai.choice",
            json!({"gen_ai.event.content": json!({"message": {"content": "So."}}).to_string()})
        )
    ]);
    let conversation = of(&[first, second]);
    assert_eq!(steps(&conversation), ["t {\"n\":1} a one"]);
    assert_eq!(
        (conversation.answer.as_deref(), conversation.usage.total()),
        (Some("So."), Some(12))
    );
    assert_eq!(conversation.questions, ["How?"]);
}

#[test]
fn log_records_tell_of_their_spans() {
    let record = |span: &str, name: &str, body: Value, given: Value| json!({"traceId": "t1", "spanId": span, "eventName": name, "timeUnixNano": "1785578401000000000", "body": any(&body), "attributes": attributes(&given)});
    let details = json!({"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "How?"}]}], "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "tool_call", "id": "a", "name": "t", "arguments": {"n": 1}}]}]});
    let logs = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [
        record("m1", "gen_ai.client.inference.operation.details", Value::Null, details),
        record("m2", "gen_ai.tool.message", json!({"id": "a", "content": "one"}), json!({})),
        record("m2", "gen_ai.choice", json!({"message": {"role": "assistant", "content": "So."}}), json!({}))]}]}]});
    let (conversations, _) = import(&logs.to_string());
    assert_eq!(steps(&conversations[0]), ["t {\"n\":1} a one"]);
    assert_eq!(conversations[0].answer.as_deref(), Some("So."));
}

#[test]
fn vendors_have_attributes_of_their_own() {
    let rows = [
        (
            json!({"traceloop.span.kind": "tool", "traceloop.entity.name": "t", "traceloop.entity.input": "{\"input_str\": \"{'n': 1}\", \"inputs\": null}", "traceloop.entity.output": "{\"output\": {\"type\": \"tool\", \"content\": \"one\", \"tool_call_id\": \"a\"}}"}),
            "t {\"n\":1} a one",
        ),
        (
            json!({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "t", "ai.toolCall.id": "a", "ai.toolCall.args": "{\"n\":1}", "ai.toolCall.result": "\"one\""}),
            "t {\"n\":1} a one",
        ),
        (
            json!({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "t", "ai.toolCall.input": "{\"n\":1}", "ai.toolCall.output": "{\"c\":1}"}),
            "t {\"n\":1} s {\"c\":1}",
        ),
        (
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gcp.vertex.agent.tool_call_args": "{\"n\":1}", "gcp.vertex.agent.tool_response": "{\"result\": \"one\"}"}),
            "t {\"n\":1} s one",
        ),
        (
            json!({"langfuse.observation.type": "tool", "langfuse.observation.input": "{\"n\":1}", "langfuse.observation.output": "one"}),
            "running tool {\"n\":1} s one",
        ),
        (
            json!({"lmnr.span.type": "TOOL", "lmnr.span.input": "{\"n\":1}", "lmnr.span.output": "\"one\""}),
            "running tool {\"n\":1} s one",
        ),
        (
            json!({"mlflow.spanType": "\"TOOL\"", "mlflow.spanInputs": "{\"n\":1}", "mlflow.spanOutputs": "\"one\""}),
            "running tool {\"n\":1} s one",
        ),
        (
            json!({"gen_ai.tool.name": "t", "gen_ai.tool.call.id": "a", "tool_arguments": "{\"n\":1}", "tool_response": "one"}),
            "t {\"n\":1} a one",
        ),
    ];
    for (given, wanted) in rows {
        let conversation = of(&[span("s", "", "running tool", (0, 1), given.clone())]);
        assert_eq!(steps(&conversation), [wanted], "{given}");
    }
}

#[test]
fn numbered_prompts_and_completions_are_messages() {
    let conversation = of(&[
        span(
            "m1",
            "",
            "openai.chat",
            (0, 1),
            json!({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "How?", "gen_ai.completion.0.tool_calls.0.id": "a",
            "gen_ai.completion.0.tool_calls.0.name": "t", "gen_ai.completion.0.tool_calls.0.arguments": "{\"n\":1}", "traceloop.association.properties.question_id": "q1"}),
        ),
        span(
            "m2",
            "",
            "openai.chat",
            (2, 3),
            json!({"gen_ai.prompt.0.role": "tool", "gen_ai.prompt.0.tool_call_id": "a", "gen_ai.prompt.0.content": "one", "gen_ai.completion.0.content": "So."}),
        ),
    ]);
    assert_eq!(steps(&conversation), ["t {\"n\":1} a one"]);
    assert_eq!(
        (conversation.answer.as_deref(), conversation.question_id.as_deref()),
        (Some("So."), Some("q1"))
    );
}

#[test]
fn vercels_models_have_prompts_and_responses() {
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": "How?"}]}, {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "t", "input": {"n": 1}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "a", "toolName": "t", "output": {"type": "error-text", "value": "no"}}]}]);
    let conversation = of(&[
        span(
            "g",
            "",
            "ai.generateText",
            (0, 5),
            json!({"ai.operationId": "ai.generateText", "ai.prompt": "{\"prompt\":\"How?\"}", "ai.response.text": "So.", "ai.usage.promptTokens": 99, "ai.telemetry.metadata.question_id": "q1"}),
        ),
        span(
            "m1",
            "g",
            "ai.generateText.doGenerate",
            (1, 2),
            json!({"ai.operationId": "ai.generateText.doGenerate", "ai.response.toolCalls": "[{\"toolCallId\":\"a\",\"toolName\":\"t\",\"input\":\"{\\\"n\\\":1}\"}]", "ai.usage.promptTokens": 3, "ai.usage.completionTokens": 1}),
        ),
        span(
            "m2",
            "g",
            "ai.generateText.doGenerate",
            (3, 4),
            json!({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": messages.to_string(), "ai.response.text": "So.", "ai.usage.promptTokens": 4, "ai.usage.completionTokens": 1}),
        ),
    ]);
    assert_eq!(steps(&conversation), ["t {\"n\":1} a no"]);
    assert_eq!(
        (
            conversation.answer.as_deref(),
            conversation.question_id.as_deref(),
            conversation.usage.total()
        ),
        (Some("So."), Some("q1"), Some(9))
    );
}

#[test]
fn adks_models_speak_gemini() {
    let request = json!({"contents": [{"role": "user", "parts": [{"text": "How?"}]}]});
    let response = json!({"content": {"role": "model", "parts": [{"function_call": {"id": "a", "name": "t", "args": {"n": 1}}}]}, "usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 1}});
    let conversation = of(&[
        span(
            "m",
            "",
            "call_llm",
            (0, 1),
            json!({"gen_ai.system": "gcp.vertex.agent", "gcp.vertex.agent.llm_request": request.to_string(), "gcp.vertex.agent.llm_response": response.to_string()}),
        ),
        span(
            "x",
            "",
            "execute_tool t",
            (2, 3),
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": "a", "gcp.vertex.agent.tool_call_args": "{\"n\":1}", "gcp.vertex.agent.tool_response": "{\"error\":\"no\"}"}),
        ),
        span(
            "y",
            "",
            "execute_tool (merged tools)",
            (4, 5),
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"}),
        ),
    ]);
    assert_eq!(steps(&conversation), ["t {\"n\":1} a no"]);
    assert_eq!((conversation.questions.len(), conversation.usage.total()), (1, Some(4)));
    assert_eq!(conversation.left_out.len(), 1);
}

fn inference(id: &str, at: (u64, u64), kind: &str, more: Value) -> Value {
    let mut given = json!({"openinference.span.kind": kind});
    more.as_object()
        .expect("attributes")
        .iter()
        .for_each(|(key, value)| given[key] = value.clone());
    span(id, "", "SimpleTool", at, given)
}

#[test]
fn openinference_is_read_flat() {
    let conversation = of(&[
        inference(
            "m1",
            (0, 1),
            "LLM",
            json!({"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "How?",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "a", "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "t",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{\"city\":\"Oslo\"}", "llm.token_count.prompt": 3, "llm.token_count.completion": 1, "llm.cost.total": 0.5,
            "llm.output_messages.0.message.role": "assistant"}),
        ),
        inference(
            "x",
            (2, 3),
            "TOOL",
            json!({"tool.name": "t", "input.value": "Oslo", "output.value": "4", "tool.parameters": "{\"type\":\"object\",\"properties\":{}}"}),
        ),
        inference(
            "y",
            (4, 5),
            "TOOL",
            json!({"tool.name": "u", "tool_call.id": "b", "input.value": "{\"n\":1}", "input.mime_type": "application/json", "output.value": "\"x\"", "output.mime_type": "application/json"}),
        ),
        inference("z", (6, 7), "TOOL", json!({"tool.id": "c", "tool.parameters": "{\"n\":2}"})),
        inference(
            "r",
            (8, 9),
            "RETRIEVER",
            json!({"input.value": "fern", "retrieval.documents.0.document.id": "d1", "retrieval.documents.0.document.content": "Ferns.", "retrieval.documents.0.document.score": 0.5}),
        ),
        inference(
            "m2",
            (10, 11),
            "LLM",
            json!({"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.contents.0.message_content.type": "text", "llm.output_messages.0.message.contents.0.message_content.text": "So.", "session.id": "s1"}),
        ),
    ]);
    assert_eq!(
        steps(&conversation),
        [
            "t {\"city\":\"Oslo\"} a 4",
            "u {\"n\":1} b x",
            "SimpleTool {\"n\":2} c ",
            "retrieval {\"query\":\"fern\"} r [{\"id\":\"d1\",\"score\":0.5,\"text\":\"Ferns.\"}]",
        ]
    );
    assert_eq!(
        (conversation.answer.as_deref(), conversation.usage.total(), conversation.usage.cost),
        (Some("So."), Some(4), Some(0.5))
    );
    assert_eq!(conversation.other_ids, ["s1", "t1"]);
}

#[test]
fn ordered_contents_and_old_functions_are_calls() {
    let conversation = of(&[
        inference(
            "m1",
            (0, 1),
            "LLM",
            json!({"llm.output_messages.0.message.contents.0.message_content.type": "text", "llm.output_messages.0.message.contents.0.message_content.text": "Let me.",
            "llm.output_messages.0.message.contents.1.message_content.type": "tool_use", "llm.output_messages.0.message.contents.1.tool_call.id": "a",
            "llm.output_messages.0.message.contents.1.tool_call.function.name": "t", "llm.output_messages.0.message.contents.1.tool_call.function.arguments": "{}"}),
        ),
        inference(
            "m2",
            (2, 3),
            "LLM",
            json!({"llm.output_messages.0.message.function_call_name": "f", "llm.output_messages.0.message.function_call_arguments_json": "{\"n\":1}",
            "llm.input_messages.0.message.role": "tool", "llm.input_messages.0.message.tool_call_id": "a", "llm.input_messages.0.message.content": "one"}),
        ),
    ]);
    assert_eq!(steps(&conversation), ["t {} a one", "f {\"n\":1} call_2 no result recorded"]);
    assert_eq!(conversation.answer, None);
}

#[test]
fn phoenix_exports_are_flat_or_nested() {
    let span = |given: Value| {
        json!({"name": "sparql_query", "context": {"trace_id": "t1", "span_id": "s2"}, "parent_id": "s1", "start_time": "2026-08-01T10:00:01Z",
        "end_time": "2026-08-01T10:00:02Z", "status_code": "OK", "status_message": "", "attributes": given, "events": []})
    };
    let flat = span(
        json!({"openinference.span.kind": "TOOL", "tool.name": "sparql_query", "tool.id": "call_1", "input.value": "{\"query\": \"ASK {}\"}", "output.value": "true"}),
    );
    let nested = span(
        json!({"openinference": {"span": {"kind": "TOOL"}}, "tool": {"name": "sparql_query", "id": "call_1"}, "input": {"value": "{\"query\": \"ASK {}\"}"}, "output": {"value": "true"}}),
    );
    for item in [flat.clone(), nested] {
        let (conversations, report) = import(&json!([item]).to_string());
        assert_eq!(steps(&conversations[0]), ["sparql_query {\"query\":\"ASK {}\"} call_1 true"]);
        assert!(report.recognized().contains("Phoenix spans"), "{}", report.recognized());
    }
    let mut broken = flat;
    broken["status_code"] = json!("ERROR");
    broken["events"] = json!([{"name": "exception", "attributes": {"exception.message": "down"}}]);
    let (conversations, _) = import(&format!("{broken}\n"));
    assert_eq!(conversations[0].steps[0].error.as_deref(), Some("down"));
}

#[test]
fn the_agents_sdk_exports_spans_before_their_trace() {
    let span = |id: &str, data: Value, error: Value| json!({"object": "trace.span", "id": id, "trace_id": "t", "parent_id": "p", "started_at": "2026-08-01T10:00:01Z", "ended_at": "2026-08-01T10:00:02Z", "span_data": data, "error": error});
    let lines = [
        span(
            "s1",
            json!({"type": "generation", "input": [{"role": "user", "content": "How?"}], "output": [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "get_weather", "arguments": "{\"city\":\"Oslo\"}"}}]}], "usage": {"input_tokens": 3, "output_tokens": 1}}),
            Value::Null,
        ),
        span(
            "s2",
            json!({"type": "function", "name": "get_weather", "input": "{\"city\":\"Oslo\"}", "output": "{'temp_c': 4}", "mcp_data": {"server": "w"}}),
            Value::Null,
        ),
        span(
            "s3",
            json!({"type": "function", "name": "u", "input": "{}", "output": null}),
            json!({"message": "failed", "data": {}}),
        ),
        span("s4", json!({"type": "handoff", "from_agent": "a", "to_agent": "b"}), Value::Null),
        span(
            "s5",
            json!({"type": "response", "response_id": "r", "usage": {"input_tokens": 5, "output_tokens": 1}}),
            Value::Null,
        ),
        json!({"object": "trace", "id": "t", "workflow_name": "w", "metadata": {"question_id": "q1"}}),
    ];
    let (conversations, _) = import(&lines.map(|line| line.to_string()).join("\n"));
    let [conversation] = &conversations[..] else { panic!("one trace") };
    assert_eq!(
        steps(conversation),
        [
            "get_weather {\"city\":\"Oslo\"} a {\"temp_c\":4}",
            "u {} s3 failed",
            "transfer_to_b {} s4 "
        ]
    );
    assert_eq!(
        (conversation.steps[0].server.as_deref(), conversation.steps[2].kind),
        (Some("w"), Kind::Agent)
    );
    assert_eq!(
        (conversation.question_id.as_deref(), conversation.usage.total()),
        (Some("q1"), Some(10))
    );
    assert_eq!(conversation.oddities.count(Oddity::PythonText), 1);
}

#[test]
fn langsmiths_runs_are_flat_or_nested() {
    let run = |id: &str, kind: &str, second: u64, more: Value| {
        let mut run = json!({"id": id, "run_type": kind, "name": "t", "trace_id": "r", "start_time": format!("2026-08-01T10:00:0{second}"), "end_time": format!("2026-08-01T10:00:0{}", second + 1), "parent_run_id": "r"});
        more.as_object().expect("fields").iter().for_each(|(key, value)| run[key] = value.clone());
        run
    };
    let children = vec![
        run(
            "x",
            "tool",
            1,
            json!({"inputs": {"input": "{'n': 1}"}, "outputs": {"output": {"type": "tool", "content": "one", "tool_call_id": "a"}}}),
        ),
        run(
            "y",
            "tool",
            3,
            json!({"inputs": {"input": "plain"}, "outputs": null, "error": "ValueError('no')"}),
        ),
        run(
            "z",
            "retriever",
            5,
            json!({"inputs": {"query": "fern"}, "outputs": {"documents": [{"id": "d1", "page_content": "Ferns.", "metadata": {}}]}}),
        ),
    ];
    let root = json!({"inputs": {"messages": [{"role": "user", "content": "How?"}]}, "outputs": {"output": "So."}, "parent_run_id": null, "extra": {"metadata": {"question_id": "q1"}}});
    let mut nested = run("r", "chain", 0, root.clone());
    nested["child_runs"] = Value::Array(children.clone());
    let flat: Vec<String> = children
        .into_iter()
        .chain([run("r", "chain", 0, root)])
        .map(|run| run.to_string())
        .collect();
    for text in [nested.to_string(), flat.join("\n")] {
        let (conversations, _) = import(&text);
        let [conversation] = &conversations[..] else { panic!("one trace") };
        assert_eq!(
            steps(conversation),
            [
                "t {\"n\":1} a one",
                "t {\"input\":\"plain\"} y ValueError('no')",
                "retrieval {\"query\":\"fern\"} z [{\"id\":\"d1\",\"text\":\"Ferns.\"}]",
            ]
        );
        assert_eq!(
            (conversation.answer.as_deref(), conversation.question_id.as_deref()),
            (Some("So."), Some("q1"))
        );
    }
}

#[test]
fn events_of_langchain_are_joined_by_run() {
    let event = |name: &str, run: &str, data: Value| json!({"event": name, "name": "t", "run_id": run, "parent_ids": ["root"], "data": data, "metadata": {"question_id": "q1"}});
    let lines = [
        event("on_tool_start", "x", json!({"input": {"n": 1}})),
        event("on_tool_start", "y", json!({"input": {"n": 2}})),
        event("on_tool_error", "y", json!({"error": "no", "input": {"n": 2}})),
        event(
            "on_tool_end",
            "x",
            json!({"output": {"type": "tool", "content": "one", "tool_call_id": "a"}, "input": {"n": 1}}),
        ),
        event(
            "on_chat_model_end",
            "m",
            json!({"output": {"type": "ai", "content": "So.", "usage_metadata": {"input_tokens": 3, "output_tokens": 1}}}),
        ),
        event("on_chat_model_stream", "m", json!({"chunk": {"content": "So"}})),
    ];
    let (conversations, _) = import(&lines.map(|line| line.to_string()).join("\n"));
    let [conversation] = &conversations[..] else { panic!("one trace") };
    assert_eq!(steps(conversation), ["t {\"n\":1} a one", "t {\"n\":2} y no"]);
    assert_eq!(
        (
            conversation.answer.as_deref(),
            conversation.question_id.as_deref(),
            conversation.usage.total()
        ),
        (Some("So."), Some("q1"), Some(4))
    );
}

#[test]
fn langfuse_exports_traces_with_observations() {
    let trace = json!({"id": "t", "name": "garden", "input": "How?", "output": {"answer": "So."}, "metadata": {"question_id": "q1"}, "sessionId": "s", "observations": [
        {"id": "o1", "traceId": "t", "type": "GENERATION", "startTime": "2026-08-01T10:00:01Z", "endTime": "2026-08-01T10:00:02Z", "input": [{"role": "user", "content": "How?"}],
            "output": {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "t", "arguments": "{\"n\":1}"}}]}, "usageDetails": {"input": 3, "output": 1, "total": 4}},
        {"id": "o2", "traceId": "t", "type": "TOOL", "name": "t", "startTime": "2026-08-01T10:00:03Z", "input": {"n": 1}, "output": "one"},
        {"id": "o3", "traceId": "t", "type": "TOOL", "name": "u", "startTime": "2026-08-01T10:00:04Z", "input": {}, "level": "ERROR", "statusMessage": "no"},
        {"id": "o4", "traceId": "t", "type": "RETRIEVER", "name": "search", "startTime": "2026-08-01T10:00:05Z", "input": "fern", "output": [{"id": "d1", "text": "Ferns."}]}]});
    let (conversations, _) = import(&json!({"data": [trace]}).to_string());
    let [conversation] = &conversations[..] else { panic!("one trace") };
    assert_eq!(
        steps(conversation),
        [
            "t {\"n\":1} a one",
            "u {} o3 no",
            "retrieval {\"query\":\"fern\"} o4 [{\"id\":\"d1\",\"text\":\"Ferns.\"}]"
        ]
    );
    assert_eq!(
        (
            conversation.answer.as_deref(),
            conversation.question_id.as_deref(),
            conversation.usage.total()
        ),
        (Some("So."), Some("q1"), Some(4))
    );
}

#[test]
fn protobuf_says_the_same_as_json() {
    let bytes = super::otlp_protobuf::tests::request();
    for bytes in [
        bytes.clone(),
        [&u32::try_from(bytes.len()).expect("small").to_be_bytes()[..], &bytes].concat(),
    ] {
        let mut conversations = Vec::new();
        let mut importer = Importer::new(Rules::default(), None);
        importer.read("trace.pb", &mut bytes.as_slice(), &mut |_| {}).expect("read");
        importer.finish(&mut |found| conversations.push(found)).expect("finished");
        assert_eq!(
            steps(&conversations[0]),
            ["sparql_query {\"query\":\"ASK {}\"} eeeeeeeeeeeeeeee {\"boolean\":true}"]
        );
    }
}

#[test]
fn what_is_moved_aside_comes_back() {
    let lines: Vec<String> = agent_run().into_iter().map(|span| envelope(&[span])).collect();
    let mut gatherer = Gatherer::holding(64, Box::new(Cursor::new(Vec::new())));
    for line in &lines {
        let mut kept = Vec::new();
        otlp_json::read_envelope(
            line,
            "",
            &Rules::default(),
            &mut Histories::default(),
            &mut |facts| kept.push(facts),
        )
        .expect("read");
        for facts in kept {
            gatherer.add(Packed::of(facts, &mut PackedBefore::default())).expect("kept");
        }
    }
    let mut conversations = Vec::new();
    gatherer.finish(&Rules::default(), &mut |found| conversations.push(found)).expect("finished");
    assert_eq!(steps(&conversations[0]), steps(&of(&agent_run())));
    assert_eq!(conversations[0].answer.as_deref(), Some("Warm."));
}

#[test]
fn a_failed_root_is_an_error() {
    let conversation = of(&[failed(
        span("a", "", "invoke_agent g", (0, 1), json!({"gen_ai.operation.name": "invoke_agent"})),
        "the model refuses",
    )]);
    assert_eq!(conversation.error.as_deref(), Some("the model refuses"));
    assert_eq!(conversation.response("q1", Some(2))["status"], "error");
}
