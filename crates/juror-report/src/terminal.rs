//! The summary for terminals.

use std::fmt::Write as _;
use std::num::NonZero;

use anstyle::{AnsiColor, Style};
use juror_compare::{Statistics, thousands};
use juror_score::{Aggregates, Miss};

use crate::questions_table::{NAME_WIDTH, questions_table};

/// Whether to use colours. The output makes sense without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// Plain text.
    Plain,
    /// ANSI colours.
    Colour,
}

/// The content of a summary.
#[derive(Debug)]
pub struct Highlights<'a> {
    /// The first line.
    pub title: String,
    /// The aggregates.
    pub aggregates: &'a Aggregates,
    /// The statistics: intervals and coverage.
    pub statistics: &'a Statistics,
    /// The worst questions, worst first.
    pub worst: Vec<WorstQuestion>,
    /// How many other questions have less than the best score.
    pub n_more: usize,
    /// The calls to models, if any.
    pub calls: Vec<CallRow>,
}

/// The calls to models for one purpose.
#[derive(Clone, Debug)]
pub struct CallRow {
    /// The purpose.
    pub purpose: String,
    /// How many were sent, or would be.
    pub sent: u64,
    /// How many replies were known.
    pub known: u64,
    /// How many failed.
    pub failed: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// The cost in US dollars, if prices are known.
    pub usd: Option<f64>,
}

/// A question with a low score, and why.
#[derive(Clone, Debug)]
pub struct WorstQuestion {
    /// Its id.
    pub id: String,
    /// Which of several answers to it this is.
    pub trial: Option<NonZero<u32>>,
    /// The text of the question.
    pub text: String,
    /// Whether it ended in an error.
    pub is_error: bool,
    /// The steps score, if any.
    pub score: Option<f64>,
    /// The answer's f1 and the reason, if it was judged to be incomplete or wrong.
    pub answer: Option<(f64, String)>,
    /// The error, if it ended in one or could not be scored.
    pub error: Option<String>,
    /// The expected steps that were not found.
    pub misses: Vec<Miss>,
}

/// Renders the summary.
pub fn summary(highlights: &Highlights<'_>, palette: Palette) -> String {
    let paint = Paint(palette);
    let mut text = format!("{}\n\n", paint.bold(&highlights.title));
    text.push_str(&questions_table(highlights.aggregates, highlights.statistics, paint));
    if !highlights.worst.is_empty() {
        let _ = write!(text, "\n{}\n", paint.bold("Worst questions"));
        for worst in &highlights.worst {
            text.push_str(&question(worst, paint));
        }
        if highlights.n_more > 0 {
            let _ = writeln!(text, "  … and {} more below the best score", highlights.n_more);
        }
    }
    if !highlights.calls.is_empty() {
        let _ = write!(text, "\n{}", calls_table(&highlights.calls, palette));
    }
    text
}

