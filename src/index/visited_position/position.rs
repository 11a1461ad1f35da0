//! What was played from visited positions, counted as the sorted occurrences come by.

use crate::board::{GameResult, PositionKey, ShortMove};
use crate::index::sort::occurrence::{Origin, Played, PlayedOccurrence};
use crate::index::visited_position::counted_game::{CountedGame, CountedGames};
use crate::store::row::{GameId, Ply, ResultCounts};

/// How many of a position's best-rated and latest games are kept.
const LISTED: usize = 15;

/// A position that many games reached, and what was played there.
#[derive(Debug)]
pub(crate) struct VisitedPosition {
    pub(crate) key: PositionKey,
    pub(crate) fens: Fens,
    /// A visit by a game from the standard start.
    pub(crate) standard: Option<(GameId, Ply)>,
    /// Visits by games from set-ups: to each position that these reached, at least one.
    pub(crate) to_compare: Vec<(GameId, Ply)>,
    pub(crate) counts: ResultCounts,
    pub(crate) unfinished: u32,
    pub(crate) moves: Vec<(ShortMove, ResultCounts)>,
    /// Games whose move must be looked up.
    pub(crate) untold: Vec<(GameId, Ply, CountedGame)>,
    /// The best-rated games.
    pub(crate) top: GameList,
    /// The latest games.
    pub(crate) recent: GameList,
}

/// The FENs of the positions that have a key, as far as they were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fens {
    #[default]
    Unknown,
    One(String),
    /// Two positions share the key.
    Several,
}

impl Fens {
    /// Takes another one in. Gives back whether there are not several.
    pub(crate) fn see(&mut self, fen: &str) -> bool {
        match self {
            Self::Unknown => *self = Self::One(fen.to_owned()),
            Self::One(one) if one == fen => {}
            _ => *self = Self::Several,
        }
        *self != Self::Several
    }
}

/// Up to 15 games with what they are ranked by, the greatest first.
#[derive(Clone, Debug)]
pub(crate) struct GameList {
    games: Vec<(u32, GameId)>,
    /// Whether of games with equal ranks the one with the greater id comes first.
    later_first: bool,
}

impl GameList {
    const fn new(later_first: bool) -> Self {
        Self { games: Vec::new(), later_first }
    }

    /// Puts a game into its place, if it has one.
    pub(crate) fn insert(&mut self, rank: u32, game: GameId) {
        let is_before = |&other: &(u32, GameId)| self.is_before(other, (rank, game));
        if self.games.len() == LISTED && is_before(&self.games[LISTED - 1]) {
            return;
        }
        let at = self.games.partition_point(is_before);
        self.games.truncate(LISTED - 1);
        self.games.insert(at, (rank, game));
    }

    /// The ids in order when the games of an earlier list come in, whose ranks `rank` tells. No more are asked for than must be
    /// compared.
    pub(crate) fn with<E>(
        self,
        earlier: &[GameId],
        mut rank: impl FnMut(GameId) -> Result<u32, E>,
    ) -> Result<Vec<GameId>, E> {
        if let (LISTED, Some(&last), Some(&best)) = (earlier.len(), earlier.last(), self.games.first())
            && self.is_before((rank(last)?, last), best)
        {
            return Ok(earlier.to_vec());
        }
        let mut ids = Vec::with_capacity(LISTED);
        let mut earlier = earlier.iter().copied().peekable();
        for &new in &self.games {
            while let Some(&game) = earlier.peek()
                && ids.len() < LISTED
                && self.is_before((rank(game)?, game), new)
            {
                ids.push(game);
                earlier.next();
            }
            ids.push(new.1);
        }
        ids.extend(earlier);
        ids.truncate(LISTED);
        Ok(ids)
    }

    fn is_before(&self, (rank, game): (u32, GameId), (other_rank, other): (u32, GameId)) -> bool {
        rank > other_rank || (rank == other_rank && (game > other) == self.later_first)
    }

    /// The games in order.
    pub(crate) fn ids(&self) -> Vec<GameId> {
        self.games.iter().map(|&(_, game)| game).collect()
    }
}

/// Games' ids as a JSON array.
pub(crate) fn to_json(games: &[GameId]) -> String {
    let ids: Vec<String> = games.iter().map(|game| game.0.to_string()).collect();
    format!("[{}]", ids.join(","))
}

impl VisitedPosition {
    pub(crate) const fn new(key: PositionKey) -> Self {
        Self {
            key,
            fens: Fens::Unknown,
            standard: None,
            to_compare: Vec::new(),
            counts: ResultCounts::NONE,
            unfinished: 0,
            moves: Vec::new(),
            untold: Vec::new(),
            top: GameList::new(false),
            recent: GameList::new(true),
        }
    }

    /// Keeps a visit if the position is to be looked at there.
    fn note(&mut self, visit: PlayedOccurrence) {
        let place = (visit.game(), visit.ply());
        match visit.origin() {
            Origin::Standard => _ = self.standard.get_or_insert(place),
            Origin::Setup => {}
            Origin::SetupToCompare => self.to_compare.push(place),
        }
    }

