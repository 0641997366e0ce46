//! A file in memory: its text, its format, and positions in it.

use std::sync::OnceLock;

use juror_json::{self as json, Object};
use serde::Deserialize;

use crate::found_problems::FoundProblems;
use crate::not_numbers::Quoted;
use crate::problem::{DatasetError, Path, Place, Problem, Problems};
use crate::yaml::{self, NotYaml, Target, ValueSpan};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON value.
    Json,
    /// One JSON value per line.
    JsonLines,
    /// One YAML document.
    Yaml,
}

impl Format {
    /// Returns the format for a file name's extension, ignoring extensions of compression.
    pub fn from_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        match name.rsplit_once('.')?.1 {
            "json" => Some(Format::Json),
            "jsonl" | "ndjson" => Some(Format::JsonLines),
            "yaml" | "yml" => Some(Format::Yaml),
            _ => None,
        }
    }

    /// Guesses the format from the text: lines if there are several and the first is an object.
    pub fn from_look(bytes: &[u8]) -> Format {
        let mut lines =
            bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let is_object = |line: &[u8]| serde_json::from_slice::<Object>(line).is_ok();
        match bytes.trim_ascii_start().first() {
            Some(b'{') if lines.next().is_some_and(is_object) && lines.next().is_some() => {
                Format::JsonLines
            }
            Some(b'{' | b'[') => Format::Json,
            _ => Format::Yaml,
        }
    }
}

/// The hint for a file that is not valid YAML and was read as YAML only by its look.
const READ_AS_YAML: &str = "text that does not look like JSON is read as YAML; name the file .json or .jsonl to have it read as JSON";

/// The text of a document: a string, or memory of another kind such as a mapped file.
pub type DocumentText = Box<dyn AsRef<str> + Send + Sync>;

/// A file in memory. Everything read from it borrows from it.
pub struct Document {
    name: String,
    text: DocumentText,
    /// A YAML document converted to JSON, which is what readers read.
    json: Option<String>,
    format: Format,
    /// Lines that are not UTF-8; they are empty in `text`.
    bad_lines: Vec<DatasetError>,
    /// Keys used twice in one mapping of a YAML document.
    repeated_keys: Vec<DatasetError>,
    /// Words of a YAML document that other readers would read differently.
    hints: Vec<DatasetError>,
    /// The text with `NaN` and infinities in quotes, or `None` if it has none. Computed only when
    /// the text cannot be read as it is.
    quoted: OnceLock<Option<Quoted>>,
}

