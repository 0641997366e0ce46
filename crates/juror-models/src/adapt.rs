//! Learning what a model does not take.
//!
//! Models differ in the parameters they accept and in how they can be held to a shape. A model that
//! refuses one is asked again without it, and from then on; the user is told once.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::http::Endpoint;
use crate::model::{ModelError, Pending};
use crate::schema::Schema;

/// Told once of each thing a user should know.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// How a reply is held to its shape; each is tried when the one before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// By a schema.
    Schema,
    /// As the arguments of a tool the model must call.
    Tool,
    /// As any JSON; the shape is described in words.
    JsonMode,
    /// As text; the shape is described in words.
    Text,
}

impl Form {
    fn in_words(self) -> &'static str {
        match self {
            Form::Schema => "by a schema",
            Form::Tool => "by a tool call",
            Form::JsonMode => "by JSON mode",
            Form::Text => "in words",
        }
    }
}

/// What is known of a model so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Habits {
    pub(crate) form: Form,
    dropped: Vec<String>,
    /// Whether the limit of tokens goes by its newer name.
    new_limit_name: bool,
}

impl Habits {
    /// The parameters the model takes, by the names it takes.
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

/// The habits of one model, shared by all calls to it.
pub(crate) struct Adaptation {
    model: String,
    /// The forms its protocol has, the best first.
    forms: &'static [Form],
    /// Parameters that calls do without if they must.
    droppable: Vec<String>,
    habits: Mutex<Habits>,
    tell: Tell,
}

impl Adaptation {
    pub(crate) fn new(
        model: &str,
        forms: &'static [Form],
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

    /// Asks until the model takes the request or nothing is left to change about it. Only a
    /// request for a reply of a shape can teach how that is asked for.
    pub(crate) async fn until_taken<'a, T>(
        &self,
        endpoint: &Endpoint,
        has_shape: bool,
        ask: impl Fn(Habits) -> Pending<'a, Result<T, ModelError>>,
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

    /// Learns from a refused request; whether the next one would differ from it.
    fn learn(&self, used: &Habits, has_shape: bool, error: &ModelError) -> bool {
        let ModelError::BadRequest { message, parameter } = error else { return false };
        let mut habits = self.habits.lock().unwrap_or_else(PoisonError::into_inner);
        if *habits != *used {
            // Another call has learned it in the meantime.
            return true;
        }
        let named = |name: &str| match parameter {
            Some(parameter) => parameter.split(['.', '[']).next() == Some(name),
            None => has_word(message, name),
        };
        let shape_words: &[&str] = match habits.form {
            Form::Schema | Form::JsonMode => {
                &["response_format", "json_schema", "responseJsonSchema", "responseMimeType"]
            }
            Form::Tool => &["tools", "tool_choice", "function"],
            Form::Text => &[],
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
        let may_rename = self.forms[0] == Form::Schema && !habits.new_limit_name;
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

/// Whether a text has a word, not merely as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// What to add to a prompt where no schema can be sent.
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
