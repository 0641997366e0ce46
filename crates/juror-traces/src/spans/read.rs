//! Which spans are calls, models and agents, and what they say. Only attributes that a convention
//! defines count: a span that merely mentions tools is no call.

use serde_json::{Map, Value};

use super::facts::{Role, SpanFacts};
use super::messages::{Exchange, read_any};
use super::span::Span;
use crate::args::Args;
use crate::call::{Call, Kind, Made};
use crate::conversation::Usage;
use crate::dialect::{gemini, smolagents};
use crate::look;
use crate::outcome::{Outcome, said};
use crate::question_key::id_in_attributes;
use crate::rules::Rules;
use crate::transcript::{Transcript, usage_of};

/// Attributes with the name of a tool.
const NAMES: [&str; 4] =
    ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"];

/// Attributes with a call's id.
const IDS: [&str; 5] =
    ["gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id", "jsonrpc.request.id"];

/// Attributes with arguments: an object, or its JSON.
const ARGS: [&str; 6] = [
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "ai.toolCall.arguments",
    "ai.toolCall.input",
    "tool_arguments",
];

/// Attributes with whatever went into a tool.
const INPUTS: [&str; 5] = [
    "input.value",
    "traceloop.entity.input",
    "langfuse.observation.input",
    "lmnr.span.input",
    "mlflow.spanInputs",
];

/// Attributes with results.
const RESULTS: [&str; 10] = [
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "ai.toolCall.output",
    "tool_response",
    "output.value",
    "traceloop.entity.output",
    "langfuse.observation.output",
    "lmnr.span.output",
    "mlflow.spanOutputs",
];

/// Attributes whose texts are JSON, of texts too.
const JSON_TEXTS: [&str; 6] = [
    "ai.toolCall.result",
    "ai.toolCall.output",
    "traceloop.entity.output",
    "lmnr.span.output",
    "mlflow.spanOutputs",
    "langfuse.observation.output",
];

/// Attributes with an id of the conversation.
const CONVERSATIONS: [&str; 5] = [
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "gcp.vertex.agent.session_id",
];

/// What kind of span it is, by all conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Tool,
    Mcp,
    Retrieval,
    Model,
    Agent,
    Other,
}

/// Returns what is worth keeping of a span.
pub(crate) fn read_span(span: &Span<'_>, rules: &Rules) -> SpanFacts {
    let class = class_of(span);
    let attributes = &span.attributes;
    let mut facts = SpanFacts {
        trace: span.trace.to_string(),
        convention: convention_of(span),
        span: span.id.to_string(),
        parent: span.parent.as_deref().filter(|parent| !parent.is_empty()).map(str::to_owned),
        start: span.start,
        end: span.end,
        agent: attributes.words(&["gen_ai.agent.name", "agent.name", "agent_name"]),
        question_id: id_in_attributes(attributes, rules.question_id.as_deref()),
        other_ids: CONVERSATIONS.iter().filter_map(|key| attributes.text(key)).collect(),
        error: span.failure(),
        ..SpanFacts::default()
    };
    match class {
        Class::Tool | Class::Mcp => read_tool(&mut facts, span, class),
        Class::Retrieval => {
            facts.role = Role::Tool;
            facts.tool = Some(Box::new(retrieval(span)));
        }
        Class::Model => {
            facts.role = Role::Model;
            read_model(&mut facts, span);
        }
        Class::Agent => {
            facts.role = Role::Agent;
            read_agent(&mut facts, span);
        }
        Class::Other => {
            // Roots of any kind have the question and the answer.
            if facts.parent.is_none() {
                read_agent(&mut facts, span);
            }
        }
    }
    facts
}

/// Conventions, by how their keys start; the first that a span has names it.
const CONVENTIONS: [(&str, &str); 9] = [
    ("openinference.", "OpenInference"),
    ("traceloop.", "Traceloop"),
    ("ai.operationId", "Vercel AI SDK"),
    ("gcp.vertex.agent.", "Google ADK"),
    ("langfuse.", "Langfuse"),
    ("lmnr.", "Laminar"),
    ("mlflow.", "MLflow"),
    ("mcp.", "MCP"),
    ("gen_ai.", "GenAI"),
];

