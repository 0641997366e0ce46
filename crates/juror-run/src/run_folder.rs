//! A run that survives: its folder holds what it was asked to do and every question judged so far.

use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use juror_document::{Notice, option, phrase};
use juror_score::{Aspect, Cause, FlatPair, Judgement, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hidden::{Mask, in_address};
use crate::input::reason;
use crate::manifest::{self, Manifest, Resume, RunKind};
use crate::torn;

/// Why a run's folder cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunFolderError {
    /// It cannot be read or written.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// It is another run's.
    Changed {
        /// The folder.
        folder: PathBuf,
        /// What differs.
        differences: Vec<&'static str>,
    },
    /// Its results are written, and nothing of it may pass for a new run.
    Finished {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process is at it.
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// Something else has its name.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// Judging could not begin.
    Runtime(io::Error),
}

impl fmt::Display for RunFolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notice().fmt(f)
    }
}

impl std::error::Error for RunFolderError {}

impl RunFolderError {
    /// The problem and its hint.
    pub fn notice(&self) -> Notice {
        match self {
            RunFolderError::Io { path, error } => {
                Notice::new(format!("{}: {}", path.display(), reason(error)))
            }
            RunFolderError::Changed { folder, differences } => {
                let (folder, differences) = (folder.display(), differences.join(", "));
                Notice::new(format!("{folder}: this run was begun with other {differences}")).hint(
                    phrase![
                        "begin it anew with ",
                        option("fresh"),
                        ", choose another folder, or go on all the same with ",
                        option("resume-changed")
                    ],
                )
            }
            RunFolderError::Finished { folder } => {
                Notice::new(format!("{}: this run is finished", folder.display())).hint(phrase![
                    option("fresh"),
                    " replaces it, ",
                    option("retry-errors"),
                    " judges again what has an error; or choose another folder"
                ])
            }
            RunFolderError::Busy { folder } => {
                Notice::new(format!("{}: another process is working on this run", folder.display()))
            }
            RunFolderError::Damaged { path, line, why } => {
                Notice::new(format!("{}:{line}: not written by juror: {why}", path.display()))
                    .hint("it was left as it is; choose another folder")
            }
            RunFolderError::Runtime(error) => Notice::new(format!("cannot start: {error}")),
        }
    }
}

/// What a run is asked to do; two runs that agree in all of it may share a folder.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// The reference: its name and the hash of its content.
    pub reference: Input,
    /// The responses: their name and the hash of their content.
    pub responses: Input,
    /// What decides verdicts: models, parameters, prompts, rules.
    pub judges: Value,
    /// What the judges look at.
    pub aspects: Vec<Aspect>,
    /// The settings as written, without keys.
    pub settings: Value,
}

impl RunInfo {
    fn manifest(&self) -> Manifest {
        let RunInfo { reference, responses, judges, settings, .. } = self;
        let identity = json!({"reference": reference, "responses": responses, "judges": judges});
        Manifest::new(RunKind::Eval, &responses.name, identity).with("settings", settings.clone())
    }
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

/// The folder of a run.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    path: PathBuf,
    records: File,
    run: Manifest,
    done: HashMap<String, Done>,
}

/// What is known of a question that was judged.
#[derive(Debug)]
struct Done {
    key: String,
    judgement: Judgement,
}

/// A judged question, one a line. `J` is what judges found out, as key-value pairs.
#[derive(Serialize, Deserialize)]
struct Line<J> {
    question_id: String,
    /// Stands for the case and everything that decides verdicts on it.
    key: String,
    #[serde(rename = "notes")]
    judgement: J,
    /// Whether something is missing for a reason outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed_outside: bool,
    /// That reason; older lines do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside: Option<String>,
    /// Whether it is that a reply did not come in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    late: bool,
}

impl Line<Vec<FlatPair>> {
    /// What the line tells; `None` if judges of these aspects cannot have written it.
    fn read(self, aspects: &[Aspect]) -> Option<(String, Done)> {
        let mut judgement = Judgement::read(self.judgement, aspects)?;
        if self.failed_outside {
            let cause = if self.late { Cause::Late } else { Cause::Outside };
            mark_outside(&mut judgement, self.outside.as_deref(), cause);
        }
        Some((self.question_id, Done { key: self.key, judgement }))
    }
}