impl Document {
    /// Creates a document from a file's bytes. Fails if they are not UTF-8, or not valid YAML in
    /// that format. In a file of lines, a line that is not UTF-8 is dropped and kept as a problem.
    pub fn new(name: &str, bytes: Vec<u8>, format: Format) -> Result<Document, Problems> {
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => rest.to_vec(),
            None => bytes,
        };
        let mut document = Document::empty(name, format);
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if format == Format::JsonLines => {
                document.without_bad_lines(error.as_bytes())
            }
            Err(error) => {
                let (valid, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
                return Err(document.bad_text(bytes, valid).into());
            }
        };
        document.with_text(Box::new(text))
    }

    /// Creates a document from a file's text. Fails if the format is YAML and the text is not.
    pub fn from_text(name: &str, text: DocumentText, format: Format) -> Result<Document, Problems> {
        Document::empty(name, format).with_text(text)
    }

    fn empty(name: &str, format: Format) -> Document {
        Document {
            name: name.to_owned(),
            text: Box::new(String::new()),
            json: None,
            format,
            bad_lines: Vec::new(),
            repeated_keys: Vec::new(),
            hints: Vec::new(),
            quoted: OnceLock::new(),
        }
    }

    fn with_text(self, text: DocumentText) -> Result<Document, Problems> {
        let mut document = Document { text, ..self };
        if document.format == Format::Yaml {
            let converted = yaml::convert(document.text()).map_err(|error| {
                let NotYaml { message, hint, line, column } = error;
                let is_named = Format::from_name(&document.name).is_some();
                let hint = hint.or((!is_named).then_some(READ_AS_YAML));
                document.error(line, column, Path::default(), Problem::BadYaml { message, hint })
            })?;
            document.repeated_keys = document.placed(converted.repeated);
            document.hints = document.placed(converted.hints);
            document.json = Some(converted.json);
        }
        Ok(document)
    }

    fn placed(&self, remarks: Vec<yaml::Remark>) -> Vec<DatasetError> {
        let placed = |remark: yaml::Remark| {
            let (line, column) = remark.line_and_column();
            self.error(line, column, remark.path, remark.problem)
        };
        remarks.into_iter().map(placed).collect()
    }

    /// Keys of a YAML document that are used twice in one mapping.
    pub fn repeated_keys(&self) -> &[DatasetError] {
        &self.repeated_keys
    }

    /// Words met so far that other readers would read differently, such as `yes` and `NaN`.
    pub fn hints(&self) -> impl Iterator<Item = DatasetError> {
        let not_number = self.quoted.get().and_then(Option::as_ref).map(|quoted| {
            let (line, column) = self.line_and_column(quoted.first_start());
            self.error(line, column, Path::default(), Problem::NumberAsText(quoted.first))
        });
        self.hints.iter().cloned().chain(not_number)
    }

    /// The text as JSON, with `NaN` and infinities as strings if reading needed that.
    pub fn json_as_read(&self) -> &str {
        let quoted = self.quoted.get().and_then(Option::as_ref);
        quoted.map_or(self.json(), |quoted| &quoted.text)
    }

    /// Returns a value that could not be read with its `NaN` and infinities as strings, or `None`
    /// if it contains none.
    pub fn with_quotes(&self, value: &str) -> Option<&str> {
        if self.json.is_some() {
            return None;
        }
        // A value from outside the JSON text is from the quoted text already.
        let start = start_in(self.json(), value)?;
        let quoted = self.quoted.get_or_init(|| Quoted::of(self.json(), self.is_lines()));
        quoted.as_ref()?.part(start, start + value.len())
    }

    /// Reads a value, with `NaN` and infinities as strings if necessary. An error comes with the
    /// text that it refers to.
    pub fn parse<'a, T: Deserialize<'a>>(
        &'a self,
        value: &'a str,
    ) -> Result<T, (&'a str, serde_json::Error)> {
        json::from_str(value).or_else(|error| match self.with_quotes(value) {
            Some(value) => json::from_str(value).map_err(|error| (value, error)),
            None => Err((value, error)),
        })
    }

    /// The file, as the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The text as JSON: one value, or one value per line.
    pub fn json(&self) -> &str {
        self.json.as_deref().unwrap_or(self.text())
    }

    /// The text as it was written, without a byte order mark.
    pub fn text(&self) -> &str {
        (*self.text).as_ref()
    }

    /// Lines that are not UTF-8.
    pub fn bad_lines(&self) -> &[DatasetError] {
        &self.bad_lines
    }

    /// The values of the file: one, or one per line that is not blank.
    pub fn values(&self) -> Vec<&str> {
        if self.format == Format::JsonLines { self.lines().collect() } else { vec![self.json()] }
    }

    /// The lines that are not blank.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        lines_of(self.json())
    }

    /// Whether the file has one value per line.
    pub fn is_lines(&self) -> bool {
        self.format == Format::JsonLines
    }

    /// Converts an error of `serde_json`, of syntax or of type, in one of the file's values.
    pub fn complaint(&self, value: &str, error: &serde_json::Error) -> UnplacedProblem {
        complaint(value, error, self)
    }

    /// Like [`complaint`](Self::complaint), with line and column: an error that ends reading.
    pub fn syntax_error(&self, value: &str, error: &serde_json::Error) -> Problems {
        self.locate(self.complaint(value, error).into())
    }

    /// Finds lines and columns. Takes all problems at once, since finding positions in YAML means
    /// parsing the whole text again.
    pub fn locate(&self, found: FoundProblems) -> Problems {
        let FoundProblems { kept: found, more } = found;
        let mut problems = Problems::default();
        let kept = found.len().min(Problems::MOST);
        let places = match self.json {
            None => lines_and_columns(self.json(), found[..kept].iter().map(|at| at.offset)),
            Some(_) => yaml::locate(
                self.text(),
                found[..kept].iter().map(|at| Target::of(&at.path, &at.problem)),
            ),
        };
        for (index, UnplacedProblem { path, problem, .. }) in found.into_iter().enumerate() {
            let (line, column) = places.get(index).copied().unwrap_or((1, 1));
            problems.push(self.error(line, column, path, problem));
        }
        for (kind, n) in more {
            problems.count(kind, n);
        }
        problems
    }

    /// Returns a problem at a path of a file with one value, such as settings.
    pub fn error_at(&self, path: Path, problem: Problem) -> DatasetError {
        let target = Target::of(&path, &problem);
        let places = yaml::locate(self.text(), std::iter::once(target));
        let (line, column) = places.first().copied().unwrap_or((1, 1));
        self.error(line, column, path, problem)
    }

    /// Like [`error_at`](Self::error_at) for several problems, parsing the file once.
    pub fn errors_at(&self, found: Vec<(Path, Problem)>) -> Problems {
        let kept = found.len().min(Problems::MOST);
        let targets = found[..kept].iter().map(|(path, problem)| Target::of(path, problem));
        let places = yaml::locate(self.text(), targets);
        let mut problems = Problems::default();
        for (index, (path, problem)) in found.into_iter().enumerate() {
            let (line, column) = places.get(index).copied().unwrap_or((1, 1));
            problems.push(self.error(line, column, path, problem));
        }
        problems
    }

    /// Returns where the values at these paths of a YAML document are written, elsewhere if an alias leads
    /// there; `None` for a path that leads nowhere, or through a merge key.
    pub fn yaml_spans(&self, paths: &[Path]) -> Vec<Option<ValueSpan>> {
        yaml::spans(self.text(), paths)
    }

    /// Returns lines and columns, counted from 1, of offsets in the text as it was written.
    pub fn lines_and_columns(&self, offsets: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
        lines_and_columns(self.text(), offsets)
    }

    /// Fails if a key is used twice.
    pub fn refuse_repeated_keys(&self) -> Result<(), Problems> {
        let mut repeated = Problems::default();
        self.repeated_keys().iter().for_each(|error| repeated.push(error.clone()));
        if repeated.is_empty() { Ok(()) } else { Err(repeated) }
    }

    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        line_and_column(self.json(), offset)
    }

    fn error(&self, line: usize, column: usize, path: Path, problem: Problem) -> DatasetError {
        DatasetError { place: Place { file: self.name.clone(), line, column, path }, problem }
    }

    /// Returns the offset of a part of the JSON text, given as a slice of it.
    pub fn offset_of(&self, part: &str) -> usize {
        let quoted = || {
            let quoted = self.quoted.get()?.as_ref()?;
            start_in(&quoted.text, part).map(|start| quoted.place_before(start))
        };
        start_in(self.json(), part).or_else(quoted).unwrap_or_default()
    }

    fn bad_text(&self, bytes: &[u8], valid_up_to: usize) -> DatasetError {
        let before = String::from_utf8_lossy(&bytes[..valid_up_to]);
        let (line, column) = line_and_column(&before, before.len());
        self.error(line, column, Path::default(), Problem::InvalidUtf8)
    }

    fn without_bad_lines(&mut self, bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len());
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                text.push('\n');
            }
            match std::str::from_utf8(line) {
                Ok(line) => text.push_str(line),
                Err(error) => {
                    let mut problem = self.bad_text(line, error.valid_up_to());
                    problem.place.line = index + 1;
                    self.bad_lines.push(problem);
                }
            }
        }
        text
    }
}

