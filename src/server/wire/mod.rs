//! Connections: who may ask, how many at once, for how long; the log, and figures for monitoring.

mod guard;
mod handle;
mod log;
mod metrics;
mod pieces;

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::server::databases::Databases;
use crate::server::error::Error;
use crate::server::options::Options;
use guard::Guard;
use handle::App;

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// What those are told for whom there is no place.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
/// How many header lines a request may have, and how many bytes its head.
const HEADERS: usize = 64;
const HEAD_BYTES: usize = 16 << 10;
/// How long no connection is taken after one could not be.
const PAUSE: Duration = Duration::from_millis(50);
/// How many characters a token has at least.
const TOKEN: usize = 16;

/// A server that listens, and serves when it is [run](Self::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    stop: watch::Sender<bool>,
    options: Options,
}

/// Ends a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Lets the server end: it takes no more connections, and ends when all is answered or the time for that is over.
    pub fn stop(&self) {
        let _ = self.0.send(true); // Nobody listens if it has ended already.
    }
}

impl Server {
    /// Opens the databases and begins to listen.
    ///
    /// # Errors
    /// When a database cannot be opened, the address cannot be listened at, or the options do not say who may ask.
    pub fn bind(options: Options) -> Result<Self, Error> {
        let address = options.listen;
        if !address.ip().is_loopback() && options.token.is_none() && !options.is_public {
            return Err(Error::Public { address });
        }
        if let Some(token) = &options.token {
            if token.len() < TOKEN {
                return Err(Error::ShortToken { least: TOKEN });
            }
            if token.chars().any(char::is_control) {
                return Err(Error::TokenOfLines);
            }
        }
        if let Some(name) = options.allowed_hosts.iter().find(|name| !Guard::can_be_host(name)) {
            return Err(Error::HostName { name: name.clone() });
        }
        let databases = Arc::new(Databases::open(&options.databases)?);
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let app = Arc::new(App::new(databases, &options, address)?);
        let (stop, _) = watch::channel(false);
        Ok(Self { listener, address, app, stop, options })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// When it cannot listen any more.
    pub fn run(self) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(Error::Thread)?.block_on(self.serve())
    }

    async fn serve(self) -> Result<(), Error> {
        let address = self.address;
        let listener = tokio::net::TcpListener::from_std(self.listener);
        let listener = listener.map_err(|source| Error::Listen { address, source })?;
        let service = TowerToHyperService::new(handle::router(&self.app));
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
        builder.max_headers(HEADERS).max_buf_size(HEAD_BYTES);
        let places = Arc::new(Semaphore::new(self.options.connections));
        let mut stopped = self.stop.subscribe();
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stopped.wait_for(|stopped| *stopped) => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                // There may be no more files to open, for the moment.
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            // Whoever comes when all places are taken is turned away at once, so that those who are there are answered.
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                self.app.metrics.turned_away();
                let _ = stream.try_write(FULL); // It may have gone.
                continue;
            };
            let _ = stream.set_nodelay(true);
            let connection = builder.serve_connection(TokioIo::new(stream), service.clone());
            let mut stopped = self.stop.subscribe();
            connections.spawn(async move {
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    _ = connection.as_mut() => {}
                    _ = async { let _ = stopped.wait_for(|stopped| *stopped).await; } => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await; // What is wrong with a connection is known to its client.
                    }
                }
                drop(place);
                Ok::<_, Infallible>(())
            });
        }
        drop(listener);
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(self.options.grace, all).await; // What takes longer is cut off.
        Ok(())
    }
}
