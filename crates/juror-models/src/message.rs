//! What is said between an agent, its model and its tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
