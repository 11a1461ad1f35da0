//! Handles requests: passes them to the threads of the pools, and sends the answers.

use std::error::Error;
use std::iter::successors;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{Extension, RawPathParams, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_DISPOSITION,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::app::{App, DESCRIPTION};
use super::connection::Connection;
use super::encoding::{any_known, known, whole};
use super::log::Entry;
use super::stream_body::{StreamBody, reason, with_guard};
use crate::query;
use crate::server::answer::{Answer, JSON, Problem};
use crate::server::api::routes;
use crate::server::databases::ServedDatabase;
use crate::server::page;
use crate::server::pool::{CancelToken, Reader};
use crate::server::request::{Call, Param};
use crate::server::route::{Lane, Route};

/// The time in which a client must send the request body.
const BODY_TIME: Duration = Duration::from_secs(20);
/// The maximum length of a URL's path and query, in bytes. The longest game that the fifty-move rule allows
/// fits: 11,797 half-moves in UCI notation, each with five bytes including the comma.
const ADDRESS: usize = 60_000;
/// The maximum size of the request headers in bytes.
const HEADERS: usize = 16 << 10;
/// The content security policy of all answers: pages can load only files of this server and embedded images,
/// and no page can frame an answer.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The response when the maximum number of connections is reached.
pub(super) fn full() -> String {
    let body = serde_json::to_string(&Problem::full()).unwrap_or_default();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: {}\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        Problem::CONTENT_TYPE,
        body.len()
    )
}

/// Builds the router with all routes.
pub(super) fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new();
    for route in routes() {
        router = router
            .route(route.path, method_router(route))
            .route(&format!("/db/{{db}}{}", route.path), method_router(route));
    }
    router
        .route("/db/{db}", get(database_page))
        .route("/db/{db}/", get(database_page))
        .route("/db/{db}/view/{*view}", get(database_page))
        .route("/api/databases", get(databases))
        .route(DESCRIPTION, get(static_file))
        .route("/health", get(|| async { text("text/plain; charset=utf-8", "ok\n".to_owned()) }))
        .route("/metrics", get(metrics))
        .route("/", get(index))
        .route("/view/{*view}", get(index))
        .route("/page/{*name}", get(static_file))
        .fallback(|| async {
            refuse(&Problem::not_found(
                "There is nothing at this address; /api/openapi.json lists all addresses of the API.",
            ))
        })
        .method_not_allowed_fallback(|| async { refuse(&Problem::wrong_method("Use GET for this address.")) })
        .layer(from_fn_with_state(Arc::clone(app), serve_request))
        .with_state(Arc::clone(app))
}

fn method_router(route: &'static Route) -> MethodRouter<Arc<App>> {
    let method = if route.body.is_some() { MethodFilter::POST } else { MethodFilter::GET };
    let handler = move |State(app): State<Arc<App>>,
                        Extension(client): Extension<Arc<Connection>>,
                        path: RawPathParams,
                        request: Request| async move {
        answer(app, &client, route, &path, request).await.unwrap_or_else(|problem| refuse(&problem))
    };
    on(method, handler).fallback(move || async move { refuse(&Problem::wrong_method(usage(route))) })
}

/// How to use a path: the message for requests with another method.
fn usage(route: &Route) -> String {
    match route.body {
        None => "Use GET for this address.".to_owned(),
        Some((_, body)) => {
            format!("Use POST for this address, with a body of the type {}.", body.media_type())
        }
    }
}

/// Checks a request, gets its answer, and counts and logs the answer.
async fn serve_request(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Arc<Connection>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    client.begin(&method, target);
    let is_open = app.options.cors && is_explorer(uri.path());
    let mut response = match check(&app, &client, &request, is_open) {
        Ok(()) if method == Method::OPTIONS => preflight(is_open),
        Ok(()) => with_own_message(next.run(request).await),
        Err(problem) => refuse(&problem),
    };
    let bytes = response.body().size_hint().exact().unwrap_or(0);
    if !client.keep(&app.kept, bytes) {
        response = refuse(&Problem::busy());
    }
    let status = response.status().as_u16();
    let problem = response.extensions_mut().remove::<Problem>();
    secure(response.headers_mut(), is_open);
    let took = began.elapsed();
    app.metrics.answered(status, took);
    let problem = problem.as_ref().map(|problem| problem.detail.as_str());
    app.log.write(&Entry { method: method.as_str(), target, status, took, problem });
    response.map(|body| with_guard(body, SentGuard(client)))
}

