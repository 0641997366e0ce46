//! What was asked, and how often.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::ask::Ask;
use crate::marker;

/// Whose protocol a request spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// `OpenAI`, and the many that speak like it.
    OpenAi,
    /// `OpenAI` on Azure.
    Azure,
    /// Anthropic.
    Anthropic,
    /// Google's Gemini.
    Gemini,
}

/// What a request asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text of a model.
    Chat,
    /// Vectors of texts.
    Embeddings,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Whose protocol it spoke.
    pub protocol: Protocol,
    /// What it asked for.
    pub kind: Kind,
    /// The name of its schema or forced tool, else `functions` or `text`; `embeddings` for
    /// embeddings.
    pub purpose: String,
    /// The model it asked.
    pub model: String,
    /// The key it showed.
    pub key: Option<String>,
    /// The parameters of its address.
    pub query: String,
    /// Its body; null if that was not JSON.
    pub body: Value,
    /// Its body as it arrived: keys are in the order in which they were sent.
    pub text: String,
    /// The texts of all its messages, or all texts to embed, one a line.
    pub prompt: String,
    /// Whether it got a sound reply, and all of it: no error, and nothing cut, garbled or missing.
    pub answered: bool,
}

/// A request as the server keeps it.
pub(crate) struct Record {
    pub(crate) ask: Ask,
    pub(crate) key: Option<String>,
    query: String,
    pub(crate) body: Value,
    text: String,
    answered: AtomicBool,
}

impl Record {
    pub(crate) fn new(
        ask: Ask,
        key: Option<String>,
        query: String,
        body: Value,
        text: String,
    ) -> Record {
        Record { ask, key, query, body, text, answered: AtomicBool::new(false) }
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

/// The answered requests that had been answered before, as far as that is not by design.
pub(crate) fn bought_twice<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Seen> {
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

/// Clients ask for three questions to each answer, in the same words.
fn times_wanted(purpose: &str) -> usize {
    if purpose == "generated_question" { 3 } else { 1 }
}
