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

use crate::impatient::Impatient;
use crate::metrics::OpenConnection;
use crate::seats::{Phase, Seat};
use crate::server::{LogEvent, Server};

/// The longest head of a request, in bytes.
const MOST_HEAD: usize = 64 << 10;

/// The most headers of a request.
const MOST_HEADERS: usize = 100;

/// How long a client may go on sending what nobody reads before its connection is cut, so that it
/// can read the reply first.
const LINGER: Duration = Duration::from_secs(2);

/// How a connection ended.
enum End {
    /// There is nothing more to say.
    Done,
    /// The head of a request cannot be taken.
    Refused(StatusCode, String),
    /// It was asked to give way.
    GaveWay,
}

impl Server {
    /// Serves one connection until it ends, gives way to others, or, once the server stops, until
    /// the request on its way is answered.
    pub(crate) async fn attend(self: &Arc<Server>, mut stream: TcpStream) {
        // Replies are written whole; waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let _open = OpenConnection::count(&self.metrics);
        let reached = stream.local_addr().ok().map(|address| address.ip().to_canonical());
        let taking = self.seats.take(reached, self.metrics.requests.load(Ordering::Relaxed));
        let seat = &taking.seat;
        let end = self.converse(&mut stream, seat).await;
        seat.set(Phase::Stalled);
        let last = async {
            if let End::Refused(status, why) = &end {
                self.say_refused(&mut stream, *status, why).await?;
            }
            linger(&mut stream).await
        };
        if !matches!(end, End::GaveWay) {
            tokio::select! {
                _ = tokio::time::timeout(LINGER, last) => {}
                _ = seat.told() => {}
            }
        }
    }

    async fn converse(self: &Arc<Server>, stream: &mut TcpStream, seat: &Arc<Seat>) -> End {
        let service = service_fn(|request| {
            let (server, seat) = (self.clone(), seat.clone());
            async move { Ok::<_, std::convert::Infallible>(server.answer(request, &seat).await) }
        });
        let stream = Impatient::new(stream, seat.clone(), &self.setup.limits);
        // Replies are flushed one by one: hyper's flushing of several together loses the last one
        // where something is left unread, as after a request that is refused.
        let connection = http1::Builder::new()
            .max_buf_size(MOST_HEAD)
            .max_header_size(MOST_HEAD)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            // A request that has come is seen before the word to give way.
            biased;
            ended = &mut connection => ended,
            word = seat.told() => {
                if seat.gives_up(word) {
                    return End::GaveWay;
                }
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        match ended {
            Err(error) if seat.is_before_service() => self.end_of(&error, seat),
            // How a connection ends after its last reply is the client's business.
            _ => End::Done,
        }
    }

    /// How a connection ends whose next request could not be read.
    fn end_of(&self, error: &hyper::Error, seat: &Seat) -> End {
        let refused = |status, why: &str| End::Refused(status, why.to_owned());
        if is_late(error) {
            if seat.phase() == Phase::Silent {
                return End::Done;
            }
            let seconds = self.setup.limits.head.as_secs_f64();
            let why = format!("The head of the request took over {seconds} s (--head-timeout)");
            return End::Refused(StatusCode::REQUEST_TIMEOUT, why);
        }
        if error.is_parse_too_large() && seat.refused_head() >= MOST_HEAD {
            let why = format!("The head of the request is longer than {MOST_HEAD} bytes");
            return End::Refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why);
        }
        if error.is_parse_too_large() {
            let why = format!("The request has more than {MOST_HEADERS} headers");
            return End::Refused(StatusCode::BAD_REQUEST, why);
        }
        if error.is_parse() {
            return refused(StatusCode::BAD_REQUEST, "The request is no HTTP/1.1 that makes sense");
        }
        if error.is_incomplete_message() {
            return refused(StatusCode::BAD_REQUEST, "The request broke off");
        }
        End::Done
    }

    /// Tells a client why its request is not taken.
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

/// Whether a clock ended a connection.
fn is_late(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error);
    let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

/// Says that there is no more to come, and takes what a client still sends until it has closed its
/// side: a connection that is cut before loses the last reply.
async fn linger(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut unread = [0; 4096];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}
