//! What holds for the logs of all kinds of runs.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

use super::*;

/// A line like those of attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Item {
    set: String,
    answer: String,
}

impl Entry for Item {
    const KIND: RunKind = RunKind::Bench;
    type Line = Item;
    type Id = String;

    fn id(line: &Item) -> String {
        line.set.clone()
    }
}

/// A line like those of judged questions.
#[derive(Debug, Deserialize)]
struct Judged {
    question_id: String,
}

impl Entry for Judged {
    const KIND: RunKind = RunKind::Eval;
    type Line = Judged;
    type Id = String;

    fn id(line: &Judged) -> String {
        line.question_id.clone()
    }
}

fn item(id: &str, answer: &str) -> Item {
    Item { set: id.into(), answer: answer.into() }
}

fn run(name: &str) -> Manifest {
    Manifest::new(RunKind::Bench, name, json!({"agent": name}))
}

fn open_as(folder: &Path, name: &str, resume: Resume) -> Result<RunLog<Item>, RunLogError> {
    RunLog::open(folder, run(name), resume, Some)
}

fn open(folder: &Path) -> Result<RunLog<Item>, RunLogError> {
    open_as(folder, "x", Resume::default())
}

const FRESH: Resume = Resume { fresh: true, retry_errors: false, even_if_changed: false };
const RETRY: Resume = Resume { fresh: false, retry_errors: true, even_if_changed: false };

fn path_in(folder: &Path) -> PathBuf {
    folder.join("attempts.jsonl")
}

#[test]
fn a_run_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = open(folder.path()).expect("new");
    log.append(&item("1", "a")).expect("appended");
    log.append(&item("1", "b")).expect("appended");
    let began = log.manifest.began.clone();
    drop(log);
    let log = open(folder.path()).expect("again");
    assert_eq!((log.n_known(), &log.manifest.began), (1, &began));
    assert_eq!(log.known["1"].answer, "b", "the last line counts");
    let lines = RunLog::<Item>::read(folder.path()).expect("read");
    assert_eq!(lines, Some(vec![item("1", "b")]));
}

#[test]
fn a_run_goes_on_wherever_its_last_line_was_torn() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = open(folder.path()).expect("new");
    log.append(&item("1", "a")).expect("appended");
    let path = path_in(folder.path());
    let first = std::fs::read(&path).expect("bytes");
    log.append(&item("2", "é")).expect("appended");
    drop(log);
    let both = std::fs::read(&path).expect("bytes");
    let nuls: &[u8] = &[0; 40];
    for end in first.len()..both.len() {
        for behind in [&[][..], nuls] {
            std::fs::write(&path, [&both[..end], behind].concat()).expect("torn");
            let log = open(folder.path()).expect("resumed");
            assert_eq!(log.n_known(), 1, "{end}");
            log.append(&item("2", "é")).expect("appended");
            drop(log);
            assert_eq!(std::fs::read(&path).expect("bytes"), both, "{end}");
        }
    }
}

#[test]
fn another_run_is_not_mixed_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = open(folder.path()).expect("new");
    assert!(matches!(open(folder.path()), Err(RunLogError::Busy { .. })));
    drop(first);
    let changed = open_as(folder.path(), "y", Resume::default()).expect_err("changed");
    assert!(
        changed.problem().ends_with("different inputs or settings: agent changed"),
        "{changed}"
    );
    let even_if_changed = Resume { even_if_changed: true, ..Resume::default() };
    assert!(open_as(folder.path(), "y", even_if_changed).is_ok());
    let evaluation = Manifest::new(RunKind::Eval, "x", json!({}));
    let refused = check_run(folder.path(), &evaluation, FRESH).expect_err("of another kind");
    assert!(refused.problem().ends_with("this is a run of an agent"), "{refused}");
    let log = RunLog::<Judged>::open(folder.path(), evaluation, FRESH, |_| None);
    assert!(matches!(log, Err(RunLogError::OtherKind { .. })), "{log:?}");
    assert!(!folder.path().join("records.jsonl").exists(), "a refused folder is left as it is");
}

#[test]
fn a_finished_run_is_neither_resumed_nor_replaced_unless_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = open(folder.path()).expect("new");
    log.append(&item("1", "a")).expect("appended");
    log.complete(1, None).expect("written");
    drop(log);
    let refused = open(folder.path()).expect_err("finished").to_string();
    assert!(refused.contains("this run is finished\n  hint: --fresh"), "{refused}");
    assert_eq!(open_as(folder.path(), "x", RETRY).expect("again").n_known(), 1);
    assert_eq!(open_as(folder.path(), "y", FRESH).expect("anew").n_known(), 0);
    assert_eq!(std::fs::read(path_in(folder.path())).expect("a file"), b"");
}

#[test]
fn what_is_not_ours_is_neither_used_nor_replaced() {
    // Some have no complete line, such as a JSON file that somebody wrote.
    for precious in ["precious", "precious\n", "\n", "{\"my\": 1}", "{\"my\": 1}\n", "{}\nprecious"]
    {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(path_in(folder.path()), precious).expect("written");
        for resume in [Resume::default(), FRESH] {
            let refused = open_as(folder.path(), "x", resume).expect_err("refused");
            assert!(refused.problem().contains("no run.json"), "{refused}");
        }
        std::fs::write(folder.path().join("run.json"), "{\"mine\": 1}").expect("written");
        open_as(folder.path(), "x", FRESH).expect_err("refused");
        let text = std::fs::read_to_string(path_in(folder.path())).expect("text");
        assert_eq!(text, precious);
    }
}

#[test]
fn lines_that_are_not_ours_are_left_alone_beside_a_manifest_too() {
    for (text, place) in [
        ("{}\n", ":1:2: not written by juror"),
        ("\nprecious\n", ":2:1: not written by juror"),
        ("precious", ":1: not written by juror"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        drop(open(folder.path()).expect("new"));
        std::fs::write(path_in(folder.path()), text).expect("written");
        let refused = open(folder.path()).expect_err("damaged").problem();
        assert!(refused.contains(place), "{refused}");
        assert_eq!(std::fs::read_to_string(path_in(folder.path())).expect("text"), text);
    }
}