    /// Counts a game by its last visit.
    pub(crate) fn count(&mut self, last: PlayedOccurrence, outcome: CountedGame) {
        if outcome.result() == GameResult::Unknown {
            self.unfinished += 1;
            return;
        }
        count(&mut self.counts, outcome);
        match last.played() {
            Played::Nothing => {}
            Played::Untold => self.untold.push((last.game(), last.ply(), outcome)),
            Played::Move(played) => self.count_move(played, outcome),
        }
        if let Some(rating) = outcome.elo_sum() {
            self.top.insert(rating, last.game());
        }
        self.recent.insert(outcome.day(), last.game());
    }

    pub(crate) fn count_move(&mut self, played: ShortMove, outcome: CountedGame) {
        let at = self.moves.iter().position(|(other, _)| *other == played).unwrap_or_else(|| {
            self.moves.push((played, ResultCounts::NONE));
            self.moves.len() - 1
        });
        count(&mut self.moves[at].1, outcome);
    }

    /// How many games reached it.
    pub(crate) fn games(&self) -> u64 {
        self.counts.games() + u64::from(self.unfinished)
    }
}

fn count(counts: &mut ResultCounts, outcome: CountedGame) {
    match outcome.result() {
        GameResult::White => counts.white_wins += 1,
        GameResult::Draw => counts.draws += 1,
        GameResult::Black => counts.black_wins += 1,
        GameResult::Unknown => {}
    }
    if let Some(sum) = outcome.elo_sum() {
        counts.elo_sum += u64::from(sum);
        counts.elo_games += 1;
    }
    if let Some(year) = outcome.year() {
        counts.first_year = Some(counts.first_year.map_or(year, |first| first.min(year)));
        counts.last_year = Some(counts.last_year.map_or(year, |last| last.max(year)));
    }
}

/// Finds the visited positions among one partition's sorted occurrences, and counts distinct keys.
pub(crate) struct Counter<'o> {
    outcomes: &'o CountedGames,
    /// How many games must have come by.
    threshold: usize,
    /// The visits of the latest key, as long as they are fewer than the threshold and the piece ended with them.
    pending: Vec<PlayedOccurrence>,
    /// The latest key's position, once its visits are as many.
    open: Option<Open>,
    last_key: Option<PositionKey>,
    distinct: u64,
    found: Vec<VisitedPosition>,
}

/// A position that is being counted, and the latest visit to it, which counts unless the same game's next one follows.
struct Open {
    visited: VisitedPosition,
    latest: PlayedOccurrence,
}

impl<'o> Counter<'o> {
    /// A counter of positions that at least `threshold` games reached; `outcomes` are those of all games.
    pub(crate) fn new(outcomes: &'o CountedGames, threshold: u32) -> Self {
        Self {
            outcomes,
            threshold: threshold.max(1) as usize,
            pending: Vec::new(),
            open: None,
            last_key: None,
            distinct: 0,
            found: Vec::new(),
        }
    }

    /// Looks at the next piece.
    pub(crate) fn see(&mut self, piece: &[PlayedOccurrence]) {
        let mut rest = piece;
        while let Some(first) = rest.first() {
            let key = first.key();
            let length = rest.iter().take_while(|visit| visit.key() == key).count();
            let (run, others) = rest.split_at(length);
            rest = others;
            if self.last_key != Some(key) {
                self.end_key();
                self.last_key = Some(key);
                self.distinct += 1;
                // Nearly all keys: too few visits, and the next key has come.
                if length < self.threshold && !rest.is_empty() {
                    continue;
                }
            }
            self.add(run);
        }
    }

    fn add(&mut self, run: &[PlayedOccurrence]) {
        if self.open.is_none() && self.pending.len() + run.len() < self.threshold {
            self.pending.extend_from_slice(run);
            return;
        }
        let mut pending = std::mem::take(&mut self.pending);
        for &visit in pending.iter().chain(run) {
            let new = || Open { visited: VisitedPosition::new(visit.key()), latest: visit };
            let Open { visited, latest } = self.open.get_or_insert_with(new);
            visited.note(visit);
            if latest.game() != visit.game() {
                visited.count(*latest, self.outcomes.of(latest.game()));
            }
            *latest = visit;
        }
        pending.clear();
        self.pending = pending;
    }

    fn end_key(&mut self) {
        self.pending.clear();
        if let Some(Open { mut visited, latest }) = self.open.take() {
            visited.count(latest, self.outcomes.of(latest.game()));
            if visited.games() >= self.threshold as u64 {
                self.found.push(visited);
            }
        }
    }

    /// The number of distinct keys, and the visited positions in the order of their keys.
    pub(crate) fn finish(mut self) -> (u64, Vec<VisitedPosition>) {
        self.end_key();
        (self.distinct, self.found)
    }
}
