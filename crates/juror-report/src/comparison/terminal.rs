//! A comparison for terminals.

use std::fmt::Write as _;

use juror_compare::{CandidateComparison, Comparison, Flip, Flips, GateVerdict, Kind};

use super::ComparisonView;
use super::notes::{Notes, Quotes};
use super::rows::{cells, titles};
use super::words::{
    count, day, extent, group_noun, groups_of, label, metrics_by_group, relation, run_name,
    short_id, shown_metrics, unfinished,
};
use crate::amount::score;
use crate::questions_table::NAME_WIDTH;
use crate::terminal::{Paint, Palette, aligned, layout, lines, shorten, visible};

/// How many characters of a reason are shown.
const WHY_WIDTH: usize = 160;

/// Renders a comparison: its runs, and how each candidate compares with the baseline.
pub fn comparison_text(comparison: &Comparison, view: &ComparisonView, palette: Palette) -> String {
    let paint = Paint(palette);
    let mut text = runs(comparison);
    for (at, candidate) in comparison.candidates.iter().enumerate() {
        let label = label(at + 1);
        if comparison.candidates.len() > 1 {
            let title = format!("{label} compared with A");
            let _ = write!(text, "\n{}\n", paint.bold(&title));
        }
        text.push_str(&Block { comparison, candidate, label, view, paint }.text());
    }
    text
}

/// A line for each run: letter, name, id, day, and what it has in common with the baseline.
fn runs(comparison: &Comparison) -> String {
    let row = |at: usize, run, relation: Vec<&str>| {
        let name = format!("{} {}", label(at), shorten(run_name(run), NAME_WIDTH));
        vec![name, visible(&short_id(run)), shorten(day(run), 10), relation.join(" · ")]
    };
    let baseline = &comparison.baseline;
    let mut rows = vec![row(0, baseline, unfinished(baseline).into_iter().collect())];
    rows.extend(
        comparison
            .candidates
            .iter()
            .enumerate()
            .map(|(at, candidate)| row(at + 1, &candidate.run, relation(baseline, candidate))),
    );
    // Files of results have no ids and days: their columns would be gaps.
    for column in (1..rows[0].len()).rev() {
        if rows.iter().all(|row| row[column].is_empty()) {
            for row in &mut rows {
                row.remove(column);
            }
        }
    }
    lines(aligned(&rows, usize::MAX))
}

/// One candidate against the baseline.
struct Block<'c> {
    comparison: &'c Comparison,
    candidate: &'c CandidateComparison,
    label: String,
    view: &'c ComparisonView,
    paint: Paint,
}

