//! The table of routes, from which the router and the API description are built.

use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, Param};
use crate::server::{api, explorer};
use crate::store::Database;

/// A path below the root or below `/db/NAME`, and its handler.
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
    /// The request has a body of this type, of at most this many bytes.
    Post {
        most: usize,
        body: Shape,
    },
}

/// The parameters of a route.
#[derive(Clone, Copy, Debug)]
pub(super) enum Params {
    /// These, and no others.
    Exactly(&'static [&'static [Param]]),
    /// These; others are ignored, because clients of the explorer send various parameters.
    Among(
        #[cfg_attr(
            not(test),
            expect(dead_code, reason = "only the test that writes the description reads it")
        )]
        &'static [Param],
    ),
}

/// The thread pool that answers.
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

/// All routes to a database.
pub(super) fn routes() -> impl Iterator<Item = &'static Route> {
    explorer::ROUTES.iter().chain(api::routes())
}
