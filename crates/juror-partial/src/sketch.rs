//! A sketch of many values, from which ranks can be told within a thousandth: a `DDSketch`.
//!
//! Values fall into buckets whose ends grow by the same factor. A bucket is decided by the value
//! alone, so sketches of parts add up to the sketch of the whole.

use std::collections::BTreeMap;

/// How far a value told by a sketch is from the true one at most, as a share of it.
pub const ACCURACY: f64 = 0.001;

/// By which factor the ends of buckets grow.
const GROWTH: f64 = (1.0 + ACCURACY) / (1.0 - ACCURACY);

/// How often each bucket was hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sketch {
    pub(crate) buckets: BTreeMap<Bucket, u64>,
}

/// The bucket of a value, in the order of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bucket {
    /// From large to small: sorted by the negated number.
    Negative(i32),
    Zero,
    /// With values above `GROWTH^(number - 1)` and up to `GROWTH^number`.
    Positive(i32),
}

impl Sketch {
    pub(crate) fn add(&mut self, value: f64, count: u64) {
        *self.buckets.entry(Bucket::of(value)).or_default() += count;
    }

    pub(crate) fn merge(&mut self, other: &Sketch) {
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
    }

    /// Returns about the value of this rank, counted from 0.
    pub(crate) fn at_rank(&self, rank: u64) -> f64 {
        let mut n_seen = 0;
        let mut last = 0.0;
        for (bucket, count) in &self.buckets {
            n_seen += count;
            last = bucket.middle();
            if rank < n_seen {
                break;
            }
        }
        last
    }
}

impl Bucket {
    fn of(value: f64) -> Bucket {
        if value == 0.0 {
            Bucket::Zero
        } else if value > 0.0 {
            Bucket::Positive(number_of(value))
        } else {
            Bucket::Negative(-number_of(-value))
        }
    }

    /// Returns the value that is equally far from both ends, as a share of them.
    fn middle(self) -> f64 {
        // The same as `2 · GROWTH^number / (GROWTH + 1)`.
        let middle = |number| power(number) * (1.0 - ACCURACY);
        match self {
            Bucket::Zero => 0.0,
            Bucket::Positive(number) => middle(number),
            Bucket::Negative(number) => -middle(-number),
        }
    }
}

/// Returns the number of the bucket of a positive value.
///
/// Logarithms differ in their last bit between machines, products do not: the logarithm only tells
/// where to look.
fn number_of(value: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "at most 400,000 either way")]
    let mut number = (value.ln() / GROWTH.ln()).ceil() as i32;
    while value > power(number) {
        number += 1;
    }
    while value <= power(number - 1) {
        number -= 1;
    }
    number
}

/// Returns a power of the growth factor, the same on all machines.
fn power(exponent: i32) -> f64 {
    let mut base = if exponent < 0 { GROWTH.recip() } else { GROWTH };
    let (mut rest, mut product) = (exponent.unsigned_abs(), 1.0);
    while rest > 0 {
        if rest & 1 == 1 {
            product *= base;
        }
        base *= base;
        rest >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zero_and_negative_values_have_buckets_in_order() {
        let mut sketch = Sketch::default();
        for value in [3.0, -2.0, 0.0, -1000.0, 0.001] {
            sketch.add(value, 1);
        }
        for (rank, value) in (0..).zip([-1000.0, -2.0, 0.0, 0.001, 3.0_f64]) {
            let told = sketch.at_rank(rank);
            assert!((told - value).abs() <= ACCURACY * value.abs() * 1.000_001, "{told} {value}");
        }
    }

    proptest! {
        #[test]
        fn a_value_is_told_within_a_thousandth(value in prop_oneof![1e-12..1e12_f64, 0.0..1.0_f64]) {
            let mut sketch = Sketch::default();
            sketch.add(value, 1);
            let told = sketch.at_rank(0);
            prop_assert!((told - value).abs() <= ACCURACY * value * (1.0 + 1e-9), "{} {}", told, value);
        }

        #[test]
        fn every_finite_value_has_a_bucket(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            let mut sketch = Sketch::default();
            sketch.add(value, 1);
            prop_assert_eq!(sketch.buckets.len(), 1);
        }
    }
}
