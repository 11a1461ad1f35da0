//! Why nothing can be served.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::store;

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A database cannot be opened.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// There is no database to serve.
    #[error("no database is named")]
    NoDatabase,
    /// Others could ask, and nothing says that they may.
    #[error("{address} can be reached from other machines; ask for a token, or say that everybody may read")]
    Public {
        /// The address.
        address: SocketAddr,
    },
    /// The token is too easy to guess.
    #[error("the token is too short; it must have {least} characters or more")]
    ShortToken {
        /// How many characters it must have.
        least: usize,
    },
    /// The token cannot be sent in a request.
    #[error("the token must be one line without control characters")]
    TokenOfLines,
    /// This is not the name of a host.
    #[error(
        "{name:?} is not the name of a host; write it as it stands in addresses, such as chess.example.org"
    )]
    HostName {
        /// What was given.
        name: String,
    },
    /// The address cannot be listened at.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The process may open too few files.
    #[error(
        "{allowed} files may be open at once, and the server needs {least}; allow more with ulimit -n, or serve fewer databases"
    )]
    FewFiles {
        /// How many may be open.
        allowed: usize,
        /// How many are needed.
        least: usize,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// Two databases would have the same name in addresses, or one has none.
    #[error("{}: has no name that can stand in an address; rename the file", path.display())]
    NoName {
        /// The database.
        path: PathBuf,
    },
}
