//! Viewers that fail while people label answers.

use juror_testing::{Ended, Fault, Serving};
use serde_json::Value;

use crate::eval::check_end;
use crate::http::{Reply, ask};
use crate::points::Points;
use crate::stage::Stage;

const COMMAND: &str = "view runs --port 0 -q";

const LABELS: &str = "runs/first/labels.jsonl";

const N_LABELS: usize = 3;

/// A folder with a run whose answers a model has judged.
fn judged() -> Stage {
    let stage = Stage::new();
    let line = "eval reference.json responses.jsonl -c juror.yaml --run runs/first -q";
    let ended = stage.run(line);
    assert_eq!(ended.code, 0, "{ended}");
    stage
}

/// The value of a hidden field of a page, as a form sends it.
fn hidden(page: &str, name: &str) -> Option<String> {
    let value = page.split(&format!("name=\"{name}\" value=\"")).nth(1)?;
    Some(format!("{name}={}", value.split('"').next()?))
}

/// Labels the next answer; returns its id if that was confirmed.
fn label_next(serving: &Serving) -> Option<String> {
    let page = ask(&serving.address, "GET", "/label/first?by=ann", "")?.body;
    let names = ["metric", "n", "id", "group", "trial", "shown"];
    let form: Option<Vec<String>> = names.iter().map(|name| hidden(&page, name)).collect();
    let form = form?.join("&") + "&by=ann&label=right&note=seen";
    match ask(&serving.address, "POST", "/label/first", &form)? {
        Reply { status: 303, .. } => hidden(&page, "id"),
        Reply { status: 500, body } => {
            assert!(body.contains("labels.jsonl"), "{body}");
            None
        }
        other => panic!("{other:?}"),
    }
}

/// The ids of all labels in the file; a line that is cut off may stand anywhere but within another.
fn ids(stage: &Stage) -> Vec<String> {
    let text = stage.read(LABELS).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.map(|line| format!("id={}", line["id"].as_str().expect("an id"))).collect()
}

#[test]
fn labels_that_were_confirmed_are_kept_whatever_fails() {
    let stage = judged();
    let Some(watch) = stage.watch() else { return };
    let watch = watch.with_connections();
    let serving = stage.serve(stage.failing(&watch, (Fault::None, 0), COMMAND)).expect("it serves");
    for _ in 0..N_LABELS {
        label_next(&serving).expect("a label");
    }
    assert_eq!(serving.stop(), 0);
    assert_eq!(ids(&stage).len(), N_LABELS);
    Points::of("view", watch.calls(), &Fault::ALL).check(16, fail_at);
}

fn fail_at(fault: Fault, number: usize) {
    let stage = judged();
    let watch = stage.watch().expect("as before").with_connections();
    let mut confirmed = match stage.serve(stage.failing(&watch, (fault, number), COMMAND)) {
        Ok(serving) => {
            let confirmed: Vec<String> =
                (0..N_LABELS).filter_map(|_| label_next(&serving)).collect();
            let code = serving.stop();
            assert!(code == 0 || (fault.kills() && code == 137), "{code}: {}", stage.said());
            assert!(fault != Fault::Short || confirmed.len() == N_LABELS, "{}", stage.said());
            confirmed
        }
        Err(ended) => {
            check_end(fault, number, &ended, &watch);
            Vec::new()
        }
    };
    if !fault.kills() {
        // Nobody was killed, so that no line is cut off.
        stage.check_files();
        let text = stage.read(LABELS).unwrap_or_default();
        assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    }
    let again = stage.serve(stage.command(COMMAND)).expect("it serves again");
    let before = ids(&stage);
    assert!(confirmed.iter().all(|id| before.contains(id)), "{confirmed:?} of {before:?}");
    confirmed = before;
    confirmed.push(label_next(&again).expect("a label"));
    assert_eq!(ids(&stage), confirmed);
    assert_eq!(again.stop(), 0);
    let read: Ended = stage.run(&format!("calibrate runs/first {LABELS} -o calibration.json"));
    assert!([0, 2].contains(&read.code), "{read}");
    assert!(!read.stderr.contains("panic"), "{read}");
}
