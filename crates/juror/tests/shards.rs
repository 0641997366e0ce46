//! Shards of an evaluation, in processes of their own, and merged.

use std::fs;
use std::process::Command;

use juror_testing::Ended;
use serde_json::{Value, json};

const N_SHARDS: usize = 4;

struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    /// Questions of three templates; some have no response, some fail, and some are half right.
    fn new() -> Stage {
        let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
        let question = |n: usize| {
            let step =
                |name: &str| json!({"name": name, "output": format!("{n}"), "status": "success"});
            json!({"id": format!("q{n}"), "question_text": format!("What is {n}?"),
                "reference_steps": [[step("look"), step("find")]]})
        };
        let template = |name: &str, numbers: std::ops::Range<usize>| json!({"template_id": name, "questions": numbers.map(question).collect::<Vec<_>>()});
        let reference = json!([template("z", 0..20), template("a", 20..25), template("m", 25..42)]);
        let response = |n: usize| {
            if n % 11 == 3 {
                return json!({"question_id": format!("q{n}"), "status": "error", "error": "it broke"});
            }
            let step = |name: &str, right: bool| {
                let output = if right { n } else { n + 1 };
                json!({"id": format!("{n}{name}"), "name": name, "args": {}, "output": output.to_string(), "status": if n % 5 == 4 { "error" } else { "success" }})
            };
            let mut steps =
                vec![step("find", !n.is_multiple_of(3)), step("look", !n.is_multiple_of(4))];
            if n % 6 == 5 {
                steps.insert(0, step("wait", false));
            }
            json!({"question_id": format!("q{n}"), "input_tokens": 10 * n, "output_tokens": 7,
                "total_tokens": 10 * n + 7, "elapsed_sec": (n as f64).sqrt(),
                "actual_answer": "yes", "actual_steps": steps})
        };
        let responses: Vec<String> =
            (0..42).filter(|n| n % 13 != 12).map(|n| response(n).to_string()).collect();
        stage.write("reference.json", &reference.to_string());
        stage.write("responses.jsonl", &responses.join("\n"));
        stage
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.folder.path().join(name), content).expect("written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).expect("a file")
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command.args(line.split_whitespace()).current_dir(self.folder.path()).env_clear();
        command
    }

    fn run(&self, line: &str) -> Ended {
        Ended::of(&mut self.command(line))
    }

    fn done(&self, line: &str) -> Ended {
        let ended = self.run(line);
        assert_eq!(ended.code, 0, "{line}: {}", ended.stderr);
        ended
    }

    fn evaluate_shards(&self, options: &str) {
        for number in 1..=N_SHARDS {
            let shard = format!("--shard {number}/{N_SHARDS} --partial p{number}");
            self.done(&format!("eval reference.json responses.jsonl {shard} {options}"));
        }
    }
}

#[test]
fn merged_shards_are_the_evaluation_of_everything() {
    for profile in ["5", "6"] {
        let stage = Stage::new();
        stage.done(&format!("eval reference.json responses.jsonl --profile {profile} -a whole.json -s whole-s.json -a whole.yaml"));
        stage.evaluate_shards(&format!("--profile {profile} -q"));
        let ended = stage.done("merge p3 p1 p4 p2 -a all.json -s all-s.json -a all.yaml");
        assert!(
            ended.stdout.starts_with(&format!("profile {profile} · 42 results in 3 templates")),
            "{}",
            ended.stdout
        );
        for (all, whole) in
            [("all.json", "whole.json"), ("all-s.json", "whole-s.json"), ("all.yaml", "whole.yaml")]
        {
            let text = |name: &str| String::from_utf8(stage.read(name)).expect("text");
            assert_eq!(text(all), text(whole), "profile {profile}");
        }
        let printed = stage.done("merge p1 p2 p3 p4 --json").stdout;
        let printed: Value = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(
            printed,
            serde_json::from_slice::<Value>(&stage.read("whole.json")).expect("JSON")
        );
    }
}