fn convention_of(span: &Span<'_>) -> &'static str {
    if span.scope.starts_with("pydantic-ai") {
        return "pydantic-ai";
    }
    let of_key = |key: &str| CONVENTIONS.iter().position(|(start, _)| key.starts_with(start));
    let first = span.attributes.keys().filter_map(of_key).min();
    first.map_or("no convention", |at| CONVENTIONS[at].1)
}

fn class_of(span: &Span<'_>) -> Class {
    let text = |key: &str| span.attributes.text(key);
    if text("mcp.method.name").as_deref() == Some("tools/call") {
        return Class::Mcp;
    }
    let words = [
        ("openinference.span.kind", text("openinference.span.kind")),
        ("gen_ai.operation.name", text("gen_ai.operation.name")),
        ("ai.operationId", text("ai.operationId")),
        ("traceloop.span.kind", text("traceloop.span.kind")),
        ("langfuse.observation.type", text("langfuse.observation.type")),
        ("lmnr.span.type", text("lmnr.span.type")),
        ("mlflow.spanType", text("mlflow.spanType").map(|word| word.trim_matches('"').to_owned())),
    ];
    let classes = words.iter().filter_map(|(key, word)| class_of_word(key, word.as_deref()?));
    let class = classes.min_by_key(|class| *class as u8);
    // Older versions of pydantic-ai say it by the span's name alone.
    let is_running = span.name == "running tool" && span.attributes.has("gen_ai.tool.name");
    match class {
        Some(Class::Other) | None if is_running => Class::Tool,
        Some(class) if class != Class::Other => class,
        _ if is_model(span) => Class::Model,
        _ => Class::Other,
    }
}

fn class_of_word(key: &str, word: &str) -> Option<Class> {
    let lower = word.to_ascii_lowercase();
    Some(match (key, lower.as_str()) {
        ("gen_ai.operation.name", "execute_tool") => Class::Tool,
        ("gen_ai.operation.name", "retrieval") => Class::Retrieval,
        ("gen_ai.operation.name", "chat" | "text_completion" | "generate_content") => Class::Model,
        ("gen_ai.operation.name", "invoke_agent" | "invoke_workflow" | "plan" | "create_agent") => {
            Class::Agent
        }
        ("ai.operationId", "ai.toolcall") => Class::Tool,
        ("ai.operationId", word)
            if word.ends_with(".dogenerate") || word.ends_with(".dostream") =>
        {
            Class::Model
        }
        (
            "ai.operationId",
            "ai.generatetext" | "ai.streamtext" | "ai.generateobject" | "ai.streamobject"
            | "ai.agent",
        ) => Class::Agent,
        ("gen_ai.operation.name" | "ai.operationId", _) => return None,
        (_, "tool") => Class::Tool,
        (_, "retriever") => Class::Retrieval,
        (_, "llm" | "generation" | "chat_model") => Class::Model,
        (_, "agent" | "workflow") => Class::Agent,
        _ => Class::Other,
    })
}

/// Calls of models whose instrumentation names no operation.
fn is_model(span: &Span<'_>) -> bool {
    let has = |key: &str| span.attributes.has(key);
    has("gen_ai.completion")
        || has("gcp.vertex.agent.llm_response")
        || has("gen_ai.output.messages")
        || (has("gen_ai.system") && has("gen_ai.usage") && has("gen_ai.request.model"))
}

fn read_tool(facts: &mut SpanFacts, span: &Span<'_>, class: Class) {
    facts.role = Role::Tool;
    let mut call = call_of(span, class);
    if call.name == "(merged tools)" {
        facts.role = Role::Other;
        facts.left_out =
            Some("span `(merged tools)`: its calls have spans of their own".to_owned());
        return;
    }
    call.agent.clone_from(&facts.agent);
    let is_final = call.name == smolagents::FINAL
        && (span.name == "FinalAnswerTool" || span.scope.contains("smolagents"));
    if is_final {
        facts.role = Role::Final;
        let content = call.outcome.as_ref().and_then(|outcome| outcome.content.as_ref());
        let answer = call.args.value.get("answer").or(content);
        facts.answer =
            answer.map(|answer| answer.as_str().map_or_else(|| answer.to_string(), str::to_owned));
        facts.left_out = Some(format!("call of `{}`: the answer", smolagents::FINAL));
        return;
    }
    facts.tool = Some(Box::new(call));
}

/// Returns the call that a span of a tool is.
fn call_of(span: &Span<'_>, class: Class) -> Call {
    let attributes = &span.attributes;
    let name = attributes.words(&NAMES).unwrap_or_else(|| {
        span.name
            .strip_prefix("execute_tool ")
            .unwrap_or(&span.name)
            .trim_end_matches(".tool")
            .to_owned()
    });
    let ids = if class == Class::Mcp { &IDS[..] } else { &IDS[..4] };
    let mut outcome = outcome_of(span);
    let id_of_message = outcome.as_mut().and_then(Outcome::unwrap);
    let error = span.failure();
    if let Some(error) = error {
        let outcome = outcome.get_or_insert_default();
        outcome.is_error = Some(true);
        outcome.error = Some(error).filter(|error| !error.is_empty());
    } else if let Some(outcome) = &mut outcome {
        outcome.is_error = outcome.is_error.or(span.is_error);
    }
    Call {
        id: attributes.words(ids).or(id_of_message),
        name,
        args: args_of(span),
        made: Made::Executed,
        outcome,
        at: span.started(),
        until: span.ended(),
        kind: if attributes.has("gen_ai.transfer.target.name") { Kind::Agent } else { Kind::Tool },
        server: attributes.words(&["mcp.server.name", "gen_ai.tool.server", "server.name"]),
        agent: None,
        parent_id: None,
        source: span.place.clone(),
        state: None,
        stand_in: Some(span.id.to_string()),
    }
}

fn args_of(span: &Span<'_>) -> Args {
    let attributes = &span.attributes;
    if let Some((_, value)) = attributes.first(&ARGS) {
        return Args::of(Some(&value));
    }
    if let Some((_, value)) = attributes.first(&INPUTS) {
        return Args::of_input(&value);
    }
    // A message to the tool, in an event.
    let of_event = span.events.iter().find(|event| event.name == "gen_ai.tool.message");
    if let Some(content) = of_event.and_then(|event| event.attributes.get("content")) {
        return Args::of_input(&content);
    }
    // By the convention these are the tool's parameters, but some put values there.
    match attributes.get("tool.parameters") {
        Some(value) if attributes.has("openinference.span.kind") && !is_schema(&value) => {
            Args::of_input(&value)
        }
        _ => Args::missing(),
    }
}

/// Whether parameters are a definition: a schema, or types and descriptions by name.
fn is_schema(value: &Value) -> bool {
    let Some(value) = look::parsed(value) else { return false };
    let describes =
        |value: &Value| value.get("type").is_some() || value.get("description").is_some();
    value.get("properties").is_some()
        || value
            .as_object()
            .is_some_and(|object| !object.is_empty() && object.values().all(describes))
}

fn outcome_of(span: &Span<'_>) -> Option<Outcome> {
    let Some((key, mut value)) = span.attributes.first(&RESULTS) else {
        let event = span.events.iter().find(|event| event.name == "gen_ai.choice")?;
        let content = event.attributes.get("message")?;
        let blocks = look::parsed(&content)
            .filter(|value| value.is_array())
            .map(std::borrow::Cow::into_owned);
        return Some(Outcome::unflagged(&blocks.unwrap_or(content)));
    };
    let is_json = JSON_TEXTS.contains(&key)
        || key == "output.value"
            && span.attributes.text("output.mime_type").as_deref() == Some("application/json");
    if let Value::String(text) = &value
        && is_json
        && text.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(text)
    {
        value = Value::String(inner);
    }
    if key == "gcp.vertex.agent.tool_response" {
        let response = look::parsed(&value).map(std::borrow::Cow::into_owned);
        return Some(gemini::outcome(&response.unwrap_or(value)));
    }
    Some(Outcome::unflagged(&value))
}

/// Returns the retrieval that a span is, with documents and their ids.
fn retrieval(span: &Span<'_>) -> Call {
    let attributes = &span.attributes;
    let mut args = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            args.insert(key.to_owned(), value);
        }
    };
    let query = attributes.first(&[
        "gen_ai.retrieval.query.text",
        "input.value",
        "traceloop.entity.input",
        "langfuse.observation.input",
        "mlflow.spanInputs",
        "lmnr.span.input",
    ]);
    put("query", query.map(|(_, value)| query_of(value)));
    put("k", attributes.get("gen_ai.request.top_k"));
    put("data_source", attributes.get("gen_ai.data_source.id"));
    let documents = attributes.first(&[
        "gen_ai.retrieval.documents",
        "retrieval.documents",
        "output.value",
        "traceloop.entity.output",
        "langfuse.observation.output",
        "mlflow.spanOutputs",
        "lmnr.span.output",
    ]);
    let documents = documents.map(|(_, value)| documents_of(&value));
    let failure = span.failure();
    let outcome = match failure {
        Some(error) => Some(Outcome {
            content: documents,
            error: Some(error).filter(|error| !error.is_empty()),
            is_error: Some(true),
            ..Outcome::default()
        }),
        None => documents
            .map(|documents| Outcome { is_error: span.is_error, ..Outcome::unflagged(&documents) }),
    };
    Call {
        name: "retrieval".to_owned(),
        args: args.into(),
        made: Made::Executed,
        outcome,
        at: span.started(),
        until: span.ended(),
        kind: Kind::Retrieval,
        source: span.place.clone(),
        stand_in: Some(span.id.to_string()),
        ..Call::default()
    }
}

