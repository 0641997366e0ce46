//! Spans as vendors and frameworks write them: attributes of their own in OTLP, and exports.

use serde_json::{Value, json};

use crate::messages::{chat_record, langchain_record};
use crate::otlp::{Span, What, envelope, iso, otlp_span, spans};
use crate::story::{Call, Event, Reply, Teller, lines};

pub(crate) const TELLERS: &[Teller] = &[
    Teller::new("Traceloop", traceloop),
    Teller::new("Vercel AI SDK", vercel),
    Teller::new("GenAI", pydantic_ai).shape("pydantic-ai, older"),
    Teller::new("Google ADK", adk),
    Teller::new("Langfuse", langfuse).without_ids(),
    Teller::new("Laminar", laminar).without_ids(),
    Teller::new("MLflow", mlflow).without_ids(),
    Teller::new("OpenAI Agents SDK tracing", agents_sdk).without_ids(),
    Teller::new("LangSmith runs", langsmith),
    Teller::new("LangChain events", langchain_events).flat(),
    Teller::new("Langfuse export", langfuse_export).without_ids(),
];

/// Writes spans below a root, with the attributes and the name of each.
fn write(story: &[Event], root: &Value, attributes: fn(&Span) -> (String, Value)) -> String {
    let write = |span: &Span| {
        let (name, attributes) = attributes(span);
        otlp_span(span, &name, &attributes, &[])
    };
    envelope(spans(story).iter().map(write).collect(), root)
}

fn chats(events: &[Event]) -> Vec<Value> {
    events.iter().flat_map(chat_record).collect()
}

/// Adds what a tool returned, unless it failed.
fn with_output(mut attributes: Value, key: &str, reply: &Reply, output: Value) -> Value {
    if !reply.fails {
        attributes[key] = output;
    }
    attributes
}

