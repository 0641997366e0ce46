//! A folder with tools and replies, and a server on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use juror_testing::Serving;
use serde_json::{Value, json};

use crate::http::{Client, Reply};

/// A key that no file, log or reply may ever show.
pub(crate) const KEY: &str = "tb-must-never-be-seen";

/// A folder to serve from.
pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
}

/// A server that is running.
pub(crate) struct Served {
    serving: Serving,
    log: PathBuf,
}

impl Stage {
    /// A folder with two tools, and replies of one of them.
    pub(crate) fn new() -> Stage {
        let stage = Stage::empty();
        stage.write(
            "tools/Weather/sky.json",
            r#"{"tool_name": "Sky", "tool_description": "Weather of all places", "host": "sky.example",
                "api_list": [
                    {"name": "Now", "description": "The weather now", "method": "GET",
                     "required_parameters": [{"name": "city", "type": "STRING", "description": "where", "default": "Oslo"}],
                     "optional_parameters": []},
                    {"name": "id", "description": "A place's number", "method": "GET",
                     "required_parameters": [], "optional_parameters": []}]}"#,
        );
        stage.write(
            "tools/Sports/goals.json",
            r#"{"tool_name": "Goals", "tool_description": "Football",
                "api_list": [{"name": "scorers", "description": "Who scored"}]}"#,
        );
        stage.write(
            "cache/Weather/sky_for_Weather/now.json",
            r#"{"{'city': 'Oslo'}": {"error": "", "response": "rain"},
                "{'a': 1, 'b': [True, None]}": {"error": "", "response": {"n": NaN, "x": "\u00e9"}}}"#,
        );
        stage
    }

    pub(crate) fn empty() -> Stage {
        Stage { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command in the folder.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end: code, what it printed, what it said.
    pub(crate) fn run(&self, line: &str) -> (i32, String, String) {
        let output = self.command(line).output().expect("juror runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    /// Starts `juror serve` with options, at a free port.
    pub(crate) fn serve(&self, options: &str) -> Served {
        self.serve_command(self.command(&format!("serve --port 0 {options}")))
    }

    pub(crate) fn serve_command(&self, mut command: Command) -> Served {
        let log = self.path("stderr.log");
        let file = fs::File::options().create(true).append(true).open(&log).expect("a log");
        Served { serving: Serving::start(command.stderr(file)), log }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A query of a run that was opened.
pub(crate) struct Opened {
    /// Where its calls are made.
    pub(crate) virtual_path: String,
    calls_path: String,
    pub(crate) key: String,
}

impl Opened {
    /// What is told of its calls.
    pub(crate) fn calls(&self, client: &mut Client) -> Reply {
        self.ask(client, "GET", &self.calls_path)
    }

    /// Asks for something with the run's key.
    pub(crate) fn ask(&self, client: &mut Client, method: &str, path: &str) -> Reply {
        let key = &self.key;
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\njuror-run-key: {key}\r\n\r\n");
        client.ask(&head, b"").expect("a reply")
    }
}

impl Served {
    /// Opens a query, the first of its run.
    pub(crate) fn open(&self, run: &str, query: &str) -> Opened {
        Served::opened(&self.client().post(&format!("/runs/{run}/{query}"), b""))
    }

    /// Opens another query of a run.
    pub(crate) fn open_more(&self, of: &Opened, run: &str, query: &str) -> Opened {
        Served::opened(&of.ask(&mut self.client(), "POST", &format!("/runs/{run}/{query}")))
    }

    fn opened(reply: &Reply) -> Opened {
        assert_eq!(reply.status, 200, "{}", reply.body);
        let opened = reply.json();
        let part = |name: &str| opened[name].as_str().expect("a text").to_owned();
        Opened { virtual_path: part("virtual"), calls_path: part("calls"), key: part("key") }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address())
    }

    /// Calls a tool.
    pub(crate) fn call(&self, body: &Value) -> Reply {
        self.client().post("/virtual", body.to_string())
    }

    pub(crate) fn address(&self) -> &str {
        &self.serving.address
    }

    pub(crate) fn id(&self) -> u32 {
        self.serving.process()
    }

    /// Ends it without warning.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Asks it to stop, and waits until it has: its exit code and what it said.
    pub(crate) fn stop(self) -> (i32, String) {
        (self.serving.stop(), read(&self.log))
    }
}

/// A request as agents make it.
#[expect(clippy::needless_pass_by_value, reason = "callers make the value on the spot")]
pub(crate) fn request(tool: &str, api: &str, input: Value) -> Value {
    let category = if tool.starts_with("Goals") { "Sports" } else { "Weather" };
    json!({"category": category, "tool_name": tool, "api_name": api, "tool_input": input,
        "strip": "", "toolbench_key": KEY})
}
