//! Turns: of all processes that want a reply, one obtains it.
//!
//! A turn is an advisory lock of the process's session, by a number made of the call's key. Whoever
//! does not get it waits to be woken, and looks again every second in case nobody wakes it: a process
//! that was killed wakes nobody, but its locks end with its session.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use juror_store::{Pending, StoreError, Turn};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::session::Session;

/// How long to wait before looking again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The most turns of a process at a time. A server has room for some thousand locks in all.
const MOST: usize = 256;

/// The turns of a process, and who waits for those of others.
pub(crate) struct Turns {
    own: Mutex<HashSet<i64>>,
    waiting: Mutex<HashMap<i64, watch::Sender<()>>>,
    room: Arc<Semaphore>,
}

impl Default for Turns {
    fn default() -> Turns {
        let room = Arc::new(Semaphore::new(MOST));
        Turns { own: Mutex::default(), waiting: Mutex::default(), room }
    }
}

impl Turns {
    /// Returns the numbers of all own turns.
    pub(crate) fn own(&self) -> Vec<i64> {
        locked(&self.own).iter().copied().collect()
    }

    /// Wakes who waits for a turn.
    pub(crate) fn wake(&self, number: i64) {
        if let Some(waiting) = locked(&self.waiting).get(&number) {
            waiting.send_replace(());
        }
    }

    /// Returns what changes when a turn ends from now on.
    fn listen(&self, number: i64) -> watch::Receiver<()> {
        let mut waiting = locked(&self.waiting);
        waiting.retain(|_, waiting| waiting.receiver_count() > 0);
        waiting.entry(number).or_default().subscribe()
    }
}

/// A turn, until it is dropped.
struct Held {
    session: Arc<Session>,
    number: i64,
    _room: OwnedSemaphorePermit,
}

impl Drop for Held {
    fn drop(&mut self) {
        let (session, number) = (self.session.clone(), self.number);
        self.session.spawn(async move {
            // The server frees a lock whose session ends, so that a failure here costs nothing.
            let was_held = session.unlock(number).await;
            locked(&session.turns.own).remove(&number);
            session.turns.wake(number);
            if matches!(was_held, Ok(false)) {
                session.doubt_locks();
            }
        });
    }
}

/// Takes a turn, or returns what to wait for.
pub(crate) fn turn<'a>(
    session: &Arc<Session>,
    number: i64,
) -> Pending<'a, Result<Option<Turn<'a>>, StoreError>> {
    let session = session.clone();
    // If the caller leaves meanwhile, the turn is dropped where it would have arrived.
    Box::pin(async move {
        let work = session.clone();
        session.there(async move { try_turn(&work, number).await }).await.map(Some)
    })
}

async fn try_turn(session: &Arc<Session>, number: i64) -> Result<Turn<'static>, StoreError> {
    let turns = &session.turns;
    // Whoever frees the lock from now on is heard.
    let mut waiting = turns.listen(number);
    // Nobody closes the semaphore.
    let room = turns.room.clone().acquire_owned().await.map_err(|_| session.ended())?;
    if locked(&turns.own).insert(number) {
        match session.try_lock(number).await {
            Ok(true) => {
                let session = session.clone();
                return Ok(Turn::Ours(Box::new(Held { session, number, _room: room })));
            }
            outcome => {
                locked(&turns.own).remove(&number);
                outcome?;
            }
        }
    }
    let session = session.clone();
    Ok(Turn::Theirs(Box::pin(async move {
        let waited = async move {
            let _ = tokio::time::timeout(LOOK_AGAIN, waiting.changed()).await;
            Ok(())
        };
        // Without a thread to wait on, the next look tells what is wrong.
        let _ = session.there(waited).await;
    })))
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
