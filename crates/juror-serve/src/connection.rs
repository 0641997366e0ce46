//! One connection, from its first request to its end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::StatusCode;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use juror_tools::error_body;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::metrics::ConnectionGauge;
use crate::open_connections::{ConnectionState, Phase};
use crate::server::{LogEvent, Server};
use crate::stall_timeout::StallTimeout;

/// The longest head of a request, in bytes.
const MOST_HEAD: usize = 64 << 10;

/// The most headers of a request.
const MOST_HEADERS: usize = 100;

/// How long a client may keep sending after the last reply before its connection is reset, so that
/// it can read the reply first.
const LINGER: Duration = Duration::from_secs(2);

/// How a connection ended.
enum ConnectionEnd {
    /// There is nothing left to send.
    Done,
    /// The head of a request was refused.
    Refused(StatusCode, String),
    /// It made room for another connection.
    MadeRoom,
}

impl Server {
    /// Serves a connection until it ends or is closed to make room. When the server stops, a
    /// request in progress is still answered.
    pub(crate) async fn attend(self: &Arc<Server>, mut stream: TcpStream) {
        // Replies are written in one piece, so waiting to fill a packet would only delay them.
        let _ = stream.set_nodelay(true);
        let _open = ConnectionGauge::count(&self.metrics);
        let reached = stream.local_addr().ok().map(|address| address.ip().to_canonical());
        let registration =
            self.connections.register(reached, self.metrics.requests.load(Ordering::Relaxed));
        let connection = &registration.connection;
        let end = self.converse(&mut stream, connection).await;
        connection.set(Phase::Stalled);
        let last = async {
            if let ConnectionEnd::Refused(status, why) = &end {
                self.say_refused(&mut stream, *status, why).await?;
            }
            linger(&mut stream).await
        };
        if !matches!(end, ConnectionEnd::MadeRoom) {
            tokio::select! {
                _ = tokio::time::timeout(LINGER, last) => {}
                _ = connection.close_requested() => {}
            }
        }
    }

    async fn converse(
        self: &Arc<Server>,
        stream: &mut TcpStream,
        connection: &Arc<ConnectionState>,
    ) -> ConnectionEnd {
        let service = service_fn(|request| {
            let (server, connection) = (self.clone(), connection.clone());
            async move { Ok::<_, std::convert::Infallible>(server.answer(request, &connection).await) }
        });
        let stream = StallTimeout::new(stream, connection.clone(), &self.setup.limits);
        // Not `pipeline_flush`: hyper would then lose the last reply if input is left unread, as
        // after a refused request.
        let http = http1::Builder::new()
            .max_buf_size(MOST_HEAD)
            .max_header_size(MOST_HEAD)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(http);
        let ended = tokio::select! {
            // Prefer a request that has arrived over closing the connection.
            biased;
            ended = &mut http => ended,
            request = connection.close_requested() => {
                if connection.closes_at_once(request) {
                    return ConnectionEnd::MadeRoom;
                }
                http.as_mut().graceful_shutdown();
                http.await
            }
        };
        match ended {
            Err(error) if connection.is_before_service() => self.end_of(&error, connection),
            // How a connection ends after its last reply is up to the client.
            _ => ConnectionEnd::Done,
        }
    }

    /// How a connection ends if its next request could not be read.
    fn end_of(&self, error: &hyper::Error, connection: &ConnectionState) -> ConnectionEnd {
        let refused = |status, why: &str| ConnectionEnd::Refused(status, why.to_owned());
        if is_late(error) {
            if connection.phase() == Phase::Silent {
                return ConnectionEnd::Done;
            }
            let seconds = self.setup.limits.head.as_secs_f64();
            let why = format!("The head of the request took over {seconds} s (--head-timeout)");
            return ConnectionEnd::Refused(StatusCode::REQUEST_TIMEOUT, why);
        }
        if error.is_parse_too_large() && connection.refused_head() >= MOST_HEAD {
            let why = format!("The head of the request is longer than {MOST_HEAD} bytes");
            return ConnectionEnd::Refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why);
        }
        if error.is_parse_too_large() {
            let why = format!("The request has more than {MOST_HEADERS} headers");
            return ConnectionEnd::Refused(StatusCode::BAD_REQUEST, why);
        }
        if error.is_parse() {
            return refused(StatusCode::BAD_REQUEST, "The request is not valid HTTP/1.1");
        }
        if error.is_incomplete_message() {
            return refused(StatusCode::BAD_REQUEST, "The request broke off");
        }
        ConnectionEnd::Done
    }

    /// Tells a client why its request is refused.
    async fn say_refused(
        &self,
        stream: &mut TcpStream,
        status: StatusCode,
        why: &str,
    ) -> io::Result<()> {
        self.metrics.refused();
        (self.setup.log)(&LogEvent::Refused { why, status: status.as_u16() });
        let body = error_body(why);
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), &body].concat()).await
    }
}

/// Whether a timeout ended the connection.
fn is_late(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error);
    let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

/// Closes the sending side, and reads until the client closes its own: resetting a connection
/// earlier could lose the last reply.
async fn linger(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut unread = [0; 4096];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}
