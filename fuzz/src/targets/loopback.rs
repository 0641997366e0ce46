//! Servers on loopback: one that replies with whatever it was given, and Juror's own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A server that replies to every request with the same, until it is told otherwise.
pub(super) struct Replying {
    address: SocketAddr,
    reply: Arc<Mutex<Reply>>,
}

/// A media type and a body.
type Reply = (&'static str, Vec<u8>);

impl Replying {
    pub(super) fn start() -> Replying {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
        let address = listener.local_addr().expect("its address");
        let reply = Arc::new(Mutex::new(("text/plain", Vec::new())));
        let known = reply.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let known = known.clone();
                thread::spawn(move || serve(&stream, &known));
            }
        });
        Replying { address, reply }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn reply_with(&self, media_type: &'static str, body: &[u8]) {
        *self.reply.lock().unwrap_or_else(PoisonError::into_inner) = (media_type, body.to_vec());
    }
}

/// Answers the requests of a connection.
fn serve(stream: &TcpStream, reply: &Mutex<Reply>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let Some(length) = read_head(&mut reader)? else { return Ok(()) };
        io::copy(&mut (&mut reader).take(length), &mut io::sink())?;
        let (media_type, body) = reply.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        (&mut &*stream).write_all(&[head.as_bytes(), &body].concat())?;
    }
}

/// Reads the head of a request. Returns the length of its body, or `None` at the end.
fn read_head(reader: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    Ok((!line.is_empty()).then_some(length))
}

/// Sends bytes to a server, and reads all that it says. Panics if it does not come to an end.
pub(super) fn converse(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    // A server may refuse a request before it has read all of it.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(Shutdown::Write);
    let mut reply = Vec::new();
    match stream.read_to_end(&mut reply) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => panic!("no end of the reply"),
        _ => reply,
    }
}
