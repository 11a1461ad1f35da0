//! Arguments of `pgndex serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use pgndex::server::{LogFormat, Options};

use crate::cli::args::{one_of, within};

/// Serve databases over HTTP: a web page, Lichess's explorer API, and pgndex's own API
#[derive(Args, Debug)]
#[command(after_long_help = "\
By default, only programs on this machine can connect; --listen changes that. The server never changes the \
contents of a database. You can add games while the server runs; they appear immediately. On Ctrl-C or SIGTERM it \
finishes open requests and exits. /health and /metrics are for monitoring.

Examples:
  pgndex serve games.db               then open http://127.0.0.1:9002 in a browser
  pgndex serve games.db masters.db    the second one is at http://127.0.0.1:9002/db/masters
  pgndex serve games.db --listen 0.0.0.0:9002 --allow-host chess.example.org --token-file token.txt")]
pub(crate) struct ServeArgs {
    /// Databases; the first one is also served at the root path /
    #[arg(value_name = "DB", required = true)]
    databases: Vec<PathBuf>,
    /// IP address and port (0: any free port)
    #[arg(long, value_name = "ADDRESS", default_value_t = Options::ADDRESS, value_parser = listen)]
    listen: SocketAddr,
    /// A host name by which clients reach this machine.
    ///
    /// localhost, loopback addresses and the address of --listen are always allowed; other names are refused.
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Require clients to send the token that this file contains.
    ///
    /// The token has at least 16 characters. Clients send it as a bearer token, or as the password in HTTP basic
    /// authentication, with any user name.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Allow everybody who can reach the address to read the databases
    #[arg(long)]
    public: bool,
    /// Allow web pages of other origins to read explorer answers
    #[arg(long)]
    cors: bool,
    /// Threads that answer requests, at most 64 [default: one per processor, from 2 to 16].
    ///
    /// In addition, searches have two threads, SQL has two, and exports have eight.
    #[arg(hide_short_help = true, long, short = 'j', value_name = "N", value_parser = within(1..=64_u16))]
    threads: Option<u16>,
    /// Seconds that a request may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = within(1..=3600_u64))]
    timeout: u64,
    /// Seconds that an SQL statement may take
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = within(1..=3600_u64))]
    sql_timeout: u64,
    /// How to log requests to standard error
    #[arg(hide_short_help = true, long, value_name = "FORMAT", value_parser = log_format(), default_value = "text")]
    log_format: LogFormat,
}

/// Parses an IP address and a port.
fn listen(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "write an IP address and a port, such as 127.0.0.1:9002, 0.0.0.0:9002 or [::1]:9002")
}

/// The parser for the format of the request log.
fn log_format() -> impl TypedValueParser<Value = LogFormat> {
    one_of([("none", LogFormat::None), ("text", LogFormat::Text), ("json", LogFormat::Json)])
}

impl ServeArgs {
    /// The server's options. `token` is the content of the token file, if one is given.
    pub(in crate::cli) fn options(&self, token: Option<String>) -> Options {
        let mut options = Options::new(self.databases.clone());
        options.listen = self.listen;
        options.allowed_hosts.clone_from(&self.allow_host);
        options.token = token;
        options.is_public = self.public;
        options.cors = self.cors;
        options.threads = self.threads.map_or(options.threads, usize::from);
        options.timeout = std::time::Duration::from_secs(self.timeout);
        options.sql_timeout = std::time::Duration::from_secs(self.sql_timeout);
        options.log = self.log_format;
        options
    }
}
