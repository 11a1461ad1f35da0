//! What to serve, to whom, and the limits.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// What to serve, to whom, and the limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// The databases; the first one is also served at the root.
    pub databases: Vec<PathBuf>,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Names that the machine has for those who ask, besides those of the loopback interface.
    pub allowed_hosts: Vec<String>,
    /// What everybody who asks must know.
    pub token: Option<String>,
    /// Whether everybody may ask who can reach the address.
    pub is_public: bool,
    /// Whether pages of other hosts may read the answers of the explorer's routes.
    pub cors: bool,
    /// Threads that answer what is answered at once; searches and SQL have threads of their own.
    pub threads: usize,
    /// How long the answer to a question may take.
    pub timeout: Duration,
    /// How long an SQL statement of somebody else may run.
    pub sql_timeout: Duration,
    /// How long an export may take.
    pub export_timeout: Duration,
    /// In what time a client must take 512 KiB of an answer, or what is left of it.
    pub reading_time: Duration,
    /// How long what runs may go on when the server is to end.
    pub grace: Duration,
    /// Connections at the same time.
    pub connections: usize,
    /// How requests are logged to standard error.
    pub log: LogFormat,
}

/// How requests are logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Not at all.
    None,
    /// A line for people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

impl Options {
    /// Where to listen unless told.
    pub const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9002);

    /// Serves these databases to this machine alone.
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
