//! Measures what an input costs: peak memory and CPU time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustix::time::{ClockId, clock_gettime};

/// The most memory that the process may hold. It is ended before the machine runs out.
const CEILING: usize = 3 << 30;

static HELD: AtomicUsize = AtomicUsize::new(0);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a counter.
pub(crate) struct Counting;

#[expect(unsafe_code, reason = "memory cannot be counted otherwise, and no user runs this")]
// SAFETY: all requests are passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !took(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller upholds the system allocator's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller upholds the system allocator's contract.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && !took(size - layout.size()) {
            return std::ptr::null_mut();
        }
        if size < layout.size() {
            HELD.fetch_sub(layout.size() - size, Relaxed);
        }
        // SAFETY: the caller upholds the system allocator's contract.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// Counts an allocation. Returns whether it is within the limit.
fn took(size: usize) -> bool {
    let held = HELD.fetch_add(size, Relaxed) + size;
    HIGHEST.fetch_max(held, Relaxed);
    if held > CEILING {
        HELD.fetch_sub(size, Relaxed);
    }
    held <= CEILING
}

/// The cost of an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    /// CPU time of all threads.
    pub(crate) nanoseconds: u64,
    /// Peak memory above what was held before.
    pub(crate) bytes: usize,
}

pub(crate) fn metered<T>(work: impl FnOnce() -> T) -> (T, Measurement) {
    let before = HELD.load(Relaxed);
    HIGHEST.store(before, Relaxed);
    let began = processor_time();
    let made = work();
    let nanoseconds = processor_time() - began;
    let bytes = HIGHEST.load(Relaxed).saturating_sub(before);
    (made, Measurement { nanoseconds, bytes })
}

/// The CPU time of this process.
fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let part = |part: i64| u64::try_from(part).unwrap_or_default();
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}
