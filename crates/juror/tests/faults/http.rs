//! The least of HTTP that tests need: one request, and its reply if it arrives whole.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A reply.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// Sends a request on a connection of its own; nothing if the reply does not arrive whole.
pub(crate) fn ask(address: &str, method: &str, path: &str, body: &str) -> Option<Reply> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_mins(2))).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.to_lowercase();
    let length = length.split("content-length: ").nth(1)?.lines().next()?;
    let length: usize = length.trim().parse().ok()?;
    (body.len() == length).then(|| Reply { status, body: body.to_owned() })
}
