//! A comparison for terminals.

use std::fmt::Write as _;

use juror_compare::{Comparison, Flips, GateVerdict};

use super::ComparisonView;
use super::candidate_rows::{CandidateRows, run_rows};
use super::words::extent;
use crate::terminal::{Paint, Palette, aligned, layout, lines};

/// Renders a comparison: its runs, and how each candidate compares with the baseline.
pub fn comparison_text(comparison: &Comparison, view: &ComparisonView, palette: Palette) -> String {
    let paint = Paint(palette);
    let mut text = lines(aligned(&run_rows(comparison), usize::MAX));
    for rows in CandidateRows::all(comparison, view) {
        if let Some(title) = rows.title() {
            let _ = write!(text, "\n{}\n", paint.bold(&title));
        }
        text.push_str(&Block { rows, paint }.text());
    }
    text
}

/// One candidate against the baseline.
struct Block<'c> {
    rows: CandidateRows<'c>,
    paint: Paint,
}

impl Block<'_> {
    fn text(&self) -> String {
        let mut text = format!("{}\n", extent(self.rows.comparison, self.rows.candidate));
        for part in [self.metrics(), self.gates(), self.groups(), self.flips()] {
            if !part.is_empty() {
                let _ = write!(text, "\n{part}");
            }
        }
        text
    }

    fn metrics(&self) -> String {
        let notes = self.rows.notes().into_iter().map(|note| self.paint.dim(&note));
        format!("{}{}", layout(&self.rows.metrics(), self.paint), lines(notes))
    }

    fn gates(&self) -> String {
        let mut rows = aligned(&self.rows.gates(), usize::MAX).into_iter();
        let title = rows.next().map(|line| self.paint.dim(&line));
        let verdicts = self.rows.candidate.gates.iter().map(|outcome| outcome.verdict);
        let rows = rows.zip(verdicts).map(|(line, verdict)| match verdict {
            GateVerdict::Pass => line,
            GateVerdict::Warn | GateVerdict::Inconclusive => self.paint.yellow(&line),
            GateVerdict::Block => self.paint.red(&line),
        });
        lines(title.into_iter().chain(rows))
    }

    /// A table of templates or sets for each metric that matters.
    fn groups(&self) -> String {
        let tables = self.rows.groups();
        tables.iter().map(|rows| layout(rows, self.paint)).collect::<Vec<_>>().join("\n")
    }

    fn flips(&self) -> String {
        let flips = self.rows.candidate.flips.iter();
        flips.map(|flips| self.flips_by_metric(flips)).collect::<Vec<_>>().join("\n")
    }

    fn flips_by_metric(&self, flips: &Flips) -> String {
        let mut text = format!("{}\n", self.rows.flips_line(flips));
        for (list, what, painted) in [
            (&flips.broken, "broken", Paint::red as fn(Paint, &str) -> String),
            (&flips.fixed, "fixed", Paint::green),
        ] {
            let listed = self.rows.listed(list, &flips.metric);
            if listed.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{}", self.paint.dim(what));
            for [change, question, why] in listed {
                let gap = if why.is_empty() { "" } else { "  " };
                let change = painted(self.paint, &change);
                let _ = writeln!(text, "  {change}  {question}{gap}{why}");
            }
            if let Some(more) = self.rows.more(list) {
                let _ = writeln!(text, "  {more}");
            }
        }
        text
    }
}
