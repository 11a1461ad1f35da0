//! Accumulates counts and lists of the games that reached a position.

use rusqlite::params;

use crate::board::{Color, GameResult, MoveCode, Position};
use crate::id::{GameId, Level};
use crate::sorted::SortedMap;
use crate::store::block_games::BlockGames;
use crate::store::block_set::{block_of, decode_within};
use crate::store::cell::{Cells, GAME, LEVEL_CONTINUATION, LEVEL_POSITION};
use crate::store::read::game_column::{BlockColumns, ColumnError, Outcomes, if_known};
use crate::store::read::occurrence::hit::listed_games;
use crate::store::read::occurrence::reached::ExploreTarget;
use crate::store::read::occurrence::visit::{LevelGames, for_each_visit_set};
use crate::store::row::{
    GameList, GameLists, LISTED_GAMES, RatedScore, RatingSum, ResultCounts, day_number, elo_sum, year_of,
};
use crate::store::visit_set::{PlayedMove, take_move};
use crate::store::{ReachedGame, Selection};

/// How many games [`Database::explore`](crate::store::Database::explore) lists at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLengths {
    /// The maximum number of games in the list of the best-rated games.
    pub top: u8,
    /// The maximum number of games in the list of the latest games.
    pub recent: u8,
}

impl ListLengths {
    /// The maximum lengths.
    pub const MAX: Self = Self { top: LISTED_GAMES, recent: LISTED_GAMES };

    /// No games are listed.
    pub const NONE: Self = Self { top: 0, recent: 0 };
}

/// Sets of games, by the number of their block.
pub(super) type Games = SortedMap<u32, BlockGames>;

/// The counts and lists so far.
pub(super) struct Tally {
    /// The side whose score is counted, if any.
    pub(super) side: Option<Color>,
    /// The counts of all games with a result.
    pub(super) all: MoveTally,
    pub(super) unfinished: u64,
    /// The games with a result; `None` if they are not needed or cannot be determined.
    pub(super) games: Option<Games>,
    pub(super) moves: SortedMap<MoveCode, MoveTally>,
    pub(super) lists: GameLists,
}

/// The counts of all games, or of the games that played a certain move.
#[derive(Default)]
pub(super) struct MoveTally {
    pub(super) results: ResultCounts,
    pub(super) rated: RatedScore,
    /// The game counted last, if games were counted one by one; 0 if only stored counts were added.
    pub(super) game: GameId,
}

impl MoveTally {
    #[inline]
    fn add(&mut self, game: &ReachedGame, side: Option<Color>) {
        self.results.count(game.result, game.elos, year_of(game.day));
        if let Some(side) = side
            && let Some(half_points) = game.result.half_points(side)
        {
            let [white, black] = game.elos;
            self.rated.count(if side == Color::White { black } else { white }, half_points);
        }
        self.game = game.game;
    }

    /// Adds the counts of another tally, whose last game becomes the last game counted.
    fn add_all(&mut self, later: &Self) {
        self.results.add(&later.results);
        self.rated.add(&later.rated);
        self.game = later.game;
    }
}

impl Tally {
    pub(super) fn new(lists: ListLengths, side: Option<Color>, wants_games: bool) -> Self {
        Self {
            side,
            all: MoveTally::default(),
            unfinished: 0,
            games: wants_games.then(Games::new),
            moves: SortedMap::new(),
            lists: GameLists { top: GameList::best_rated(lists.top), recent: GameList::latest(lists.recent) },
        }
    }

    /// The number of games, with and without a result.
    pub(super) fn games_of_all(&self) -> u64 {
        self.all.results.games().saturating_add(self.unfinished)
    }

    /// Counts a game, with the last move that it played from the position.
    pub(super) fn add(&mut self, last: &ReachedGame) {
        if last.result == GameResult::Unknown {
            self.unfinished += 1;
            return;
        }
        self.all.add(last, self.side);
        if let Some(code) = last.played {
            self.moves.entry(code).add(last, self.side);
        }
        if let Some(games) = &mut self.games {
            let (block, number) = block_of(last.game);
            games.entry(block).insert(number);
        }
        self.lists.insert(last.game, last.elos, last.day);
    }
}

