//! The least of HTTP that tests need: a client, and a server that answers as told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A reply.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// A connection that is used again and again.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Connects to an address such as `127.0.0.1:8080`.
    pub(crate) fn connect(address: &str) -> Client {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a limit");
        stream.set_nodelay(true).expect("no delay");
        Client { stream: BufReader::new(stream) }
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n"), b"").expect("a reply")
    }

    pub(crate) fn post(&mut self, path: &str, body: impl AsRef<[u8]>) -> Reply {
        self.try_post(path, body).expect("a reply")
    }

    /// Nothing if the connection breaks.
    pub(crate) fn try_post(&mut self, path: &str, body: impl AsRef<[u8]>) -> Option<Reply> {
        let body = body.as_ref();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.ask(&head, body)
    }

    /// Sends bytes as they are, and reads one reply.
    pub(crate) fn ask(&mut self, head: &str, body: &[u8]) -> Option<Reply> {
        let stream = self.stream.get_mut();
        stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
        let (first, headers) = read_head(&mut self.stream)?;
        let status = first.split(' ').nth(1)?.parse().ok()?;
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0);
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).ok()?;
        Some(Reply { status, headers, body: String::from_utf8(bytes).expect("UTF-8") })
    }
}

fn read_head(stream: &mut impl BufRead) -> Option<(String, Vec<(String, String)>)> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let headers = lines[1..].iter().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_owned()))
    });
    Some((lines[0].clone(), headers.collect()))
}

/// What a stand-in was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// How a stand-in answers.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Say(u16, String),
    /// Nothing is said, and the connection is held.
    Hang,
    /// The connection is closed without a word.
    Close,
}

/// A gate that whoever waits at it may pass once it is open.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub(crate) fn open(&self) {
        *self.0.0.lock().expect("no panic") = true;
        self.0.1.notify_all();
    }

    pub(crate) fn pass(&self) {
        let is_open = self.0.0.lock().expect("no panic");
        drop(self.0.1.wait_while(is_open, |is_open| !*is_open).expect("no panic"));
    }
}

/// A server that stands in for another: answers as told, and remembers what it was asked.
pub(crate) struct StandIn {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl StandIn {
    /// Answers each request by `answer`, which is told how many came before.
    pub(crate) fn start(
        answer: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static,
    ) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (memory, answer) = (asked.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (memory, answer) = (memory.clone(), answer.clone());
                std::thread::spawn(move || attend(stream, &memory, &*answer));
            }
        });
        StandIn { address, asked }
    }

    /// A model of `OpenAI`'s protocol that says these texts in turn, and then the last again.
    pub(crate) fn model(texts: Vec<String>, then: &str) -> StandIn {
        let gate = Gate::default();
        gate.open();
        StandIn::model_behind(&gate, texts, then)
    }

    /// The same, but nothing is said before a gate is open.
    pub(crate) fn model_behind(gate: &Gate, texts: Vec<String>, then: &str) -> StandIn {
        let (gate, then) = (gate.clone(), then.to_owned());
        StandIn::start(move |n, _| {
            gate.pass();
            let text = texts.get(n).unwrap_or(&then);
            let message = serde_json::json!({"role": "assistant", "content": text});
            let choice =
                serde_json::json!({"index": 0, "message": message, "finish_reason": "stop"});
            let body = serde_json::json!({"id": "x", "object": "chat.completion", "model": "m",
                "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}});
            Answer::Say(200, body.to_string())
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn attend(
    stream: TcpStream,
    memory: &Mutex<Vec<Asked>>,
    answer: &(dyn Fn(usize, &Asked) -> Answer + Send + Sync),
) {
    let mut stream = BufReader::new(stream);
    while let Some((target, headers)) = read_head(&mut stream) {
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0);
        let mut bytes = vec![0; length];
        if stream.read_exact(&mut bytes).is_err() {
            return;
        }
        let body = String::from_utf8_lossy(&bytes).into_owned();
        let asked = Asked { target, headers, body };
        let n = {
            let mut memory = memory.lock().expect("no panic");
            memory.push(asked.clone());
            memory.len() - 1
        };
        let (status, body) = match answer(n, &asked) {
            Answer::Say(status, body) => (status, body),
            Answer::Close => return,
            Answer::Hang => {
                // Until the other side gives up.
                let _ = stream.read(&mut [0]);
                return;
            }
        };
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.get_mut().write_all(&[head.as_bytes(), body.as_bytes()].concat()).is_err() {
            return;
        }
    }
}
