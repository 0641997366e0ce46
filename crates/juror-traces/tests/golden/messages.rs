//! Dialects of messages: a list of records is a conversation.

use serde_json::{Value, json};

use crate::story::{Call, Event, Reply, Teller};
use crate::vendors;

pub(crate) const TELLERS: &[Teller] = &[
    Teller::new("OpenAI chat messages", chat).without_failures(),
    Teller::new("OpenAI chat messages", functions)
        .shape("functions")
        .without_ids()
        .without_failures(),
    Teller::new("OpenAI Responses", responses).without_failures(),
    Teller::new("OpenAI Responses", run_items).shape("run items").without_failures(),
    Teller::new("Anthropic messages", anthropic),
    Teller::new("LangChain messages", langchain),
    Teller::new("LangChain messages", langchain_in_data).shape("messages_to_dict"),
    Teller::new("LangChain messages", langchain_dumped).shape("dumpd"),
    Teller::new("LangChain messages", langchain_updates).shape("updates"),
    Teller::new("pydantic-ai messages", pydantic_ai),
    Teller::new("LlamaIndex", llama_history).shape("history").without_failures(),
    Teller::new("LlamaIndex", llama_events).shape("events"),
    Teller::new("Bedrock Converse", bedrock),
    Teller::new("Gemini contents", gemini).without_ids(),
    Teller::new("Gemini contents", gemini_with_ids).shape("with ids"),
    Teller::new("Gemini contents", adk_events).shape("events of the ADK"),
    Teller::new("Vercel AI SDK messages", vercel),
    Teller::new("Inspect log", inspect).flat(),
    Teller::new("smolagents", smolagents).flat(),
    Teller::new("ragas samples", ragas).without_ids().without_failures().flat(),
    Teller::new("deepeval test cases", deepeval).without_ids().without_failures().flat(),
    Teller::new("ToolBench answers", toolbench).without_ids().flat(),
];

/// Tells a story whose beginning was recorded before; `None` for dialects of spans.
pub(crate) fn repeated(teller: &Teller, story: &[Event]) -> Option<String> {
    let (begun, whole) = ((teller.write)(&story[..3]), (teller.write)(story));
    let list = |text: &str| serde_json::from_str::<Vec<Value>>(text).ok();
    match (teller.dialect, teller.shape) {
        // A log of requests, each with all messages so far.
        ("OpenAI chat messages", "functions") => {
            let request = |text: &str| json!({"messages": list(text)}).to_string();
            Some(format!("{}\n{}\n", request(&begun), request(&whole)))
        }
        ("Gemini contents", "" | "with ids") => {
            let request = |text: &str| json!({"contents": list(text)}).to_string();
            Some(format!("{}\n{}\n", request(&begun), request(&whole)))
        }
        ("Claude Code session" | "Codex session", _) => Some(format!("{begun}{whole}")),
        _ => Some(json!([list(&begun)?, list(&whole)?].concat()).to_string())
            .filter(|_| !["OTLP", "Phoenix spans"].contains(&teller.dialect)),
    }
}

/// The records of a story: each event is none, one or several.
pub(crate) fn records(story: &[Event], record: impl Fn(&Event) -> Vec<Value>) -> Vec<Value> {
    story.iter().flat_map(record).collect()
}

fn list(story: &[Event], record: impl Fn(&Event) -> Vec<Value>) -> String {
    Value::Array(records(story, record)).to_string()
}

fn each(calls: &[Call], call: impl Fn(&Call) -> Value) -> Vec<Value> {
    calls.iter().map(call).collect()
}

pub(crate) fn chat_call(call: &Call) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args_text()}})
}

