//! A real HTTP API on loopback, described by an `OpenAPI` document.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

/// The document of the API.
pub(crate) const DOCUMENT: &str = r"
openapi: 3.1.0
info: {title: Beds}
servers: [{url: https://beds.example/v1}]
paths:
  /beds/{id}:
    get:
      operationId: getBed
      parameters:
      - {name: id, in: path, required: true, schema: {type: integer}}
      - {name: fields, in: query, schema: {type: array, items: {enum: [name, soil]}}}
  /beds:
    post:
      operationId: addBed
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}
";

/// A running API that repeats what it was asked.
pub(crate) struct Api {
    pub(crate) address: String,
    n_requests: Arc<AtomicUsize>,
    is_stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Api {
    pub(crate) fn start() -> Api {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/v2", listener.local_addr().expect("an address"));
        let n_requests = Arc::new(AtomicUsize::new(0));
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (count, stopped) = (n_requests.clone(), is_stopped.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                count.fetch_add(1, Ordering::Relaxed);
                answer(stream);
            }
        });
        Api { address, n_requests, is_stopped, thread }
    }

    /// Stops it: nothing listens at its address any more.
    pub(crate) fn stop(self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let place = self.address.trim_start_matches("http://").trim_end_matches("/v2");
        drop(TcpStream::connect(place));
        self.thread.join().expect("it ends");
        assert!(TcpStream::connect(place).is_err(), "nothing listens at {place}");
    }

    pub(crate) fn n_requests(&self) -> usize {
        self.n_requests.load(Ordering::Relaxed)
    }
}

fn answer(stream: TcpStream) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).expect("a request");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a head");
        let line = line.trim().to_ascii_lowercase();
        if let Some(text) = line.strip_prefix("content-length:") {
            length = text.trim().parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let asked = first.trim().trim_end_matches(" HTTP/1.1");
    let status = if asked.contains("/404") { "404 Not Found" } else { "200 OK" };
    let body = serde_json::json!({"asked": asked, "body": String::from_utf8_lossy(&body)});
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = reader.get_mut().write_all(format!("{head}{body}").as_bytes());
}
