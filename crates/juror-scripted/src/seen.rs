//! Recorded requests.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::ask::Ask;
use crate::marker;

/// The protocol of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// `OpenAI`, and the many that speak its protocol.
    OpenAi,
    /// `OpenAI` on Azure.
    Azure,
    /// Anthropic.
    Anthropic,
    /// Google's Gemini.
    Gemini,
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Text.
    Chat,
    /// Embeddings.
    Embeddings,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its protocol.
    pub protocol: Protocol,
    /// Its kind.
    pub kind: RequestKind,
    /// The name of its schema or forced tool, else `functions` or `text`; `embeddings` for
    /// embeddings.
    pub purpose: String,
    /// The requested model.
    pub model: String,
    /// The key that it contained.
    pub key: Option<String>,
    /// The query parameters of its URL.
    pub query: String,
    /// Its body; null if that was not JSON.
    pub body: Value,
    /// Its raw body, with keys in the order in which they were sent.
    pub text: String,
    /// The texts of all its messages, or all texts to embed, one per line.
    pub prompt: String,
    /// Whether it got a complete and usable reply: no error, nothing truncated, garbled or missing.
    pub answered: bool,
}

/// A request as the server keeps it.
pub(crate) struct RecordedRequest {
    pub(crate) ask: Ask,
    pub(crate) key: Option<String>,
    query: String,
    pub(crate) body: Value,
    text: String,
    answered: AtomicBool,
}

impl RecordedRequest {
    pub(crate) fn new(
        ask: Ask,
        key: Option<String>,
        query: String,
        body: Value,
        text: String,
    ) -> RecordedRequest {
        RecordedRequest { ask, key, query, body, text, answered: AtomicBool::new(false) }
    }

    pub(crate) fn set_answered(&self) {
        self.answered.store(true, Ordering::Release);
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Acquire)
    }

    pub(crate) fn seen(&self) -> Seen {
        Seen {
            protocol: self.ask.protocol,
            kind: self.ask.kind,
            purpose: self.ask.purpose.clone(),
            model: self.ask.model.clone(),
            key: self.key.clone(),
            query: self.query.clone(),
            body: self.body.clone(),
            text: self.text.clone(),
            prompt: self.ask.prompt.clone(),
            answered: self.is_answered(),
        }
    }
}

/// Answered requests that had been answered before, except those that are repeated by design.
pub(crate) fn bought_twice<'a>(
    records: impl IntoIterator<Item = &'a RecordedRequest>,
) -> Vec<Seen> {
    let mut times: HashMap<_, usize> = HashMap::new();
    let mut twice = Vec::new();
    for record in records.into_iter().filter(|record| record.is_answered()) {
        let ask = &record.ask;
        let content = marker::without(&record.body).to_string();
        let n_times = times.entry((ask.protocol, ask.kind, &ask.model, content)).or_default();
        *n_times += 1;
        if *n_times > times_wanted(&ask.purpose) {
            twice.push(record.seen());
        }
    }
    twice
}

/// Clients generate three questions for each answer, with the same prompt.
fn times_wanted(purpose: &str) -> usize {
    if purpose == "generated_question" { 3 } else { 1 }
}
