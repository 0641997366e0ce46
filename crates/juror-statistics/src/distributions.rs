//! Quantiles and tails of the normal and the t distribution.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::f64::consts::SQRT_2;

use statrs::function::erf::{erfc, erfc_inv};

use super::incomplete_beta::{beta_factor, incomplete_beta};

/// Whether a number is a probability that something can be computed for: above 0, below 1.
pub(crate) fn is_inner_share(share: f64) -> bool {
    share > 0.0 && share < 1.0
}

/// Returns the value that a normal variable exceeds with a probability.
pub(crate) fn normal_above(tail: f64) -> f64 {
    SQRT_2 * erfc_inv(2.0 * tail)
}

/// Returns the probability that a normal variable is at least so far from 0, on either side.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / SQRT_2)
}

/// Returns the normal quantile of a two-sided interval.
pub(crate) fn normal_half_width(confidence: f64) -> f64 {
    normal_above((1.0 - confidence) / 2.0)
}

/// Returns the probability that a t variable is at least so far from 0, on either side.
pub(crate) fn t_two_sided(t: f64, df: f64) -> f64 {
    let (near, far) = t_shares(t, df);
    incomplete_beta(df / 2.0, 0.5, near, far)
}

/// Returns `df / (df + t²)` and `t² / (df + t²)`. Subtracting one from 1 would lose digits.
fn t_shares(t: f64, df: f64) -> (f64, f64) {
    let ratio = t * t / df;
    (1.0 / (1.0 + ratio), 1.0 / (1.0 + 1.0 / ratio))
}

/// Returns the value that a t variable exceeds with a probability of at most one half.
///
/// Newton's method on the logarithm of the tail, from the normal quantile, which is nearer to 0.
pub(crate) fn t_above(tail: f64, df: f64) -> f64 {
    if tail >= 0.5 {
        return 0.0;
    }
    let mut t = normal_above(tail);
    for _ in 0..100 {
        let (near, far) = t_shares(t, df);
        let above = incomplete_beta(df / 2.0, 0.5, near, far) / 2.0;
        let density = beta_factor(df / 2.0, 0.5, near, far) / t;
        let step = (above / tail).ln() * above / density;
        t += step;
        if step.abs() <= 1e-15 * t {
            break;
        }
    }
    t
}

/// Returns the t quantile of a two-sided interval.
///
/// A run has an interval for every template and metric, and few sizes of templates: the last quantiles
/// are remembered, because one takes longer than the rest of its interval.
pub(crate) fn t_half_width(confidence: f64, df: f64) -> f64 {
    thread_local! {
        static LAST: RefCell<VecDeque<(f64, f64, f64)>> = const { RefCell::new(VecDeque::new()) };
    }
    const REMEMBERED: usize = 32;
    LAST.with_borrow_mut(|last| {
        let known = last.iter().find(|(own, of, _)| *own == confidence && *of == df);
        if let Some((.., half_width)) = known {
            return *half_width;
        }
        let half_width = t_above((1.0 - confidence) / 2.0, df);
        last.truncate(REMEMBERED - 1);
        last.push_front((confidence, df, half_width));
        half_width
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_are_the_published_ones() {
        let published = [
            (1.0, 12.706_204_736),
            (2.0, 4.302_652_730),
            (4.0, 2.776_445_105),
            (9.0, 2.262_157_163),
            (10.0, 2.228_138_852),
            (30.0, 2.042_272_456),
            (1000.0, 1.962_339_081),
            (1e6, 1.959_966_357),
        ];
        for (df, wanted) in published {
            assert!((t_half_width(0.95, df) - wanted).abs() < 1e-9, "{df}");
        }
    }

    #[test]
    fn quantiles_that_are_remembered_are_those_that_were_computed() {
        let cases = (1..100).flat_map(|df| [(0.95, f64::from(df)), (0.9, f64::from(df))]);
        for (confidence, df) in cases.clone().chain(cases) {
            let computed = t_above((1.0 - confidence) / 2.0, df);
            let both = [t_half_width(confidence, df), t_half_width(confidence, df)];
            assert_eq!(both, [computed; 2], "{confidence} {df}");
        }
    }

    #[test]
    fn one_degree_of_freedom_is_the_tangent() {
        for tail in [0.49, 0.25, 0.01, 1e-6, 1e-12] {
            let wanted = 1.0 / (std::f64::consts::PI * tail).tan();
            assert!((t_above(tail, 1.0) / wanted - 1.0).abs() < 1e-12, "{tail}");
        }
    }

    #[test]
    fn the_tail_beyond_a_quantile_is_what_was_asked_for() {
        for df in [1.0, 2.0, 7.0, 65.0, 1e4, 1e6, 1e9] {
            for tail in [0.4, 0.2, 0.025, 0.005, 1e-8, 1e-15] {
                let got = t_two_sided(t_above(tail, df), df) / 2.0;
                assert!((got / tail - 1.0).abs() < 1e-11, "df {df}: {got:e} is not {tail:e}");
            }
        }
    }

    #[test]
    fn many_degrees_of_freedom_approach_the_normal_distribution() {
        assert!((t_above(0.025, 1e12) - normal_above(0.025)).abs() < 1e-10);
        assert!((normal_half_width(0.95) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((normal_two_sided(1.959_963_984_540_054) - 0.05).abs() < 1e-10);
    }

    #[test]
    fn extreme_values_have_tails_that_are_numbers() {
        assert_eq!(t_two_sided(0.0, 5.0), 1.0);
        assert_eq!(t_two_sided(f64::INFINITY, 5.0), 0.0);
        assert_eq!(t_two_sided(1e300, 5.0), 0.0);
        assert_eq!(t_above(0.5, 5.0), 0.0);
    }
}
