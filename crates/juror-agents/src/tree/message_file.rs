//! Messages as answer files write them.

use std::sync::Arc;

use juror_models::{Call, Message};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// How to write what a model did not say. The two kinds of files differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// As `null`.
    Kept,
    /// Not at all.
    LeftOut,
}

/// A message as files write it.
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
    use juror_models::Said;
    use serde_json::{Value, json};

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