/// A query is a text, perhaps in an object of one.
pub(crate) fn query_of(value: Value) -> Value {
    let inner = look::parsed(&value)
        .and_then(|value| look::first(&value, &["query", "input", "question"]).cloned());
    inner.unwrap_or(value)
}

/// Returns documents as `[{id, text, score}]`, whatever they are called.
pub(crate) fn documents_of(value: &Value) -> Value {
    let Some(parsed) = look::parsed(value) else { return value.clone() };
    let list = match parsed.as_ref() {
        Value::Array(documents) => documents,
        other => match look::first(other, &["documents", "output", "results"])
            .and_then(Value::as_array)
        {
            Some(documents) => documents,
            None => return value.clone(),
        },
    };
    let document = |document: &Value| {
        let document = look::first(document, &["document", "node", "kwargs"]).unwrap_or(document);
        let metadata = look::get(document, "metadata");
        let id = look::first(document, &["id", "document_id", "doc_id", "id_"])
            .or_else(|| look::first(metadata?, &["id", "document_id", "doc_id", "source"]));
        let text = look::first(document, &["content", "text", "page_content"]);
        let mut object = Map::new();
        for (key, value) in [("id", id), ("text", text), ("score", look::get(document, "score"))] {
            if let Some(value) = value {
                object.insert(key.to_owned(), value.clone());
            }
        }
        if object.is_empty() { document.clone() } else { Value::Object(object) }
    };
    Value::Array(list.iter().map(document).collect())
}

