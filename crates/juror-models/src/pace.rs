//! Not asking faster than allowed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Spreads work over time: so many units a minute, with a few seconds' worth at once at the start.
#[derive(Debug)]
pub(crate) struct Pace {
    per_unit: Duration,
    /// How far behind the clock the next free moment may lag: the burst.
    slack: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    pub(crate) fn per_minute(units: u64) -> Pace {
        let per_unit = Duration::from_mins(1).div_f64(units.max(1) as f64);
        let slack = Duration::from_secs(2);
        Pace { per_unit, slack, next: Mutex::new(Instant::now()) }
    }

    /// Takes some units; returns when they are free.
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
