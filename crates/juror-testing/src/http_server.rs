//! An HTTP server on loopback whose answers a test writes, well-formed or not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A request that arrived.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest {
    /// Method and path, as in `POST /sparql`.
    pub line: String,
    /// Names in lower case, with values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum HttpReply {
    /// Answers with status, headers and body.
    Whole(u16, Vec<(String, String)>, Vec<u8>),
    /// Sends the first half of a body, and closes the connection.
    CutOff(Vec<u8>),
    /// Says nothing until the server is dropped.
    Hang,
}

impl HttpReply {
    /// A reply with a media type.
    pub fn of(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> HttpReply {
        HttpReply::Whole(status, vec![("Content-Type".into(), media_type.into())], body.into())
    }
}

/// A server that answers until it is dropped.
pub struct HttpServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<HttpRequest>>>,
    is_over: Arc<AtomicBool>,
}

impl HttpServer {
    /// Starts a server on a free port.
    pub fn start(answer: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static) -> HttpServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (seen, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (all, over, answer) = (Arc::clone(&seen), Arc::clone(&is_over), Arc::new(answer));
        thread::spawn(move || {
            let mut hanging = Vec::new();
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Acquire) {
                    break;
                }
                let Some(request) = read(&stream) else { continue };
                all.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
                match answer(&request) {
                    HttpReply::Hang => hanging.push(stream),
                    // Answers may take a while, and others are asked meanwhile.
                    reply => drop(thread::spawn(move || write(stream, &reply))),
                }
            }
        });
        HttpServer { address, seen, is_over }
    }

    /// Returns the address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests so far.
    pub fn seen(&self) -> Vec<HttpRequest> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn read(stream: &TcpStream) -> Option<HttpRequest> {
    let mut reader = BufReader::new(stream);
    let mut request = HttpRequest::default();
    reader.read_line(&mut request.line).ok().filter(|n| *n > 0)?;
    request.line = request.line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    request.body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

fn write(mut stream: TcpStream, reply: &HttpReply) {
    let (status, headers, body, n_sent) = match reply {
        HttpReply::Whole(status, headers, body) => (*status, headers.clone(), body, body.len()),
        HttpReply::CutOff(body) => {
            let json = ("Content-Type".to_owned(), "application/sparql-results+json".to_owned());
            (200, vec![json], body, body.len() / 2)
        }
        HttpReply::Hang => return,
    };
    let mut head =
        format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in headers {
        head.extend([&name, ": ", &value, "\r\n"]);
    }
    // A client that is gone is none of the server's business.
    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
    let _ = stream.write_all(&body[..n_sent]);
}