#[test]
fn a_shard_knows_the_questions_of_the_others() {
    let stage = Stage::new();
    let ended = stage.done("eval reference.json responses.jsonl --shard 2/4 --partial p2 --json");
    let whole = stage.done("eval reference.json responses.jsonl --json");
    assert_eq!(ended.stderr, whole.stderr, "what others have is not unknown");
    let summary: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(summary["questions"], 11);
    // A shard beyond the end of the list is empty, and merges.
    let ended = stage.done("eval reference.json responses.jsonl --shard 50/50 --partial p50");
    assert!(!ended.stderr.contains("no questions"), "{}", ended.stderr);
}

#[test]
fn schedulers_say_which_shard_it_is() {
    let stage = Stage::new();
    let eval = "eval reference.json responses.jsonl -q";
    stage.evaluate_shards("-q");
    for variables in [
        &[("JUROR_SHARD", "3/4")][..],
        &[("JUROR_SHARD", "auto/4"), ("JOB_COMPLETION_INDEX", "2")],
        &[("JUROR_SHARD", "auto/4"), ("SLURM_ARRAY_TASK_ID", "3")],
        &[
            ("JUROR_SHARD", "auto"),
            ("SLURM_ARRAY_TASK_ID", "2"),
            ("SLURM_ARRAY_TASK_MIN", "0"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
        ],
    ] {
        let mut command = stage.command(&format!("{eval} --partial again"));
        let ended = Ended::of(command.envs(variables.iter().copied()));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(stage.read("again"), stage.read("p3"), "{variables:?}");
    }
    let ended = stage.run(&format!("{eval} --shard auto/4 --partial again"));
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set"),
        "{}",
        ended.stderr
    );
    for shard in ["0/4", "5/4", "3", "x/4"] {
        assert_eq!(stage.run(&format!("{eval} --shard {shard}")).code, 2, "{shard}");
    }
}

#[test]
fn what_is_no_whole_is_not_merged() {
    let stage = Stage::new();
    stage.evaluate_shards("-q");
    let eval = "eval reference.json responses.jsonl -q --partial";
    stage.done(&format!("{eval} six --shard 2/4 --profile 6"));
    stage.done(&format!("{eval} fifth --shard 2/5"));
    stage.write("other.jsonl", "{\"question_id\": \"q1\", \"actual_answer\": \"no\"}\n");
    stage.done("eval reference.json other.jsonl -q --partial other --shard 2/4");
    let text = String::from_utf8(stage.read("reference.json")).expect("text");
    stage.write("changed.json", &text.replace("What is 7?", "What is seven?"));
    stage.done("eval changed.json responses.jsonl -q --partial changed --shard 2/4");
    let bytes = stage.read("p2");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(stage.folder.path().join(name), bytes).expect("written");
    };
    write("cut", &bytes[..bytes.len() / 2]);
    let mut damaged = bytes.clone();
    damaged[60] ^= 1;
    write("damaged", &damaged);
    write("newer", &[&b"juror.partial/2\n"[..], &bytes[16..]].concat());
    for (partials, why) in [
        ("p1 p3 p4", "shard 2 of 4 is missing"),
        ("p3", "shards 1, 2 and 4 of 4 are missing"),
        ("p1 p2 p3 p2 p4", "p2: shard 2/4 is there already"),
        ("p1 six p3 p4", "six: it was scored by profile 6, and others by profile 5"),
        ("p1 fifth p3 p4", "fifth: it is one of 5 shards, and others are of 4"),
        ("p1 other p3 p4", "other: it is a shard of another run: the list of responses differs"),
        ("p1 changed p3 p4", "changed: it is a shard of another run: the reference differs"),
        ("p1 cut p3 p4", "cut: this partial is damaged or cut off"),
        ("p1 damaged p3 p4", "damaged: this partial is damaged or cut off"),
        (
            "p1 newer p3 p4",
            "newer: this is a partial of version \"2\", and this release of juror reads version 1",
        ),
        ("p1 reference.json", "reference.json: this is no partial"),
        ("p1 nowhere", "nowhere: cannot read: there is no such file or folder"),
    ] {
        let ended = stage.run(&format!("merge {partials} -a all.json"));
        assert_eq!(ended.code, 2, "{partials}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{partials}: {}", ended.stderr);
        assert!(!stage.folder.path().join("all.json").exists(), "{partials}");
    }
    stage.done("merge p1 p2 p3 p4 -a all.json -q");
}
