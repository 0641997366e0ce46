//! A comparison for notebooks.

use juror_compare::{Comparison, Flips};

use super::ComparisonView;
use super::candidate_rows::{CandidateRows, run_rows};
use super::words::extent;
use crate::html::Fragment;

/// Renders a comparison as a fragment of HTML, with the rows that terminals show. Texts from data are
/// escaped, and there are no scripts.
pub fn comparison_html(comparison: &Comparison, view: &ComparisonView) -> String {
    let mut fragment = Fragment::default();
    let runs = run_rows(comparison).into_iter().map(|row| row.join(" · "));
    fragment.lines(&runs.collect::<Vec<_>>());
    for rows in CandidateRows::all(comparison, view) {
        if let Some(title) = rows.title() {
            fragment.paragraph(&title);
        }
        write(&rows, &mut fragment);
    }
    fragment.finish()
}

fn write(rows: &CandidateRows<'_>, fragment: &mut Fragment) {
    fragment.paragraph(&extent(rows.comparison, rows.candidate));
    fragment.table(&rows.metrics(), 1);
    fragment.lines(&rows.notes());
    fragment.table(&rows.gates(), usize::MAX);
    for table in rows.groups() {
        fragment.table(&table, 1);
    }
    for flips in &rows.candidate.flips {
        write_flips(rows, flips, fragment);
    }
}

fn write_flips(rows: &CandidateRows<'_>, flips: &Flips, fragment: &mut Fragment) {
    fragment.paragraph(&rows.flips_line(flips));
    for (list, what) in [(&flips.broken, "broken"), (&flips.fixed, "fixed")] {
        let listed = rows.listed(list, &flips.metric);
        if listed.is_empty() {
            continue;
        }
        let title = [what, "question", "why"].map(str::to_owned).to_vec();
        let table: Vec<_> =
            std::iter::once(title).chain(listed.into_iter().map(Vec::from)).collect();
        fragment.table(&table, usize::MAX);
        fragment.lines(&rows.more(list).into_iter().collect::<Vec<_>>());
    }
}