fn read_model(facts: &mut SpanFacts, span: &Span<'_>) {
    let Exchange { mut given, mut gave } =
        Exchange::of(&span.attributes, &span.events, &span.place);
    let is_bare = given.calls.is_empty()
        && given.questions.is_empty()
        && gave.answer.is_none()
        && gave.calls.is_empty();
    if is_bare {
        let inputs =
            ["langfuse.observation.input", "lmnr.span.input", "mlflow.spanInputs", "input.value"];
        let outputs = [
            "langfuse.observation.output",
            "lmnr.span.output",
            "mlflow.spanOutputs",
            "output.value",
        ];
        if let Some((key, value)) = span.attributes.first(&inputs) {
            read_any(&mut given, Some(&value), &format!("#{key}"));
        }
        if let Some((key, value)) = span.attributes.first(&outputs) {
            read_any(&mut gave, Some(&value), &format!("#{key}"));
            let is_plain =
                gave.calls.is_empty() && gave.answer.is_none() && look::parsed(&value).is_none();
            if is_plain && key != "output.value" {
                gave.say(value.as_str().map(str::to_owned));
            }
        }
    }
    facts.usage = usage(span);
    facts.take_messages(given, gave);
    // A model that failed said nothing, whatever an empty message looks like.
    if facts.error.is_some() {
        facts.answer = None;
    }
}

