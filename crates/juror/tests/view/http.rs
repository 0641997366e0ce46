//! The least of HTTP that tests need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        let own = self.headers.iter().find(|(own, _)| own == name);
        own.map_or("", |(_, value)| value.as_str())
    }
}

/// Sends a request with its own connection, and reads the response.
pub(crate) fn ask(address: &str, head: &str, body: &str) -> Reply {
    let mut stream = send(address, &format!("{head}connection: close\r\n"), body);
    let (status, headers) = read_head(&mut stream);
    let mut body = Vec::new();
    stream.read_to_end(&mut body).expect("a body");
    Reply { status, headers, body: String::from_utf8(body).expect("UTF-8") }
}

fn send(address: &str, head: &str, body: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a limit");
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("sent");
    BufReader::new(stream)
}

fn read_head(stream: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).expect("a line");
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let status = lines[0].split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
    let header = |line: &String| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_owned()))
    };
    (status, lines[1..].iter().filter_map(header).collect())
}

/// Server-sent events, one after the other.
pub(crate) struct Listener(BufReader<TcpStream>);

impl Listener {
    pub(crate) fn new(address: &str) -> Listener {
        let head = "GET /events HTTP/1.1\r\nhost: localhost\r\n";
        let mut stream = send(address, head, "");
        let (status, headers) = read_head(&mut stream);
        assert_eq!(status, 200);
        let kind = headers.iter().find(|(name, _)| name == "content-type");
        assert_eq!(kind.map(|(_, kind)| kind.as_str()), Some("text/event-stream"));
        Listener(stream)
    }

    /// Waits for the next event that has data.
    pub(crate) fn next(&mut self) -> serde_json::Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("a line") > 0, "the events have ended");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).expect("JSON");
            }
        }
    }
}
