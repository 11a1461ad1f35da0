//! Counts the moves played from a position, several moves deep.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use serde::Serialize;

use super::{ExploreQuery, MoveStatistics, PositionStatistics, SideScore};
use crate::board::{Color, Position};
use crate::opening::Opening;
use crate::query::position::{PositionQuery, number_before, push_move};
use crate::store::row::ResultCounts;
use crate::store::{self, Lines, ListLengths};

/// The maximum number of moves in a tree. A larger tree would be hard to use, and each of its positions
/// requires a query.
const MOST_MOVES: usize = 10_000;

/// The moves played from a position, as a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MoveTree {
    /// Opening of the position, or of the last named position on the way to it; `null` if there is none.
    pub opening: Option<Opening>,
    /// Games that reached the position, by result.
    #[serde(flatten)]
    pub results: ResultCounts,
    /// Ratings of the requested side. Missing unless a side was requested.
    #[serde(flatten)]
    pub score: Option<SideScore>,
    /// Number of games without a result that reached the position. The numbers of results do not include
    /// them.
    pub unfinished: u64,
    /// Number of games with a result that reached the position and played no move from it.
    #[serde(skip)]
    pub ended: u64,
    /// The moves played from the position, the most frequent first.
    pub moves: Vec<TreeMove>,
    /// Whether moves were omitted because the tree can have at most 10,000. The tree then has the most
    /// frequent moves.
    pub is_cut: bool,
}

/// A move of a tree. Its games are those that reached the position before the move, in any move order, and
/// played the move there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TreeMove {
    /// The move.
    #[serde(flatten)]
    pub played: MoveStatistics,
    /// Number of the move.
    #[serde(skip)]
    pub move_number: u32,
    /// The side that makes the move.
    #[serde(skip)]
    pub side: Color,
    /// Number of games with a result that reached the position before the move.
    pub games_before: u64,
    /// Missing if `moves` lists the moves after this one. Otherwise, they are listed where the same position
    /// occurs elsewhere in the tree. This field is the line from the tree's first position to that
    /// occurrence; empty if it is the first position itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The moves played after this one, the most frequent first.
    pub moves: Vec<Self>,
}

impl TreeMove {
    /// The moves that lead to the position after this move. `line` must lead to the position before this
    /// move.
    #[must_use]
    pub fn line_after(&self, line: &str) -> String {
        let mut line = line.to_owned();
        push_move(&mut line, self.move_number, self.side, &self.played.san);
        line
    }

    /// The number as written before the move: `3.`, or `3...` for a move of Black.
    #[must_use]
    pub fn number(&self) -> String {
        number_before(self.move_number, self.side)
    }
}

impl MoveTree {
    /// Whether no game reached the position.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.results.games() == 0 && self.unfinished == 0
    }
}

impl ExploreQuery<'_> {
    /// Counts the moves played from the position, `depth` half-moves deep. A move is included if at least one
    /// game, and at least `least_share` percent of the games that reached the first position, played the
    /// move. Games without a result are not counted. If there are more moves than a tree can have, the tree
    /// contains the most frequent ones. Neither lists of games nor variations are included.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn tree(&self, depth: u32, least_share: u64) -> store::Result<MoveTree> {
        let snapshot = self.database.snapshot()?;
        let root = self.node_answer(&self.query.position)?;
        let fewest = (root.results.games() * least_share).div_ceil(100).max(1);
        let mut tree = TreeBuilder::of(self.query.position.clone());
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
        let PositionStatistics { results, score, unfinished, ended, .. } = root;
        let opening = self.opening()?;
        let is_cut = !tree.open.is_empty();
        Ok(MoveTree { opening, results, score, unfinished, ended, moves: tree.in_order(), is_cut })
    }

    fn node_answer(&self, position: &Position) -> store::Result<PositionStatistics> {
        let query = PositionQuery::from(position.clone());
        ExploreQuery { query: &query, lines: Lines::Main, lists: ListLengths::NONE, limit: None, ..*self }
            .answer()
    }
}

/// A position of the tree under construction.
struct Node {
    position: Position,
    /// The length, in half-moves, of the shortest line in the tree that leads to it; `u32::MAX` if not yet
    /// known.
    depth: u32,
    /// The number of games with a result that reached it.
    games: u64,
    /// The moves played often enough to be candidates; empty until computed.
    moves: Vec<Edge>,
}

/// A move from a position.
struct Edge {
    played: MoveStatistics,
    /// The node that the move leads to; `None` if the move is not in the tree.
    to: Option<usize>,
}

/// A candidate move: its number of games, the number of half-moves before it, the node before it, and its
/// index among the moves of this node. The greatest entry is added next: the most frequent move or, among
/// equally frequent ones, the move with the shortest path.
type Open = (u64, Reverse<u32>, Reverse<usize>, Reverse<usize>);