fn usage(span: &Span<'_>) -> Option<Usage> {
    let attributes = &span.attributes;
    let json = ["langfuse.observation.usage_details", "mlflow.chat.tokenUsage"];
    let of_json = || {
        let (_, value) = attributes.first(&json)?;
        usage_of(&*look::parsed(&value)?)
    };
    let usage = Usage {
        input_tokens: attributes.whole(&[
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
        ]),
        output_tokens: attributes.whole(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
        ]),
        total_tokens: attributes.whole(&[
            "llm.token_count.total",
            "llm.usage.total_tokens",
            "gen_ai.usage.total_tokens",
        ]),
        cost: attributes
            .get("llm.cost.total")
            .or_else(|| attributes.get("gen_ai.usage.cost"))
            .and_then(|cost| cost.as_f64()),
    };
    if usage.is_empty() { of_json() } else { Some(usage) }
}

/// An agent or a root: its question, its result, and perhaps the whole history.
fn read_agent(facts: &mut SpanFacts, span: &Span<'_>) {
    let attributes = &span.attributes;
    let Exchange { mut given, mut gave } = Exchange::of(attributes, &span.events, &span.place);
    given.answer = None;
    let inputs = [
        "input.value",
        "traceloop.entity.input",
        "langfuse.trace.input",
        "langfuse.observation.input",
        "lmnr.span.input",
        "mlflow.spanInputs",
    ];
    if let Some((key, value)) = attributes.first(&inputs) {
        read_root(&mut given, &value, &format!("#{key}"));
        given.answer = None;
    }
    let outputs = [
        "output.value",
        "traceloop.entity.output",
        "langfuse.trace.output",
        "langfuse.observation.output",
        "lmnr.span.output",
        "mlflow.spanOutputs",
    ];
    if let Some((key, value)) = attributes.first(&outputs).filter(|_| gave.answer.is_none()) {
        read_result(&mut gave, &value, &format!("#{key}"));
    }
    // The agent's own word for its result.
    if let Some(result) = attributes.get("final_result") {
        facts.answer = Some(result.as_str().map_or_else(|| result.to_string(), str::to_owned));
        facts.is_result = true;
    }
    facts.usage = usage(span);
    facts.take_messages(given, gave);
}

/// Reads what a system was asked: a text, messages, or an object with either.
fn read_root(transcript: &mut Transcript, value: &Value, pointer: &str) {
    let Some(parsed) = look::parsed(value) else {
        return transcript
            .ask(value.as_str().filter(|text| !looks_printed(text)).map(str::to_owned));
    };
    let parsed = look::get(&parsed, "inputs").unwrap_or(&parsed);
    let keys = [
        "task",
        "input",
        "question",
        "query",
        "prompt",
        "user_msg",
        "user_message",
        "user_input",
        "user_prompt",
        "message",
    ];
    match look::first(parsed, &keys) {
        Some(Value::String(text)) => transcript.ask(Some(text.clone())),
        Some(inner) if !parsed.is_array() && parsed.get("messages").is_none() => {
            read_any(transcript, Some(inner), pointer);
        }
        _ => read_any(transcript, Some(parsed), pointer),
    }
}

/// Reads what a system returned.
fn read_result(transcript: &mut Transcript, value: &Value, pointer: &str) {
    let Some(parsed) = look::parsed(value) else {
        return transcript
            .say(value.as_str().filter(|text| !looks_printed(text)).map(str::to_owned));
    };
    let parsed = look::get(&parsed, "outputs").unwrap_or(&parsed);
    read_any(transcript, Some(parsed), pointer);
    if transcript.answer.is_none() && transcript.calls.is_empty() {
        let keys = ["output", "answer", "response", "result", "final_answer", "text", "content"];
        transcript.say(look::first(parsed, &keys).and_then(said));
    }
}

/// Whether a text is an object as Python prints it: `AgentOutput(response=…`.
fn looks_printed(text: &str) -> bool {
    let Some((name, rest)) = text.split_once('(') else { return false };
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    is_name
        && rest
            .split_once('=')
            .is_some_and(|(key, _)| key.chars().all(|c| c.is_alphanumeric() || c == '_'))
}