pub(crate) fn chat_record(event: &Event) -> Vec<Value> {
    match event {
        // Requests have tools beside their messages, and some keep them in a message of the system.
        Event::Tools => vec![json!({"role": "system", "content": "You have tools.", "tools": [
            {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]})],
        Event::Ask(text) => vec![json!({"role": "user", "content": text})],
        Event::Calls(calls) => {
            vec![
                json!({"role": "assistant", "content": "Let me see.", "tool_calls": each(calls, chat_call)}),
            ]
        }
        Event::Result(Reply { call, content, .. }) => {
            let content =
                if content.is_string() { content.clone() } else { json!(content.to_string()) };
            vec![json!({"role": "tool", "tool_call_id": call.id, "content": content})]
        }
        Event::Say(text) => vec![json!({"role": "assistant", "content": text})],
    }
}

fn chat(story: &[Event]) -> String {
    list(story, chat_record)
}

fn functions(story: &[Event]) -> String {
    list(story, |event| match event {
        Event::Calls(calls) => each(
            calls,
            |call| json!({"role": "assistant", "content": null, "function_call": {"name": call.name, "arguments": call.args_text()}}),
        ),
        Event::Result(reply) => {
            vec![json!({"role": "function", "name": reply.call.name, "content": reply.text()})]
        }
        other => chat_record(other),
    })
}

fn response_record(event: &Event) -> Vec<Value> {
    match event {
        Event::Tools => vec![
            json!({"type": "mcp_list_tools", "id": "l", "server_label": "s", "tools": [{"name": "weather", "input_schema": {}}]}),
        ],
        Event::Ask(text) => vec![json!({"role": "user", "content": text})],
        Event::Calls(calls) => each(
            calls,
            |call| json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id, "name": call.name, "arguments": call.args_text(), "status": "completed"}),
        ),
        Event::Result(reply) => {
            vec![
                json!({"type": "function_call_output", "call_id": reply.call.id, "output": reply.text()}),
            ]
        }
        Event::Say(text) => vec![
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
        ],
    }
}

fn responses(story: &[Event]) -> String {
    list(story, response_record)
}

fn run_items(story: &[Event]) -> String {
    list(story, |event| {
        let kind = match event {
            Event::Calls(_) => "tool_call_item",
            Event::Result(_) => "tool_call_output_item",
            Event::Say(_) => "message_output_item",
            Event::Tools => "mcp_list_tools_item",
            Event::Ask(_) => return response_record(event),
        };
        let item = |raw: Value| {
            let mut item = json!({"type": kind, "agent": "garden", "raw_item": raw});
            if let Event::Result(reply) = event {
                item["output"] = reply.content.clone();
            }
            item
        };
        response_record(event).into_iter().map(item).collect()
    })
}

fn anthropic(story: &[Event]) -> String {
    list(story, |event| match event {
        Event::Tools => vec![],
        Event::Ask(text) => vec![json!({"role": "user", "content": text})],
        Event::Calls(calls) => {
            let mut blocks = vec![json!({"type": "text", "text": "Let me see."})];
            blocks.extend(each(calls, |call| {
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args})
            }));
            vec![json!({"role": "assistant", "content": blocks})]
        }
        Event::Result(reply) => {
            let text = json!([{"type": "text", "text": reply.text()}]);
            vec![json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": reply.call.id, "is_error": reply.fails, "content": text}]})]
        }
        Event::Say(text) => {
            vec![
                json!({"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}),
            ]
        }
    })
}

pub(crate) fn langchain_record(event: &Event) -> Vec<Value> {
    match event {
        Event::Tools => vec![],
        Event::Ask(text) => vec![json!({"type": "human", "content": text})],
        Event::Calls(calls) => {
            let (valid, invalid): (Vec<Call>, Vec<Call>) =
                calls.iter().cloned().partition(|call| call.args.is_object());
            let valid = each(
                &valid,
                |call| json!({"name": call.name, "args": call.args, "id": call.id, "type": "tool_call"}),
            );
            let invalid = each(
                &invalid,
                |call| json!({"name": call.name, "args": call.args, "id": call.id, "error": "not JSON", "type": "invalid_tool_call"}),
            );
            vec![
                json!({"type": "ai", "content": "Let me see.", "tool_calls": valid, "invalid_tool_calls": invalid}),
            ]
        }
        Event::Result(reply) => {
            let status = if reply.fails { "error" } else { "success" };
            vec![
                json!({"type": "tool", "name": reply.call.name, "tool_call_id": reply.call.id, "content": reply.text(), "status": status}),
            ]
        }
        Event::Say(text) => vec![json!({"type": "ai", "content": text, "tool_calls": []})],
    }
}

fn langchain(story: &[Event]) -> String {
    list(story, langchain_record)
}

fn langchain_in_data(story: &[Event]) -> String {
    let wrap = |fields: Value| json!({"type": fields["type"], "data": fields});
    list(story, |event| langchain_record(event).into_iter().map(wrap).collect())
}

fn langchain_dumped(story: &[Event]) -> String {
    let wrap = |mut fields: Value| {
        let class = match fields["type"].as_str().expect("a type") {
            "human" => "HumanMessage",
            "ai" => "AIMessage",
            _ => "ToolMessage",
        };
        // Arguments that look like dumped objects are wrapped.
        for call in fields["tool_calls"].as_array_mut().into_iter().flatten() {
            call["args"] = json!({"__lc_escaped__": call["args"]});
        }
        json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class], "kwargs": fields})
    };
    list(story, |event| langchain_record(event).into_iter().map(wrap).collect())
}

