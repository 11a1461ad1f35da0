//! The table of routes: pgndex's own, below `/api`, and those of the explorer.

mod explore;
mod export;
mod games;
mod player;
mod sql;
mod survey;

pub(super) use games::pgn_of;
pub(super) use sql::guard;

use crate::server::explorer;
use crate::server::route::Route;

/// All routes to a database.
pub(super) fn routes() -> impl Iterator<Item = &'static Route> {
    let groups: [&[Route]; 7] = [
        explorer::ROUTES,
        survey::ROUTES,
        explore::ROUTES,
        games::ROUTES,
        player::ROUTES,
        sql::ROUTES,
        export::ROUTES,
    ];
    groups.into_iter().flatten()
}
