//! Connections that can be broken on purpose.

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

/// Breaks its connection at the next write, for no reason that the client could see.
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

/// A listening port.
pub(crate) struct Port(pub(crate) TcpListener);

impl Listener for Port {
    type Io = Connection;
    type Addr = ();

    async fn accept(&mut self) -> (Connection, ()) {
        loop {
            if let Ok((stream, _)) = self.0.accept().await {
                // Replies are timed, so none may wait for more data. If this fails, the connection
                // is broken, and its first read will say so.
                let _ = stream.set_nodelay(true);
                return (Connection { stream, breaker: Breaker::default() }, ());
            }
            // Usually there are too many open files, and others have to close theirs first.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection that can be broken.
pub(crate) struct Connection {
    stream: TcpStream,
    breaker: Breaker,
}

impl Connection {
    fn check(&self) -> io::Result<()> {
        if self.breaker.0.load(Ordering::Acquire) {
            // With a linger time of zero, closing sends a reset.
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
