//! Errors that prevent the server from starting.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::store;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A database cannot be opened.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// No database is given.
    #[error("no database is given")]
    NoDatabase,
    /// The address is reachable from other machines, but there is no token, and public access is not allowed.
    #[error("{address} can be reached from other machines; require a token, or allow public access")]
    Public {
        /// The address.
        address: SocketAddr,
    },
    /// The token is so short that it could be guessed.
    #[error("the token is too short; it must have {least} characters or more")]
    ShortToken {
        /// The minimum number of characters.
        least: usize,
    },
    /// The token has control characters, so it cannot be sent in a request.
    #[error("the token must be one line without control characters")]
    TokenOfLines,
    /// A name is not a valid host name.
    #[error("{name:?} is not a host name; write it as in URLs, such as chess.example.org")]
    HostName {
        /// What was given.
        name: String,
    },
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The limit of open files is too low.
    #[error(
        "at most {allowed} files may be open at once, and the server needs {least}; allow more with ulimit -n, or serve fewer databases"
    )]
    FewFiles {
        /// The limit.
        allowed: usize,
        /// The number of files needed.
        least: usize,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// The file name of a database is empty or not Unicode, so that the database has no name in URLs.
    #[error("{}: this file name cannot be part of a URL; rename the file", path.display())]
    NoName {
        /// The database.
        path: PathBuf,
    },
}
