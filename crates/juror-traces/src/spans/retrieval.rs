//! Retrievals: spans of searches in documents, and documents as all formats write them.

use serde_json::{Map, Value};

use super::span::Span;
use crate::call::{Call, Kind, Made};
use crate::look;
use crate::outcome::Outcome;

/// Returns the retrieval that a span is, with documents and their ids.
pub(super) fn retrieval(span: &Span<'_>) -> Call {
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