impl Block<'_> {
    fn text(&self) -> String {
        let mut text = format!("{}\n", extent(self.comparison, self.candidate));
        for part in [self.metrics(), self.gates(), self.groups(), self.flips()] {
            if !part.is_empty() {
                let _ = write!(text, "\n{part}");
            }
        }
        text
    }

    fn has_several(&self) -> bool {
        self.comparison.candidates.len() > 1
    }

    fn titled(&self, first: &str, is_adjusted: bool) -> Vec<String> {
        let titles = titles(&self.label, is_adjusted);
        std::iter::once(first.to_owned()).chain(titles).collect()
    }

    fn metrics(&self) -> String {
        let shown: Vec<_> = shown_metrics(self.candidate, self.view.all_metrics).collect();
        let mut rows = vec![self.titled("metric", self.has_several())];
        for (name, own) in &shown {
            let own = cells(name, own, self.has_several());
            rows.push([vec![shorten(name, NAME_WIDTH)], own].concat());
        }
        let notes = Notes {
            comparison: self.comparison,
            candidate: self.candidate,
            label: &self.label,
            shown,
            quotes: Quotes { name: |name| shorten(name, NAME_WIDTH), sentence: visible },
        };
        let notes = notes.all().into_iter().map(|note| self.paint.dim(&note));
        format!("{}{}", layout(&rows, self.paint), lines(notes))
    }

    fn gates(&self) -> String {
        if self.candidate.gates.is_empty() {
            return String::new();
        }
        let mut rows = vec![["gate", "verdict", "why"].map(str::to_owned).to_vec()];
        rows.extend(self.candidate.gates.iter().map(|outcome| {
            let gate = shorten(&outcome.gate, NAME_WIDTH);
            vec![gate, outcome.verdict.word().to_owned(), shorten(&outcome.why, WHY_WIDTH)]
        }));
        let mut rows = aligned(&rows, usize::MAX).into_iter();
        let title = rows.next().map(|line| self.paint.dim(&line));
        let verdicts = self.candidate.gates.iter().map(|outcome| outcome.verdict);
        let rows = rows.zip(verdicts).map(|(line, verdict)| match verdict {
            GateVerdict::Pass => line,
            GateVerdict::Warn | GateVerdict::Inconclusive => self.paint.yellow(&line),
            GateVerdict::Block => self.paint.red(&line),
        });
        lines(title.into_iter().chain(rows))
    }

    /// A table of templates or sets for each metric that matters.
    fn groups(&self) -> String {
        if !self.view.by_group {
            return String::new();
        }
        let by_group = &self.candidate.by_group;
        let noun = group_noun(self.candidate.run.kind);
        let mut tables = Vec::new();
        for metric in metrics_by_group(self.candidate, self.view.all_metrics) {
            // Groups are not adjusted for the number of candidates: they are to be looked at.
            let title = format!("{} by {noun}", shorten(metric, NAME_WIDTH));
            let mut rows = vec![self.titled(&title, false)];
            for (group, own) in groups_of(by_group, metric) {
                rows.push([vec![shorten(group, NAME_WIDTH)], cells(metric, own, false)].concat());
            }
            tables.extend((rows.len() > 1).then(|| layout(&rows, self.paint)));
        }
        tables.join("\n")
    }

    fn flips(&self) -> String {
        let flips = self.candidate.flips.iter();
        flips.map(|flips| self.flips_by_metric(flips)).collect::<Vec<_>>().join("\n")
    }

    fn flips_by_metric(&self, flips: &Flips) -> String {
        let mut text = format!("{}\n", self.flips_line(flips));
        for (list, what, painted) in [
            (&flips.broken, "broken", Paint::red as fn(Paint, &str) -> String),
            (&flips.fixed, "fixed", Paint::green),
        ] {
            let listed = &list[..list.len().min(self.view.flips)];
            if listed.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{}", self.paint.dim(what));
            for flip in listed {
                text.push_str(&self.flip(flip, &flips.metric, painted));
            }
            if list.len() > listed.len() {
                let more = count(list.len() - listed.len());
                let _ = writeln!(text, "  … {more} more: --flips all");
            }
        }
        text
    }

    fn flips_line(&self, flips: &Flips) -> String {
        let (broken, fixed) = (count(flips.broken.len()), count(flips.fixed.len()));
        let most = flips.broken_groups().into_iter().next().map_or(String::new(), |most| {
            let n_all = self.candidate.groups.get(&most.group).copied().unwrap_or(most.n_broken);
            let group = shorten(&most.group, NAME_WIDTH);
            format!("; most broken in {group} ({} of {})", count(most.n_broken), count(n_all))
        });
        let metric = shorten(&flips.metric, NAME_WIDTH);
        format!("{broken} broken, {fixed} fixed by {metric}{most}")
    }

    fn flip(&self, flip: &Flip, metric: &str, painted: fn(Paint, &str) -> String) -> String {
        let [a, b] = [flip.a, flip.b].map(|own| score(metric, own));
        let id = self.question(flip);
        let why = flip.why.as_deref().map(|why| format!("  {}", shorten(why, WHY_WIDTH)));
        let scores = painted(self.paint, &format!("{a} → {b}"));
        format!("  {scores}  {id}{}\n", why.unwrap_or_default())
    }

    /// The id of a question; a query's with its set, since ids of sets may be equal.
    fn question(&self, flip: &Flip) -> String {
        let id = shorten(&flip.id, NAME_WIDTH);
        let has_sets = self.candidate.run.kind == Kind::Bench && self.candidate.groups.len() > 1;
        if has_sets { format!("{} {id}", shorten(&flip.group, NAME_WIDTH)) } else { id }
    }
}
