//! Asks a server of Juror whether it is up.
//!
//! By hand, because a client of a crate wants certificates, and an image that holds nothing but the
//! program has none.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// The most that is read of a reply: a server says little about itself.
const MOST_BYTES: u64 = 64 << 10;

/// Why a server is not known to be well.
#[derive(Debug)]
pub enum Unwell {
    /// It does not answer.
    NoAnswer(io::Error),
    /// It answers something else; this is the first line of it.
    Other(String),
}

/// Returns the host and port of a URL such as `http://127.0.0.1:8080`.
pub fn host_and_port(text: &str) -> Result<String, String> {
    let server = text.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    let is_server = |server: &&str| {
        let port = server.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
        matches!(port, Some((host, Ok(_))) if is_host(host))
    };
    let server = server.filter(is_server).map(str::to_owned);
    server.ok_or_else(|| "host and port are needed, such as http://127.0.0.1:8080".to_owned())
}

/// Whether a text may stand in a header as a host, with an address of version 6 in brackets.
fn is_host(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    match bare {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(is_plain),
    }
}

/// Asks a server, given as host and port, how it is; returns what it says if it is well.
pub fn ask_health(server: &str, timeout: Duration) -> Result<String, Unwell> {
    let reply = ask(server, timeout).map_err(Unwell::NoAnswer)?;
    match body_of_success(&reply) {
        Some(body) => Ok(body.to_owned()),
        None => Err(Unwell::Other(reply.lines().next().unwrap_or("nothing").to_owned())),
    }
}

/// Returns the whole reply of the server to the question how it is.
fn ask(server: &str, timeout: Duration) -> io::Result<String> {
    let deadline = Instant::now() + timeout;
    let mut stream = connect(server, timeout)?;
    stream.set_write_timeout(Some(timeout))?;
    write!(stream, "GET /health HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\n\r\n")?;
    let mut reply = Vec::new();
    let mut stream = stream.take(MOST_BYTES);
    loop {
        // A server that sends a byte now and then does not hold the check up for longer.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.get_ref().set_read_timeout(Some(left))?;
        let mut part = [0; 4096];
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(n_bytes) => reply.extend_from_slice(&part[..n_bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What a socket says when its time is over.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8_lossy(&reply).into_owned())
}

/// Connects to the first address of the server that takes a connection.
fn connect(server: &str, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in server.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the body of a reply that says that all is well.
fn body_of_success(reply: &str) -> Option<&str> {
    let (head, body) = reply.split_once("\r\n\r\n")?;
    let is_well = head.starts_with("HTTP/1.1 200 ") && body.contains(r#""status":"ok""#);
    is_well.then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_and_a_port() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(host_and_port(text).ok().as_deref(), expected, "{text}");
        };
        check("http://127.0.0.1:8080", Some("127.0.0.1:8080"));
        check("http://localhost:8090/", Some("localhost:8090"));
        check("http://[::1]:8080", Some("[::1]:8080"));
        check("https://localhost:8080", None);
        check("http://localhost", None);
        check("http://:8080", None);
        check("http://localhost:99999", None);
        check("http://user@localhost:8080", None);
        check("http://localhost\r\nx: y:8080", None);
        check("http://localhost/health:8080", None);
    }

    #[test]
    fn only_a_server_that_says_so_is_well() {
        let check = |reply: &str, expected: Option<&str>| {
            assert_eq!(body_of_success(reply), expected, "{reply:?}");
        };
        check("HTTP/1.1 200 OK\r\na: b\r\n\r\n{\"status\":\"ok\"}", Some("{\"status\":\"ok\"}"));
        check("HTTP/1.1 200 OK\r\n\r\n<html>", None);
        check("HTTP/1.1 401 Unauthorized\r\n\r\n{\"status\":\"ok\"}", None);
        check("HTTP/1.1 200 OK\r\n", None);
        check("", None);
    }
}
