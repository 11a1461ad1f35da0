//! Our own addresses, below `/api`.

mod explore;
mod game;
mod games;
mod info;
mod position;

use crate::server::answer::{Answer, Problem};
use crate::server::request::{Call, Param};
use crate::server::route::{Lane, Method, Params, Route};
use crate::store::Database;

/// All of them.
pub(super) fn routes() -> impl Iterator<Item = &'static Route> {
    [info::ROUTES, position::ROUTES, explore::ROUTES, games::ROUTES, game::ROUTES].into_iter().flatten()
}

/// An address that is asked with parameters alone.
const fn get(
    path: &'static str,
    summary: &'static str,
    params: &'static [&'static [Param]],
    lane: Lane,
    content_type: &'static str,
    answer: fn(&Call, &Database) -> Result<Answer, Problem>,
) -> Route {
    Route { method: Method::Get, path, summary, params: Params::Exactly(params), lane, content_type, answer }
}
