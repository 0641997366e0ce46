//! A comparison for pull requests.

use juror_compare::{CandidateComparison, Comparison, Flip, Flips, RunFacts};

use super::ComparisonView;
use super::notes::{Notes, Quotes};
use super::rows::{cells, titles};
use super::words::{
    count, day, extent, flips_line, group_noun, groups_of, label, metrics_by_group, noun, relation,
    run_name, short_id, shown_metrics, unfinished,
};
use crate::amount::score;
use crate::gates::{heading, write_gates};
use crate::markdown::{NAME_WIDTH, Page, Titles, code, comment, escaped, html_code, name};

/// How many of the questions that broke are not folded.
const MOST_BROKEN: usize = 5;

/// How many candidates are shown: with more of them, there would be room for none.
const MOST_CANDIDATES: usize = 25;

/// How many characters of a reason are shown.
const WHY_WIDTH: usize = 160;

/// Renders a comparison for a pull request: Markdown of less than 60,000 characters, whose first line
/// is a comment with the name of the comparison. `name` is that of the runs if there is none.
pub fn comparison_markdown(
    comparison: &Comparison,
    view: &ComparisonView,
    name: Option<&str>,
) -> String {
    let own_name = comparison_name(comparison);
    let mut page = Page::new();
    page.push(&format!("{}\n", comment("juror compare", name.unwrap_or(&own_name))));
    let gates = comparison.candidates.iter().flat_map(|candidate| &candidate.gates);
    page.push(&heading("Comparison", gates));
    page.push(&run_line("A", &comparison.baseline, unfinished(&comparison.baseline).into_iter()));
    let n_shown = comparison.candidates.len().min(MOST_CANDIDATES);
    for (at, candidate) in comparison.candidates[..n_shown].iter().enumerate() {
        page.begin_part(n_shown - at);
        Part { comparison, candidate, label: label(at + 1), view }.write(&mut page);
    }
    page.say_left_out(comparison.candidates.len() - n_shown, "candidates");
    page.finish()
}

/// The names of the compared runs, for a comparison that has no name of its own.
pub fn comparison_name(comparison: &Comparison) -> String {
    let candidates = comparison.candidates.iter().map(|candidate| &candidate.run);
    let runs = std::iter::once(&comparison.baseline).chain(candidates);
    runs.map(run_name).collect::<Vec<_>>().join(" and ")
}

/// A list item with the letter of a run, its name, id and day, and what else is known.
fn run_line<'w>(label: &str, run: &RunFacts, words: impl Iterator<Item = &'w str>) -> String {
    let (id, day) = (short_id(run), day(run));
    let known = [id.as_str(), day].into_iter().filter(|text| !text.is_empty());
    let parts = std::iter::once(name(run_name(run))).chain(known.map(name));
    let parts: Vec<String> = parts.chain(words.map(escaped)).collect();
    format!("- **{label}** {}\n", parts.join(" · "))
}

/// One candidate against the baseline.
struct Part<'c> {
    comparison: &'c Comparison,
    candidate: &'c CandidateComparison,
    label: String,
    view: &'c ComparisonView,
}

impl Part<'_> {
    fn write(&self, page: &mut Page) {
        let relation = relation(&self.comparison.baseline, self.candidate);
        if self.has_several() {
            page.push(&format!("\n#### {} compared with A\n\n", self.label));
        }
        page.push(&run_line(&self.label, &self.candidate.run, relation.into_iter()));
        page.push(&format!("\n{}\n", escaped(&extent(self.comparison, self.candidate))));
        write_gates(&self.candidate.gates, page);
        self.write_metrics(page);
        for flips in &self.candidate.flips {
            self.write_flips(flips, page);
        }
        if self.view.by_group {
            self.write_groups(page);
        }
        page.push("\n");
    }

    fn has_several(&self) -> bool {
        self.comparison.candidates.len() > 1
    }

    fn titles(&self, first: &str, is_adjusted: bool) -> Titles {
        let titles = titles(&self.label, is_adjusted);
        let titles: Vec<&str> =
            std::iter::once(first).chain(titles.iter().map(String::as_str)).collect();
        Titles::new(&titles, 1)
    }

    fn write_metrics(&self, page: &mut Page) {
        let shown: Vec<_> = shown_metrics(self.candidate, self.view.all_metrics).collect();
        let is_adjusted = self.has_several();
        let rows = shown.iter().map(|(metric, own)| row(metric, &cells(metric, own, is_adjusted)));
        page.table(&self.titles("metric", is_adjusted), rows, "metrics");
        let notes = Notes {
            comparison: self.comparison,
            candidate: self.candidate,
            label: &self.label,
            shown,
            quotes: Quotes { name, sentence: escaped },
        };
        page.push("\n");
        for note in notes.all() {
            page.push(&format!("- {note}\n"));
        }
    }

    fn write_flips(&self, flips: &Flips, page: &mut Page) {
        let kind = self.candidate.run.kind;
        let [counted, by] = flips_line(self.candidate, flips, name);
        page.push(&format!("\n**{counted}** {by}\n"));
        let titles = Titles::new(&["score", noun(kind, 1), group_noun(kind), "why"], 4);
        let row = |flip: &Flip| flip_row(flip, &flips.metric);
        let (first, rest) = flips.broken.split_at(flips.broken.len().min(MOST_BROKEN));
        page.table(&titles, first.iter().map(row), "broken");
        for (list, what) in [(rest, "more broken"), (&flips.fixed[..], "fixed")] {
            let what = format!("{what} {}", noun(kind, list.len()));
            page.fold(
                &format!("{} {what}", count(list.len())),
                &titles,
                list.iter().map(row),
                &what,
            );
        }
    }

    fn write_groups(&self, page: &mut Page) {
        let noun = group_noun(self.candidate.run.kind);
        for metric in metrics_by_group(self.candidate, self.view.all_metrics) {
            let groups = groups_of(&self.candidate.by_group, metric);
            let rows =
                groups.into_iter().map(|(group, own)| row(group, &cells(metric, own, false)));
            let summary = format!("{} by {noun}", html_code(metric, NAME_WIDTH));
            page.fold(&summary, &self.titles(noun, false), rows, &format!("{noun}s"));
        }
    }
}

/// A row of numbers below a name.
fn row(first: &str, cells: &[String]) -> Vec<String> {
    std::iter::once(name(first)).chain(cells.iter().map(|cell| escaped(cell))).collect()
}

fn flip_row(flip: &Flip, metric: &str) -> Vec<String> {
    let [a, b] = [flip.a, flip.b].map(|own| score(metric, own));
    let why = flip.why.as_deref().map_or(String::new(), |why| code(why, WHY_WIDTH));
    vec![escaped(&format!("{a} → {b}")), name(&flip.id), name(&flip.group), why]
}
