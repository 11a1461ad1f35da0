//! Accumulates counts and lists of the games that reached a position.

use crate::board::{Color, GameResult, MoveCode};
use crate::id::GameId;
use crate::sorted::SortedMap;
use crate::store::block_games::BlockGames;
use crate::store::block_set::block_of;
use crate::store::read::occurrence::target::ReachedGame;
use crate::store::row::{GameList, LISTED_GAMES, RatedScore, ResultCounts, elo_sum, year_of};

/// How many games [`Database::explore`](crate::store::Database::explore) lists at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLengths {
    /// The games with the highest mean rating.
    pub top: u8,
    /// The latest games.
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
    pub(super) results: ResultCounts,
    pub(super) rated: RatedScore,
    pub(super) unfinished: u64,
    /// The games with a result; `None` if they are not needed.
    pub(super) games: Option<Games>,
    pub(super) moves: SortedMap<MoveCode, MoveTally>,
    pub(super) lists: GameLists,
}

/// The games that are listed.
pub(super) struct GameLists {
    pub(super) top: GameList,
    pub(super) recent: GameList,
}

#[derive(Default)]
pub(super) struct MoveTally {
    pub(super) results: ResultCounts,
    pub(super) rated: RatedScore,
    /// The last game counted with this move.
    pub(super) game: GameId,
}

impl MoveTally {
    #[inline]
    pub(super) fn add(&mut self, game: &ReachedGame, side: Option<Color>) {
        self.results.count(game.result, game.elos, year_of(game.day));
        if let Some(side) = side
            && let Some(half_points) = game.result.half_points(side)
        {
            let [white, black] = game.elos;
            self.rated.count(if side == Color::White { black } else { white }, half_points);
        }
        self.game = game.game;
    }

    /// Adds the counts of another tally, whose games have greater numbers.
    pub(super) fn add_all(&mut self, later: &Self) {
        self.results.add(&later.results);
        self.rated.add(&later.rated);
        self.game = later.game;
    }
}

impl Tally {
    pub(super) fn new(lists: ListLengths, side: Option<Color>, wants_games: bool) -> Self {
        Self {
            side,
            results: ResultCounts::default(),
            rated: RatedScore::default(),
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
        let mut counted = MoveTally::default();
        counted.add(last, self.side);
        self.add_all(&counted);
        if let Some(code) = last.played {
            self.moves.entry(code).add(last, self.side);
        }
        if let Some(games) = &mut self.games {
            let (block, number) = block_of(last.game);
            games.entry(block).insert(number);
        }
        self.lists.insert(last);
    }

    /// Adds the results and the score of a move's tally, but no moves and no lists.
    pub(super) fn add_all(&mut self, counted: &MoveTally) {
        self.results.add(&counted.results);
        self.rated.add(&counted.rated);
    }
}

impl GameLists {
    /// Inserts a game into the lists if it ranks high enough.
    #[inline]
    pub(super) fn insert(&mut self, game: &ReachedGame) {
        if let Some(sum) = elo_sum(game.elos) {
            self.top.insert(sum, game.game);
        }
        self.recent.insert(game.day, game.game);
    }
}
