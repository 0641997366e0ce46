//! A connection that does not wait for ever for the other side.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// A stream that fails when the other side takes nothing of a reply, or sends nothing of a body,
/// for a while: otherwise a client could hold its connection for good. No clock runs as long as
/// nothing is waited for, which is nearly always.
pub(crate) struct Impatient {
    stream: TcpStream,
    patience: Duration,
    is_receiving: Receiving,
    writing: Option<Clock>,
    reading: Option<Clock>,
}

/// Whether a body is waited for; between requests a client may take its time.
pub(crate) type Receiving = Arc<AtomicBool>;

type Clock = Pin<Box<Sleep>>;

impl Impatient {
    pub(crate) fn new(stream: TcpStream, patience: Duration, is_receiving: Receiving) -> Impatient {
        Impatient { stream, patience, is_receiving, writing: None, reading: None }
    }
}

/// What came of a read or write, unless it has been waited for too long.
fn bounded<T>(
    clock: &mut Option<Clock>,
    patience: Duration,
    context: &mut Context<'_>,
    outcome: Poll<io::Result<T>>,
) -> Poll<io::Result<T>> {
    if outcome.is_ready() {
        *clock = None;
        return outcome;
    }
    let start = || Box::pin(tokio::time::sleep_until(Instant::now() + patience));
    match clock.get_or_insert_with(start).as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
        Poll::Pending => Poll::Pending,
    }
}

impl AsyncRead for Impatient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let outcome = Pin::new(&mut this.stream).poll_read(context, buffer);
        if !this.is_receiving.load(Ordering::Relaxed) {
            this.reading = None;
            return outcome;
        }
        bounded(&mut this.reading, this.patience, context, outcome)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let outcome = Pin::new(&mut this.stream).poll_write(context, bytes);
        bounded(&mut this.writing, this.patience, context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(context, pieces);
        bounded(&mut this.writing, this.patience, context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
