//! Turns records and aggregates into files and terminal output.
//!
//! [`write_result`] appends the result of one question in a [`Format`]: JSON, JSON Lines, YAML or TSV.
//! It works on one record at a time, so that threads can format results while others are still being
//! scored; [`Format::opening`] and [`Format::closing`] complete the file. [`render_aggregates`] renders
//! the statistics as a whole file.
//!
//! What a result consists of is written once, in [`emit_result`], which feeds a [`ResultSink`] piece
//! by piece. One sink writes JSON; the Python module has another that builds Python objects.
//!
//! For people, [`summary`] renders a terminal summary from [`Highlights`], and [`agents_table`] and
//! [`QueryLine`] show benchmark runs.
//!
//! Comparisons of runs are rendered for terminals ([`comparison_text`]), notebooks
//! ([`comparison_html`]), pull requests ([`comparison_markdown`]), pipelines ([`comparison_junit`]),
//! spreadsheets ([`comparison_tsv`]) and programs ([`comparison_json`]). [`render_run`] renders a single
//! run for pull requests and pipelines, [`statistics_text`] and [`statistics_html`] its statistics.
//! [`export`] renders scores for other systems, such as those that store traces.
//!
//! ```
//! use juror_document::{self as document, Document};
//! use juror_read::{read_reference, read_responses};
//! use juror_report::{Columns, Format, render_aggregates, write_result};
//! use juror_score::{Aggregator, Case, Profile, score};
//!
//! let document = |name: &str, text: &str| {
//!     Document::new(name, text.to_owned().into(), document::Format::Json).unwrap()
//! };
//! let reference = document(
//!     "reference.json",
//!     r#"[{"template_id": "capitals", "questions": [
//!         {"id": "q1", "question_text": "Capital of Norway?",
//!          "reference_steps": [[{"name": "lookup", "args": {}, "output": "Oslo"}]]}]}]"#,
//! );
//! let responses = document(
//!     "responses.json",
//!     r#"{"question_id": "q1", "actual_steps": [
//!         {"name": "lookup", "id": "call_1", "status": "success", "output": "Oslo"}]}"#,
//! );
//! let dataset = read_reference(&reference).unwrap();
//! let responses = read_responses(&responses).unwrap();
//! let question = &dataset.questions[0];
//!
//! let profile = Profile::V5;
//! let case = Case { question, trajectory: responses.of(question) };
//! let record = score(&case, &profile);
//! let mut line = Vec::new();
//! write_result(&record, &profile, &Columns::default(), Format::JsonLines, 0, &mut line);
//! let line = String::from_utf8(line).unwrap();
//! assert!(line.starts_with(r#"{"template_id": "capitals","question_id": "q1","#));
//! assert!(line.contains(r#""matches": "call_1""#));
//!
//! let mut aggregator = Aggregator::new(&profile, &[]);
//! aggregator.add(&record);
//! let table = render_aggregates(&aggregator.finish(), Format::Tsv);
//! assert!(table.starts_with(b"scope\ttemplate_id\tmetric\t"));
//! ```
//!
//! You will not find scoring, files or async here: records and aggregates go in, bytes come out.

mod agents;
mod aggregates;
mod amount;
mod calibration;
mod comparison;
mod export;
mod gates;
mod html;
mod junit;
mod markdown;
mod planning;
mod questions_table;
mod results;
mod run_report;
mod runs;
mod shown_mean;
mod statistics;
mod terminal;
mod trials;
mod tsv;
mod yaml;

use juror_compare::Statistics;
use juror_score::{Aggregates, MetricInfo, Profile, Record};
use serde::Serialize;