fn langchain_updates(story: &[Event]) -> String {
    list(story, |event| {
        let node = match event {
            Event::Ask(_) => "__start__",
            Event::Result(_) => "tools",
            _ => "agent",
        };
        let messages = langchain_record(event);
        if messages.is_empty() { vec![] } else { vec![json!({node: {"messages": messages}})] }
    })
}

fn pydantic_ai(story: &[Event]) -> String {
    let request = |part: Value| vec![json!({"kind": "request", "parts": [part]})];
    list(story, |event| match event {
        Event::Tools => vec![],
        Event::Ask(text) => request(json!({"part_kind": "user-prompt", "content": text})),
        Event::Calls(calls) => {
            let parts = each(
                calls,
                |call| json!({"part_kind": "tool-call", "tool_name": call.name, "args": call.args_text(), "tool_call_id": call.id}),
            );
            vec![json!({"kind": "response", "parts": parts})]
        }
        Event::Result(Reply { call, content, fails: true }) => request(
            json!({"part_kind": "retry-prompt", "tool_name": call.name, "content": content, "tool_call_id": call.id}),
        ),
        Event::Result(Reply { call, content, .. }) => request(
            json!({"part_kind": "tool-return", "tool_name": call.name, "content": content, "tool_call_id": call.id, "outcome": "success"}),
        ),
        Event::Say(text) => {
            vec![json!({"kind": "response", "parts": [{"part_kind": "text", "content": text}]})]
        }
    })
}

fn llama_text(role: &str, text: &str) -> Value {
    json!({"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}]})
}

fn llama_history(story: &[Event]) -> String {
    list(story, |event| match event {
        Event::Tools => vec![],
        Event::Ask(text) => vec![llama_text("user", text)],
        Event::Calls(calls) => {
            let blocks = each(
                calls,
                |call| json!({"block_type": "tool_call", "tool_call_id": call.id, "tool_name": call.name, "tool_kwargs": call.args}),
            );
            vec![json!({"role": "assistant", "additional_kwargs": {}, "blocks": blocks})]
        }
        Event::Result(reply) => {
            let mut message = llama_text("tool", &reply.text());
            message["additional_kwargs"] = json!({"tool_call_id": reply.call.id});
            vec![message]
        }
        Event::Say(text) => vec![llama_text("assistant", text)],
    })
}

fn llama_events(story: &[Event]) -> String {
    let call_of =
        |call: &Call| json!({"tool_name": call.name, "tool_kwargs": call.args, "tool_id": call.id});
    list(story, |event| match event {
        Event::Tools => vec![],
        Event::Ask(text) => vec![llama_text("user", text)],
        Event::Calls(calls) => {
            let response = llama_text("assistant", "Let me see.");
            vec![
                json!({"event": "AgentOutput", "response": response, "tool_calls": each(calls, call_of)}),
            ]
        }
        Event::Result(reply) => {
            let mut result = call_of(&reply.call);
            let blocks = json!([{"block_type": "text", "text": reply.text()}]);
            result["event"] = json!("ToolCallResult");
            result["tool_output"] =
                json!({"blocks": blocks, "raw_output": reply.content, "is_error": reply.fails});
            vec![result]
        }
        Event::Say(text) => {
            vec![
                json!({"event": "AgentOutput", "response": llama_text("assistant", text), "tool_calls": []}),
            ]
        }
    })
}

fn bedrock(story: &[Event]) -> String {
    list(story, |event| match event {
        Event::Tools => vec![],
        Event::Ask(text) => vec![json!({"role": "user", "content": [{"text": text}]})],
        Event::Calls(calls) => {
            let blocks = each(
                calls,
                |call| json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.args}}),
            );
            vec![json!({"role": "assistant", "content": blocks})]
        }
        Event::Result(reply) => {
            let block = if reply.content.is_string() { "text" } else { "json" };
            let status = if reply.fails { "error" } else { "success" };
            vec![json!({"role": "user", "content": [
                {"toolResult": {"toolUseId": reply.call.id, "content": [{block: reply.content}], "status": status}}]})]
        }
        Event::Say(text) => {
            vec![
                json!({"output": {"message": {"role": "assistant", "content": [{"text": text}]}}, "usage": {"inputTokens": 1, "outputTokens": 1}}),
            ]
        }
    })
}

