//! What kind of span it is, by all conventions. Only attributes that a convention defines count: a
//! span that merely mentions tools is no call.

use super::span::Span;

/// What kind of span it is, by all conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Tool,
    Mcp,
    Retrieval,
    Model,
    Agent,
    Other,
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

pub(super) fn convention_of(span: &Span<'_>) -> &'static str {
    if span.scope.starts_with("pydantic-ai") {
        return "pydantic-ai";
    }
    let of_key = |key: &str| CONVENTIONS.iter().position(|(start, _)| key.starts_with(start));
    let first = span.attributes.keys().filter_map(of_key).min();
    first.map_or("no convention", |at| CONVENTIONS[at].1)
}

pub(super) fn class_of(span: &Span<'_>) -> Class {
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
    // Embeddings have a model and tokens, too, but say nothing.
    let is_embedding = span
        .attributes
        .text("gen_ai.operation.name")
        .is_some_and(|operation| operation == "embeddings");
    if is_embedding {
        return false;
    }
    has("gen_ai.completion")
        || has("gcp.vertex.agent.llm_response")
        || has("gen_ai.output.messages")
        || (has("gen_ai.system") && has("gen_ai.usage") && has("gen_ai.request.model"))
}
