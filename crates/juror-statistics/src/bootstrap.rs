//! Intervals by resampling, for medians, ratios and other numbers without a formula.

use std::cmp::Ordering;

use serde::Serialize;

use super::Interval;
use super::distributions::is_inner_share;
use super::sample::{Clusters, Sample, are_clusters_of, ordered_sum};
use super::split_mix::SplitMix64;

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// The seed: the same seed and data give the same bits.
    pub seed: u64,
    /// How many samples to draw.
    pub n_resamples: usize,
    /// The confidence of the interval.
    pub confidence: f64,
}

impl Default for Bootstrap {
    fn default() -> Bootstrap {
        Bootstrap { seed: 0, n_resamples: 10_000, confidence: super::CONFIDENCE }
    }
}

/// A number with its spread over samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Resampled {
    /// The number of the data themselves.
    pub estimate: f64,
    /// The standard deviation over samples; `None` for one sample.
    pub se: Option<f64>,
    /// The interval between quantiles of the samples (percentile method).
    pub interval: Interval,
    /// How many samples had no such number, such as a ratio to 0. They are left out.
    pub n_undefined: usize,
    /// The seed that the samples were drawn with.
    pub seed: u64,
}

/// What can be resampled: a number, or a pair of numbers that stay together, such as the scores of
/// two runs or both parts of a ratio.
pub trait ResampleItem: Copy {
    /// Its numbers, which put items in order, so that samples do not depend on the order of the data.
    fn numbers(&self) -> [f64; 2];
}

impl ResampleItem for f64 {
    fn numbers(&self) -> [f64; 2] {
        [*self, 0.0]
    }
}

impl ResampleItem for (f64, f64) {
    fn numbers(&self) -> [f64; 2] {
        [self.0, self.1]
    }
}

fn order<T: ResampleItem>(a: &T, b: &T) -> Ordering {
    let ([a, a_second], [b, b_second]) = (a.numbers(), b.numbers());
    a.total_cmp(&b).then(a_second.total_cmp(&b_second))
}

impl Bootstrap {
    /// Draws whole clusters, with replacement, as many as there are, and computes a number of each
    /// sample. Without clusters, every item is one.
    ///
    /// `statistic` returns `None` where there is no such number. It gets items in no useful order and
    /// may reorder them, as a median does. Random numbers are `SplitMix64`'s, of [`Bootstrap::seed`].
    /// Each draw takes the upper half of a 128-bit product of the next number and the number of
    /// clusters; the clusters are sorted by their items. It takes `n_resamples` times as long as
    /// computing the number once.
    ///
    /// Returns `None` if the data or all samples have no such number, if there are fewer than two
    /// clusters, if `clusters` does not have an entry for every item, for items that are not finite,
    /// for no samples, and if the confidence is not between 0 and 1.
    ///
    /// ```
    /// use juror_statistics::{Bootstrap, median};
    ///
    /// let seconds = [1.2, 0.8, 3.5, 1.1, 9.0, 1.4, 0.9];
    /// let found = Bootstrap::default().run(&seconds, None, median).unwrap();
    /// assert_eq!(found.estimate, 1.2);
    /// assert!(found.interval.low >= 0.8 && found.interval.high <= 9.0);
    /// ```
    pub fn run<T: ResampleItem>(
        &self,
        items: &[T],
        clusters: Option<&[u32]>,
        statistic: impl Fn(&mut [T]) -> Option<f64>,
    ) -> Option<Resampled> {
        let groups = grouped(items, clusters)?;
        if self.n_resamples == 0 || !is_inner_share(self.confidence) {
            return None;
        }
        let statistic = |sample: &mut [T]| statistic(sample).filter(|found| found.is_finite());
        let estimate = statistic(&mut groups.concat())?;
        let mut generator = SplitMix64::new(self.seed);
        let mut sample = Vec::with_capacity(items.len());
        let draw = |_| {
            draw(&mut generator, &groups, &mut sample);
            statistic(&mut sample)
        };
        let mut found: Vec<f64> = (0..self.n_resamples).filter_map(draw).collect();
        found.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - self.confidence) / 2.0;
        let interval =
            Interval { low: quantile(&found, tail)?, high: quantile(&found, 1.0 - tail)? };
        let se = Sample::new(&found).and_then(|found| found.variance()).map(f64::sqrt);
        let n_undefined = self.n_resamples - found.len();
        Some(Resampled { estimate, se, interval, n_undefined, seed: self.seed })
    }
}

/// Returns the items of each cluster, in an order that depends on nothing else.
fn grouped<T: ResampleItem>(items: &[T], clusters: Option<&[u32]>) -> Option<Vec<Vec<T>>> {
    let is_finite = |item: &T| item.numbers().iter().all(|number| number.is_finite());
    if !are_clusters_of(items.len(), clusters) || !items.iter().all(is_finite) {
        return None;
    }
    let clusters = clusters.map_or_else(|| Clusters::singles(items.len()), Clusters::new);
    if clusters.n() < 2 {
        return None;
    }
    let group = |positions: &[usize]| {
        let mut group: Vec<T> = positions.iter().map(|at| items[*at]).collect();
        group.sort_by(order);
        group
    };
    let mut groups: Vec<Vec<T>> = clusters.each().map(group).collect();
    groups.sort_by(|a, b| order_of_groups(a, b));
    Some(groups)
}

fn order_of_groups<T: ResampleItem>(a: &[T], b: &[T]) -> Ordering {
    let first_difference = a.iter().zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne());
    first_difference.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Draws as many groups as there are, each any number of times.
