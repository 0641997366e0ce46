//! A file of responses that stands alone, and what identifies it beside it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use juror_bench::Selected;
use juror_files::{WholeFile, end_of_links, read_plain};
use juror_runs::hidden::in_command;
use juror_runs::{Resume, RunLogError, differing_parts};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::AskError;
use crate::response_log::ResponseLog;

/// The format of what is beside the responses.
const FORMAT: &str = "juror.ask/1";

/// A file of responses.
pub struct ResponseFile {
    path: PathBuf,
    manifest: AskManifest,
    /// The responses.
    pub log: ResponseLog,
}

/// What identifies responses: everything that affects them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct AskManifest {
    format: String,
    name: String,
    is_complete: bool,
    began: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    juror: String,
    /// The command line, without keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    identity: Value,
}

/// Returns the file that says what responses are.
pub fn manifest_path(responses: &Path) -> PathBuf {
    let mut name = responses.as_os_str().to_owned();
    name.push(".run.json");
    name.into()
}

impl ResponseFile {
    /// Begins a file, or resumes it if it has the same identity.
    pub fn open(
        path: &Path,
        (name, identity): (&str, &Value),
        command: &[String],
        resume: Resume,
    ) -> Result<ResponseFile, AskError> {
        let earlier = read_manifest(path)?;
        if let Some(earlier) = &earlier {
            check(path, earlier, identity, resume)?;
        }
        let log = ResponseLog::open(path, earlier.is_none(), resume.fresh);
        let mut log = log.map_err(|error| match error {
            RunLogError::Damaged { .. } if earlier.is_none() => {
                AskError::NotOurs { file: path.to_owned() }
            }
            other => other.into(),
        })?;
        if resume.retry_errors {
            log.forget_errors();
        }
        let earlier = earlier.filter(|_| !resume.fresh);
        let manifest = AskManifest {
            format: FORMAT.to_owned(),
            name: name.to_owned(),
            is_complete: false,
            began: earlier.map_or_else(now, |earlier| earlier.began),
            ended: None,
            juror: env!("CARGO_PKG_VERSION").to_owned(),
            command: in_command(command),
            identity: identity.clone(),
        };
        manifest.write(path)?;
        Ok(ResponseFile { path: path.to_owned(), manifest, log })
    }

    /// Removes the file if it has no responses, so that an agent that could not be started leaves
    /// nothing behind.
    pub fn discard_if_empty(self) {
        let ResponseFile { path, log, .. } = self;
        drop(log);
        if path.metadata().is_ok_and(|about| about.is_file() && about.len() == 0) {
            // A file that stays does no harm: the next run resumes it.
            let _ = std::fs::remove_file(manifest_path(&path));
            let _ = std::fs::remove_file(end_of_links(&path));
        }
    }

    /// Puts the responses in the order of the questions, and marks them as complete.
    pub fn complete(self, questions: &[Selected]) -> Result<(), AskError> {
        let ResponseFile { path, mut manifest, log } = self;
        log.put_in_order(questions)?;
        manifest.is_complete = true;
        manifest.ended = Some(now());
        manifest.write(&path)
    }
}

/// Fails if a file may be neither resumed nor replaced.
fn check(path: &Path, earlier: &AskManifest, own: &Value, resume: Resume) -> Result<(), AskError> {
    if resume.fresh {
        return Ok(());
    }
    let differences = differing_parts(&earlier.identity, own);
    let file = path.to_owned();
    if !differences.is_empty() && !resume.even_if_changed {
        return Err(AskError::Changed { file, differences });
    }
    // What was asked otherwise is not all that is asked now.
    let is_finished = earlier.is_complete && differences.is_empty();
    if is_finished && !resume.retry_errors { Err(AskError::Finished { file }) } else { Ok(()) }
}

impl AskManifest {
    fn write(&self, responses: &Path) -> Result<(), AskError> {
        let path = manifest_path(responses);
        let write = || -> io::Result<()> {
            let mut file = WholeFile::begin_private(&path)?;
            // In one piece, not word by word.
            let mut text = serde_json::to_vec_pretty(self)?;
            text.push(b'\n');
            file.write_all(&text)?;
            file.finish()
        };
        write().map_err(|error| RunLogError::Io { path: path.clone(), error }.into())
    }
}

fn read_manifest(responses: &Path) -> Result<Option<AskManifest>, AskError> {
    let path = manifest_path(responses);
    let bytes = match read_plain(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RunLogError::Io { path, error }.into()),
    };
    let manifest = serde_json::from_slice::<AskManifest>(&bytes).ok();
    match manifest.filter(|manifest| manifest.format == FORMAT) {
        Some(manifest) => Ok(Some(manifest)),
        None => Err(AskError::NotOurs { file: path }),
    }
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn open(path: &Path, identity: &Value, resume: Resume) -> Result<ResponseFile, String> {
        let opened = ResponseFile::open(path, ("a", identity), &[], resume);
        opened.map_err(|error| error.to_string())
    }

    #[test]
    fn only_responses_of_the_same_identity_are_gone_on_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("responses.jsonl");
        let (one, other) = (json!({"agent": "a"}), json!({"agent": "b"}));
        drop(open(&path, &one, Resume::default()).expect("new"));
        drop(open(&path, &one, Resume::default()).expect("the same"));
        let refused = open(&path, &other, Resume::default()).err().expect("another");
        assert!(refused.contains("agent changed"), "{refused}");
        let changed = Resume { even_if_changed: true, ..Resume::default() };
        drop(open(&path, &other, changed).expect("all the same"));
        open(&path, &other, Resume::default()).expect("again").complete(&[]).expect("written");
        let refused = open(&path, &other, Resume::default()).err().expect("finished");
        assert!(refused.contains("all questions are answered"), "{refused}");
        let retry = Resume { retry_errors: true, ..Resume::default() };
        drop(open(&path, &other, retry).expect("errors again"));
        let fresh = Resume { fresh: true, ..Resume::default() };
        drop(open(&path, &one, fresh).expect("anew"));
    }

    #[test]
    fn a_file_of_others_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("responses.jsonl");
        std::fs::write(&path, "{\"question_id\": \"q\"}\n").expect("written");
        let fresh = Resume { fresh: true, ..Resume::default() };
        for resume in [Resume::default(), fresh] {
            let refused = open(&path, &json!({}), resume).err().expect("not ours");
            assert!(refused.contains("did not write this file"), "{refused}");
        }
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "{\"question_id\": \"q\"}\n");
        assert!(!manifest_path(&path).exists());
    }
}
