//! Turns judged records into something to read, for programs and for people.
//!
//! You will not find scoring, files or async here: records and aggregates go in, bytes come out.

mod agents;
mod aggregates;
mod results;
mod terminal;
mod tsv;
mod yaml;

use juror_score::{Aggregates, MetricInfo, Profile, Record};

pub use agents::{QueryLine, agents_table};
pub use results::{ResultSink, tell_fields, tell_result, text_of_json};
pub use terminal::{CallRow, Highlights, Palette, WorstQuestion, calls_table, summary, visible};

/// How a file of results or aggregates is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON value.
    Json,
    /// One JSON value a line.
    JsonLines,
    /// One YAML document.
    Yaml,
    /// Tab-separated values: one row a question, metrics as columns.
    Tsv,
}

impl Format {
    /// The format a file name's ending stands for.
    pub fn from_name(name: &str) -> Option<Format> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Json),
            "jsonl" | "ndjson" => Some(Format::JsonLines),
            "yaml" | "yml" => Some(Format::Yaml),
            "tsv" => Some(Format::Tsv),
            _ => None,
        }
    }

    /// The endings one may use.
    pub const ENDINGS: &str = ".json, .jsonl, .yaml, .tsv";

    /// What stands before the first result.
    pub fn opening(self, columns: &Columns) -> Vec<u8> {
        match self {
            Format::Json => b"[".to_vec(),
            Format::Tsv => tsv::header(columns),
            Format::JsonLines | Format::Yaml => Vec::new(),
        }
    }

    /// What stands after the last of `n_results`.
    pub fn closing(self, n_results: usize) -> &'static [u8] {
        match self {
            Format::Json => b"]\n",
            Format::Yaml if n_results == 0 => b"[]\n",
            Format::Yaml | Format::JsonLines | Format::Tsv => b"",
        }
    }
}

/// The columns of a table of results besides those that every table has.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The metrics of custom evaluations.
    pub custom: Vec<String>,
    /// The metrics of steps that some question has: one number for all steps of a question.
    pub of_steps: Vec<&'static MetricInfo>,
}

/// Appends one result to `out`; `index` is its position among all results.
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

/// Aggregates as a whole file.
pub fn render_aggregates(aggregates: &Aggregates, format: Format) -> Vec<u8> {
    let shape = aggregates::Shape(aggregates);
    // Maps of texts to finite numbers are always JSON.
    let mut bytes = match format {
        Format::Json => serde_json::to_vec_pretty(&shape).unwrap_or_default(),
        Format::JsonLines => serde_json::to_vec(&shape).unwrap_or_default(),
        Format::Yaml => {
            let json = serde_json::to_string(&shape).unwrap_or_default();
            let mut yaml = Vec::new();
            yaml::write_document(&json, &mut yaml);
            return yaml;
        }
        Format::Tsv => return tsv::render_aggregates(aggregates).into_bytes(),
    };
    bytes.push(b'\n');
    bytes
}
