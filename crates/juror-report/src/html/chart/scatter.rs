//! Score against cost, a point a run or a template.

use super::axes::{Axes, Axis, LEFT, TOP};
use super::scale::Scale;
use super::{Anchor, Drawing};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const FOOT: f64 = 44.0;
/// About how wide a character is, and how high a line.
const CHARACTER: f64 = 6.4;
const LINE: f64 = 14.0;

/// A point of the chart.
pub(crate) struct ScatterPoint<'p> {
    /// What it stands for.
    pub(crate) name: &'p str,
    /// Its cost.
    pub(crate) x: f64,
    /// Its score.
    pub(crate) y: f64,
    /// Whether the others are compared with it.
    pub(crate) is_baseline: bool,
}

/// Draws the points.
pub(crate) fn scatter(
    points: &[ScatterPoint<'_>],
    x: Axis<'_>,
    y: Axis<'_>,
    label: &str,
) -> String {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let axes = Axes::new((WIDTH, HEIGHT), FOOT);
    let Axes { right, foot } = axes;
    let across = Scale::of(points.iter().map(|point| point.x).chain([0.0]), (LEFT, right));
    let up = axes.up(points.iter().map(|point| point.y));
    across.draw(&mut drawing, (10.0, foot), x.1);
    axes.draw_up(&mut drawing, &up, y);
    drawing.text((f64::midpoint(LEFT, right), HEIGHT - 8.0), Anchor::Middle, x.0);
    let mut names = Names { taken: Vec::new(), foot };
    for point in points {
        let (px, py) = (across.at(point.x), up.at(point.y));
        names.taken.push((px - 6.0, py - 6.0, px + 6.0, py + 6.0));
    }
    for point in points {
        let (px, py) = (across.at(point.x), up.at(point.y));
        if point.is_baseline {
            drawing.square("mark baseline", (px, py), 4.5);
        } else {
            drawing.dot("mark run-1", (px, py), 5.0);
        }
        let name = crate::terminal::shorten(point.name, 28);
        if let Some((place, anchor)) = names.place((px, py), name.chars().count()) {
            drawing.text(place, anchor, &name);
        }
    }
    drawing.finish(label)
}

/// Where names stand. One that would cover another name or point is left out: the table below the
/// chart has it.
struct Names {
    /// Left, top, right and bottom of each.
    taken: Vec<(f64, f64, f64, f64)>,
    foot: f64,
}

impl Names {
    /// Finds room beside, above or below a point.
    fn place(&mut self, (x, y): (f64, f64), n_characters: usize) -> Option<((f64, f64), Anchor)> {
        let width = n_characters as f64 * CHARACTER;
        let sides = [4.0, -8.0, 16.0, -20.0, 28.0]
            .into_iter()
            .flat_map(|down| [(x + 9.0, Anchor::Start, down), (x - 9.0, Anchor::End, down)]);
        for (from, anchor, down) in sides {
            let left = if matches!(anchor, Anchor::End) { from - width } else { from };
            let bottom = y + down;
            let own = (left, bottom - LINE + 3.0, left + width, bottom + 2.0);
            let is_inside =
                own.0 >= LEFT && own.2 <= WIDTH && own.1 >= TOP - LINE && own.3 <= self.foot + 4.0;
            let covers = |other: &(f64, f64, f64, f64)| {
                own.0 < other.2 && other.0 < own.2 && own.1 < other.3 && other.1 < own.3
            };
            if is_inside && !self.taken.iter().any(covers) {
                self.taken.push(own);
                return Some(((from, bottom), anchor));
            }
        }
        None
    }
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
            is_baseline: false,
        });
        let write = |value: f64| format!("{value:.2}");
        let svg = scatter(&points, ("USD", &write), ("steps", &write), "score against cost");
        for part in [">A main<", ">B pr<", ">USD<", ">steps<"] {
            assert!(svg.contains(part), "{part}");
        }
    }

    #[test]
    fn names_do_not_cover_each_other() {
        let points = [0.50, 0.501, 0.502, 0.503, 0.504, 0.505, 0.9].map(|y| ScatterPoint {
            name: "a template with a long name",
            x: 1.0,
            y,
            is_baseline: false,
        });
        let write = |value: f64| format!("{value:.2}");
        let svg = scatter(&points, ("USD", &write), ("steps", &write), "score against cost");
        let n_named = svg.matches(">a template").count();
        assert!((2..=6).contains(&n_named), "{n_named}: {svg}");
        assert_eq!(svg.matches("<circle").count(), points.len());
    }
}
