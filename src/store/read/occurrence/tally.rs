//! Accumulates counts and lists of the games that reached a position.

use crate::board::{Color, GameResult, MoveCode, Position};
use crate::id::GameId;
use crate::sorted::SortedMap;
use crate::store::block_games::BlockGames;
use crate::store::block_set::{block_of, decode_within, game_of};
use crate::store::read::game_column::{BlockColumns, ColumnError, Outcomes, if_known};
use crate::store::read::occurrence::reached::ExploreTarget;
use crate::store::read::occurrence::visit::for_each_visit_set;
use crate::store::row::{GameList, LISTED_GAMES, RatedScore, ResultCounts, elo_sum, year_of};
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

/// Games by block.
pub(super) type Games = SortedMap<u32, BlockGames>;

/// The games counted so far.
pub(super) struct Tally {
    /// The side whose score is counted, if any.
    pub(super) side: Option<Color>,
    /// The counts of all games with a result.
    pub(super) all: MoveTally,
    pub(super) unfinished: u64,
    /// The games with a result; `None` if they are not needed.
    pub(super) games: Option<Games>,
    pub(super) moves: SortedMap<MoveCode, MoveTally>,
    pub(super) lists: GameLists,
}

/// The lists of the best-rated and of the latest games.
pub(super) struct GameLists {
    pub(super) top: GameList,
    pub(super) recent: GameList,
}

/// The counts of all games, or of the games that played a certain move.
#[derive(Default)]
pub(super) struct MoveTally {
    pub(super) results: ResultCounts,
    pub(super) rated: RatedScore,
    /// The last game counted.
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
        self.lists.insert(last);
    }
}

impl GameLists {
    /// Inserts a game into the lists if it ranks high enough.
    #[inline]
    fn insert(&mut self, game: &ReachedGame) {
        if let Some(sum) = elo_sum(game.elos) {
            self.top.insert(sum, game.game);
        }
        self.recent.insert(game.day, game.game);
    }
}

impl ExploreTarget<'_> {
    /// Counts the games of a selection, using only the sets, columns and indexes of games: no row of a game
    /// is read. `None` if the position [has no sets](Self::has_sets), or if sets or columns are missing or
    /// invalid.
    pub(super) fn tally_sets(&self, selection: &Selection, empty: Tally) -> rusqlite::Result<Option<Tally>> {
        if !self.has_sets()? {
            return Ok(None);
        }
        let counted = if_known(self.count_blocks(selection, empty))?;
        Ok(counted.and_then(|counted| counted.into_tally(self.fen)))
    }

    fn count_blocks(&self, selection: &Selection, empty: Tally) -> Result<Counted, ColumnError> {
        let mut counted = Counted { tally: empty, moves: SortedMap::new(), blocks: 0 };
        let connection = self.database.connection();
        let mut columns = BlockColumns::new(connection, 0);
        for_each_visit_set(connection, self.key, |block, games| {
            columns.turn_to(block);
            let selected = columns.selected(selection)?;
            counted.blocks += 1;
            if selected.is_empty() {
                return Ok(());
            }
            counted.add(block, games, &columns.outcomes()?, &selected).ok_or(ColumnError::Missing)
        })?;
        Ok(counted)
    }
}

/// The games counted so far, with the moves as stored in the sets.
struct Counted {
    tally: Tally,
    moves: SortedMap<PlayedMove, MoveTally>,
    blocks: u32,
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
                    // A game that somebody deleted through SQL is still in the set.
                    let Some(result) = outcomes.result(number) else { return };
                    if result == GameResult::Unknown {
                        tally.unfinished += 1;
                        return;
                    }
                    let (elos, day) = (outcomes.elos(number), outcomes.day(number));
                    let game = ReachedGame { game: game_of(block, number), played: None, result, elos, day };
                    counted.get_or_insert_default().add(&game, tally.side);
                    if let Some(kept) = &mut kept {
                        kept.insert(number);
                    }
                    tally.lists.insert(&game);
                },
            )?;
            if let Some(counted) = counted {
                moves.entry(played).add_all(&counted);
            }
        }
        Some(())
    }

    /// The tally, with full move codes; `None` if the FEN is invalid, a move is not possible in the position,
    /// or no block has a set.
    fn into_tally(self, fen: &str) -> Option<Tally> {
        let Self { mut tally, moves, blocks } = self;
        let (position, _) = Position::from_fen(fen.as_bytes()).ok()?;
        for (played, counted) in moves {
            tally.all.add_all(&counted);
            if let Some(short) = played.played() {
                tally.moves.insert(position.clone().make_short(short)?, counted);
            }
        }
        (blocks > 0).then_some(tally)
    }
}
