//! A folder with runs, and a viewer of them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use juror_testing::{Ended, Serving};
use serde_json::{Value, json};

use crate::http::{Reply, ask};

pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
}

/// A viewer that is running.
pub(crate) struct Viewed(Serving);

impl Stage {
    /// A folder without runs.
    pub(crate) fn new() -> Stage {
        let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
        stage.write_reference("What?");
        fs::create_dir(stage.path("runs")).expect("made");
        stage
    }

    /// A folder with two runs: the second is right where the first is wrong.
    pub(crate) fn with_two_runs() -> Stage {
        let stage = Stage::new();
        stage.eval("first", &["x", "y"]);
        stage.eval("second", &["x", "x"]);
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Two questions of one template, each with one step that is to return `x`.
    pub(crate) fn write_reference(&self, text: &str) {
        let question = |id: &str| {
            json!({"id": id, "question_text": text, "reference_answer": "It is x.",
                "reference_steps": [[{"name": "lookup", "output": "x"}]]})
        };
        let questions = [question("q1"), question("q2")];
        let reference = json!([{"template_id": "t", "questions": questions}]);
        self.write("reference.json", &reference.to_string());
    }

    /// Evaluates what a system found, and keeps the run.
    pub(crate) fn eval(&self, run: &str, outputs: &[&str; 2]) {
        let response = |id: &str, output: &str| {
            json!({"question_id": id, "actual_answer": "It is x.", "actual_steps":
                [{"name": "lookup", "id": "s", "status": "success", "output": output}]})
        };
        let [one, two] = outputs;
        let responses = format!("{}\n{}\n", response("q1", one), response("q2", two));
        self.write(&format!("{run}.jsonl"), &responses);
        let line = format!("eval reference.json {run}.jsonl --run runs/{run} --fresh -q");
        let ended = self.run(&line);
        assert_eq!(ended.code, 0, "{ended:?}");
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ended {
        Ended::of(&mut self.command(line))
    }

    /// Starts a viewer of the runs at a free port.
    pub(crate) fn view(&self, options: &str) -> Viewed {
        Viewed(Serving::start(&mut self.command(&format!("view runs --port 0 -q {options}"))))
    }

    /// A manifest as Juror writes it, of a run that has begun.
    pub(crate) fn manifest(&self, of: &str) -> Value {
        let mut manifest: Value =
            serde_json::from_str(&self.read(&format!("runs/{of}/run.json"))).expect("JSON");
        manifest["is_complete"] = json!(false);
        manifest
    }
}

impl Viewed {
    pub(crate) fn get(&self, path: &str) -> Reply {
        ask(self.address(), &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n"), "")
    }

    /// Gets a page that there must be.
    pub(crate) fn page(&self, path: &str) -> String {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.body
    }

    /// Sends a form, as a page of the viewer does.
    pub(crate) fn post(&self, path: &str, form: &str) -> Reply {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\ncontent-length: {}\r\n",
            form.len()
        );
        ask(self.address(), &head, form)
    }

    pub(crate) fn address(&self) -> &str {
        &self.0.address
    }

    /// Asks it to stop, and waits until it has: its exit code.
    pub(crate) fn stop(self) -> i32 {
        self.0.stop()
    }
}
