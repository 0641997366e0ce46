//! What became of each query of a run, kept the moment it is known, so that a run survives.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use juror_document::{Notice, option, phrase};
use juror_store::read_plain;
use juror_toolbench::answer::Answer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::input::reason;
use crate::manifest::{self, Manifest, Resume, RunKind};
use crate::torn;

/// What an agent made of a query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attempted {
    /// The set of the query.
    pub set: String,
    /// Its id.
    pub query_id: String,
    /// What is asked.
    #[serde(default)]
    pub query: String,
    /// The final answer; none where the agent gave none.
    pub final_answer: Option<String>,
    /// What it did, where that is known already and need not be read or kept.
    #[serde(skip)]
    pub answer: Option<Arc<Answer<'static>>>,
    /// What the agent says it did, in the form of answer files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_details: Option<Box<RawValue>>,
    /// The APIs that it says it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_apis: Vec<(String, String)>,
    /// The APIs that it says it called in one way or another, where they are not those that its
    /// calls arrived at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<(String, String)>,
    /// How many of the built-in agent's calls were read from the text of its model's replies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls_from_text: usize,
    /// Why the built-in agent was stopped before its steps ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The calls that were served to it.
    #[serde(default)]
    pub calls: Vec<ServedCall>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took, in seconds, where that is known.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Tokens of its models, where they are known.
    #[serde(default)]
    pub tokens: u64,
    /// What they cost in US dollars, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A call that was served to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServedCall {
    /// The category, as asked.
    pub category: String,
    /// The tool, as asked.
    pub tool_name: String,
    /// The API, as asked.
    pub api_name: String,
    /// The arguments.
    pub tool_input: Box<RawValue>,
    /// The reply.
    pub reply: Box<RawValue>,
    /// Where it came from: `cache`, `simulator`, `real` or `none`.
    pub source: String,
    /// In what the arguments of a known reply differ from these: `numbers`, `order`.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// Who made a known reply that no cache folder brought: `simulator` or `real`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<String>,
    /// Why there is no reply though one might have been had, such as a source that is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Why a run cannot be begun or gone on with.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// A file cannot be read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// Another process works on the run.
    Busy(PathBuf),
    /// The run is finished, and nothing of it may pass for a new one.
    Finished(PathBuf),
    /// The run was begun otherwise.
    Changed {
        /// The folder.
        path: PathBuf,
        /// What differs.
        changed: Vec<String>,
    },
    /// A line is no attempt.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notice().fmt(f)
    }
}

impl std::error::Error for JournalError {}

impl JournalError {
    /// The problem and its hint.
    pub fn notice(&self) -> Notice {
        match self {
            JournalError::Io { path, error } => {
                Notice::new(format!("{}: {}", path.display(), reason(error)))
            }
            JournalError::Busy(folder) => {
                Notice::new(format!("{}: another process works on this run", folder.display()))
            }
            JournalError::Finished(folder) => {
                Notice::new(format!("{}: this run is finished", folder.display())).hint(phrase![
                    option("fresh"),
                    " replaces it, ",
                    option("retry-errors"),
                    " tries again what ended with an error; or choose another folder with ",
                    option("run")
                ])
            }
            JournalError::Changed { path, changed } => {
                let (path, changed) = (path.display(), changed.join(", "));
                Notice::new(format!("{path}: this run was begun otherwise: {changed} changed"))
                    .hint(phrase![
                        "begin it anew with ",
                        option("fresh"),
                        ", choose another folder with ",
                        option("run"),
                        ", or go on all the same with ",
                        option("resume-changed")
                    ])
            }
            JournalError::Damaged { path, line, reason } => {
                let path = path.display();
                Notice::new(format!("{path}:{line}: not what juror writes: {reason}")).hint(
                    phrase![
                        "the file was left as it is; choose another folder with ",
                        option("run")
                    ],
                )
            }
        }
    }
}

/// The file of a run's folder that grows by a line for each query.
pub(super) const ATTEMPTS: &str = "attempts.jsonl";

/// A run's folder.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    path: PathBuf,
    file: Mutex<File>,
    run: Manifest,
    done: HashMap<(String, String), Attempted>,
}

