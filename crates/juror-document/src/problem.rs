//! What can be wrong with a file, where, and what to do about it.

use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use crate::label_problem::LabelProblem;
use crate::notice::{Phrase, Spelling, option};
use crate::phrase;
use crate::tools_problem::ToolsProblem;

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The path to the value.
    pub path: Path,
}

/// The path to a value from the top of its file, or of its line in a file of lines.
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
    /// Extends the path by a field.
    #[must_use]
    pub fn key(&self, key: &str) -> Path {
        self.and(Segment::Key(key.to_owned()))
    }

    /// Extends the path by an element of a list.
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

/// A problem and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DatasetError {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not well-formed.
    Syntax(String),
    /// The text is not valid YAML.
    BadYaml {
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: Option<&'static str>,
    },
    /// A key is used twice in one mapping.
    RepeatedKey(String),
    /// A word of YAML that Juror reads as a string and other readers as a boolean.
    TruthAsText {
        /// The word.
        word: String,
        /// The boolean that others read.
        truth: bool,
    },
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// The file cannot be read, for the given reason.
    Unreadable(String),
    /// `NaN` or an infinity, which Python writes and JSON does not have.
    NotANumber(&'static str),
    /// `NaN` or an infinity, read as a string.
    NumberAsText(&'static str),
    /// A required field is missing.
    MissingField {
        /// The name of the field.
        field: &'static str,
        /// The kind of object that lacks it.
        of: &'static str,
    },
    /// A value has the wrong type.
    WrongType {
        /// The type that is needed.
        expected: &'static str,
        /// The type that is there.
        found: &'static str,
    },
    /// Two questions share an id.
    DuplicateQuestion(String),
    /// Queries with different texts share an id.
    DuplicateQuery(String),
    /// A required column is not in the reference output.
    UnknownColumn {
        /// The column.
        name: String,
        /// The columns of the output.
        known: Arc<[String]>,
    },
    /// An expected step has no output to compare with.
    MissingOutput(String),
    /// A group of expected steps is empty, so it cannot score anything.
    EmptyGroup,
    /// An expected output is not of the kind its step declares.
    BadOutput {
        /// The step.
        step: String,
        /// What is wrong with its output.
        why: String,
    },
    /// Documents of an expected retrieval have no id and therefore do not count.
    UncountedDocuments {
        /// The step.
        step: String,
        /// The number of documents.
        n: usize,
    },
    /// A question has no response.
    Unanswered(String),
    /// Two responses answer the same question.
    DuplicateResponse(String),
    /// Two responses are the same trial of a question.
    DuplicateTrial {
        /// The id of the question.
        question: String,
        /// The number of the trial.
        trial: u32,
    },
    /// A `trial` that is not a whole number from 1 on.
    NoTrial {
        /// The number of further occurrences.
        n_more: usize,
    },
    /// A response answers a question that is not in the dataset.
    UnknownQuestion(String),
    /// A key that Juror does not know.
    UnknownKey {
        /// The key.
        key: String,
        /// The kind of object that has it.
        of: &'static str,
        /// The key that was probably meant.
        near: Option<&'static str>,
        /// The number of further occurrences.
        n_more: usize,
    },
    /// A field is missing, and another one was probably meant for it.
    MisspeltField {
        /// The name of the field.
        field: &'static str,
        /// The kind of object it belongs to.
        of: &'static str,
        /// The key that is there instead.
        found: String,
    },
    /// A value is not a number where statistics need one.
    NoNumber {
        /// The key of the value.
        key: String,
        /// What is there instead.
        found: NotNumber,
        /// The number of further occurrences.
        n_more: usize,
    },
    /// A score is outside the range of its metric.
    OutOfRange {
        /// The key of the score.
        key: String,
        /// The score.
        value: String,
        /// The range in words.
        range: &'static str,
    },
    /// An amount of tokens, money or time is below 0.
    NegativeAmount {
        /// Its key.
        key: String,
        /// The amount.
        value: String,
        /// The number of further occurrences.
        n_more: usize,
    },
    /// The numbers of failed responses are left out, as profile 5 does, and nobody knows whether it is
    /// the profile of these results.
    UnknownProfile {
        /// How many failed responses have numbers.
        n: usize,
    },
    /// A step has an unknown status.
    UnknownStatus {
        /// The status, as JSON without quotes.
        word: String,
        /// The number of further occurrences.
        n_more: usize,
    },
    /// Steps of results have retrieval metrics that do not count, since they are not retrieval
    /// steps.
    UncountedMetrics {
        /// The name of the steps.
        step: String,
        /// The number of steps.
        n: usize,
    },
    /// A file that contains something other than responses.
    NoResponses {
        /// A description of the first record: its keys, or its type.
        found: String,
        /// A key of it, and the known key that was probably meant.
        near: Option<(String, &'static str)>,
    },
    /// A file of responses where results are needed.
    ResponsesInstead,
    /// A label of an answer that cannot be used.
    Label(LabelProblem),
    /// A part of a document of tools that cannot be used as it is.
    Tools(ToolsProblem),
    /// A setting has a value that it cannot have.
    BadSetting {
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A key that a template of questions cannot have.
    UnknownTemplateKey {
        /// The key.
        key: String,
        /// What to do about it.
        hint: String,
    },
    /// A setting that there is not. The key is what is wrong, whatever its value.
    UnknownSetting {
        /// Its key.
        key: String,
        /// What to do about it.
        hint: String,
    },
}

/// What is there instead of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNumber {
    /// A number too large for a double.
    TooLarge,
    /// Another type, described as in `a text`.
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
    /// Whether this is worth mentioning but not a mistake: users may have keys of their own, and
    /// often answer only a part of the questions.
    pub fn is_note(&self) -> bool {
        matches!(self, Problem::UnknownKey { near: None, .. } | Problem::Unanswered(_))
    }

    pub(crate) fn kind(&self) -> ProblemKind {
        let of_label = match self {
            Problem::Label(problem) => Some(discriminant(problem)),
            _ => None,
        };
        (discriminant(self), of_label, self.is_note())
    }

    /// Whether a key is what is wrong, and not its value.
    pub(crate) fn is_of_key(&self) -> bool {
        matches!(self, Problem::UnknownSetting { .. } | Problem::UnknownTemplateKey { .. })
    }

    /// Whether this already stands for all occurrences of the same problem.
    fn is_folded(&self) -> bool {
        matches!(
            self,
            Problem::UnknownKey { .. }
                | Problem::NoNumber { .. }
                | Problem::NoTrial { .. }
                | Problem::NegativeAmount { .. }
                | Problem::UnknownStatus { .. }
        )
    }

    /// Whether the file can be scored nevertheless, though probably not as its author intended.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Problem::UnknownKey { near: Some(_), .. }
                | Problem::NoNumber { .. }
                | Problem::NoTrial { .. }
                | Problem::UnknownStatus { .. }
                | Problem::OutOfRange { .. }
                | Problem::NegativeAmount { .. }
                | Problem::UnknownProfile { .. }
                | Problem::NumberAsText(_)
                | Problem::TruthAsText { .. }
                | Problem::UnknownQuestion(_)
                | Problem::UncountedDocuments { .. }
                | Problem::UncountedMetrics { .. }
                | Problem::Label(_)
        ) || matches!(self, Problem::Tools(problem) if problem.is_warning())
    }
}

