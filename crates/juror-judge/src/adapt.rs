//! Learning what a model does not take.
//!
//! Models differ in the parameters they accept and in how they can be held to a shape. A model that
//! refuses one is asked again without it, and from then on; the user is told once.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::model::ModelError;

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
        for (name, value) in parameters {
            let name = match name.as_str() {
                "max_tokens" if self.new_limit_name => "max_completion_tokens",
                name => name,
            };
            if !self.dropped.iter().any(|dropped| dropped == name) {
                taken.insert(name.to_owned(), value.clone());
            }
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
    habits: Mutex<Habits>,
    tell: Tell,
}

impl Adaptation {
    pub(crate) fn new(model: &str, first: Form, tell: Tell) -> Adaptation {
        let habits = Habits { form: first, dropped: Vec::new(), new_limit_name: false };
        Adaptation { model: model.to_owned(), habits: Mutex::new(habits), tell }
    }

    pub(crate) fn habits(&self) -> Habits {
        self.habits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Learns from a refused request; whether asking again makes sense.
    pub(crate) fn learn(&self, used: &Habits, sent: &Value, error: &ModelError) -> bool {
        let ModelError::BadRequest { message, parameter } = error else { return false };
        let mut habits = self.habits.lock().unwrap_or_else(PoisonError::into_inner);
        if *habits != *used {
            // Another call has learned it in the meantime.
            return true;
        }
        let names = |name: &str| {
            parameter.as_deref().is_some_and(|parameter| parameter.starts_with(name))
                || message.contains(name)
        };
        let is_sent = |name: &str| sent.get(name).is_some();
        let shape = match habits.form {
            Form::Schema | Form::JsonMode => [
                "response_format",
                "json_schema",
                "responseJsonSchema",
                "responseMimeType",
                "structured",
            ]
            .iter()
            .any(|name| names(name)),
            Form::Tool => ["tools", "tool_choice", "function"].iter().any(|name| names(name)),
            Form::Text => false,
        };
        if shape {
            habits.form = match habits.form {
                Form::Schema => Form::Tool,
                Form::Tool => Form::JsonMode,
                Form::JsonMode | Form::Text => Form::Text,
            };
            let how = match habits.form {
                Form::Schema | Form::Tool => "by a tool call",
                Form::JsonMode => "by JSON mode",
                Form::Text => "in words",
            };
            (self.tell)(&format!("{} takes no reply schema that way: asking {how}", self.model));
            return true;
        }
        if names("max_tokens") && is_sent("max_tokens") {
            habits.new_limit_name = true;
            (self.tell)(&format!("{} takes `max_completion_tokens` for `max_tokens`", self.model));
            return true;
        }
        let Some(fields) = sent.as_object() else { return false };
        let optional =
            |name: &&String| !["model", "messages", "input", "system"].contains(&name.as_str());
        let Some(name) = fields.keys().filter(optional).find(|name| names(name)) else {
            return false;
        };
        habits.dropped.push(name.clone());
        (self.tell)(&format!("{} does not take `{name}`: asking without it", self.model));
        true
    }
}

/// What to add to a prompt where no schema can be sent.
pub(crate) fn described(schema: &Value) -> String {
    format!("Reply with one JSON object and nothing else. Its JSON Schema:\n{schema}")
}
