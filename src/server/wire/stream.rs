//! The byte stream of a connection. Disconnects clients that read answers too slowly.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep_until};

use super::connection::Connection;

/// The number of bytes that a client must read in the reading time, unless less of the answer remains. The
/// time does not run while there is nothing to read.
pub(super) const LEAST: usize = 512 << 10;

/// A connection with a check of the client's reading speed.
pub(super) struct Stream {
    stream: TcpStream,
    client: Arc<Connection>,
    time: Duration,
    pace: ReadRate,
}

/// Measures how fast a client reads.
#[derive(Default)]
struct ReadRate {
    /// The number of bytes that the client has read since the count began.
    taken: usize,
    /// How long the server has waited for the client since the count began, except for the current wait.
    waited: Duration,
    /// When the current wait began; `None` if the server does not wait for the client.
    since: Option<Instant>,
    /// When the current wait times out.
    end: Option<Pin<Box<Sleep>>>,
}

impl ReadRate {
    fn take(&mut self, bytes: usize) {
        self.waited += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.end = None;
        self.taken += bytes;
        if self.taken >= LEAST {
            *self = Self::default();
        }
    }

    /// Ready once the server has waited for the client for a total of `time` since the count of bytes began.
    fn poll_over(&mut self, time: Duration, context: &mut Context<'_>) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let end = since + time.saturating_sub(self.waited);
        self.end.get_or_insert_with(|| Box::pin(sleep_until(end.into()))).as_mut().poll(context)
    }
}

impl Stream {
    /// `time` is the time in which the client must read [`LEAST`] bytes.
    pub(super) fn new(stream: TcpStream, client: Arc<Connection>, time: Duration) -> Self {
        Self { stream, client, time, pace: ReadRate::default() }
    }

    fn watch(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.client.record_activity();
                self.pace.take(bytes);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.client.wait();
                let time = self.time;
                ready!(self.pace.poll_over(time, context));
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        written
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper calls this when it has written all data that it has.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        if self.client.written() {
            self.pace = ReadRate::default();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
