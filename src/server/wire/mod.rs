//! Connections: access control, limits and timeouts; the log, and metrics.

mod app;
mod connection;
mod encoding;
mod file_limits;
mod guard;
mod handle;
mod log;
mod metrics;
mod stream;
mod stream_body;

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
use crate::server::options::{Error, Options};
use app::App;
use connection::Slot;
use file_limits::FileLimits;
use guard::Guard;
use metrics::count;
use stream::Stream;

/// The time in which a client must send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The maximum number of header lines, and the maximum size of the head in bytes. Requests beyond these
/// limits are refused without an explanation. [`handle`] has stricter limits for the sizes of the address and
/// the header lines, and explains why it refuses a request.
const HEADERS: usize = 128;
const HEAD_BYTES: usize = 80 << 10;
/// The size of the socket's send buffer in bytes. With a much larger one, a client that reads nothing would
/// go unnoticed for minutes.
const SEND_BUFFER: usize = 256 << 10;
/// The pause after a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);
/// The minimum number of characters of a token.
const TOKEN: usize = 16;

/// A listening server. It serves requests when it is [run](Self::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
}

/// Stops a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Stops the server: it accepts no more connections, and ends when all requests are answered or the grace
    /// period is over.
    pub fn stop(&self) {
        let _ = self.0.send(true); // Fails if the server has already ended.
    }
}

impl Server {
    /// Opens the databases, begins to listen, and starts the threads.
    ///
    /// # Errors
    /// If the options are invalid or do not say who is allowed to connect. If a database cannot be opened. If
    /// the server cannot listen on the address or start its threads. If the limit of open files is too low.
    pub fn bind(options: Options) -> Result<Self, Error> {
        let address = options.listen;
        if !address.ip().is_loopback() && options.token.is_none() && !options.is_public {
            return Err(Error::Public { address });
        }
        if let Some(token) = &options.token {
            if token.chars().count() < TOKEN {
                return Err(Error::ShortToken { least: TOKEN });
            }
            if token.chars().any(char::is_control) {
                return Err(Error::TokenOfLines);
            }
        }
        if let Some(name) = options.allowed_hosts.iter().find(|name| !Guard::can_be_host(name)) {
            return Err(Error::HostName { name: name.clone() });
        }
        // First raise the limit of open files, because the databases need files.
        let files = FileLimits::shared_by(&options)?;
        let databases = Databases::open(&options.databases)?;
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        // Accepted connections inherit the buffer size of the listener.
        rustix::net::sockopt::set_socket_send_buffer_size(&listener, SEND_BUFFER)
            .map_err(|error| failed(error.into()))?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, app: Arc::new(App::new(databases, options, files, address)?) })
    }

    /// The address that the server listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// A handle that stops the server.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(self.app.stop.clone())
    }

    /// Answers requests until the server is stopped.
    ///
    /// # Errors
    /// If the runtime cannot be created, or if it cannot use the listener.
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
        let mut stopped = self.app.stop.subscribe();
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stopped.wait_for(|stopped| *stopped) => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, from)) = accepted else {
                // Perhaps no more files can be opened at the moment.
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            match self.app.clients.admit(from.ip()) {
                Some((place, in_place_of_another)) => {
                    if in_place_of_another {
                        count(&self.app.metrics.evicted);
                    }
                    connections.spawn(protocol.clone().serve(stream, place, self.app.stop.subscribe()));
                }
                // If no other connection can be closed for the new one, the new one is refused at once.
                None => {
                    count(&self.app.metrics.refused);
                    let _ = stream.try_write(handle::full().as_bytes()); // The client may have disconnected.
                }
            }
        }
        drop(listener);
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(self.app.options.grace, all).await; // Requests that take longer are cut off.
        connections.shutdown().await;
        self.app.close();
        Ok(())
    }
}

#[derive(Clone)]
struct Protocol {
    http: http1::Builder,
    router: Router,
    app: Arc<App>,
}

impl Protocol {
    /// Answers the requests of a connection until the connection ends, its slot is needed for another
    /// connection, or the server stops.
    async fn serve(self, stream: TcpStream, place: Slot, mut stopped: watch::Receiver<bool>) {
        let client = &place.client;
        let _ = stream.set_nodelay(true);
        let (router, known) = (TowerToHyperService::new(self.router), Arc::clone(client));
        let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(Arc::clone(&known));
            router.call(request)
        });
        let stream = TokioIo::new(Stream::new(stream, Arc::clone(client), self.app.options.reading_time));
        let mut connection = std::pin::pin!(self.http.serve_connection(stream, service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = client.leave.notified() => return,
            _ = async { let _ = stopped.wait_for(|stopped| *stopped).await; } => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        match ended {
            Err(error) if error.is_parse() => self.app.unreadable(&error),
            Err(error) if is_late(&error) => self.app.too_slow_reader(client),
            // Other errors are not logged: they concern only this connection, and its client notices them.
            Ok(()) | Err(_) => {}
        }
    }
}

/// Whether a connection ended because its client read too slowly.
fn is_late(error: &hyper::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::TimedOut)
}
