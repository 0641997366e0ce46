//! A run that survives: its folder holds what it was asked to do and every question judged so far.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use juror_score::Note;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::input::reason;

/// Why a run's folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunFolderError {
    /// It cannot be read or written.
    #[error("{}: {}", path.display(), reason(error))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// It is another run's.
    #[error(
        "{}: this run was begun with other {}\n  hint: choose another folder, or go on all the same with --resume-changed",
        folder.display(),
        differences.join(", ")
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// What differs.
        differences: Vec<&'static str>,
    },
    /// Another process is at it.
    #[error("{}: another process is working on this run", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// Something else has its name.
    #[error("{}:{line}: not written by juror: {why}\n  hint: it was left as it is; choose another folder", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// Judging could not begin.
    #[error("cannot start: {0}")]
    Runtime(io::Error),
}

/// What a run is asked to do; two runs that agree in all of it may share a folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunInfo {
    /// The release that began it.
    pub juror: String,
    /// The reference: its name and the hash of its content.
    pub reference: Input,
    /// The responses: their name and the hash of their content.
    pub responses: Input,
    /// What decides verdicts: models, parameters, prompts, rules.
    pub judges: Value,
    /// The settings as written, without keys.
    pub settings: Value,
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// As the user named it.
    pub name: String,
    /// Of its content.
    pub hash: String,
}

impl Input {
    /// A file's name and the hash of its content.
    pub fn new(name: &str, content: &str) -> Input {
        Input { name: name.to_owned(), hash: blake3::hash(content.as_bytes()).to_hex().to_string() }
    }
}

/// How a folder of an earlier run is used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resume {
    /// Judge again what has an error.
    pub retry_errors: bool,
    /// Go on even if settings or inputs have changed.
    pub even_if_changed: bool,
}

/// The folder of a run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    records: File,
    done: HashMap<String, Done>,
}

/// What is known of a question that was judged.
#[derive(Debug, PartialEq)]
pub(crate) struct Done {
    pub(crate) key: String,
    pub(crate) notes: Vec<Note>,
    pub(crate) failed_outside: bool,
}

/// A judged question, one a line.
#[derive(Serialize, Deserialize)]
struct Line {
    question_id: String,
    /// Stands for the case and everything that decides verdicts on it.
    key: String,
    notes: Vec<Note>,
    /// Whether something is missing for a reason outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed_outside: bool,
}

impl RunFolder {
    /// Begins a run in a folder, or goes on with it.
    pub fn open(folder: &str, info: &RunInfo, resume: Resume) -> Result<RunFolder, RunFolderError> {
        let folder = Path::new(folder);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| RunFolderError::Io { path, error }
        };
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        let path = folder.join("records.jsonl");
        let open = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut records = open.map_err(failed(&path))?;
        match records.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(RunFolderError::Busy { folder: folder.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(failed(&path)(error)),
        }
        let begun = folder.join("run.json");
        match std::fs::read(&begun) {
            Ok(bytes) => check(folder, &bytes, info, resume)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&begun)(error)),
        }
        let done = read_records(&path, &mut records, resume)?;
        write_info(folder, &begun, info).map_err(failed(&begun))?;
        Ok(RunFolder { path, records, done })
    }

    /// How many questions were judged already.
    pub fn n_done(&self) -> usize {
        self.done.len()
    }

    /// What is known of a question that was judged already, and has not changed since.
    pub(crate) fn take(&mut self, id: &str, key: &str) -> Option<Done> {
        self.done.remove(id).filter(|done| done.key == key)
    }

    /// Keeps a judged question; once this returns, a crash of the process does not lose it.
    pub(crate) fn keep(&mut self, id: &str, done: &Done) -> Result<(), RunFolderError> {
        let Done { key, notes, failed_outside } = done;
        let line = Line {
            question_id: id.to_owned(),
            key: key.clone(),
            notes: notes.clone(),
            failed_outside: *failed_outside,
        };
        // Texts and finite numbers are always JSON.
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        bytes.push(b'\n');
        let failed = |error| RunFolderError::Io { path: self.path.clone(), error };
        self.records.write_all(&bytes).map_err(failed)
    }
}

fn check(
    folder: &Path,
    bytes: &[u8],
    info: &RunInfo,
    resume: Resume,
) -> Result<(), RunFolderError> {
    let begun: RunInfo = serde_json::from_slice(bytes).map_err(|error| {
        let path = folder.join("run.json");
        RunFolderError::Damaged { path, line: error.line(), why: error.to_string() }
    })?;
    let mut differences = Vec::new();
    for (differs, what) in [
        (begun.reference.hash != info.reference.hash, "reference questions"),
        (begun.responses.hash != info.responses.hash, "responses"),
        (begun.judges != info.judges, "models, prompts or rules"),
    ] {
        if differs {
            differences.push(what);
        }
    }
    if differences.is_empty() || resume.even_if_changed {
        return Ok(());
    }
    Err(RunFolderError::Changed { folder: folder.to_owned(), differences })
}

