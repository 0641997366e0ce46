//! Agents within agents, where a dialect says who called: their calls are steps with the call of the
//! agent as parent, and what they say is no answer.

use juror_traces::Kind;
use serde_json::{Value, json};

use crate::otlp::{envelope, iso, nanoseconds, pairs};
use crate::story::{check, import};

const STEPS: [&str; 2] =
    ["ask_gardener {\"question\":\"How warm?\"} → It is 4.", "weather {\"n\":1} → 4"];

/// Checks that one agent asked another, which made a call.
fn check_nested(told: &str, trace: &str) {
    let conversation = check(told, trace, &STEPS, Some("4 degrees."), &[]);
    let [outer, inner] = &conversation.steps[..] else { panic!("two steps") };
    assert_eq!(outer.parent_id, None, "{told}");
    assert_eq!(inner.parent_id.as_deref(), Some(outer.id.as_str()), "{told}");
}

/// The spans of the story: id, parent, and what it is.
const SPANS: [(&str, &str, &str); 6] = [
    ("root", "", "agent"),
    ("s1", "root", "ask_gardener"),
    ("a1", "s1", "agent"),
    ("s2", "a1", "weather"),
    ("m1", "a1", "It is 4."),
    ("m2", "root", "4 degrees."),
];

fn args(tool: &str) -> Value {
    if tool == "weather" { json!({"n": 1}) } else { json!({"question": "How warm?"}) }
}

fn output(tool: &str) -> &'static str {
    if tool == "weather" { "4" } else { "It is 4." }
}

/// Writes the spans; `write` gets the id, the parent, what it is, and when it was.
fn each(write: impl Fn(&str, Option<&str>, &str, (u64, u64)) -> Value) -> Vec<Value> {
    let spans = SPANS.iter().zip(1_u64..);
    let write = |((id, parent, what), at): (&(&str, &str, &str), u64)| {
        let parent = Some(*parent).filter(|parent| !parent.is_empty());
        // What is around others ends after them.
        let end = if what.contains(' ') || *what == "weather" { at * 10 + 5 } else { 100 - at };
        write(id, parent, what, (at * 10, end))
    };
    spans.map(write).collect()
}

fn otlp(attributes: impl Fn(&str) -> Value) -> String {
    let mut spans = each(|id, parent, what, (start, end)| {
        json!({"traceId": "t1", "spanId": id, "parentSpanId": parent, "name": what, "startTimeUnixNano": nanoseconds(start),
            "endTimeUnixNano": nanoseconds(end), "attributes": pairs(&attributes(what))})
    });
    let root = spans.remove(0);
    let text = envelope(spans, &json!({}));
    let mut whole: Value = serde_json::from_str(&text).expect("JSON");
    let spans = whole["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().expect("spans");
    spans.pop();
    spans.push(root);
    whole.to_string()
}

#[test]
fn spans_of_genai_and_openinference_have_parents() {
    check_nested(
        "GenAI",
        &otlp(|what| match what {
            "agent" => {
                json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "garden"})
            }
            tool if !tool.contains(' ') => {
                json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": args(tool).to_string(), "gen_ai.tool.call.result": output(tool)})
            }
            said => {
                let said =
                    json!([{"role": "assistant", "parts": [{"type": "text", "content": said}]}]);
                json!({"gen_ai.operation.name": "chat", "gen_ai.output.messages": said.to_string()})
            }
        }),
    );
    check_nested(
        "OpenInference",
        &otlp(|what| match what {
            "agent" => json!({"openinference.span.kind": "AGENT"}),
            tool if !tool.contains(' ') => {
                json!({"openinference.span.kind": "TOOL", "tool.name": tool, "input.value": args(tool).to_string(), "output.value": output(tool)})
            }
            said => {
                json!({"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": said})
            }
        }),
    );
    check_nested(
        "Traceloop",
        &otlp(|what| match what {
            "agent" => json!({"traceloop.span.kind": "agent", "traceloop.entity.name": "garden"}),
            tool if !tool.contains(' ') => {
                json!({"traceloop.span.kind": "tool", "traceloop.entity.name": tool, "traceloop.entity.input": args(tool).to_string(), "traceloop.entity.output": output(tool)})
            }
            said => {
                json!({"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": said})
            }
        }),
    );
    check_nested(
        "Vercel",
        &otlp(|what| match what {
            "agent" => json!({"ai.operationId": "ai.generateText"}),
            tool if !tool.contains(' ') => {
                json!({"ai.operationId": "ai.toolCall", "ai.toolCall.name": tool, "ai.toolCall.args": args(tool).to_string(), "ai.toolCall.result": json!(output(tool)).to_string()})
            }
            said => {
                json!({"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": said})
            }
        }),
    );
}

