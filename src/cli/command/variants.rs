//! Positions with the same placement that were reached more often than the one asked for.

use pgndex::board::Position;
use pgndex::store::{Database, HitCount, HitOrder, Search, Selection};

use crate::cli::note;
use crate::cli::render::number::{counted, grouped};

/// So many times as many games are many more.
const MANY: u64 = 10;

/// Tells of positions with the same pieces on the same squares that many more games reached; any games are more than none.
///
/// # Errors
/// What SQLite says.
pub(crate) fn tell_variants(database: &Database, position: &Position) -> anyhow::Result<()> {
    let own = match count_games(database, position)? {
        HitCount::Exact { games, .. } | HitCount::Games(games) => games,
        // Nobody overlooks so many.
        HitCount::AtLeast(_) => return Ok(()),
    };
    for other in position.same_placement() {
        let count = count_games(database, &other)?;
        let (HitCount::Exact { games, .. } | HitCount::Games(games) | HitCount::AtLeast(games)) = count;
        if games > own * MANY {
            let fen = other.canonical_fen();
            let how = difference(&position.canonical_fen(), &fen);
            note(&format!("{} it with {how}: {fen}", games_that_reached(count)));
        }
    }
    Ok(())
}

/// How many games of the whole database reached a position.
pub(crate) fn count_games(database: &Database, position: &Position) -> anyhow::Result<HitCount> {
    Ok(database.count_hits(&Search {
        key: position.key(),
        fen: &position.canonical_fen(),
        selection: &Selection::default(),
        order: HitOrder::Game,
        limit: None,
        offset: 0,
    })?)
}

/// In what two canonical FENs of the same placement differ.
fn difference(wanted: &str, other: &str) -> String {
    let fields = wanted.split(' ').zip(other.split(' ')).skip(1);
    let names = ["the other side to move", "other castling rights", "another en-passant square"];
    let differing: Vec<_> =
        fields.zip(names).filter(|((wanted, other), _)| wanted != other).map(|(_, name)| name).collect();
    differing.join(" and ")
}

pub(crate) fn games_that_reached(count: HitCount) -> String {
    match count {
        HitCount::Exact { games, .. } | HitCount::Games(games) => {
            format!("{} reached", counted(games, "game"))
        }
        HitCount::AtLeast(games) => format!("{} or more games reached", grouped(games)),
    }
}