/// Tells where the parts of a text are in the file that it was read from.
pub trait Offsets {
    /// Returns the offset of a part of the text, given as a slice of it.
    fn offset_of(&self, part: &str) -> usize;
}

impl Offsets for Document {
    fn offset_of(&self, part: &str) -> usize {
        Document::offset_of(self, part)
    }
}

/// A line that can only be read with quotes around its `NaN` and infinities, and has them. Large
/// files are quoted line by line, so that memory need not hold them a second time.
pub struct QuotedLine {
    quoted: Quoted,
    /// The offset of the line in its file.
    offset: usize,
}

impl QuotedLine {
    /// Quotes such words of a document's line, or returns `None` if it has none.
    pub fn of(line: &str, document: &Document) -> Option<QuotedLine> {
        let quoted = Quoted::of(line, true)?;
        Some(QuotedLine { quoted, offset: document.offset_of(line) })
    }

    /// The line with quotes.
    pub fn text(&self) -> &str {
        &self.quoted.text
    }

    /// The hint about the first such word, as [`Document::hints`] gives it for a whole file.
    pub fn hint(&self) -> UnplacedProblem {
        UnplacedProblem {
            offset: self.offset + self.quoted.first_start(),
            path: Path::default(),
            problem: Problem::NumberAsText(self.quoted.first),
        }
    }
}

