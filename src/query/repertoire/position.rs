//! The positions of a repertoire, and the moves that games played there, with their scores.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Serialize;

use super::book::Book;
use crate::board::{Color, GameResult, KeyMap, MoveCode, Position};
use crate::id::GameId;
use crate::sorted::{SortedMap, sort_by_key};

/// The results of some games, from the view of the repertoire's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Score {
    /// Number of games, including games without a result.
    pub games: u64,
    /// Number of games won by the repertoire's side.
    pub wins: u64,
    /// Number of drawn games.
    pub draws: u64,
    /// Number of games lost by the repertoire's side.
    pub losses: u64,
}

impl Score {
    pub(super) fn count(&mut self, result: GameResult, side: Color) {
        self.games += 1;
        match result.half_points(side) {
            None => {}
            Some(2) => self.wins += 1,
            Some(1) => self.draws += 1,
            Some(_) => self.losses += 1,
        }
    }

    /// Games with a result.
    #[must_use]
    pub const fn finished(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// The score of these games in half points.
    #[must_use]
    pub const fn half_points(&self) -> u64 {
        2 * self.wins + self.draws
    }
}

/// A position of a repertoire, regardless of the moves that lead to it.
pub(super) struct RepertoirePosition {
    /// The first node with this position.
    pub(super) node: usize,
    /// The repertoire's moves, in the order of the text.
    pub(super) moves: Vec<MoveCode>,
    /// The score of the games that reached it.
    pub(super) score: Score,
    /// For each move played from the position, the score of the games in which it was the last move played
    /// from there.
    pub(super) played: SortedMap<MoveCode, Score>,
    /// The moves of games that leave the repertoire, most frequent first, then by UCI notation.
    pub(super) leaving: Vec<(MoveCode, Score)>,
}

/// The positions of all lines that begin at some start positions.
pub(super) struct RepertoirePositions {
    pub(super) places: Vec<RepertoirePosition>,
    /// All nodes in the order of the text, each line to its end before the next one. Each has the index of
    /// its position in `places`.
    pub(super) nodes: Vec<(usize, usize)>,
    by_node: HashMap<usize, usize>,
    by_key: KeyMap<Vec<usize>>,
}

impl RepertoirePositions {
    pub(super) fn new(book: &Book, roots: &[usize]) -> Self {
        let mut found = Self {
            places: Vec::new(),
            nodes: Vec::new(),
            by_node: HashMap::new(),
            by_key: KeyMap::default(),
        };
        let mut next: Vec<usize> = roots.iter().rev().copied().collect();
        while let Some(node) = next.pop() {
            let children = &book.nodes[node].children;
            next.extend(children.iter().rev());
            let place = found.insert(book, node);
            for code in children.iter().filter_map(|&child| book.nodes[child].parent.map(|(_, code)| code)) {
                // A null move is not a recommendation.
                if code != MoveCode::NULL && !found.places[place].moves.contains(&code) {
                    found.places[place].moves.push(code);
                }
            }
            found.nodes.push((node, place));
            found.by_node.insert(node, place);
        }
        found
    }

    /// The index in `places` of a node's position. Adds the position if it is missing.
    fn insert(&mut self, book: &Book, node: usize) -> usize {
        let position = &book.nodes[node].position;
        if let Some(place) = self.at(book, position) {
            return place;
        }
        let place = self.places.len();
        self.by_key.entry(position.key()).or_default().push(place);
        self.places.push(RepertoirePosition {
            node,
            moves: Vec::new(),
            score: Score::default(),
            played: SortedMap::new(),
            leaving: Vec::new(),
        });
        place
    }

    /// The index of a position in `places`.
    fn at(&self, book: &Book, position: &Position) -> Option<usize> {
        let alike = self.by_key.get(&position.key())?;
        let fen = position.canonical_fen();
        let is_same = |place: &&usize| {
            let known: &RepertoirePosition = &self.places[**place];
            book.nodes[known.node].position.canonical_fen() == fen
        };
        alike.iter().find(is_same).copied()
    }

    /// The repertoire's position at a node.
    pub(super) fn of(&self, node: usize) -> &RepertoirePosition {
        &self.places[self.by_node[&node]]
    }

    /// Finds the moves that leave the repertoire: neither the move nor the position after it belongs to the
    /// repertoire. At the end of a line, no move counts as leaving it.
    pub(super) fn find_leaving(&mut self, book: &Book) {
        for index in 0..self.places.len() {
            let place = &self.places[index];
            if place.moves.is_empty() {
                continue;
            }
            let leaves = |code: MoveCode| {
                let mut after = book.nodes[place.node].position.clone();
                !place.moves.contains(&code) && (after.make(code).is_err() || self.at(book, &after).is_none())
            };
            let leaving = place.played.iter().filter(|(code, _)| leaves(**code));
            let mut leaving: Vec<_> = leaving.map(|(&code, &score)| (code, score)).collect();
            let position = &book.nodes[place.node].position;
            sort_by_key(&mut leaving, |(code, score)| {
                (Reverse(score.games), position.uci(*code).to_string())
            });
            self.places[index].leaving = leaving;
        }
    }
}

/// The latest games that followed a repertoire, up to a maximum number, each with the first position recorded
/// for it.
pub(super) struct Latest {
    most: usize,
    /// The earliest game first.
    order: BinaryHeap<Reverse<(u32, GameId)>>,
    games: HashMap<GameId, Followed>,
}

/// The index of a position in `places`, and the move played from there.
type Followed = (usize, Option<MoveCode>);

impl Latest {
    pub(super) fn new(most: usize) -> Self {
        Self { most, order: BinaryHeap::new(), games: HashMap::new() }
    }

    /// Whether a game is not yet recorded, and late enough to be listed.
    pub(super) fn is_wanted(&self, day: u32, game: GameId) -> bool {
        let is_late = || self.order.peek().is_none_or(|Reverse(first)| (day, game) > *first);
        (self.order.len() < self.most || is_late()) && !self.games.contains_key(&game)
    }

    pub(super) fn insert(&mut self, day: u32, game: GameId, followed: Followed) {
        if !self.is_wanted(day, game) {
            return;
        }
        if self.order.len() == self.most
            && let Some(Reverse((_, first))) = self.order.pop()
        {
            self.games.remove(&first);
        }
        self.order.push(Reverse((day, game)));
        self.games.insert(game, followed);
    }

    /// The games, the latest first.
    pub(super) fn into_games(self) -> impl Iterator<Item = (GameId, Followed)> {
        let Self { order, mut games, .. } = self;
        // As the entries are reversed, the greatest come first.
        order
            .into_sorted_vec()
            .into_iter()
            .filter_map(move |Reverse((_, game))| games.remove(&game).map(|followed| (game, followed)))
    }
}
