//! Options of the server, and the errors that prevent it from starting.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::store;

/// What to serve, who may connect, and the limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// The databases; the first one is also served without the prefix `/db/NAME`.
    pub databases: Vec<PathBuf>,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Host names that clients may use, in addition to localhost, loopback addresses and the address to
    /// listen on.
    pub allowed_hosts: Vec<String>,
    /// The token that every request must contain, except requests for `/health` and preflight requests.
    pub token: Option<String>,
    /// Whether other machines are allowed to reach the address `listen` even if there is no token.
    pub is_public: bool,
    /// Whether web pages of other hosts are allowed to read the answers of the explorer's routes.
    pub cors: bool,
    /// The maximum number of threads for quick requests; 0 means 1. Searches, SQL and exports have threads of
    /// their own.
    pub threads: usize,
    /// The timeout of a query, except for a user's SQL statement and an export.
    pub timeout: Duration,
    /// The timeout of a user's SQL statement.
    pub sql_timeout: Duration,
    /// The timeout of an export.
    pub export_timeout: Duration,
    /// The time in which a client must read the next 512 KiB of an answer, or all remaining bytes if fewer
    /// remain.
    pub reading_time: Duration,
    /// How long requests can continue once the server is stopping. Users' SQL statements can continue for
    /// half a second only.
    pub grace: Duration,
    /// The maximum number of connections.
    pub connections: usize,
    /// How requests are logged to standard error.
    pub log: LogFormat,
}

/// How requests are logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Requests are not logged.
    None,
    /// One line per request, for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

impl Options {
    /// The default address.
    pub const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9002);

    /// The default options: serve these databases to this machine only.
    #[must_use]
    pub fn new(databases: Vec<PathBuf>) -> Self {
        Self {
            databases,
            listen: Self::ADDRESS,
            allowed_hosts: Vec::new(),
            token: None,
            is_public: false,
            cors: false,
            threads: std::thread::available_parallelism().map_or(2, std::num::NonZero::get).clamp(2, 16),
            timeout: Duration::from_secs(10),
            sql_timeout: Duration::from_secs(1),
            export_timeout: Duration::from_secs(600),
            reading_time: Duration::from_secs(30),
            grace: Duration::from_secs(5),
            connections: 512,
            log: LogFormat::default(),
        }
    }
}

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
    /// The token contains control characters, so a request cannot contain it.
    #[error("the token must be one line without control characters")]
    TokenOfLines,
    /// A name is not a valid host name.
    #[error("{name:?} is not a host name; write it as in URLs, such as chess.example.org")]
    HostName {
        /// The invalid name.
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
        /// The minimum number of files that the server needs.
        least: usize,
    },
    /// A thread, or the runtime that handles the connections, cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// The file name of a database is empty or not Unicode, so the database cannot have a name in URLs.
    #[error("{}: this file name cannot be part of a URL; rename the file", path.display())]
    NoName {
        /// The database.
        path: PathBuf,
    },
}
