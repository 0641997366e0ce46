//! Messages between an agent, its model and its tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The system prompt.
    System(String),
    /// A message of the user.
    User {
        /// The text.
        content: String,
        /// Whether the model still sees it. A message that it saw only once stays on record.
        is_valid: bool,
    },
    /// What the model said.
    Assistant(Said),
    /// The result of a call.
    Tool {
        /// The name of the function.
        name: String,
        /// The result, as the model sees it.
        content: String,
        /// The id of the call.
        call_id: String,
    },
}

/// What a model said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The functions it calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Opaque data that the provider requires in the next request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider: Vec<Value>,
}

/// A call of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The id of the call.
    pub id: String,
    /// The name of the function.
    pub name: String,
    /// The arguments as the model wrote them; usually JSON.
    pub arguments: String,
}

impl Message {
    /// Creates a message of the user that stays valid.
    pub fn user(content: impl Into<String>) -> Message {
        Message::User { content: content.into(), is_valid: true }
    }

    /// Whether the model still sees the message.
    pub fn is_valid(&self) -> bool {
        !matches!(self, Message::User { is_valid: false, .. })
    }

    /// The role of the speaker, as in files.
    pub fn role(&self) -> &'static str {
        match self {
            Message::System(_) => "system",
            Message::User { .. } => "user",
            Message::Assistant(_) => "assistant",
            Message::Tool { .. } => "tool",
        }
    }
}
