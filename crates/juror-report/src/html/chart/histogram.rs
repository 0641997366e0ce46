//! The distribution of a metric, small enough for a cell of a table.

use super::Drawing;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 26.0;
const BINS: usize = 12;

/// Draws how many values lie where, between the least and the greatest, or within a range.
pub(crate) fn histogram(values: &[f64], range: Option<(f64, f64)>, label: &str) -> String {
    let counts = counts(values, range);
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let width = WIDTH / BINS as f64;
    for (at, count) in counts.into_iter().enumerate() {
        if count > 0 {
            // Few values among many are still to be seen.
            let height = (count as f64 / most as f64 * (HEIGHT - 2.0)).max(1.0);
            let corner = (at as f64 * width + 0.5, HEIGHT - 1.0 - height);
            drawing.bar("bin", corner, (width - 1.0, height));
        }
    }
    drawing.line("axis", (0.0, HEIGHT - 0.5), (WIDTH, HEIGHT - 0.5));
    drawing.finish(label)
}

fn counts(values: &[f64], range: Option<(f64, f64)>) -> [usize; BINS] {
    let ends = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(*value), high.max(*value))
    });
    let (low, high) = range.unwrap_or(ends);
    let mut counts = [0; BINS];
    for value in values {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let bin = (share.clamp(0.0, 1.0) * BINS as f64) as usize;
        counts[bin.min(BINS - 1)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bin() {
        let values = [0.0, 0.5, 0.5, 1.0, 7.0];
        assert_eq!(counts(&values, Some((0.0, 1.0))), [1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2]);
        assert_eq!(counts(&[3.0, 3.0], None)[6], 2);
        assert_eq!(counts(&[], None).iter().sum::<usize>(), 0);
    }
}
