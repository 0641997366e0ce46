//! From values to places in a chart.

use super::{Anchor, Drawing};

/// About how many marks a scale has.
const MARKS: f64 = 5.0;

/// A straight mapping of values to places.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Maps all of the values into a range of places. Values that are all equal get some room.
    pub(super) fn of(values: impl IntoIterator<Item = f64>, (from, to): (f64, f64)) -> Scale {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let room = if low < high { 0.0 } else { 0.5 * low.abs().max(1.0) };
        Scale { low: low - room, high: high + room, from, to }
    }

    /// The place of a value.
    pub(super) fn at(self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// Round values along the scale.
    pub(super) fn marks(self) -> Vec<f64> {
        let step = round_step((self.high - self.low) / MARKS);
        let first = (self.low / step).ceil();
        let n_marks = ((self.high / step).floor() - first).clamp(0.0, 4.0 * MARKS);
        let mut marks = vec![first * step];
        while (marks.len() as f64) <= n_marks {
            marks.push((first + marks.len() as f64) * step);
        }
        marks
    }

    /// Draws lines at the marks from `top` to `foot`, and their values below.
    pub(super) fn draw(
        self,
        drawing: &mut Drawing,
        (top, foot): (f64, f64),
        write: impl Fn(f64) -> String,
    ) {
        for mark in self.marks() {
            let x = self.at(mark);
            drawing.line("axis", (x, top), (x, foot));
            drawing.text((x, foot + 16.0), Anchor::Middle, &write(mark));
        }
    }
}

/// 1, 2 or 5 times a power of ten, no smaller than `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        let marks = |low, high| Scale::of([low, high], (0.0, 100.0)).marks();
        assert_eq!(marks(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(marks(-31.0, 12.0), [-30.0, -20.0, -10.0, 0.0, 10.0]);
        assert!(marks(0.5, 0.5).len() >= 4);
    }

    #[test]
    fn values_outside_stay_at_the_edge() {
        let scale = Scale::of([0.0, 10.0, f64::NAN, f64::INFINITY], (100.0, 200.0));
        assert_eq!(
            [-5.0, 0.0, 5.0, 10.0, 99.0].map(|value| scale.at(value)),
            [100.0, 100.0, 150.0, 200.0, 200.0]
        );
    }

    #[test]
    fn a_scale_without_values_runs_from_zero_to_one() {
        assert_eq!(Scale::of([], (0.0, 1.0)).at(0.5), 0.5);
    }
}
