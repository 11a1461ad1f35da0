//! Notes on positions with the same placement that were reached more often than the one asked for.

use pgndex::board::Position;
use pgndex::query::{Difference, Variant, variants};
use pgndex::store::{Database, HitCount};

use crate::cli::note;
use crate::cli::render::number::{counted, grouped};

/// Tells of positions with the same pieces on the same squares that many more games reached.
///
/// # Errors
/// What SQLite says.
pub(crate) fn tell_variants(database: &Database, position: &Position) -> anyhow::Result<()> {
    for Variant { fen, differences, reached } in variants(database, position)? {
        let names: Vec<_> = differences.into_iter().map(name).collect();
        note(&format!("{} it with {}: {fen}", games_that_reached(reached), names.join(" and ")));
    }
    Ok(())
}

const fn name(difference: Difference) -> &'static str {
    match difference {
        Difference::Side => "the other side to move",
        Difference::Castling => "other castling rights",
        Difference::EnPassant => "another en-passant square",
    }
}

pub(crate) fn games_that_reached(count: HitCount) -> String {
    match count {
        HitCount::Exact { games, .. } | HitCount::Games(games) => {
            format!("{} reached", counted(games, "game"))
        }
        HitCount::AtLeast(games) => format!("{} or more games reached", grouped(games)),
    }
}
