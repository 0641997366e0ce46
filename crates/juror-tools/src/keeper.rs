//! The one writer of a store: replies that come together are made durable together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use juror_store::{KeptReply, NewReply, ToolReplies};
use tokio::sync::oneshot;

use crate::cache_folder::{Entries, FolderProblem, Names, add_replies};

/// The most replies in one transaction.
const BATCH: usize = 512;

type Ask = (NewReply, oneshot::Sender<Result<KeptReply, String>>);

/// Writes to a store from a thread of its own.
pub(crate) struct Keeper {
    store: Arc<ToolReplies>,
    asks: Option<mpsc::Sender<Ask>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Keeper {
    /// Waits until everything that was asked for is written.
    fn drop(&mut self) {
        self.asks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Keeper {
    /// Starts the thread; `tell` hears of replies that could not be written back to a folder.
    pub(crate) fn start(
        store: ToolReplies,
        write_back: Option<PathBuf>,
        tell: impl Fn(&str) + Send + 'static,
    ) -> Keeper {
        let store = Arc::new(store);
        let (asks, inbox) = mpsc::channel();
        let writer = store.clone();
        let work = move || {
            while let Some(replies) = write(&writer, &inbox) {
                if let Some(root) = &write_back {
                    for problem in add_to_folder(root, replies) {
                        tell(&format!("not written back, but kept: {problem}"));
                    }
                }
            }
        };
        // Without its thread the store refuses to keep, and says so.
        let thread = std::thread::Builder::new().name("keeper".into()).spawn(work).ok();
        Keeper { store, asks: Some(asks), thread }
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

/// Keeps what was asked for together; returns what was kept, or nothing when nobody can ask any
/// more.
fn write(store: &ToolReplies, inbox: &mpsc::Receiver<Ask>) -> Option<Vec<NewReply>> {
    let mut asks = vec![inbox.recv().ok()?];
    asks.extend(inbox.try_iter().take(BATCH - 1));
    let (replies, answers): (Vec<NewReply>, Vec<_>) = asks.into_iter().unzip();
    // Whoever asked may have gone; the reply is kept all the same.
    match store.keep(&replies) {
        Ok(kept) => {
            for (answer, kept) in answers.into_iter().zip(kept) {
                let _ = answer.send(Ok(kept));
            }
            Some(replies)
        }
        Err(error) => {
            for answer in answers {
                let _ = answer.send(Err(error.to_string()));
            }
            Some(Vec::new())
        }
    }
}

/// Writes replies into a cache folder, as the public servers do; the store has them already.
fn add_to_folder(root: &Path, replies: Vec<NewReply>) -> Vec<FolderProblem> {
    let mut by_api: BTreeMap<Names, Entries> = BTreeMap::new();
    for reply in replies {
        by_api.entry(reply.names).or_default().push((reply.key, reply.reply));
    }
    let add = |(names, entries)| add_replies(root, &names, entries).err();
    by_api.into_iter().filter_map(add).collect()
}
