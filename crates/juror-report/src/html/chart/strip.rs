//! One question over runs: a cell for each, coloured and marked by its score.

use super::{Anchor, Drawing};
use crate::terminal::shorten;

const CELL: f64 = 30.0;
const HEIGHT: f64 = 46.0;
/// How many cells stand in a row at most; older runs are left out of the drawing.
const MOST: usize = 40;
/// For how many cells there is room at least.
const FEWEST: usize = 24;

/// What came of a question in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StripCell {
    /// Its score.
    Scored(f64),
    /// It ended in an error, or has no score.
    Failed,
    /// The run does not have it.
    Absent,
}

/// Draws what came of a question, oldest run first; `label` says what it shows.
pub fn question_strip(cells: &[StripCell], label: &str) -> String {
    let shown = &cells[cells.len().saturating_sub(MOST)..];
    // A few cells do not fill the page.
    let mut drawing = Drawing::new(CELL * shown.len().max(FEWEST) as f64, HEIGHT);
    for (at, cell) in shown.iter().enumerate() {
        let x = at as f64 * CELL;
        // The text beside the colour says the same for people who do not tell colours apart.
        let (class, text) = match *cell {
            StripCell::Scored(score) if score >= 1.0 => ("cell good", "✓".to_owned()),
            StripCell::Scored(score) if score > 0.0 => ("cell part", format!("{score:.2}")),
            StripCell::Scored(_) => ("cell bad", "✗".to_owned()),
            StripCell::Failed => ("cell bad", "!".to_owned()),
            StripCell::Absent => ("cell", "–".to_owned()),
        };
        drawing.bar(class, (x + 1.0, 6.0), (CELL - 2.0, HEIGHT - 12.0));
        drawing.text((x + CELL / 2.0, HEIGHT / 2.0 + 4.0), Anchor::Middle, &shorten(&text, 5));
    }
    drawing.finish(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_a_sign_of_its_own() {
        let cells = [
            StripCell::Scored(1.0),
            StripCell::Scored(0.5),
            StripCell::Scored(0.0),
            StripCell::Failed,
            StripCell::Absent,
        ];
        let svg = question_strip(&cells, "q1");
        for sign in [">✓<", ">0.50<", ">✗<", ">!<", ">–<"] {
            assert!(svg.contains(sign), "{sign}: {svg}");
        }
        assert_eq!(question_strip(&[StripCell::Absent; 99], "q1").matches("<rect").count(), MOST);
    }
}