/// Reads the questions judged so far. A last line that was cut off is dropped from the file.
fn read_records(
    path: &Path,
    records: &mut File,
    resume: Resume,
) -> Result<HashMap<String, Done>, RunFolderError> {
    let failed = |error| RunFolderError::Io { path: path.to_owned(), error };
    let mut text = Vec::new();
    records.rewind().map_err(failed)?;
    records.read_to_end(&mut text).map_err(failed)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut done = HashMap::new();
    for (index, line) in text[..whole].split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let line: Line = serde_json::from_slice(line).map_err(|error| {
            let (path, why) = (path.to_owned(), error.to_string());
            RunFolderError::Damaged { path, line: index + 1, why }
        })?;
        if resume.retry_errors && line.notes.iter().any(Note::is_error) {
            done.remove(&line.question_id);
        } else {
            let Line { question_id, key, notes, failed_outside } = line;
            done.insert(question_id, Done { key, notes, failed_outside });
        }
    }
    let cut_off = &text[whole..];
    // Only what a run of ours can have left behind is dropped.
    if !cut_off.is_empty() && !cut_off.starts_with(b"{\"question_id\":") {
        let line = text[..whole].split(|byte| *byte == b'\n').count();
        let why = "it is cut off, and not the beginning of one".into();
        return Err(RunFolderError::Damaged { path: path.to_owned(), line, why });
    }
    records.set_len(whole as u64).map_err(failed)?;
    Ok(done)
}

fn write_info(folder: &Path, path: &Path, info: &RunInfo) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".juror-").tempfile_in(folder)?;
    serde_json::to_writer_pretty(&mut file, info)?;
    file.write_all(b"\n")?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Settings for the record: every value that could be a key is left out.
pub fn without_keys(settings: &Value) -> Value {
    match settings {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let lower = name.to_ascii_lowercase();
                let is_secret =
                    ["key", "token", "secret", "password", "auth", "credential", "headers"]
                        .iter()
                        .any(|word| lower.contains(word))
                        && !lower.contains("max_tokens")
                        && !lower.contains("tokens_per_minute")
                        && !lower.ends_with("_keys")
                        && lower != "error_key"
                        && !value.is_number();
                let value = if is_secret { Value::from("***") } else { without_keys(value) };
                (name.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(without_keys).collect(),
        // An address may carry a name and a password.
        Value::String(text) if text.contains("://") && text.contains('@') => Value::from("***"),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn info(responses: &str) -> RunInfo {
        RunInfo {
            juror: "0".into(),
            reference: Input::new("r", "reference"),
            responses: Input::new("a", responses),
            judges: json!({"chat": "m"}),
            settings: json!({}),
        }
    }

    fn open(folder: &Path, responses: &str, resume: Resume) -> Result<RunFolder, RunFolderError> {
        RunFolder::open(&folder.display().to_string(), &info(responses), resume)
    }

    #[test]
    fn a_run_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut run = open(folder.path(), "x", Resume::default()).expect("new");
        let notes = vec![Note::new("answer_f1", 0.5), Note::new("my_error", "no").of_step(Some(2))];
        let first = || Done { key: "k1".into(), notes: notes.clone(), failed_outside: true };
        run.keep("q1", &first()).expect("kept");
        let notes = vec![Note::new("answer_f1", 1.0)];
        run.keep("q2", &Done { key: "k2".into(), notes, failed_outside: false }).expect("kept");
        assert!(matches!(
            open(folder.path(), "x", Resume::default()),
            Err(RunFolderError::Busy { .. })
        ));
        drop(run);
        let path = folder.path().join("records.jsonl");
        let mut file = OpenOptions::new().append(true).open(&path).expect("open");
        file.write_all(b"{\"question_id\":\"q3\",\"no").expect("cut off");
        drop(file);
        let mut again = open(folder.path(), "x", Resume::default()).expect("again");
        assert_eq!(again.n_done(), 2);
        assert_eq!(again.take("q1", "k1"), Some(first()));
        assert_eq!(again.take("q2", "changed"), None);
        drop(again);
        let retry = Resume { retry_errors: true, ..Resume::default() };
        assert_eq!(open(folder.path(), "x", retry).expect("again").n_done(), 1);
    }

    #[test]
    fn another_file_is_left_alone() {
        for text in ["{\"my\": \"data\"}\nprecious", "precious", "{\"my\": \"data\"}\n"] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("records.jsonl");
            std::fs::write(&path, text).expect("written");
            let error = open(folder.path(), "x", Resume::default()).expect_err("refused");
            assert!(matches!(error, RunFolderError::Damaged { .. }), "{error}");
            assert_eq!(std::fs::read_to_string(&path).expect("read"), text);
        }
    }

    #[test]
    fn changed_inputs_are_refused_unless_told() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(open(folder.path(), "x", Resume::default()).expect("new"));
        let error = open(folder.path(), "y", Resume::default()).expect_err("changed");
        assert!(error.to_string().contains("other responses"), "{error}");
        let told = Resume { even_if_changed: true, ..Resume::default() };
        drop(open(folder.path(), "y", told).expect("told"));
    }

    #[test]
    fn keys_do_not_reach_the_folder() {
        let settings = json!({"llm": {"generation": {"api_key": "sk", "max_tokens": 5,
            "headers": {"x": "y"}}, "tokens_per_minute": 3}});
        let expected = json!({"llm": {"generation": {"api_key": "***", "max_tokens": 5,
            "headers": "***"}, "tokens_per_minute": 3}});
        assert_eq!(without_keys(&settings), expected);
    }
}
