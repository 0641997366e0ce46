//! What can be wrong with a file, where, and what to do about it.

use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The way to the value.
    pub path: Path,
}

/// The way to a value from the top of its file, or of its line in a file of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(pub Vec<Segment>);

/// One part of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A field of an object.
    Key(String),
    /// An element of a list, counted from 0.
    Index(usize),
}

impl Path {
    /// The path of a field of this value.
    #[must_use]
    pub fn key(&self, key: &str) -> Path {
        self.and(Segment::Key(key.to_owned()))
    }

    /// The path of an element of this value.
    #[must_use]
    pub fn index(&self, index: usize) -> Path {
        self.and(Segment::Index(index))
    }

    fn and(&self, segment: Segment) -> Path {
        let mut segments = self.0.clone();
        segments.push(segment);
        Path(segments)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if at == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

/// A problem with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DatasetError {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub problem: Problem,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not well-formed.
    Syntax(String),
    /// The text is not YAML that can be read.
    BadYaml {
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: Option<&'static str>,
    },
    /// A key is used twice in one mapping.
    RepeatedKey(String),
    /// A word of YAML that other readers take for true or false, and Juror for a text.
    TruthAsText {
        /// The word.
        word: String,
        /// What others take it for.
        truth: bool,
    },
    /// The bytes are not text.
    InvalidUtf8,
    /// The file cannot be read; why.
    Unreadable(String),
    /// A word that Python writes for a number that JSON does not know.
    NotANumber(&'static str),
    /// The same, where it is read as a text.
    NumberAsText(&'static str),
    /// A required field is not there.
    MissingField {
        /// Its name.
        field: &'static str,
        /// What lacks it.
        of: &'static str,
    },
    /// A value of another type is needed.
    WrongType {
        /// What is needed.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// Two questions share an id.
    DuplicateQuestion(String),
    /// A required column is not in the reference output.
    UnknownColumn {
        /// The column.
        name: String,
        /// The columns that are there.
        known: Arc<[String]>,
    },
    /// An expected step has no output to compare with.
    MissingOutput(String),
    /// A group of expected steps is empty, so that nothing can be scored by it.
    EmptyGroup,
    /// An expected output is not what its step says it is.
    BadOutput {
        /// The step.
        step: String,
        /// What is wrong with its output.
        why: String,
    },
    /// Documents of an expected retrieval have no id, by which they would count.
    UncountedDocuments {
        /// The step.
        step: String,
        /// How many.
        n: usize,
    },
    /// A question has no response.
    Unanswered(String),
    /// Two responses answer the same question.
    DuplicateResponse(String),
    /// A response answers a question the dataset does not have.
    UnknownQuestion(String),
    /// A key that means nothing to Juror.
    UnknownKey {
        /// The key.
        key: String,
        /// What has it.
        of: &'static str,
        /// The key that was probably meant.
        near: Option<&'static str>,
        /// How many more have it.
        n_more: usize,
    },
    /// A field is missing, and another stands there that was probably meant for it.
    MisspeltField {
        /// The name of the field.
        field: &'static str,
        /// What it belongs to.
        of: &'static str,
        /// The key that is there.
        found: String,
    },
    /// A value that is no number where statistics need one.
    NoNumber {
        /// Its key.
        key: String,
        /// What is there.
        found: NotNumber,
        /// How many more are like it.
        n_more: usize,
    },
    /// A status of a step that is no known word.
    UnknownStatus {
        /// The word, as JSON without quotes.
        word: String,
        /// How many more are like it.
        n_more: usize,
    },
    /// Steps of results with metrics that do not count, since they are no retrieval steps.
    UncountedMetrics {
        /// The name of the steps.
        step: String,
        /// How many there are.
        n: usize,
    },
    /// A file of something else than responses.
    NoResponses {
        /// What its first record has: keys, or what it is.
        found: String,
        /// A key of it, and the known one that was probably meant.
        near: Option<(String, &'static str)>,
    },
    /// A setting is unknown or ill-typed.
    BadSetting {
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

/// What stands where a number is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNumber {
    /// A number beyond all that programs count with.
    TooLarge,
    /// Something else, in words such as `a text`.
    Other(&'static str),
}

impl fmt::Display for NotNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotNumber::TooLarge => f.write_str("too large a number"),
            NotNumber::Other(found) => write!(f, "{found}, not a number"),
        }
    }
}

impl Problem {
    /// Whether it is worth a word and nothing more: keys of the user's own are no mistake, and
    /// responses to a part of the questions are common.
    pub fn is_note(&self) -> bool {
        matches!(self, Problem::UnknownKey { near: None, .. } | Problem::Unanswered(_))
    }

    fn kind(&self) -> Kind {
        (discriminant(self), self.is_note())
    }

    /// Whether it stands for all that are like it.
    fn is_folded(&self) -> bool {
        matches!(
            self,
            Problem::UnknownKey { .. } | Problem::NoNumber { .. } | Problem::UnknownStatus { .. }
        )
    }

    /// Whether it can be scored nevertheless, though probably not as it was meant.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Problem::UnknownKey { near: Some(_), .. }
                | Problem::NoNumber { .. }
                | Problem::UnknownStatus { .. }
                | Problem::NumberAsText(_)
                | Problem::TruthAsText { .. }
                | Problem::UnknownQuestion(_)
                | Problem::UncountedDocuments { .. }
                | Problem::UncountedMetrics { .. }
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Syntax(message) | Problem::BadSetting { message, .. } => f.write_str(message),
            Problem::BadYaml { message, .. } => write!(f, "not valid YAML: {message}"),
            Problem::RepeatedKey(key) => write!(f, "the key `{key}` is used twice"),
            Problem::TruthAsText { word, truth } => {
                write!(f, "`{word}` is read as a text, which other readers take for {truth}")
            }
            Problem::InvalidUtf8 => f.write_str("the text is not valid UTF-8"),
            Problem::Unreadable(why) => write!(f, "the file cannot be read: {why}"),
            Problem::NotANumber(word) => write!(f, "not valid JSON: {word} is not a number"),
            Problem::NumberAsText(word) => {
                write!(f, "`{word}` is read as a text, here and wherever it stands for a number")
            }
            Problem::MissingField { field, of } => write!(f, "this {of} has no `{field}`"),
            Problem::MisspeltField { field, of, found } => {
                write!(f, "this {of} has no `{field}`, but `{found}`")
            }
            Problem::WrongType { expected, found } => {
                write!(f, "expected {expected}, found {found}")
            }
            Problem::DuplicateQuestion(id) => write!(f, "the question id `{id}` is used twice"),
            Problem::UnknownColumn { name, .. } => {
                write!(f, "column `{name}` is required but the reference output has no such column")
            }
            Problem::MissingOutput(step) => {
                write!(
                    f,
                    "the expected step `{step}` has no output, so no actual step can match it"
                )
            }
            Problem::EmptyGroup => f.write_str("the group of expected steps is empty"),
            Problem::BadOutput { step, why } => {
                write!(f, "the output of the expected step `{step}` {why}")
            }
            Problem::UncountedDocuments { step, n } => {
                let (documents, are) = match n {
                    1 => ("a document".to_owned(), "is"),
                    n => (format!("{n} documents"), "are"),
                };
                write!(
                    f,
                    "the output of the expected step `{step}` has {documents} without `id`, which \
                     {are} not counted among the relevant ones"
                )
            }
            Problem::Unanswered(id) => write!(f, "the question `{id}` has no response"),
            Problem::DuplicateResponse(id) => {
                write!(f, "the question `{id}` has another response; the last one counts")
            }
            Problem::UnknownQuestion(id) => {
                write!(f, "the dataset has no question `{id}`; the response is left out")
            }
            Problem::UnknownKey { key, of, n_more, .. } => {
                write!(f, "unknown key `{key}` of {} {of}", article(of))?;
                and_more(f, *n_more)
            }
            Problem::NoNumber { key, found, n_more } => {
                write!(f, "`{key}` is {found}, and is left out of the statistics")?;
                and_more(f, *n_more)
            }
            Problem::UnknownStatus { word, n_more } => {
                write!(f, "unknown status `{word}` of a step, which can match nothing")?;
                and_more(f, *n_more)
            }
            Problem::UncountedMetrics { step, n: 1 } => {
                write!(f, "a step named `{step}` has metrics of retrieval, which are not counted")
            }
            Problem::UncountedMetrics { step, n } => {
                write!(
                    f,
                    "{n} steps named `{step}` have metrics of retrieval, which are not counted"
                )
            }
            Problem::NoResponses { found, .. } => {
                write!(f, "no response in any known form: the first record {found}")
            }
        }
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn and_more(f: &mut fmt::Formatter<'_>, n_more: usize) -> fmt::Result {
    if n_more == 0 { Ok(()) } else { write!(f, ", here and {n_more} times more") }
}

impl Problem {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Problem::BadYaml { hint, .. } => hint.map(Into::into),
            Problem::RepeatedKey(_) => Some("keep one of them; the last would count".into()),
            Problem::TruthAsText { word, truth } => {
                Some(format!("write `{truth}` if that is meant, or \"{word}\" in quotes"))
            }
            Problem::WrongType { expected: "true or false", found: "a text" } => {
                Some("write `true` or `false` without quotes; `yes` and `no` are texts".into())
            }
            Problem::InvalidUtf8 => Some("save the file as UTF-8".into()),
            Problem::NumberAsText(_) => {
                Some("it counts nowhere; write null if nothing is meant".into())
            }
            Problem::NotANumber(_) => Some(
                "leave the value out or write null; json.dumps(…, allow_nan=False) finds it".into(),
            ),
            Problem::MisspeltField { field, .. } => Some(format!("did you mean `{field}`?")),
            Problem::MissingField { field, of } => Some(format!("add `{field}` to the {of}")),
            Problem::DuplicateQuestion(_) => Some("ids are unique over all templates".into()),
            Problem::UnknownColumn { known, .. } if known.is_empty() => {
                Some("the reference output has no columns".into())
            }
            Problem::UnknownColumn { known, .. } => {
                const MOST: usize = 50;
                let n_more = known.len().saturating_sub(MOST);
                let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
                Some(format!("columns present: {}{more}", known[..known.len() - n_more].join(", ")))
            }
            Problem::MissingOutput(_) => Some(
                "add `output` to the step, or `match: args` to match it by its arguments; \
                 `steps.match_without_output: args` in the settings says it of all"
                    .into(),
            ),
            Problem::EmptyGroup => Some("add a step to the group, or leave the group out".into()),
            Problem::UnknownQuestion(_) => {
                Some("check that responses and reference belong together".into())
            }
            Problem::UnknownKey { near: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            Problem::UnknownStatus { .. } => {
                Some("write `success` or `error`, or leave it out".into())
            }
            Problem::UncountedMetrics { .. } => Some(
                "give the settings whose `steps.kinds` says that these are retrieval steps, with -c"
                    .into(),
            ),
            Problem::NoNumber { found: NotNumber::TooLarge, .. } => None,
            Problem::NoNumber { found: NotNumber::Other(_), .. } => {
                Some("write it without quotes".into())
            }
            Problem::NoResponses { near: Some((key, near)), .. } => {
                Some(format!("did you mean `{near}` by `{key}`?"))
            }
            Problem::NoResponses { near: None, .. } => Some(
                "looked for `actual_answer`, `actual_steps`, `status`, `error` and token counts, \
                 in objects by question id or with a `question_id`"
                    .into(),
            ),
            Problem::BadSetting { hint, .. } => hint.clone(),
            _ => None,
        }
    }
}

impl DatasetError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        self.problem.hint()
    }

    /// The place and the problem, in one line.
    pub fn brief(&self) -> String {
        let Place { file, line, column, .. } = &self.place;
        format!("{file}:{line}:{column}: {}", self.problem)
    }
}

impl fmt::Display for DatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.place.path;
        f.write_str(&self.brief())?;
        if !path.0.is_empty() {
            write!(f, "\n  at {path}")?;
        }
        if let Some(hint) = self.hint() {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// The problems of a file.
#[derive(Clone, Debug, PartialEq, Eq, Default, thiserror::Error)]
pub struct Problems {
    /// The first ones, in the order of the file.
    pub errors: Vec<DatasetError>,
    /// How many more there are.
    pub n_more: usize,
    /// Of which kinds those are, as far as that is known.
    pub(crate) more: Vec<(Kind, usize)>,
}

/// What problems are told together: those of a kind, notes apart from others.
type Kind = (Discriminant<Problem>, bool);

/// Problems of one kind: the first of them, and how many more there are.
#[derive(Clone, Debug)]
pub struct Folded<'p> {
    /// The first ones; never empty.
    pub first: Vec<&'p DatasetError>,
    /// How many more there are.
    pub n_more: usize,
}

impl Problems {
    /// At most this many problems of a file are kept, and the first of each kind; the rest are
    /// counted.
    pub const MOST: usize = 100;

