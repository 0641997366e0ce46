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

/// How long git may take to tell anything else.
const MOST_TO_TELL: Duration = Duration::from_secs(1);

/// The git work tree that a run began in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkTree {
    /// The commit that is checked out.
    pub commit: String,
    /// Whether tracked files differ from the commit; left out if that cannot be told quickly and
    /// safely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

impl WorkTree {
    /// Returns the work tree around a folder; `None` if there is none, if it has no commit, or if
    /// git cannot tell.
    pub fn of(folder: &Path) -> Option<WorkTree> {
        let commit = said(git(folder).args(["rev-parse", "--verify", "HEAD"]), MOST_TO_TELL)?;
        let commit = commit.of_success()?.trim().to_owned();
        let changed = if has_filters(folder) { None } else { is_changed(folder) };
        Some(WorkTree { commit, changed })
    }
}

/// Returns whether the repository itself names filters, which are commands that git runs to compare
/// files. Whoever made a folder must not be able to have commands run in it.
fn has_filters(folder: &Path) -> bool {
    let find =
        ["config", "--show-scope", "--includes", "--name-only", "--get-regexp", "^filter[.]"];
    let Some(found) = said(git(folder).args(find), MOST_TO_TELL) else { return true };
    let is_own = |line: &str| line.starts_with("local") || line.starts_with("worktree");
    match found.code {
        Some(0) => found.text.lines().any(is_own),
        // Nothing is found.
        Some(1) => false,
        _ => true,
    }
}

/// Returns whether tracked files differ from the commit. Untracked files do not count: the folder of
/// the run is often one of them.
fn is_changed(folder: &Path) -> Option<bool> {
    let status = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"];
    let status = said(git(folder).args(status).arg("--no-renames"), MOST_TO_COMPARE)?;
    Some(!status.of_success()?.is_empty())
}

/// Returns a git command that writes nothing, fetches nothing and runs no other commands.
fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(["--no-optional-locks", "-c", "core.fsmonitor=false"]);
    git.args(["-c", "safe.bareRepository=explicit", "-C"]).arg(folder);
    git.env("GIT_NO_LAZY_FETCH", "1");
    git
}

/// What a command said, and how it ended.
struct Said {
    text: String,
    code: Option<i32>,
}

impl Said {
    fn of_success(&self) -> Option<&str> {
        (self.code == Some(0)).then_some(&self.text)
    }
}

/// Runs a command, and returns what it prints; `None` if it cannot be run, or takes longer than it
/// may, and is ended.
fn said(command: &mut Command, most: Duration) -> Option<Said> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let (send, receive) = mpsc::channel();
    let mut stdout = child.stdout.take()?;
    thread::spawn(move || {
        let mut text = String::new();
        // The receiver is gone if the command took too long.
        let _ = send.send(stdout.read_to_string(&mut text).map(|_| text));
    });
    let text = receive.recv_timeout(most);
    if text.is_err() {
        // It may have ended by itself meanwhile.
        let _ = child.kill();
    }
    let code = child.wait().ok()?.code();
    Some(Said { text: text.ok()?.ok()?, code })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with a file, in a folder of its own.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        run(folder.path(), &["init", "-q"]);
        std::fs::write(folder.path().join("file"), "1").expect("written");
        run(folder.path(), &["add", "file"]);
        folder
    }

    fn run(folder: &Path, words: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@example.com"]);
        git.args(["-c", "commit.gpgsign=false"]).args(words);
        assert!(git.current_dir(folder).status().expect("git").success(), "{words:?}");
    }

    #[test]
    fn a_work_tree_tells_its_commit_and_whether_files_differ() {
        let folder = repository();
        assert_eq!(WorkTree::of(folder.path()), None, "there is no commit");
        run(folder.path(), &["commit", "-q", "-m", "x"]);
        let clean = WorkTree::of(folder.path()).expect("a work tree");
        assert!(clean.commit.len() >= 40 && clean.changed == Some(false), "{clean:?}");
        std::fs::write(folder.path().join("untracked"), "1").expect("written");
        assert_eq!(WorkTree::of(folder.path()), Some(clean.clone()));
        std::fs::write(folder.path().join("file"), "2").expect("written");
        assert_eq!(WorkTree::of(folder.path()), Some(WorkTree { changed: Some(true), ..clean }));
    }

    #[test]
    fn a_repository_cannot_have_commands_run() {
        let folder = repository();
        std::fs::write(folder.path().join(".gitattributes"), "* filter=x\n").expect("written");
        run(folder.path(), &["commit", "-q", "-m", "x"]);
        for (key, command) in
            [("filter.x.clean", "touch ran; cat"), ("core.fsmonitor", "touch ran")]
        {
            run(folder.path(), &["config", key, command]);
        }
        std::fs::write(folder.path().join("file"), "2").expect("written");
        let told = WorkTree::of(folder.path()).expect("a work tree");
        assert_eq!(told.changed, None);
        assert!(!folder.path().join("ran").exists());
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
        assert!(said(Command::new("sleep").arg("3600"), most).is_none());
        let failed = said(&mut Command::new("false"), Duration::from_hours(1)).expect("it ended");
        assert_eq!((failed.code, failed.of_success()), (Some(1), None));
    }
}
