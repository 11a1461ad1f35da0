//! Routes: paths, their parameters and their handlers.

use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, Param};
use crate::store::Database;

/// A path and its handler. The path is served as it is, and also below `/db/NAME`.
pub(super) struct Route {
    /// The path; a segment in braces, such as `{id}`, is variable.
    pub(super) path: &'static str,
    /// A summary for the API description.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(super) summary: &'static str,
    pub(super) params: &'static [&'static [Param]],
    /// Whether unknown parameters and most invalid values are ignored. Clients of Lichess's explorer send
    /// parameters that this server does not know.
    pub(super) is_lenient: bool,
    /// For `POST` requests: the maximum size of the body in bytes, and its type. `None` for a route for
    /// `GET`.
    pub(super) body: Option<(usize, Shape)>,
    pub(super) lane: Lane,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(super) shape: Shape,
    pub(super) answer: Handler,
}

pub(super) type Handler = fn(&Call, &Database) -> Result<Answer, Problem>;

/// The kinds of requests; each has its own thread pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Quick requests.
    Quick,
    /// Requests that can read many games.
    Search,
    /// Users' SQL statements.
    Sql,
    /// Exports, which are sent while the games are read.
    Export,
}

/// Creates a route for `GET`. [`Route::takes`] turns it into a route for `POST`.
pub(super) const fn route(path: &'static str, answer: Handler, lane: Lane, shape: Shape) -> Route {
    Route { path, summary: "", params: &[], is_lenient: false, body: None, lane, shape, answer }
}

impl Route {
    pub(super) const fn about(self, summary: &'static str, params: &'static [&'static [Param]]) -> Self {
        Self { summary, params, ..self }
    }

    /// Makes this a route for `POST`, with a body of the type `body` and at most `most` bytes.
    pub(super) const fn takes(self, most: usize, body: Shape) -> Self {
        Self { body: Some((most, body)), ..self }
    }

    pub(super) const fn lenient(self) -> Self {
        Self { is_lenient: true, ..self }
    }
}
