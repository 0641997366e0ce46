//! A folder with tools of several kinds, and commands on it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

/// A key that no file may contain.
pub(crate) const SECRET: &str = "s3cret-that-nobody-sees";

pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    /// A folder with a live MCP server's tools and replies.
    pub(crate) fn new() -> Stage {
        let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
        let schema = json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"}, "now": {"type": "number"}, "api_key": {"type": "string"}}});
        let ask = json!({"type": "object", "properties": {"question": {"type": "string"}}});
        let tools = json!({"tools": [
            {"name": "weather", "description": "The weather", "inputSchema": schema},
            {"name": "ask", "description": "Answers", "inputSchema": ask}]});
        stage.write("live.json", &tools.to_string());
        let weather = json!({
            "{'city': 'Oslo'}": {"error": "", "response": "rain"},
            format!("{{'api_key': '{SECRET}', 'city': 'Oslo', 'now': 1}}"):
                {"error": "", "response": format!("sun for {SECRET}")},
            "{'city': 'Atlantis'}": {"error": "no such city", "response": ""},
        });
        stage.write("live_cache/MCP/live_for_MCP/weather.json", &weather.to_string());
        let said =
            json!({"{'question': 'Rain in Oslo?'}": {"error": "", "response": "Yes, rain."}});
        stage.write("live_cache/MCP/live_for_MCP/ask.json", &said.to_string());
        let queries = json!([{"query_id": 1, "query": "Rain in Oslo?"}]);
        stage.write("queries.json", &queries.to_string());
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// The address of a server that is a command.
    pub(crate) fn live() -> String {
        format!("mcp:{} mcp --tools live.json --cache live_cache", juror())
    }

    /// Prevents the server from starting again.
    pub(crate) fn stop_live(&self) {
        fs::rename(self.path("live.json"), self.path("gone.json")).expect("renamed");
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(juror());
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.output().expect("the program")
    }

    /// Runs a command that succeeds, and returns what it prints.
    pub(crate) fn prints(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}\n{told}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Starts `juror serve`.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Served {
        let mut child = Command::new(juror())
            .args(["serve", "--port", "0", "-q", "--log", "off"])
            .args(arguments)
            .current_dir(self.folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut line = String::new();
        let output = child.stdout.take().expect("output");
        BufReader::new(output).read_line(&mut line).expect("an address");
        let address = line.trim().strip_prefix("http://").expect("an address").to_owned();
        Served { child, address }
    }

    /// All text of the files below a folder.
    pub(crate) fn text_below(&self, name: &str) -> String {
        let mut text = String::new();
        let mut folders = vec![self.path(name)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    text += &path.display().to_string();
                    text.push('\n');
                    text += &String::from_utf8_lossy(&fs::read(path).expect("a file"));
                }
            }
        }
        text
    }
}

pub(crate) fn juror() -> &'static str {
    env!("CARGO_BIN_EXE_juror")
}

/// A running server.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// Makes a request; returns the status and the body.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("a server");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("a reply");
        let (head, body) = reply.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.expect("a status"), serde_json::from_str(body).unwrap_or_default())
    }

    /// Calls a tool over MCP at a path; returns what it says and whether it failed.
    pub(crate) fn call(&self, path: &str, name: &str, arguments: &Value) -> (String, bool) {
        let params = json!({"name": name, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (status, reply) = self.request("POST", path, "", &message.to_string());
        assert_eq!(status, 200, "{reply}");
        let result = &reply["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (text, result["isError"] == true)
    }
}