impl ExploreTarget<'_> {
    /// Counts the games of a selection that reached the position. In levels with a row for the position in
    /// `level_position`, reads visit sets, stored columns and indexes, but no rows of games. In other levels,
    /// counts games one by one. `None` if no level has such a row, or if sets or columns are missing or
    /// invalid.
    pub(super) fn tally_sets(&self, selection: &Selection, empty: Tally) -> rusqlite::Result<Option<Tally>> {
        let [levels, others] = self.levels()?;
        if levels.is_empty() {
            return Ok(None);
        }
        let counted = if_known(self.count_blocks(&levels, selection, empty))?;
        let Some(mut tally) = counted.and_then(|counted| counted.into_tally(self.fen)) else {
            return Ok(None);
        };
        self.for_each_game(selection, Some(&others), &mut |game| tally.add(&game))?;
        Ok(Some(tally))
    }

    fn count_blocks(
        &self,
        levels: &[LevelGames],
        selection: &Selection,
        empty: Tally,
    ) -> Result<Counted, ColumnError> {
        let mut counted = Counted { tally: empty, moves: SortedMap::new() };
        let connection = self.database.connection();
        let mut columns = BlockColumns::new(connection, 0);
        let mut current: Option<(u32, BlockGames, Option<Outcomes>)> = None;
        for_each_visit_set(connection, levels, self.key, |block, games| {
            // Several levels can have games of the same block.
            let (_, selected, outcomes) = match &mut current {
                Some(known) if known.0 == block => known,
                other => {
                    columns.turn_to(block);
                    let selected = columns.selected(selection)?;
                    let outcomes = if selected.is_empty() { None } else { Some(columns.outcomes()?) };
                    other.insert((block, selected, outcomes))
                }
            };
            let Some(outcomes) = outcomes else { return Ok(()) };
            counted.add(block, games, outcomes, selected).ok_or(ColumnError::Missing)
        })?
        .ok_or(ColumnError::Missing)?;
        Ok(counted)
    }

    /// Counts all games that reached the position. For levels with a row for the position in
    /// `level_position`, reads the stored counts, and the moves only if `wants_moves`. In other levels,
    /// counts games one by one; [`Tally::games`] contains only these games. Also returns the levels with a
    /// row. Returns `None` if no level has a row, or if there are several levels and a listed game does not
    /// exist.
    pub(super) fn tally_rows(
        &self,
        empty: Tally,
        wants_moves: bool,
    ) -> rusqlite::Result<Option<(Tally, Vec<LevelGames>)>> {
        // One transaction instead of a lock for each query.
        let _snapshot = self.database.transaction()?;
        let [counted, others] = self.levels()?;
        if counted.is_empty() {
            return Ok(None);
        }
        let mut tally = empty;
        let is_only = counted.len() == 1 && others.is_empty();
        for &LevelGames { level, .. } in &counted {
            if self.tally_row(level, is_only, &mut tally)?.is_none() {
                return Ok(None);
            }
            if wants_moves {
                self.tally_moves(level, &mut tally)?;
            }
        }
        self.for_each_game(&Selection::default(), Some(&others), &mut |game| tally.add(&game))?;
        Ok(Some((tally, counted)))
    }

    /// Adds the counts and lists in the row of a level. If `is_only`, the database has no other level, and
    /// the listed games need not be read. `None` if there is no row, or if a listed game was to be read but
    /// does not exist.
    fn tally_row(&self, level: Level, is_only: bool, tally: &mut Tally) -> rusqlite::Result<Option<()>> {
        let connection = self.database.connection();
        let at = params![level.0, self.key.as_i64()];
        let sql = "SELECT level, key, white_wins, draws, black_wins, white_elo_sum, white_elo_games, black_elo_sum,
                       black_elo_games, NULL AS first_year, NULL AS last_year, unfinished, top_games, recent_games
                   FROM level_position WHERE level = ?1 AND key = ?2";
        let listed = LEVEL_POSITION.first(connection, sql, at, |cells| {
            tally.all.results.add(&results(cells)?);
            tally.unfinished = tally.unfinished.saturating_add(cells.get("unfinished")?);
            Ok([listed_games(cells, "top_games")?, listed_games(cells, "recent_games")?])
        })?;
        let Some([top, recent]) = listed else { return Ok(None) };
        if is_only {
            // The stored lists are in order, so a game's index gives its rank, and the games need not be read.
            let rank = |index: usize| u32::MAX - index as u32;
            top.iter().enumerate().for_each(|(index, &game)| tally.lists.top.insert(rank(index), game));
            recent.iter().enumerate().for_each(|(index, &game)| tally.lists.recent.insert(rank(index), game));
            return Ok(Some(()));
        }
        // The greatest ranks come first. In the list of the best-rated games, the rank is the sum of both
        // ratings. In the list of the latest games, it is the day.
        let ranks = |games: &[GameId], list: &mut GameList, rank: fn([Option<u16>; 2], u32) -> u32| {
            let sql = "SELECT game.game_id, white_elo, black_elo, date
                       FROM json_each(?1) AS listed CROSS JOIN game ON game.game_id = listed.value";
            let mut found = 0;
            GAME.each(connection, sql, [serde_json::json!(games).to_string()], |cells| {
                let elos = [cells.get("white_elo")?, cells.get("black_elo")?];
                let day = cells.get::<Option<&str>>("date")?.map_or(0, day_number);
                list.insert(rank(elos, day), cells.get(0)?);
                found += 1;
                Ok(())
            })?;
            Ok::<_, rusqlite::Error>((found == games.len()).then_some(()))
        };
        let GameLists { top: best, recent: latest } = &mut tally.lists;
        if best.takes_any() && ranks(&top, best, |elos, _| elo_sum(elos).unwrap_or(0))?.is_none()
            || latest.takes_any() && ranks(&recent, latest, |_, day| day)?.is_none()
        {
            return Ok(None);
        }
        Ok(Some(()))
    }

    /// Adds the moves of a level, with their counts.
    fn tally_moves(&self, level: Level, tally: &mut Tally) -> rusqlite::Result<()> {
        let at = params![level.0, self.key.as_i64()];
        let sql = "SELECT level, key, move_code, white_wins, draws, black_wins, white_elo_sum,
                       white_elo_games, black_elo_sum, black_elo_games, first_year, last_year
                   FROM level_continuation WHERE level = ?1 AND key = ?2";
        LEVEL_CONTINUATION.each(self.database.connection(), sql, at, |cells| {
            let code = cells.get("move_code")?;
            tally.moves.entry(code).results.add(&results(cells)?);
            Ok(())
        })
    }
}

