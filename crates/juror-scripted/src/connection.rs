//! Connections that can be told to break.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Breaks its connection at the next write, as far as the client can tell for no reason.
#[derive(Clone, Default)]
pub(crate) struct Breaker(Arc<AtomicBool>);

impl Breaker {
    pub(crate) fn pull(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Connected<IncomingStream<'_, Port>> for Breaker {
    fn connect_info(stream: IncomingStream<'_, Port>) -> Breaker {
        stream.io().breaker.clone()
    }
}

/// A port that is listened to.
pub(crate) struct Port(pub(crate) TcpListener);

impl Listener for Port {
    type Io = Connection;
    type Addr = ();

    async fn accept(&mut self) -> (Connection, ()) {
        loop {
            if let Ok((stream, _)) = self.0.accept().await {
                // Replies are timed: none may wait for more to send. A connection that cannot be
                // set so is a broken one, which its first read will tell.
                let _ = stream.set_nodelay(true);
                return (Connection { stream, breaker: Breaker::default() }, ());
            }
            // The usual reason is too many open files, which others must close first.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection and what breaks it.
pub(crate) struct Connection {
    stream: TcpStream,
    breaker: Breaker,
}

impl Connection {
    fn check(&self) -> io::Result<()> {
        if self.breaker.0.load(Ordering::Acquire) {
            // Closing without lingering is what sends a reset instead of a farewell.
            self.stream.set_zero_linger()?;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
