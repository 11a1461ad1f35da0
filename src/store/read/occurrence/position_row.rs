//! Reads all positions of chosen games, from rows or by replaying the moves.

use rusqlite::named_params;

use crate::board::{MAX_CANONICAL_FEN, MoveCode, Position};
use crate::store::cell::{Cells, GAME_POSITION, VARIATION_MOVE};
use crate::store::layout::Layout;
use crate::store::layout::replayed::Replay;
use crate::store::read::occurrence::scan::GameRange;
use crate::store::row::{GameId, Ply};
use crate::store::{Database, Lines, Selection};

/// A position that is being read. Columns are read only if needed.
#[derive(Clone, Copy)]
pub(super) enum PositionRow<'r> {
    Stored(Cells<'r>),
    Replayed(&'r Replay),
}

impl PositionRow<'_> {
    pub(super) fn game(self) -> rusqlite::Result<GameId> {
        match self {
            Self::Stored(cells) => cells.get(0),
            Self::Replayed(game) => Ok(game.id()),
        }
    }

    /// The number of the variation; 0 for the main line.
    pub(super) fn line(self) -> rusqlite::Result<u32> {
        match self {
            Self::Stored(cells) => cells.get(1),
            Self::Replayed(_) => Ok(0),
        }
    }

    pub(super) fn ply(self) -> rusqlite::Result<Ply> {
        match self {
            Self::Stored(cells) => cells.get(2),
            Self::Replayed(game) => Ok(game.ply()),
        }
    }

    /// The move played from the position; `None` at the end of a game, and for all positions of variations.
    pub(super) fn played(self) -> rusqlite::Result<Option<MoveCode>> {
        match self {
            Self::Stored(cells) => cells.get(4),
            Self::Replayed(game) => Ok(game.next_move().map(|(code, _)| code)),
        }
    }
}

impl Database {
    /// Calls `see` with the FEN and the row of each position, in order. Visits those games of a selection that
    /// have an id in `ranges`. Reads only main lines or, with [`Lines::All`], only variations.
    pub(super) fn each_position(
        &self,
        selection: &Selection,
        lines: Lines,
        ranges: &[GameRange],
        mut see: impl FnMut(&[u8], PositionRow<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let is_replayed = lines == Lines::Main && self.layout() == Layout::Compact;
        let table = if lines == Lines::Main { GAME_POSITION } else { VARIATION_MOVE };
        let (sql, start) = (sql(selection, lines, is_replayed), Position::start());
        for (first, last) in ranges {
            let params = named_params! { ":first": first.0, ":last": last.0 };
            if !is_replayed {
                selection.each(self.connection(), table, &sql, params, |cells| {
                    see(cells.get::<&str>(3)?.as_bytes(), PositionRow::Stored(cells))
                })?;
                continue;
            }
            let mut statement = selection.prepare(self.connection(), &sql, params)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let Ok(mut game) = Replay::read(row, &start) else { continue };
                game.keep_placement();
                game.each(|game| see(game.fen(&mut [0; MAX_CANONICAL_FEN]), PositionRow::Replayed(game)))?;
            }
        }
        Ok(())
    }
}

fn sql(selection: &Selection, lines: Lines, is_replayed: bool) -> String {
    // In variations, a move is stored with the position after it; in main lines, with the position before it.
    let (table, columns, order) = match lines {
        Lines::Main if is_replayed => ("game_moves", "p.moves, game.start_fen", ""),
        Lines::Main => ("game_position", "0 AS line, p.ply, p.fen, p.move_code", ", p.ply"),
        Lines::All => ("variation_move", "p.line, p.ply, p.fen, NULL AS move_code", ", p.line, p.ply"),
    };
    if selection.is_all() && !is_replayed {
        return format!(
            "SELECT p.game_id, {columns} FROM {table} AS p WHERE p.game_id BETWEEN :first AND :last ORDER BY p.game_id{order}"
        );
    }
    format!(
        "SELECT p.game_id, {columns} FROM game CROSS JOIN {table} AS p ON p.game_id = game.game_id
         WHERE game.game_id BETWEEN :first AND :last{} ORDER BY game.game_id{order}",
        selection.sql()
    )
}
