//! Disks that are full, or can only be read.

use std::fs;

use juror_testing::{Disk, Ended};

use crate::eval::Outcome;
use crate::http::Reply;
use crate::serve;
use crate::stage::{N_QUESTIONS, Stage, says_why};

const COMMAND: &str = "eval reference.json responses.jsonl -c juror.yaml --run disk/run \
     --cache disk/cache -o disk/out.jsonl -a disk/totals.json -q";

/// Enough for all that the commands write.
const LARGE: usize = 4096;

/// A stage with a folder that is a disk of its own; `None` if this user may not have one.
fn with_disk(stage: &Stage, kilobytes: usize) -> Option<Disk> {
    fs::create_dir(stage.path("disk")).expect("a folder");
    Disk::mount(&stage.path("disk"), kilobytes)
}

#[test]
fn an_evaluation_on_a_full_disk_is_resumed_when_there_is_room() {
    let whole = {
        let stage = Stage::new();
        let Some(_disk) = with_disk(&stage, LARGE) else { return };
        let ended = stage.run(COMMAND);
        assert_eq!(ended.code, 0, "{ended}");
        Outcome::in_folder(&stage, "disk/")
    };
    // From too small for a store to just too small for the results.
    for kilobytes in [4, 12, 32, 48, 64, 72, 80, 88, 96, 104, 112, 120] {
        let stage = Stage::new();
        let Some(disk) = with_disk(&stage, kilobytes) else { return };
        let first = stage.run(COMMAND);
        assert!([0, 3].contains(&first.code), "{kilobytes} kB: {first}");
        assert!(first.code == 0 || says_why(&first), "{kilobytes} kB: {first}");
        stage.check_files();
        disk.resize(LARGE);
        let (n_kept, n_asked) = (stage.n_kept("disk/cache"), stage.model.seen().len());
        if first.code == 3 {
            let again = stage.run(COMMAND);
            assert_eq!(again.code, 0, "{kilobytes} kB: after\n{first}\n{again}");
            let n_more = stage.model.seen().len() - n_asked;
            assert!(n_more <= N_QUESTIONS - n_kept, "{kilobytes} kB: {first}");
        }
        assert_eq!(Outcome::in_folder(&stage, "disk/"), whole, "{kilobytes} kB");
    }
}

#[test]
fn a_disk_that_can_only_be_read_is_refused_before_anything_is_asked() {
    let stage = Stage::new();
    let Some(disk) = with_disk(&stage, LARGE) else { return };
    disk.protect(true);
    let refused: Ended = stage.run(COMMAND);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("Read-only file system"), "{refused}");
    assert!(refused.stderr.contains("disk/"), "{refused}");
    assert!(stage.model.seen().is_empty());
    disk.protect(false);
    assert_eq!(stage.run(COMMAND).code, 0);
    // What is there can be read all the same.
    disk.protect(true);
    let replayed = stage.run(
        "eval reference.json responses.jsonl -c juror.yaml --cache disk/cache --cache-mode read-only \
         -o again.jsonl -q",
    );
    assert_eq!(replayed.code, 0, "{replayed}");
    assert_eq!(stage.read("again.jsonl"), stage.read("disk/out.jsonl"));
    assert_eq!(stage.run("runs show disk/run").code, 0);
    assert_eq!(stage.model.seen().len(), N_QUESTIONS);
}

#[test]
fn a_server_whose_disk_is_full_gives_no_answer_that_it_cannot_keep() {
    let stage = serve::stage();
    let Some(disk) = with_disk(&stage, 64) else { return };
    let line = serve::command_line(&format!("{}/v1", stage.model.address()), "disk/store");
    let serving = stage.serve(stage.command(&line)).expect("it serves");
    let mut answered = Vec::new();
    let mut n_refused = 0;
    for number in 0..400 {
        match serve::call(&serving.address, number).expect("a reply") {
            Reply { status: 200, body } => answered.push((number, body)),
            Reply { status: 507, .. } => n_refused += 1,
            other => panic!("{other:?}"),
        }
        if n_refused == 3 {
            break;
        }
    }
    assert_eq!(n_refused, 3, "the disk is too large");
    // With room it goes on, without being started again.
    disk.resize(LARGE);
    let reply = serve::call(&serving.address, 1000).expect("a reply");
    assert_eq!(reply.status, 200, "{}", reply.body);
    answered.push((1000, reply.body));
    drop(serving);
    let n_asked = stage.model.seen().len();
    let again = stage.serve(stage.command(&line)).expect("it serves again");
    for (number, body) in &answered {
        let reply = serve::call(&again.address, *number).expect("a reply");
        assert_eq!((reply.status, &reply.body), (200, body));
    }
    assert_eq!(stage.model.seen().len(), n_asked, "all answers were kept");
}