fn traceloop(story: &[Event]) -> String {
    write(story, &json!({"traceloop.span.kind": "workflow"}), |span| match &span.what {
        What::Model { given, gave } => {
            let mut attributes = json!({"llm.request.functions.0.name": "weather"});
            for (at, message) in chats(given).iter().enumerate() {
                let mut put = |key: &str, value: &Value| {
                    attributes[format!("gen_ai.prompt.{at}.{key}")] = value.clone();
                };
                put("role", &message["role"]);
                put("content", &message["content"]);
                if let Some(id) = message.get("tool_call_id") {
                    put("tool_call_id", id);
                }
                for (n, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate()
                {
                    put(&format!("tool_calls.{n}.id"), &call["id"]);
                    put(&format!("tool_calls.{n}.name"), &call["function"]["name"]);
                    put(&format!("tool_calls.{n}.arguments"), &call["function"]["arguments"]);
                }
            }
            attributes["gen_ai.completion.0.role"] = json!("assistant");
            match gave {
                Event::Calls(calls) => {
                    for (n, call) in calls.iter().enumerate() {
                        let key = format!("gen_ai.completion.0.tool_calls.{n}");
                        attributes[format!("{key}.id")] = json!(call.id);
                        attributes[format!("{key}.name")] = json!(call.name);
                        attributes[format!("{key}.arguments")] = json!(call.args_text());
                    }
                }
                Event::Say(text) => attributes["gen_ai.completion.0.content"] = json!(text),
                _ => {}
            }
            ("openai.chat".to_owned(), attributes)
        }
        What::Tool(reply) => {
            let attributes = json!({"traceloop.span.kind": "tool", "traceloop.entity.name": reply.call.name,
                "traceloop.entity.input": reply.call.args_text()});
            let message = json!({"output": {"type": "tool", "content": reply.text(), "tool_call_id": reply.call.id}});
            let attributes = with_output(
                attributes,
                "traceloop.entity.output",
                reply,
                json!(message.to_string()),
            );
            (format!("{}.tool", reply.call.name), attributes)
        }
    })
}

pub(crate) fn vercel_message(event: &Event) -> Option<Value> {
    Some(match event {
        Event::Tools => return None,
        Event::Ask(text) => json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        Event::Calls(calls) => {
            let parts = calls.iter().map(|call| {
                json!({"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.args})
            });
            json!({"role": "assistant", "content": parts.collect::<Vec<_>>()})
        }
        Event::Result(reply) => {
            let kind = if reply.fails { "error-text" } else { "json" };
            json!({"role": "tool", "content": [{"type": "tool-result", "toolCallId": reply.call.id, "toolName": reply.call.name,
                "output": {"type": kind, "value": reply.content}}]})
        }
        Event::Say(text) => {
            json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
        }
    })
}

fn vercel(story: &[Event]) -> String {
    write(story, &json!({"ai.operationId": "ai.generateText"}), |span| match &span.what {
        What::Model { given, gave } => {
            let given: Vec<Value> = given.iter().filter_map(vercel_message).collect();
            let mut attributes = json!({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": Value::Array(given).to_string(),
                "ai.prompt.tools": ["{\"type\": \"function\", \"name\": \"weather\"}"]});
            match gave {
                Event::Calls(calls) => {
                    let call = |call: &Call| json!({"toolCallId": call.id, "toolName": call.name, "input": call.args_text()});
                    let calls: Vec<Value> = calls.iter().map(call).collect();
                    attributes["ai.response.toolCalls"] = json!(Value::Array(calls).to_string());
                }
                Event::Say(text) => attributes["ai.response.text"] = json!(text),
                _ => {}
            }
            ("ai.generateText.doGenerate".to_owned(), attributes)
        }
        What::Tool(reply) => {
            let attributes = json!({"ai.operationId": "ai.toolCall", "ai.toolCall.name": reply.call.name, "ai.toolCall.id": reply.call.id,
                "ai.toolCall.args": reply.call.args_text()});
            let result = json!(reply.content.to_string());
            ("ai.toolCall".to_owned(), with_output(attributes, "ai.toolCall.result", reply, result))
        }
    })
}

fn pydantic_ai(story: &[Event]) -> String {
    let root = json!({"agent_name": "garden", "gen_ai.operation.name": "invoke_agent"});
    write(story, &root, |span| match &span.what {
        What::Model { given, gave } => {
            // All messages so far, as events in one attribute.
            let all = json!([chats(given), chats(std::slice::from_ref(gave))].concat());
            let mut attributes = json!({"gen_ai.operation.name": "chat", "all_messages_events": all.to_string(),
                "model_request_parameters": "{\"function_tools\": [{\"name\": \"weather\"}]}"});
            if let Event::Say(text) = gave {
                attributes["gen_ai.output.messages"] =
                    json!(json!([{"role": "assistant", "content": text}]).to_string());
            }
            ("chat m".to_owned(), attributes)
        }
        What::Tool(reply) => {
            let attributes = json!({"gen_ai.tool.name": reply.call.name, "gen_ai.tool.call.id": reply.call.id,
                "tool_arguments": reply.call.args_text()});
            (
                "running tool".to_owned(),
                with_output(attributes, "tool_response", reply, json!(reply.text())),
            )
        }
    })
}

pub(crate) fn adk_content(event: &Event) -> Option<Value> {
    Some(match event {
        Event::Tools => return None,
        Event::Ask(text) => json!({"role": "user", "parts": [{"text": text}]}),
        Event::Calls(calls) => {
            let parts = calls.iter().map(|call| {
                json!({"function_call": {"id": call.id, "name": call.name, "args": call.args}})
            });
            json!({"role": "model", "parts": parts.collect::<Vec<_>>()})
        }
        Event::Result(reply) => {
            let key = if reply.fails { "error" } else { "result" };
            json!({"role": "user", "parts": [{"function_response": {"id": reply.call.id, "name": reply.call.name, "response": {key: reply.content}}}]})
        }
        Event::Say(text) => json!({"role": "model", "parts": [{"text": text}]}),
    })
}

fn adk(story: &[Event]) -> String {
    write(story, &json!({"gen_ai.operation.name": "invoke_agent"}), |span| match &span.what {
        What::Model { given, gave } => {
            let contents: Vec<Value> = given.iter().filter_map(adk_content).collect();
            let tools = json!([{"function_declarations": [{"name": "weather"}]}]);
            let request = json!({"contents": contents, "config": {"tools": tools}});
            let response = json!({"content": adk_content(gave)});
            (
                "call_llm".to_owned(),
                json!({"gen_ai.system": "gcp.vertex.agent", "gcp.vertex.agent.llm_request": request.to_string(),
                "gcp.vertex.agent.llm_response": response.to_string()}),
            )
        }
        What::Tool(reply) => {
            let key = if reply.fails { "error" } else { "result" };
            (
                format!("execute_tool {}", reply.call.name),
                json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": reply.call.name,
                "gen_ai.tool.call.id": reply.call.id, "gcp.vertex.agent.tool_call_args": reply.call.args_text(),
                "gcp.vertex.agent.tool_response": json!({key: reply.content}).to_string()}),
            )
        }
    })
}

/// Spans with an input and an output, whatever their keys.
fn in_and_out(
    span: &Span,
    kind: [&str; 3],
    keys: [&str; 2],
    as_json: fn(&Value) -> Value,
) -> (String, Value) {
    let [key, model, tool] = kind;
    match &span.what {
        What::Model { given, gave } => {
            let gave = chats(std::slice::from_ref(gave)).remove(0);
            let given = json!({"messages": chats(given), "tools": [{"name": "weather"}]});
            (
                "chat m".to_owned(),
                json!({key: model, keys[0]: given.to_string(), keys[1]: gave.to_string()}),
            )
        }
        What::Tool(reply) => {
            let attributes = json!({key: tool, keys[0]: reply.call.args_text()});
            (
                reply.call.name.to_owned(),
                with_output(attributes, keys[1], reply, as_json(&reply.content)),
            )
        }
    }
}

fn langfuse(story: &[Event]) -> String {
    write(story, &json!({"langfuse.observation.type": "agent"}), |span| {
        let kind = ["langfuse.observation.type", "generation", "tool"];
        in_and_out(
            span,
            kind,
            ["langfuse.observation.input", "langfuse.observation.output"],
            |content| json!(content.as_str().map_or_else(|| content.to_string(), str::to_owned)),
        )
    })
}

fn laminar(story: &[Event]) -> String {
    write(story, &json!({"lmnr.span.type": "DEFAULT"}), |span| {
        let keys = ["lmnr.span.input", "lmnr.span.output"];
        in_and_out(span, ["lmnr.span.type", "LLM", "TOOL"], keys, |content| {
            json!(content.to_string())
        })
    })
}

fn mlflow(story: &[Event]) -> String {
    write(story, &json!({"mlflow.spanType": "\"AGENT\""}), |span| {
        let kind = ["mlflow.spanType", "\"CHAT_MODEL\"", "\"TOOL\""];
        in_and_out(span, kind, ["mlflow.spanInputs", "mlflow.spanOutputs"], |content| {
            json!(content.to_string())
        })
    })
}

fn agents_sdk(story: &[Event]) -> String {
    let write = |span: &Span| {
        let (data, error) = match &span.what {
            What::Model { given, gave } => {
                let gave = chats(std::slice::from_ref(gave));
                (json!({"type": "generation", "input": chats(given), "output": gave}), Value::Null)
            }
            What::Tool(reply) => {
                let output = if reply.fails { Value::Null } else { json!(reply.text()) };
                let error = if reply.fails {
                    json!({"message": reply.text(), "data": null})
                } else {
                    Value::Null
                };
                (
                    json!({"type": "function", "name": reply.call.name, "input": reply.call.args_text(), "output": output}),
                    error,
                )
            }
        };
        json!({"object": "trace.span", "id": span.id, "trace_id": "t1", "parent_id": "root", "started_at": iso(span.start),
            "ended_at": iso(span.end), "span_data": data, "error": error})
    };
    let agent = json!({"object": "trace.span", "id": "root", "trace_id": "t1", "parent_id": null, "started_at": iso(0),
        "ended_at": iso(900), "span_data": {"type": "agent", "name": "garden", "tools": ["weather"]}, "error": null});
    lines(&spans(story).iter().map(write).chain([agent]).collect::<Vec<_>>())
}

fn dumped_messages(events: &[Event]) -> Vec<Value> {
    events.iter().flat_map(langchain_record).collect()
}

fn langsmith(story: &[Event]) -> String {
    let order = |second: u64, id: &str| {
        format!(
            "20260801T100000000000Zroot.20260801T10{:02}{:02}000000Z{id}",
            second / 60,
            second % 60
        )
    };
    let write = |span: &Span| {
        let mut run = json!({"id": span.id, "trace_id": "root", "parent_run_id": "root", "dotted_order": order(span.start, &span.id),
            "start_time": iso(span.start), "end_time": iso(span.end), "error": null});
        match &span.what {
            What::Model { given, gave } => {
                run["run_type"] = json!("llm");
                run["name"] = json!("ChatModel");
                run["inputs"] = json!({"messages": [dumped_messages(given)]});
                let message = dumped_messages(std::slice::from_ref(gave)).remove(0);
                run["outputs"] = json!({"generations": [[{"message": message}]]});
                run["extra"] = json!({"invocation_params": {"tools": [{"name": "weather"}]}});
            }
            What::Tool(reply) => {
                run["run_type"] = json!("tool");
                run["name"] = json!(reply.call.name);
                run["inputs"] = json!({"input": reply.call.args_text()});
                if reply.fails {
                    run["error"] = json!(reply.text());
                    run["outputs"] = Value::Null;
                } else {
                    let message = json!({"type": "tool", "content": reply.text(), "tool_call_id": reply.call.id});
                    run["outputs"] = json!({"output": message});
                }
            }
        }
        run
    };
    let root = json!({"id": "root", "trace_id": "root", "run_type": "chain", "name": "garden", "dotted_order": "20260801T100000000000Zroot",
        "start_time": iso(0), "end_time": iso(900), "inputs": {}, "outputs": {}});
    // Broken arguments reach no tool.
    let is_made = |span: &&Span| match &span.what {
        What::Tool(reply) => reply.call.args.is_object(),
        What::Model { .. } => true,
    };
    let spans = spans(story);
    let runs = spans.iter().filter(is_made).map(write).chain([root]);
    lines(&runs.collect::<Vec<_>>())
}

fn langchain_events(story: &[Event]) -> String {
    let event = |name: &str, tool: &str, run: &str, data: Value| json!({"event": name, "name": tool, "run_id": run, "parent_ids": ["root"], "data": data});
    let mut events = vec![];
    for (at, told) in story.iter().enumerate() {
        match told {
            Event::Tools => {}
            Event::Ask(text) => {
                let input = json!({"messages": [{"type": "human", "content": text}]});
                events.push(json!({"event": "on_chain_start", "name": "garden", "run_id": "root", "parent_ids": [], "data": {"input": input}}));
            }
            Event::Calls(calls) => {
                let output = langchain_record(told).remove(0);
                events.push(event(
                    "on_chat_model_end",
                    "m",
                    &format!("m{at}"),
                    json!({"output": output}),
                ));
                // Broken arguments reach no tool.
                for call in calls.iter().filter(|call| call.args.is_object()) {
                    events.push(event(
                        "on_tool_start",
                        call.name,
                        call.id,
                        json!({"input": call.args}),
                    ));
                }
            }
            Event::Result(reply) if reply.call.args.is_string() => {}
            Event::Result(reply) if reply.fails => {
                let data = json!({"input": reply.call.args, "error": reply.text()});
                events.push(event("on_tool_error", reply.call.name, reply.call.id, data));
            }
            Event::Result(reply) => {
                let output =
                    json!({"type": "tool", "content": reply.text(), "tool_call_id": reply.call.id});
                let data = json!({"input": reply.call.args, "output": output});
                events.push(event("on_tool_end", reply.call.name, reply.call.id, data));
            }
            Event::Say(_) => {
                // A model is given everything before it.
                let messages = dumped_messages(&story[..at]);
                let data = json!({"input": {"messages": [messages]}, "output": langchain_record(told).remove(0)});
                events.push(event("on_chat_model_end", "m", &format!("m{at}"), data));
            }
        }
    }
    lines(&events)
}

fn langfuse_export(story: &[Event]) -> String {
    let write = |span: &Span| {
        let mut observation = json!({"id": span.id, "traceId": "t1", "parentObservationId": null, "startTime": iso(span.start), "endTime": iso(span.end), "level": "DEFAULT"});
        match &span.what {
            What::Model { given, gave } => {
                observation["type"] = json!("GENERATION");
                observation["input"] =
                    json!({"messages": chats(given), "tools": [{"name": "weather"}]});
                observation["output"] = chats(std::slice::from_ref(gave)).remove(0);
            }
            What::Tool(reply) => {
                observation["type"] = json!("TOOL");
                observation["name"] = json!(reply.call.name);
                observation["input"] = reply.call.args.clone();
                if reply.fails {
                    observation["level"] = json!("ERROR");
                    observation["statusMessage"] = json!(reply.text());
                } else {
                    observation["output"] = reply.content.clone();
                }
            }
        }
        observation
    };
    let observations: Vec<Value> = spans(story).iter().map(write).collect();
    json!({"data": [{"id": "t1", "name": "garden", "observations": observations}]}).to_string()
}
