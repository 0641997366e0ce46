//! Learns what a model does not accept.
//!
//! Models differ in the parameters they accept and in how a reply of a certain shape can be
//! requested. If a model refuses something, the request is sent again without it, and so are all
//! later ones; the user is notified once.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::http::HttpEndpoint;
use crate::model::ModelError;
use crate::schema::Schema;

/// Receives messages for the user, each once.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// How a reply of a certain shape is requested; each is tried if the one before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReplyForm {
    /// With a schema.
    Schema,
    /// As the arguments of a tool that the model must call.
    Tool,
    /// As any JSON, with the shape described in words.
    JsonMode,
    /// As text, with the shape described in words.
    Text,
}

impl ReplyForm {
    fn in_words(self) -> &'static str {
        match self {
            ReplyForm::Schema => "by a schema",
            ReplyForm::Tool => "by a tool call",
            ReplyForm::JsonMode => "by JSON mode",
            ReplyForm::Text => "in words",
        }
    }
}

/// What is known about a model so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Habits {
    pub(crate) form: ReplyForm,
    dropped: Vec<String>,
    /// Whether the limit of tokens has its newer name.
    new_limit_name: bool,
}

impl Habits {
    /// Returns the parameters that the model accepts, by the names it accepts.
    pub(crate) fn apply(&self, parameters: &Map<String, Value>) -> Map<String, Value> {
        let mut taken = Map::new();
        for (name, value) in parameters.iter().filter(|(name, _)| self.takes(name)) {
            let name = match name.as_str() {
                "max_tokens" if self.new_limit_name => "max_completion_tokens",
                name => name,
            };
            taken.insert(name.to_owned(), value.clone());
        }
        taken
    }

    pub(crate) fn takes(&self, name: &str) -> bool {
        !self.dropped.iter().any(|dropped| dropped == name)
    }
}

/// What is known about a model, shared by all calls to it.
pub(crate) struct Adaptation {
    model: String,
    /// The forms that the protocol supports, best first.
    forms: &'static [ReplyForm],
    /// Parameters that calls can do without.
    droppable: Vec<String>,
    habits: Mutex<Habits>,
    tell: Tell,
}

impl Adaptation {
    pub(crate) fn new(
        model: &str,
        forms: &'static [ReplyForm],
        parameters: &Map<String, Value>,
        tell: Tell,
    ) -> Adaptation {
        let streaming = ["stream_options", "stream"].map(str::to_owned);
        let droppable = parameters.keys().cloned().chain(streaming).collect();
        let habits = Habits { form: forms[0], dropped: Vec::new(), new_limit_name: false };
        Adaptation { model: model.to_owned(), forms, droppable, habits: Mutex::new(habits), tell }
    }

    fn habits(&self) -> Habits {
        self.habits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks until the model accepts the request or nothing is left to change about it. The form of
    /// replies is changed only by requests that have a shape.
    pub(crate) async fn until_taken<T, F: Future<Output = Result<T, ModelError>>>(
        &self,
        endpoint: &HttpEndpoint,
        has_shape: bool,
        ask: impl Fn(Habits) -> F,
    ) -> Result<T, ModelError> {
        loop {
            let habits = self.habits();
            match ask(habits.clone())
                .await
                .map_err(|e| e.map_text(|text| endpoint.repeatable(text)))
            {
                Err(error) if self.learn(&habits, has_shape, &error) => {}
                outcome => return outcome,
            }
        }
    }

    /// Learns from a refused request, and returns whether the next one would differ from it.
    fn learn(&self, used: &Habits, has_shape: bool, error: &ModelError) -> bool {
        let ModelError::BadRequest { message, parameter } = error else { return false };
        let mut habits = self.habits.lock().unwrap_or_else(PoisonError::into_inner);
        if *habits != *used {
            // Another call has learned something in the meantime.
            return true;
        }
        let named = |name: &str| match parameter {
            Some(parameter) => parameter.split(['.', '[']).next() == Some(name),
            None => has_word(message, name),
        };
        let shape_words: &[&str] = match habits.form {
            ReplyForm::Schema | ReplyForm::JsonMode => {
                &["response_format", "json_schema", "responseJsonSchema", "responseMimeType"]
            }
            ReplyForm::Tool => &["tools", "tool_choice", "function"],
            ReplyForm::Text => &[],
        };
        let place = self.forms.iter().position(|form| *form == habits.form);
        let next = place.and_then(|place| self.forms.get(place + 1));
        if let Some(next) = next.filter(|_| has_shape)
            && shape_words.iter().any(|word| named(word))
        {
            habits.form = *next;
            let how = next.in_words();
            (self.tell)(&format!("{} takes no reply schema that way: asking {how}", self.model));
            return true;
        }
        let may_rename = self.forms[0] == ReplyForm::Schema && !habits.new_limit_name;
        let has_limit = self.droppable.iter().any(|name| name == "max_tokens");
        if may_rename && has_limit && named("max_tokens") {
            habits.new_limit_name = true;
            let model = &self.model;
            (self.tell)(&format!("{model} takes `max_completion_tokens` for `max_tokens`"));
            return true;
        }
        let is_limit = |name: &str| name == "max_tokens" && named("max_completion_tokens");
        let is_new = |name: &&String| habits.takes(name) && (named(name) || is_limit(name));
        let Some(name) = self.droppable.iter().find(is_new).cloned() else { return false };
        (self.tell)(&format!("{} does not take `{name}`: asking without it", self.model));
        habits.dropped.push(name);
        true
    }
}

/// Whether a text contains a word, not merely as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Returns what to add to a prompt if no schema can be sent.
pub(crate) fn described(schema: &Schema) -> String {
    format!("Reply with one JSON object and nothing else. Its JSON Schema:\n{schema}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole() {
        assert!(has_word("Unsupported value: 'temperature' does not", "temperature"));
        assert!(has_word("n is too large", "n"));
        assert!(!has_word("max_completion_tokens is too large", "tokens"));
        assert!(!has_word("the input was flagged", "n"));
    }
}
