//! Counts the moves played from a position, and their results.

use std::cmp::Reverse;

use rusqlite::{Transaction, named_params};

use crate::board::{Color, MoveCode, Position, PositionKey};
use crate::sorted::sort_by_key;
use crate::store::cell::POSITION_GAME;
use crate::store::read::occurrence::hit::HitLocation;
use crate::store::read::occurrence::reached::{ACTION, ExploreTarget};
use crate::store::read::occurrence::tally::{Games, MoveTally, Tally};
use crate::store::row::{GameId, RatedScore, ResultCounts};
use crate::store::{Database, Hit, ListLengths, Result, Selection};

/// A move played from a position. A game that returned to the position counts only for the last move that it
/// played from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The move.
    pub code: MoveCode,
    /// The results of the games that continued with this move.
    pub results: ResultCounts,
    /// The score of the chosen side against rated opponents in the games that continued with this move; empty if
    /// no side was chosen.
    pub rated: RatedScore,
    /// If only one of the games with a result continued with this move: this game.
    pub only_game: Option<Box<Hit>>,
}

/// The games that reached a position: their results, and the moves that they played there.
///
/// A game counts once, even if it returned to the position. Games without a result are counted only in
/// `unfinished`, and are not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionCounts {
    /// The results of the games that reached the position, including games that played no move from there.
    /// The first and the last year are those of the games that played a move from there.
    pub results: ResultCounts,
    /// The score of the chosen side against rated opponents in the games that reached the position; empty if no
    /// side was chosen.
    pub rated: RatedScore,
    /// The number of games that reached the position and have no result.
    pub unfinished: u64,
    /// The number of games counted in `results` that missed at least one of the positions in
    /// [`ExploreOptions::before`]. `None` if no positions were given, or if counting could take seconds
    /// because sets or columns of games cannot be used.
    pub transposed: Option<u64>,
    /// The moves, the most frequent first. Equally frequent moves are in the order of their codes.
    pub continuations: Vec<Continuation>,
    /// The games with the highest mean rating, highest first; of equally rated games, the one with the
    /// smaller id comes first. Games with an unknown rating are not listed. Each game is listed with one
    /// occurrence of the position: the last one from which the game played a move, or the last one if it
    /// played no move from the position.
    pub top_games: Vec<Hit>,
    /// The latest games, latest first; of games with the same date, the one with the greater id comes first.
    /// Unknown parts of a date count as 0.
    pub recent_games: Vec<Hit>,
}

/// What to compute for a position in addition to the moves.
#[derive(Clone, Copy, Debug)]
pub struct ExploreOptions<'a> {
    /// How many games to list, at most [`ListLengths::MAX`].
    pub lists: ListLengths,
    /// The side whose score is computed, if any.
    pub side: Option<Color>,
    /// Positions before the explored position. [`PositionCounts::transposed`] counts the games that missed at
    /// least one of them.
    pub before: &'a [Position],
}

impl From<ListLengths> for ExploreOptions<'_> {
    fn from(lists: ListLengths) -> Self {
        Self { lists, side: None, before: &[] }
    }
}

impl Database {
    /// Counts the moves played from a position in the games of a selection.
    ///
    /// In a level in which many games reached the position, the counts are read from tables. (A level is a
    /// range of games whose counts are stored together.) If the selection has conditions or a side is chosen,
    /// the counts are computed from the position's visit sets instead, in a few nanoseconds per game. In
    /// other levels, and if tables or sets cannot be used, games are counted one by one, in a few
    /// microseconds per game.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn explore(
        &self,
        key: PositionKey,
        fen: &str,
        selection: &Selection,
        parts: ExploreOptions<'_>,
    ) -> Result<PositionCounts> {
        let snapshot = self.snapshot()?;
        let ExploreOptions { lists, side, before } = parts;
        let limits = ListLengths {
            top: lists.top.min(ListLengths::MAX.top),
            recent: lists.recent.min(ListLengths::MAX.recent),
        };
        let target = ExploreTarget { database: self, key, fen };
        let empty = || Tally::new(limits, side, !before.is_empty());
        let count = || {
            // The tables do not contain the score of a side.
            let tally = if selection.is_all() && side.is_none() {
                target.tally_all(empty())?
            } else {
                target.tally_sets(selection, empty())?
            };
            let counted = tally.map(|tally| target.exploration(tally)).transpose()?.flatten();
            let (mut exploration, games) = match counted {
                Some(counted) => counted,
                None => {
                    let mut tally = empty();
                    target.for_each_game(selection, None, &mut |game| tally.add(&game))?;
                    target.exploration(tally)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?
                }
            };
            if let Some(games) = games.filter(|_| !before.is_empty()) {
                exploration.transposed = self.count_transposed(&games, before)?;
            }
            Ok(exploration)
        };
        let counts = count().map_err(self.failed(ACTION));
        drop(snapshot);
        counts
    }

    /// Starts a transaction: until it ends, all queries of this connection see the same games, even if
    /// another connection adds games. `None` if a transaction is already open.
    pub(crate) fn snapshot(&self) -> Result<Option<Transaction<'_>>> {
        self.transaction().map_err(self.failed(ACTION))
    }

    pub(super) fn transaction(&self) -> rusqlite::Result<Option<Transaction<'_>>> {
        let connection = self.connection();
        connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()
    }
}