impl Journal {
    /// Begins a run in a folder, or goes on with the one it holds.
    pub fn open(folder: &Path, mut run: Manifest, resume: Resume) -> Result<Journal, JournalError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| JournalError::Io { path, error }
        };
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let path = folder.join(ATTEMPTS);
        let open = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut file = open.map_err(io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Busy(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io(&path)(error)),
        }
        let known = check(folder, &run, resume)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io(&path))?;
        let keeps = known.is_some() && !resume.fresh;
        let is_replaced = known.is_some() && resume.fresh;
        if known.is_none() && !bytes.is_empty() {
            // Nobody says whose they are.
            let (line, reason) = (1, "there is no run.json beside it".to_owned());
            return Err(JournalError::Damaged { path, line, reason });
        }
        let attempts = if is_replaced { Vec::new() } else { read(&path, &bytes)? };
        // A line that was cut off by a crash is begun anew.
        let whole = if keeps { torn::split(&bytes).0.len() } else { 0 };
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(io(&path))?;
            file.seek(std::io::SeekFrom::End(0)).map_err(io(&path))?;
        }
        // Of several lines for a query the last counts.
        let own =
            |attempted: Attempted| ((attempted.set.clone(), attempted.query_id.clone()), attempted);
        let done = attempts.into_iter().map(own).collect();
        // What goes on began when it began.
        let began = known.filter(|_| keeps).map_or(run.began.clone(), |known| known.began);
        run.began = began;
        run.write(folder).map_err(io(&manifest::path_in(folder)))?;
        let folder = folder.to_owned();
        Ok(Journal { folder, path, file: Mutex::new(file), run, done })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many queries were tried already.
    pub fn n_done(&self) -> usize {
        self.done.len()
    }

    /// Says that the results of the run are written: it will not be gone on with.
    pub fn complete(&self) -> Result<(), JournalError> {
        let failed = |error| JournalError::Io { path: manifest::path_in(&self.folder), error };
        self.run.clone().complete(&self.folder).map_err(failed)
    }

    /// What became of a query, if it is known.
    pub fn get(&self, set: &str, id: &str) -> Option<&Attempted> {
        self.done.get(&(set.to_owned(), id.to_owned()))
    }

    /// Keeps what became of a query; it survives a crash of the process once this returns.
    pub fn keep(&self, attempted: &Attempted) -> Result<(), JournalError> {
        let failed = |error| JournalError::Io { path: self.path.clone(), error };
        let mut line = serde_json::to_vec(attempted).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(failed)
    }
}

/// What became of the queries of a run, in the order they ended; nothing where the folder holds no
/// run.
pub fn read_attempts(folder: &Path) -> Result<Option<Vec<Attempted>>, JournalError> {
    let path = folder.join(ATTEMPTS);
    let bytes = match read_plain(&path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
        Err(error) => return Err(JournalError::Io { path, error }),
    };
    let attempts = read(&path, &bytes)?;
    let mut seen = HashSet::new();
    let is_last = |own: &Attempted| seen.insert((own.set.clone(), own.query_id.clone()));
    let mut last: Vec<Attempted> = attempts.into_iter().rev().filter(is_last).collect();
    last.reverse();
    Ok(Some(last))
}

/// What a folder holds already, if it may be gone on with, or replaced.
pub(super) fn check(
    folder: &Path,
    run: &Manifest,
    resume: Resume,
) -> Result<Option<Manifest>, JournalError> {
    let path = manifest::path_in(folder);
    let known = match Manifest::read(folder) {
        Ok(None) => return Ok(None),
        Ok(Some(Ok(known))) if known.kind == RunKind::Bench => known,
        Ok(Some(Ok(_))) => {
            let reason = "it is no run of an agent".into();
            return Err(JournalError::Damaged { path, line: 1, reason });
        }
        Ok(Some(Err(error))) => {
            let (line, reason) = (error.line(), error.to_string());
            return Err(JournalError::Damaged { path, line, reason });
        }
        Err(error) => return Err(JournalError::Io { path, error }),
    };
    if resume.fresh {
        return Ok(Some(known));
    }
    let changed = known.differences(run);
    if !changed.is_empty() && !resume.even_if_changed {
        return Err(JournalError::Changed { path: folder.to_owned(), changed });
    }
    if known.is_complete && !resume.retry_errors {
        return Err(JournalError::Finished(folder.to_owned()));
    }
    Ok(Some(known))
}

