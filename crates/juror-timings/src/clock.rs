//! Clocks.

use std::time::{Duration, Instant};

/// Returns the result of some work and the seconds it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed().as_secs_f64())
}

/// Returns the seconds a call takes: the shortest of a few rounds, each the mean over enough calls to
/// be measurable.
pub(crate) fn seconds_a_call(mut call: impl FnMut()) -> f64 {
    const ROUNDS: usize = 3;
    const LONG_ENOUGH: Duration = Duration::from_millis(5);
    let mut round = || {
        let start = Instant::now();
        let mut n_calls = 0_u32;
        while n_calls == 0 || start.elapsed() < LONG_ENOUGH {
            call();
            n_calls += 1;
        }
        start.elapsed().as_secs_f64() / f64::from(n_calls)
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Returns the processor time of all threads of this process, if the system reports it.
pub(crate) fn processor_seconds() -> Option<f64> {
    // Fields 14 and 15 of Linux's `stat`, counted after the name of the program, in hundredths.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
