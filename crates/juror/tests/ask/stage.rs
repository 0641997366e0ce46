//! A folder with a reference, and the program run in it.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::{Value, json};

pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

impl Stage {
    /// Four questions, each with an expected answer and an expected step.
    pub(crate) fn new() -> Stage {
        let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
        let question = |id: &str| {
            json!({"id": id, "question_text": format!("What is {id}?"),
                "reference_answer": format!("It is {id}."),
                "reference_steps": [[{"name": "lookup", "output": id}]]})
        };
        let questions = ["q1", "q2", "q3", "q4"].map(question);
        let reference = json!([{"template_id": "t", "questions": questions}]);
        stage.write("reference.json", &reference.to_string());
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    pub(crate) fn lines(&self, name: &str) -> Vec<Value> {
        let text = self.read(name);
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The responses that were recorded.
    pub(crate) fn responses(&self) -> Vec<Value> {
        self.lines("responses.jsonl")
    }

    /// A command on the reference, without a model unless a test names one.
    pub(crate) fn command(&self, verb: &str, agent: &str, options: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command
            .args([verb, "reference.json"])
            .args(if agent.is_empty() { vec![] } else { vec!["--agent", agent] })
            .args(options.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn ask(&self, agent: &str, options: &str) -> Ended {
        end(&mut self.command("ask", agent, &format!("-o responses.jsonl {options}")))
    }

    pub(crate) fn eval(&self, agent: &str, options: &str) -> Ended {
        end(&mut self.command("eval", agent, &format!("--run run {options}")))
    }

    /// Begins a command, and kills it when this many questions are answered.
    pub(crate) fn cut_off(&self, verb: &str, agent: &str, options: &str, n_answered: usize) {
        let (mut juror, _) = self.begin((verb, agent, options), n_answered);
        juror.kill().expect("killed");
        juror.wait().expect("ended");
    }

    /// Begins a command, and sends it a signal when this many questions are answered.
    pub(crate) fn signal(
        &self,
        signal: &str,
        command: (&str, &str, &str),
        n_answered: usize,
    ) -> Ended {
        let (juror, said) = self.begin(command, n_answered);
        let sent = Command::new("kill").args([signal, &juror.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        let rest: Vec<String> = said.map_while(Result::ok).collect();
        let ended = juror.wait_with_output().expect("it ends");
        let stdout = String::from_utf8_lossy(&ended.stdout).into_owned();
        Ended { code: ended.status.code().unwrap_or(-1), stdout, stderr: rest.join("\n") }
    }

    /// Begins a command, and waits until this many questions are answered; also returns what it says
    /// from then on.
    fn begin(
        &self,
        (verb, agent, options): (&str, &str, &str),
        n_answered: usize,
    ) -> (Child, Lines<BufReader<ChildStderr>>) {
        let mut command = self.command(verb, agent, options);
        let mut juror =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("juror runs");
        let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
        let is_answered = |line: &String| line.starts_with('[');
        let n_seen =
            said.by_ref().map_while(Result::ok).filter(is_answered).take(n_answered).count();
        assert_eq!(n_seen, n_answered, "answers before the end");
        (juror, said)
    }

    /// An agent that is a script: the body of a Python function from a task to its answer.
    pub(crate) fn script(&self, body: &str) -> String {
        let lines: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
        self.write(
            "agent.py",
            &format!(
                "import json, os, sys, time\n\
                 def say(task, **more):\n    print(json.dumps({{'type': 'answered', 'query_id': task['query_id']}} | more), flush=True)\n\
                 print(json.dumps({{'type': 'ready'}}), flush=True)\nsys.stdin.readline()\n\
                 for line in sys.stdin:\n    task = json.loads(line)\n    open('asked.txt', 'a').write(task['query_id'] + '\\n')\n{}\n",
                lines.join("\n")
            ),
        );
        "command:python3 agent.py".to_owned()
    }

    /// How often the script was asked.
    pub(crate) fn n_asked(&self) -> usize {
        fs::read_to_string(self.path("asked.txt")).map_or(0, |text| text.lines().count())
    }
}

pub(crate) fn end(command: &mut Command) -> Ended {
    let output = command.output().expect("juror runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    Ended { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// The values of a key in each of several objects.
pub(crate) fn each(objects: &[Value], key: &str) -> Vec<Value> {
    objects.iter().map(|object| object[key].clone()).collect()
}