    /// Adds a problem, or counts it when there are too many.
    pub fn push(&mut self, error: DatasetError) {
        let kind = error.problem.kind();
        let is_kept = || {
            let is_counted = self.more.iter().any(|(known, _)| *known == kind);
            !is_counted && self.errors.iter().all(|known| known.problem.kind() != kind)
        };
        if self.errors.len() < Self::MOST || is_kept() {
            self.errors.push(error);
        } else {
            self.count(kind, 1);
        }
    }

    /// Counts so many more of a problem's kind, which nobody kept.
    pub fn count_more(&mut self, like: &Problem, n: usize) {
        if n > 0 {
            self.count(like.kind(), n);
        }
    }

    fn count(&mut self, kind: Kind, n: usize) {
        self.n_more += n;
        match self.more.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += n,
            None => self.more.push((kind, n)),
        }
    }

    /// At most this many problems of a kind are told where there are many.
    pub const FEW: usize = 3;

    /// The same problems by kind, at most so many of each: one mistake that was made a thousand
    /// times is one thing to tell.
    pub fn folded(&self, most: usize) -> Vec<Folded<'_>> {
        let mut kinds: Vec<(Kind, Folded<'_>)> = Vec::new();
        for error in &self.errors {
            let kind = error.problem.kind();
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                // Each of these is many already.
                Some((_, of)) if of.first.len() < most || error.problem.is_folded() => {
                    of.first.push(error);
                }
                Some((_, of)) => of.n_more += 1,
                None => kinds.push((kind, Folded { first: vec![error], n_more: 0 })),
            }
        }
        for (kind, n) in &self.more {
            if let Some((_, of)) = kinds.iter_mut().find(|(known, _)| known == kind) {
                of.n_more += n;
            }
        }
        kinds.into_iter().map(|(_, of)| of).collect()
    }

    /// Adds another file's, or another look's, problems.
    pub fn extend(&mut self, other: Problems) {
        let known: usize = other.more.iter().map(|(_, n)| n).sum();
        self.n_more += other.n_more.saturating_sub(known);
        // First those that are kept: of a kind that is counted, one is kept already.
        for error in other.errors {
            self.push(error);
        }
        for (kind, n) in other.more {
            self.count(kind, n);
        }
    }

    /// The problems for which something holds. Those that are only counted are like the first of
    /// their kind.
    #[must_use]
    pub fn such(&self, is_it: impl Fn(&Problem) -> bool) -> Problems {
        let mut such = Problems::default();
        let those = self.errors.iter().filter(|error| is_it(&error.problem));
        those.for_each(|error| such.push(error.clone()));
        for (kind, n) in &self.more {
            if such.errors.iter().any(|error| error.problem.kind() == *kind) {
                such.count(*kind, *n);
            }
        }
        such
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.errors.len() + self.n_more
    }

    /// Puts those that are kept into the order of their places.
    pub fn sort(&mut self) {
        self.errors.sort_by_key(|error| (error.place.line, error.place.column));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }
}

impl From<DatasetError> for Problems {
    fn from(error: DatasetError) -> Problems {
        Problems { errors: vec![error], ..Problems::default() }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.errors.iter().enumerate() {
            let separator = if at == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        if self.n_more > 0 {
            write!(f, "\nand {} more", self.n_more)?;
        }
        Ok(())
    }
}
