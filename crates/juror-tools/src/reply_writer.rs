//! Writes new replies to the store, in batches that become durable together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use juror_store::{KeptReply, NewReply, StoreError, ToolStore};
use tokio::sync::oneshot;

use crate::cache_folder::{ApiPath, CacheEntries, add_replies, tidy_up};

/// The most replies in one transaction.
const BATCH: usize = 512;

type WriteRequest = (NewReply, oneshot::Sender<Result<KeptReply, String>>);

/// What to do with a reply to a call that already has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    /// Keep the first.
    #[default]
    First,
    /// Keep the new one.
    Latest,
}

/// Writes to a store from a thread of its own.
pub(crate) struct ReplyWriter {
    store: Arc<dyn ToolStore>,
    keeping: Keeping,
    requests: Option<mpsc::Sender<WriteRequest>>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for ReplyWriter {
    /// Waits until all requests are written.
    fn drop(&mut self) {
        self.requests = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl ReplyWriter {
    /// Starts the threads. `tell` is called about replies that could not be written back to a
    /// folder, and about a store that was deleted.
    pub(crate) fn start(
        store: Box<dyn ToolStore>,
        keeping: Keeping,
        write_back: Option<PathBuf>,
        tell: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> ReplyWriter {
        let store: Arc<dyn ToolStore> = Arc::from(store);
        let (requests, requests_in) = mpsc::channel();
        let (news, to_write_back) = mpsc::channel();
        let writer = store.clone();
        let has_folder = write_back.is_some();
        let tell_of_store = tell.clone();
        let work = move || {
            while let Some(kept) = write(&*writer, keeping, &requests_in) {
                writer.news().iter().for_each(|news| tell_of_store(news));
                if has_folder {
                    // The receiver lives as long as this sender.
                    let _ = news.send(kept);
                }
            }
        };
        // If there is no thread, `keep` returns an error.
        let mut threads = Vec::from_iter(spawn("reply-writer", work));
        if let Some(root) = write_back {
            let work = move || write_back_all(&root, keeping, &to_write_back, &*tell);
            threads.extend(spawn("write-back", work));
        }
        ReplyWriter { store, keeping, requests: Some(requests), threads }
    }

    pub(crate) fn keeping(&self) -> Keeping {
        self.keeping
    }

    pub(crate) fn store(&self) -> &dyn ToolStore {
        &*self.store
    }

    /// Waits until a reply is durable.
    pub(crate) async fn keep(&self, new: NewReply) -> Result<KeptReply, String> {
        let gone = || "the writer of the store has ended".to_owned();
        let (answer, kept) = oneshot::channel();
        let requests = self.requests.as_ref().ok_or_else(gone)?;
        requests.send((new, answer)).map_err(|_| gone())?;
        kept.await.map_err(|_| gone())?
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(work).ok()
}

/// Writes one batch of requests. Returns the replies that were new, or `None` when there are no
/// more requests.
fn write(
    store: &dyn ToolStore,
    keeping: Keeping,
    requests_in: &mpsc::Receiver<WriteRequest>,
) -> Option<Vec<NewReply>> {
    let mut requests = vec![requests_in.recv().ok()?];
    requests.extend(requests_in.try_iter().take(BATCH - 1));
    let (replies, answers): (Vec<NewReply>, Vec<_>) = requests.into_iter().unzip();
    let outcomes: Vec<Result<KeptReply, String>> = match keeping.put(store, &replies) {
        Ok(kept) => kept.into_iter().map(Ok).collect(),
        // One bad reply must not affect the others.
        Err(_) => replies.iter().map(|reply| keep_alone(store, keeping, reply)).collect(),
    };
    let is_new =
        |outcome: &Result<KeptReply, String>| outcome.as_ref().is_ok_and(|kept| !kept.was_known);
    let new = replies.into_iter().zip(&outcomes).filter(|(_, outcome)| is_new(outcome));
    let new = new.map(|(reply, _)| reply).collect();
    for (answer, outcome) in answers.into_iter().zip(outcomes) {
        // The caller may have left; the reply is kept anyway.
        let _ = answer.send(outcome);
    }
    Some(new)
}

impl Keeping {
    fn put(
        self,
        store: &dyn ToolStore,
        replies: &[NewReply],
    ) -> Result<Vec<KeptReply>, StoreError> {
        match self {
            Keeping::First => store.keep(replies),
            Keeping::Latest => store.replace(replies),
        }
    }
}

fn keep_alone(
    store: &dyn ToolStore,
    keeping: Keeping,
    reply: &NewReply,
) -> Result<KeptReply, String> {
    let kept = keeping.put(store, std::slice::from_ref(reply));
    let kept = kept.map_err(|error| error.to_string())?;
    kept.into_iter().next().ok_or_else(|| "nothing was kept".to_owned())
}

/// Writes replies to a cache folder, as the public servers do. They are already in the store.
/// Replies that queue up are written together, because each write rewrites whole files.
fn write_back_all(
    root: &Path,
    keeping: Keeping,
    news: &mpsc::Receiver<Vec<NewReply>>,
    tell: &dyn Fn(&str),
) {
    tidy_up(root);
    while let Ok(mut replies) = news.recv() {
        replies.extend(news.try_iter().flatten());
        let mut by_api: BTreeMap<ApiPath, CacheEntries> = BTreeMap::new();
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
