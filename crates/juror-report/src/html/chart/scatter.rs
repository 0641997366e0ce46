//! Score against cost, a point a run or a template.

use super::scale::Scale;
use super::{Anchor, Drawing};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const FOOT: f64 = 44.0;

/// A point of the chart.
pub(crate) struct ScatterPoint<'p> {
    /// What it stands for.
    pub(crate) name: &'p str,
    /// Its cost.
    pub(crate) x: f64,
    /// Its score.
    pub(crate) y: f64,
}

/// An axis: what it measures, and how its values are written.
pub(crate) type Axis<'a> = (&'a str, &'a dyn Fn(f64) -> String);

/// Draws the points.
pub(crate) fn scatter(
    points: &[ScatterPoint<'_>],
    x: Axis<'_>,
    y: Axis<'_>,
    label: &str,
) -> String {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let (foot, right) = (HEIGHT - FOOT, WIDTH - 16.0);
    let across = Scale::of(points.iter().map(|point| point.x).chain([0.0]), (LEFT, right));
    let up = Scale::of(points.iter().map(|point| point.y), (foot, 14.0));
    across.draw(&mut drawing, (10.0, foot), x.1);
    for mark in up.marks() {
        drawing.line("axis", (LEFT, up.at(mark)), (right, up.at(mark)));
        drawing.text((LEFT - 8.0, up.at(mark) + 4.0), Anchor::End, &(y.1)(mark));
    }
    drawing.text((f64::midpoint(LEFT, right), HEIGHT - 8.0), Anchor::Middle, x.0);
    drawing.text((4.0, 10.0), Anchor::Start, y.0);
    for (at, point) in points.iter().enumerate() {
        let (px, py) = (across.at(point.x), up.at(point.y));
        if at == 0 {
            drawing.square("mark baseline", (px, py), 4.5);
        } else {
            drawing.dot("mark run-1", (px, py), 5.0);
        }
        // Names of points near the right edge are written to their left.
        let is_right = px > WIDTH * 0.66;
        let (dx, anchor) = if is_right { (-8.0, Anchor::End) } else { (8.0, Anchor::Start) };
        drawing.text((px + dx, py - 6.0), anchor, &crate::terminal::shorten(point.name, 28));
    }
    drawing.finish(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_named() {
        let points = [("A main", 1.0, 0.5), ("B pr", 2.0, 0.75)].map(|(name, x, y)| ScatterPoint {
            name,
            x,
            y,
        });
        let write = |value: f64| format!("{value:.2}");
        let svg = scatter(&points, ("USD", &write), ("steps", &write), "score against cost");
        for part in [">A main<", ">B pr<", ">USD<", ">steps<"] {
            assert!(svg.contains(part), "{part}");
        }
    }
}
