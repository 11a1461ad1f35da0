//! Counts, from sorted occurrences, the moves played from visited positions. Also collects data of visited
//! positions while games are read, so that the rows of these positions need not be read later.

use std::fmt::Write as _;

use crate::board::{GameResult, KeyMap, KeySet, MAX_CANONICAL_FEN, MoveCode, PositionKey, ShortMove};
use crate::index::visited_position::{CountedGame, CountedGames};
use crate::index::{Origin, Played, PlayedOccurrence};
use crate::store::frequent_keys::{FrequentKeyCounter, FrequentKeys};
use crate::store::row::{GameId, GameList, LISTED_GAMES, Ply, ResultCounts};
use crate::store::sink::PositionView;
use crate::store::visit_set::{PackingBuffers, PlayedMove, Visits};

/// A position that many games reached, and the moves played from it.
#[derive(Debug)]
pub(crate) struct VisitedPosition {
    pub(crate) key: PositionKey,
    pub(crate) fens: Fens,
    /// An occurrence in a game from the standard start, if there is one.
    pub(crate) standard: Option<(GameId, Ply)>,
    /// Occurrences in games from set-up positions: at least one for each distinct position with this key that
    /// these games reached.
    pub(crate) to_compare: Vec<(GameId, Ply)>,
    pub(crate) counts: ResultCounts,
    pub(crate) unfinished: u32,
    pub(crate) moves: Vec<(ShortMove, ResultCounts)>,
    /// Games whose move from this position must be looked up.
    pub(crate) to_look_up: Vec<(GameId, Ply, CountedGame)>,
    /// The best-rated games.
    pub(crate) top: GameList,
    /// The latest games.
    pub(crate) recent: GameList,
    /// All games that reached the position, with their moves.
    pub(crate) visits: Visits,
}

/// The FENs of the positions with a key, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fens {
    #[default]
    Unknown,
    One(String),
    /// Two positions share the key.
    Several,
}

impl Fens {
    /// Adds a FEN. Returns whether all FENs so far are the same.
    pub(crate) fn observe(&mut self, fen: &str) -> bool {
        self.observe_bytes(fen.as_bytes());
        *self != Self::Several
    }

    /// Adds a FEN, in ASCII.
    pub(crate) fn observe_bytes(&mut self, fen: &[u8]) {
        match self {
            Self::Unknown => *self = Self::One(fen.iter().copied().map(char::from).collect()),
            Self::One(one) if one.as_bytes() == fen => {}
            _ => *self = Self::Several,
        }
    }

    /// Adds the FENs in `others`.
    pub(crate) fn observe_all(&mut self, others: &Self) {
        match others {
            Self::Unknown => {}
            Self::One(fen) => _ = self.observe(fen),
            Self::Several => *self = Self::Several,
        }
    }
}

/// The ids of games as a JSON array.
pub(crate) fn to_json(games: &[GameId]) -> String {
    let mut text = String::from("[");
    for (index, game) in games.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        _ = write!(text, "{comma}{}", game.0);
    }
    text.push(']');
    text
}

impl VisitedPosition {
    pub(crate) fn new(key: PositionKey) -> Self {
        Self {
            key,
            fens: Fens::Unknown,
            standard: None,
            to_compare: Vec::new(),
            counts: ResultCounts::NONE,
            unfinished: 0,
            moves: Vec::new(),
            to_look_up: Vec::new(),
            top: GameList::best_rated(LISTED_GAMES),
            recent: GameList::latest(LISTED_GAMES),
            visits: Visits::default(),
        }
    }

    /// Keeps an occurrence if its position may have to be compared with other positions that have this key.
    fn note(&mut self, occurrence: PlayedOccurrence) {
        let place = (occurrence.game(), occurrence.ply());
        match occurrence.origin() {
            Origin::Standard => _ = self.standard.get_or_insert(place),
            Origin::Setup => {}
            Origin::SetupToCompare => self.to_compare.push(place),
        }
    }

