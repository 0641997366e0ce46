//! The frame of a chart with two axes.

use super::scale::Scale;
use super::{Anchor, Drawing};

/// The room at the left for the values of the upright axis.
pub(super) const LEFT: f64 = 64.0;
/// The room at the right.
const RIGHT: f64 = 16.0;
/// The room above for the name of the upright axis.
pub(super) const TOP: f64 = 30.0;

/// Where the lines of a chart end.
#[derive(Clone, Copy)]
pub(super) struct Axes {
    pub(super) right: f64,
    pub(super) foot: f64,
}

/// An axis: what it measures, and how its values are written.
pub(crate) type Axis<'a> = (&'a str, &'a dyn Fn(f64) -> String);

impl Axes {
    /// Leaves this much room below, for whatever stands there.
    pub(super) fn new((width, height): (f64, f64), room: f64) -> Axes {
        Axes { right: width - RIGHT, foot: height - room }
    }

    /// The scale of these values from the foot upwards.
    pub(super) fn up(self, values: impl IntoIterator<Item = f64>) -> Scale {
        Scale::of(values, (self.foot, TOP))
    }

    /// Draws the upright axis: a line across the chart at each mark of its scale.
    pub(super) fn draw_up(self, drawing: &mut Drawing, up: &Scale, (name, write): Axis<'_>) {
        for mark in up.marks() {
            drawing.line("axis", (LEFT, up.at(mark)), (self.right, up.at(mark)));
            drawing.text((LEFT - 8.0, up.at(mark) + 4.0), Anchor::End, &write(mark));
        }
        drawing.text((4.0, 12.0), Anchor::Start, name);
    }
}
