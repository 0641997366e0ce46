//! What an input costs: memory at its highest, and time of the processor.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustix::time::{ClockId, clock_gettime};

/// No input may bring the process to hold more than this: it is ended before the machine is.
const CEILING: usize = 3 << 30;

static HELD: AtomicUsize = AtomicUsize::new(0);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// The system's memory, counted.
pub(crate) struct Counting;

#[expect(unsafe_code, reason = "memory cannot be counted otherwise, and no user runs this")]
// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !took(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promises are the system's.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && !took(size - layout.size()) {
            return std::ptr::null_mut();
        }
        if size < layout.size() {
            HELD.fetch_sub(layout.size() - size, Relaxed);
        }
        // SAFETY: the caller's promises are the system's.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// Counts what is taken; false where it is too much.
fn took(size: usize) -> bool {
    let held = HELD.fetch_add(size, Relaxed) + size;
    HIGHEST.fetch_max(held, Relaxed);
    if held > CEILING {
        HELD.fetch_sub(size, Relaxed);
    }
    held <= CEILING
}

/// What something cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Nanoseconds of all threads.
    pub(crate) nanoseconds: u64,
    /// Bytes held at the highest, above what was held before.
    pub(crate) bytes: usize,
}

pub(crate) fn metered<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let before = HELD.load(Relaxed);
    HIGHEST.store(before, Relaxed);
    let began = processor_time();
    let made = work();
    let nanoseconds = processor_time() - began;
    let bytes = HIGHEST.load(Relaxed).saturating_sub(before);
    (made, Cost { nanoseconds, bytes })
}

/// Nanoseconds that the process has used: other processes do not count.
fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let part = |part: i64| u64::try_from(part).unwrap_or_default();
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}
