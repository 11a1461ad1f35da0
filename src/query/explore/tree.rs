//! What was played from a position, some moves deep.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use serde::Serialize;

use super::{Explore, Explored, ExploredMove, SideScore, by_result};
use crate::board::{Color, Position};
use crate::opening::Opening;
use crate::query::position::{PositionQuery, number_before, push_move};
use crate::store::row::ResultCounts;
use crate::store::{self, Lines, ListLengths};

/// So many moves are told at most: more are of no use to anybody, and each is a question of its own.
const MOST_MOVES: usize = 10_000;

/// What was played from a position, some moves deep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExploredTree {
    /// What the position is called.
    pub opening: Option<Opening>,
    /// What came of the games.
    #[serde(flatten, serialize_with = "by_result")]
    #[cfg_attr(test, schemars(with = "super::ByResult"))]
    pub results: ResultCounts,
    /// What the side that was asked for scored.
    #[serde(flatten)]
    pub score: Option<SideScore>,
    /// Games that reached it and have no result.
    pub unfinished: u64,
    /// Games with a result that ended in it.
    #[serde(skip)]
    pub ended: u64,
    /// The moves, the most frequent first.
    pub moves: Vec<TreeMove>,
    /// Whether there are more moves than can be told. Those that are told are the most frequent then.
    pub is_cut: bool,
}

/// A move of a tree. Its games are those that had the position before it, by whatever moves, and played it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TreeMove {
    /// The move.
    #[serde(flatten)]
    pub played: ExploredMove,
    /// The number of the move.
    #[serde(skip)]
    pub move_number: u32,
    /// Who plays it.
    #[serde(skip)]
    pub side: Color,
    /// How many games with a result had the position before it.
    pub games_before: u64,
    /// If the position after it stands elsewhere in the tree: the moves that lead there, from the first position of the tree; no moves are
    /// that position itself. What was played then is told there only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// What was played then, the most frequent move first.
    pub moves: Vec<Self>,
}

impl TreeMove {
    /// The moves that lead to the position after this one, if these lead to the position before it.
    #[must_use]
    pub fn line_after(&self, line: &str) -> String {
        let mut line = line.to_owned();
        push_move(&mut line, self.move_number, self.side, &self.played.san);
        line
    }

    /// Its number as it stands before it: `3.`, or `3...` for Black's.
    #[must_use]
    pub fn number(&self) -> String {
        number_before(self.move_number, self.side)
    }
}

impl ExploredTree {
    /// Whether no game reached the position.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.results.games() == 0 && self.unfinished == 0
    }
}

impl Explore<'_> {
    /// What was played from the position, `depth` half-moves deep. A move is told if so many of a hundred games that had the first
    /// position played it, and one at least. Of more moves than a tree can have, the most frequent are told. Lists of games are not made,
    /// and variations are not looked into.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn tree(&self, depth: u32, least_share: u64) -> store::Result<ExploredTree> {
        let snapshot = self.database.snapshot()?;
        let root = self.node_answer(&self.query.position)?;
        let fewest = (root.results.games() * least_share).div_ceil(100).max(1);
        let mut tree = Growing::of(self.query.position.clone());
        tree.reach(0, 0, depth);
        loop {
            while let Some(index) = tree.unanswered.pop_front() {
                let answer = self.node_answer(&tree.nodes[index].position)?;
                tree.answer(index, answer, fewest);
            }
            if !tree.take_next(depth) {
                break;
            }
        }
        drop(snapshot);
        let Explored { results, score, unfinished, ended, .. } = root;
        let opening = self.name_of_line()?;
        let is_cut = !tree.open.is_empty();
        Ok(ExploredTree { opening, results, score, unfinished, ended, moves: tree.told(), is_cut })
    }

    fn node_answer(&self, position: &Position) -> store::Result<Explored> {
        let query = PositionQuery::from(position.clone());
        Explore { query: &query, lines: Lines::Main, lists: ListLengths::NONE, limit: None, ..*self }.answer()
    }
}

/// A position of the tree while it is made.
struct Node {
    position: Position,
    /// How many half-moves lead to it at least, by moves that were taken.
    depth: u32,
    /// How many games with a result had it.
    games: u64,
    /// What was played there often enough; `None` until it is asked for.
    moves: Option<Vec<Edge>>,
}

/// A move from a position.
struct Edge {
    played: ExploredMove,
    /// The node it leads to, if it is taken.
    to: Option<usize>,
}

/// A move that can be taken: games, half-moves up to it, node, which move there. The greatest is the next one: the most frequent, then
/// the one with the shortest way to it.
type Open = (u64, Reverse<u32>, Reverse<usize>, Reverse<usize>);

/// The tree while it is made: the most frequent moves are taken first, so that those are left out that matter least.
struct Growing {
    nodes: Vec<Node>,
    /// The node of each position, by its canonical FEN.
    known: HashMap<String, usize>,
    /// Nodes that may have moves, which are not known yet.
    unanswered: VecDeque<usize>,
    open: BinaryHeap<Open>,
    taken: usize,
}

