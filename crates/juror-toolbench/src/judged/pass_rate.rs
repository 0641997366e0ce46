//! Solvable pass rate: the share of queries solved, over several judge runs.

use juror_score::compensated_sum;

use super::status::Status;

/// Solvable pass rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassRate {
    /// The mean score of each judge run.
    pub runs: Vec<f64>,
    /// The mean over the runs, between 0 and 1.
    pub rate: f64,
    /// The standard deviation of the runs. It shows how steady the judge is, not how certain the
    /// rate is.
    pub judge_noise: f64,
    /// The number of queries.
    pub n_queries: usize,
}

impl PassRate {
    /// Computes the rate from the statuses of every selected query, one per run. A query without an
    /// answer has none. A missing or unreadable status counts as 0.
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
        // Sums of halves are exact, so the order of queries does not matter.
        let runs: Vec<f64> = sums.into_iter().map(|sum| over(sum, n_queries)).collect();
        let rate = over(compensated_sum(&runs), runs.len());
        let squares: Vec<f64> = runs.iter().map(|run| (run - rate).powi(2)).collect();
        let judge_noise = over(compensated_sum(&squares), runs.len()).sqrt();
        PassRate { runs, rate, judge_noise, n_queries }
    }
}

/// The statuses that judge runs gave one answer, in order; `None` for a run that could not be
/// asked.
pub type Said = Vec<Option<Status>>;

impl PassRate {
    /// Computes the rate from the verdicts on every query's answers; a query may have several. Runs
    /// that could not be asked are left out: a query counts with the mean of its verdicts, and a
    /// query without any does not count. Returns `None` if there are no verdicts at all.
    pub fn of_verdicts<'s>(
        queries: impl IntoIterator<Item = &'s [Said]>,
        n_runs: usize,
    ) -> Option<PassRate> {
        let score = |status: &Option<Status>| status.map(Status::score);
        let (mut by_run, mut by_query) = (vec![Vec::new(); n_runs], Vec::new());
        let mut is_whole = true;
        for answers in queries {
            for (run, scores) in by_run.iter_mut().enumerate() {
                let said = answers.iter().filter_map(|said| said.get(run).and_then(score));
                scores.extend(mean(&said.collect::<Vec<f64>>()));
            }
            let said: Vec<f64> = answers.iter().flatten().filter_map(score).collect();
            is_whole &= said.len() == answers.len() * n_runs;
            by_query.extend(mean(&said));
        }
        let runs: Vec<f64> = by_run.iter().filter_map(|scores| mean(scores)).collect();
        let of_runs = mean(&runs)?;
        // If nothing is missing, both agree up to the last digit.
        let rate = if is_whole { of_runs } else { mean(&by_query)? };
        let squares: Vec<f64> = runs.iter().map(|run| (run - of_runs).powi(2)).collect();
        let judge_noise = over(compensated_sum(&squares), runs.len()).sqrt();
        Some(PassRate { runs, rate, judge_noise, n_queries: by_query.len() })
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| over(compensated_sum(values), values.len()))
}

/// Divides a sum by `n`; returns 0 if `n` is 0.
pub(super) fn over(sum: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { sum / n as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::{Solved, Unsolved, Unsure};

    #[test]
    fn what_could_not_be_asked_is_left_out() {
        let said = |runs: &[Option<Status>]| vec![runs.to_vec()];
        let whole = [
            said(&[Some(Solved), Some(Unsure)]),
            said(&[Some(Unsolved), Some(Solved)]),
            said(&[Some(Unsolved), Some(Unsolved)]),
        ];
        let flat: Vec<&[Option<Status>]> = whole.iter().map(|said| said[0].as_slice()).collect();
        let rate = PassRate::of_verdicts(whole.iter().map(Vec::as_slice), 2).expect("a rate");
        assert_eq!(rate, PassRate::of(flat, 2), "where all were asked nothing changes");
        let some = [said(&[Some(Solved), None]), said(&[None, None]), said(&[Some(Unsolved); 2])];
        let rate = PassRate::of_verdicts(some.iter().map(Vec::as_slice), 2).expect("a rate");
        assert_eq!((rate.rate, rate.n_queries), (0.5, 2));
        assert_eq!(rate.runs, [0.5, 0.0]);
        let none = [said(&[None])];
        assert_eq!(PassRate::of_verdicts(none.iter().map(Vec::as_slice), 1), None);
    }

    #[test]
    fn several_answers_to_a_query_count_as_one_query() {
        let three = vec![vec![Some(Solved)], vec![Some(Unsolved)], vec![Some(Unsolved)]];
        let one = vec![vec![Some(Solved)]];
        let rate = PassRate::of_verdicts([three.as_slice(), one.as_slice()], 1).expect("a rate");
        assert!((rate.rate - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(rate.n_queries, 2);
    }
}