impl Offsets for QuotedLine {
    fn offset_of(&self, part: &str) -> usize {
        let start = start_in(self.text(), part).unwrap_or_default();
        self.offset + self.quoted.place_before(start)
    }
}

/// Converts an error of `serde_json`, of syntax or of type, in a value of a file.
pub fn complaint(value: &str, error: &serde_json::Error, offsets: &dyn Offsets) -> UnplacedProblem {
    let (at, problem) = problem_in(value, error);
    UnplacedProblem { offset: offsets.offset_of(&value[at..]), path: Path::default(), problem }
}

/// Describes an error of `serde_json` in a value, and says where in the value it is.
pub fn problem_in(value: &str, error: &serde_json::Error) -> (usize, Problem) {
    let message = json::reason(error);
    let message = match error.classify() {
        serde_json::error::Category::Data => {
            message.replace("a sequence", "a list").replace("type: map", "type: object")
        }
        _ => format!("not valid JSON: {message}"),
    };
    let before = error.line().saturating_sub(1);
    let line_start = value.split_inclusive('\n').take(before).map(str::len).sum::<usize>();
    let at = (line_start + error.column().saturating_sub(1)).min(value.len());
    let rest = value.as_bytes().get(at.saturating_sub(1)..).unwrap_or_default();
    let words = ["NaN", "Infinity", "-Infinity"];
    let begins = |word: &&str| {
        [0, 1]
            .iter()
            .any(|skip| rest.get(*skip..).is_some_and(|rest| rest.starts_with(word.as_bytes())))
    };
    let problem = match words.into_iter().find(begins) {
        Some(word) => Problem::NotANumber(word),
        None => Problem::Syntax(message),
    };
    (value.floor_char_boundary(at), problem)
}

/// Returns the offset of `part` if it is a slice of `whole` in memory.
fn start_in(whole: &str, part: &str) -> Option<usize> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (start + part.len() <= whole.len()).then_some(start)
}

/// Returns the lines of a text that are not blank, trimmed.
pub fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let lines = ends.scan(0, move |start, end| {
        let line = &text[*start..end];
        *start = end + 1;
        Some(line.trim_ascii())
    });
    lines.filter(|line| !line.is_empty())
}

/// A problem whose line and column are not known yet; [`Document::locate`] finds them.
#[derive(Clone, Debug)]
pub struct UnplacedProblem {
    /// The offset of the value in the JSON text.
    pub offset: usize,
    /// The path to the value.
    pub path: Path,
    /// What is wrong.
    pub problem: Problem,
}

