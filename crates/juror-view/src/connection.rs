//! Connections: how many there may be, and how long they may take.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use juror_models::Pending;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

use crate::viewer::Viewer;

/// How many connections are open at a time; others wait until one ends.
const CONNECTIONS: usize = 128;

/// The longest head of a request, in bytes.
const MOST_HEAD: usize = 32 << 10;

/// How long the head of a request may take, and how long a connection may be silent.
const HEAD: Duration = Duration::from_secs(20);

/// How long a connection lives. Browsers open a new one without anybody noticing, so that a client
/// that stalls does not hold its place forever.
const LIFE: Duration = Duration::from_mins(10);

/// How long replies in progress may take when a connection has to end.
const LAST: Duration = Duration::from_secs(3);

/// How long to wait after a connection could not be accepted, for example for lack of file handles.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

impl Viewer {
    /// Serves until `stop` completes, then finishes replies in progress.
    pub fn serve<'s>(
        self: Arc<Viewer>,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 's,
    ) -> Pending<'s, ()> {
        // An async function is compiled where it is awaited: boxed here, it is compiled once.
        self.boxed(listener, Box::pin(stop))
    }

    fn boxed(self: Arc<Viewer>, listener: TcpListener, stop: Pending<'_, ()>) -> Pending<'_, ()> {
        Box::pin(self.serve_until(listener, stop))
    }

    async fn serve_until(self: Arc<Viewer>, listener: TcpListener, mut stop: Pending<'_, ()>) {
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        let (alive, mut all_gone) = mpsc::channel::<()>(1);
        loop {
            let next = async {
                let slot = slots.clone().acquire_owned().await;
                (listener.accept().await, slot)
            };
            let (accepted, slot) = tokio::select! {
                () = &mut stop => break,
                next = next => next,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(AFTER_FAILURE).await;
                continue;
            };
            let (viewer, alive) = (self.clone(), alive.clone());
            tokio::spawn(async move {
                viewer.attend(stream).await;
                drop((alive, slot));
            });
        }
        drop((listener, alive));
        self.stopping.send_replace(true);
        let _ = tokio::time::timeout(2 * LAST, all_gone.recv()).await;
    }

    async fn attend(self: &Arc<Viewer>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let reached: Option<IpAddr> =
            stream.local_addr().ok().map(|address| address.ip().to_canonical());
        let service = service_fn(|request| {
            let viewer = self.clone();
            async move { Ok::<_, Infallible>(viewer.answer(request, reached).await) }
        });
        let http = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(MOST_HEAD)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(http);
        let mut stopping = self.stopping.subscribe();
        tokio::select! {
            _ = &mut http => return,
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
            () = tokio::time::sleep(LIFE) => {}
        }
        http.as_mut().graceful_shutdown();
        let _ = tokio::time::timeout(LAST, http).await;
    }
}
