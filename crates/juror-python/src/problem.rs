//! Problems of inputs, as Python's exceptions.

use std::fmt::Write;
use std::io::ErrorKind;

use juror_document::{DatasetError, Notice, Phrase, Problem, Problems, Spelling};
use juror_files::LoadError;
use juror_pages::UnreadableRun;
use juror_runs::RunReadError;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// A step on the path to a value.
pub(crate) enum Segment {
    /// An element of a list.
    Index(usize),
    /// A key.
    Object(Py<PyAny>),
}

/// A part of Python's objects that could not be read.
pub(crate) struct Found {
    /// The path to it, from the end.
    pub(crate) path: Vec<Segment>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Found {
    /// Describes a problem as it would be described for a file; the path is added later.
    pub(crate) fn of(problem: &Problem) -> Found {
        Found { path: Vec::new(), message: problem.to_string(), hint: hint_of(problem) }
    }

    /// Returns the path, in Juror's notation.
    pub(crate) fn path(&self, py: Python<'_>) -> String {
        let mut text = String::new();
        for segment in self.path.iter().rev() {
            match segment {
                Segment::Index(index) => {
                    let _ = write!(text, "[{index}]");
                }
                Segment::Object(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(
                        &key.bind(py)
                            .str()
                            .map_or("?".into(), |key| key.to_string_lossy().into_owned()),
                    );
                }
            }
        }
        text
    }
}

/// Returns the hint of a problem, with options as Python spells them.
pub(crate) fn hint_of(problem: &Problem) -> Option<String> {
    problem.hint().map(|hint| hint.spelled(Spelling::Python))
}

/// A problem of an input, as Python reports it.
#[derive(Clone)]
pub(crate) struct InputProblem {
    pub(crate) message: String,
    pub(crate) place: Option<(String, usize, usize)>,
    pub(crate) path: String,
    pub(crate) hint: Option<String>,
}

impl InputProblem {
    /// Converts a problem of a document; one that was made from objects has no lines.
    pub(crate) fn of(error: &DatasetError, is_file: bool) -> InputProblem {
        let place = &error.place;
        InputProblem {
            message: error.problem.to_string(),
            place: is_file.then(|| (place.file.clone(), place.line, place.column)),
            path: place.path.to_string(),
            hint: hint_of(&error.problem),
        }
    }

    /// Converts a notice, with options as Python spells them.
    pub(crate) fn without_place(notice: &Notice) -> InputProblem {
        let spelled = |phrase: &Phrase| phrase.spelled(Spelling::Python);
        let (message, hint) = (spelled(&notice.problem), notice.hint.as_ref().map(spelled));
        InputProblem { message, place: None, path: String::new(), hint }
    }

    pub(crate) fn of_object(py: Python<'_>, found: &Found) -> InputProblem {
        InputProblem {
            message: found.message.clone(),
            place: None,
            path: found.path(py),
            hint: found.hint.clone(),
        }
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let (file, line, column) = match self.place {
            Some((file, line, column)) => (Some(file), Some(line), Some(column)),
            None => (None, None, None),
        };
        let problem = errors(py)?.getattr("Problem")?;
        problem.call1((self.message, file, line, column, self.path, self.hint))
    }
}

/// Everything that prevents a run from starting.
pub(crate) enum Refusal {
    /// A file cannot be read.
    File(LoadError),
    /// A dataset cannot be used.
    Dataset(Vec<InputProblem>, usize),
    /// Settings cannot be used.
    Settings(Vec<InputProblem>, usize),
    /// Runs cannot be compared.
    Comparison(InputProblem),
    /// The operating system failed.
    Failed(String),
}

impl Refusal {
    pub(crate) fn dataset(problems: &Problems, is_file: bool) -> Refusal {
        let located =
            problems.errors.iter().map(|error| InputProblem::of(error, is_file)).collect();
        Refusal::Dataset(located, problems.n_more)
    }

    pub(crate) fn settings(problems: &Problems, is_file: bool) -> Refusal {
        let located =
            problems.errors.iter().map(|error| InputProblem::of(error, is_file)).collect();
        Refusal::Settings(located, problems.n_more)
    }

    /// Converts a setup error of `juror-run`, which has no place in a file.
    pub(crate) fn setup(notice: &Notice) -> Refusal {
        Refusal::Settings(vec![InputProblem::without_place(notice)], 0)
    }

    /// Converts the reason why a run or a file of results cannot be read.
    pub(crate) fn run(error: UnreadableRun) -> Refusal {
        match error {
            UnreadableRun::File(error) => Refusal::File(error),
            UnreadableRun::Results(problems) => Refusal::dataset(&problems, true),
            UnreadableRun::Run(RunReadError::Io { path, error }) => {
                Refusal::File(LoadError::Io { name: path.display().to_string(), error })
            }
            UnreadableRun::Run(error) => {
                Refusal::Dataset(vec![InputProblem::without_place(&error.notice())], 0)
            }
            error => Refusal::Failed(error.to_string()),
        }
    }

    pub(crate) fn into_error(self, py: Python<'_>) -> PyErr {
        let raised = match self {
            Refusal::File(LoadError::Io { name, error }) => return os_error(py, &name, &error),
            Refusal::File(LoadError::Text(problems)) => {
                return Refusal::dataset(&problems, true).into_error(py);
            }
            Refusal::Failed(why) => return PyRuntimeError::new_err(why),
            Refusal::Dataset(problems, n_more) => located(py, "DatasetError", problems, n_more),
            Refusal::Settings(problems, n_more) => located(py, "SettingsError", problems, n_more),
            Refusal::Comparison(problem) => located(py, "ComparisonError", vec![problem], 0),
        };
        raised.unwrap_or_else(|error| error)
    }
}

fn errors(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("juror._errors")
}

fn located(
    py: Python<'_>,
    class: &str,
    problems: Vec<InputProblem>,
    n_more: usize,
) -> PyResult<PyErr> {
    let problems: PyResult<Vec<_>> =
        problems.into_iter().map(|problem| problem.into_python(py)).collect();
    let error = errors(py)?.getattr(class)?.call1((problems?, n_more))?;
    Ok(PyErr::from_value(error))
}

/// Python recognizes these errors by number, and turns them into `FileNotFoundError` and the like.
pub(crate) fn os_error(py: Python<'_>, name: &str, error: &std::io::Error) -> PyErr {
    let made = match error.raw_os_error().or_else(|| number_of(py, error.kind())) {
        Some(number) => {
            let words = py.import("os").and_then(|os| os.call_method1("strerror", (number,)));
            let words = words.unwrap_or_else(|_| PyString::new(py, &error.to_string()).into_any());
            py.get_type::<PyOSError>().call1((number, words, name))
        }
        None => py.get_type::<PyOSError>().call1((format!("{name}: {error}"),)),
    };
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The system's number for an error that lost it on the way.
fn number_of(py: Python<'_>, kind: ErrorKind) -> Option<i32> {
    let name = match kind {
        ErrorKind::NotFound => "ENOENT",
        ErrorKind::PermissionDenied => "EACCES",
        ErrorKind::NotADirectory => "ENOTDIR",
        ErrorKind::IsADirectory => "EISDIR",
        ErrorKind::ReadOnlyFilesystem => "EROFS",
        ErrorKind::StorageFull => "ENOSPC",
        _ => return None,
    };
    py.import("errno").ok()?.getattr(name).ok()?.extract().ok()
}

impl std::fmt::Display for InputProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((file, line, column)) = &self.place {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        f.write_str(&self.message)?;
        if !self.path.is_empty() {
            write!(f, "\n  at {}", self.path)?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}