fn gemini_record(event: &Event, has_ids: bool) -> Vec<Value> {
    let with_id = |mut part: Value, call: &Call| {
        if has_ids {
            part["id"] = json!(call.id);
        }
        part
    };
    match event {
        Event::Tools => vec![],
        Event::Ask(text) => vec![json!({"role": "user", "parts": [{"text": text}]})],
        Event::Calls(calls) => {
            let parts = each(
                calls,
                |call| json!({"functionCall": with_id(json!({"name": call.name, "args": call.args}), call)}),
            );
            vec![json!({"role": "model", "parts": parts})]
        }
        Event::Result(reply) => {
            let response = match (reply.fails, &reply.content) {
                (true, content) => json!({"error": content}),
                (false, content) if content.is_string() => json!({"result": content}),
                (false, content) => content.clone(),
            };
            let part = with_id(json!({"name": reply.call.name, "response": response}), &reply.call);
            vec![json!({"role": "user", "parts": [{"functionResponse": part}]})]
        }
        Event::Say(text) => vec![json!({"role": "model", "parts": [{"text": text}]})],
    }
}

fn gemini(story: &[Event]) -> String {
    list(story, |event| gemini_record(event, false))
}

fn gemini_with_ids(story: &[Event]) -> String {
    list(story, |event| gemini_record(event, true))
}

fn adk_events(story: &[Event]) -> String {
    list(story, |event| {
        let author = if matches!(event, Event::Ask(_)) { "user" } else { "garden" };
        let content = vendors::adk_content(event).into_iter();
        content
            .map(|content| json!({"author": author, "invocationId": "i", "content": content}))
            .collect()
    })
}

fn vercel(story: &[Event]) -> String {
    list(story, |event| vendors::vercel_message(event).into_iter().collect())
}

fn inspect(story: &[Event]) -> String {
    let messages = records(story, |event| match event {
        Event::Calls(calls) => {
            let calls = each(calls, |call| {
                let mut asked = json!({"id": call.id, "function": call.name, "arguments": call.args, "type": "function"});
                if let Some(text) = call.args.as_str() {
                    asked["arguments"] = json!({});
                    asked["parse_error"] = json!(text);
                }
                asked
            });
            vec![json!({"role": "assistant", "content": "", "tool_calls": calls})]
        }
        Event::Result(reply) if reply.fails => {
            let error = json!({"type": "unknown", "message": reply.text()});
            vec![
                json!({"role": "tool", "tool_call_id": reply.call.id, "content": "", "error": error}),
            ]
        }
        other => chat_record(other),
    });
    json!({"version": 2, "eval": {"task": "garden"}, "samples": [
        {"id": "q1", "epoch": 1, "input": "How warm is it?", "target": "4", "messages": messages}]})
    .to_string()
}