impl fmt::Display for Problem {
    #[expect(clippy::too_many_lines, reason = "one sentence for each problem")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Syntax(message) | Problem::BadSetting { message, .. } => f.write_str(message),
            Problem::UnknownSetting { key, .. } => write!(f, "unknown setting `{key}`"),
            Problem::UnknownTemplateKey { key, .. } => write!(f, "unknown key `{key}`"),
            Problem::BadYaml { message, .. } => write!(f, "not valid YAML: {message}"),
            Problem::RepeatedKey(key) => write!(f, "the key `{key}` is used twice"),
            Problem::TruthAsText { word, truth } => {
                write!(f, "`{word}` is read as text; other YAML readers read it as {truth}")
            }
            Problem::InvalidUtf8 => f.write_str("the text is not valid UTF-8"),
            Problem::Unreadable(why) => write!(f, "the file cannot be read: {why}"),
            Problem::NotANumber(word) => write!(f, "not valid JSON: {word} is not a number"),
            Problem::NumberAsText(word) => {
                write!(
                    f,
                    "`{word}` is read as text, not as a number, here and wherever else it stands"
                )
            }
            Problem::MissingField { field, of } => write!(f, "this {of} has no `{field}`"),
            Problem::MisspeltField { field, of, found } => {
                write!(f, "this {of} has no `{field}`, but `{found}`")
            }
            Problem::WrongType { expected, found } => {
                write!(f, "expected {expected}, found {found}")
            }
            Problem::DuplicateQuestion(id) => write!(f, "the question id `{id}` is used twice"),
            Problem::DuplicateQuery(id) => {
                write!(f, "the query id `{id}` is used twice, for different queries")
            }
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
            Problem::DuplicateTrial { question, trial } => {
                write!(
                    f,
                    "trial {trial} of the question `{question}` has another response; the last \
                     one counts"
                )
            }
            Problem::NoTrial { n_more } => {
                f.write_str("`trial` is not a whole number of at least 1, and is ignored")?;
                and_more(f, *n_more)
            }
            Problem::UnknownQuestion(id) => {
                write!(f, "the dataset has no question `{id}`; the response is left out")
            }
            Problem::UnknownKey { key, of, n_more, .. } => {
                write!(f, "unknown key `{key}` of {} {of}", article(of))?;
                and_more(f, *n_more)
            }
            Problem::ResponsesInstead => f.write_str("these are responses, not results"),
            Problem::NoNumber { key, found, n_more } => {
                write!(f, "`{key}` is {found}, and is left out of the statistics")?;
                and_more(f, *n_more)
            }
            Problem::OutOfRange { key, value, range } => {
                write!(f, "`{key}` is {value}, outside {range}, and is left out of the statistics")
            }
            Problem::NegativeAmount { key, value, n_more } => {
                write!(f, "`{key}` is {value}, and an amount cannot be below 0")?;
                and_more(f, *n_more)
            }
            Problem::UnknownProfile { n } => {
                let (failed, have, are) = match n {
                    1 => ("1 failed response".to_owned(), "has", "is"),
                    n => (format!("{n} failed responses"), "have", "are"),
                };
                write!(
                    f,
                    "{failed} {have} numbers, and {are} left out of the statistics, as profile 5 does: \
                     the results do not say which profile produced them"
                )
            }
            Problem::UnknownStatus { word, n_more } => {
                write!(f, "unknown status `{word}` of a step; the step cannot match")?;
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
            Problem::Label(problem) => problem.fmt(f),
            Problem::Tools(problem) => problem.fmt(f),
        }
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn and_more(f: &mut fmt::Formatter<'_>, n_more: usize) -> fmt::Result {
    match n_more {
        0 => Ok(()),
        1 => f.write_str(", here and in 1 more place"),
        n => write!(f, ", here and in {n} more places"),
    }
}

impl Problem {
    /// What to do about it.
    pub fn hint(&self) -> Option<Phrase> {
        match self {
            Problem::BadYaml { hint, .. } => hint.map(Into::into),
            Problem::RepeatedKey(_) => Some("keep one of them; the last would count".into()),
            Problem::TruthAsText { word, truth } => {
                Some(format!("write `{truth}` if that is meant, or \"{word}\" in quotes").into())
            }
            Problem::WrongType { expected: "true or false", found: "a text" } => {
                Some("write `true` or `false` without quotes; `yes` and `no` are texts".into())
            }
            Problem::InvalidUtf8 => Some("save the file as UTF-8".into()),
            Problem::NumberAsText(_) => {
                Some("it is not counted; write null for a missing value".into())
            }
            Problem::NotANumber(_) => Some(
                "leave the value out or write null; json.dumps(…, allow_nan=False) finds it".into(),
            ),
            Problem::MisspeltField { field, .. } => Some(format!("did you mean `{field}`?").into()),
            Problem::MissingField { field, of } => {
                Some(format!("add `{field}` to the {of}").into())
            }
            Problem::DuplicateQuestion(_) => Some("ids are unique over all templates".into()),
            Problem::DuplicateQuery(_) => {
                Some("give each query of the file an id of its own".into())
            }
            Problem::UnknownColumn { known, .. } if known.is_empty() => {
                Some("the reference output has no columns".into())
            }
            Problem::UnknownColumn { known, .. } => {
                const MOST: usize = 50;
                let n_more = known.len().saturating_sub(MOST);
                let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
                let shown = known[..known.len() - n_more].join(", ");
                Some(format!("columns present: {shown}{more}").into())
            }
            Problem::MissingOutput(_) => Some(
                "add `output` to the step, or `match: args` to match it by its arguments; \
                 `steps.match_without_output: args` in the settings does so for all steps"
                    .into(),
            ),
            Problem::EmptyGroup => Some("add a step to the group, or leave the group out".into()),
            Problem::DuplicateResponse(_) => Some(
                "several answers to a question are told apart by `trial`: 1, 2 and so on".into(),
            ),
            Problem::UnknownQuestion(_) => {
                Some("check that responses and reference belong together".into())
            }
            Problem::UnknownKey { near: Some(near), .. } => {
                Some(format!("did you mean `{near}`?").into())
            }
            Problem::OutOfRange { .. } => {
                Some("it counts as an answer without a score; write shares, not percentages".into())
            }
            Problem::NegativeAmount { .. } => {
                Some("it is counted as written; correct it, or leave it out".into())
            }
            Problem::UnknownProfile { .. } => {
                Some(phrase!["choose with ", option("profile"), ": 5, or 6, which counts them in"])
            }
            Problem::UnknownStatus { .. } => {
                Some("write `success` or `error`, or leave it out".into())
            }
            Problem::UncountedMetrics { .. } => Some(phrase![
                "give the settings whose `steps.kinds` says that these are retrieval steps, with ",
                option("config")
            ]),
            Problem::NoNumber { found: NotNumber::TooLarge, .. } => None,
            Problem::NoNumber { found: NotNumber::Other("a boolean"), .. } => {
                Some("write 1 or 0".into())
            }
            Problem::NoNumber { found: NotNumber::Other(_), .. } => {
                Some("write it without quotes".into())
            }
            Problem::NoResponses { near: Some((key, near)), .. } => {
                Some(format!("did you mean `{near}` by `{key}`?").into())
            }
            Problem::NoResponses { near: None, .. } => Some(
                "looked for `actual_answer`, `actual_steps`, `status`, `error` and token counts, \
                 in objects by question id or with a `question_id`"
                    .into(),
            ),
            Problem::ResponsesInstead => Some(
                "`juror eval REFERENCE RESPONSES -o results.jsonl` makes results of them".into(),
            ),
            Problem::BadSetting { hint, .. } => hint.clone().map(Into::into),
            Problem::UnknownSetting { hint, .. } | Problem::UnknownTemplateKey { hint, .. } => {
                Some(hint.clone().into())
            }
            Problem::Label(problem) => problem.hint(),
            Problem::Tools(problem) => problem.hint().map(Into::into),
            _ => None,
        }
    }
}

impl DatasetError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Phrase> {
        self.problem.hint()
    }

