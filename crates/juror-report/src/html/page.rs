//! A report as one HTML file.

use askama::Template;
use juror_compare::{Comparison, GateOutcome, Gates, Kind, RunFacts, Statistics, headline};
use juror_score::{Aspect, Profile, ScoreTable};

use super::chunks::{CHUNK, Chunks, chunks, encode};
use super::index::{IndexParts, scores_by_item};
use super::judge_calls::JudgeCalls;
use super::policy::policy_hash;
use super::rows::{QuestionRow, question_rows};
use super::sections::Sections;
use crate::comparison::label;
use crate::terminal::visible;

/// The interface, built from `web/`.
pub(super) const SCRIPT: &str = include_str!("../../assets/report.js");
pub(super) const STYLE: &str = include_str!("../../assets/report.css");

/// What a page is made from.
pub struct PageSource<'r> {
    /// The title.
    pub title: String,
    /// When the page was made.
    pub made: String,
    /// One run, or a baseline and its candidates.
    pub runs: Vec<PageRun<'r>>,
    /// How the candidates compare with the baseline, if there are several runs.
    pub comparison: Option<&'r Comparison>,
    /// The gates that were checked, whose margins are drawn.
    pub gates: &'r Gates,
    /// How the gates of a single run came out.
    pub outcomes: &'r [GateOutcome],
    /// Where the page leads, above everything else; empty for a file that stands alone.
    pub links: &'r [PageLink],
    /// What to keep in mind about the data, in sentences.
    pub notes: &'r [String],
    /// What to keep.
    pub options: PageOptions,
}

/// A link to another page of the same server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLink {
    /// The address.
    pub href: String,
    /// The words.
    pub text: String,
}

/// A run of a page.
pub struct PageRun<'r> {
    /// What identifies it.
    pub facts: &'r RunFacts,
    /// Its numbers.
    pub scores: &'r ScoreTable,
    /// What follows from them.
    pub statistics: &'r Statistics,
    /// The rules by which it was scored.
    pub profile: &'r Profile,
    /// The aspects that judges looked at.
    pub aspects: Vec<Aspect>,
    /// What is known about it, in words: what was judged, by whom, when.
    pub about: Vec<(String, String)>,
    /// What there is to show of each row of the numbers.
    pub answers: Vec<AnswerText<'r>>,
    /// Finds the calls that led to verdicts.
    pub calls: &'r dyn JudgeCalls,
}

/// The texts that an answer's details are made from.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerText<'r> {
    /// Its result, as JSON.
    pub result: Option<&'r str>,
    /// The line of the journal with the calls of an agent.
    pub attempt: Option<&'r str>,
}

/// What a page keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// How many bytes the details of all questions may take.
    pub max_size: usize,
    /// Leave out answers, outputs, prompts and reasons.
    pub redact: bool,
}

impl PageOptions {
    /// 25 MB: a file that browsers open at once, and that can still be mailed.
    pub const MAX_SIZE: usize = 25_000_000;
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions { max_size: PageOptions::MAX_SIZE, redact: false }
    }
}

impl PageSource<'_> {
    pub(crate) fn kind(&self) -> Kind {
        self.runs.first().map_or(Kind::Eval, |run| run.facts.kind)
    }

    /// Whether some run has metrics that models judged.
    pub(crate) fn has_judges(&self) -> bool {
        let columns = self.runs.iter().flat_map(|run| run.scores.columns());
        let is_judged = |info: &juror_score::MetricInfo| info.is_judged;
        columns
            .filter(|column| !column.values().is_empty())
            .any(|column| column.info.is_none_or(is_judged))
    }

    /// The metric that tells best whether answers are right: that of the flips in comparisons.
    pub(crate) fn headline(&self) -> Option<&str> {
        let of_flips = || {
            let candidates = self.comparison?.candidates.iter();
            candidates.filter_map(|own| own.flips.first()).map(|flips| &*flips.metric).next()
        };
        of_flips().or_else(|| self.runs.iter().find_map(|run| headline(run.statistics)))
    }

    /// The name of a run, with its letter if there are several.
    pub(crate) fn run_name(&self, at: usize) -> String {
        let facts = self.runs[at].facts;
        let name = if facts.name.trim().is_empty() { &facts.source } else { &facts.name };
        let name = visible(name);
        if self.runs.len() > 1 { format!("{} {name}", label(at)) } else { name }
    }
}

