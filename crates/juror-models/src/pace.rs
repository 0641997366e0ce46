//! Limits the rate of calls and tokens.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Spreads units of work over time, allowing a short burst after a pause.
///
/// `next` is the moment from which the rate allows more work; taking units moves it on by the time
/// they are worth. Units may be used from `next` on, so the rate is never exceeded in the long run.
/// While nothing is taken, `next` falls behind the clock, which is unused allowance; limiting how far
/// it may fall behind limits the burst. No timers are needed, and every caller learns at once when
/// its turn is.
#[derive(Debug)]
pub(crate) struct Pace {
    per_unit: Duration,
    /// How far `next` may fall behind the clock.
    slack: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    pub(crate) fn per_minute(units: u64) -> Pace {
        let per_unit = Duration::from_mins(1).div_f64(units.max(1) as f64);
        let slack = Duration::from_secs(2);
        Pace { per_unit, slack, next: Mutex::new(Instant::now()) }
    }

    /// Takes some units and returns when they may be used.
    pub(crate) fn take(&self, units: u64) -> Instant {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = now.checked_sub(self.slack).unwrap_or(now);
        let start = (*next).max(earliest);
        *next = start + self.per_unit.mul_f64(units as f64);
        start.max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_is_spread_after_the_first_burst() {
        let pace = Pace::per_minute(60);
        tokio::time::advance(Duration::from_secs(10)).await;
        let now = Instant::now();
        let waits: Vec<u64> = (0..5).map(|_| (pace.take(1) - now).as_secs()).collect();
        assert_eq!(waits, [0, 0, 0, 1, 2]);
    }
}
