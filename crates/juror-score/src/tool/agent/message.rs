//! What is said between an agent, its model and its tools.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// Stands in for the name of a function that there is not, in what the model is shown again.
pub const INVENTED: &str = "invalid_hallucination_function_name";

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// What the model is to be.
    System(String),
    /// What it is asked.
    User {
        /// The text.
        content: String,
        /// Whether the model still sees it; what it saw only once stays on record.
        is_valid: bool,
    },
    /// What it said.
    Assistant(Said),
    /// What came of a call.
    Tool {
        /// The function that was called.
        name: String,
        /// What the model is told.
        content: String,
        /// Which call it was.
        call_id: String,
    },
}

/// What a model said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Which functions it calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// What its provider wants to be shown again and nobody else understands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider: Vec<Value>,
}

/// A call of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Tells it from other calls.
    pub id: String,
    /// The function.
    pub name: String,
    /// The arguments as the model wrote them: JSON, if it wrote well.
    pub arguments: String,
}

/// What is written for what a model did not say. The two kinds of files differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// `null`.
    Kept,
    /// Nothing.
    LeftOut,
}

impl Message {
    /// A question that stays.
    pub fn user(content: impl Into<String>) -> Message {
        Message::User { content: content.into(), is_valid: true }
    }

    /// Whether the model still sees it.
    pub fn is_valid(&self) -> bool {
        !matches!(self, Message::User { is_valid: false, .. })
    }

    /// Who speaks, as files have it.
    pub fn role(&self) -> &'static str {
        match self {
            Message::System(_) => "system",
            Message::User { .. } => "user",
            Message::Assistant(_) => "assistant",
            Message::Tool { .. } => "tool",
        }
    }
}

/// A message as files have it.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) message: Arc<Message>,
    pub(super) nulls: Nulls,
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("role", self.message.role())?;
        match &*self.message {
            Message::System(content) => fields.serialize_entry("content", content)?,
            Message::User { content, is_valid } => {
                fields.serialize_entry("content", content)?;
                if !is_valid {
                    fields.serialize_entry("valid", &false)?;
                }
            }
            Message::Assistant(said) => {
                let calls: Vec<_> = said.calls.iter().map(written_call).collect();
                let calls = Some(calls).filter(|calls| !calls.is_empty());
                if said.content.is_some() || self.nulls == Nulls::Kept {
                    fields.serialize_entry("content", &said.content)?;
                }
                if calls.is_some() || self.nulls == Nulls::Kept {
                    fields.serialize_entry("tool_calls", &calls)?;
                }
            }
            Message::Tool { name, content, call_id } => {
                fields.serialize_entry("name", name)?;
                fields.serialize_entry("content", content)?;
                fields.serialize_entry("tool_call_id", call_id)?;
            }
        }
        fields.end()
    }
}

fn written_call(call: &Call) -> impl Serialize + use<'_> {
    #[derive(Serialize)]
    struct Written<'a> {
        id: &'a str,
        r#type: &'static str,
        function: Function<'a>,
    }
    #[derive(Serialize)]
    struct Function<'a> {
        name: &'a str,
        arguments: &'a str,
    }
    let function = Function { name: &call.name, arguments: &call.arguments };
    Written { id: &call.id, r#type: "function", function }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(message: Message, nulls: Nulls, wanted: &Value) {
        assert_eq!(&json!(Written { message: Arc::new(message), nulls }), wanted);
    }

    #[test]
    fn messages_are_written_as_the_public_files_have_them() {
        let call = Call { id: "c1".into(), name: "f".into(), arguments: "{".into() };
        let said = Said { calls: vec![call], provider: vec![json!(1)], ..Said::default() };
        let calls = json!([{"id": "c1", "type": "function",
            "function": {"name": "f", "arguments": "{"}}]);
        let wanted = json!({"role": "assistant", "content": null, "tool_calls": calls});
        check(Message::Assistant(said.clone()), Nulls::Kept, &wanted);
        let wanted = json!({"role": "assistant", "tool_calls": calls});
        check(Message::Assistant(said), Nulls::LeftOut, &wanted);
        let nothing = json!({"role": "assistant"});
        check(Message::Assistant(Said::default()), Nulls::LeftOut, &nothing);
        let once = Message::User { content: "q".into(), is_valid: false };
        let wanted = json!({"role": "user", "content": "q", "valid": false});
        check(once, Nulls::Kept, &wanted);
        check(Message::user("q"), Nulls::Kept, &json!({"role": "user", "content": "q"}));
    }
}
