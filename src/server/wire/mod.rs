//! Connections: who may ask, how many at once, for how long; the log, and figures for monitoring.

mod app;
mod files;
mod form;
mod guard;
mod handle;
mod log;
mod metrics;
mod pieces;
mod stream;
mod visit;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::server::databases::Databases;
use crate::server::error::Error;
use crate::server::options::Options;
use app::App;
use files::Files;
use guard::Guard;
use stream::Stream;
use visit::{Admission, Place};

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How many header lines a request may have, and how many bytes its head. Longer ones are refused without a word on what is wrong;
/// [`handle`] has words for those that are not quite so long.
const HEADERS: usize = 128;
const HEAD_BYTES: usize = 64 << 10;
/// How many bytes of answers the system keeps for a client. With many more it would not tell for minutes that one takes nothing.
const SEND_BUFFER: usize = 256 << 10;
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
        // Before they are opened, which takes files.
        let files = Files::shared_by(&options)?;
        let databases = Arc::new(Databases::open(&options.databases)?);
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        // Connections have what the one has that takes them.
        rustix::net::sockopt::set_socket_send_buffer_size(&listener, SEND_BUFFER)
            .map_err(|error| failed(error.into()))?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let app = Arc::new(App::new(databases, &options, files, address, stopped)?);
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
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
        http.max_headers(HEADERS).max_buf_size(HEAD_BYTES);
        let protocol = Protocol { http, router: handle::router(&self.app), app: Arc::clone(&self.app) };
        let visitors = &self.app.visitors;
        let mut stopped = self.stop.subscribe();
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stopped.wait_for(|stopped| *stopped) => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, from)) = accepted else {
                // There may be no more files to open, for the moment.
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            match visitors.admit(from.ip()) {
                Admission::Granted { place, in_place_of_another } => {
                    if in_place_of_another {
                        self.app.metrics.made_room();
                    }
                    connections.spawn(protocol.clone().serve(stream, place, self.stop.subscribe()));
                }
                // Whoever comes when all are worked for is turned away at once, so that those who are there are answered.
                Admission::Full => {
                    self.app.metrics.turned_away();
                    let _ = stream.try_write(handle::full().as_bytes()); // It may have gone.
                }
            }
        }
        drop(listener);
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(self.options.grace, all).await; // What takes longer is cut off.
        connections.shutdown().await;
        self.app.close();
        Ok(())
    }
}

/// How connections are served.
#[derive(Clone)]
struct Protocol {
    http: http1::Builder,
    router: Router,
    app: Arc<App>,
}

impl Protocol {
    /// Answers the requests of a connection, until it ends, its place is needed, or the server is to end.
    async fn serve(self, stream: TcpStream, place: Place, mut stopped: watch::Receiver<bool>) {
        let visit = &place.visit;
        let _ = stream.set_nodelay(true);
        let (router, known) = (TowerToHyperService::new(self.router), Arc::clone(visit));
        let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(Arc::clone(&known));
            router.call(request)
        });
        let stream = TokioIo::new(Stream::new(stream, Arc::clone(visit), self.app.reading_time));
        let mut connection = std::pin::pin!(self.http.serve_connection(stream, service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = visit.is_asked_to_leave() => return,
            _ = async { let _ = stopped.wait_for(|stopped| *stopped).await; } => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        match ended {
            Err(error) if error.is_parse() => self.app.unreadable(&error),
            Err(error) if is_late(&error) => self.app.too_slow_reader(visit),
            // What else is wrong with a connection is known to its client.
            Ok(()) | Err(_) => {}
        }
    }
}

/// Whether a connection ended because its client took too long to read.
fn is_late(error: &hyper::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::TimedOut)
}
