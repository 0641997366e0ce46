//! The server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::connection::{Breaker, Port};
use crate::handler::handle;
use crate::script::Script;
use crate::seen::Seen;
use crate::stage::Stage;

/// A model server on loopback, which stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    stage: Arc<Stage>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server on a free port.
    pub fn start(script: Script) -> Server {
        Server::start_on(script, 0).expect("loopback has a free port")
    }

    /// Starts a server on a port; 0 is any free one.
    pub fn start_on(script: Script, port: u16) -> io::Result<Server> {
        let stage = Arc::new(Stage::new(script));
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let shared = Arc::clone(&stage);
        // One thread answers thousands of requests per second, and leaves the other cores to the
        // client.
        let thread = thread::Builder::new()
            .name("juror-scripted".to_owned())
            .spawn(move || run(shared, port, &tell, stopped))?;
        let address = told.recv().map_err(io::Error::other)??;
        Ok(Server { address, stage, stop: Some(stop), thread: Some(thread) })
    }

    /// The server's URL: `http://127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a script for requests under `{address}/s/{name}`. Replaces one of the same name.
    pub fn add(&self, name: &str, script: Script) {
        self.stage.add(name, script);
    }

    /// All requests on the main script, in the order of arrival.
    pub fn seen(&self) -> Vec<Seen> {
        self.stage.main.seen()
    }

    /// All requests on an additional script, in the order of arrival.
    pub fn seen_by(&self, name: &str) -> Vec<Seen> {
        self.stage.play(Some(name)).map_or_else(Vec::new, |play| play.seen())
    }

    /// The largest number of requests in flight at the same time, over all scripts.
    pub fn max_in_flight(&self) -> usize {
        self.stage.traffic.most()
    }

    /// Answered requests that the same script had answered before, ignoring markers of sixteen hex
    /// digits. A `generated_question` may be requested three times.
    pub fn bought_twice(&self) -> Vec<Seen> {
        self.stage.plays().iter().flat_map(|play| play.bought_twice()).collect()
    }

    /// Forgets all requests. The scripts continue where they are.
    pub fn clear(&self) {
        self.stage.plays().iter().for_each(|play| play.clear());
        self.stage.traffic.clear();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Dropping the sender stops the server.
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // The server's thread has already printed its panic, if any.
            let _ = thread.join();
        }
    }
}

fn run(
    stage: Arc<Stage>,
    port: u16,
    tell: &mpsc::Sender<io::Result<SocketAddr>>,
    stopped: oneshot::Receiver<()>,
) {
    let (runtime, listener, address) = match listen(port) {
        Ok(listening) => listening,
        Err(error) => {
            // The other end waits for this.
            let _ = tell.send(Err(error));
            return;
        }
    };
    let _ = tell.send(Ok(address));
    let service = Router::new()
        .fallback(handle)
        .layer(DefaultBodyLimit::disable())
        .with_state(stage)
        .into_make_service_with_connect_info::<Breaker>();
    runtime.block_on(async {
        tokio::spawn(axum::serve(Port(listener), service).into_future());
        let _ = stopped.await;
    });
    // Dropping the runtime closes every connection, even hanging ones.
}

fn listen(port: u16) -> io::Result<(Runtime, TcpListener, SocketAddr)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port)))?;
    let address = listener.local_addr()?;
    Ok((runtime, listener, address))
}