#[test]
fn exports_have_parents() {
    let phoenix = each(|id, parent, what, (start, end)| {
        let attributes = match what {
            "agent" => json!({"openinference": {"span": {"kind": "AGENT"}}}),
            tool if !tool.contains(' ') => {
                json!({"openinference": {"span": {"kind": "TOOL"}}, "tool": {"name": tool}, "input": {"value": args(tool).to_string()}, "output": {"value": output(tool)}})
            }
            said => {
                json!({"openinference": {"span": {"kind": "LLM"}}, "llm": {"output_messages": [{"message": {"role": "assistant", "content": said}}]}})
            }
        };
        json!({"name": what, "context": {"trace_id": "t1", "span_id": id}, "parent_id": parent, "start_time": iso(start), "end_time": iso(end), "status_code": "OK", "attributes": attributes})
    });
    check_nested("Phoenix", &Value::Array(phoenix).to_string());
    let sdk = each(|id, parent, what, (start, end)| {
        let data = match what {
            "agent" => json!({"type": "agent", "name": "garden"}),
            tool if !tool.contains(' ') => {
                json!({"type": "function", "name": tool, "input": args(tool).to_string(), "output": output(tool)})
            }
            said => {
                json!({"type": "generation", "output": [{"role": "assistant", "content": said}]})
            }
        };
        json!({"object": "trace.span", "id": id, "trace_id": "t1", "parent_id": parent, "started_at": iso(start), "ended_at": iso(end), "span_data": data, "error": null})
    });
    check_nested("Agents SDK", &Value::Array(sdk).to_string());
    let smith = each(|id, parent, what, (start, end)| {
        let (kind, inputs, outputs) = match what {
            "agent" => ("chain", json!({}), json!({})),
            tool if !tool.contains(' ') => {
                ("tool", json!({"input": args(tool).to_string()}), json!({"output": output(tool)}))
            }
            said => (
                "llm",
                json!({}),
                json!({"generations": [[{"message": {"type": "ai", "content": said}}]]}),
            ),
        };
        json!({"id": id, "trace_id": "root", "parent_run_id": parent, "run_type": kind, "name": what, "start_time": iso(start), "end_time": iso(end), "inputs": inputs, "outputs": outputs})
    });
    check_nested("LangSmith", &Value::Array(smith).to_string());
    let fuse = each(|id, parent, what, (start, end)| {
        let (kind, input, output) = match what {
            "agent" => ("AGENT", Value::Null, Value::Null),
            tool if !tool.contains(' ') => ("TOOL", args(tool), json!(output(tool))),
            said => ("GENERATION", Value::Null, json!({"role": "assistant", "content": said})),
        };
        json!({"id": id, "traceId": "t1", "parentObservationId": parent, "type": kind, "name": what, "startTime": iso(start), "endTime": iso(end), "input": input, "output": output})
    });
    check_nested("Langfuse", &json!({"id": "t1", "observations": fuse}).to_string());
}

#[test]
fn events_of_langchain_name_the_runs_above() {
    let event = |name: &str, tool: &str, run: &str, above: &[&str], data: Value| {
        json!({"event": name, "name": tool, "run_id": run, "parent_ids": above, "data": data})
            .to_string()
    };
    let said = |text: &str| json!({"output": {"type": "ai", "content": text}});
    let ask = args("ask_gardener");
    let lines = [
        event("on_tool_start", "ask_gardener", "s1", &["root"], json!({"input": ask})),
        event("on_tool_start", "weather", "s2", &["root", "s1"], json!({"input": {"n": 1}})),
        event("on_tool_end", "weather", "s2", &["root", "s1"], json!({"output": "4"})),
        event("on_chat_model_end", "m", "m1", &["root", "s1"], said("It is 4.")),
        event("on_tool_end", "ask_gardener", "s1", &["root"], json!({"output": "It is 4."})),
        event("on_chat_model_end", "m", "m2", &["root"], said("4 degrees.")),
    ];
    check_nested("LangChain events", &lines.join("\n"));
}