/// Marks what failed for a reason outside: all that gives this reason. Where no reason is told, the
/// first failure may be it.
fn mark_outside(judgement: &mut Judgement, reason: Option<&str>, cause: Cause) {
    let failures = judgement.findings.iter_mut().filter_map(|finding| match &mut finding.verdict {
        Verdict::Failed(why) => Some(why),
        _ => None,
    });
    let is_it = |message: &str| reason.is_none_or(|reason| reason == message);
    let most = if reason.is_some() { usize::MAX } else { 1 };
    failures.filter(|why| is_it(&why.message)).take(most).for_each(|why| why.cause = cause);
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
        let mut run = info.manifest();
        let earlier = check(folder, &run, resume)?;
        if earlier.is_none() && records.metadata().map_err(failed(&path))?.len() > 0 {
            // Nobody says what was asked for them.
            let (line, why) = (1, "there is no run.json beside it".to_owned());
            return Err(RunFolderError::Damaged { path, line, why });
        }
        let is_replaced = earlier.is_some() && resume.fresh;
        if is_replaced {
            records.set_len(0).map_err(failed(&path))?;
        }
        let done = read_records(&path, &mut records, &info.aspects, resume)?;
        // What goes on began when it began.
        if let Some(earlier) = earlier.filter(|_| !is_replaced) {
            run.began = earlier.began;
        }
        run.write(folder).map_err(failed(&manifest::path_in(folder)))?;
        Ok(RunFolder { folder: folder.to_owned(), path, records, run, done })
    }

    /// Says that the results of the run are written: it will not be gone on with.
    pub fn complete(&mut self) -> Result<(), RunFolderError> {
        let failed = |error| RunFolderError::Io { path: manifest::path_in(&self.folder), error };
        self.run.complete(&self.folder).map_err(failed)
    }

    /// How many questions were judged already.
    pub fn n_done(&self) -> usize {
        self.done.len()
    }

    /// What is known of a question that was judged already, and has not changed since.
    pub(crate) fn take(&mut self, id: &str, key: &str) -> Option<Judgement> {
        self.done.remove(id).filter(|done| done.key == key).map(|done| done.judgement)
    }

    /// Keeps a judged question; once this returns, a crash of the process does not lose it.
    pub(crate) fn keep(
        &mut self,
        id: &str,
        key: &str,
        judgement: &Judgement,
    ) -> Result<(), RunFolderError> {
        let outside = judgement.outside();
        let line = Line {
            question_id: id.to_owned(),
            key: key.to_owned(),
            judgement,
            failed_outside: outside.is_some(),
            outside: outside.map(|why| why.message.clone()),
            late: outside.is_some_and(|why| why.cause == Cause::Late),
        };
        // Texts and finite numbers are always JSON.
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        bytes.push(b'\n');
        let failed = |error| RunFolderError::Io { path: self.path.clone(), error };
        self.records.write_all(&bytes).map_err(failed)
    }
}

/// What a folder holds already, if it may be gone on with, or replaced.
fn check(
    folder: &Path,
    run: &Manifest,
    resume: Resume,
) -> Result<Option<Manifest>, RunFolderError> {
    let path = manifest::path_in(folder);
    let begun = match Manifest::read(folder) {
        Ok(None) => return Ok(None),
        Ok(Some(Ok(begun))) if begun.kind == RunKind::Eval => begun,
        Ok(Some(Ok(_))) => {
            let why = "it is a run of an agent".into();
            return Err(RunFolderError::Damaged { path, line: 1, why });
        }
        Ok(Some(Err(error))) => {
            let (line, why) = (error.line(), error.to_string());
            return Err(RunFolderError::Damaged { path, line, why });
        }
        Err(error) => return Err(RunFolderError::Io { path, error }),
    };
    if resume.fresh {
        return Ok(Some(begun));
    }
    let part = |run: &Manifest, place: &str| run.identity.pointer(place).cloned();
    let mut differences = Vec::new();
    for (place, what) in [
        ("/reference/hash", "reference questions"),
        ("/responses/hash", "responses"),
        ("/judges", "models, prompts or rules"),
    ] {
        if part(&begun, place) != part(run, place) {
            differences.push(what);
        }
    }
    if !differences.is_empty() && !resume.even_if_changed {
        return Err(RunFolderError::Changed { folder: folder.to_owned(), differences });
    }
    if begun.is_complete && !resume.retry_errors {
        return Err(RunFolderError::Finished { folder: folder.to_owned() });
    }
    Ok(Some(begun))
}

