//! Reports of comparisons: for terminals, notebooks, pull requests, pipelines and programs.

mod candidate_rows;
mod format;
mod html;
mod junit;
mod markdown;
mod notes;
mod rows;
mod terminal;
mod tsv;
mod words;

use juror_compare::{CandidateComparison, Comparison, Flips, GateVerdict, MetricComparison};

pub(crate) use candidate_rows::CandidateRows;
pub use format::ComparisonFormat;
pub use html::comparison_html;
pub(crate) use junit::GATES;
pub use junit::comparison_junit;
pub use markdown::{comparison_markdown, comparison_name};
pub(crate) use notes::{Quotes, about_interval};
pub use terminal::comparison_text;
pub use tsv::comparison_tsv;
pub(crate) use words::{count, extent, group_noun, is_of_judging, label, noun, unfinished};

/// What a report of a comparison shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonView {
    /// How many of the questions that broke are listed on a terminal, and how many of those that were
    /// fixed. Markdown lists five that broke, and folds as many others as there is room for.
    pub flips: usize,
    /// Whether to show templates or sets one by one, if they were compared.
    pub by_group: bool,
    /// Whether to show what judging took, too.
    pub all_metrics: bool,
    /// What the reader writes to have all flips listed.
    pub all_flips: &'static str,
}

impl Default for ComparisonView {
    fn default() -> ComparisonView {
        ComparisonView { flips: 5, by_group: false, all_metrics: false, all_flips: "--flips all" }
    }
}

/// Renders a comparison as JSON: `juror.compare/1`.
pub fn comparison_json(comparison: &Comparison) -> Vec<u8> {
    // Serializing maps of finite numbers does not fail.
    let mut bytes = serde_json::to_vec_pretty(comparison).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Whether nothing moved that a report would show, and every gate passes.
pub fn is_unchanged(comparison: &Comparison, view: &ComparisonView) -> bool {
    let is_same = |candidate: &CandidateComparison| is_same(candidate, view);
    comparison.verdict == GateVerdict::Pass && comparison.candidates.iter().all(is_same)
}

/// Whether a candidate has the questions, errors, verdicts and scores of the baseline.
fn is_same(candidate: &CandidateComparison, view: &ComparisonView) -> bool {
    let is_equal = |own: &MetricComparison| {
        own.won == 0 && own.lost == 0 && own.coverage[0] == own.coverage[1]
    };
    let has_flipped = |flips: &Flips| !flips.broken.is_empty() || !flips.fixed.is_empty();
    candidate.errors[0] == candidate.errors[1]
        && candidate.only_in_baseline.is_empty()
        && candidate.only_in_candidate.is_empty()
        && candidate.left_out.keys().all(|metric| is_of_judging(metric))
        && !candidate.flips.iter().any(has_flipped)
        && words::shown_metrics(candidate, view.all_metrics).all(|(_, own)| is_equal(own))
}