/// Replaces the router's message for an invalid path.
fn with_own_message(response: Response) -> Response {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if response.status() != StatusCode::BAD_REQUEST || kind == Some(Problem::CONTENT_TYPE.as_bytes()) {
        return response;
    }
    let detail = "The path is not valid UTF-8 after percent-decoding; encode it as UTF-8.";
    refuse(&Problem::new(400, "wrong address", detail))
}

/// Exists until the whole answer has been passed to the connection.
struct SentGuard(Arc<Connection>);

impl Drop for SentGuard {
    fn drop(&mut self) {
        self.0.set_sent();
    }
}

fn check(app: &App, client: &Connection, request: &Request, is_open: bool) -> Result<(), Problem> {
    let (uri, headers) = (request.uri(), request.headers());
    app.guard.check_host(uri, headers)?;
    check_size(uri, headers)?;
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    if !(is_safe || is_open) {
        app.guard.check_origin(headers)?;
    }
    // Everybody may check the health of the server, and preflight requests have no token yet.
    if uri.path() == "/health" || *request.method() == Method::OPTIONS {
        return Ok(());
    }
    app.guard.check_token(client.address, headers)
}

/// Refuses requests whose address or header is longer than any client needs.
fn check_size(uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let address = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if address > ADDRESS {
        let detail = format!(
            "The address has {address} bytes; the limit is {ADDRESS}. Leave out unnecessary parts, such as comments between moves."
        );
        return Err(Problem::new(414, "address too long", detail));
    }
    let lines: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if lines > HEADERS {
        let detail = format!(
            "The header lines have {lines} bytes; the limit is {HEADERS}. Leave out unnecessary parts, such as cookies."
        );
        return Err(Problem::new(431, "header too long", detail));
    }
    Ok(())
}

/// Whether a path is one that clients of Lichess's explorer use.
fn is_explorer(path: &str) -> bool {
    let below = path.strip_prefix("/db/").and_then(|rest| rest.find('/').map(|at| &rest[at..]));
    let path = below.unwrap_or(path);
    ["/lichess", "/masters", "/player", "/master/"].iter().any(|start| path.starts_with(start))
}

