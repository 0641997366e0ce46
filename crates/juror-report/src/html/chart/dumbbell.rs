//! Templates or sets, one a row: the mean of one run with its interval, or of several runs.

use juror_score::statistics::Interval;

use super::scale::Scale;
use super::{Drawing, FOOT, NAMES, ROW, WIDTH};

/// One template or set.
pub(crate) struct DumbbellRow<'r> {
    /// Its name.
    pub(crate) name: &'r str,
    /// Its mean in each run, the baseline first; `None` if a run has none.
    pub(crate) means: Vec<Option<f64>>,
    /// The interval of the mean, if there is one run.
    pub(crate) interval: Option<Interval>,
    /// Whether more is better.
    pub(crate) is_higher_better: bool,
}

/// Draws the rows. `write` writes the values of the scale.
pub(crate) fn dumbbells(
    rows: &[DumbbellRow<'_>],
    range: Option<(f64, f64)>,
    label: &str,
    write: impl Fn(f64) -> String,
) -> String {
    let height = rows.len() as f64 * ROW + FOOT;
    let mut drawing = Drawing::new(WIDTH, height);
    let values = rows.iter().flat_map(|row| {
        let ends = row.interval.map(|interval| [interval.low, interval.high]);
        row.means.iter().flatten().copied().chain(ends.into_iter().flatten())
    });
    let places = (NAMES, WIDTH - 16.0);
    let scale = match range {
        Some((low, high)) => Scale::of([low, high], places),
        None => Scale::of(values, places),
    };
    scale.draw(&mut drawing, (0.0, height - FOOT), write);
    for (at, row) in rows.iter().enumerate() {
        let y = (at as f64 + 0.5) * ROW;
        drawing.name(y, row.name);
        row.draw(&mut drawing, y, |value| scale.at(value));
    }
    drawing.finish(label)
}

impl DumbbellRow<'_> {
    fn draw(&self, drawing: &mut Drawing, y: f64, at: impl Fn(f64) -> f64) {
        if let Some(Interval { low, high }) = self.interval {
            drawing.line("interval", (at(low), y), (at(high), y));
        }
        if let [Some(a), Some(b)] = self.means[..] {
            let is_better = (b > a) == self.is_higher_better;
            let class = match (a == b, is_better) {
                (true, _) => "change neutral",
                (false, true) => "change good",
                (false, false) => "change bad",
            };
            drawing.line(class, (at(a), y), (at(b), y));
        }
        let has_several = self.means.len() > 1;
        for (run, mean) in self.means.iter().enumerate().rev() {
            match mean {
                None => {}
                // The baseline is a square, so that the two ends differ without colours.
                Some(mean) if has_several && run == 0 => {
                    drawing.square("mark baseline", (at(*mean), y), 4.0);
                }
                Some(mean) => drawing.dot(&format!("mark run-{run}"), (at(*mean), y), 4.5),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_between_two_runs_tells_the_direction() {
        let draw = |a, b, is_higher_better| {
            let means = vec![Some(a), Some(b)];
            let row = DumbbellRow { name: "t", means, interval: None, is_higher_better };
            dumbbells(&[row], Some((0.0, 1.0)), "templates", |value| value.to_string())
        };
        assert!(draw(0.2, 0.4, true).contains("change good"));
        assert!(draw(0.2, 0.4, false).contains("change bad"));
        assert!(draw(0.4, 0.4, true).contains("change neutral"));
    }
}
