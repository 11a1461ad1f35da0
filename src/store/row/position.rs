//! Rows of `game_position` and `occurrence`.

use crate::board::PositionKey;
use crate::id::{GameId, Level, Ply};

/// An occurrence of a position: its key, the game and the ply.
///
/// It is stored as one 128-bit number, so that sorting needs a single comparison: the key (biased, so that
/// unsigned order is SQLite's signed order), then the game, then the ply.
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

/// The columns of `game_position`.
pub(crate) const POSITION_COLUMNS: &[&str] = &["game_id", "ply", "key", "halfmove_clock", "move_code", "fen"];
