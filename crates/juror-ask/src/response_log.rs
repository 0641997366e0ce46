//! Responses as they come: each is written the moment it exists.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use juror_bench::Selected;
use juror_files::WholeFile;
use juror_runs::{Journal, RunFile, RunFolder, RunLogError};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::AskError;
use crate::response::{LINE_START, Response};

/// Receives a response, as a line of JSON.
type WriteLine = Box<dyn Fn(&str) -> io::Result<()> + Send + Sync>;

/// Where responses go, and those that are there already.
pub struct ResponseLog {
    place: Place,
    known: HashMap<ResponseId, KnownResponse>,
}

enum Place {
    Journal(PathBuf, Journal),
    Stream(WriteLine),
}

/// A question's id, and the number of the answer to it, counting from 1.
type ResponseId = (String, usize);

/// A response of an earlier process.
struct KnownResponse {
    line: Box<RawValue>,
    is_error: bool,
}

/// What tells a response from others.
#[derive(Deserialize)]
struct Head {
    question_id: Value,
    #[serde(default)]
    trial: Option<usize>,
    #[serde(default)]
    status: Value,
    #[serde(default)]
    error: Value,
}

impl ResponseLog {
    /// Creates a log that hands each response to a function, and starts without responses.
    pub fn stream(write: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static) -> ResponseLog {
        ResponseLog { place: Place::Stream(Box::new(write)), known: HashMap::new() }
    }

    /// Opens the file that responses are appended to, and reads those that are there. `is_new` says
    /// that there can be none, and `fresh` that they do not count.
    pub fn open(path: &Path, is_new: bool, fresh: bool) -> Result<ResponseLog, RunLogError> {
        ResponseLog::read(path, Journal::lock(path, LINE_START)?, is_new, fresh)
    }

    /// Opens the responses of a run that may be in a database.
    pub fn open_in(folder: &RunFolder, fresh: bool) -> Result<ResponseLog, RunLogError> {
        let file = RunFile::Attempts;
        let journal = Journal::of_run(folder, file, LINE_START)?;
        ResponseLog::read(&file.path_in(folder.path()), journal, false, fresh)
    }

    fn read(
        path: &Path,
        mut journal: Journal,
        is_new: bool,
        fresh: bool,
    ) -> Result<ResponseLog, RunLogError> {
        let mut known = HashMap::new();
        if is_new {
            journal.refuse_lines()?;
        } else if fresh {
            journal.clear()?;
        } else {
            known.extend(journal.resume()?.into_iter().filter_map(read_line));
        }
        Ok(ResponseLog { place: Place::Journal(path.to_owned(), journal), known })
    }

    /// Forgets responses that are errors, so that their questions are asked again.
    pub fn forget_errors(&mut self) {
        self.known.retain(|_, known| !known.is_error);
    }

    /// Returns whether a response of an earlier process is an error; `None` if there is none.
    pub(crate) fn known_error(&self, selected: &Selected) -> Option<bool> {
        self.known.get(&id_of(selected)).map(|known| known.is_error)
    }

    /// Writes a response.
    pub(crate) async fn append(&self, response: &Response<'_>) -> Result<(), AskError> {
        match &self.place {
            Place::Journal(_, journal) => Ok(journal.append_async(response).await?),
            Place::Stream(write) => {
                // Strings and numbers always serialize.
                let line = serde_json::to_string(response).unwrap_or_default();
                write(&line).map_err(AskError::Write)
            }
        }
    }

    /// Fails if a file of responses is damaged, without changing more than a torn last line. A file
    /// that is not there is not damaged.
    pub fn check(path: &Path) -> Result<(), RunLogError> {
        if path.exists() { ResponseLog::open(path, false, false).map(drop) } else { Ok(()) }
    }

    /// Puts the responses in the order of the questions, one for each answer, once all are there: an
    /// error that was asked again is in the file twice, and answers are in the order in which they
    /// came. Responses to what was not asked this time follow, so that none is lost.
    pub fn put_in_order(self, questions: &[Selected]) -> Result<(), AskError> {
        let Place::Journal(path, mut journal) = self.place else { return Ok(()) };
        let lines: Vec<Box<RawValue>> = journal.resume()?;
        let lines: Vec<_> = lines.into_iter().filter_map(read_line).collect();
        let order: HashMap<ResponseId, usize> = questions.iter().map(id_of).zip(0..).collect();
        let place = |id: &ResponseId| order.get(id).copied().unwrap_or(usize::MAX);
        let mut last: HashMap<ResponseId, usize> = HashMap::new();
        last.extend(lines.iter().map(|(id, _)| id.clone()).zip(0..));
        let each = lines.into_iter().enumerate();
        let mut kept: Vec<_> = each.filter(|(at, (id, _))| last.get(id) == Some(at)).collect();
        kept.sort_by_key(|(at, (id, _))| (place(id), *at));
        write_all(&path, kept.into_iter().map(|(_, (_, known))| known.line))
            .map_err(|error| AskError::Log(RunLogError::Io { path: path.clone(), error }))?;
        Ok(journal.publish()?)
    }
}

fn write_all(path: &Path, lines: impl Iterator<Item = Box<RawValue>>) -> io::Result<()> {
    let mut file = io::BufWriter::new(WholeFile::begin(path)?);
    for line in lines {
        file.write_all(line.get().as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
}

fn id_of(selected: &Selected) -> ResponseId {
    (selected.id.clone(), selected.trial.unwrap_or(1))
}

/// Reads what a line is about; `None` if it is not a response, which is not counted as one.
fn read_line(line: Box<RawValue>) -> Option<(ResponseId, KnownResponse)> {
    let head: Head = serde_json::from_str(line.get()).ok()?;
    let id = match head.question_id {
        Value::String(id) => id,
        other => other.to_string(),
    };
    let is_error = head.status == "error" || !head.error.is_null();
    Some(((id, head.trial.unwrap_or(1)), KnownResponse { line, is_error }))
}