    /// Counts a game. `last` is the last occurrence from which the game played a move or, if there is none,
    /// the game's last occurrence.
    pub(crate) fn count(&mut self, last: PlayedOccurrence, counted_game: CountedGame) {
        match last.played() {
            Played::Nothing => self.visits.push(last.game(), PlayedMove::NOTHING),
            Played::NotKept => self.to_look_up.push((last.game(), last.ply(), counted_game)),
            Played::Move(played) => self.visits.push(last.game(), PlayedMove::new(Some(played))),
        }
        if counted_game.result() == GameResult::Unknown {
            self.unfinished += 1;
            return;
        }
        counted_game.add_to(&mut self.counts);
        if let Played::Move(played) = last.played() {
            self.count_move(played, counted_game);
        }
        if let Some(rating) = counted_game.elo_sum() {
            self.top.insert(rating, last.game());
        }
        self.recent.insert(counted_game.day(), last.game());
    }

    pub(crate) fn count_move(&mut self, played: ShortMove, counted_game: CountedGame) {
        if counted_game.result() == GameResult::Unknown {
            return;
        }
        let at = self.moves.iter().position(|(other, _)| *other == played).unwrap_or_else(|| {
            self.moves.push((played, ResultCounts::NONE));
            self.moves.len() - 1
        });
        counted_game.add_to(&mut self.moves[at].1);
    }

    /// The number of games that reached the position.
    pub(crate) fn games(&self) -> u64 {
        self.counts.games() + u64::from(self.unfinished)
    }
}

/// Finds the visited positions in sorted occurrences, and counts distinct keys.
pub(crate) struct Counter<'o> {
    counted_games: &'o CountedGames,
    /// The minimum number of games of a visited position.
    threshold: usize,
    /// The occurrences of the latest key, if they are fewer than the threshold and the next piece can contain
    /// more occurrences of this key.
    pending: Vec<PlayedOccurrence>,
    /// The position of the latest key, once the key has at least `threshold` occurrences.
    open: Option<Open>,
    last_key: Option<PositionKey>,
    distinct: u64,
    frequent_keys: FrequentKeyCounter,
    found: Vec<VisitedPosition>,
    buffers: PackingBuffers,
}

pub(crate) struct Counted {
    /// The number of distinct keys.
    pub(crate) distinct: u64,
    pub(crate) frequent_keys: FrequentKeys,
    /// The visited positions in key order.
    pub(crate) visited: Vec<VisitedPosition>,
}

/// A position that is being counted, and the occurrence with which the current game will be counted: the
/// latest one from which the game played a move or, if there is none, the game's only occurrence.
struct Open {
    visited: VisitedPosition,
    latest: PlayedOccurrence,
}

impl<'o> Counter<'o> {
    /// A counter of positions that at least `threshold` games reached; `counted_games` has the data of all
    /// games read.
    pub(crate) fn new(counted_games: &'o CountedGames, threshold: u32) -> Self {
        Self {
            counted_games,
            threshold: threshold.max(1) as usize,
            pending: Vec::new(),
            open: None,
            last_key: None,
            distinct: 0,
            frequent_keys: FrequentKeyCounter::default(),
            found: Vec::new(),
            buffers: PackingBuffers::default(),
        }
    }

