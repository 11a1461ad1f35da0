//! State shared by all requests: the pools, the limits, metrics and the log.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::watch;

use super::connection::{Connection, Connections};
use super::encoding::StaticContent;
use super::file_limits::{EXPORT, FileLimits, SEARCH};
use super::guard::Guard;
use super::log::{Entry, Log};
use super::metrics::{Metrics, count};
use super::stream;
use crate::server::answer::{JSON, Problem};
use crate::server::databases::Databases;
use crate::server::options::{Error, Options};
use crate::server::pool::{Pool, PoolOptions};
use crate::server::route::Lane;
use crate::server::{api, page};

/// How long a user's SQL statement can continue after the request to stop the server. The server also waits
/// at most this long for its threads before it exits.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// State shared by all requests.
pub(super) struct App {
    pub(super) options: Options,
    pub(super) databases: Databases,
    /// The thread pools, in the order of the variants of [`Lane`].
    pub(super) pools: Vec<Pool>,
    pub(super) guard: Guard,
    /// The content that never changes while the program runs, by its path.
    pub(super) static_content: HashMap<String, StaticContent>,
    /// The total size, in bytes, of the answers that clients have not completely read. Answers that are sent
    /// while they are written are not included.
    pub(super) kept: Arc<AtomicU64>,
    pub(super) clients: Arc<Connections>,
    pub(super) metrics: Metrics,
    pub(super) log: Log,
    /// Whether the server is stopping.
    pub(super) stop: watch::Sender<bool>,
}

impl App {
    /// Starts the pools and the log.
    pub(super) fn new(
        databases: Databases,
        options: Options,
        files: FileLimits,
        address: SocketAddr,
    ) -> Result<Self, Error> {
        let quick = PoolOptions {
            name: "quick",
            threads: files.threads(options.threads),
            waiting: options.threads.max(1) * 32,
            open: files.open,
            nice: 0,
            page_bytes: 64 << 20,
            prepare: |_| Ok(()),
        };
        let slow = PoolOptions { threads: files.threads(SEARCH), page_bytes: 16 << 20, ..quick };
        let pools = [
            quick,
            PoolOptions { name: "search", waiting: 16, nice: 5, ..slow },
            PoolOptions { name: "sql", waiting: 8, nice: 5, prepare: api::guard, ..slow },
            // Each export occupies a thread until it is sent.
            PoolOptions { name: "export", threads: files.threads(EXPORT), waiting: 8, nice: 10, ..slow },
        ];
        Ok(Self {
            pools: pools.into_iter().map(Pool::start).collect::<Result<_, _>>()?,
            guard: Guard::new(&options, address),
            static_content: static_content(),
            kept: Arc::default(),
            clients: Arc::new(Connections::new(files.connections)),
            metrics: Metrics::default(),
            log: Log::start(options.log)?,
            stop: watch::Sender::new(false),
            options,
            databases,
        })
    }

    /// The pool of a lane, and its timeout.
    pub(super) fn lane(&self, lane: Lane) -> (&Pool, Duration) {
        let timeout = match lane {
            Lane::Quick | Lane::Search => self.options.timeout,
            Lane::Sql => self.options.sql_timeout,
            Lane::Export => self.options.export_timeout,
        };
        (&self.pools[lane as usize], timeout)
    }

    /// The error for a request that exceeded the timeout of its lane.
    pub(super) fn too_slow(&self, lane: Lane) -> Problem {
        match lane {
            Lane::Sql => Problem::too_slow_sql(self.options.sql_timeout),
            Lane::Quick | Lane::Search | Lane::Export => Problem::too_slow(),
        }
    }

    /// Closes the databases if running queries end soon, and flushes the log.
    pub(super) fn close(&self) {
        let until = Instant::now() + LAST_MOMENT;
        let ended = self.pools.iter().map(|pool| pool.end(until)).collect::<Vec<_>>();
        if ended.iter().all(|&has_ended| has_ended) {
            self.databases.close();
        }
        self.log.finish();
    }

    /// Counts and logs a request whose head cannot be parsed. hyper has already refused it.
    pub(super) fn unreadable(&self, error: &hyper::Error) {
        let status = if error.is_parse_too_large() { 431 } else { 400 };
        count(&self.metrics.unreadable);
        self.metrics.answered(status, Duration::ZERO);
        let problem = format!("the head of the request cannot be read: {error}");
        let (method, target, took) = ("-", "-", Duration::ZERO);
        self.log.write(&Entry { method, target, status, took, problem: Some(&problem) });
    }

    /// Counts and logs a client that was disconnected because it read an answer too slowly.
    pub(super) fn too_slow_reader(&self, client: &Connection) {
        count(&self.metrics.slow_readers);
        let request = client.last_request();
        let (method, target) = request.split_once(' ').unwrap_or(("-", "-"));
        let (least, time) = (stream::LEAST >> 10, self.options.reading_time.as_secs_f64());
        let problem = format!("the answer was cut off: the client read less than {least} KiB in {time} s");
        let (status, took) = (200, Duration::ZERO);
        self.log.write(&Entry { method, target, status, took, problem: Some(&problem) });
    }

    /// Completes when the server is stopping and running statements have had a moment to finish.
    pub(super) async fn ending(&self) {
        let _ = self.stop.subscribe().wait_for(|is_ending| *is_ending).await; // Fails only without a sender.
        tokio::time::sleep(LAST_MOMENT).await;
    }
}

/// The path of the API description.
pub(super) const DESCRIPTION: &str = "/api/openapi.json";

fn static_content() -> HashMap<String, StaticContent> {
    let files = page::ASSETS.iter().map(|asset| {
        let path = format!("/page/{}", asset.name);
        (path, StaticContent::new(asset.content_type, Bytes::from_static(asset.bytes)))
    });
    let description = StaticContent::new(JSON, Bytes::from_static(include_bytes!("../openapi.json")));
    files.chain([(DESCRIPTION.to_owned(), description)]).collect()
}