/// Reads the questions judged so far. What is torn of a last line is dropped from the file.
fn read_records(
    path: &Path,
    records: &mut File,
    aspects: &[Aspect],
    resume: Resume,
) -> Result<HashMap<String, Done>, RunFolderError> {
    let failed = |error| RunFolderError::Io { path: path.to_owned(), error };
    let mut text = Vec::new();
    records.rewind().map_err(failed)?;
    records.read_to_end(&mut text).map_err(failed)?;
    let (whole, torn) = torn::split(&text);
    let mut done = HashMap::new();
    for (index, line) in whole.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let line: Line<Vec<FlatPair>> = serde_json::from_slice(line).map_err(|error| {
            let (path, why) = (path.to_owned(), error.to_string());
            RunFolderError::Damaged { path, line: index + 1, why }
        })?;
        // What other judges wrote is of no use to these.
        let Some((id, one)) = line.read(aspects) else { continue };
        if resume.retry_errors && one.judgement.has_failure() {
            done.remove(&id);
        } else {
            done.insert(id, one);
        }
    }
    // Only what a run of ours can have left behind is dropped.
    if !torn::is_rest_of(torn, b"{\"question_id\":") {
        let line = whole.split(|byte| *byte == b'\n').count();
        let why = "it is cut off, and not the beginning of one".into();
        return Err(RunFolderError::Damaged { path: path.to_owned(), line, why });
    }
    records.set_len(whole.len() as u64).map_err(failed)?;
    Ok(done)
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
        Value::String(text) if text.starts_with("http://") || text.starts_with("https://") => {
            Value::from(in_address(text, Mask::Stars))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::{Finding, Why};
    use serde_json::json;

    const RELEVANCE: Aspect = Aspect::Metric("answer_relevance");
    const RECALL: Aspect = Aspect::Metric("retrieval_answer_recall");

    fn nothing() -> Judgement {
        Judgement::default()
    }

    fn relevance(score: f64) -> Finding {
        Finding::new(RELEVANCE, Verdict::scored(score))
    }

    fn info(responses: &str) -> RunInfo {
        RunInfo {
            reference: Input::new("r", "reference"),
            responses: Input::new("a", responses),
            judges: json!({"chat": "m"}),
            aspects: vec![RELEVANCE, RECALL],
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
        let failed = Why { message: "no reply within 60 s".into(), cause: Cause::Late };
        let failed = Finding::new(RECALL, Verdict::Failed(failed)).of_step(2);
        let first = Judgement { findings: vec![relevance(0.5), failed], ..nothing() };
        run.keep("q1", "k1", &first).expect("kept");
        let second = Judgement { findings: vec![relevance(1.0)], ..nothing() };
        run.keep("q2", "k2", &second).expect("kept");
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
        assert_eq!(again.take("q1", "k1"), Some(first));
        assert_eq!(again.take("q2", "changed"), None);
        drop(again);
        let retry = Resume { retry_errors: true, ..Resume::default() };
        assert_eq!(open(folder.path(), "x", retry).expect("again").n_done(), 1);
    }

    #[test]
    fn a_run_goes_on_wherever_its_last_line_was_torn() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut run = open(folder.path(), "x", Resume::default()).expect("new");
        run.keep("q1", "k", &nothing()).expect("kept");
        let path = folder.path().join("records.jsonl");
        let first = std::fs::read(&path).expect("bytes");
        run.keep("q2", "k", &nothing()).expect("kept");
        drop(run);
        let both = std::fs::read(&path).expect("bytes");
        let nuls: &[u8] = &[0; 40];
        for end in first.len()..both.len() {
            for behind in [&[][..], nuls] {
                std::fs::write(&path, [&both[..end], behind].concat()).expect("torn");
                let mut run = open(folder.path(), "x", Resume::default()).expect("gone on with");
                assert_eq!(run.n_done(), 1, "{end}");
                run.keep("q2", "k", &nothing()).expect("kept");
                drop(run);
                assert_eq!(std::fs::read(&path).expect("bytes"), both, "{end}");
            }
        }
    }

    #[test]
    fn lines_that_do_not_tell_the_reason_outside_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(open(folder.path(), "x", Resume::default()).expect("new"));
        let line = json!({"question_id": "q", "key": "k", "failed_outside": true,
            "notes": [{"key": "answer_relevance_error", "value": "status 503"}]});
        std::fs::write(folder.path().join("records.jsonl"), format!("{line}\n")).expect("written");
        let mut run = open(folder.path(), "x", Resume::default()).expect("a run");
        let judgement = run.take("q", "k").expect("known");
        assert_eq!(judgement.outside().map(|why| &*why.message), Some("status 503"));
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
    fn records_without_a_manifest_are_neither_used_nor_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut run = open(folder.path(), "x", Resume::default()).expect("new");
        run.keep("q", "k", &nothing()).expect("kept");
        drop(run);
        std::fs::remove_file(manifest::path_in(folder.path())).expect("removed");
        for fresh in [false, true] {
            let error = open(folder.path(), "x", Resume { fresh, ..Resume::default() });
            let error = error.expect_err("refused").to_string();
            assert!(error.contains("no run.json"), "{error}");
        }
        let text = std::fs::read_to_string(folder.path().join("records.jsonl")).expect("read");
        assert!(text.contains("\"q\""), "{text}");
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
    fn a_finished_run_is_neither_gone_on_with_nor_replaced_unless_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut run = open(folder.path(), "x", Resume::default()).expect("new");
        run.keep("q", "k", &nothing()).expect("kept");
        run.complete().expect("written");
        drop(run);
        let refused = open(folder.path(), "x", Resume::default()).expect_err("finished");
        assert!(refused.to_string().contains("hint: --fresh"), "{refused}");
        let retry = Resume { retry_errors: true, ..Resume::default() };
        assert_eq!(open(folder.path(), "x", retry).expect("again").n_done(), 1);
        let fresh = Resume { fresh: true, ..Resume::default() };
        assert_eq!(open(folder.path(), "y", fresh).expect("anew").n_done(), 0);
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
