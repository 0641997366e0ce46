//! Adapts stores of replies to the model queue.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use juror_models::{
    BuyingTurn, CacheMode, CallKey, Kept, Outcome, Pending, Recorded, ReplyCache, Tell,
};
use juror_postgres::{StoreUse, is_database, open_reply_store, shown_place};
use juror_store::{Key, ReplyStore, StoreError, StoredReply, Turn};

use crate::setup_error::SetupError;

/// Returns whether a place is a file of recorded replies, rather than a folder.
pub(crate) fn is_file(place: &str) -> bool {
    let path = Path::new(place);
    let is_named_so = path.extension().is_some_and(|ending| ending == "jsonl");
    !is_database(place) && (is_named_so || path.is_file())
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
    if is_file(place) {
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
    let shown = shown_place(place);
    match open_reply_store(place, if keeps { StoreUse::Keep } else { StoreUse::Read }) {
        Ok(Some(replies)) => Ok(Box::new(Store { replies, tell })),
        Ok(None) if mode == CacheMode::ReadOnly => {
            Err(SetupError::new(format!("{shown}: no replies are kept here"))
                .hint("only kept replies may be used; name the folder or the file that has them"))
        }
        Ok(None) => Ok(Box::new(Recorded::default())),
        Err(error) => Err(error.into()),
    }
}

struct Store {
    replies: Box<dyn ReplyStore>,
    /// Is told if something happened to the store in the meantime.
    tell: Tell,
}

impl Store {
    fn tell_news(&self) {
        self.replies.news().iter().for_each(|news| (self.tell)(news));
    }
}

fn told<T>(outcome: Result<T, StoreError>) -> Result<T, String> {
    outcome.map_err(|error| error.to_string())
}

impl ReplyCache for Store {
    fn get<'a>(&'a self, key: &'a CallKey) -> Pending<'a, Result<Option<Kept>, String>> {
        Box::pin(async move { Ok(told(self.replies.get(key.as_bytes()).await)?.map(kept_of)) })
    }

    fn keep<'a>(&'a self, key: &'a CallKey, kept: Kept) -> Pending<'a, Result<Kept, String>> {
        Box::pin(async move {
            let kept = told(self.replies.keep(key.as_bytes(), &reply_of(kept)).await)?;
            self.tell_news();
            Ok(kept_of(kept))
        })
    }

    fn replace<'a>(&'a self, key: &'a CallKey, kept: Kept) -> Pending<'a, Result<Kept, String>> {
        Box::pin(async move {
            told(self.replies.replace(key.as_bytes(), &reply_of(kept.clone())).await)?;
            self.tell_news();
            Ok(kept)
        })
    }

    fn turn<'a>(&'a self, key: &'a CallKey) -> Pending<'a, Result<Option<BuyingTurn<'a>>, String>> {
        Box::pin(async move {
            let turn = told(self.replies.turn(key.as_bytes()).await)?;
            Ok(turn.map(|turn| match turn {
                Turn::Ours(held) => BuyingTurn::Ours(held),
                Turn::Theirs(wait) => BuyingTurn::Theirs(wait),
            }))
        })
    }

    fn judgements<'a>(
        &'a self,
        keys: &'a [CallKey],
    ) -> Pending<'a, Result<Vec<Option<String>>, String>> {
        Box::pin(async move {
            let keys: Vec<Key> = keys.iter().map(|key| *key.as_bytes()).collect();
            told(self.replies.judgements(&keys).await)
        })
    }

    fn keep_judgement<'a>(
        &'a self,
        key: &'a CallKey,
        text: &'a str,
    ) -> Pending<'a, Result<(), String>> {
        Box::pin(
            async move { told(self.replies.keep_judgement(key.as_bytes(), text, now()).await) },
        )
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