fn results(cells: Cells<'_>) -> rusqlite::Result<ResultCounts> {
    Ok(ResultCounts {
        white_wins: cells.get("white_wins")?,
        draws: cells.get("draws")?,
        black_wins: cells.get("black_wins")?,
        white_elo: RatingSum { sum: cells.get("white_elo_sum")?, games: cells.get("white_elo_games")? },
        black_elo: RatingSum { sum: cells.get("black_elo_sum")?, games: cells.get("black_elo_games")? },
        first_year: cells.get("first_year")?,
        last_year: cells.get("last_year")?,
    })
}

/// The counts so far. `moves` has the moves in the short form of the visit sets, so the map of moves in
/// `tally` is still empty.
struct Counted {
    tally: Tally,
    moves: SortedMap<PlayedMove, MoveTally>,
}

impl Counted {
    /// Counts the selected games of a block; `None` if its visit set `games` is invalid.
    fn add(
        &mut self,
        block: u32,
        mut games: &[u8],
        outcomes: &Outcomes,
        selected: &BlockGames,
    ) -> Option<()> {
        let Self { tally, moves, .. } = self;
        let mut kept = tally.games.as_mut().map(|games| games.entry(block));
        while !games.is_empty() {
            let (played, set) = take_move(games)?;
            let mut counted: Option<MoveTally> = None;
            games = decode_within(
                set,
                |word| selected.word(word),
                |number| {
                    let Some(game) = ReachedGame::of(outcomes, block, number, None) else { return };
                    if game.result == GameResult::Unknown {
                        tally.unfinished += 1;
                        return;
                    }
                    counted.get_or_insert_default().add(&game, tally.side);
                    if let Some(kept) = &mut kept {
                        kept.insert(number);
                    }
                    tally.lists.insert(game.game, game.elos, game.day);
                },
            )?;
            if let Some(counted) = counted {
                moves.entry(played).add_all(&counted);
            }
        }
        Some(())
    }

    /// The tally, with full move codes; `None` if the FEN is invalid, or a move is not possible in the
    /// position.
    fn into_tally(self, fen: &str) -> Option<Tally> {
        let Self { mut tally, moves } = self;
        let (position, _) = Position::from_fen(fen.as_bytes()).ok()?;
        for (played, counted) in moves {
            tally.all.add_all(&counted);
            if let Some(short) = played.played() {
                tally.moves.insert(position.clone().make_short(short)?, counted);
            }
        }
        Some(tally)
    }
}
