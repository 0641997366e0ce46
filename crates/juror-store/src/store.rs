//! What a store of replies does, wherever it keeps them.

use std::any::Any;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use crate::database::StoreError;
use crate::replies::{StoredReply, Total};
use crate::tool_replies::{KeptReply, NewReply, ToolReply, ToolTotal};

/// A boxed future.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The key of a call: a hash of everything that decides its reply.
pub type Key = [u8; 32];

/// Whose turn it is to obtain a reply that nobody has kept yet.
pub enum Turn<'a> {
    /// Ours, for as long as the value lives. Look the reply up once more before asking for it:
    /// another process may have kept it just before.
    Ours(Box<dyn Any + Send + Sync>),
    /// That of another process. The future ends when it is worth looking again.
    Theirs(Pending<'a, ()>),
}

/// A store of models' replies. Once a reply is kept, it survives a crash of the process.
pub trait ReplyStore: Send + Sync {
    /// The place of the store as people may see it, without passwords.
    fn place(&self) -> String;

    /// Returns a message for the user, once, if something happened to the store.
    fn news(&self) -> Option<String> {
        None
    }

    /// Returns the reply to a call.
    fn get<'a>(&'a self, key: &'a Key) -> Pending<'a, Result<Option<StoredReply>, StoreError>>;

    /// Keeps a reply unless there is one. Returns what is kept now.
    fn keep<'a>(
        &'a self,
        key: &'a Key,
        reply: &'a StoredReply,
    ) -> Pending<'a, Result<StoredReply, StoreError>>;

    /// Keeps a reply, replacing one of the same key.
    fn replace<'a>(
        &'a self,
        key: &'a Key,
        reply: &'a StoredReply,
    ) -> Pending<'a, Result<(), StoreError>>;

    /// Takes the turn to obtain a reply, so that processes that share the store do not all buy it.
    /// `None` if the store does not know turns.
    fn turn<'a>(&'a self, _key: &'a Key) -> Pending<'a, Result<Option<Turn<'a>>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Returns the judgements of whole questions.
    fn judgements<'a>(
        &'a self,
        keys: &'a [Key],
    ) -> Pending<'a, Result<Vec<Option<String>>, StoreError>>;

    /// Keeps the judgement of a whole question, replacing one of the same key.
    fn keep_judgement<'a>(
        &'a self,
        key: &'a Key,
        notes: &'a str,
        kept_at: i64,
    ) -> Pending<'a, Result<(), StoreError>>;

    /// Keeps many replies, all or none, and returns how many are new. A reply that is kept already
    /// stays.
    fn import<'a>(
        &'a self,
        replies: &'a [(Key, StoredReply)],
    ) -> Pending<'a, Result<usize, StoreError>>;

    /// Returns the next replies after a key, sorted by key.
    fn page(
        &self,
        after: Option<Key>,
        most: usize,
    ) -> Pending<'_, Result<Vec<(Key, StoredReply)>, StoreError>>;

    /// Returns what is kept, by purpose and model.
    fn totals(&self) -> Pending<'_, Result<Vec<Total>, StoreError>>;

    /// Deletes replies and returns their number.
    fn prune<'a>(&'a self, which: &'a Which) -> Pending<'a, Result<usize, StoreError>>;
}

/// Which replies to delete; all conditions hold.
#[derive(Clone, Debug, Default)]
pub struct Which {
    /// Those kept before a time, in seconds since 1970.
    pub before: Option<i64>,
    /// Those for a purpose.
    pub purpose: Option<String>,
    /// Those of a model.
    pub model: Option<String>,
}

/// A store of tools' replies. Once a reply is kept, it survives a power cut. The first reply to a
/// call stays unless it is replaced. Its functions may block.
pub trait ToolStore: Send + Sync {
    /// The place of the store as people may see it, without passwords.
    fn place(&self) -> String;

    /// Returns a message for the user, once, if something happened to the store.
    fn news(&self) -> Option<String> {
        None
    }

    /// Returns the reply of an API to arguments.
    fn get(&self, names: &[String; 3], key: &str) -> Result<Option<KeptReply>, StoreError>;

    /// Keeps replies, all or none. A reply that is kept already stays. Returns what is kept now, in
    /// order.
    fn keep(&self, replies: &[NewReply]) -> Result<Vec<KeptReply>, StoreError>;

    /// Keeps replies, all or none, replacing those that are kept along with their hits.
    fn replace(&self, replies: &[NewReply]) -> Result<Vec<KeptReply>, StoreError>;

    /// Takes the turn to obtain a reply, so that processes that share the store do not all ask for
    /// it. `None` if the store does not know turns.
    fn turn<'a>(
        &'a self,
        _names: &'a [String; 3],
        _key: &'a str,
    ) -> Pending<'a, Result<Option<Turn<'a>>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Returns the first kept replies of an API: arguments and reply.
    fn first(&self, names: &[String; 3], most: usize) -> Result<Vec<(String, String)>, StoreError>;

    /// Returns the ids and arguments of an API's replies that were kept after the reply of an id, in
    /// order. An id of 0 returns all.
    fn keys_after(&self, names: &[String; 3], id: i64) -> Result<Vec<(i64, String)>, StoreError>;

    /// Returns category and tool of all APIs that have kept replies, in folder form.
    fn tools(&self) -> Result<Vec<(String, String)>, StoreError>;

    /// Adds to the hits of replies, by id.
    fn count_hits(&self, hits: &[(i64, u64)]) -> Result<(), StoreError>;

    /// Returns the next replies after an id, in the order they were kept, with their ids.
    fn page(&self, after: i64, most: usize) -> Result<Vec<(i64, ToolReply)>, StoreError>;

    /// Returns how much is kept, by origin and model.
    fn totals(&self) -> Result<Vec<ToolTotal>, StoreError>;

    /// Returns the number of replies.
    fn count(&self) -> Result<u64, StoreError>;
}

/// Waits for a store on this thread. A store does its work here or on a thread of its own, so that
/// this needs no runtime, and holds none up that the store would need.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut work = pin!(work);
    loop {
        match work.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_for_what_another_does() {
        let (send, receive) = std::sync::mpsc::channel::<Waker>();
        let other = std::thread::spawn(move || receive.recv().expect("a waker").wake());
        let mut is_asked = false;
        let answer = std::future::poll_fn(|context| {
            if std::mem::replace(&mut is_asked, true) {
                return Poll::Ready(7);
            }
            send.send(context.waker().clone()).expect("sent");
            Poll::Pending
        });
        assert_eq!(wait(answer), 7);
        other.join().expect("done");
    }
}
