//! A minimal client, which shares no code with the server.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use juror_scripted::{Script, Server};
use serde_json::{Value, json};

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The chunks of the body, or the whole body if it was not chunked.
    pub(crate) chunks: Vec<Vec<u8>>,
}

impl Response {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The data of each event of a stream.
    pub(crate) fn data(&self) -> Vec<String> {
        let text = self.text().replace("\r\n", "\n");
        text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
    }

    /// The data of each event that is JSON.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.data().iter().filter_map(|data| serde_json::from_str(data).ok()).collect()
    }
}

/// A persistent connection.
pub(crate) struct Client(TcpStream);

impl Client {
    pub(crate) fn connect(server: &Server) -> Client {
        let stream = TcpStream::connect(server.address().trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Client(stream)
    }

    pub(crate) fn set_patience(&self, patience: Duration) {
        self.0.set_read_timeout(Some(patience)).unwrap();
    }

    pub(crate) fn send(&mut self, path: &str, headers: &str, body: &str) -> io::Result<()> {
        let n_bytes = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {n_bytes}\r\n");
        self.0.write_all(format!("{head}{headers}\r\n{body}").as_bytes())
    }

    /// Receives a response up to its body, which is left to the caller.
    pub(crate) fn receive_head(&mut self) -> io::Result<Response> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.extend(self.read(1)?);
        }
        let head = String::from_utf8(head).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Ok(Response { status, head, chunks: Vec::new() })
    }

    pub(crate) fn receive(&mut self) -> io::Result<Response> {
        let mut response = self.receive_head()?;
        if let Some(length) = response.header("content-length") {
            let length = length.parse().unwrap();
            response.chunks.push(self.read(length)?);
        } else {
            while let Some(chunk) = self.read_chunk()? {
                response.chunks.push(chunk);
            }
        }
        Ok(response)
    }

    /// Receives all bytes until the server closes the connection.
    pub(crate) fn receive_rest(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.extend(self.read(1)?);
        }
        let length = usize::from_str_radix(str::from_utf8(&line).unwrap().trim(), 16).unwrap();
        let chunk = self.read(length)?;
        self.read(2)?;
        Ok((length > 0).then_some(chunk))
    }

    fn read(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

pub(crate) fn script(json: Value) -> Script {
    serde_json::from_value(json).unwrap()
}

pub(crate) fn start(json: Value) -> Server {
    Server::start(script(json))
}

/// Sends one request on a new connection.
pub(crate) fn try_post(
    server: &Server,
    path: &str,
    headers: &str,
    body: &Value,
) -> io::Result<Response> {
    let mut client = Client::connect(server);
    client.send(path, headers, &body.to_string())?;
    client.receive()
}

pub(crate) fn post(server: &Server, path: &str, headers: &str, body: &Value) -> Response {
    try_post(server, path, headers, body).unwrap()
}

pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const EMBEDDINGS: &str = "/v1/embeddings";
pub(crate) const MESSAGES: &str = "/v1/messages";
pub(crate) const VERSION: &str = "anthropic-version: 2023-06-01\r\n";

/// An `OpenAI` request without a schema.
pub(crate) fn plain(prompt: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": prompt}]})
}

/// An `OpenAI` request with a schema of this name.
pub(crate) fn with_schema(name: &str, prompt: &str, properties: &Value) -> Value {
    let schema = json!({"type": "object", "properties": properties});
    let mut body = plain(prompt);
    body["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema}});
    body
}

/// An `OpenAI` request that forces a tool of this name.
pub(crate) fn with_tool(name: &str, prompt: &str) -> Value {
    let mut body = plain(prompt);
    body["tools"] = json!([{"type": "function", "function": {"name": name, "parameters": {}}}]);
    body["tool_choice"] = json!({"type": "function", "function": {"name": name}});
    body
}

/// An Anthropic request.
pub(crate) fn message(prompt: &str) -> Value {
    json!({
        "model": "claude",
        "max_tokens": 100,
        "system": "be brief",
        "messages": [{"role": "user", "content": [{"type": "text", "text": prompt}]}],
    })
}

/// An Anthropic request that forces a tool of this name.
pub(crate) fn message_with_tool(name: &str, prompt: &str) -> Value {
    let mut body = message(prompt);
    body["tools"] = json!([{"name": name, "input_schema": {"type": "object"}}]);
    body["tool_choice"] = json!({"type": "tool", "name": name});
    body
}