fn read(path: &Path, bytes: &[u8]) -> Result<Vec<Attempted>, JournalError> {
    let (whole, _) = torn::split(bytes);
    let lines = whole.strip_suffix(b"\n").unwrap_or(whole).split(|byte| *byte == b'\n');
    let attempted = |(number, line): (usize, &[u8])| {
        serde_json::from_slice(line).map_err(|error| {
            let (path, line, reason) = (path.to_owned(), number + 1, error.to_string());
            JournalError::Damaged { path, line, reason }
        })
    };
    lines.enumerate().filter(|(_, line)| !line.is_empty()).map(attempted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn attempted(id: &str, answer: &str) -> Attempted {
        Attempted {
            set: "A".into(),
            query_id: id.into(),
            query: String::new(),
            final_answer: Some(answer.into()),
            answer: None,
            answer_details: None,
            called_apis: Vec::new(),
            claimed: Vec::new(),
            calls_from_text: 0,
            stopped: None,
            calls: Vec::new(),
            error: None,
            seconds: Some(0.5),
            tokens: 0,
            usd: None,
        }
    }

    fn run(agent: &str) -> Manifest {
        Manifest::new(RunKind::Bench, agent, json!({"agent": agent}))
    }

    fn open(folder: &Path, agent: &str) -> Result<Journal, JournalError> {
        Journal::open(folder, run(agent), Resume::default())
    }

    #[test]
    fn a_run_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = open(folder.path(), "x").expect("new");
        journal.keep(&attempted("1", "a")).expect("kept");
        journal.keep(&attempted("1", "b")).expect("kept");
        let began = journal.run.began.clone();
        drop(journal);
        let file = folder.path().join("attempts.jsonl");
        let mut bytes = std::fs::read(&file).expect("bytes");
        bytes.extend_from_slice(
            &"{\"set\": \"A\", \"query_id\": \"2\", \"final_answer\": \"é".as_bytes()[..48],
        );
        std::fs::write(&file, &bytes).expect("cut off inside a character");
        let journal = open(folder.path(), "x").expect("again");
        assert_eq!(journal.get("A", "1").expect("known").final_answer.as_deref(), Some("b"));
        assert_eq!((journal.n_done(), &journal.run.began), (1, &began));
        assert!(journal.get("A", "2").is_none());
        journal.keep(&attempted("2", "c")).expect("kept");
        drop(journal);
        let journal = open(folder.path(), "x").expect("whole");
        assert!(journal.get("A", "2").is_some());
        drop(journal);
        let whole = std::fs::read(&file).expect("bytes");
        std::fs::write(&file, [&whole[..], b"{\"set\"\0\0\0"].concat()).expect("torn");
        let journal = open(folder.path(), "x").expect("torn by a power cut");
        assert_eq!(journal.n_done(), 2);
        drop(journal);
        assert_eq!(std::fs::read(&file).expect("bytes"), whole);
    }

    #[test]
    fn another_run_is_not_mixed_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = open(folder.path(), "x").expect("new");
        let busy = open(folder.path(), "x");
        assert!(matches!(busy, Err(JournalError::Busy(_))));
        drop(first);
        let changed = open(folder.path(), "y");
        assert!(changed.expect_err("changed").to_string().contains("agent changed"));
        let told = Resume { even_if_changed: true, ..Resume::default() };
        assert!(Journal::open(folder.path(), run("y"), told).is_ok());
        std::fs::write(folder.path().join("attempts.jsonl"), "{}\n").expect("written");
        let damaged = open(folder.path(), "y");
        assert!(matches!(damaged, Err(JournalError::Damaged { line: 1, .. })));
    }

    #[test]
    fn a_finished_run_is_neither_gone_on_with_nor_replaced_unless_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = open(folder.path(), "x").expect("new");
        journal.keep(&attempted("1", "a")).expect("kept");
        journal.complete().expect("written");
        drop(journal);
        let refused = open(folder.path(), "x").expect_err("finished").to_string();
        assert!(refused.contains("hint: --fresh"), "{refused}");
        let retry = Resume { retry_errors: true, ..Resume::default() };
        let journal = Journal::open(folder.path(), run("x"), retry).expect("again");
        assert_eq!(journal.n_done(), 1);
        drop(journal);
        let fresh = Resume { fresh: true, ..Resume::default() };
        let journal = Journal::open(folder.path(), run("y"), fresh).expect("anew");
        assert_eq!(journal.n_done(), 0);
        drop(journal);
        assert_eq!(std::fs::read(folder.path().join(ATTEMPTS)).expect("a file"), b"");
    }

    #[test]
    fn what_is_no_run_of_ours_is_never_replaced() {
        let fresh = Resume { fresh: true, ..Resume::default() };
        // The last has no line that is whole, as a file of JSON that somebody wrote.
        for precious in ["precious\n", "\n", "{\"precious\": 1}"] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join(ATTEMPTS), precious).expect("written");
            open(folder.path(), "x").expect_err("refused");
            Journal::open(folder.path(), run("x"), fresh).expect_err("refused");
            std::fs::write(folder.path().join("run.json"), "{\"mine\": 1}").expect("written");
            Journal::open(folder.path(), run("x"), fresh).expect_err("refused");
            let text = std::fs::read_to_string(folder.path().join(ATTEMPTS)).expect("text");
            assert_eq!(text, precious);
        }
    }
}
