//! Programs that fail while their replies and runs are in a database.

use std::fs;
use std::process::Command;

use juror_testing::{Ended, Fault, Interference, Postgres};

use crate::eval::{Outcome, check_end};
use crate::points::Points;
use crate::stage::{CONCURRENCY, N_QUESTIONS, Stage};

const LINE: &str =
    "eval reference.json responses.jsonl -c juror.yaml -o out.jsonl -a totals.json -q";

/// Adds the database, and a folder of its own for temporary files, which count too.
fn in_database<'c>(command: &'c mut Command, stage: &Stage, address: &str) -> &'c mut Command {
    fs::create_dir_all(stage.path("tmp")).expect("a folder");
    let folder = stage.path("tmp").canonicalize().expect("a folder");
    command.env("TMPDIR", folder).args(["--cache", address, "--run", &format!("{address}&run=one")])
}

fn failing(stage: &Stage, watch: &Interference, point: (Fault, usize), address: &str) -> Ended {
    Ended::of(in_database(&mut stage.failing(watch, point, LINE), stage, address))
}

#[test]
fn a_program_that_fails_leaves_all_that_it_kept_in_a_database() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new();
    let Some(watch) = stage.watch() else { return };
    let watch = watch.with_connections();
    let ended = failing(&stage, &watch, (Fault::None, 0), &database.address());
    assert_eq!(ended.code, 0, "{ended}");
    let whole = Outcome::of(&stage);
    let points = Points::of("postgres", watch.calls(), &Fault::ALL);
    points.check(16, |fault, number| fail_at(database, fault, number, &whole));
}

fn fail_at(database: &Postgres, fault: Fault, number: usize, whole: &Outcome) {
    let (stage, address) = (Stage::new(), database.address());
    let watch = stage.watch().expect("as before").with_connections();
    let first = failing(&stage, &watch, (fault, number), &address);
    check_end(fault, number, &first, &watch);
    // Folders of programs that were killed stay, with what they had begun.
    fs::remove_dir_all(stage.path("tmp")).expect("removed");
    stage.check_files();
    let n_kept = n_kept(database, &address);
    let n_asked = stage.model.seen().len();
    assert!(n_kept + CONCURRENCY >= n_asked, "{n_kept} of {n_asked} are kept\n{first}");
    let again = Ended::of(in_database(&mut stage.command(LINE), &stage, &address));
    let is_finished = again.code == 2 && again.stderr.contains("this run is finished");
    assert!(again.code == 0 || is_finished, "after\n{first}\nit is not resumed:\n{again}");
    let n_more = stage.model.seen().len() - n_asked;
    assert!(n_more <= N_QUESTIONS - n_kept, "kept replies are not bought again");
    assert_eq!(Outcome::of(&stage), *whole, "after\n{first}\nand\n{again}");
}

fn n_kept(database: &Postgres, address: &str) -> usize {
    let (_, schema) = address.split_once("schema=").expect("a schema");
    if database.sql(&format!("SELECT to_regclass('{schema}.replies')")).is_empty() {
        return 0;
    }
    database.sql(&format!("SELECT count(*) FROM {schema}.replies")).parse().expect("a number")
}