fn smolagents(story: &[Event]) -> String {
    let mut steps: Vec<Value> = Vec::new();
    for event in story {
        match event {
            Event::Tools => steps.push(json!({"system_prompt": "You have tools."})),
            Event::Ask(text) => steps.push(json!({"task": text, "task_images": null})),
            Event::Calls(calls) => steps.extend(calls.iter().enumerate().map(|(at, call)| {
                json!({"step_number": at + 1, "tool_calls": [{"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args}}]})
            })),
            Event::Result(reply) => {
                let mine = |step: &&mut Value| step["tool_calls"][0]["id"] == reply.call.id;
                let step = steps.iter_mut().find(mine).expect("its step");
                if reply.fails {
                    step["error"] = json!({"message": reply.text()});
                } else {
                    step["observations"] = json!(reply.text());
                }
            }
            Event::Say(text) => steps.push(json!({"step_number": 99, "tool_calls": [
                {"id": "f", "function": {"name": "final_answer", "arguments": {"answer": text}}}], "observations": text})),
        }
    }
    Value::Array(steps).to_string()
}

fn ragas(story: &[Event]) -> String {
    let messages = records(story, |event| match event {
        Event::Calls(calls) => {
            let calls = each(calls, |call| json!({"name": call.name, "args": call.args}));
            vec![json!({"type": "ai", "content": "", "tool_calls": calls})]
        }
        Event::Result(reply) => vec![json!({"type": "tool", "content": reply.text()})],
        other => langchain_record(other),
    });
    json!([{"user_input": messages, "reference_tool_calls": [{"name": "never", "args": {}}]}])
        .to_string()
}

fn deepeval(story: &[Event]) -> String {
    let mut case = json!({"toolsCalled": [], "expectedTools": [{"name": "never"}]});
    for event in story {
        match event {
            Event::Tools => {}
            Event::Ask(text) => case["input"] = json!(text),
            Event::Calls(calls) => {
                let tools = case["toolsCalled"].as_array_mut().expect("a list");
                tools.extend(each(
                    calls,
                    |call| json!({"name": call.name, "inputParameters": call.args, "id": call.id}),
                ));
            }
            Event::Result(reply) => {
                let tools = case["toolsCalled"].as_array_mut().expect("a list");
                let tool =
                    tools.iter_mut().find(|tool| tool["id"] == reply.call.id).expect("its call");
                tool["output"] = reply.content.clone();
            }
            Event::Say(text) => case["actualOutput"] = json!(text),
        }
    }
    json!([case]).to_string()
}

fn toolbench(story: &[Event]) -> String {
    let mut nodes: Vec<(&'static str, Value)> = Vec::new();
    let mut answer = "";
    for event in story {
        match event {
            Event::Tools => {
                nodes.push(("system", json!("You have functions: [{'name': 'weather'}]")));
            }
            Event::Ask(text) => nodes.push(("user", json!(text))),
            Event::Calls(calls) => nodes.extend(calls.iter().map(|call| {
                ("tool", json!({"name": call.name, "arguments": call.args, "id": call.id}))
            })),
            Event::Result(reply) => {
                let (_, message) = nodes
                    .iter_mut()
                    .find(|(_, message)| message["id"] == reply.call.id)
                    .expect("its call");
                let (error, response) = if reply.fails {
                    (reply.text(), json!(""))
                } else {
                    (String::new(), reply.content.clone())
                };
                message["response"] =
                    json!(json!({"error": error, "response": response}).to_string());
            }
            Event::Say(text) => {
                answer = text;
                let args = json!({"return_type": "give_answer", "final_answer": text});
                nodes.push(("tool", json!({"name": "Finish", "arguments": args, "response": ""})));
            }
        }
    }
    let tree = nodes.into_iter().rev().fold(json!([]), |next, (role, message)| {
        let message = if message.is_string() { message } else { json!(message.to_string()) };
        json!([{"role": role, "message": message, "next": next}])
    });
    json!({"query": "How warm is it?", "answer": {"final_answer": answer, "answer_details": tree}})
        .to_string()
}
