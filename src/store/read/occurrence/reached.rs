//! Finds the games that reached a position.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{ToSql, params};

use crate::board::{GameResult, MoveCode, Position, PositionKey};
use crate::id::{GameId, Level};
use crate::store::block_games::BlockGames;
use crate::store::block_set::{decode_within, game_of};
use crate::store::cell::{Cells, GAME, GAME_POSITION};
use crate::store::read::game_column::{BlockColumns, ColumnError, Outcomes, if_known};
use crate::store::read::occurrence::hit::join;
use crate::store::read::occurrence::visit::{LevelGames, for_each_visit_set, level_games};
use crate::store::row::day_number;
use crate::store::visit_set::take_move;
use crate::store::{Database, Lines, Result, Selection};

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

impl ReachedGame {
    /// The game with this number in a block; `None` if the game does not exist or has an invalid result. If
    /// somebody deleted a game through SQL, the sets still contain it.
    #[inline]
    pub(super) fn of(outcomes: &Outcomes, block: u32, number: u16, played: Option<MoveCode>) -> Option<Self> {
        let result = outcomes.result(number)?;
        let (game, elos, day) = (game_of(block, number), outcomes.elos(number), outcomes.day(number));
        Some(Self { game, played, result, elos, day })
    }
}

/// A position to explore, in a database.
#[derive(Clone, Copy)]
pub(super) struct ExploreTarget<'a> {
    pub(super) database: &'a Database,
    pub(super) key: PositionKey,
    pub(super) fen: &'a str,
}

