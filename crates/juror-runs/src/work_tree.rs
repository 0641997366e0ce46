//! The git work tree that a run began in.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long git may take to compare the work tree with its commit.
const MOST_TO_COMPARE: Duration = Duration::from_secs(3);

/// How long git may take to name the commit.
const MOST_TO_NAME: Duration = Duration::from_secs(1);

/// The git work tree that a run began in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkTree {
    /// The commit that is checked out.
    pub commit: String,
    /// Whether tracked files differ from the commit; left out if git took too long to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

impl WorkTree {
    /// Returns the work tree around a folder; `None` if there is none, if it has no commit, or if
    /// git cannot tell.
    pub fn of(folder: &Path) -> Option<WorkTree> {
        // Untracked files do not count: the folder of the run is often one of them.
        let status = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"];
        let status = [&status[..], &["--no-renames", "--ignore-submodules=dirty"]].concat();
        match answer(git(folder).args(status), MOST_TO_COMPARE) {
            Answer::Said(lines) => WorkTree::of_status(&lines),
            Answer::Nothing => None,
            Answer::Late => match answer(git(folder).args(["rev-parse", "HEAD"]), MOST_TO_NAME) {
                Answer::Said(commit) => WorkTree::at(commit.trim(), None),
                Answer::Nothing | Answer::Late => None,
            },
        }
    }

    /// Reads what `git status` says: headers that begin with `#`, then a line for every change.
    fn of_status(lines: &str) -> Option<WorkTree> {
        let commit = lines.lines().find_map(|line| line.strip_prefix("# branch.oid "))?;
        let changed = lines.lines().any(|line| !line.starts_with('#'));
        WorkTree::at(commit, Some(changed))
    }

    /// A new repository has a word in place of the commit.
    fn at(commit: &str, changed: Option<bool>) -> Option<WorkTree> {
        let is_hash = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| WorkTree { commit: commit.to_owned(), changed })
    }
}

/// Returns a git command that writes nothing, fetches nothing and runs no hooks.
fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-C"]).arg(folder);
    git.env("GIT_NO_LAZY_FETCH", "1");
    git
}

/// What a command said.
enum Answer {
    Said(String),
    /// It failed, or cannot be run.
    Nothing,
    /// It took too long, and was ended.
    Late,
}

/// Runs a command, and returns what it prints within a time.
fn answer(command: &mut Command, most: Duration) -> Answer {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Answer::Nothing };
    let (send, receive) = mpsc::channel();
    if let Some(mut stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut text = String::new();
            // The receiver is gone if the command took too long.
            let _ = send.send(stdout.read_to_string(&mut text).map(|_| text));
        });
    }
    let said = receive.recv_timeout(most);
    if said.is_err() {
        // It may have ended by itself meanwhile.
        let _ = child.kill();
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    match said {
        Ok(Ok(text)) if succeeded => Answer::Said(text),
        Ok(_) => Answer::Nothing,
        Err(_) => Answer::Late,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_tells_the_commit_and_whether_files_differ() {
        let clean = "# branch.oid 0123abcd\n# branch.head main\n";
        let at = |changed| Some(WorkTree { commit: "0123abcd".into(), changed: Some(changed) });
        assert_eq!(WorkTree::of_status(clean), at(false));
        let changed = format!("{clean}1 .M N... 100644 100644 100644 a b file.rs\n");
        assert_eq!(WorkTree::of_status(&changed), at(true));
        assert_eq!(WorkTree::of_status("# branch.oid (initial)\n"), None);
        assert_eq!(WorkTree::of_status(""), None);
    }

    #[test]
    fn a_folder_outside_a_work_tree_has_none() {
        assert_eq!(WorkTree::of(Path::new("/")), None);
        assert_eq!(WorkTree::of(Path::new("/nowhere")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_takes_too_long_is_ended() {
        let most = Duration::from_millis(1);
        let answered = answer(Command::new("sleep").arg("3600"), most);
        assert!(matches!(answered, Answer::Late));
        let failed = answer(&mut Command::new("false"), Duration::from_hours(1));
        assert!(matches!(failed, Answer::Nothing));
    }
}
