//! Solvable pass rate: how many queries were solved, over several judge runs.

use super::status::Status;
use crate::stats::compensated_sum;

/// Solvable pass rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassRate {
    /// The mean score of each judge run.
    pub runs: Vec<f64>,
    /// The mean of the runs, between 0 and 1.
    pub rate: f64,
    /// How much the runs differ: their standard deviation. It tells how steady the judge is, and
    /// nothing of how sure the rate is.
    pub judge_noise: f64,
    /// How many queries it is over.
    pub n_queries: usize,
}

impl PassRate {
    /// Sums up statuses: for every selected query, that of each run in turn. A query without an
    /// answer has none, and what is missing or cannot be read counts nothing.
    pub fn of<'s>(
        queries: impl IntoIterator<Item = &'s [Option<Status>]>,
        n_runs: usize,
    ) -> PassRate {
        let mut sums = vec![0.0; n_runs];
        let mut n_queries = 0;
        for statuses in queries {
            n_queries += 1;
            for (sum, status) in sums.iter_mut().zip(statuses) {
                *sum += status.map_or(0.0, Status::score);
            }
        }
        // Halves are exact, so that no order of queries matters.
        let runs: Vec<f64> = sums.into_iter().map(|sum| over(sum, n_queries)).collect();
        let rate = over(compensated_sum(&runs), runs.len());
        let squares: Vec<f64> = runs.iter().map(|run| (run - rate).powi(2)).collect();
        let judge_noise = over(compensated_sum(&squares), runs.len()).sqrt();
        PassRate { runs, rate, judge_noise, n_queries }
    }
}

/// A mean; 0 of nothing.
pub(super) fn over(sum: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { sum / n as f64 }
}
