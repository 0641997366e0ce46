//! A stream with timeouts, so that stalled clients do not hold their connections forever.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::{Instant, Sleep};

use crate::open_connections::{ConnectionState, Phase};
use crate::server::Limits;

/// A stream that fails if no request arrives, if a head does not arrive completely, or if the
/// client reads nothing of a reply in time. The time limit of bodies is where they are read.
///
/// Discards what is written before a request was parsed: that is hyper's reply to a bad request,
/// and the server sends its own once this stream is done.
pub(crate) struct StallTimeout<'s> {
    reader: ReadHalf<'s>,
    writer: WriteHalf<'s>,
    connection: Arc<ConnectionState>,
    timeouts: Timeouts,
    /// When a request, or the rest of a head, has to arrive, if one is expected.
    until: Option<Instant>,
    /// When some of a reply has to be read, if one is being written.
    writing: Option<Instant>,
    read_deadline: Deadline,
    write_deadline: Deadline,
    /// How many bytes of a head have arrived.
    n_head: usize,
}

#[derive(Clone, Copy, Debug)]
struct Timeouts {
    idle: Duration,
    head: Duration,
    sending: Duration,
}

/// A timer that can be moved. It is reset only for an earlier instant or when it fires, so that
/// pushing a deadline back with every request costs next to nothing.
#[derive(Default)]
struct Deadline(Option<Pin<Box<Sleep>>>);

impl Deadline {
    fn has_passed(&mut self, moment: Instant, context: &mut Context<'_>) -> bool {
        let clock = self.0.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(moment)));
        if clock.deadline() > moment {
            clock.as_mut().reset(moment);
        }
        while clock.as_mut().poll(context).is_ready() {
            if moment <= Instant::now() {
                return true;
            }
            clock.as_mut().reset(moment);
        }
        false
    }
}

impl StallTimeout<'_> {
    pub(crate) fn new<'s>(
        stream: &'s mut TcpStream,
        connection: Arc<ConnectionState>,
        limits: &Limits,
    ) -> StallTimeout<'s> {
        let Limits { idle, head, sending, .. } = *limits;
        let (reader, writer) = stream.split();
        StallTimeout {
            reader,
            writer,
            connection,
            timeouts: Timeouts { idle, head, sending },
            // A new connection is expected to send a request.
            until: Some(Instant::now() + head),
            writing: None,
            read_deadline: Deadline::default(),
            write_deadline: Deadline::default(),
            n_head: 0,
        }
    }

    /// Returns the outcome of a write, or fails if it has been pending for too long.
    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            if self.writing.take().is_some() && self.connection.phase() == Phase::Stalled {
                self.connection.set(Phase::Replying);
            }
            return outcome;
        }
        if self.connection.phase() == Phase::Replying {
            self.connection.set(Phase::Stalled);
        }
        let sending = self.timeouts.sending;
        let until = *self.writing.get_or_insert_with(|| Instant::now() + sending);
        if self.write_deadline.has_passed(until, context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }

    /// Whether a request, or the rest of a head, is overdue.
    fn has_waited_too_long(&mut self, context: &mut Context<'_>) -> bool {
        let timeout = match self.connection.phase() {
            Phase::Silent => self.timeouts.idle,
            _ => self.timeouts.head,
        };
        let until = *self.until.get_or_insert_with(|| Instant::now() + timeout);
        self.read_deadline.has_passed(until, context)
    }

    /// Counts bytes of a head that have arrived.
    fn count_head(&mut self, n_bytes: usize) {
        if self.connection.phase() == Phase::Silent {
            self.connection.set(Phase::Head);
            self.n_head = 0;
            self.until = None;
        }
        self.n_head += n_bytes;
    }

    /// Discards a reply to a refused head.
    fn swallow(&self, n_bytes: usize) -> Poll<io::Result<usize>> {
        self.connection.refuse_head(self.n_head);
        Poll::Ready(Ok(n_bytes))
    }
}

impl AsyncRead for StallTimeout<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut this.reader).poll_read(context, buffer);
        if !this.connection.is_before_service() {
            return outcome;
        }
        if outcome.is_ready() {
            let n_bytes = buffer.filled().len() - before;
            if n_bytes > 0 {
                this.count_head(n_bytes);
            }
            return outcome;
        }
        if this.has_waited_too_long(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

impl AsyncWrite for StallTimeout<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.connection.is_before_service() {
            return self.swallow(bytes.len());
        }
        let outcome = Pin::new(&mut self.writer).poll_write(context, bytes);
        self.bounded(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.connection.is_before_service() {
            return self.swallow(pieces.iter().map(|piece| piece.len()).sum());
        }
        let outcome = Pin::new(&mut self.writer).poll_write_vectored(context, pieces);
        self.bounded(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.writer.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.writer).poll_flush(context);
        if flushed.is_ready() && self.connection.phase() == Phase::Replying {
            self.until = None;
            self.connection.set(Phase::Silent);
            // The reader has already been polled, and is only woken by input: the timer has to be
            // set here.
            self.has_waited_too_long(context);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.connection.is_before_service() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.writer).poll_shutdown(context)
    }
}