fn draw<T: ResampleItem>(generator: &mut SplitMix64, groups: &[Vec<T>], sample: &mut Vec<T>) {
    sample.clear();
    for _ in groups {
        sample.extend_from_slice(&groups[generator.below(groups.len())]);
    }
}

/// Returns a quantile of sorted numbers, between the two nearest ones if it falls there; `None` if
/// there are no numbers.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to last")]
    let below = (place.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let part = place - below as f64;
    Some(low * (1.0 - part) + high * part)
}

/// Returns the median: the middle number, or the mean of the two in the middle. Reorders the numbers,
/// which must not be `NaN`; returns `None` for none.
pub fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let (n, middle) = (values.len(), values.len() / 2);
    let (below, high, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let low = below.iter().copied().max_by(f64::total_cmp).filter(|_| n.is_multiple_of(2));
    Some(low.map_or(*high, |low| low * 0.5 + *high * 0.5))
}

/// Returns the sum of the first numbers by the sum of the second ones, `None` if that is 0.
pub fn ratio_of_sums(pairs: &[(f64, f64)]) -> Option<f64> {
    let parts = ordered_sum(pairs.iter().map(|pair| pair.0));
    let wholes = ordered_sum(pairs.iter().map(|pair| pair.1));
    (wholes != 0.0).then(|| parts / wholes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 12] = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    const CLUSTERS: [u32; 12] = [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];

    fn mean(values: &mut [f64]) -> Option<f64> {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// All 27 samples of three clusters have a mean of 2/3 and a standard deviation of 0.180020575.
    #[test]
    fn samples_are_those_of_whole_clusters() {
        let samples = std::cell::RefCell::new(Vec::new());
        let recorded = |values: &mut [f64]| {
            let mean = mean(values);
            samples.borrow_mut().extend(mean);
            mean
        };
        let found = Bootstrap::default().run(&VALUES, Some(&CLUSTERS), recorded).expect("a result");
        let means =
            [0.25, 5.0 / 12.0, 0.5, 7.0 / 12.0, 2.0 / 3.0, 0.75, 5.0 / 6.0, 11.0 / 12.0, 1.0];
        let is_known = |mean: &f64| means.iter().any(|known| (mean - known).abs() < 1e-12);
        assert!(samples.borrow().iter().all(is_known));
        assert!((found.estimate - 2.0 / 3.0).abs() < 1e-12);
        let se = found.se.expect("an error");
        assert!((se / 0.180_020_575 - 1.0).abs() < 0.03, "{se}");
        assert_eq!(found.interval, Interval { low: 0.25, high: 1.0 });
    }

    #[test]
    fn a_seed_gives_the_same_bits_and_another_seed_others() {
        let of_seed = |seed| {
            let bootstrap = Bootstrap { seed, n_resamples: 100, ..Bootstrap::default() };
            bootstrap.run(&[0.1, 0.7, 0.4, 0.9, 0.3], None, mean).expect("a result")
        };
        assert_eq!(of_seed(7), of_seed(7));
        assert_ne!(of_seed(7).se, of_seed(8).se);
    }

    #[test]
    fn neither_order_nor_names_of_clusters_matter() {
        let backwards: Vec<f64> = VALUES.iter().rev().copied().collect();
        let renamed: Vec<u32> = CLUSTERS.iter().rev().map(|id| 90 - id).collect();
        let bootstrap = Bootstrap { n_resamples: 200, ..Bootstrap::default() };
        let found = bootstrap.run(&VALUES, Some(&CLUSTERS), mean);
        assert!(found.is_some());
        assert_eq!(found, bootstrap.run(&backwards, Some(&renamed), mean));
    }

    #[test]
    fn ratios_without_a_whole_are_counted_and_left_out() {
        let pairs = [(1.0, 0.0), (1.0, 2.0), (0.0, 1.0)];
        let found = Bootstrap::default().run(&pairs, None, |sample| ratio_of_sums(sample));
        let found = found.expect("a result");
        assert!((found.estimate - 2.0 / 3.0).abs() < 1e-12);
        // One sample of 27 has the first pair three times.
        assert!((250..500).contains(&found.n_undefined), "{}", found.n_undefined);
    }

    #[test]
    fn medians_are_the_middle() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
        for n in 1..50_u32 {
            let mut values: Vec<f64> =
                (0..n).map(|at| f64::from(at * 7919 % 101) * 0.1 - 3.0).collect();
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            assert_eq!(median(&mut values), quantile(&sorted, 0.5), "{n}");
        }
    }

    #[test]
    fn what_cannot_be_resampled_is_none() {
        let bootstrap = Bootstrap::default();
        assert_eq!(bootstrap.run(&[], None, mean), None);
        assert_eq!(bootstrap.run(&[1.0], None, mean), None);
        assert_eq!(bootstrap.run(&[1.0, 2.0], Some(&[5, 5]), mean), None);
        assert_eq!(bootstrap.run(&[1.0, 2.0], Some(&[5]), mean), None);
        assert_eq!(bootstrap.run(&[1.0, f64::NAN], None, mean), None);
        assert_eq!(bootstrap.run(&[1.0, 2.0], None, |_| None), None);
        assert_eq!(bootstrap.run(&[1.0, 2.0], None, |_| Some(f64::NAN)), None);
        assert_eq!(Bootstrap { n_resamples: 0, ..bootstrap }.run(&[1.0, 2.0], None, mean), None);
        assert_eq!(Bootstrap { confidence: 1.0, ..bootstrap }.run(&[1.0, 2.0], None, mean), None);
    }
}
