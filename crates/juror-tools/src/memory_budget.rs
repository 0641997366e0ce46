//! A limit on the memory of calls in flight.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The default limit, in megabytes.
const MEGABYTES: u32 = 128;

/// A limit on the memory of calls in flight. A call's share is released when the call is done, even
/// if its caller has left.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    free: Arc<Semaphore>,
    megabytes: u32,
}

/// A share of the budget, released on drop.
#[derive(Debug)]
pub struct Reservation(OwnedSemaphorePermit);

impl MemoryBudget {
    /// Creates a budget of this size.
    pub fn new(megabytes: u32) -> MemoryBudget {
        let n_bytes = usize::try_from(u64::from(megabytes) << 20).unwrap_or(usize::MAX);
        let free = Arc::new(Semaphore::new(n_bytes.min(Semaphore::MAX_PERMITS)));
        MemoryBudget { free, megabytes }
    }

    /// Reserves a share, or returns `None` if too little is left.
    pub fn reserve(&self, n_bytes: usize) -> Option<Reservation> {
        let n_bytes = u32::try_from(n_bytes).unwrap_or(u32::MAX);
        self.free.clone().try_acquire_many_owned(n_bytes).ok().map(Reservation)
    }

    /// The message for callers whose call does not fit.
    pub fn full_message(&self) -> String {
        format!("{} MB of calls are on their way (--in-flight)", self.megabytes)
    }
}

impl Default for MemoryBudget {
    fn default() -> MemoryBudget {
        MemoryBudget::new(MEGABYTES)
    }
}

impl Reservation {
    /// Merges two shares.
    #[must_use]
    pub fn and(mut self, other: Reservation) -> Reservation {
        self.0.merge(other.0);
        self
    }
}
