//! Counts, from sorted occurrences, the moves played from visited positions.

use std::fmt::Write as _;

use crate::board::{GameResult, PositionKey, ShortMove};
use crate::index::visited_position::CountedGames;
use crate::index::{Origin, Played, PlayedOccurrence};
use crate::store::CountedGame;
use crate::store::row::{GameId, GameList, LISTED_GAMES, Ply, ResultCounts};
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
    /// The games that reached the position, with their moves. The games in `to_look_up` are added when their
    /// moves are found.
    pub(crate) visits: Visits,
}

/// What is known about the FENs of the positions that have one key.
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
        match self {
            Self::Unknown => *self = Self::One(fen.to_owned()),
            Self::One(one) if one == fen => {}
            _ => *self = Self::Several,
        }
        *self != Self::Several
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

    /// Stores an occurrence if its position might have to be compared with other positions that have this
    /// key.
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
    /// The latest occurrence.
    last: Option<PlayedOccurrence>,
    distinct: u64,
    found: Vec<VisitedPosition>,
    buffers: PackingBuffers,
}

pub(crate) struct Counted {
    /// The number of distinct keys in the games that the run adds.
    pub(crate) distinct: u64,
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
    /// games of the level.
    pub(crate) fn new(counted_games: &'o CountedGames, threshold: u32) -> Self {
        Self {
            counted_games,
            threshold: threshold.max(1) as usize,
            pending: Vec::new(),
            open: None,
            last: None,
            distinct: 0,
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
            let last = self.last.replace(run[length - 1]);
            if last.is_none_or(|last| last.key() != key) {
                self.end_key(last);
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

    /// Finishes counting the key of the occurrence `last`.
    fn end_key(&mut self, last: Option<PlayedOccurrence>) {
        // The games of a key are in ascending order, so the last one is new if any of them is new.
        self.distinct += u64::from(last.is_some_and(|last| self.counted_games.is_new(last.game())));
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
        self.end_key(self.last);
        let Self { distinct, found, .. } = self;
        Counted { distinct, visited: found }
    }
}