impl Growing {
    fn of(position: Position) -> Self {
        let known = HashMap::from([(position.canonical_fen(), 0)]);
        let nodes = vec![Node { position, depth: u32::MAX, games: 0, moves: None }];
        Self { nodes, known, unanswered: VecDeque::new(), open: BinaryHeap::new(), taken: 0 }
    }

    /// Notes down that so many half-moves lead to a node; what follows it may then be nearer too.
    fn reach(&mut self, node: usize, depth: u32, deepest: u32) {
        let mut next = vec![(node, depth)];
        while let Some((index, depth)) = next.pop() {
            let node = &mut self.nodes[index];
            if depth >= node.depth {
                continue;
            }
            let is_first = node.depth >= deepest;
            node.depth = depth;
            match &node.moves {
                Some(moves) => next.extend(moves.iter().filter_map(|edge| Some((edge.to?, depth + 1)))),
                None if is_first && depth < deepest => self.unanswered.push_back(index),
                None => {}
            }
        }
    }

    /// Keeps what was played in a position.
    fn answer(&mut self, index: usize, answer: Explored, fewest: u64) {
        let depth = self.nodes[index].depth;
        let games = answer.results.games();
        let often = answer.moves.into_iter().filter(|played| played.results.games() >= fewest);
        let moves: Vec<_> = often.map(|played| Edge { played, to: None }).collect();
        let open = moves.iter().enumerate();
        self.open.extend(
            open.map(|(at, edge)| (edge.played.results.games(), Reverse(depth), Reverse(index), Reverse(at))),
        );
        let node = &mut self.nodes[index];
        (node.games, node.moves) = (games, Some(moves));
    }

    /// Takes the most frequent move into the tree. Gives back whether there was one, and room for it.
    fn take_next(&mut self, deepest: u32) -> bool {
        if self.taken == MOST_MOVES {
            return false;
        }
        let Some((_, _, Reverse(index), Reverse(at))) = self.open.pop() else { return false };
        let node = &self.nodes[index];
        let depth = node.depth + 1;
        let played = node.moves.as_ref().and_then(|moves| moves.get(at));
        // A move that is none in this position was changed by somebody.
        let Some(after) = played.and_then(|edge| after(&node.position, &edge.played)) else { return true };
        let new = self.nodes.len();
        let to = *self.known.entry(after.canonical_fen()).or_insert(new);
        if to == new {
            self.nodes.push(Node { position: after, depth: u32::MAX, games: 0, moves: None });
        }
        if let Some(edge) = self.nodes[index].moves.as_mut().and_then(|moves| moves.get_mut(at)) {
            edge.to = Some(to);
        }
        self.taken += 1;
        self.reach(to, depth, deepest);
        true
    }

    /// The moves that were taken. The first positions come first, so that each is told where the way to it is the shortest.
    fn told(mut self) -> Vec<TreeMove> {
        // A position that was found on a longer way has another number of moves.
        let first = &self.nodes[0].position;
        let first = 2 * first.fullmove_number() + u32::from(first.side() == Color::Black);
        let mut lines: Vec<Option<String>> = vec![None; self.nodes.len()];
        lines[0] = Some(String::new());
        let mut told: Vec<Vec<(TreeMove, Option<usize>)>> = Vec::new();
        told.resize_with(self.nodes.len(), Vec::new);
        let mut next = VecDeque::from([0]);
        while let Some(index) = next.pop_front() {
            let node = &mut self.nodes[index];
            for Edge { played, to } in node.moves.take().unwrap_or_default() {
                let Some(to) = to else { continue };
                let tree_move = TreeMove {
                    played,
                    move_number: (first + node.depth) / 2,
                    side: node.position.side(),
                    games_before: node.games,
                    same_as: lines[to].clone(),
                    moves: Vec::new(),
                };
                let leads_to = tree_move.same_as.is_none().then_some(to);
                if leads_to.is_some() {
                    lines[to] = Some(tree_move.line_after(lines[index].as_deref().unwrap_or_default()));
                    next.push_back(to);
                }
                told[index].push((tree_move, leads_to));
            }
        }
        with_following(&mut told, 0)
    }
}

/// The moves from a position, with all that follow.
fn with_following(told: &mut [Vec<(TreeMove, Option<usize>)>], index: usize) -> Vec<TreeMove> {
    let moves = std::mem::take(&mut told[index]);
    let whole = |(mut tree_move, leads_to): (TreeMove, Option<usize>)| {
        tree_move.moves = leads_to.map(|node| with_following(told, node)).unwrap_or_default();
        tree_move
    };
    moves.into_iter().map(whole).collect()
}

/// The position after a move that was played.
fn after(position: &Position, played: &ExploredMove) -> Option<Position> {
    let mut after = position.clone();
    after.make(played.code).ok()?;
    Some(after)
}
