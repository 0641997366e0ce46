//! The manifest of a run, `run.json`: its identity, where it comes from, and whether it is complete.

use juror_files::{WholeFile, read_plain};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fingerprint::{content_hash, short_hash};
use crate::hidden::in_command;
use crate::identity::identity_schema;
use crate::run_file::RunFile;
use crate::work_tree::WorkTree;

/// The format that is written. Manifests in other formats are from other releases.
pub(crate) const FORMAT: &str = "juror.run/1";

/// The kind of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// An evaluation of recorded answers.
    Eval,
    /// A benchmark of an agent.
    Bench,
}

impl RunKind {
    /// Returns the name of this kind of run in messages.
    pub fn name(self) -> &'static str {
        match self {
            RunKind::Eval => "run of an evaluation",
            RunKind::Bench => "run of an agent",
        }
    }

    /// Returns the word for this kind in `run.json`.
    pub fn word(self) -> &'static str {
        match self {
            RunKind::Eval => "eval",
            RunKind::Bench => "bench",
        }
    }

    /// Returns the file that gets a line for every finished item.
    pub fn log_file(self) -> RunFile {
        match self {
            RunKind::Eval => RunFile::Records,
            RunKind::Bench => RunFile::Attempts,
        }
    }

    /// Returns the beginning of every line in that file.
    pub(crate) fn line_start(self) -> &'static str {
        match self {
            RunKind::Eval => "{\"question_id\":",
            RunKind::Bench => "{\"set\":",
        }
    }
}

/// The description of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "juror.run/1")]
pub struct Manifest {
    /// The format: `juror.run/1`.
    #[schemars(regex(pattern = r"^juror\.run/1$"))]
    format: String,
    /// What tells the run from all others, also from those of the same identity.
    pub id: String,
    /// The name of what is judged or benchmarked.
    pub name: String,
    /// What kind of run it is.
    pub kind: RunKind,
    /// Whether the results are written. A complete run is not resumed.
    pub is_complete: bool,
    /// When the run began.
    pub began: String,
    /// When the results were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What the file of results held when the run was marked as complete. Earlier releases do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<WrittenResults>,
    /// Answers that judges were asked about, and that have no verdict at all; absent if all have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<Unjudged>,
    /// The release of Juror.
    pub juror: String,
    /// The command line, without keys; empty if the run was not begun by a command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The git work tree that the run began in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_tree: Option<WorkTree>,
    /// The settings as written, without keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Value>,
    /// Who judged, if the identity does not say: a benchmark is judged again whenever it is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Value>,
    /// Everything that affects the outcome.
    #[schemars(schema_with = "identity_schema")]
    pub identity: Value,
}

/// What `results.jsonl` of a complete run holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenResults {
    /// How many results.
    pub rows: u64,
    /// The size of the file.
    pub bytes: u64,
    /// The hash of the file. Earlier releases do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// Answers of a complete run that have no verdict of the judges that were asked about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unjudged {
    /// How many.
    pub answers: u64,
    /// Of how many that judges were asked about.
    pub of: u64,
    /// Why, for the first of them.
    pub reason: String,
}

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unjudged { answers, of, reason } = self;
        if answers == of {
            return write!(f, "no answer is judged, so judged metrics have no verdicts: {reason}");
        }
        write!(f, "{answers} of {of} answers have no verdict: {reason}")
    }
}

/// Why a file is not a manifest of this release.
#[derive(Debug)]
pub(crate) enum BadManifest {
    /// It says that it has another format.
    OtherFormat(String),
    /// It cannot be parsed.
    Unreadable(serde_json::Error),
}

/// How to treat a folder that already holds a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resume {
    /// Start over, and replace the contents of the folder.
    pub fresh: bool,
    /// Retry items that ended with an error, even in a complete run.
    pub retry_errors: bool,
    /// Resume even if settings or inputs have changed.
    pub even_if_changed: bool,
}

impl Manifest {
    /// Creates the manifest of a run that begins now.
    pub fn new(kind: RunKind, name: &str, identity: Value) -> Manifest {
        let began = now();
        Manifest {
            format: FORMAT.into(),
            id: id_of(&identity, &began),
            name: name.to_owned(),
            kind,
            is_complete: false,
            began,
            ended: None,
            results: None,
            unjudged: None,
            juror: env!("CARGO_PKG_VERSION").into(),
            command: Vec::new(),
            work_tree: None,
            settings: None,
            judge: None,
            identity,
        }
    }

