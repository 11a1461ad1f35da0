//! The table of routes: pgndex's own, below `/api`, and those of the explorer.

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

use crate::server::explorer;
use crate::server::route::Route;

/// All routes to a database.
pub(super) fn routes() -> impl Iterator<Item = &'static Route> {
    let groups: [&[Route]; 10] = [
        explorer::ROUTES,
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
