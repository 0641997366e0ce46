//! Looking at the folder of a run, to tell whether it is whole.

use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::Path;

use juror_score::FlatPair;
use juror_store::read_plain;
use serde::Deserialize;

use crate::bench::read_attempts;
use crate::manifest::{self, Manifest, RunKind};
use crate::torn;

/// What a run's journal has in each line.
#[derive(Deserialize)]
struct Judged {
    #[serde(rename = "question_id")]
    _question: String,
    #[serde(rename = "key")]
    _key: String,
    #[serde(rename = "notes")]
    _findings: Vec<FlatPair>,
}

/// What the run in a folder is, in words, or what is wrong with it; nothing where there is none.
pub fn look_at_run(folder: &Path) -> Option<Result<String, String>> {
    let path = manifest::path_in(folder);
    let run = match Manifest::read(folder) {
        Ok(None) => return None,
        Ok(Some(Ok(run))) => run,
        Ok(Some(Err(error))) => {
            let (line, column) = (error.line(), error.column());
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            let place = path.display();
            return Some(Err(format!("{place}:{line}:{column}: not written by juror: {why}")));
        }
        Err(error) => return Some(Err(format!("{}: {error}", path.display()))),
    };
    let counted = match run.kind {
        RunKind::Eval => count_judged(&folder.join("records.jsonl"))
            .map(|n| format!("run of an evaluation, {n} judged")),
        RunKind::Bench => match read_attempts(folder) {
            Ok(attempts) => {
                Ok(format!("run of an agent, {} tried", attempts.unwrap_or_default().len()))
            }
            Err(error) => Err(error.to_string()),
        },
    };
    let ended = if run.is_complete { "finished" } else { "not finished" };
    Some(counted.map(|counted| format!("{counted}, {ended}")))
}

/// How many questions a journal has; a last line that is torn is none yet.
fn count_judged(path: &Path) -> Result<usize, String> {
    let text = match read_plain(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(0),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let (whole, _) = torn::split(&text);
    let mut n_judged = 0;
    for (index, line) in whole.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        if let Err(error) = serde_json::from_slice::<Judged>(line) {
            let (place, line) = (path.display(), index + 1);
            return Err(format!("{place}:{line}: not written by juror: {error}"));
        }
        n_judged += 1;
    }
    Ok(n_judged)
}
