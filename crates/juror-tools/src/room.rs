//! Room for what is on its way.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Megabytes of calls that may be on their way when nobody says otherwise.
const MEGABYTES: u32 = 128;

/// Room in memory for calls on their way: what a call takes is given back when it is done, whether or
/// not its caller still waits.
#[derive(Clone, Debug)]
pub struct Room {
    free: Arc<Semaphore>,
    megabytes: u32,
}

/// A part of the room, given back when dropped.
#[derive(Debug)]
pub struct Held(OwnedSemaphorePermit);

impl Room {
    /// So many megabytes.
    pub fn new(megabytes: u32) -> Room {
        let n_bytes = usize::try_from(u64::from(megabytes) << 20).unwrap_or(usize::MAX);
        let free = Arc::new(Semaphore::new(n_bytes.min(Semaphore::MAX_PERMITS)));
        Room { free, megabytes }
    }

    /// A part of the room, if there is as much.
    pub fn take(&self, n_bytes: usize) -> Option<Held> {
        let n_bytes = u32::try_from(n_bytes).unwrap_or(u32::MAX);
        self.free.clone().try_acquire_many_owned(n_bytes).ok().map(Held)
    }

    /// What those are told for whom there is none.
    pub fn full(&self) -> String {
        format!("{} MB of calls are on their way (--in-flight)", self.megabytes)
    }
}

impl Default for Room {
    fn default() -> Room {
        Room::new(MEGABYTES)
    }
}

impl Held {
    /// Both parts as one.
    #[must_use]
    pub fn and(mut self, other: Held) -> Held {
        self.0.merge(other.0);
        self
    }
}
