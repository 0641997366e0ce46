//! A server on loopback that answers as a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A request that arrived.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// All headers, as they came.
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Request {
    /// The question in a request of any protocol.
    pub(crate) fn question(&self) -> String {
        let body = &self.body;
        let places = ["/messages/0/content", "/input", "/query", "/params/message/parts/0/text"];
        let found = places.iter().find_map(|place| body.pointer(place)?.as_str());
        found.unwrap_or_default().to_owned()
    }
}

/// What is sent back.
pub(crate) enum Reply {
    Json(Value),
    Text(u16, &'static str, &'static str),
    /// Nothing, until the client goes.
    Hang,
}

/// A server that answers each connection once.
pub(crate) struct Endpoint {
    pub(crate) address: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Endpoint {
    /// Starts a server; the function gets each request, and how many came before it.
    pub(crate) fn start(
        answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let (answer, all) = (Arc::new(answer), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, all) = (answer.clone(), all.clone());
                std::thread::spawn(move || serve(stream, &*answer, &all));
            }
        });
        Endpoint { address, seen }
    }

    /// The requests with a body, in order.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().expect("a lock").clone()
    }

    pub(crate) fn questions(&self) -> Vec<String> {
        self.seen().iter().map(Request::question).collect()
    }
}

fn serve(stream: TcpStream, answer: &dyn Fn(&Request, usize) -> Reply, seen: &Mutex<Vec<Request>>) {
    let Some(request) = read(&stream) else { return };
    if request.head.starts_with("HEAD ") {
        return send(stream, 405, "", "");
    }
    let n_before = {
        let mut seen = seen.lock().expect("a lock");
        let is_post = request.head.starts_with("POST ");
        let n_before = seen.len();
        seen.extend(is_post.then(|| request.clone()));
        n_before
    };
    match answer(&request, n_before) {
        Reply::Json(json) => send(stream, 200, "", &json.to_string()),
        Reply::Text(status, header, body) => send(stream, status, header, body),
        Reply::Hang => drop((&stream).read_to_end(&mut Vec::new())),
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    Some(Request { path, head, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn send(mut stream: TcpStream, status: u16, header: &str, body: &str) {
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\n{header}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    // The client may have gone.
    let _ = stream.write_all(reply.as_bytes());
}

/// A chat completion.
pub(crate) fn completion(answer: &str) -> Reply {
    Reply::Json(json!({
        "id": "c", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": answer}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }))
}