/// Renders calls to models as a table.
pub fn calls_table(rows: &[CallRow], palette: Palette) -> String {
    let mut cells = vec![
        ["model calls for", "sent", "known", "failed", "tokens in", "tokens out", "USD"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for row in rows {
        let count = |number: u64| thousands(number as f64);
        cells.push(vec![
            row.purpose.clone(),
            count(row.sent),
            count(row.known),
            count(row.failed),
            count(row.input_tokens),
            count(row.output_tokens),
            row.usd.map_or("–".into(), |usd| format!("{usd:.4}")),
        ]);
    }
    layout(&cells, Paint(palette))
}

/// Aligns columns: the first to the left, the others to the right.
pub(crate) fn layout(rows: &[Vec<String>], paint: Paint) -> String {
    let mut text = String::new();
    for (index, (row, line)) in rows.iter().zip(aligned(rows, 1)).enumerate() {
        let total = row.first().is_some_and(|name| name.starts_with("all "));
        let line = if index == 0 {
            paint.dim(&line)
        } else if total {
            paint.bold(&line)
        } else {
            line
        };
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Ends each line.
pub(crate) fn lines(lines: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Puts rows on lines with aligned columns: the first `n_left` to the left, the others to the right.
/// A row of one cell may be wider than its column.
pub(crate) fn aligned(rows: &[Vec<String>], n_left: usize) -> Vec<String> {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let full = rows.iter().filter(|row| row.len() > 1);
        full.filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let (width, gap) = (widths[column], if column == 0 { "" } else { "  " });
            let _ = if column < n_left {
                write!(line, "{gap}{cell:<width$}")
            } else {
                write!(line, "{gap}{cell:>width$}")
            };
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn question(worst: &WorstQuestion, paint: Paint) -> String {
    let lowest = [worst.score, worst.answer.as_ref().map(|(f1, _)| *f1)].into_iter().flatten();
    let score = match (lowest.min_by(f64::total_cmp), &worst.answer) {
        (Some(score), _) if !worst.is_error => format!("{score:.3}"),
        (None, _) if !worst.is_error => "  –  ".into(),
        _ => "error".into(),
    };
    let trial = worst.trial.map(|trial| format!(" (trial {trial})")).unwrap_or_default();
    let mut text = format!(
        "  {}  {}{trial}  {}\n",
        paint.red(&score),
        paint.bold(&shorten(&worst.id, NAME_WIDTH)),
        shorten(&worst.text, 70)
    );
    if let Some((f1, reason)) = &worst.answer {
        let _ = writeln!(text, "         answer f1 {f1:.3}: {}", shorten(reason, 100));
    }
    if let Some(error) = &worst.error {
        let _ = writeln!(text, "         {}", shorten(error, 100));
    }
    for miss in &worst.misses {
        let (name, why) = (visible(&miss.name), visible(&miss.why));
        let _ = writeln!(text, "         {name} (group {}): {why}", miss.group + 1);
    }
    text
}

/// Replaces characters that control a terminal or hide text.
pub fn visible(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Puts a text on one line. One that is too long is cut between words and outside of what backticks
/// quote; a word that is too long itself is cut anywhere.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let flat = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let Some((end, _)) = flat.char_indices().nth(most) else { return flat };
    if let Some(gap) = last_gap(&flat, end) {
        return format!("{} …", &flat[..gap]);
    }
    let kept = &flat[..end];
    let quote = if is_open(kept) { "`" } else { "" };
    format!("{kept}…{quote}")
}

/// Returns where the last word before `end` ends that no backticks quote; `None` if less than half of
/// the text would be left.
fn last_gap(text: &str, end: usize) -> Option<usize> {
    let gaps = text[..end].match_indices(' ').map(|(at, _)| at);
    let gaps = gaps.chain(text[end..].starts_with(' ').then_some(end));
    let gap = gaps.rev().find(|gap| !is_open(&text[..*gap]))?;
    (2 * gap >= end).then_some(gap)
}

/// Whether a backtick is not closed.
fn is_open(text: &str) -> bool {
    text.matches('`').count() % 2 == 1
}

#[derive(Clone, Copy)]
pub(crate) struct Paint(pub(crate) Palette);

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        match self.0 {
            Palette::Plain => text.to_owned(),
            Palette::Colour => format!("{style}{text}{style:#}"),
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default(), text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_on_one_line() {
        assert_eq!(shorten("a\n b  c", 10), "a b c");
        assert_eq!(shorten("abcdef", 3), "abc…");
    }

    #[test]
    fn prose_is_cut_between_words_and_never_inside_of_backticks() {
        for (text, most, cut) in [
            ("one row is missing", 12, "one row is …"),
            ("one row is missing", 10, "one row is …"),
            ("one row is missing", 18, "one row is missing"),
            ("row missing: `cellar spleenwort`, and more", 24, "row missing: …"),
            ("row missing: `fern`, and more", 20, "row missing: `fern`, …"),
            ("x `a_very_long_name_of_a_thing`", 10, "x `a_very_…`"),
            ("– über Öl", 6, "– über …"),
        ] {
            assert_eq!(shorten(text, most), cut);
        }
    }
}
