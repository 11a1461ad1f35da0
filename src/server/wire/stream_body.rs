//! Answers that are sent while they are written.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::server::answer::WriteChunks;
use crate::server::pool::CancelToken;
use crate::store::Database;

/// The size in bytes at which a piece is sent.
const PIECE: usize = 64 << 10;
/// The maximum number of pieces waiting for the client.
const PIECES: usize = 4;
/// The time after which the first piece is sent although it is small. Errors before the first piece is sent
/// are reported to the client; later errors cut the answer off.
const FIRST: Duration = Duration::from_secs(1);

/// A piece; `None` is the end of the answer.
type Message = Option<Bytes>;

/// An answer that is still to be written.
pub(super) struct StreamBody<'d> {
    database: &'d Database,
    sender: mpsc::Sender<Message>,
    write: WriteChunks,
}

impl<'d> StreamBody<'d> {
    /// Creates the body of a response, and the value whose method [`write`](Self::write) fills this body.
    pub(super) fn new(database: &'d Database, write: WriteChunks) -> (Body, Self) {
        let (sender, receiver) = mpsc::channel(PIECES);
        let body = Body::new(ReceivedBody { receiver, is_whole: false, is_broken: false });
        (body, Self { database, sender, write })
    }

    /// Writes until the answer is complete, the client disconnects, or the timeout passes. Ends the body
    /// without an error only if the answer is complete, so that the client can recognize an incomplete
    /// answer. Calls `begin` before the first piece is sent: if writing fails before that, another answer can
    /// be sent.
    ///
    /// # Errors
    /// The error that stopped the writing.
    pub(super) fn write(
        self,
        cancel: &CancelToken,
        runtime: &Handle,
        begin: &mut dyn FnMut(),
    ) -> io::Result<()> {
        let Self { database, sender, write } = self;
        let (piece, began) = (Vec::with_capacity(PIECE), Instant::now());
        let mut writer = ChunkWriter { sender, piece, runtime, cancel, begin, began: Some(began) };
        write(database, &mut writer)?;
        writer.flush()?;
        writer.send(None)
    }
}

/// The reason why an answer was cut off, in words.
pub(super) fn reason(cancel: &CancelToken, error: &io::Error) -> String {
    if cancel.is_late() {
        "the export took too long".to_owned()
    } else if cancel.is_over() {
        "the client disconnected, or read too slowly".to_owned()
    } else {
        error.to_string()
    }
}

/// Sends pieces no faster than the client reads.
struct ChunkWriter<'a> {
    sender: mpsc::Sender<Message>,
    piece: Vec<u8>,
    runtime: &'a Handle,
    cancel: &'a CancelToken,
    begin: &'a mut dyn FnMut(),
    /// When writing began; `None` once the first piece is sent.
    began: Option<Instant>,
}

impl ChunkWriter<'_> {
    fn send(&mut self, message: Message) -> io::Result<()> {
        if self.began.take().is_some() {
            (self.begin)();
        }
        // The deadline is the only limit here: the connection checks how fast the client reads.
        let end = self.cancel.deadline.into();
        let sent = async { tokio::time::timeout_at(end, self.sender.send(message)).await };
        match self.runtime.block_on(sent) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Write for ChunkWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE || self.began.is_some_and(|began| began.elapsed() > FIRST) {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.cancel.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        if piece.is_empty() { Ok(()) } else { self.send(Some(piece.into())) }
    }
}

/// The pieces as a body for hyper.
struct ReceivedBody {
    receiver: mpsc::Receiver<Message>,
    is_whole: bool,
    is_broken: bool,
}

impl HttpBody for ReceivedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.is_whole {
            return Poll::Ready(None);
        }
        match ready!(self.receiver.poll_recv(context)) {
            Some(Some(piece)) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            Some(None) => {
                self.is_whole = true;
                Poll::Ready(None)
            }
            // The writer failed. The answer must end with an error; otherwise it would look complete. But on
            // an error, hyper closes the connection and drops unsent data, even the head. So the body returns
            // `Pending` once before the error, to let hyper send the data.
            None if !std::mem::replace(&mut self.is_broken, true) => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            None => Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
        }
    }
}

/// Returns a body that owns `guard`. The guard is dropped together with the body.
pub(super) fn with_guard(body: Body, guard: impl Send + Unpin + 'static) -> Body {
    Body::new(Guarded { body, _guard: guard })
}

struct Guarded<G> {
    body: Body,
    _guard: G,
}

impl<G: Unpin> HttpBody for Guarded<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
