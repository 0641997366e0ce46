//! Several trials of one task: the chance that any of `k` succeeds, and that all do.

/// More trials than anyone runs. Up to here, both take at most a moment.
const MOST_TRIALS: u64 = u32::MAX as u64;

/// Returns pass@k: the chance that at least one of `k` trials succeeds, drawn from those that were
/// made, `1 - C(n - c, k) / C(n, k)`.
///
/// Returns `None` if `k` is 0 or more than `trials`, since what was not tried is not known, and for
/// more successes than trials or more than 4,294,967,295 trials.
///
/// ```
/// use juror_statistics::pass_at_k;
///
/// assert!((pass_at_k(5, 2, 3).unwrap() - 0.9).abs() < 1e-12);
/// assert_eq!(pass_at_k(4, 3, 10), None);
/// ```
pub fn pass_at_k(trials: u64, successes: u64, k: u64) -> Option<f64> {
    is_drawable(trials, successes, k).then(|| 1.0 - all_among(trials, trials - successes, k))
}

/// Returns pass^k: the chance that all of `k` trials succeed, drawn from those that were made,
/// `C(c, k) / C(n, k)`. The power `(c / n)^k` would be too high.
///
/// Returns `None` as [`pass_at_k`] does.
///
/// ```
/// use juror_statistics::pass_hat_k;
///
/// assert!((pass_hat_k(8, 6, 4).unwrap() - 0.214_285_714).abs() < 1e-9);
/// ```
pub fn pass_hat_k(trials: u64, successes: u64, k: u64) -> Option<f64> {
    is_drawable(trials, successes, k).then(|| all_among(trials, successes, k))
}

fn is_drawable(trials: u64, successes: u64, k: u64) -> bool {
    (1..=trials).contains(&k) && successes <= trials && trials <= MOST_TRIALS
}

/// Returns the chance that `k` of `n`, drawn without putting back, are all among `m` certain ones:
/// `C(m, k) / C(n, k)`, which is `C(n - k, n - m) / C(n, n - m)` as well. The shorter product is taken.
fn all_among(n: u64, m: u64, k: u64) -> f64 {
    if k > m {
        return 0.0;
    }
    let (top, n_factors) = if k <= n - m { (m, k) } else { (n - k, n - m) };
    let mut product = 1.0;
    for at in 0..n_factors {
        product *= (top - at) as f64 / (n - at) as f64;
        if product == 0.0 {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(got: Option<f64>, wanted: f64) {
        let got = got.expect("a chance");
        assert!((got - wanted).abs() < 1e-9, "got {got}, wanted {wanted}");
    }

    #[test]
    fn chances_are_as_published() {
        let at_k = [(5, 2, 1, 0.4), (5, 2, 2, 0.7), (5, 2, 3, 0.9), (5, 2, 4, 1.0), (5, 2, 5, 1.0)];
        let at_k_of_others =
            [(8, 6, 1, 0.75), (8, 6, 2, 0.964_285_714), (8, 6, 4, 1.0), (4, 1, 2, 0.5)];
        for (n, c, k, wanted) in at_k.into_iter().chain(at_k_of_others) {
            check(pass_at_k(n, c, k), wanted);
        }
        let hat_k = [(5, 2, 1, 0.4), (5, 2, 2, 0.1), (5, 2, 3, 0.0), (8, 6, 1, 0.75)];
        let hat_k_of_others =
            [(8, 6, 2, 0.535_714_286), (8, 6, 4, 0.214_285_714), (8, 6, 8, 0.0), (4, 1, 2, 0.0)];
        for (n, c, k, wanted) in hat_k.into_iter().chain(hat_k_of_others) {
            check(pass_hat_k(n, c, k), wanted);
        }
    }

    #[test]
    fn both_products_are_the_same_chance() {
        for n in 1..12 {
            for m in 0..=n {
                for k in 1..=m {
                    let long: f64 = (0..k).map(|at| (m - at) as f64 / (n - at) as f64).product();
                    assert!((all_among(n, m, k) - long).abs() < 1e-14, "{n} {m} {k}");
                }
            }
        }
    }

    #[test]
    fn what_was_not_tried_is_not_known() {
        for (n, c, k) in [(4, 3, 10), (0, 0, 1), (3, 1, 0), (3, 4, 1), (u64::MAX, 1, 1)] {
            assert_eq!((pass_at_k(n, c, k), pass_hat_k(n, c, k)), (None, None), "{n} {c} {k}");
        }
    }

    #[test]
    fn the_largest_numbers_have_chances() {
        let n = u64::from(u32::MAX);
        check(pass_at_k(n, n / 2, n / 2), 1.0);
        check(pass_hat_k(n, n - 1, n - 1), 1.0 / n as f64);
        let few = pass_hat_k(n, n - 60_000, 60_000).expect("a chance");
        assert!((few - (-3.6e9 / n as f64).exp()).abs() < 1e-5, "{few}");
    }
}
