//! The manifest of a run, `run.json`: its identity, and whether it is complete.

use juror_files::{WholeFile, read_plain};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fingerprint::short_hash;

/// The format that is written. Manifests in other formats are from other releases.
const FORMAT: &str = "juror.run/1";

/// The name of the file in the run's folder.
const FILE: &str = "run.json";

/// The kind of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// Returns the name of the file that gets a line for every finished item.
    pub(crate) fn log_file(self) -> &'static str {
        match self {
            RunKind::Eval => "records.jsonl",
            RunKind::Bench => "attempts.jsonl",
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    /// A short hash of the identity.
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
    /// The release of Juror.
    pub juror: String,
    /// Everything that affects the outcome.
    pub identity: Value,
    /// Details that do not affect the outcome, such as the settings as written and the judge.
    #[serde(flatten)]
    pub more: Map<String, Value>,
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
        Manifest {
            format: FORMAT.into(),
            id: short_hash(&identity.to_string())[..8].to_owned(),
            name: name.to_owned(),
            kind,
            is_complete: false,
            began: now(),
            ended: None,
            juror: env!("CARGO_PKG_VERSION").into(),
            identity,
            more: Map::new(),
        }
    }

    /// Adds a detail that does not affect the outcome.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Manifest {
        self.more.insert(key.to_owned(), value);
        self
    }

    /// Reads the manifest in a folder; `None` if there is none. The inner error says why a file is
    /// not a manifest of this release.
    pub(crate) fn read(folder: &Path) -> io::Result<Option<Result<Manifest, serde_json::Error>>> {
        match read_plain(&folder.join(FILE)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).and_then(Manifest::known))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn known(self) -> Result<Manifest, serde_json::Error> {
        let unknown =
            || serde::de::Error::custom(format!("the form `{}` is not known", self.format));
        if self.format == FORMAT { Ok(self) } else { Err(unknown()) }
    }

    /// Writes the manifest into a folder, completely or not at all.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = WholeFile::begin_private(&path_in(folder))?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.finish()
    }

    /// Marks the run as complete, and writes the manifest.
    pub(crate) fn complete(&mut self, folder: &Path) -> io::Result<()> {
        self.is_complete = true;
        self.ended = Some(now());
        self.write(folder)
    }

    /// Lists the differences to another run of the same kind.
    pub fn differences(&self, other: &Manifest) -> Vec<String> {
        match self.kind {
            RunKind::Eval => self.other_inputs(other),
            RunKind::Bench => self.other_keys(other),
        }
    }

    /// Lists the inputs of an evaluation that differ. File names make no difference.
    fn other_inputs(&self, other: &Manifest) -> Vec<String> {
        let parts = [
            ("/reference/hash", "reference questions"),
            ("/responses/hash", "responses"),
            ("/judges", "models, prompts or rules"),
        ];
        let differs = |place: &str| self.identity.pointer(place) != other.identity.pointer(place);
        let others = parts.into_iter().filter(|(place, _)| differs(place));
        others.map(|(_, name)| name.to_owned()).collect()
    }

    /// Lists the keys of the identity that differ.
    fn other_keys(&self, other: &Manifest) -> Vec<String> {
        let (Some(own), Some(others)) = (self.identity.as_object(), other.identity.as_object())
        else {
            return vec!["everything".into()];
        };
        let mut keys: Vec<&String> = own.keys().chain(others.keys()).collect();
        keys.sort();
        keys.dedup();
        let differs = keys.into_iter().filter(|key| own.get(*key) != others.get(*key));
        differs.map(|key| detailed(key, own.get(key), others.get(key))).collect()
    }
}

/// Returns the path of the manifest in a folder.
pub(crate) fn path_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Describes a key that differs, with the names of its differing parts, if any.
fn detailed(key: &str, one: Option<&Value>, other: Option<&Value>) -> String {
    let (Some(Value::Object(one)), Some(Value::Object(other))) = (one, other) else {
        return key.to_owned();
    };
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| one.get(*name) != other.get(*name));
    let (shown, n_more) = (names.iter().take(MOST_NAMES), names.len().saturating_sub(MOST_NAMES));
    let shown = shown.map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
    format!("{key} ({shown}{more})")
}

/// How many differing parts are named.
const MOST_NAMES: usize = 5;

/// Returns the current time, as text that sorts chronologically.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_differs_is_told_by_name() {
        let run = |identity| Manifest::new(RunKind::Bench, "x", identity);
        let one = run(json!({"agent": "a", "environment": {"A": "1", "B": "1"}}));
        let other = run(json!({"agent": "a", "environment": {"A": "2", "C": "1"}, "pool": "own"}));
        assert_eq!(one.differences(&other), ["environment (A, B, C)", "pool"]);
        assert!(one.differences(&one.clone()).is_empty());
        assert_ne!(one.id, other.id);
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Manifest::read(folder.path()).expect("read").is_none());
        let mut run = Manifest::new(RunKind::Eval, "x", json!({})).with("settings", json!(5));
        run.write(folder.path()).expect("written");
        run.complete(folder.path()).expect("written");
        let read = Manifest::read(folder.path()).expect("read").expect("there").expect("ours");
        assert!(read.is_complete && read.ended.is_some());
        assert_eq!(read.more["settings"], 5);
        std::fs::write(folder.path().join(FILE), r#"{"agent": "x"}"#).expect("written");
        assert!(Manifest::read(folder.path()).expect("read").expect("there").is_err());
    }
}