    /// The place and the problem on one line.
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
            write!(f, "\n  hint: {}", hint.spelled(Spelling::Program))?;
        }
        Ok(())
    }
}

/// The problems of a file.
#[derive(Clone, Debug, PartialEq, Eq, Default, thiserror::Error)]
pub struct Problems {
    /// The first ones, in the order of the file.
    pub errors: Vec<DatasetError>,
    /// The number of further problems.
    pub n_more: usize,
    /// The kinds of the further problems, as far as known.
    pub(crate) more: Vec<(ProblemKind, usize)>,
}

/// Problems are reported by kind, those of labels by theirs, and notes apart from mistakes.
pub(crate) type ProblemKind = (Discriminant<Problem>, Option<Discriminant<LabelProblem>>, bool);

/// Problems of one kind: the first ones, and how many more there are.
#[derive(Clone, Debug)]
pub struct Folded<'p> {
    /// The first ones; never empty.
    pub first: Vec<&'p DatasetError>,
    /// The number of further ones.
    pub n_more: usize,
}

impl Problems {
    /// The number of problems kept per file, besides the first of each kind; the rest are counted.
    pub const MOST: usize = 100;

    /// Adds a problem, or only counts it if there are too many.
    pub fn push(&mut self, error: DatasetError) {
        let kind = error.problem.kind();
        let is_new = || {
            let is_counted = self.more.iter().any(|(known, _)| *known == kind);
            !is_counted && self.errors.iter().all(|known| known.problem.kind() != kind)
        };
        if self.errors.len() < Self::MOST || is_new() {
            self.errors.push(error);
        } else {
            self.count(kind, 1);
        }
    }

