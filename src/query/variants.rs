//! Finds positions with the same placement that were reached more often than the given one.

use serde::Serialize;

use crate::board::Position;
use crate::store::{self, Database, HitCount, HitOrder, Lines, Search, Selection};

/// A position counts as reached by many more games than another if the ratio of the numbers exceeds this.
const MANY: u64 = 10;

/// A position with the same pieces on the same squares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// The canonical FEN of the position.
    pub fen: String,
    /// The fields in which its FEN differs from that of the given position.
    pub differences: Vec<Difference>,
    /// The number of games that reached it.
    pub reached: HitCount,
}

/// A field of a FEN in which positions with the same placement differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The side to move.
    Side,
    /// Castling rights.
    Castling,
    /// The en-passant square.
    EnPassant,
}

/// Finds positions with the same pieces on the same squares that many more games of the database reached than
/// the given one; `lines` says which lines count. If no game reached the given position, any number counts as
/// many more.
///
/// # Errors
/// Errors of SQLite.
pub fn variants(database: &Database, position: &Position, lines: Lines) -> store::Result<Vec<Variant>> {
    let many = match count_games(database, position, lines)? {
        HitCount::Exact { games, .. } | HitCount::Games(games) => games.saturating_mul(MANY),
        // With so many games, the given position is certainly the one meant.
        HitCount::AtLeast(_) => return Ok(Vec::new()),
    };
    if database.last_game()?.is_none_or(|last| many >= last.0.into()) {
        // The database does not have that many games.
        return Ok(Vec::new());
    }
    let mut variants = Vec::new();
    for other in position.same_placement() {
        let reached = count_games(database, &other, lines)?;
        let (HitCount::Exact { games, .. } | HitCount::Games(games) | HitCount::AtLeast(games)) = reached;
        if games > many {
            let fen = other.canonical_fen();
            let differences = differences(&position.canonical_fen(), &fen);
            variants.push(Variant { fen, differences, reached });
        }
    }
    Ok(variants)
}

/// The number of games of the whole database that reached a position.
pub(super) fn count_games(database: &Database, position: &Position, lines: Lines) -> store::Result<HitCount> {
    database.count_hits(&Search {
        key: position.key(),
        fen: &position.canonical_fen(),
        lines,
        selection: &Selection::default(),
        order: HitOrder::Game,
        limit: None,
        offset: 0,
    })
}

/// The differences of two canonical FENs with the same placement.
fn differences(wanted: &str, other: &str) -> Vec<Difference> {
    let fields = wanted.split(' ').zip(other.split(' ')).skip(1);
    let differences = [Difference::Side, Difference::Castling, Difference::EnPassant];
    fields.zip(differences).filter(|((wanted, other), _)| wanted != other).map(|(_, field)| field).collect()
}
