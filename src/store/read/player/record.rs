//! The games of a player, from the player's point of view.

use crate::board::{Color, GameResult, MoveCode, Position};
use crate::id::{GameId, NameId};
use crate::store::cell::{Cells, GAME, GAME_POSITION};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::read::game::record::OpeningName;
use crate::store::read::selection::Selection;

const ACTION: &str = "read the games of a player";

/// A game of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    /// The game.
    pub game: GameId,
    /// The player's side.
    pub side: Color,
    /// The result.
    pub result: GameResult,
    /// The player's rating.
    pub rating: Option<u16>,
    /// The name of the opponent.
    pub opponent: Option<String>,
    /// The rating of the opponent.
    pub opponent_rating: Option<u16>,
    /// `YYYY.MM.DD`, unknown parts `??`.
    pub date: Option<String>,
    /// The speed class, as on Lichess.
    pub speed: Option<String>,
    /// The opening, found by the positions of the game.
    pub opening: Option<OpeningName>,
    /// Event.
    pub event: Option<String>,
}

impl Database {
    /// Calls `see` with the games of a selection in which one side has one of these names, in the order of
    /// the games' numbers. `names` must be in ascending order. A game in which both sides have one of these
    /// names is passed twice: for White and for Black.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn visit_played_games(
        &self,
        names: &[NameId],
        selection: &Selection,
        mut see: impl FnMut(PlayedGame),
    ) -> Result<()> {
        let mut visit = || -> rusqlite::Result<()> {
            let sql = format!(
                "SELECT game.game_id AS game_id, game.white_id, game.black_id, game.result, game.white_elo, game.black_elo,
                     game.date, game.speed, o.eco, o.name, e.name, w.name, b.name
                 FROM game
                 LEFT JOIN opening AS o USING (opening_id) LEFT JOIN event AS e USING (event_id)
                 LEFT JOIN player AS w ON w.player_id = game.white_id LEFT JOIN player AS b ON b.player_id = game.black_id
                 WHERE true{} ORDER BY 1",
                selection.sql()
            );
            let mut statement = self.connection().prepare_cached(&sql)?;
            selection.bind(&mut statement)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let cells = Cells::new(row, GAME);
                let is_player = |column| {
                    let id: Option<u32> = cells.get(column)?;
                    Ok::<_, rusqlite::Error>(id.is_some_and(|id| names.binary_search(&NameId(id)).is_ok()))
                };
                // For each side: whether the player has it, and the columns of the player's rating, the
                // opponent's rating and the opponent's name.
                for (side, has_side, [rating, opponent_rating], opponent) in
                    [(Color::White, is_player(1)?, [4, 5], 12), (Color::Black, is_player(2)?, [5, 4], 11)]
                {
                    if !has_side {
                        continue;
                    }
                    let (eco, name): (Option<String>, Option<String>) = (cells.get(8)?, cells.get(9)?);
                    see(PlayedGame {
                        game: GameId(cells.get(0)?),
                        side,
                        result: cells.get(3)?,
                        rating: cells.get(rating)?,
                        opponent: cells.get(opponent)?,
                        opponent_rating: cells.get(opponent_rating)?,
                        date: cells.get(6)?,
                        speed: cells.get(7)?,
                        opening: eco.zip(name).map(|(eco, name)| OpeningName { eco, name }),
                        event: cells.get(10)?,
                    });
                }
            }
            Ok(())
        };
        visit().map_err(|source| Error::sqlite(self.path(), ACTION, source))
    }

    /// The first moves of a game from the start position, at most `most`, which must be at least 1. `None` if
    /// the game begins at another position or has no positions.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn first_moves(&self, game: GameId, most: u32) -> Result<Option<Vec<MoveCode>>> {
        let read = || -> rusqlite::Result<Option<Vec<MoveCode>>> {
            let sql = "SELECT game_id, ply, key, move_code FROM game_position
                       WHERE game_id = ?1 AND ply < ?2 ORDER BY ply";
            let mut statement = self.connection().prepare_cached(sql)?;
            let mut rows = statement.query([game.0, most])?;
            let mut moves = None;
            while let Some(row) = rows.next()? {
                let cells = Cells::new(row, GAME_POSITION);
                if moves.is_none() {
                    if cells.get::<i64>("key")? != Position::start().key().as_i64() {
                        return Ok(None);
                    }
                    moves = Some(Vec::new());
                }
                let code: Option<u32> = cells.get("move_code")?;
                moves.iter_mut().for_each(|moves| moves.extend(code.map(MoveCode::from_stored)));
            }
            Ok(moves)
        };
        read().map_err(|source| Error::sqlite(self.path(), ACTION, source))
    }
}
