//! Measures what an input costs: peak memory and time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

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
    /// How long it took. Asking for processor time would take longer than most inputs, so that it is
    /// asked only of inputs that seem slow.
    pub(crate) nanoseconds: u64,
    /// Peak memory above what was held before.
    pub(crate) bytes: usize,
}

pub(crate) fn metered<T>(work: impl FnOnce() -> T) -> (T, Measurement) {
    let before = HELD.load(Relaxed);
    HIGHEST.store(before, Relaxed);
    let began = Instant::now();
    let made = work();
    let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let bytes = HIGHEST.load(Relaxed).saturating_sub(before);
    (made, Measurement { nanoseconds, bytes })
}

/// The CPU time of this process, all threads together, in nanoseconds. Linux counts it in hundredths of a second.
pub(crate) fn processor_time() -> u64 {
    const TICK: u64 = 10_000_000;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, which may contain anything, is in brackets before all numbers.
    let numbers = stat.rsplit_once(')').map_or("", |(_, numbers)| numbers);
    let times = numbers.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * TICK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn work_takes_time() {
        let began = processor_time();
        let mut n = 0_u64;
        while processor_time() < began + 30_000_000 {
            n = std::hint::black_box(n + 1);
        }
        assert!(n > 1);
    }
}
