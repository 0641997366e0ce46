//! What can be wrong with a file, where, and what to do about it.

use std::fmt;

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The bytes are not text.
    InvalidUtf8,
    /// The file cannot be read; why.
    Unreadable(String),
    /// A word that Python writes for a number that JSON does not know.
    NotANumber(&'static str),
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
        known: Vec<String>,
    },
    /// An expected step has no output to compare with.
    MissingOutput(String),
    /// Two responses answer the same question.
    DuplicateResponse(String),
    /// A response answers a question the dataset does not have.
    UnknownQuestion(String),
    /// A setting is unknown or ill-typed.
    BadSetting {
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Syntax(message) | Problem::BadSetting { message, .. } => f.write_str(message),
            Problem::InvalidUtf8 => f.write_str("the text is not valid UTF-8"),
            Problem::Unreadable(why) => write!(f, "the file cannot be read: {why}"),
            Problem::NotANumber(word) => write!(f, "not valid JSON: {word} is not a number"),
            Problem::MissingField { field, of } => write!(f, "this {of} has no `{field}`"),
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
            Problem::DuplicateResponse(id) => {
                write!(f, "the question `{id}` has another response; the last one counts")
            }
            Problem::UnknownQuestion(id) => {
                write!(f, "the dataset has no question `{id}`; the response is left out")
            }
        }
    }
}

impl DatasetError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match &self.problem {
            Problem::InvalidUtf8 => Some("save the file as UTF-8".into()),
            Problem::NotANumber(_) => Some(
                "leave the value out or write null; json.dumps(…, allow_nan=False) finds it".into(),
            ),
            Problem::MissingField { field, of } => Some(format!("add `{field}` to the {of}")),
            Problem::DuplicateQuestion(_) => Some("ids are unique over all templates".into()),
            Problem::UnknownColumn { known, .. } if known.is_empty() => {
                Some("the reference output has no columns".into())
            }
            Problem::UnknownColumn { known, .. } => {
                Some(format!("columns present: {}", known.join(", ")))
            }
            Problem::MissingOutput(_) => Some("add `output` to the step".into()),
            Problem::UnknownQuestion(_) => {
                Some("check that responses and reference belong together".into())
            }
            Problem::BadSetting { hint, .. } => hint.clone(),
            _ => None,
        }
    }
}

impl fmt::Display for DatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { file, line, column, path } = &self.place;
        write!(f, "{file}:{line}:{column}: {}", self.problem)?;
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
}

impl Problems {
    /// At most this many problems of a file are kept; the rest are counted.
    pub const MOST: usize = 100;

    /// Adds a problem, or counts it when there are too many.
    pub fn push(&mut self, error: DatasetError) {
        if self.errors.len() < Self::MOST {
            self.errors.push(error);
        } else {
            self.n_more += 1;
        }
    }

    /// Adds another file's, or another look's, problems.
    pub fn extend(&mut self, other: Problems) {
        self.n_more += other.n_more;
        for error in other.errors {
            self.push(error);
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }
}

impl From<DatasetError> for Problems {
    fn from(error: DatasetError) -> Problems {
        Problems { errors: vec![error], n_more: 0 }
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