pub use agents::{QueryLine, SetRow, agents_table};
pub use amount::{metric_range, metric_value};
pub use calibration::calibration_table;
pub use comparison::{
    ComparisonFormat, ComparisonView, comparison_html, comparison_json, comparison_junit,
    comparison_markdown, comparison_name, comparison_text, comparison_tsv, is_unchanged,
};
pub use export::{Evaluated, Evaluation, ExportFormat, ExportedRun, export};
pub use html::{
    AnswerText, HistoryPoint, JudgeCall, JudgeCalls, Page, PageLink, PageOptions, PageRun,
    PageSource, StripCell, VIEW_SCRIPT, VIEW_STYLE, VerdictCalls, history_chart, page_policy,
    question_strip, render_page, view_policy,
};
pub use junit::Threshold;
pub use planning::{PlanRow, PlanSources, plan_rows, plan_table};
pub use questions_table::calibrated_lines;
pub use results::{ResultSink, emit_fields, emit_result, text_of_json};
pub use run_report::{ReportFormat, RunReport, render_run, run_junit, run_markdown};
pub use runs::{RunMean, RunRow, about_run_means, runs_table};
pub use statistics::{statistics_html, statistics_text};
pub use terminal::{CallRow, Highlights, Palette, WorstQuestion, calls_table, summary, visible};
pub use yaml::yaml_of_json;

/// The format of a file of results or aggregates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON value.
    Json,
    /// A JSON value per line.
    JsonLines,
    /// A YAML document.
    Yaml,
    /// Tab-separated values: a row per question, with metrics as columns.
    Tsv,
}

impl Format {
    /// Returns the format for a file name's extension.
    pub fn from_name(name: &str) -> Option<Format> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Json),
            "jsonl" | "ndjson" => Some(Format::JsonLines),
            "yaml" | "yml" => Some(Format::Yaml),
            "tsv" => Some(Format::Tsv),
            _ => None,
        }
    }

    /// The supported extensions, for messages.
    pub const ENDINGS: &str = ".json, .jsonl, .yaml, .tsv";

    /// What precedes the first result.
    pub fn opening(self, columns: &Columns) -> Vec<u8> {
        match self {
            Format::Json => b"[".to_vec(),
            Format::Tsv => tsv::header(columns),
            Format::JsonLines | Format::Yaml => Vec::new(),
        }
    }

    /// What follows the last result.
    pub fn closing(self, n_results: usize) -> &'static [u8] {
        match self {
            Format::Json => b"]\n",
            Format::Yaml if n_results == 0 => b"[]\n",
            Format::Yaml | Format::JsonLines | Format::Tsv => b"",
        }
    }
}

/// The optional columns of a table of results.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Whether questions have several answers, which are told apart by their trials.
    pub has_trials: bool,
    /// Whether there are metrics that are computed only if settings ask for them.
    pub has_optional: bool,
    /// The custom metrics.
    pub custom: Vec<String>,
    /// The metrics of steps that some question has, summed up over its steps.
    pub of_steps: Vec<&'static MetricInfo>,
}

/// Appends a result to `out`. `index` is its position among all results.
pub fn write_result(
    record: &Record<'_>,
    profile: &Profile,
    columns: &Columns,
    format: Format,
    index: usize,
    out: &mut Vec<u8>,
) {
    match format {
        Format::Json => {
            out.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
            results::write_json(record, profile, out);
        }
        Format::JsonLines => {
            results::write_json(record, profile, out);
            out.push(b'\n');
        }
        Format::Yaml => {
            let mut json = Vec::new();
            results::write_json(record, profile, &mut json);
            yaml::write_item(&String::from_utf8_lossy(&json), out);
        }
        Format::Tsv => tsv::write_row(record, profile, columns, out),
    }
}

/// Renders aggregates as a file.
pub fn render_aggregates(aggregates: &Aggregates, format: Format) -> Vec<u8> {
    render(&aggregates::AggregatesShape(aggregates), format, || tsv::render_aggregates(aggregates))
}

/// Renders statistics as a file.
pub fn render_statistics(statistics: &Statistics, format: Format) -> Vec<u8> {
    render(statistics, format, || tsv::render_statistics(statistics))
}

/// Renders a whole document. `tsv` renders it as a table.
fn render(shape: &impl Serialize, format: Format, tsv: impl FnOnce() -> String) -> Vec<u8> {
    // Serializing maps of finite numbers does not fail.
    let mut bytes = match format {
        Format::Json => serde_json::to_vec_pretty(shape).unwrap_or_default(),
        Format::JsonLines => serde_json::to_vec(shape).unwrap_or_default(),
        Format::Yaml => {
            let json = serde_json::to_string(shape).unwrap_or_default();
            let mut yaml = Vec::new();
            yaml::write_document(&json, &mut yaml);
            return yaml;
        }
        Format::Tsv => return tsv().into_bytes(),
    };
    bytes.push(b'\n');
    bytes
}
