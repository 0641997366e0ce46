//! Runs in a database: worked on and read like those in folders, kept apart, and never lost.

use std::fs;
use std::path::Path;
use std::process::Child;

use juror_testing::{Ended, Postgres};
use serde_json::{Value, json};

use super::{CONCURRENCY, N_QUESTIONS, Stage, end};

const FILES: [&str; 3] = ["results.jsonl", "aggregates.json", "statistics.json"];

impl Stage {
    /// Starts to judge all answers in a run. Replies are not kept elsewhere, so that only the run
    /// can know them.
    fn judge_in(&self, run: &str) -> Child {
        let words =
            ["eval", "reference.json", "responses.jsonl", "-c", "juror.yaml", "--cache-mode"];
        self.command(&words).args(["off", "--run", run]).spawn().expect("the program starts")
    }

    fn address_of(&self, run: &str) -> String {
        format!("{}&run={run}", self.address)
    }

    /// How many questions the journals in the database have.
    fn n_judged(&self, database: &Postgres) -> usize {
        self.count(database, "run_pieces WHERE file = 'records.jsonl'")
    }

    fn runs(&self, words: &[&str]) -> Vec<Value> {
        let ended = self.run(words);
        assert_eq!(ended.code, 0, "{ended}");
        serde_json::from_str(&ended.stdout).expect("JSON")
    }
}

fn done(ended: Ended) -> Ended {
    assert_eq!(ended.code, 0, "{ended}");
    ended
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).expect("a file")
}

#[test]
fn a_run_in_a_database_is_what_one_in_a_folder_is() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(20, 0, database);
    let shared = stage.address_of("monday");
    done(end(stage.judge_in("local")));
    done(end(stage.judge_in(&shared)));
    done(stage.run(&["store", "copy", "--runs", &stage.address, "back"]));
    let folder = stage.folder.path();
    for file in FILES {
        assert_eq!(read(&folder.join("back/monday"), file), read(&folder.join("local"), file));
    }
    let listed = stage.runs(&["runs", &stage.address, "--json"]);
    let about = |key: &str| listed[0][key].clone();
    assert_eq!(
        (about("state"), about("n"), about("damage")),
        (json!("complete"), json!(20), json!(null))
    );
    assert_eq!(about("means"), stage.runs(&["runs", "local", "--json"])[0]["means"]);
    let place = about("folder");
    let shown = done(stage.run(&["runs", "show", place.as_str().expect("a place"), "--json"]));
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(
        (&shown["n_done"], &shown["folder"], &shown["damage"]),
        (&json!(20), &place, &json!(null))
    );
    done(stage.run(&["compare", &shared, "local"]));
    done(stage.run(&["report", &shared, "-o", "report.html"]));
    assert!(read(folder, "report.html").contains("<title>responses.jsonl"));
    let again = end(stage.judge_in(&shared));
    assert!(again.code == 2 && again.stderr.contains("this run is finished"), "{again}");
    assert!(again.stderr.contains("run=monday"), "{again}");
}

#[test]
fn runs_are_copied_to_a_database_and_back_and_pruned_there() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(3, 0, database);
    for run in ["runs/one", "runs/two"] {
        done(end(stage.judge_in(run)));
    }
    let copied = done(stage.run(&["store", "copy", "--runs", "runs", &stage.address]));
    assert!(copied.stderr.contains("copied 2 runs of 2"), "{copied}");
    let again = done(stage.run(&["store", "copy", "--runs", "runs/one", &stage.address]));
    assert!(
        again.stderr.contains("copied 0 runs of 1") && again.stderr.contains("1 known"),
        "{again}"
    );
    done(stage.run(&["store", "copy", "--runs", &stage.address_of("two"), "back"]));
    let folder = stage.folder.path();
    for file in FILES.into_iter().chain(["run.json", "records.jsonl"]) {
        assert_eq!(read(&folder.join("back/two"), file), read(&folder.join("runs/two"), file));
    }
    assert!(!folder.join("back/one").exists());
    let checked = done(stage.run(&["store", "check", &stage.address]));
    assert!(checked.stdout.contains("2 runs"), "{checked}");
    let pruned = done(stage.run(&["runs", "prune", &stage.address, "--keep", "1"]));
    assert!(pruned.stderr.contains("run=one") && pruned.stderr.contains("1 left"), "{pruned}");
    assert_eq!(stage.runs(&["runs", &stage.address, "--json"]).len(), 1);
    assert_eq!(stage.count(database, "run_pieces WHERE run = 'one'"), 0);
}

#[test]
fn settings_name_the_database_and_an_unfinished_run_is_gone_on_with() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(100, 10, database);
    let settings = format!("{}runs: {{folder: \"{}\"}}\n", super::SETTINGS, stage.address);
    fs::write(stage.folder.path().join("juror.yaml"), settings).expect("written");
    let words =
        ["eval", "reference.json", "responses.jsonl", "-c", "juror.yaml", "--cache-mode", "off"];
    let mut killed = stage.command(&words).spawn().expect("it starts");
    stage.wait_for_calls(40, &mut killed);
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let ended = done(stage.run(&words));
    assert!(ended.stderr.contains("resuming postgresql://"), "{ended}");
    let runs = stage.runs(&["runs", "-c", "juror.yaml", "--json"]);
    assert_eq!((runs.len(), &runs[0]["state"]), (1, &json!("complete")));
    assert!(stage.model.seen().len() <= 100 + CONCURRENCY);
}

