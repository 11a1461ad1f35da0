//! pgndex's own routes, below `/api`.

mod explore;
mod export;
mod game;
mod games;
mod names;
mod player;
mod position;
mod sql;
mod survey;

pub(super) use sql::guard;

use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, Param};
use crate::server::route::{Lane, Method, Params, Route};
use crate::store::Database;

/// How many players are listed if a filter's name matches several.
const NAMED: usize = 6;

/// All routes.
pub(super) fn routes() -> impl Iterator<Item = &'static Route> {
    let groups: [&[Route]; 9] = [
        survey::ROUTES,
        position::ROUTES,
        explore::ROUTES,
        games::ROUTES,
        game::ROUTES,
        player::ROUTES,
        names::ROUTES,
        sql::ROUTES,
        export::ROUTES,
    ];
    groups.into_iter().flatten()
}

/// A route with parameters only.
const fn get(
    path: &'static str,
    summary: &'static str,
    params: &'static [&'static [Param]],
    lane: Lane,
    shape: Shape,
    answer: fn(&Call, &Database) -> Result<Answer, Problem>,
) -> Route {
    Route { method: Method::Get, path, summary, params: Params::Exactly(params), lane, shape, answer }
}

/// A route with a request body of a type, of at most this many bytes.
const fn post(
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
