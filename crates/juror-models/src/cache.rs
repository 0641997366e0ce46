//! Replies kept so that none is paid twice.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::call::CallKey;
use crate::model::Usage;

/// A reply as it is kept: complete enough to take the place of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What the call was for.
    pub purpose: String,
    /// The model that replied, with its provider.
    pub model: String,
    /// The reply: a text, or vectors by their number and their bytes in base64.
    pub reply: String,
    /// Tokens sent.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens written by the model.
    #[serde(default)]
    pub output_tokens: u64,
}

impl Kept {
    pub(crate) fn usage(&self) -> Usage {
        Usage { input_tokens: self.input_tokens, output_tokens: self.output_tokens }
    }
}

/// Where replies are kept. Several processes may share one place.
pub trait ReplyCache: Send + Sync {
    /// The reply to a call, if it is known.
    fn get(&self, key: &CallKey) -> Result<Option<Kept>, String>;
    /// Keeps a reply; once this returns, a crash of the process does not lose it.
    fn keep(&self, key: &CallKey, kept: &Kept) -> Result<(), String>;
    /// What was made of the replies for whole questions, where it is known.
    fn judgements(&self, keys: &[CallKey]) -> Result<Vec<Option<String>>, String> {
        Ok(vec![None; keys.len()])
    }
    /// Keeps what was made of the replies for a whole question.
    fn keep_judgement(&self, _key: &CallKey, _text: &str) -> Result<(), String> {
        Ok(())
    }
}

/// How a cache is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Known replies are used, new ones are kept.
    #[default]
    ReadWrite,
    /// Known replies are used; a call that is not known fails: exact replay.
    ReadOnly,
    /// Every call is asked.
    Off,
}

/// Replies recorded earlier, held in memory; nothing new is kept.
#[derive(Clone, Debug, Default)]
pub struct Recorded(HashMap<CallKey, Kept>);

/// A line of recorded replies. It says nothing of when, so that equal replies are written alike.
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
        let line: RecordedLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let key = CallKey::from_hex(&line.key);
        let key =
            key.ok_or_else(|| format!("`{}` is not a key: 64 hexadecimal digits", line.key))?;
        Ok((key, line.kept))
    }
}

impl Recorded {
    /// Reads recorded replies, one a line.
    pub fn read(text: &str) -> Result<Recorded, String> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line)| {
            RecordedLine::read(line)
                .map_err(|why| format!("line {number} is no recorded reply: {why}"))
        };
        lines.map(read).collect::<Result<_, String>>().map(Recorded)
    }
}

impl ReplyCache for Recorded {
    fn get(&self, key: &CallKey) -> Result<Option<Kept>, String> {
        Ok(self.0.get(key).cloned())
    }

    fn keep(&self, _key: &CallKey, _kept: &Kept) -> Result<(), String> {
        Ok(())
    }
}
