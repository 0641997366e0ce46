//! Adapts the store of replies to the model queue.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use juror_models::{CacheMode, CallKey, Kept, Outcome, Recorded, ReplyCache, Tell};
use juror_store::{Replies, StoredReply};

use crate::setup_error::SetupError;

/// Returns whether a place is a file of recorded replies, rather than a folder.
pub(crate) fn is_file(place: &Path) -> bool {
    place.is_file() || place.extension().is_some_and(|ending| ending == "jsonl")
}

/// Opens the place of kept replies: a folder, or a file of recorded replies. A missing folder is
/// created only if replies may be kept.
pub(crate) fn open(
    place: &str,
    mode: CacheMode,
    keeps: bool,
    tell: Tell,
) -> Result<Box<dyn ReplyCache>, SetupError> {
    let path = Path::new(place);
    if is_file(path) {
        return match mode {
            CacheMode::ReadOnly => {
                let text = std::fs::read_to_string(path).map_err(|error| {
                    let why = juror_files::reason(&error);
                    SetupError::new(format!("{place}: cannot read: {why}"))
                })?;
                let recorded = Recorded::read(&text)
                    .map_err(|error| SetupError::new(format!("{place}: {error}")))?;
                Ok(Box::new(recorded))
            }
            _ => Err(SetupError::new(format!(
                "{place}: a file of recorded replies can only be read"
            ))
            .hint(
                "set `llm.cache_mode: read-only`, or bring them into a folder with `juror cache import`",
            )),
        };
    }
    let opened = if keeps { Replies::open(path).map(Some) } else { Replies::open_read_only(path) };
    match opened {
        Ok(Some(replies)) => Ok(Box::new(Store { replies, tell })),
        Ok(None) if mode == CacheMode::ReadOnly => {
            Err(SetupError::new(format!("{place}: no replies are kept here"))
                .hint("only kept replies may be used; name the folder or the file that has them"))
        }
        Ok(None) => Ok(Box::new(Recorded::default())),
        Err(error) => Err(error.into()),
    }
}

struct Store {
    replies: Replies,
    /// Is told if the store was deleted in the meantime.
    tell: Tell,
}

impl ReplyCache for Store {
    fn get(&self, key: &CallKey) -> Result<Option<Kept>, String> {
        let found = self.replies.get(key.as_bytes()).map_err(|error| error.to_string())?;
        Ok(found.map(kept_of))
    }

    fn keep(&self, key: &CallKey, kept: &Kept) -> Result<(), String> {
        let reply = reply_of(kept.clone());
        self.replies.keep(key.as_bytes(), &reply).map_err(|error| error.to_string())?;
        self.replies.news().iter().for_each(|news| (self.tell)(news));
        Ok(())
    }

    fn judgements(&self, keys: &[CallKey]) -> Result<Vec<Option<String>>, String> {
        self.replies
            .judgements(keys.iter().map(CallKey::as_bytes))
            .map_err(|error| error.to_string())
    }

    fn keep_judgement(&self, key: &CallKey, text: &str) -> Result<(), String> {
        let kept = self.replies.keep_judgement(key.as_bytes(), text, now());
        kept.map_err(|error| error.to_string())
    }
}

/// Converts a stored reply to the queue's form.
pub fn kept_of(reply: StoredReply) -> Kept {
    let said = if reply.is_declined { Outcome::Declined } else { Outcome::Text };
    Kept {
        purpose: reply.purpose,
        model: reply.model,
        said: said(reply.text),
        input_tokens: reply.input_tokens,
        output_tokens: reply.output_tokens,
    }
}

/// Converts a reply to its stored form, dated now.
pub fn reply_of(kept: Kept) -> StoredReply {
    let (text, is_declined) = match kept.said {
        Outcome::Text(text) => (text, false),
        Outcome::Declined(why) => (why, true),
    };
    StoredReply {
        purpose: kept.purpose,
        model: kept.model,
        text,
        is_declined,
        input_tokens: kept.input_tokens,
        output_tokens: kept.output_tokens,
        kept_at: now(),
    }
}

/// Returns the seconds since 1970.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(now).unwrap_or(i64::MAX)
}
