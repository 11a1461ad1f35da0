//! Routes: paths, their parameters and their handlers.

use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, Param};
use crate::store::Database;

/// A path and its handler. The path is served as it is, and also below `/db/NAME`.
pub(super) struct Route {
    pub(super) method: Method,
    /// `{name}` is a variable segment.
    pub(super) path: &'static str,
    /// A summary for the API description.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(super) summary: &'static str,
    pub(super) params: Params,
    pub(super) lane: Lane,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(super) shape: Shape,
    pub(super) answer: fn(&Call, &Database) -> Result<Answer, Problem>,
}

/// The method of a request.
#[derive(Clone, Copy)]
pub(super) enum Method {
    Get,
    /// The request has a body of the type `body`, of at most `most` bytes.
    Post {
        most: usize,
        body: Shape,
    },
}

/// The parameters of a route.
#[derive(Clone, Copy, Debug)]
pub(super) enum Params {
    /// These parameters; requests with other parameters are refused.
    Exactly(&'static [&'static [Param]]),
    /// These parameters; other parameters are ignored, because clients of the explorer send various parameters.
    Among(
        #[cfg_attr(
            not(test),
            expect(dead_code, reason = "only the test that writes the description reads it")
        )]
        &'static [Param],
    ),
}

/// The thread pool that answers requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Quick requests.
    Quick,
    /// Requests that may read many games.
    Search,
    /// Users' SQL statements.
    Sql,
    /// Exports, sent while they are read.
    Export,
}

/// A route for `GET`: its requests have no body.
pub(super) const fn get(
    path: &'static str,
    summary: &'static str,
    params: &'static [&'static [Param]],
    lane: Lane,
    shape: Shape,
    answer: fn(&Call, &Database) -> Result<Answer, Problem>,
) -> Route {
    Route { method: Method::Get, path, summary, params: Params::Exactly(params), lane, shape, answer }
}

/// A route for `POST`, with a request body of the type `body`, of at most `most` bytes.
pub(super) const fn post(
    path: &'static str,
    summary: &'static str,
    params: &'static [&'static [Param]],
    lane: Lane,
    (most, body): (usize, Shape),
    shape: Shape,
    answer: fn(&Call, &Database) -> Result<Answer, Problem>,
) -> Route {
    let method = Method::Post { most, body };
    Route { method, path, summary, params: Params::Exactly(params), lane, shape, answer }
}
