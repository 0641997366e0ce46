//! The numbers of a metric over some answers, as far as statistics need them.

use hashbrown::HashMap;
use juror_score::Number;

use crate::exact_sum::{Exact, ExactSum};
use crate::sketch::Sketch;

/// Up to so many distinct values a series has all of them, with counts.
pub const MOST_DISTINCT: usize = 4096;

/// The order of the bits of values by size, as [`f64::total_cmp`] has it.
pub(crate) fn in_order(a: u64, b: u64) -> std::cmp::Ordering {
    f64::from_bits(a).total_cmp(&f64::from_bits(b))
}

/// Numbers, reduced to what is the same for any order and any split.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) n: u64,
    /// Whether some were not written as integers.
    pub(crate) any_real: bool,
    pub(crate) range: Option<Range>,
    pub(crate) sum: ExactSum,
    pub(crate) squares: ExactSum,
    pub(crate) values: Values,
}

/// The smallest and the largest value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// Which values there are, and how often.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// Each of them, by its bits.
    Counted(HashMap<u64, u64>),
    /// Too many to have each.
    Sketched(Sketch),
}

impl Default for Values {
    fn default() -> Values {
        Values::Counted(HashMap::new())
    }
}

impl Values {
    pub(crate) fn add(&mut self, value: f64, count: u64) {
        match self {
            Values::Counted(counts) => {
                *counts.entry(value.to_bits()).or_default() += count;
                self.bound();
            }
            Values::Sketched(sketch) => sketch.add(value, count),
        }
    }

    pub(crate) fn merge(&mut self, other: &Values) {
        match other {
            Values::Counted(counts) => {
                for (bits, count) in counts {
                    self.add(f64::from_bits(*bits), *count);
                }
            }
            Values::Sketched(theirs) => {
                self.sketch();
                if let Values::Sketched(mine) = self {
                    mine.merge(theirs);
                }
            }
        }
    }

    /// Turns counts into a sketch if there are too many of them. Whether there are depends on all
    /// values together, never on how they came.
    fn bound(&mut self) {
        if matches!(self, Values::Counted(counts) if counts.len() > MOST_DISTINCT) {
            self.sketch();
        }
    }

    fn sketch(&mut self) {
        if let Values::Counted(counts) = self {
            let mut sketch = Sketch::default();
            for (bits, count) in std::mem::take(counts) {
                sketch.add(f64::from_bits(bits), count);
            }
            *self = Values::Sketched(sketch);
        }
    }

    /// Returns all values with their counts, from small to large; `None` if only a sketch is left.
    pub(crate) fn counted(&self) -> Option<Vec<(f64, u64)>> {
        let Values::Counted(counts) = self else { return None };
        let mut all: Vec<(u64, u64)> = counts.iter().map(|(bits, count)| (*bits, *count)).collect();
        all.sort_unstable_by(|a, b| in_order(a.0, b.0));
        Some(all.into_iter().map(|(bits, count)| (f64::from_bits(bits), count)).collect())
    }

    fn at_rank(&self, rank: u64) -> f64 {
        let Some(counted) = self.counted() else {
            let Values::Sketched(sketch) = self else { return 0.0 };
            return sketch.at_rank(rank);
        };
        let mut n_seen = 0;
        let reached = counted.iter().find(|(_, count)| {
            n_seen += count;
            rank < n_seen
        });
        reached.map_or(0.0, |(value, _)| *value)
    }
}

impl Series {
    pub(crate) fn push(&mut self, Number { value, whole }: Number) {
        self.n += 1;
        self.any_real |= !whole;
        self.widen(Range { min: value, max: value });
        self.sum.add(value);
        self.squares.add_square(value);
        self.values.add(value, 1);
    }

    pub(crate) fn merge(&mut self, other: &Series) {
        self.n += other.n;
        self.any_real |= other.any_real;
        if let Some(range) = other.range {
            self.widen(range);
        }
        self.sum.add_exact(&other.sum.exact());
        self.squares.add_exact(&other.squares.exact());
        self.values.merge(&other.values);
    }

    fn widen(&mut self, other: Range) {
        self.range = Some(match self.range {
            None => other,
            Some(Range { min, max }) => Range {
                min: if other.min.total_cmp(&min).is_lt() { other.min } else { min },
                max: if other.max.total_cmp(&max).is_gt() { other.max } else { max },
            },
        });
    }

    /// The largest difference between equal values that rounding explains.
    pub(crate) fn rounding(&self) -> f64 {
        /// As many roundings as the statistics of values in memory allow for.
        const ROUNDINGS: f64 = 4.0;
        let largest = self.range.map_or(0.0, |range| range.min.abs().max(range.max.abs()));
        ROUNDINGS * f64::EPSILON * largest
    }