#[test]
fn a_run_whose_program_was_killed_is_gone_on_with_from_another_machine() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(N_QUESTIONS, 5, database);
    let run = stage.address_of("monday");
    let mut killed = stage.judge_in(&run);
    stage.wait_for_calls(100, &mut killed);
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let (n_asked, n_judged) = (stage.model.seen().len(), stage.n_judged(database));
    // A judgement counts once it is stored; besides, some calls were under way.
    assert!(n_judged + 2 * CONCURRENCY >= n_asked, "{n_judged} of {n_asked} are judged");
    // Nothing but the database knows of the run.
    let ended = done(end(stage.judge_in(&run)));
    assert!(ended.stderr.contains("already judged"), "{ended}");
    assert_eq!(stage.model.seen().len(), n_asked + N_QUESTIONS - n_judged);
    assert_eq!(stage.n_judged(database), N_QUESTIONS);
}

#[test]
fn two_programs_do_not_work_on_one_run() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(N_QUESTIONS, 20, database);
    let run = stage.address_of("monday");
    let mut first = stage.judge_in(&run);
    stage.wait_for_calls(20, &mut first);
    let listed = stage.runs(&["runs", &stage.address, "--json"]);
    assert_eq!(listed[0]["state"], "running");
    let second = end(stage.judge_in(&run));
    assert_eq!(second.code, 2, "{second}");
    assert!(second.stderr.contains("another process is working on this run"), "{second}");
    let pruned = done(stage.run(&["runs", "prune", &stage.address, "--keep", "0", "--unfinished"]));
    assert!(pruned.stderr.contains("a process is working on it"), "{pruned}");
    done(end(first));
    assert_eq!(stage.model.seen().len(), N_QUESTIONS);
}

#[test]
fn a_server_that_is_killed_loses_nothing_of_a_run() {
    let Some(database) = Postgres::start() else { return };
    let stage = Stage::new(N_QUESTIONS, 5, &database);
    let mut program = stage.judge_in(&stage.address_of("monday"));
    stage.wait_for_calls(100, &mut program);
    database.crash();
    database.begin();
    let ended = done(end(program));
    assert!(ended.stderr.contains("went away and came back"), "{ended}");
    assert_eq!(stage.model.seen().len(), N_QUESTIONS, "nothing is bought twice");
    assert_eq!(stage.n_judged(&database), N_QUESTIONS);
}

#[test]
fn a_server_that_stays_away_ends_the_run_and_everything_is_kept() {
    let Some(database) = Postgres::start() else { return };
    let stage = Stage::new(N_QUESTIONS, 5, &database);
    let run = stage.address_of("monday");
    let mut program = stage.judge_in(&format!("{run}&patience=1"));
    stage.wait_for_calls(100, &mut program);
    database.stop();
    let ended = end(program);
    assert_eq!(ended.code, 3, "{ended}");
    assert!(ended.stderr.contains("no connection"), "{ended}");
    database.begin();
    let (n_asked, n_judged) = (stage.model.seen().len(), stage.n_judged(&database));
    done(end(stage.judge_in(&run)));
    assert_eq!(stage.model.seen().len(), n_asked + N_QUESTIONS - n_judged);
}

#[test]
fn a_disk_that_is_full_ends_the_run_and_everything_is_kept() {
    let Some(database) = Postgres::start() else { return };
    let Some(_disk) = database.small_disk(4) else { return };
    let stage = Stage::new(N_QUESTIONS, 5, &database);
    let run = stage.address_of("monday");
    let mut program = stage.judge_in(&run);
    stage.wait_for_calls(100, &mut program);
    database.sql(
        "CREATE TABLE filler (text text);
         DO $$ BEGIN LOOP BEGIN INSERT INTO filler VALUES (repeat('x', 1500));
             EXCEPTION WHEN disk_full THEN EXIT; END; END LOOP; END $$",
    );
    let ended = end(program);
    assert_eq!(ended.code, 3, "{ended}");
    assert!(ended.stderr.contains("the server's disk is full"), "{ended}");
    let (n_asked, n_judged) = (stage.model.seen().len(), stage.n_judged(&database));
    assert!((1..N_QUESTIONS).contains(&n_judged), "{n_judged} are judged");
    database.sql("DROP TABLE filler; CHECKPOINT");
    done(end(stage.judge_in(&run)));
    assert_eq!(stage.model.seen().len(), n_asked + N_QUESTIONS - n_judged);
    assert_eq!(stage.n_judged(&database), N_QUESTIONS);
}

#[test]
fn a_place_that_cannot_be_used_is_refused_before_anything_is_asked() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(3, 0, database);
    let newer = stage.address_of("monday");
    done(stage.run(&["store", "migrate", &stage.address]));
    let schema = stage.address.split_once("schema=").expect("a schema").1;
    database.sql(&format!("INSERT INTO {schema}.juror_version VALUES (99)"));
    let down = "postgresql://juror:hush-hush@127.0.0.1:1/evals?run=a".to_owned();
    let mut refused = vec![
        (down, 3, "Connection refused"),
        (newer, 2, "made by a newer release"),
        (stage.address.clone(), 2, "this names no run"),
    ];
    let pooler = database.pooler();
    if let Some(pooler) = &pooler {
        let place = format!("{}?run=a", pooler.address);
        refused.push((place, 3, "gives every transaction another session"));
    }
    for (place, code, told) in refused {
        for ended in [end(stage.judge_in(&place)), stage.run(&["runs", "show", &place])] {
            assert_eq!(ended.code, code, "{place}: {ended}");
            assert!(ended.stderr.contains(told), "{ended}");
            assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("hush-hush"), "{ended}");
        }
    }
    assert!(stage.model.seen().is_empty());
    let viewed = stage.run(&["view", &stage.address]);
    assert!(viewed.code == 2 && viewed.stderr.contains("juror store copy --runs"), "{viewed}");
}
