//! Rows of `game_position` and `occurrence`.

use super::description::{columns, table_row};
use super::text::Text;
use crate::board::{MoveCode, PositionKey};
use crate::id::{GameId, Level, Ply};

/// The game and ply of a position with a key.
///
/// One 128-bit number, so that sorting compares once: the key (biased, so that unsigned order is SQLite's signed
/// order), then the game, then the ply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence(u128);

impl Occurrence {
    const SIGN: u64 = 1 << 63;

    /// The occurrence of the position `key` in `game` at `ply`.
    #[must_use]
    pub const fn new(key: PositionKey, game: GameId, ply: Ply) -> Self {
        Self(((key.0 ^ Self::SIGN) as u128) << 64 | (game.0 as u128) << 32 | ply.0 as u128)
    }

    /// The position's key.
    #[must_use]
    pub const fn key(self) -> PositionKey {
        PositionKey((self.0 >> 64) as u64 ^ Self::SIGN)
    }

    /// The game.
    #[must_use]
    pub const fn game(self) -> GameId {
        GameId((self.0 >> 32) as u32)
    }

    /// The ply.
    #[must_use]
    pub const fn ply(self) -> Ply {
        Ply(self.0 as u32)
    }
}

/// One row of `occurrence`, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OccurrenceRow {
    /// The level that the game belongs to.
    pub level: Level,
    /// The position, game and ply.
    pub occurrence: Occurrence,
}

impl OccurrenceRow {
    /// The lower bound of all rows of a level.
    #[must_use]
    pub const fn first_of(level: Level) -> Self {
        Self { level, occurrence: Occurrence(0) }
    }
}

/// Rows of `occurrence`, sorted.
pub(in crate::store) struct Occurrences;

columns! {
    Occurrences: OccurrenceRow in "occurrence",
    |batch: [OccurrenceRow]| batch, "";
    |row| {
        "level" => row.level,
        "key" => row.occurrence.key(),
        "game_id" => row.occurrence.game(),
        "ply" => row.occurrence.ply(),
    }
}

table_row! {
    /// One row of `game_position`. Its FEN is stored in the batch's text.
    #[derive(Clone, Copy, Debug)]
    pub struct PositionRow in "game_position" of PositionBatch.rows {
        /// The game.
        "game_id" pub game: GameId,
        /// The ply: 0 is the start position.
        "ply" pub ply: Ply,
        /// The position's key.
        "key" pub key: PositionKey,
        /// Half-moves since the last capture or pawn move.
        "halfmove_clock" pub halfmove_clock: u32,
        /// The move played from this position; `None` after the last move.
        "move_code" pub move_code: Option<MoveCode>,
        /// The canonical four-field FEN, in the batch's text.
        "fen" pub fen: Text,
    }
}

/// Rows of `game_position` in key order (game, then ply).
#[derive(Debug, Default)]
pub struct PositionBatch {
    /// The rows.
    pub rows: Vec<PositionRow>,
    /// The FENs of all rows, concatenated.
    pub text: String,
}

impl PositionBatch {
    /// Clears the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.text.clear();
    }
}
