//! What is answered is kept, whatever happens to the process.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::http::{Answer, StandIn};
use crate::stage::{Served, Stage, request};

/// A model that says what it was asked, so that every call has a reply of its own.
fn echo() -> StandIn {
    StandIn::start(|_, asked| {
        let body: Value = serde_json::from_str(&asked.body).expect("JSON");
        let messages = body["messages"].as_array().expect("messages");
        let user = messages.last().expect("a message")["content"].as_str().expect("a text");
        let input = user.rsplit("API Input:").next().expect("an input").trim();
        let text = json!({"error": "", "response": input}).to_string();
        let message = json!({"role": "assistant", "content": text});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        Answer::Say(200, json!({"choices": [choice]}).to_string())
    })
}

fn options(model: &StandIn) -> String {
    format!(
        "--tools tools --store store --log off --simulator chat --model m --model-url {}",
        model.url("/v1")
    )
}

/// Makes calls `from..to` over some connections; returns those that were answered.
fn call_all(served: &Served, n_connections: usize, n_calls: usize) -> BTreeSet<usize> {
    let (next, answered) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..n_connections {
            scope.spawn(|| {
                let mut client = served.client();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= n_calls {
                        return;
                    }
                    let body = request("Sky", "Now", json!({"n": n})).to_string();
                    let Some(reply) = client.try_post("/virtual", body) else { return };
                    assert_eq!(reply.json()["response"], format!("{{'n': {n}}}"));
                    answered.lock().expect("no panic").insert(n);
                }
            });
        }
    });
    answered.into_inner().expect("no panic")
}

fn kept(stage: &Stage) -> u64 {
    let (_, stats, _) = stage.run("tools stats --json --store store");
    let stats: Value = serde_json::from_str(&stats).expect("JSON");
    stats
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["replies"].as_u64().expect("a number"))
        .sum()
}

#[test]
fn distinct_misses_at_once_are_all_kept() {
    let (stage, model) = (Stage::new(), echo());
    let served = stage.serve(&options(&model));
    assert_eq!(call_all(&served, 16, 400).len(), 400);
    served.stop();
    assert_eq!((kept(&stage), model.asked().len()), (400, 400));
}

#[test]
fn ten_thousand_misses_at_once_are_all_kept() {
    let (stage, model) = (Stage::new(), echo());
    let served = stage.serve(&options(&model));
    assert_eq!(call_all(&served, 200, 10_000).len(), 10_000);
    served.kill();
    assert_eq!(kept(&stage), 10_000);
}

#[test]
fn what_was_answered_survives_a_kill() {
    let (stage, model) = (Stage::new(), echo());
    let mut answered = BTreeSet::new();
    for round in 0..5 {
        let served = stage.serve(&options(&model));
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Killed in the middle of the burst, at another place each round.
                let enough = 40 * (round + 1) + model.asked().len();
                while model.asked().len() < enough && !is_done.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                let id = served.id().to_string();
                Command::new("kill").args(["-KILL", &id]).status().expect("killed");
            });
            answered.extend(call_all(&served, 16, 2_000));
            is_done.store(true, Ordering::Relaxed);
        });
        drop(served);
    }
    let n_asked = model.asked().len();
    let served = stage.serve("--tools tools --store store --cache store --on-miss fail");
    let mut client = served.client();
    for n in &answered {
        let reply = client.post("/virtual", request("Sky", "Now", json!({"n": n})).to_string());
        assert_eq!(
            (reply.status, &reply.json()["response"]),
            (200, &json!(format!("{{'n': {n}}}")))
        );
    }
    println!("{} replies were answered in five rounds, and all are kept", answered.len());
    assert!(!answered.is_empty() && model.asked().len() == n_asked);
}

#[test]
fn two_servers_share_a_store() {
    let (stage, model) = (Stage::new(), echo());
    let (one, two) = (stage.serve(&options(&model)), stage.serve(&options(&model)));
    std::thread::scope(|scope| {
        scope.spawn(|| call_all(&one, 8, 300));
        scope.spawn(|| call_all(&two, 8, 300));
    });
    let body = request("Sky", "Now", json!({"n": "only one"}));
    assert_eq!(one.call(&body).header("juror-source"), Some("simulator"));
    assert_eq!(
        two.call(&body).header("juror-source"),
        Some("cache"),
        "what one kept the other knows"
    );
    one.stop();
    two.stop();
    assert_eq!(kept(&stage), 301);
}

#[test]
fn after_a_stop_in_good_order_the_store_is_one_file() {
    let (stage, model) = (Stage::new(), echo());
    let served = stage.serve(&options(&model));
    assert_eq!(call_all(&served, 4, 20).len(), 20);
    served.stop();
    let entries = std::fs::read_dir(stage.folder.path().join("store")).expect("a folder");
    let files: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(files, ["tools.sqlite"]);
    assert_eq!(kept(&stage), 20);
}

#[test]
fn a_store_that_is_deleted_while_it_serves_is_told_and_made_again() {
    let (stage, model) = (Stage::new(), echo());
    let served = stage.serve(&options(&model).replace("--log off", "--log misses"));
    let ask = |n: usize| served.call(&request("Sky", "Now", json!({"n": n})));
    assert_eq!(ask(1).header("juror-source"), Some("simulator"));
    std::fs::remove_dir_all(stage.folder.path().join("store")).expect("deleted");
    assert_eq!((ask(2).status, ask(3).status), (200, 200));
    // What is in memory stays known.
    assert_eq!(ask(1).header("juror-source"), Some("cache"));
    let (_, said) = served.stop();
    assert_eq!(said.matches("deleted while in use").count(), 1, "{said}");
    assert_eq!(kept(&stage), 2);
}

#[test]
fn a_full_disk_is_told_and_damages_nothing() {
    let (stage, model) = (Stage::new(), echo());
    // A limit on the size of files stands in for a disk without room.
    let line = format!(
        "trap '' XFSZ; ulimit -f 400; exec {} serve --port 0 {}",
        env!("CARGO_BIN_EXE_juror"),
        options(&model)
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(stage.folder.path()).stdout(Stdio::piped());
    let served = stage.serve_command(shell);
    let mut client = served.client();
    let (mut kept_ones, mut refused) = (Vec::new(), 0);
    for n in 0..400 {
        let city = format!("{n} {}", "x".repeat(2_000));
        let body = request("Sky", "Now", json!({"city": city})).to_string();
        let reply = client.post("/virtual", &body);
        match reply.status {
            200 => kept_ones.push(body),
            507 => {
                assert!(
                    reply.json()["error"].as_str().expect("an error").contains("cannot be kept")
                );
                refused += 1;
            }
            status => panic!("{status}: {}", reply.body),
        }
    }
    assert!(refused > 0 && !kept_ones.is_empty(), "{refused} of 400 refused");
    assert_eq!(client.get("/health").status, 200);
    served.kill();
    let again = stage.serve("--tools tools --cache store --on-miss fail");
    let mut client = again.client();
    for body in &kept_ones {
        assert_eq!(client.post("/virtual", body).status, 200, "what was answered is kept");
    }
    println!("{} kept, {refused} refused for want of room", kept_ones.len());
}