/// The tree under construction. The most frequent moves are added first, so that only rarer moves are left
/// out.
struct TreeBuilder {
    nodes: Vec<Node>,
    /// The node of each position, by its canonical FEN.
    known: HashMap<String, usize>,
    /// Nodes whose moves are still to be computed.
    unanswered: VecDeque<usize>,
    open: BinaryHeap<Open>,
    taken: usize,
}

impl TreeBuilder {
    fn of(position: Position) -> Self {
        let known = HashMap::from([(position.canonical_fen(), 0)]);
        let nodes = vec![Node { position, depth: u32::MAX, games: 0, moves: Vec::new() }];
        Self { nodes, known, unanswered: VecDeque::new(), open: BinaryHeap::new(), taken: 0 }
    }

    /// Records that `depth` half-moves lead to a node. If this path is shorter than the known one, the paths
    /// to the following nodes become shorter too.
    fn reach(&mut self, node: usize, depth: u32, deepest: u32) {
        let mut next = vec![(node, depth)];
        while let Some((index, depth)) = next.pop() {
            let node = &mut self.nodes[index];
            if depth >= node.depth {
                continue;
            }
            let is_first = node.depth >= deepest;
            node.depth = depth;
            next.extend(node.moves.iter().filter_map(|edge| Some((edge.to?, depth + 1))));
            if is_first && depth < deepest {
                self.unanswered.push_back(index);
            }
        }
    }

    /// Stores, as candidates for the tree, the moves that at least `fewest` games played from a node's
    /// position.
    fn answer(&mut self, index: usize, answer: PositionStatistics, fewest: u64) {
        let depth = self.nodes[index].depth;
        let games = answer.results.games();
        let often = answer.moves.into_iter().filter(|played| played.results.games() >= fewest);
        let moves: Vec<_> = often.map(|played| Edge { played, to: None }).collect();
        let open = moves.iter().enumerate();
        self.open.extend(
            open.map(|(at, edge)| (edge.played.results.games(), Reverse(depth), Reverse(index), Reverse(at))),
        );
        let node = &mut self.nodes[index];
        (node.games, node.moves) = (games, moves);
    }

    /// Adds the most frequent candidate to the tree. Returns `false` if there is no candidate, or if the tree
    /// has the maximum number of moves.
    fn take_next(&mut self, deepest: u32) -> bool {
        if self.taken == MOST_MOVES {
            return false;
        }
        let Some((_, _, Reverse(index), Reverse(at))) = self.open.pop() else { return false };
        let node = &self.nodes[index];
        let depth = node.depth + 1;
        let mut after = node.position.clone();
        if after.make(node.moves[at].played.code).is_err() {
            // A stored move that is impossible in this position: the database is damaged. `verify` reports
            // it; skip it here.
            return true;
        }
        let new = self.nodes.len();
        let to = *self.known.entry(after.canonical_fen()).or_insert(new);
        if to == new {
            self.nodes.push(Node { position: after, depth: u32::MAX, games: 0, moves: Vec::new() });
        }
        self.nodes[index].moves[at].to = Some(to);
        self.taken += 1;
        self.reach(to, depth, deepest);
        true
    }

    /// The moves of the tree. Nodes are visited breadth-first, so that the moves after each position are
    /// listed on the shortest path to it.
    fn in_order(mut self) -> Vec<TreeMove> {
        // Compute move numbers from the depth. The move number stored in a position can be too great. It
        // belongs to the path on which the position was found first, not to the shortest path.
        let first = &self.nodes[0].position;
        let first = 2 * first.fullmove_number() + u32::from(first.side() == Color::Black);
        let mut lines: Vec<Option<String>> = vec![None; self.nodes.len()];
        lines[0] = Some(String::new());
        let mut moves: Vec<Vec<TreeMove>> = self.nodes.iter().map(|_| Vec::new()).collect();
        // For each listed node: its index, the index of its parent, and the index of the move to it in the
        // parent's `moves`.
        let mut order = vec![(0, 0, 0)];
        let mut visited = 0;
        while let Some(&(index, ..)) = order.get(visited) {
            visited += 1;
            let node = &mut self.nodes[index];
            for Edge { played, to } in std::mem::take(&mut node.moves) {
                let Some(to) = to else { continue };
                let tree_move = TreeMove {
                    played,
                    move_number: (first + node.depth) / 2,
                    side: node.position.side(),
                    games_before: node.games,
                    same_as: lines[to].clone(),
                    moves: Vec::new(),
                };
                if tree_move.same_as.is_none() {
                    lines[to] = Some(tree_move.line_after(lines[index].as_deref().unwrap_or_default()));
                    order.push((to, index, moves[index].len()));
                }
                moves[index].push(tree_move);
            }
        }
        for &(index, before, at) in order.iter().skip(1).rev() {
            let following = std::mem::take(&mut moves[index]);
            moves[before][at].moves = following;
        }
        moves.swap_remove(0)
    }
}
