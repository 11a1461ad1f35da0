//! Which address leads to what: the router and the description of the API are made from this table.

use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, Param};
use crate::server::{api, explorer};
use crate::store::Database;

/// An address below the root or below `/db/NAME`, and what it leads to.
pub(super) struct Route {
    pub(super) method: Method,
    /// `{name}` stands for a part that varies.
    pub(super) path: &'static str,
    /// What is to be had there, for the description.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(super) summary: &'static str,
    pub(super) params: Params,
    pub(super) lane: Lane,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(super) shape: Shape,
    pub(super) answer: fn(&Call, &Database) -> Result<Answer, Problem>,
}

/// What is sent with a request.
#[derive(Clone, Copy)]
pub(super) enum Method {
    Get,
    /// So many bytes at most of this kind are sent along.
    Post {
        most: usize,
        body: Shape,
    },
}

/// Which parameters there are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Params {
    /// These, and no others.
    Exactly(&'static [&'static [Param]]),
    /// These; what is not known is passed over, as clients of the explorer send all kinds of them.
    Among(
        #[cfg_attr(
            not(test),
            expect(dead_code, reason = "only the test that writes the description reads it")
        )]
        &'static [Param],
    ),
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// What is answered at once.
    Quick,
    /// What may look at many games.
    Search,
    /// SQL of somebody else.
    Sql,
    /// What is sent as it is read.
    Export,
}

/// All addresses that ask a database.
pub(super) fn routes() -> impl Iterator<Item = &'static Route> {
    explorer::ROUTES.iter().chain(api::routes())
}