fn preflight(is_open: bool) -> Response {
    let allowed = is_open.then_some([(ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type")]);
    (StatusCode::NO_CONTENT, allowed, ()).into_response()
}

fn secure(headers: &mut HeaderMap, is_open: bool) {
    const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
    const RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
    let static_content = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (OPENER, "same-origin"),
        (RESOURCE, if is_open { "cross-origin" } else { "same-origin" }),
    ];
    for (name, value) in static_content {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_open {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
}

/// Passes a request to a thread, and waits for the answer.
async fn answer(
    app: Arc<App>,
    client: &Connection,
    route: &'static Route,
    path: &RawPathParams,
    request: Request,
) -> Result<Response, Problem> {
    let (pool, time) = app.lane(route.lane);
    let served = Arc::clone(app.databases.named(segment(path, "db")).ok_or_else(Problem::no_database)?);
    let (head, body) = request.into_parts();
    let target = head.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let query = form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes());
    let id = segment(path, "id").unwrap_or_default().to_owned();
    let mut call = Call { query: query.into_owned().collect(), id, body: Bytes::new() };
    if !route.is_lenient {
        Param::check(route.params, &mut call)?;
    }
    // Until the request body has arrived, the connection counts as idle.
    client.wait();
    call.body = read_body(route, body).await?;
    client.record_activity();
    // The timeout starts only here, because a client can send its request slowly.
    let (cancel, waiting) = CancelToken::new(Instant::now() + time);
    let (send, receive) = oneshot::channel();
    let pending =
        PendingRequest { app: Arc::clone(&app), route, served, call, target, headers: head.headers };
    let deadline = cancel.deadline;
    let runtime = Handle::current();
    pool.run(cancel.clone(), move |reader| pending.answer(reader, &cancel, &runtime, send))?;
    let received = tokio::select! {
        received = tokio::time::timeout_at(deadline.into(), receive) => received,
        () = app.ending(), if route.lane == Lane::Sql => return Err(Problem::ending()),
    };
    match received {
        Ok(Ok(response)) if route.lane == Lane::Export => {
            response.map(|response| response.map(|body| with_guard(body, waiting)))
        }
        Ok(Ok(response)) => response,
        // The thread dropped the request without an answer: it took the request after the deadline, or
        // panicked.
        Ok(Err(_)) if Instant::now() >= deadline => Err(app.too_slow(route.lane)),
        Ok(Err(_)) => Err(Problem::internal()),
        Err(_) => Err(app.too_slow(route.lane)),
    }
}

/// The variable segment of a path with this name, if there is one.
fn segment<'p>(path: &'p RawPathParams, name: &str) -> Option<&'p str> {
    path.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
}

async fn read_body(route: &Route, body: Body) -> Result<Bytes, Problem> {
    let most = route.body.map_or(0, |(most, _)| most);
    let too_large = || {
        let detail = match most {
            0 => "This request must have no body.".to_owned(),
            most => format!("The body of this request can have at most {most} bytes."),
        };
        Problem::new(413, "request too large", detail)
    };
    if body.size_hint().lower() > most as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_TIME, to_bytes(body, most)).await {
        Ok(read) => read.map_err(|error| {
            let mut causes = successors(Some(&error as &dyn Error), |&error| error.source());
            if causes.any(|error| error.is::<hyper::Error>()) {
                let detail = "The request body ended too early, or its chunks are malformed; send it again.";
                return Problem::new(400, "wrong request", detail);
            }
            // The header of the request did not give the length.
            too_large()
        }),
        Err(_) => {
            let detail = format!("The request body did not arrive within {} s.", BODY_TIME.as_secs());
            Err(Problem::new(408, "request too slow", detail))
        }
    }
}

/// A request on its way to a thread.
struct PendingRequest {
    app: Arc<App>,
    route: &'static Route,
    served: Arc<ServedDatabase>,
    call: Call,
    target: String,
    headers: HeaderMap,
}

type Reply = oneshot::Sender<Result<Response, Problem>>;

impl PendingRequest {
    fn answer(self, reader: &mut Reader, cancel: &CancelToken, runtime: &Handle, reply: Reply) {
        let began = Instant::now();
        match self.prepare_response(reader, cancel) {
            Ok((response, None)) => drop(reply.send(Ok(response))),
            Ok((response, Some(pieces))) => {
                let mut answer = Some((reply, response));
                let written = pieces.write(cancel, runtime, &mut || {
                    if let Some((reply, response)) = answer.take() {
                        let _ = reply.send(Ok(response)); // If the client is gone, sending a piece fails.
                    }
                });
                let Err(error) = written else { return };
                let reason = reason(cancel, &error);
                if let Some((reply, _)) = answer {
                    let problem = if cancel.is_over() {
                        self.app.too_slow(self.route.lane)
                    } else {
                        error
                            .downcast::<query::Error>()
                            .map_or_else(|_| Problem::damaged(reason), Problem::from)
                    };
                    return drop(reply.send(Err(problem)));
                }
                // The answer was already logged when it began; this second line says that it is incomplete.
                let problem = format!("the answer was cut off: {reason}");
                let (method, target, took) = ("GET", self.target.as_str(), began.elapsed());
                let problem = Some(problem.as_str());
                self.app.log.write(&Entry { method, target, status: 200, took, problem });
            }
            Err(problem) => drop(reply.send(Err(problem))),
        }
    }

