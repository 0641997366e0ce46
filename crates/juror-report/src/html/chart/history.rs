//! A metric over runs in time, with the interval of each mean.

use juror_score::statistics::Interval;

use super::axes::{Axes, LEFT, TOP};
use super::{Anchor, Drawing, WIDTH};
use crate::amount::Amounts;

const HEIGHT: f64 = 280.0;
const FOOT: f64 = 34.0;
/// Half the width of the ends of an interval.
const CAP: f64 = 4.0;
/// About how many runs have their time written below.
const MOST_TIMES: usize = 6;

/// The mean of a metric in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    /// When the run began, in short.
    pub when: String,
    /// The mean.
    pub mean: f64,
    /// Its interval, if there is one.
    pub interval: Option<[f64; 2]>,
    /// Whether it can be compared with the point before it: the line is broken where reference,
    /// rules or judge changed.
    pub joins: bool,
}

/// Draws the means of a metric, oldest run first; `label` says what it shows.
pub fn history_chart(metric: &str, points: &[HistoryPoint], label: &str) -> String {
    let amounts = Amounts::of_metric(metric);
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let axes = Axes::new((WIDTH, HEIGHT), FOOT);
    let within = |[low, high]: [f64; 2]| <[f64; 2]>::from(amounts.within(Interval { low, high }));
    let ends = |point: &HistoryPoint| point.interval.map(within);
    let values = points
        .iter()
        .flat_map(|point| [point.mean].into_iter().chain(ends(point).into_iter().flatten()));
    let up = axes.up(values);
    // Half a step at both ends, so that a single run stands in the middle.
    let step = (axes.right - LEFT) / points.len().max(1) as f64;
    let across = |at: usize| LEFT + step * (at as f64 + 0.5);
    axes.draw_up(&mut drawing, &up, (metric, &|value| amounts.value(value)));
    for (at, pair) in points.windows(2).enumerate() {
        if pair[1].joins {
            let ends = [pair[0].mean, pair[1].mean].map(|mean| up.at(mean));
            drawing.line("line", (across(at), ends[0]), (across(at + 1), ends[1]));
        } else {
            let x = f64::midpoint(across(at), across(at + 1));
            drawing.line("break", (x, TOP), (x, axes.foot));
        }
    }
    let every = points.len().div_ceil(MOST_TIMES).max(1);
    for (at, point) in points.iter().enumerate() {
        let x = across(at);
        if let Some(ends) = ends(point) {
            let [low, high] = ends.map(|end| up.at(end));
            drawing.line("interval", (x, low), (x, high));
            drawing.line("interval", (x - CAP, low), (x + CAP, low));
            drawing.line("interval", (x - CAP, high), (x + CAP, high));
        }
        drawing.dot("mark", (x, up.at(point.mean)), 4.0);
        if at % every == 0 {
            drawing.text((x, axes.foot + 18.0), Anchor::Middle, &point.when);
        }
    }
    drawing.finish(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(mean: f64, joins: bool) -> HistoryPoint {
        let interval = Some([mean - 0.1, mean + 0.1]);
        HistoryPoint { when: "11-16".into(), mean, interval, joins }
    }

    #[test]
    fn the_line_is_broken_where_runs_cannot_be_compared() {
        let points = [point(0.5, false), point(0.6, true), point(0.7, false), point(0.7, true)];
        let svg = history_chart("steps_score", &points, "<steps>");
        let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
        assert_eq!((count("line"), count("break"), count("mark")), (2, 1, 4));
        assert_eq!(count("interval"), 12, "an interval has a line and two ends");
        assert!(svg.contains("aria-label=\"&lt;steps&gt;\"") && svg.contains(">0.6"), "{svg}");
    }

    #[test]
    fn intervals_end_where_the_metric_does() {
        let svg = history_chart("steps_score", &[point(0.95, false), point(0.5, true)], "x");
        assert!(svg.contains(">1.000<") && !svg.contains(">1.1"), "{svg}");
    }

    #[test]
    fn one_run_or_none_is_drawn_as_well() {
        let one = HistoryPoint { interval: None, ..point(0.5, false) };
        assert!(history_chart("steps_score", &[one], "x").contains("<circle"));
        assert!(history_chart("steps_score", &[], "x").ends_with("</svg>"));
    }
}