impl ExploreTarget<'_> {
    /// Counts all games that reached the position, as [`tally_rows`](Self::tally_rows) does, and returns
    /// `None` in the same cases. If [`Tally::games`] is not `None` in `empty`, also completes this set, or sets
    /// it to `None` if the set cannot be determined.
    fn tally_all(&self, empty: Tally) -> rusqlite::Result<Option<Tally>> {
        let Some((mut tally, counted)) = self.tally_rows(empty, true)? else { return Ok(None) };
        if let Some(others) = tally.games.take() {
            tally.games = self.finished_in_sets(&counted, tally.unfinished)?.map(|mut games| {
                others.iter().for_each(|(&block, set)| games.entry(block).add(set));
                games
            });
        }
        Ok(Some(tally))
    }

    /// Finds the game that has a result and continued with this move; there must be only one such game. Searches
    /// the games that reached the position after the move: usually they are few, while many games reached the
    /// position before the move.
    fn only_game(&self, code: MoveCode) -> rusqlite::Result<Option<GameId>> {
        let Ok((mut next, _)) = Position::from_fen(self.fen.as_bytes()) else { return Ok(None) };
        if next.make(code).is_err() {
            return Ok(None);
        }
        let sql = "SELECT o.game_id FROM position_game AS after
                   CROSS JOIN position_game AS o
                       ON o.key = :key AND o.game_id = after.game_id AND o.ply = after.ply - 1
                   CROSS JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
                   CROSS JOIN game ON game.game_id = o.game_id
                   WHERE after.key = :next AND p.fen = :fen AND p.move_code = :code AND game.result <> '*'
                       AND NOT EXISTS (
                           SELECT 1 FROM position_game AS later
                           CROSS JOIN game_position AS q ON q.game_id = later.game_id AND q.ply = later.ply
                           WHERE later.key = :key AND later.game_id = o.game_id AND later.ply > o.ply
                               AND q.fen = :fen AND q.move_code IS NOT NULL)
                   LIMIT 1";
        let params = named_params! {
            ":key": self.key.as_i64(),
            ":next": next.key().as_i64(),
            ":fen": self.fen,
            ":code": code.bits(),
        };
        POSITION_GAME.first(self.database.connection(), sql, params, |cells| cells.get(0))
    }

    /// Converts a tally, and looks up the games that it lists. If a move was played in only one game that has a
    /// result, also looks up that game. Returns `None` if one of these games does not exist or did not reach the
    /// position.
    fn exploration(&self, tally: Tally) -> rusqlite::Result<Option<(PositionCounts, Option<Games>)>> {
        let mut continuations = Vec::with_capacity(tally.moves.len());
        for (code, counted) in tally.moves {
            let mut only_game = None;
            if counted.results.games() == 1 {
                let is_known = counted.game != GameId(0);
                let game = if is_known { Some(counted.game) } else { self.only_game(code)? };
                only_game = game.map(|game| self.hit(game)).transpose()?.flatten().map(Box::new);
                if is_known && only_game.is_none() {
                    return Ok(None);
                }
            }
            let MoveTally { results, rated, .. } = counted;
            continuations.push(Continuation { code, results, rated, only_game });
        }
        // Moves with equally many games stay in the order of their codes.
        sort_by_key(&mut continuations, |continuation| Reverse(continuation.results.games()));
        let lists = (self.hits(&tally.lists.top.ids())?, self.hits(&tally.lists.recent.ids())?);
        let (Some(top_games), Some(recent_games)) = lists else { return Ok(None) };
        let Tally { all: MoveTally { mut results, rated, .. }, unfinished, games, .. } = tally;
        let moves = || continuations.iter().map(|continuation| &continuation.results);
        results.first_year = moves().filter_map(|results| results.first_year).min();
        results.last_year = moves().filter_map(|results| results.last_year).max();
        let transposed = None;
        let exploration =
            PositionCounts { results, rated, unfinished, transposed, continuations, top_games, recent_games };
        Ok(Some((exploration, games)))
    }

    /// The [hits](Self::hit) of these games; `None` if a game has none.
    fn hits(&self, games: &[GameId]) -> rusqlite::Result<Option<Vec<Hit>>> {
        games.iter().map(|&game| self.hit(game)).collect()
    }

    /// A game with the occurrence that counts: the last one from which the game played a move or, if there is
    /// none, the last one. `None` if the game did not reach the position.
    fn hit(&self, game: GameId) -> rusqlite::Result<Option<Hit>> {
        let sql = "SELECT o.ply FROM position_game AS o
                   CROSS JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
                   WHERE o.key = :key AND o.game_id = :game AND p.fen = :fen
                   ORDER BY p.move_code IS NULL, o.ply DESC LIMIT 1";
        let params = named_params! { ":key": self.key.as_i64(), ":game": game.0, ":fen": self.fen };
        match POSITION_GAME.first(self.database.connection(), sql, params, |cells| cells.get(0))? {
            Some(ply) => self.database.hit(HitLocation::played(game, ply), None),
            None => Ok(None),
        }
    }
}
