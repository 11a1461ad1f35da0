//! Games with the data by which duplicates are found.

use rusqlite::{Connection, Row};

use crate::board::{GameResult, MoveCode, ShortMove};
use crate::store::cell::{Cells, GAME, GAME_POSITION, read_rows};
use crate::store::row::{GameId, GameStatus};

/// The data by which a game is compared with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedGame {
    /// The game.
    pub game: GameId,
    /// How much of the game could be replayed.
    pub status: GameStatus,
    /// Six-field FEN of the start position; `None`: the standard position.
    pub start_fen: Option<String>,
    /// White's name, if known.
    pub white: Option<String>,
    /// Black's name, if known.
    pub black: Option<String>,
    /// The date, if known.
    pub date: Option<String>,
    /// The result.
    pub result: GameResult,
    /// The moves.
    pub moves: Vec<ShortMove>,
}

impl ComparedGame {
    /// The columns of `game` to read.
    pub(crate) const COLUMNS: &str =
        "game_id, status, start_fen, (SELECT name FROM player WHERE player_id = white_id),
         (SELECT name FROM player WHERE player_id = black_id), date, result";

    /// Reads a row of [`COLUMNS`](Self::COLUMNS), and the moves of the game.
    pub(crate) fn read(row: &Row<'_>, connection: &Connection) -> rusqlite::Result<Self> {
        const MOVES: &str =
            "SELECT move_code FROM game_position WHERE game_id = ?1 AND move_code IS NOT NULL ORDER BY ply";
        let cells = Cells::new(row, GAME);
        let game: u32 = cells.get(0)?;
        let status: &str = cells.get(1)?;
        let statuses = [GameStatus::Ok, GameStatus::Truncated, GameStatus::Skipped];
        let read =
            |row: &Row<'_>| Ok(ShortMove::new(MoveCode::from_stored(Cells::new(row, GAME_POSITION).get(0)?)));
        Ok(Self {
            game: GameId(game),
            status: statuses.into_iter().find(|known| known.as_str() == status).unwrap_or_default(),
            start_fen: cells.get(2)?,
            white: cells.get(3)?,
            black: cells.get(4)?,
            date: cells.get(5)?,
            result: GameResult::parse(cells.get::<&str>(6)?.as_bytes()).unwrap_or_default(),
            moves: read_rows(&mut *connection.prepare_cached(MOVES)?, [game], read)?,
        })
    }
}