    /// Processes the next piece of the sorted occurrences.
    pub(crate) fn observe(&mut self, piece: &[PlayedOccurrence]) {
        let mut rest = piece;
        while let Some(first) = rest.first() {
            let key = first.key();
            let length = rest.iter().take_while(|occurrence| occurrence.key() == key).count();
            let (run, others) = rest.split_at(length);
            rest = others;
            self.frequent_keys.observe(key, u32::try_from(length).unwrap_or(u32::MAX));
            if self.last_key != Some(key) {
                self.end_key();
                self.last_key = Some(key);
                self.distinct += 1;
                // Nearly all keys are ignored here: they have too few occurrences, and no more can follow in
                // the next piece.
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
        for &occurrence in pending.iter().chain(run) {
            let buffers = &mut self.buffers;
            let new = || {
                let visits = Visits::with_buffers(buffers);
                let visited = VisitedPosition { visits, ..VisitedPosition::new(occurrence.key()) };
                Open { visited, latest: occurrence }
            };
            let Open { visited, latest } = self.open.get_or_insert_with(new);
            visited.note(occurrence);
            if latest.game() != occurrence.game() {
                visited.count(*latest, self.counted_games.of(latest.game()));
            } else if occurrence.played() == Played::Nothing {
                // The game returned to this position and ended here, so it is counted under the last move
                // that it played from here.
                continue;
            }
            *latest = occurrence;
        }
        pending.clear();
        self.pending = pending;
    }

    fn end_key(&mut self) {
        self.pending.clear();
        if let Some(Open { mut visited, latest }) = self.open.take() {
            visited.count(latest, self.counted_games.of(latest.game()));
            visited.visits.pack(&mut self.buffers);
            if visited.games() >= self.threshold as u64 {
                self.found.push(visited);
            }
        }
    }

    pub(crate) fn finish(mut self) -> Counted {
        self.end_key();
        let Self { distinct, frequent_keys, found, .. } = self;
        Counted { distinct, frequent_keys: frequent_keys.finish(), visited: found }
    }
}

/// Data of the visited positions that games from the standard start reached, collected while the games are
/// read.
#[derive(Debug, Default)]
pub(crate) struct ReachedPositions(KeyMap<ReachedPosition>);

/// The data of the positions with one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReachedPosition {
    pub(crate) fens: Fens,
    /// The distinct moves played from the positions with this key.
    codes: Vec<MoveCode>,
}

impl ReachedPosition {
    /// The code of a move that was played from a position with this key.
    pub(crate) fn code(&self, short: ShortMove) -> Option<MoveCode> {
        self.codes.iter().copied().find(|&code| ShortMove::new(code) == short)
    }

    fn played(&mut self, code: MoveCode) {
        if !self.codes.contains(&code) {
            self.codes.push(code);
        }
    }
}

impl ReachedPositions {
    /// Records a position if its key is in `visited` and its game starts from the standard position.
    #[inline]
    pub(crate) fn observe(&mut self, view: &PositionView<'_>, visited: &KeySet) {
        if view.is_setup {
            return;
        }
        let key = view.position.key();
        if visited.contains(&key) {
            let reached = self.0.entry(key).or_default();
            let mut space = [0; MAX_CANONICAL_FEN];
            let length = view.placement().write_at_end(view.position, &mut space);
            reached.fens.observe_bytes(&space[MAX_CANONICAL_FEN - length..]);
            if let Some(code) = view.move_code {
                reached.played(code);
            }
        }
    }

    /// Adds the positions in `others`.
    pub(crate) fn absorb(&mut self, others: Self) {
        for (key, ReachedPosition { fens, codes }) in others.0 {
            let reached = self.0.entry(key).or_default();
            reached.fens.observe_all(&fens);
            codes.into_iter().for_each(|code| reached.played(code));
        }
    }

    /// The data of the positions with a key; `None` if no position with this key was recorded.
    pub(crate) fn of(&self, key: PositionKey) -> Option<&ReachedPosition> {
        self.0.get(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{FenText, Position};
    use crate::id::{GameId, Ply};

    #[test]
    fn two_positions_with_one_key_are_detected() {
        let fens =
            |all: &ReachedPositions| all.of(Position::start().key()).map(|reached| reached.fens.clone());
        let start = Position::start();
        let (other, _) = Position::from_fen(b"4k3/8/8/8/8/8/8/4K3 w - - 0 1").unwrap();
        let visited = KeySet::from_iter([start.key()]);
        let seen = |position: &Position, is_setup| {
            let placement = FenText::new(position);
            let mut reached = ReachedPositions::default();
            let view = PositionView {
                game: GameId(1),
                ply: Ply(0),
                position,
                placement: Some(&placement),
                move_code: None,
                is_setup,
            };
            reached.observe(&view, &visited);
            reached
        };
        assert!(seen(&other, false).0.is_empty());
        assert!(seen(&start, true).0.is_empty());
        let mut all = ReachedPositions::default();
        all.absorb(seen(&start, false));
        all.absorb(seen(&start, false));
        assert_eq!(fens(&all), Some(Fens::One(start.canonical_fen())));
        let other = ReachedPosition { fens: Fens::One(other.canonical_fen()), codes: Vec::new() };
        all.absorb(ReachedPositions(KeyMap::from_iter([(start.key(), other)])));
        assert_eq!(fens(&all), Some(Fens::Several));
        all.absorb(seen(&start, false));
        assert_eq!(fens(&all), Some(Fens::Several));
    }
}
