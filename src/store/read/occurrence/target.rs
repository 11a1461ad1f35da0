//! A position to explore, and the games that reached it, one by one.

use rusqlite::{Row, params};

use crate::board::{GameResult, MoveCode, PositionKey};
use crate::id::GameId;
use crate::store::cell::{Cells, GAME, GAME_POSITION};
use crate::store::database::Database;
use crate::store::error::Error;
use crate::store::read::filter::bind;
use crate::store::read::occurrence::hit::{Lines, join, shares_key};
use crate::store::read::selection::Selection;
use crate::store::row::day_number;

pub(super) const ACTION: &str = "explore a position";

/// A game that reached a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachedGame {
    /// The game.
    pub game: GameId,
    /// The last move that the game played from the position; `None` if it played no move from there.
    pub played: Option<MoveCode>,
    /// The result of the game.
    pub result: GameResult,
    /// White's and Black's rating, if known.
    pub elos: [Option<u16>; 2],
    /// A number that increases with the date; unknown parts count as 0.
    pub day: u32,
}

/// A position to explore, in a database.
#[derive(Clone, Copy)]
pub(super) struct ExploreTarget<'a> {
    pub(super) database: &'a Database,
    pub(super) key: PositionKey,
    pub(super) fen: &'a str,
}

impl ExploreTarget<'_> {
    pub(super) fn failed(&self) -> impl Fn(rusqlite::Error) -> Error {
        |source| Error::sqlite(self.database.path(), ACTION, source)
    }

    /// Whether the position is a visited position whose sets cannot contain games of another position.
    pub(super) fn has_sets(&self) -> rusqlite::Result<bool> {
        let sql = "SELECT 1 FROM visited_position WHERE key = ?1 AND fen = ?2";
        let mut statement = self.database.connection().prepare_cached(sql)?;
        Ok(statement.exists(params![self.key.as_i64(), self.fen])? && !shares_key(self.fen))
    }

    /// Calls `see` with each game of a selection that reached the position, in order, at the occurrence that
    /// [counts](Self::counted_occurrence). If the position `may_be_frequent`, starts from the games of the
    /// selection if they are much fewer than the occurrences of the position.
    pub(super) fn for_each_game(
        &self,
        selection: &Selection,
        may_be_frequent: bool,
        see: &mut dyn FnMut(ReachedGame),
    ) -> rusqlite::Result<()> {
        /// The games of the selection are counted up to this number, to determine whether they are much fewer
        /// than the occurrences of the position.
        const COUNTED: u32 = 50_000;
        let games_first =
            may_be_frequent && self.database.has_fewer_games(selection, self.key, Lines::Main, COUNTED)?;
        // Checks a game before its positions, which are on many more pages.
        let sql = format!(
            "SELECT o.game_id, p.move_code, game.result, game.white_elo, game.black_elo, game.date
             FROM {} CROSS JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
             WHERE o.key = :key AND p.fen = :fen{} ORDER BY {}o.game_id, o.ply",
            join(games_first),
            selection.sql(),
            if games_first { "" } else { "l.level, " }
        );
        let mut statement = self.database.connection().prepare_cached(&sql)?;
        selection.bind(&mut statement)?;
        bind(&mut statement, ":key", self.key.as_i64())?;
        bind(&mut statement, ":fen", self.fen)?;
        let mut rows = statement.raw_query();
        let mut latest: Option<ReachedGame> = None;
        while let Some(row) = rows.next()? {
            let occurrence = read_occurrence(row)?;
            match latest {
                Some(last) if last.game != occurrence.game => see(last),
                // The game returned to the position and ended there: it counts with the last move played from
                // the position.
                Some(_) if occurrence.played.is_none() => continue,
                _ => {}
            }
            latest = Some(occurrence);
        }
        if let Some(last) = latest {
            see(last);
        }
        Ok(())
    }
}

/// Reads a game at one occurrence of the position.
fn read_occurrence(row: &Row<'_>) -> rusqlite::Result<ReachedGame> {
    let cells = Cells::new(row, GAME);
    Ok(ReachedGame {
        game: GameId(cells.get(0)?),
        played: Cells::new(row, GAME_POSITION).get::<Option<u32>>(1)?.map(MoveCode::from_stored),
        result: cells.get(2)?,
        elos: [cells.get(3)?, cells.get(4)?],
        day: cells.get::<Option<&str>>(5)?.map_or(0, day_number),
    })
}
