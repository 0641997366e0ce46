//! Charts as SVG: shapes with classes, which the page's style sheet colours in both schemes.
//!
//! Every chart has a label for people who do not see it, and the page has the same numbers in a
//! table beside it.

mod axes;
mod dumbbell;
mod forest;
mod histogram;
mod history;
mod scale;
mod scatter;
mod strip;

use std::fmt::Write as _;

pub(crate) use dumbbell::{DumbbellRow, dumbbells};
pub(crate) use forest::{ForestRow, Outcome, forest};
pub(crate) use histogram::histogram;
pub use history::{HistoryPoint, history_chart};
pub(crate) use scatter::{ScatterPoint, scatter};
pub use strip::{StripCell, question_strip};

use super::escape::escaped;

/// The width of charts that fill the page; they scale with it.
const WIDTH: f64 = 720.0;
/// The height of a row of a chart.
const ROW: f64 = 22.0;
/// The room for the names of rows.
const NAMES: f64 = 230.0;
/// The room for the scale at the foot of a chart.
const FOOT: f64 = 26.0;
/// How many characters of a name fit into the room for names.
const NAME_CHARACTERS: usize = 26;

/// A drawing that grows shape by shape.
pub(crate) struct Drawing {
    width: f64,
    height: f64,
    shapes: String,
}

/// Where a text is attached to its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(crate) fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, shapes: String::new() }
    }

    pub(crate) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        // Writing to a string does not fail, here and below.
        let _ = write!(
            self.shapes,
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        );
    }

    pub(crate) fn bar(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let _ = write!(
            self.shapes,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
        );
    }

    pub(crate) fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let _ = write!(
            self.shapes,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#
        );
    }

    /// Draws a square, which is told from a dot without colours.
    pub(crate) fn square(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.bar(class, (x - radius, y - radius), (2.0 * radius, 2.0 * radius));
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.shapes,
            r#"<text class="label" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#,
            escaped(text)
        );
    }

    /// Writes the name of a row at its left, shortened to the room there is.
    pub(crate) fn name(&mut self, y: f64, name: &str) {
        let text = crate::terminal::shorten(name, NAME_CHARACTERS);
        self.text((NAMES - 10.0, y + 4.0), Anchor::End, &text);
    }

    /// Returns the drawing; `label` says what it shows.
    pub(crate) fn finish(self, label: &str) -> String {
        let Drawing { width, height, shapes } = self;
        format!(
            r#"<svg viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="{}">{shapes}</svg>"#,
            escaped(label)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_charts_stay_text() {
        let mut drawing = Drawing::new(100.0, 20.0);
        drawing.name(10.0, "<script>alert(1)</script>");
        let svg = drawing.finish("\"><script>");
        assert!(!svg.contains("<script"), "{svg}");
        assert!(svg.contains("&lt;script&gt;alert(1)"), "{svg}");
    }
}
