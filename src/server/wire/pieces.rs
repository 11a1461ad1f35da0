//! Answers that are sent while they are written.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::server::answer::WritePieces;
use crate::server::pool::Ticket;
use crate::store::Database;

/// How large a piece is, and how many of them wait for the client.
const PIECE: usize = 64 << 10;
const PIECES: usize = 4;

/// A piece, or that all of them were sent.
enum Message {
    Piece(Bytes),
    End,
}

/// What writes an answer.
pub(super) struct Pieces<'d> {
    database: &'d Database,
    sender: mpsc::Sender<Message>,
    write: WritePieces,
}

impl<'d> Pieces<'d> {
    /// What writes, and the body that it writes to.
    pub(super) fn new(database: &'d Database, write: WritePieces) -> (Body, Self) {
        let (sender, receiver) = mpsc::channel(PIECES);
        (Body::new(Received { receiver, is_whole: false }), Self { database, sender, write })
    }

    /// Writes until all is written, the client goes, or the time is over. Only an answer that was written to its end is whole.
    ///
    /// # Errors
    /// Why it was not, in words.
    pub(super) fn write(self, ticket: &Ticket, runtime: &Handle) -> Result<(), String> {
        let Self { database, sender, write } = self;
        let mut writer = PieceWriter { sender, piece: Vec::with_capacity(PIECE), runtime, ticket };
        let written = write(database, &mut writer)
            .and_then(|()| writer.flush())
            .and_then(|()| writer.send(Message::End));
        written.map_err(|error| {
            if ticket.is_late() {
                "the time for an export was over".to_owned()
            } else if ticket.is_over() {
                "its client has gone, or took it too slowly".to_owned()
            } else {
                error.to_string()
            }
        })
    }
}

/// Sends what is written, piece by piece, no faster than the client reads.
struct PieceWriter<'a> {
    sender: mpsc::Sender<Message>,
    piece: Vec<u8>,
    runtime: &'a Handle,
    ticket: &'a Ticket,
}

impl PieceWriter<'_> {
    fn send(&self, message: Message) -> io::Result<()> {
        // How fast the client reads is watched where it is written to.
        let end = self.ticket.deadline.into();
        let sent = async { tokio::time::timeout_at(end, self.sender.send(message)).await };
        match self.runtime.block_on(sent) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Write for PieceWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.ticket.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        if piece.is_empty() { Ok(()) } else { self.send(Message::Piece(piece.into())) }
    }
}

/// Pieces as hyper takes them.
struct Received {
    receiver: mpsc::Receiver<Message>,
    is_whole: bool,
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.is_whole {
            return Poll::Ready(None);
        }
        self.receiver.poll_recv(context).map(|message| match message {
            Some(Message::Piece(piece)) => Some(Ok(Frame::data(piece))),
            Some(Message::End) => {
                self.is_whole = true;
                None
            }
            // What wrote it has broken off: so must the answer, or it would look as if it were whole.
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }
}

/// A body, and something that lives as long as it.
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
