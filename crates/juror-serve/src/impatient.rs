//! A connection that does not wait for ever for the other side.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::{Instant, Sleep};

use crate::seats::{Phase, Seat};
use crate::server::Limits;

/// A stream that fails when no request comes, when a head does not come whole, or when nothing of a
/// reply is taken in time: otherwise a client could hold its connection for good. Bodies have a
/// clock of their own, where they are read.
///
/// What is written before a request was understood is the word of a library about it. It goes
/// nowhere: the server has words of its own, which it says once this stream is done.
pub(crate) struct Impatient<'s> {
    reader: ReadHalf<'s>,
    writer: WriteHalf<'s>,
    seat: Arc<Seat>,
    patience: Patience,
    /// Until when something has to come, a request or the rest of a head, if that is waited for.
    until: Option<Instant>,
    /// Until when something of a reply has to be taken, if that is waited for.
    writing: Option<Instant>,
    read_clock: Clock,
    write_clock: Clock,
    /// How much of a head has come.
    n_head: usize,
}

/// How long is waited for what.
#[derive(Clone, Copy, Debug)]
struct Patience {
    idle: Duration,
    head: Duration,
    sending: Duration,
}

/// Tells when a moment has passed. It is set anew only for an earlier moment, or once it has rung:
/// moments that move on with every request cost next to nothing.
#[derive(Default)]
struct Clock(Option<Pin<Box<Sleep>>>);

impl Clock {
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

impl Impatient<'_> {
    pub(crate) fn new<'s>(
        stream: &'s mut TcpStream,
        seat: Arc<Seat>,
        limits: &Limits,
    ) -> Impatient<'s> {
        let Limits { idle, head, sending, .. } = *limits;
        let (reader, writer) = stream.split();
        Impatient {
            reader,
            writer,
            seat,
            patience: Patience { idle, head, sending },
            // Who connects has something to ask.
            until: Some(Instant::now() + head),
            writing: None,
            read_clock: Clock::default(),
            write_clock: Clock::default(),
            n_head: 0,
        }
    }

    /// What came of a write, unless it has been waited for too long.
    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            if self.writing.take().is_some() && self.seat.phase() == Phase::Stalled {
                self.seat.set(Phase::Replying);
            }
            return outcome;
        }
        if self.seat.phase() == Phase::Replying {
            self.seat.set(Phase::Stalled);
        }
        let sending = self.patience.sending;
        let until = *self.writing.get_or_insert_with(|| Instant::now() + sending);
        if self.write_clock.has_passed(until, context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }

    /// Whether a request, or the rest of a head, has been waited for too long.
    fn has_waited_too_long(&mut self, context: &mut Context<'_>) -> bool {
        let patience = match self.seat.phase() {
            Phase::Silent => self.patience.idle,
            _ => self.patience.head,
        };
        let until = *self.until.get_or_insert_with(|| Instant::now() + patience);
        self.read_clock.has_passed(until, context)
    }

    /// Bytes of a head have come.
    fn count_head(&mut self, n_bytes: usize) {
        if self.seat.phase() == Phase::Silent {
            self.seat.set(Phase::Head);
            self.n_head = 0;
            self.until = None;
        }
        self.n_head += n_bytes;
    }

    /// Takes what would be said of a head that is refused.
    fn swallow(&self, n_bytes: usize) -> Poll<io::Result<usize>> {
        self.seat.refuse_head(self.n_head);
        Poll::Ready(Ok(n_bytes))
    }
}

impl AsyncRead for Impatient<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut this.reader).poll_read(context, buffer);
        if !this.seat.is_before_service() {
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

impl AsyncWrite for Impatient<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.seat.is_before_service() {
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
        if self.seat.is_before_service() {
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
        if flushed.is_ready() && self.seat.phase() == Phase::Replying {
            self.until = None;
            self.seat.set(Phase::Silent);
            // Whoever reads has tried to already, and comes back when there is something: the clock
            // has to be set here.
            self.has_waited_too_long(context);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.seat.is_before_service() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.writer).poll_shutdown(context)
    }
}
