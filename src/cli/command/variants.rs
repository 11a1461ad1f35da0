//! Notes on variations, and on positions with the same placement that were reached more often than the given
//! one.

use pgndex::board::Position;
use pgndex::query::{Difference, Variant, variants};
use pgndex::store::{Database, HitCount, Lines};

use crate::cli::render::number::{counted, grouped};
use crate::cli::terminal::log::note;

/// Prints positions with the same pieces on the same squares that many more games reached.
///
/// # Errors
/// Errors of SQLite.
pub(crate) fn note_variants(database: &Database, position: &Position, lines: Lines) -> anyhow::Result<()> {
    for Variant { fen, differences, reached } in variants(database, position, lines)? {
        let names: Vec<_> = differences.into_iter().map(name).collect();
        note(&format!(
            "{} the same placement with {}: {fen}",
            games_that_reached(reached),
            names.join(" and ")
        ));
    }
    Ok(())
}

/// The lines to search. Prints a note if variations are requested and there are none.
///
/// # Errors
/// If the database is of a version that has no variations; errors of SQLite.
pub(crate) fn read_lines(database: &Database, variations: bool) -> anyhow::Result<Lines> {
    if !variations {
        return Ok(Lines::Main);
    }
    if !database.has_variations()? {
        note(
            "no game of this database has a variation; `index --annotations all` stores the variations of the PGN",
        );
    }
    Ok(Lines::All)
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
