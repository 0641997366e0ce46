//! Scripts: what a server does.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The behaviour of a model: how fast it is, what it says, and what goes wrong.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// How long every reply takes.
    pub latency_ms: u64,
    /// How many requests are answered at a time, while the others wait; unlimited by default.
    pub slots: Option<usize>,
    /// The only valid key; by default, every key is valid.
    pub key: Option<String>,
    /// Replies by purpose, each used once, in order. Then replies are automatic.
    pub replies: BTreeMap<String, Vec<Reply>>,
    /// Replies by the content of the prompt. The first match is used, any number of times.
    pub matching: Vec<Matching>,
    /// Vectors by text. Other texts get eight numbers derived from the text.
    pub embeddings: BTreeMap<String, Vec<f64>>,
    /// The tokens of each chat call; by default, one token for four characters.
    pub usage: Option<Usage>,
    /// The tokens of each embeddings call.
    pub embedding_tokens: u64,
    /// What goes wrong, and when.
    pub faults: Vec<Fault>,
    /// What the model does not support: `json_schema`, `tools`, `tool_choice`,
    /// `parallel_tool_calls`, `json_object`, `temperature`, `max_tokens`, `max_completion_tokens`,
    /// `stream`, `encoding_format`.
    pub refuses: Vec<String>,
}

/// A reply to each prompt that contains a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matching {
    /// The purpose of the requests; by default, any.
    #[serde(default)]
    pub purpose: Option<String>,
    /// The text in the prompt.
    pub contains: String,
    /// The reply.
    pub reply: Reply,
}

/// A reply that replaces the regular one, which is not used up.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The numbers of the requests on this script, counted from 1 over all purposes; all of them if
    /// empty.
    #[serde(default)]
    pub calls: Vec<usize>,
    /// The purpose of the requests; by default, any.
    #[serde(default)]
    pub purpose: Option<String>,
    /// The reply.
    pub reply: Reply,
}

/// The tokens of a chat call.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
}

/// A function call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionCall {
    /// The function's name.
    pub name: String,
    /// The arguments. A string is sent as it is, whether or not it is JSON.
    #[serde(default)]
    pub arguments: Value,
    /// The call's id; by default, one derived from the number of the request.
    #[serde(default)]
    pub id: Option<String>,
}

/// A reply.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The model replies with this JSON: as arguments if a tool was forced, else as text. For
    /// embeddings, it is the whole body.
    Json(Value),
    /// The model replies with this text. For embeddings, it is the whole body.
    Text(String),
    /// The model calls functions, in parallel, and may add a text.
    Calls {
        /// The text.
        #[serde(default)]
        content: Option<String>,
        /// The calls.
        calls: Vec<FunctionCall>,
    },
    /// The model refuses, with this text.
    Refusal(String),
    /// The provider returns an error.
    Status {
        /// The status code.
        status: u16,
        /// The header `retry-after`.
        #[serde(default)]
        retry_after: Option<String>,
        /// The body; by default, the one that the provider sends with this status.
        #[serde(default)]
        body: Option<Value>,
    },
    /// Nothing is sent, and the connection stays open.
    Hang,
    /// The connection is reset before anything is sent.
    Reset,
    /// Fewer bytes are sent than announced.
    Truncated,
    /// Status 200 with a body that is not JSON.
    Garbled,
    /// Status 200 with empty content.
    Empty,
    /// Embeddings of which the last has one number too few.
    WrongSize,
    /// Embeddings of which the last is missing.
    MissingVector,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_written_in_snake_case() {
        let script: Script = serde_json::from_str(
            r#"{"replies": {"text": ["hang", "missing_vector", {"text": "a"},
                {"status": {"status": 429}}]}}"#,
        )
        .expect("a script");
        assert!(matches!(
            script.replies["text"][..],
            [
                Reply::Hang,
                Reply::MissingVector,
                Reply::Text(_),
                Reply::Status { status: 429, retry_after: None, body: None }
            ]
        ));
    }

    #[test]
    fn a_misspelt_setting_is_an_error() {
        assert!(serde_json::from_str::<Script>(r#"{"latency": 3}"#).is_err());
    }
}