#[test]
fn side_chains_and_signed_messages_name_their_agents() {
    let line = |role: &str, is_aside: bool, content: Value| {
        json!({"type": role, "sessionId": "s1", "uuid": "u", "isSidechain": is_aside, "message": {"role": role, "content": content}}).to_string()
    };
    let use_of = |id: &str, tool: &str| json!([{"type": "tool_use", "id": id, "name": tool, "input": args(tool)}]);
    let result =
        |id: &str, text: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": text}]);
    let lines = [
        line("user", false, json!("How warm is it?")),
        line("assistant", false, use_of("c1", "ask_gardener")),
        line("user", true, json!("How warm?")),
        line("assistant", true, use_of("c2", "weather")),
        line("user", true, result("c2", "4")),
        line("assistant", true, json!([{"type": "text", "text": "It is 4."}])),
        line("user", false, result("c1", "It is 4.")),
        line("assistant", false, json!([{"type": "text", "text": "4 degrees."}])),
    ];
    let conversation = check("Claude Code", &lines.join("\n"), &STEPS, Some("4 degrees."), &[]);
    assert_eq!(
        conversation.questions,
        ["How warm is it?"],
        "what an agent is asked is no question"
    );
    assert_eq!(conversation.steps[1].agent.as_deref(), Some("sidechain"));
    let call = |name: &str, id: &str, tool: &str| json!({"type": "ai", "name": name, "content": "", "tool_calls": [{"name": tool, "args": args(tool), "id": id}]});
    let messages = json!([
        {"type": "human", "content": "How warm is it?"},
        call("supervisor", "c1", "ask_gardener"),
        {"type": "tool", "tool_call_id": "c1", "content": "It is 4."},
        call("gardener", "c2", "weather"),
        {"type": "tool", "tool_call_id": "c2", "content": "4"},
        {"type": "ai", "name": "supervisor", "content": "4 degrees."}]);
    let conversation = check("LangChain", &messages.to_string(), &STEPS, Some("4 degrees."), &[]);
    let agents: Vec<_> = conversation.steps.iter().map(|step| step.agent.as_deref()).collect();
    assert_eq!(agents, [Some("supervisor"), Some("gardener")]);
}

#[test]
fn a_handover_is_one_step_however_it_is_spelled() {
    let request = json!([{"role": "assistant", "tool_calls": [{"id": "h", "function": {"name": "transfer_to_tree_guide", "arguments": "{}"}}]}]);
    let span = |id: &str, at: u64, data: Value| json!({"object": "trace.span", "id": id, "trace_id": "t1", "parent_id": "root", "started_at": iso(at), "ended_at": iso(at + 1), "span_data": data, "error": null});
    let handoff =
        span("s2", 2, json!({"type": "handoff", "from_agent": "Garden", "to_agent": "Tree Guide"}));
    let said = span(
        "s3",
        4,
        json!({"type": "generation", "output": [{"role": "assistant", "content": "Here."}]}),
    );
    let asked = span("s1", 0, json!({"type": "generation", "output": request}));
    let both = json!([asked, handoff, said]).to_string();
    let steps = ["transfer_to_tree_guide {} → nothing"];
    let conversation = check("handover", &both, &steps, Some("Here."), &[]);
    assert_eq!((conversation.steps[0].kind, conversation.steps[0].id.as_str()), (Kind::Agent, "h"));
    let alone = json!([handoff, said]).to_string();
    check("span alone", &alone, &["transfer_to_Tree Guide {} → nothing"], Some("Here."), &[]);
    let items = json!([
        {"type": "function_call", "call_id": "h", "name": "transfer_to_tree_guide", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "h", "output": "{\"assistant\": \"Tree Guide\"}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Here."}]}]);
    let (conversations, _) = import(&items.to_string());
    assert_eq!(conversations[0].steps[0].kind, Kind::Agent);
}
