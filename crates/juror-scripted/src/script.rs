//! What a server is told to do.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The behaviour of a model: how fast it is, what it says, and what goes wrong.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// How long every reply takes.
    pub latency_ms: u64,
    /// How many requests are worked on at a time; the others wait for their turn. Without it, all.
    pub slots: Option<usize>,
    /// The only key that is let in. Without one, every key is.
    pub key: Option<String>,
    /// Replies by purpose, each used once, in order. After the last come automatic ones.
    pub replies: BTreeMap<String, Vec<Reply>>,
    /// Replies by what the prompt contains: the first that fits, as often as it fits.
    pub matching: Vec<Matching>,
    /// Vectors by text. Other texts get eight numbers that follow from the text.
    pub embeddings: BTreeMap<String, Vec<f64>>,
    /// The tokens of each chat call. Without them, a token is four characters.
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
    /// The purpose of the requests meant. Without one, all are.
    #[serde(default)]
    pub purpose: Option<String>,
    /// What the prompt contains.
    pub contains: String,
    /// What is replied.
    pub reply: Reply,
}

/// A reply in place of the one that was due. It uses up nothing of the script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Which requests on this script, counted from 1 over all purposes. If empty, all of them.
    #[serde(default)]
    pub calls: Vec<usize>,
    /// The purpose they must also have, if it matters.
    #[serde(default)]
    pub purpose: Option<String>,
    /// What is replied.
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

/// A call of a function.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionCall {
    /// The function.
    pub name: String,
    /// Its arguments. A text is sent as it is, whether or not it is JSON.
    #[serde(default)]
    pub arguments: Value,
    /// The call's own name, if not one by the number of the request.
    #[serde(default)]
    pub id: Option<String>,
}

/// One reply.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The model says this JSON: as arguments if a tool was forced, else as text. To a request for
    /// embeddings it is the whole body.
    Json(Value),
    /// The model says this text. To a request for embeddings it is the whole body.
    Text(String),
    /// The model calls functions, all at once, and may say something with them.
    Calls {
        /// What it says.
        #[serde(default)]
        content: Option<String>,
        /// What it calls.
        calls: Vec<FunctionCall>,
    },
    /// The model declines, with these words.
    Refusal(String),
    /// The provider replies with an error.
    Status {
        /// The status code.
        status: u16,
        /// The header of this name.
        #[serde(default)]
        retry_after: Option<String>,
        /// The body, if not the one the provider sends with this status.
        #[serde(default)]
        body: Option<Value>,
    },
    /// Nothing comes, and the connection stays open.
    Hang,
    /// The connection is reset before anything comes.
    Reset,
    /// Headers promise more bytes than come.
    Truncated,
    /// Status 200 with a body that is not JSON.
    Garbled,
    /// Status 200 with empty content.
    Empty,
    /// Embeddings of which the last is one number short.
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