    /// Adds the settings as they were written; keys must have been removed.
    #[must_use]
    pub fn with_settings(mut self, settings: &Value) -> Manifest {
        self.settings = Some(settings.clone()).filter(|settings| !settings.is_null());
        self
    }

    /// Adds who judges.
    #[must_use]
    pub fn with_judge(mut self, judge: Value) -> Manifest {
        self.judge = Some(judge);
        self
    }

    /// Adds where the run comes from: the command line, whose keys are removed, and the work tree
    /// in the current folder. Nothing of this affects the outcome.
    #[must_use]
    pub fn begun_by(mut self, command: &[String]) -> Manifest {
        self.command = in_command(command);
        self.work_tree = WorkTree::of(Path::new("."));
        self
    }

    /// Reads the manifest in a folder; `None` if there is none. The inner error says why a file is
    /// not a manifest of this release.
    pub(crate) fn read(folder: &Path) -> io::Result<Option<Result<Manifest, BadManifest>>> {
        match read_plain(&path_in(folder)) {
            Ok(bytes) => Ok(Some(Manifest::parse(&bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Another format may have other keys, so the format is read first.
    fn parse(bytes: &[u8]) -> Result<Manifest, BadManifest> {
        #[derive(Deserialize)]
        struct Form {
            format: String,
        }
        let Form { format } = serde_json::from_slice(bytes).map_err(BadManifest::Unreadable)?;
        if format != FORMAT {
            return Err(BadManifest::OtherFormat(format));
        }
        serde_json::from_slice(bytes).map_err(BadManifest::Unreadable)
    }

    /// Writes the manifest into a folder, completely or not at all.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = WholeFile::begin_private(&path_in(folder))?;
        // In one piece: a writer that gets each word of JSON would make a thousand calls.
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        file.write_all(&text)?;
        file.finish()
    }

    /// Marks the run as complete, of which so many results are written, and writes the manifest.
    pub(crate) fn complete(&mut self, folder: &Path, n_results: usize) -> io::Result<()> {
        let path = RunFile::Results.path_in(folder);
        let size = std::fs::metadata(&path).map(|file| file.len());
        let rows = u64::try_from(n_results).unwrap_or(u64::MAX);
        let hash = content_hash(&path).ok();
        self.results = size.ok().map(|bytes| WrittenResults { rows, bytes, hash });
        self.is_complete = true;
        self.ended = Some(now());
        self.write(folder)
    }
}

/// Returns an id that hardly any other run has. Runs of the same identity begin at different times, or in
/// different processes.
fn id_of(identity: &Value, began: &str) -> String {
    short_hash(&format!("{identity} {began} {}", std::process::id()))[..8].to_owned()
}

/// Returns the path of the manifest in a folder.
pub(crate) fn path_in(folder: &Path) -> PathBuf {
    folder.join(RunFile::Manifest.name())
}

/// Returns the current time, as text that sorts chronologically.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn runs_of_the_same_identity_have_ids_of_their_own() {
        let run = || Manifest::new(RunKind::Eval, "x", json!({"of": "x"}));
        let (one, mut other) = (run(), run());
        other.began.push('9');
        assert_ne!(one.id, id_of(&other.identity, &other.began));
        assert!(one.differences(&other).is_empty(), "an id is no part of the identity");
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Manifest::read(folder.path()).expect("read").is_none());
        let mut run = Manifest::new(RunKind::Eval, "x", json!({})).with_settings(&json!(5));
        run.write(folder.path()).expect("written");
        std::fs::write(folder.path().join("results.jsonl"), "{}\n{}\n").expect("written");
        run.complete(folder.path(), 2).expect("written");
        let read = Manifest::read(folder.path()).expect("read").expect("there").expect("ours");
        assert!(read.is_complete && read.ended.is_some());
        let results = read.results.expect("told");
        assert_eq!((results.rows, results.bytes), (2, 6));
        assert_eq!(results.hash.map(|hash| hash.len()), Some(16));
        assert_eq!((read.settings, read.work_tree), (Some(json!(5)), None));
        let write = |text: &str| std::fs::write(path_in(folder.path()), text).expect("written");
        write(r#"{"agent": "x"}"#);
        let other = || Manifest::read(folder.path()).expect("read").expect("there");
        assert!(matches!(other(), Err(BadManifest::Unreadable(_))));
        write(r#"{"format": "juror.run/2"}"#);
        assert!(
            matches!(other(), Err(BadManifest::OtherFormat(format)) if format == "juror.run/2")
        );
    }
}