    fn prepare_response<'r>(
        &self,
        reader: &'r mut Reader,
        cancel: &CancelToken,
    ) -> Result<(Response, Option<StreamBody<'r>>), Problem> {
        let state = self.served.state()?;
        let tag = state.tag(&self.target);
        let tag = self.route.body.is_none().then_some(tag.as_str());
        if let Some(known) = tag.and_then(|tag| known(&self.headers, tag)) {
            return Ok((known, None));
        }
        let database = reader.database(&self.served, state.file)?;
        // All look-ups for an answer use one snapshot, so SQLite locks the file only once. Users' statements
        // and exports take their own locks.
        let snapshot = match self.route.lane {
            Lane::Quick | Lane::Search => database.snapshot()?,
            Lane::Sql | Lane::Export => None,
        };
        let answer = (self.route.answer)(&self.call, database).map_err(|problem| {
            // The error of an interrupted statement does not name the cause.
            if cancel.is_over() { self.app.too_slow(self.route.lane) } else { problem }
        })?;
        drop(snapshot);
        match answer {
            Answer::Whole { content_type, body } => {
                // If the client sends `If-None-Match: *`, any version of the answer is good enough, but the
                // answer must exist.
                let known = tag.and_then(|tag| any_known(&self.headers, tag));
                let response = known.unwrap_or_else(|| whole(&self.headers, content_type, body, tag));
                Ok((response, None))
            }
            Answer::StreamBody { content_type, file_name, write } => {
                let (body, pieces) = StreamBody::new(database, write);
                let disposition = format!("attachment; filename=\"{file_name}\"");
                let headers = [(CONTENT_TYPE, content_type), (CONTENT_DISPOSITION, &disposition)];
                Ok(((headers, body).into_response(), Some(pieces)))
            }
        }
    }
}

/// The response that reports a problem. The response contains the problem as an extension, for the log.
fn refuse(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = serde_json::to_vec(problem).unwrap_or_default();
    let headers = [(CONTENT_TYPE, Problem::CONTENT_TYPE), (CACHE_CONTROL, "no-store")];
    let retry = problem.retry_after.map(|seconds| [(RETRY_AFTER, seconds)]);
    let login = (status == StatusCode::UNAUTHORIZED)
        .then_some([(WWW_AUTHENTICATE, "Basic realm=\"pgndex\", charset=\"UTF-8\"")]);
    (status, headers, retry, login, Extension(problem.clone()), body).into_response()
}

fn text(content_type: &'static str, text: String) -> Response {
    ([(CONTENT_TYPE, content_type)], text).into_response()
}

/// Redirects from `/db/NAME`, or a view below it, to the web page. A parameter of the new address names the
/// database.
async fn database_page(State(app): State<Arc<App>>, path: RawPathParams, uri: Uri) -> Response {
    let name = segment(&path, "db").unwrap_or_default();
    if app.databases.named(Some(name)).is_none() {
        return refuse(&Problem::no_database());
    }
    let view = match segment(&path, "view") {
        Some(_) => uri.path().splitn(4, '/').last().unwrap_or_default(),
        None => "",
    };
    let query = uri.query().unwrap_or_default().to_owned();
    let query = form_urlencoded::Serializer::new(query).append_pair("db", name).finish();
    Redirect::temporary(&format!("/{view}?{query}")).into_response()
}

async fn databases(State(app): State<Arc<App>>) -> Response {
    text(JSON, serde_json::to_string(&app.databases.list()).unwrap_or_default())
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let metrics = app.metrics.text(app.clients.count(), app.log.dropped(), &app.pools);
    text("text/plain; version=0.0.4; charset=utf-8", metrics)
}

async fn index(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    static_content(&app, page::INDEX, &headers)
}

async fn static_file(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Response {
    static_content(&app, uri.path(), &headers)
}

fn static_content(app: &App, path: &str, headers: &HeaderMap) -> Response {
    match app.static_content.get(path) {
        Some(static_content) => static_content.answer(headers),
        None => refuse(&Problem::not_found("There is no such file.")),
    }
}
