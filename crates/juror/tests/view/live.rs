//! Progress of runs while they run.

use std::fs::File;
use std::io::Write;

use serde_json::json;

use crate::http::Listener;
use crate::stage::Stage;

#[test]
fn progress_is_told_while_a_run_is_being_written() {
    let stage = Stage::with_two_runs();
    stage.write("runs/begun/run.json", &stage.manifest("first").to_string());
    stage.write("runs/begun/records.jsonl", "");
    let viewed = stage.view("");
    let path = stage.path("runs/begun/records.jsonl");
    let mut journal = File::options().append(true).open(&path).expect("a journal");
    let mut events = Listener::new(viewed.address());
    let run = |told: &serde_json::Value| told["runs"][0].clone();
    let begun =
        |state: &str, done: u64| json!({"id": "begun", "state": state, "done": done, "all": 2});
    let first = events.next();
    assert_eq!(run(&first), begun("unfinished", 0));
    assert!(viewed.page("/").contains(first["list"].as_str().expect("a text")));
    journal.lock().expect("locked");
    assert_eq!(run(&events.next()), begun("running", 0));
    journal.write_all(b"{\"question_id\": \"q1\"}\n").expect("written");
    assert_eq!(run(&events.next()), begun("running", 1));
    journal.write_all(b"{\"question_id\": \"q2\"}\n").expect("written");
    assert_eq!(run(&events.next()), begun("running", 2));
    stage.write("runs/begun/run.json", &stage.read("runs/first/run.json"));
    let last = events.next();
    assert_eq!(last["runs"], json!([]));
    assert_ne!(last["list"], first["list"], "the page learns that it is out of date");
}

#[test]
fn looking_at_a_run_does_not_keep_anybody_from_working_on_it() {
    let stage = Stage::with_two_runs();
    stage.write("runs/begun/run.json", &stage.manifest("first").to_string());
    stage.write("runs/begun/records.jsonl", "");
    let viewed = stage.view("");
    let mut listeners: Vec<Listener> = (0..4).map(|_| Listener::new(viewed.address())).collect();
    for listener in &mut listeners {
        assert_eq!(listener.next()["runs"][0]["state"], "unfinished");
    }
    let ended = stage.run("eval reference.json first.jsonl --run runs/begun -q");
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn a_viewer_stops_though_somebody_listens() {
    let stage = Stage::with_two_runs();
    let viewed = stage.view("");
    let mut events = Listener::new(viewed.address());
    events.next();
    assert_eq!(viewed.stop(), 0);
}
