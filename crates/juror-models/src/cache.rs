//! Kept replies, so that none is paid for twice.

use std::any::Any;
use std::collections::HashMap;
use std::future::ready;

use serde::{Deserialize, Serialize};

use crate::call::CallKey;
use crate::http::shorten;
use crate::model::{Outcome, Pending, Usage};

/// A kept reply, complete enough to replace the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "KeptForm", into = "KeptForm")]
pub struct Kept {
    /// The purpose of the call.
    pub purpose: String,
    /// The model that replied, as `provider/model`.
    pub model: String,
    /// The reply: a text, or vectors as their number and their bytes in base64; or that the model
    /// declined, which costs money too.
    pub said: Outcome,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
}

/// The JSON form of a recorded reply.
#[derive(Serialize, Deserialize)]
struct KeptForm {
    purpose: String,
    model: String,
    reply: String,
    /// Whether the model declined and the reply is its reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    declined: bool,
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

impl From<KeptForm> for Kept {
    fn from(form: KeptForm) -> Kept {
        let KeptForm { purpose, model, reply, declined, input_tokens, output_tokens } = form;
        let said = if declined { Outcome::Declined(reply) } else { Outcome::Text(reply) };
        Kept { purpose, model, said, input_tokens, output_tokens }
    }
}

impl From<Kept> for KeptForm {
    fn from(kept: Kept) -> KeptForm {
        let Kept { purpose, model, said, input_tokens, output_tokens } = kept;
        let (reply, declined) = match said {
            Outcome::Text(text) => (text, false),
            Outcome::Declined(why) => (why, true),
        };
        KeptForm { purpose, model, reply, declined, input_tokens, output_tokens }
    }
}

impl Kept {
    pub(crate) fn usage(&self) -> Usage {
        Usage { input_tokens: self.input_tokens, output_tokens: self.output_tokens }
    }
}

/// Whose turn it is to buy a reply that nobody has kept yet.
pub enum BuyingTurn<'a> {
    /// Ours, for as long as the value lives.
    Ours(Box<dyn Any + Send + Sync>),
    /// That of another process. The future ends when it is worth looking again.
    Theirs(Pending<'a, ()>),
}

/// A store of replies, which several processes may share.
pub trait ReplyCache: Send + Sync {
    /// Returns the kept reply to a call.
    fn get<'a>(&'a self, key: &'a CallKey) -> Pending<'a, Result<Option<Kept>, String>>;
    /// Keeps a reply unless another process has kept one, and returns the one that is kept. Once this
    /// returns, a crash of the process does not lose it.
    fn keep<'a>(&'a self, key: &'a CallKey, kept: Kept) -> Pending<'a, Result<Kept, String>>;
    /// Keeps a reply in place of one that was of no use.
    fn replace<'a>(&'a self, key: &'a CallKey, kept: Kept) -> Pending<'a, Result<Kept, String>>;
    /// Takes the turn to buy a reply, so that processes that share the cache do not all buy it.
    /// `None` if the cache does not know turns.
    fn turn<'a>(
        &'a self,
        _key: &'a CallKey,
    ) -> Pending<'a, Result<Option<BuyingTurn<'a>>, String>> {
        Box::pin(ready(Ok(None)))
    }
    /// Returns kept judgements of whole questions.
    fn judgements<'a>(
        &'a self,
        keys: &'a [CallKey],
    ) -> Pending<'a, Result<Vec<Option<String>>, String>> {
        Box::pin(ready(Ok(vec![None; keys.len()])))
    }
    /// Keeps the judgement of a whole question.
    fn keep_judgement<'a>(
        &'a self,
        _key: &'a CallKey,
        _text: &'a str,
    ) -> Pending<'a, Result<(), String>> {
        Box::pin(ready(Ok(())))
    }
}

/// How a cache is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Kept replies are used, new ones are kept.
    #[default]
    ReadWrite,
    /// Only kept replies are used; other calls fail. For an exact replay.
    ReadOnly,
    /// Every call is sent.
    Off,
}

/// Recorded replies in memory; keeps nothing new.
#[derive(Clone, Debug, Default)]
pub struct Recorded(HashMap<CallKey, Kept>);

/// A line of recorded replies. It has no time, so that equal replies give equal lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedLine {
    /// The call's key in hexadecimal digits.
    pub key: String,
    /// The reply.
    #[serde(flatten)]
    pub kept: Kept,
}

impl RecordedLine {
    /// Reads a line of JSON.
    pub fn read(line: &str) -> Result<(CallKey, Kept), String> {
        let unread = |error: serde_json::Error| shorten(&error.to_string());
        let line: RecordedLine = serde_json::from_str(line).map_err(unread)?;
        let no_key = || format!("`{}` is not a key: 64 hexadecimal digits", shorten(&line.key));
        let key = CallKey::from_hex(&line.key).ok_or_else(no_key)?;
        Ok((key, line.kept))
    }
}

impl Recorded {
    /// Reads recorded replies, one per line.
    pub fn read(text: &str) -> Result<Recorded, String> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line)| {
            RecordedLine::read(line)
                .map_err(|why| format!("line {number} is not a recorded reply: {why}"))
        };
        lines.map(read).collect::<Result<_, String>>().map(Recorded)
    }
}

impl ReplyCache for Recorded {
    fn get<'a>(&'a self, key: &'a CallKey) -> Pending<'a, Result<Option<Kept>, String>> {
        Box::pin(ready(Ok(self.0.get(key).cloned())))
    }

    fn keep<'a>(&'a self, _: &'a CallKey, kept: Kept) -> Pending<'a, Result<Kept, String>> {
        Box::pin(ready(Ok(kept)))
    }

    fn replace<'a>(&'a self, _: &'a CallKey, kept: Kept) -> Pending<'a, Result<Kept, String>> {
        Box::pin(ready(Ok(kept)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_recorded_refusal_stays_one() {
        let kept = |said| Kept {
            purpose: "answer_claims".into(),
            model: "openai/m".into(),
            said,
            input_tokens: 3,
            output_tokens: 1,
        };
        let text = kept(Outcome::Text("why not".into()));
        let written = serde_json::to_string(&text).expect("JSON");
        let plain = r#"{"purpose":"answer_claims","model":"openai/m","reply":"why not","input_tokens":3,"output_tokens":1}"#;
        assert_eq!(written, plain);
        for kept in [text, kept(Outcome::Declined("why not".into()))] {
            let line = RecordedLine { key: "ab".repeat(32), kept: kept.clone() };
            let line = serde_json::to_string(&line).expect("JSON");
            assert_eq!(RecordedLine::read(&line).map(|(_, kept)| kept), Ok(kept), "{line}");
        }
    }

    #[test]
    fn what_is_no_recorded_reply_is_not_quoted_in_full() {
        let long = "x".repeat(100_000);
        let line = |key: &str| {
            json!({"key": key, "purpose": "", "model": "", "reply": "", "input_tokens": 0,
                "output_tokens": 0})
        };
        for text in [json!(long), line(&long)] {
            let why = RecordedLine::read(&text.to_string()).map(drop).expect_err("no reply");
            assert!(why.contains("xxx…") && why.len() < 600, "{why}");
        }
    }
}