impl ExploreTarget<'_> {
    /// The levels that have a row for the position in `level_position`, and the other levels.
    pub(super) fn levels(&self) -> rusqlite::Result<[Vec<LevelGames>; 2]> {
        let connection = self.database.connection();
        let (mut counted, mut others) = (Vec::new(), Vec::new());
        let sql = "SELECT 1 FROM level_position WHERE level = ?1 AND key = ?2 AND fen = ?3";
        let mut statement = connection.prepare_cached(sql)?;
        for level in level_games(connection)? {
            let has_row = statement.exists(params![level.level.0, self.key.as_i64(), self.fen])?;
            (if has_row { &mut counted } else { &mut others }).push(level);
        }
        Ok([counted, others])
    }

    /// Calls `see` with each game of a selection that reached the position, in the order of ids, and with the
    /// last move that the game played from the position. If `levels` is given, reads only these levels.
    /// Otherwise reads all levels; if the selection has far fewer games than the position has occurrences,
    /// the search starts from these games.
    pub(super) fn for_each_game(
        &self,
        selection: &Selection,
        levels: Option<&[LevelGames]>,
        see: &mut dyn FnMut(ReachedGame),
    ) -> rusqlite::Result<()> {
        /// The games of the selection are counted up to this number, to determine whether they are much fewer
        /// than the occurrences of the position.
        const COUNTED: u32 = 50_000;
        let games_first =
            levels.is_none() && self.database.has_fewer_games(selection, self.key, Lines::Main, COUNTED)?;
        if levels.is_some_and(<[_]>::is_empty) {
            return Ok(());
        }
        let levels = levels.map(|levels| {
            let levels: Vec<Level> = levels.iter().map(|level| level.level).collect();
            serde_json::json!(levels).to_string()
        });
        // Joins `game` before `game_position`. The rows of `game_position` are on many more pages than those
        // of `game`, so they should be read only for games of the selection.
        let sql = format!(
            "SELECT o.game_id, p.move_code, game.result, game.white_elo, game.black_elo, game.date
             FROM {} CROSS JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
             WHERE o.key = :key AND p.fen = :fen{}{} ORDER BY {}o.game_id, o.ply",
            join(games_first),
            if levels.is_some() { " AND l.level IN (SELECT value FROM json_each(:levels))" } else { "" },
            selection.sql(),
            if games_first { "" } else { "l.level, " }
        );
        let key = self.key.as_i64();
        let mut params: Vec<(&str, &dyn ToSql)> = vec![(":key", &key), (":fen", &self.fen)];
        params.extend(levels.iter().map(|levels| (":levels", levels as &dyn ToSql)));
        let mut statement = selection.prepare(self.database.connection(), &sql, &params)?;
        let mut rows = statement.raw_query();
        let mut latest: Option<ReachedGame> = None;
        while let Some(row) = rows.next()? {
            let cells = Cells::new(row, GAME);
            let occurrence = ReachedGame {
                game: cells.get(0)?,
                played: Cells::new(row, GAME_POSITION).get(1)?,
                result: cells.get(2)?,
                elos: [cells.get(3)?, cells.get(4)?],
                day: cells.get::<Option<&str>>(5)?.map_or(0, day_number),
            };
            match latest {
                Some(last) if last.game != occurrence.game => see(last),
                // The game returned to the position and ended there. It counts with the move that it played
                // there before.
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

/// Finds the games of a selection that reached a position, for one position after another. For positions that
/// have visit sets, the filters are evaluated once per block, not once per block and position.
pub struct ReachedGames<'d> {
    database: &'d Database,
    selection: &'d Selection,
    /// The blocks read so far.
    blocks: HashMap<u32, SelectedBlock>,
}

/// The games of a block that match the filters, and the results, ratings and dates of all games of the block.
struct SelectedBlock {
    selected: BlockGames,
    outcomes: Outcomes,
}

impl<'d> ReachedGames<'d> {
    /// Prepares a search. Nothing is read yet.
    #[must_use]
    pub fn new(database: &'d Database, selection: &'d Selection) -> Self {
        Self { database, selection, blocks: HashMap::new() }
    }

    /// Folds over the games of the selection that reached a position, each once, in no particular order.
    /// `new` creates the accumulator, and `see` updates it. If the fold has to start again, `new` is called a
    /// second time.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn fold<T>(
        &mut self,
        position: &Position,
        new: impl Fn() -> T,
        mut see: impl FnMut(&mut T, ReachedGame),
    ) -> Result<T> {
        let fen = position.canonical_fen();
        let target = ExploreTarget { database: self.database, key: position.key(), fen: &fen };
        let _snapshot = self.database.snapshot()?;
        let mut made = new();
        let mut visit = || {
            let [counted, others] = target.levels()?;
            let found = self.visit_sets(position, &counted, |game| see(&mut made, game));
            let levels = if if_known(found)?.is_some() {
                Some(&*others)
            } else {
                // The sets or columns cannot be used: start again, and read rows.
                made = new();
                None
            };
            target.for_each_game(self.selection, levels, &mut |game| see(&mut made, game))
        };
        visit().map_err(self.database.failed(ACTION))?;
        Ok(made)
    }

    /// Calls `see` with each game of the selection that is in the visit sets of the position in these levels.
    fn visit_sets(
        &mut self,
        position: &Position,
        levels: &[LevelGames],
        mut see: impl FnMut(ReachedGame),
    ) -> std::result::Result<(), ColumnError> {
        let (connection, selection, blocks) = (self.database.connection(), self.selection, &mut self.blocks);
        for_each_visit_set(connection, levels, position.key(), |block, mut games| {
            let SelectedBlock { selected, outcomes } = match blocks.entry(block) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let columns = BlockColumns::new(connection, block);
                    unknown.insert(SelectedBlock {
                        selected: columns.selected(selection)?,
                        outcomes: columns.outcomes()?,
                    })
                }
            };
            while !games.is_empty() {
                let (played, set) = take_move(games).ok_or(ColumnError::Missing)?;
                let played = match played.played() {
                    Some(short) => Some(position.clone().make_short(short).ok_or(ColumnError::Missing)?),
                    None => None,
                };
                let rest = decode_within(
                    set,
                    |word| selected.word(word),
                    |number| _ = ReachedGame::of(outcomes, block, number, played).map(&mut see),
                );
                games = rest.ok_or(ColumnError::Missing)?;
            }
            Ok::<_, ColumnError>(())
        })?
        .ok_or(ColumnError::Missing)
    }
}
