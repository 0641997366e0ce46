//! The one writer of a store: replies that come together are made durable together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use juror_store::{KeptReply, NewReply, StoreError, ToolReplies};
use tokio::sync::oneshot;

use crate::cache_folder::{Entries, Names, add_replies, tidy_up};

/// The most replies in one transaction.
const BATCH: usize = 512;

type Ask = (NewReply, oneshot::Sender<Result<KeptReply, String>>);

/// How replies are put down where there are some already: those stay, or are replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    /// The first reply to a call stays.
    #[default]
    First,
    /// A new reply replaces the one that is kept.
    Latest,
}

/// Writes to a store from a thread of its own.
pub(crate) struct Keeper {
    store: Arc<ToolReplies>,
    keeping: Keeping,
    asks: Option<mpsc::Sender<Ask>>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Keeper {
    /// Waits until everything that was asked for is written.
    fn drop(&mut self) {
        self.asks = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Keeper {
    /// Starts the thread; `tell` hears of replies that could not be written back to a folder, and
    /// of a store that was deleted meanwhile.
    pub(crate) fn start(
        store: ToolReplies,
        keeping: Keeping,
        write_back: Option<PathBuf>,
        tell: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Keeper {
        let store = Arc::new(store);
        let (asks, inbox) = mpsc::channel();
        let (news, to_write_back) = mpsc::channel();
        let writer = store.clone();
        let has_folder = write_back.is_some();
        let tell_of_store = tell.clone();
        let work = move || {
            while let Some(kept) = write(&writer, keeping, &inbox) {
                writer.news().iter().for_each(|news| tell_of_store(news));
                if has_folder {
                    // The other thread lives as long as this one sends.
                    let _ = news.send(kept);
                }
            }
        };
        // Without its thread the store refuses to keep, and says so.
        let mut threads = Vec::from_iter(spawn("keeper", work));
        if let Some(root) = write_back {
            let work = move || write_back_all(&root, keeping, &to_write_back, &*tell);
            threads.extend(spawn("write-back", work));
        }
        Keeper { store, keeping, asks: Some(asks), threads }
    }

    pub(crate) fn keeping(&self) -> Keeping {
        self.keeping
    }

    pub(crate) fn store(&self) -> &ToolReplies {
        &self.store
    }

    /// Waits until the reply is kept for good.
    pub(crate) async fn keep(&self, new: NewReply) -> Result<KeptReply, String> {
        let gone = || "the writer of the store has ended".to_owned();
        let (answer, kept) = oneshot::channel();
        let asks = self.asks.as_ref().ok_or_else(gone)?;
        asks.send((new, answer)).map_err(|_| gone())?;
        kept.await.map_err(|_| gone())?
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(work).ok()
}

/// Keeps what was asked for together; returns what was new, or nothing when nobody can ask any
/// more.
fn write(
    store: &ToolReplies,
    keeping: Keeping,
    inbox: &mpsc::Receiver<Ask>,
) -> Option<Vec<NewReply>> {
    let mut asks = vec![inbox.recv().ok()?];
    asks.extend(inbox.try_iter().take(BATCH - 1));
    let (replies, answers): (Vec<NewReply>, Vec<_>) = asks.into_iter().unzip();
    let outcomes: Vec<Result<KeptReply, String>> = match keeping.put(store, &replies) {
        Ok(kept) => kept.into_iter().map(Ok).collect(),
        // One that cannot be kept is not to cost the others theirs.
        Err(_) => replies.iter().map(|reply| keep_alone(store, keeping, reply)).collect(),
    };
    let is_new =
        |outcome: &Result<KeptReply, String>| outcome.as_ref().is_ok_and(|kept| !kept.was_known);
    let new = replies.into_iter().zip(&outcomes).filter(|(_, outcome)| is_new(outcome));
    let new = new.map(|(reply, _)| reply).collect();
    for (answer, outcome) in answers.into_iter().zip(outcomes) {
        // Whoever asked may have gone; the reply is kept all the same.
        let _ = answer.send(outcome);
    }
    Some(new)
}

impl Keeping {
    fn put(self, store: &ToolReplies, replies: &[NewReply]) -> Result<Vec<KeptReply>, StoreError> {
        match self {
            Keeping::First => store.keep(replies),
            Keeping::Latest => store.replace(replies),
        }
    }
}

fn keep_alone(
    store: &ToolReplies,
    keeping: Keeping,
    reply: &NewReply,
) -> Result<KeptReply, String> {
    let kept = keeping.put(store, std::slice::from_ref(reply));
    let kept = kept.map_err(|error| error.to_string())?;
    kept.into_iter().next().ok_or_else(|| "nothing was kept".to_owned())
}

/// Writes replies into a cache folder, as the public servers do; the store has them already. What
/// has gathered meanwhile is written together, since each time whole files are.
fn write_back_all(
    root: &Path,
    keeping: Keeping,
    news: &mpsc::Receiver<Vec<NewReply>>,
    tell: &dyn Fn(&str),
) {
    tidy_up(root);
    while let Ok(mut replies) = news.recv() {
        replies.extend(news.try_iter().flatten());
        let mut by_api: BTreeMap<Names, Entries> = BTreeMap::new();
        for reply in replies {
            by_api.entry(reply.names).or_default().push((reply.key, reply.reply));
        }
        for (names, entries) in by_api {
            if let Err(problem) = add_replies(root, &names, entries, keeping) {
                tell(&format!("not written back, but kept: {problem}"));
            }
        }
    }
}
