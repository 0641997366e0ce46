//! A forest plot: how much each metric changed, how sure that is, and how much it may.

use juror_score::statistics::Interval;

use super::scale::Scale;
use super::{Drawing, FOOT, NAMES, ROW, WIDTH};

/// One metric of a forest plot. All numbers are in one unit: differences of fractions, or percent.
pub(crate) struct ForestRow<'r> {
    /// The name of the metric.
    pub(crate) name: &'r str,
    /// The change.
    pub(crate) delta: f64,
    /// Its interval.
    pub(crate) interval: Option<Interval>,
    /// The change beyond which a gate is not met, if there is one.
    pub(crate) margin: Option<f64>,
    /// Whether the change is for the better.
    pub(crate) outcome: Outcome,
}

/// What a change means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Better,
    Worse,
    /// It may be nothing, or nobody knows which way is better.
    Open,
}

impl Outcome {
    fn class(self) -> &'static str {
        match self {
            Outcome::Better => "good",
            Outcome::Worse => "bad",
            Outcome::Open => "neutral",
        }
    }
}

/// Draws the plot. `write` writes the values of its scale.
pub(crate) fn forest(rows: &[ForestRow<'_>], label: &str, write: impl Fn(f64) -> String) -> String {
    let height = rows.len() as f64 * ROW + FOOT;
    let foot = height - FOOT;
    let mut drawing = Drawing::new(WIDTH, height);
    let ends = |row: &ForestRow<'_>| {
        let interval = row.interval.unwrap_or(Interval { low: row.delta, high: row.delta });
        [interval.low, interval.high, row.delta, row.margin.unwrap_or(0.0), 0.0]
    };
    let scale = Scale::of(rows.iter().flat_map(ends), (NAMES, WIDTH - 16.0));
    for (at, row) in rows.iter().enumerate() {
        if let Some(margin) = row.margin {
            let (low, high) = (scale.at(margin.min(0.0)), scale.at(margin.max(0.0)));
            drawing.bar("margin-band", (low, at as f64 * ROW + 2.0), (high - low, ROW - 4.0));
        }
    }
    scale.draw(&mut drawing, (0.0, foot), write);
    drawing.line("zero", (scale.at(0.0), 0.0), (scale.at(0.0), foot));
    for (at, row) in rows.iter().enumerate() {
        let y = (at as f64 + 0.5) * ROW;
        drawing.name(y, row.name);
        let class = row.outcome.class();
        if let Some(Interval { low, high }) = row.interval {
            let class = format!("interval {class}");
            drawing.line(&class, (scale.at(low), y), (scale.at(high), y));
        }
        drawing.dot(&format!("mark {class}"), (scale.at(row.delta), y), 4.5);
    }
    drawing.finish(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_interval_margin_and_colour() {
        let row = ForestRow {
            name: "steps_score",
            delta: -0.1,
            interval: Some(Interval { low: -0.2, high: -0.05 }),
            margin: Some(-0.02),
            outcome: Outcome::Worse,
        };
        let svg = forest(&[row], "changes", |value| format!("{value:.2}"));
        for part in ["margin-band", "interval bad", "mark bad", "zero", ">steps_score<", ">0.00<"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }
}