impl PageRun<'_> {
    /// The numbers of a row, by metric.
    pub(crate) fn numbers_of(&self, item: usize) -> serde_json::Map<String, serde_json::Value> {
        let mut numbers = serde_json::Map::new();
        for column in self.scores.columns() {
            let start = column.values().partition_point(|value| (value.item as usize) < item);
            let own =
                column.values()[start..].iter().take_while(|value| value.item as usize == item);
            let own: Vec<f64> = own.map(|value| value.value).collect();
            if !own.is_empty() {
                let mean = own.iter().sum::<f64>() / own.len() as f64;
                numbers.insert(column.name.to_string(), mean.into());
            }
        }
        numbers
    }
}

/// A page that was made.
#[derive(Clone, Debug)]
pub struct Page {
    /// The file.
    pub html: String,
    /// What was shortened or left out, if anything.
    pub note: Option<String>,
}

/// Renders a page.
pub fn render_page(source: &PageSource<'_>) -> Page {
    let tables: Vec<&ScoreTable> = source.runs.iter().map(|run| run.scores).collect();
    let rows = question_rows(&tables);
    let Chunks { encoded, facts, note } = chunks(source, &rows, &right_questions(source, &rows));
    let words = source.notes.iter().map(|note| visible(note));
    let notes: Vec<String> = note.iter().cloned().chain(redacted(source)).chain(words).collect();
    let headline = source.headline();
    let parts =
        IndexParts { source, headline, rows: &rows, facts: &facts, chunk: CHUNK, notes: &notes };
    let index = parts.index();
    let file = File {
        title: visible(&source.title),
        made: &source.made,
        version: env!("CARGO_PKG_VERSION"),
        script: SCRIPT,
        style: STYLE,
        script_hash: policy_hash(SCRIPT),
        style_hash: policy_hash(STYLE),
        links: source.links,
        sections: Sections::of(source, &index),
        notes: &notes,
        index: encode(&index),
        chunks: &encoded,
    };
    // The template only writes to memory.
    let html = file.render().unwrap_or_default();
    Page { html, note }
}

fn redacted(source: &PageSource<'_>) -> Option<String> {
    let words = "Answers, outputs, arguments, reasons and prompts are left out (--redact).";
    source.options.redact.then(|| words.to_owned())
}

/// Whether each question has its full score in every run.
fn right_questions(source: &PageSource<'_>, rows: &[QuestionRow<'_>]) -> Vec<bool> {
    let Some(name) = source.headline() else { return vec![false; rows.len()] };
    let scores: Vec<Vec<Option<f64>>> =
        source.runs.iter().map(|run| scores_by_item(run.scores, name)).collect();
    let is_right = |row: &QuestionRow<'_>| {
        let mut own = row
            .answers
            .iter()
            .zip(&scores)
            .flat_map(|(answers, scores)| answers.iter().map(|at| scores[*at]));
        own.all(|score| score.is_some_and(|score| score >= 1.0))
    };
    rows.iter().map(is_right).collect()
}

#[derive(Template)]
#[template(path = "report.html")]
struct File<'p> {
    title: String,
    made: &'p str,
    version: &'static str,
    script: &'static str,
    style: &'static str,
    script_hash: String,
    style_hash: String,
    links: &'p [PageLink],
    sections: Sections,
    notes: &'p [String],
    index: String,
    chunks: &'p [String],
}
