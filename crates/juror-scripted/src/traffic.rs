//! Counts requests in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The requests in flight, now and at most.
#[derive(Default)]
pub(crate) struct Traffic {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A request in flight, until it is answered or the client gives up.
pub(crate) struct InFlight(Arc<Traffic>);

impl Traffic {
    pub(crate) fn enter(self: &Arc<Traffic>) -> InFlight {
        let now = self.now.fetch_add(1, Ordering::AcqRel) + 1;
        self.most.fetch_max(now, Ordering::AcqRel);
        InFlight(Arc::clone(self))
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::Acquire)
    }

    pub(crate) fn clear(&self) {
        self.most.store(self.now.load(Ordering::Acquire), Ordering::Release);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::AcqRel);
    }
}