    /// Whether all values are equal but for rounding.
    pub(crate) fn is_constant(&self) -> bool {
        self.range.is_none_or(|range| range.max - range.min <= self.rounding())
    }

    /// The mean: the value itself if there is only one, because the sum of many may be rounded.
    pub(crate) fn mean(&self) -> f64 {
        match self.range {
            None => 0.0,
            Some(range) if range.min == range.max => range.min,
            Some(_) => self.sum.rounded() / self.n as f64,
        }
    }

    /// The one or two values in the middle, or about those.
    pub(crate) fn middle(&self) -> Vec<f64> {
        let Some(Range { min, max }) = self.range else { return Vec::new() };
        let (below, above) = ((self.n - 1) / 2, self.n / 2);
        let ranks = if below == above { vec![below] } else { vec![below, above] };
        // What a sketch tells of the ends may lie beyond them.
        ranks.into_iter().map(|rank| self.values.at_rank(rank).clamp(min, max)).collect()
    }

    /// The variance with `n - 1`; `None` for one value.
    pub(crate) fn variance(&self) -> Option<f64> {
        let degrees = self.n.checked_sub(1).filter(|degrees| *degrees > 0)?;
        if self.is_constant() {
            return Some(0.0);
        }
        let mean = self.mean();
        let Some(counted) = self.values.counted() else {
            let moments = Moments {
                n: self.n,
                sum: self.sum.exact(),
                squares: self.squares.exact(),
                rounding: self.rounding(),
            };
            return moments.variance();
        };
        let mut squares = ExactSum::default();
        for (value, count) in counted {
            let deviation = value - mean;
            squares.add_times(deviation * deviation, count);
        }
        Some(squares.rounded() / degrees as f64)
    }

    /// How far the values are from the mean of others, in sum: 0 if that is no more than rounding.
    pub(crate) fn deviation(&self, all: &Series) -> f64 {
        let (mean, rounding) = (all.mean(), all.rounding());
        let sum = match self.values.counted() {
            Some(counted) => {
                let mut sum = ExactSum::default();
                for (value, count) in counted {
                    sum.add_times(value - mean, count);
                }
                sum.rounded()
            }
            None => {
                let mine = self.sum.exact().times(&Exact::whole(all.n.into()));
                let theirs = all.sum.exact().times(&Exact::whole(self.n.into()));
                mine.minus(&theirs).rounded() / all.n as f64
            }
        };
        if sum.abs() <= rounding * self.n as f64 { 0.0 } else { sum }
    }
}

/// Sums of numbers and of their squares, from which their variance follows without loss.
pub(crate) struct Moments {
    pub(crate) n: u64,
    pub(crate) sum: Exact,
    pub(crate) squares: Exact,
    /// Differences up to this size are no more than rounding.
    pub(crate) rounding: f64,
}

impl Moments {
    /// The variance with `n - 1`; `None` for fewer than two numbers.
    pub(crate) fn variance(&self) -> Option<f64> {
        if self.n < 2 {
            return None;
        }
        let all = Exact::whole(self.n.into()).times(&self.squares);
        let spread = all.minus(&self.sum.times(&self.sum)).rounded();
        let variance = spread / self.n as f64 / (self.n - 1) as f64;
        Some(if variance <= self.rounding * self.rounding { 0.0 } else { variance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: impl IntoIterator<Item = f64>) -> Series {
        let mut series = Series::default();
        for value in values {
            series.push(Number { value, whole: false });
        }
        series
    }

    #[test]
    fn values_are_counted_up_to_the_limit_and_sketched_beyond() {
        let n = u32::try_from(MOST_DISTINCT).expect("small");
        let upto = |n: u32| series((0..n).map(|at| 1.0 + f64::from(at)));
        assert!(upto(n).values.counted().is_some());
        let beyond = upto(n + 1);
        assert!(beyond.values.counted().is_none());
        let median = beyond.middle()[0];
        assert!((median - 2049.0).abs() <= 2.049, "{median}");
        let again = series((0..20_000).map(|at| f64::from(at % 7)));
        assert_eq!(again.values.counted().map(|all| all.len()), Some(7));
    }

    #[test]
    fn a_variance_from_sums_is_that_of_the_values() {
        let values = [1e9 + 0.1, 1e9 + 0.3, 1e9 + 0.2];
        let own = series(values);
        let moments = Moments {
            n: 3,
            sum: own.sum.exact(),
            squares: own.squares.exact(),
            rounding: own.rounding(),
        };
        let (exact, counted) = (moments.variance().expect("one"), own.variance().expect("one"));
        assert!((exact - counted).abs() < 1e-9, "{exact} {counted}");
    }

    #[test]
    fn values_that_differ_by_rounding_do_not_vary() {
        let own = series([0.1 + 0.2, 0.3, 0.3]);
        assert_eq!(own.variance(), Some(0.0));
        assert_eq!(series([0.5]).variance(), None);
    }
}