/// Returns the line and column of an offset, both counted from 1.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

/// Returns the lines and columns of some offsets. Passes over the text once, however many there are and
/// however long its lines: it may be larger than memory.
fn lines_and_columns(text: &str, offsets: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let offsets: Vec<usize> = offsets.collect();
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by_key(|at| offsets[*at]);
    let mut places = vec![(1, 1); offsets.len()];
    let (mut line, mut column, mut passed) = (1, 1, 0);
    for at in order {
        let offset = text.floor_char_boundary(offsets[at].min(text.len()));
        let between = &text[passed..offset];
        if let Some(end) = memchr::memrchr(b'\n', between.as_bytes()) {
            line += memchr::memchr_iter(b'\n', between.as_bytes()).count();
            column = 1 + between[end + 1..].chars().count();
        } else {
            column += between.chars().count();
        }
        passed = offset;
        places[at] = (line, column);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_places_are_those_of_each(
            text in "[aé\n]{0,40}",
            offsets in prop::collection::vec(0..90_usize, 0..12),
        ) {
            let each: Vec<_> = offsets.iter().map(|at| line_and_column(&text, *at)).collect();
            prop_assert_eq!(lines_and_columns(&text, offsets.into_iter()), each);
        }
    }

    #[test]
    fn a_line_is_quoted_as_its_file_is() {
        let text = "{\"a\": 1}\n  {\"b\": NaN, \"c\": [-Infinity]}\n";
        let document = Document::new("x.jsonl", text.into(), Format::JsonLines).expect("lines");
        let line = document.values()[1];
        let quoted = QuotedLine::of(line, &document).expect("words");
        assert_eq!(document.with_quotes(line), Some(quoted.text()));
        let part = &quoted.text()[quoted.text().find("\"c\"").expect("a key")..];
        assert_eq!(&text[quoted.offset_of(part)..][..3], "\"c\"");
        let hint = document.locate(quoted.hint().into()).to_string();
        assert_eq!(Some(hint), document.hints().next().map(|hint| hint.to_string()));
        assert!(QuotedLine::of(document.values()[0], &document).is_none());
    }

    #[test]
    fn places_are_lines_and_columns_in_characters() {
        assert_eq!(line_and_column("aé\nbü|x", "aé\nbü".len()), (2, 3));
        assert_eq!(line_and_column("", 0), (1, 1));
    }

    #[test]
    fn a_file_that_is_one_text_is_not_quoted_in_full() {
        let text = "root:x:0:0 at line 1\n".repeat(100_000);
        let document = Document::new("passwd", text.into_bytes(), Format::Yaml).expect("YAML");
        let (json, error) = document.parse::<Vec<u8>>(document.json()).expect_err("no list");
        let problems = document.syntax_error(json, &error).to_string();
        let wanted = "invalid type: string \"root:x:0:0 at line 1 root:x:0:0";
        assert!(
            problems.contains(wanted) && problems.contains("…\", expected a list"),
            "{problems}"
        );
        assert!(problems.len() < 300, "{problems}");
    }

    #[test]
    fn only_the_bad_line_of_a_file_of_lines_is_lost() {
        let bytes = b"{\"a\": 1}\n{\"b\": \"\xff\"}\n{\"c\": 3}\n".to_vec();
        let document = Document::new("x.jsonl", bytes, Format::JsonLines).expect("a document");
        assert_eq!(document.values(), ["{\"a\": 1}", "{\"c\": 3}"]);
        let place = &document.bad_lines()[0].place;
        assert_eq!((place.line, place.column), (2, 8));
    }

    #[test]
    fn formats_are_known_by_their_endings() {
        assert_eq!(Format::from_name("a.b/c.JSONL.gz"), Some(Format::JsonLines));
        assert_eq!(Format::from_name("c.yml.zst"), Some(Format::Yaml));
        assert_eq!(Format::from_name("-"), None);
    }
}
