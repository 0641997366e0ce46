//! A network that fails between a client and a server on loopback.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What happens to the bytes of a connection in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mishap {
    /// Nothing.
    #[default]
    None,
    /// After so many bytes the connection ends, for both sides.
    Cut(usize),
    /// After so many bytes the next ones, at most 64, arrive as bytes that are no text.
    Garble(usize),
    /// Each piece arrives so much later.
    Delay(Duration),
    /// After so many bytes nothing arrives any more, and the connection stays.
    Silence(usize),
}

/// The most bytes that are garbled.
const GARBLED: usize = 64;

/// What happens to a connection: to what the client sends, and to what the server sends.
type Plan = dyn Fn(usize) -> [Mishap; 2] + Send + Sync;

/// Passes connections on to a server, until this is dropped.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    plan: Box<Plan>,
    n_connections: AtomicUsize,
    n_bytes: [AtomicUsize; 2],
    /// Every open stream, to be closed at the end or when everything is cut.
    streams: Mutex<Vec<TcpStream>>,
    is_over: AtomicBool,
}

impl Proxy {
    /// Starts a proxy on a free port. The plan gets the number of a connection, from 1 on.
    ///
    /// # Panics
    ///
    /// Panics if the address is none, or no port is free.
    pub fn start(
        server: &str,
        plan: impl Fn(usize) -> [Mishap; 2] + Send + Sync + 'static,
    ) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            server: server.parse().expect("an address"),
            plan: Box::new(plan),
            n_connections: AtomicUsize::new(0),
            n_bytes: Default::default(),
            streams: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if own.is_over.load(Ordering::Acquire) {
                    break;
                }
                pass_on(&own, &client);
            }
        });
        Proxy { address, shared }
    }

    /// Where it listens, as `host:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The number of connections so far.
    pub fn n_connections(&self) -> usize {
        self.shared.n_connections.load(Ordering::Acquire)
    }

    /// The bytes so far that clients sent, and that the server sent.
    pub fn n_bytes(&self) -> [usize; 2] {
        [0, 1].map(|side| self.shared.n_bytes[side].load(Ordering::Acquire))
    }

    /// Ends all connections, but takes new ones.
    pub fn cut(&self) {
        let mut streams = self.shared.streams.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in streams.drain(..) {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
        self.cut();
    }
}

fn pass_on(shared: &Arc<Shared>, client: &TcpStream) {
    let number = shared.n_connections.fetch_add(1, Ordering::AcqRel) + 1;
    // A client whose server is gone is told by the end of its connection.
    let Ok(server) = TcpStream::connect(shared.server) else { return };
    let copy = |stream: &TcpStream| stream.try_clone().expect("a stream");
    for stream in [client, &server] {
        let _ = stream.set_nodelay(true);
        shared.streams.lock().unwrap_or_else(PoisonError::into_inner).push(copy(stream));
    }
    let [sent, replied] = (shared.plan)(number);
    let ways = [(copy(client), copy(&server), sent, 0), (copy(&server), copy(client), replied, 1)];
    for (from, to, mishap, side) in ways {
        let shared = Arc::clone(shared);
        thread::spawn(move || carry(&from, &to, mishap, &shared.n_bytes[side]));
    }
}

/// Carries bytes in one direction until either end is gone.
fn carry(mut from: &TcpStream, mut to: &TcpStream, mishap: Mishap, n_bytes: &AtomicUsize) {
    let (mut piece, mut n_carried) = ([0; 4096], 0);
    while let Some(length) = from.read(&mut piece).ok().filter(|length| *length > 0) {
        n_bytes.fetch_add(length, Ordering::AcqRel);
        let bytes = &mut piece[..length];
        let n_let = befall(mishap, n_carried, bytes);
        n_carried += length;
        if to.write_all(&bytes[..n_let]).is_err() {
            break;
        }
        if n_let < length && matches!(mishap, Mishap::Cut(_)) {
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Does to a piece what is to happen after so many bytes; returns how many of its bytes arrive.
fn befall(mishap: Mishap, n_before: usize, bytes: &mut [u8]) -> usize {
    match mishap {
        Mishap::None => {}
        Mishap::Delay(time) => thread::sleep(time),
        Mishap::Cut(after) | Mishap::Silence(after) => {
            return bytes.len().min(after.saturating_sub(n_before));
        }
        Mishap::Garble(after) => {
            let start = after.saturating_sub(n_before).min(bytes.len());
            let end = (after + GARBLED).saturating_sub(n_before).min(bytes.len());
            bytes[start..end].iter_mut().for_each(|byte| *byte ^= 0x80);
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HttpReply, HttpServer};

    fn ask(address: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
        let mut reply = Vec::new();
        // A connection that is cut may end in an error.
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).into_owned()
    }

    #[test]
    fn bytes_are_passed_cut_and_garbled() {
        let server = HttpServer::start(|_| HttpReply::of(200, "text/plain", "0123456789"));
        let address = server.url("").replace("http://", "");
        let whole = ask(&address);
        assert!(whole.ends_with("0123456789"));
        let head = whole.len() - 10;
        let proxy = Proxy::start(&address, move |number| match number {
            1 => [Mishap::None, Mishap::Cut(head + 4)],
            2 => [Mishap::None, Mishap::Garble(head + 8)],
            3 => [Mishap::Cut(3), Mishap::None],
            4 => [Mishap::Delay(Duration::from_millis(1)); 2],
            _ => [Mishap::None; 2],
        });
        let through = || ask(&proxy.address());
        assert_eq!(through(), whole[..head + 4]);
        assert_eq!(through(), format!("{}\u{fffd}\u{fffd}", &whole[..head + 8]));
        assert_eq!(through(), "");
        assert_eq!((through(), through()), (whole.clone(), whole.clone()));
        assert_eq!((proxy.n_connections(), proxy.n_bytes()[1]), (5, 4 * whole.len()));
    }
}