    /// Counts `n` more problems of the same kind as `like` without keeping them.
    pub fn count_more(&mut self, like: &Problem, n: usize) {
        self.count(like.kind(), n);
    }

    pub(crate) fn count(&mut self, kind: ProblemKind, n: usize) {
        if n == 0 {
            return;
        }
        self.n_more += n;
        match self.more.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += n,
            None => self.more.push((kind, n)),
        }
    }

    /// The number of problems of a kind to show if there are many.
    pub const FEW: usize = 3;

    /// Groups the problems by kind, with at most `most` of each: a mistake made a thousand times is
    /// one mistake to report.
    pub fn folded(&self, most: usize) -> Vec<Folded<'_>> {
        let mut kinds: Vec<(ProblemKind, Folded<'_>)> = Vec::new();
        for error in &self.errors {
            let kind = error.problem.kind();
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                // Such a problem already stands for many occurrences.
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

    /// Adds the problems of another file or of another pass.
    pub fn extend(&mut self, other: Problems) {
        let known: usize = other.more.iter().map(|(_, n)| n).sum();
        self.n_more += other.n_more.saturating_sub(known);
        // Push before counting, because `push` keeps the first problem of a kind only if none of
        // that kind has been counted.
        for error in other.errors {
            self.push(error);
        }
        for (kind, n) in other.more {
            self.count(kind, n);
        }
    }

    /// Returns the problems that satisfy a condition. A problem that is only counted is taken to
    /// be like the first of its kind.
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

    /// The number of problems.
    pub fn len(&self) -> usize {
        self.errors.len() + self.n_more
    }

    /// Sorts the kept problems by place.
    pub fn sort(&mut self) {
        self.errors.sort_by_key(|error| (error.place.line, error.place.column));
    }

    /// Whether there are no problems.
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
