//! A folder, and the program run in it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub(crate) use juror_testing::Ended;
use juror_testing::Serving;
use serde_json::Value;

pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
}

impl Stage {
    /// Serves the example tools from this folder.
    pub(crate) fn serve(&self) -> Serving {
        self.serve_with("")
    }

    /// The same with more options.
    pub(crate) fn serve_with(&self, options: &str) -> Serving {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command
            .args(["serve", "--port", "0", "--no-keep", "--quiet"])
            .args(["--tools", &format!("{examples}/tools")])
            .args(["--cache", &format!("{examples}/tool_cache")])
            .args(options.split_whitespace())
            .current_dir(self.folder.path())
            .stderr(Stdio::null());
        Serving::start(&mut command)
    }

    pub(crate) fn new() -> Stage {
        Stage { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.path(name)).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    }

    pub(crate) fn results(&self) -> Value {
        self.json("out.json")
    }

    /// Runs the benchmark on the project's example, with more options.
    pub(crate) fn bench(&self, agent: &str, options: &str) -> Ended {
        self.bench_with(agent, options, &[])
    }

    /// The command that tries an agent on the project's example.
    pub(crate) fn command(&self, agent: &str, options: &str) -> Command {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        self.command_on(&format!("{examples}/queries.json"), agent, options)
    }

    /// The command that tries an agent on queries of one's own, with the example's tools.
    pub(crate) fn command_on(&self, queries: &str, agent: &str, options: &str) -> Command {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command
            .args(["bench", "-o", "out.json", "--no-keep"])
            .args(["--queries", queries])
            .args(["--tools", &format!("{examples}/tools")])
            .args(["--cache", &format!("{examples}/tool_cache")])
            .args(["--agent", agent])
            .args(options.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .env("JUROR_RUN", "run")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn bench_with(
        &self,
        agent: &str,
        options: &str,
        variables: &[(&str, &str)],
    ) -> Ended {
        let mut command = self.command(agent, options);
        Ended::of(command.envs(variables.iter().copied()))
    }
}

pub(crate) fn example_agent() -> String {
    format!("command:python3 {}/../../examples/agents/baseline.py", env!("CARGO_MANIFEST_DIR"))
}

/// Calls a tool as agents do.
const CALL: &str = "\
def call(task, category, tool, api, **arguments):
    import urllib.request
    body = {'category': category, 'tool_name': tool, 'api_name': api, 'tool_input': arguments, 'strip': '', 'toolbench_key': ''}
    request = urllib.request.Request(task['virtual_url'], json.dumps(body).encode(), {'Content-Type': 'application/json'} | task.get('headers', {}))
    with urllib.request.urlopen(request) as reply: return reply.read()";

/// An agent whose behaviour by query is the body of a Python function.
pub(crate) fn agent(stage: &Stage, body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
    stage.write(
        "agent.py",
        &format!(
            "import json, os, sys, time\nprint(json.dumps({{'type': 'ready'}}), flush=True)\nsys.stdin.readline()\n\
             {CALL}\n\
             def say(task, **more):\n    print(json.dumps({{'type': 'answered', 'query_id': task['query_id']}} | more), flush=True)\n\
             for line in sys.stdin:\n    task = json.loads(line)\n    open('asked.txt', 'a').write(task['query_id'] + '\\n')\n{}\n",
            lines.join("\n")
        ),
    );
    "command:python3 agent.py".into()
}
