//! Converts YAML to JSON text, so that all readers deal with one format.
//!
//! Scalars mean what they mean to `PyYAML`'s safe loader, since that is what the files were written
//! for; `docs/differences.md` lists the exceptions.

mod events;
mod keys;
mod locate;
mod merge;
mod number;
mod pieces;
mod role;
mod scalar;
mod spans;
mod write;

pub use events::is_caught;
use events::{ends_line, events};
pub(crate) use locate::{Target, locate};
pub(crate) use spans::spans;
pub use spans::{ValueSpan, ValueStyle};

use libyaml_safer::{Error, ErrorKind, Mark};

use crate::document::line_and_column;
use crate::problem::{Path, Problem};

/// The text is not valid YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct NotYaml {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
}

impl NotYaml {
    fn new(at: Mark, message: impl Into<String>) -> NotYaml {
        let (line, column) = place_of(at);
        NotYaml { message: message.into(), hint: None, line, column }
    }

    fn from_parser(error: &Error, yaml: &str) -> NotYaml {
        if error.kind() == ErrorKind::Reader {
            let at = yaml.char_indices().find(|(_, c)| !is_allowed(*c)).map_or(0, |(at, _)| at);
            let (line, column) = line_and_column(yaml, at);
            let message = "YAML allows no such control character".to_owned();
            let hint = Some("write it as an escape in double quotes, such as \"\\x07\"");
            return NotYaml { message, hint, line, column };
        }
        NotYaml::new(error.problem_mark().unwrap_or_default(), error.problem())
    }

    fn hint(self, hint: &'static str) -> NotYaml {
        NotYaml { hint: Some(hint), ..self }
    }
}

/// Returns a line and a column, both counted from 1.
fn place_of(at: Mark) -> (usize, usize) {
    let from_one = |number: u64| usize::try_from(number).unwrap_or(usize::MAX - 1) + 1;
    (from_one(at.line), from_one(at.column))
}

/// Whether YAML allows a character unescaped.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{85}' | ' '..='~' | '\u{a0}'..)
        && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// A remark about a place in the file.
pub(super) struct Remark {
    at: Mark,
    pub(super) path: Path,
    pub(super) problem: Problem,
}

impl Remark {
    pub(super) fn line_and_column(&self) -> (usize, usize) {
        place_of(self.at)
    }
}

/// A YAML document as JSON, with remarks.
pub(super) struct Converted {
    pub(super) json: String,
    /// Keys used twice in one mapping; the last value counts.
    pub(super) repeated: Vec<Remark>,
    /// Words that other readers read differently.
    pub(super) hints: Vec<Remark>,
    has_anchors: bool,
}

impl Converted {
    /// Whether there is nothing to say about it, and nothing in it that other parts could refer to.
    fn is_plain(&self) -> bool {
        self.repeated.is_empty() && self.hints.is_empty() && !self.has_anchors
    }
}

/// The most tag directives accepted. The parser compares each with all before it, so the time grows
/// with their square.
const MOST_DIRECTIVES: usize = 100;

/// Converts a YAML document.
pub(super) fn convert(yaml: &str) -> Result<Converted, NotYaml> {
    let begins_line = |at: &usize| yaml[..*at].chars().next_back().is_none_or(ends_line);
    let mut directives = memchr::memmem::find_iter(yaml.as_bytes(), b"%TAG").filter(begins_line);
    if let Some(at) = directives.nth(MOST_DIRECTIVES) {
        let (line, column) = line_and_column(yaml, at);
        let message = format!("there are more than {MOST_DIRECTIVES} `%TAG` directives");
        return Err(NotYaml { message, hint: None, line, column });
    }
    pieces::convert_large(yaml).map_or_else(|| convert_whole(yaml), Ok)
}

fn convert_whole(yaml: &str) -> Result<Converted, NotYaml> {
    let mut writer = write::JsonWriter::new(yaml);
    for event in events(yaml) {
        writer.event(event?)?;
    }
    let has_anchors = writer.has_anchors();
    let write::JsonWriter { mut json, repeated, hints, .. } = writer;
    if json.is_empty() {
        json.extend_from_slice(b"null");
    }
    let json = String::from_utf8(json).unwrap_or_default();
    Ok(Converted { json, repeated, hints, has_anchors })
}

/// Converts a YAML document to JSON text.
pub fn yaml_to_json(yaml: &str) -> Result<String, NotYaml> {
    convert(yaml).map(|converted| converted.json)
}

#[cfg(test)]
mod tests;
