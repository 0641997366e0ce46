//! A folder with a dataset, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use juror_testing::Ended;
use serde_json::{Value, json};

pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
}

impl Stage {
    /// Two questions of one template: one step is right, the other is wrong.
    pub(crate) fn new() -> Stage {
        let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
        let question = |id: &str| {
            json!({"id": id, "question_text": "What?", "reference_answer": "It is x.",
                "reference_steps": [[{"name": "lookup", "output": "x"}]]})
        };
        let questions = [question("q1"), question("q2")];
        let reference = json!([{"template_id": "t", "questions": questions}]);
        stage.write("reference.json", &reference.to_string());
        let response = |id: &str, output: &str| {
            json!({"question_id": id, "actual_answer": "It is x.", "actual_steps":
                [{"name": "lookup", "id": "s", "status": "success", "output": output}]})
        };
        let responses = format!("{}\n{}\n", response("q1", "x"), response("q2", "y"));
        stage.write("responses.jsonl", &responses);
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    /// Returns the names in a folder, sorted.
    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        program(self.folder.path(), line)
    }

    pub(crate) fn run(&self, line: &str) -> Ended {
        end(&mut self.command(line))
    }

    /// Evaluates the dataset, which must succeed.
    pub(crate) fn eval(&self, options: &str) -> Ended {
        let ended = self.run(&format!("eval reference.json responses.jsonl {options}"));
        assert_eq!(ended.code, 0, "{ended}");
        ended
    }

    /// Changes a manifest.
    pub(crate) fn change_run(&self, folder: &str, change: impl FnOnce(&mut Value)) {
        let name = format!("{folder}/run.json");
        let mut run = self.json(&name);
        change(&mut run);
        self.write(&name, &run.to_string());
    }
}

fn program(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
    command
        .args(line.split_whitespace())
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .stdin(Stdio::null());
    command
}

pub(crate) fn end(command: &mut Command) -> Ended {
    Ended::of(command)
}
