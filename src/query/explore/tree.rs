//! What was played from a position, some moves deep.

use std::collections::{HashMap, VecDeque};

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
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExploredTree {
    /// What the position is called.
    pub opening: Option<Opening>,
    /// What came of the games.
    #[serde(flatten, serialize_with = "by_result")]
    #[cfg_attr(feature = "serve", schemars(with = "super::ByResult"))]
    pub results: ResultCounts,
    /// What the side that was asked for scored.
    #[serde(flatten)]
    pub score: Option<SideScore>,
    /// Games that reached it and have no result.
    pub unfinished: u64,
    /// The moves, the most frequent first.
    pub moves: Vec<TreeMove>,
    /// Whether there are more moves than can be told.
    pub is_cut: bool,
}

/// A move of a tree. Its games are those that had the position before it, by whatever moves, and played it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
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

/// A position of the tree while it is made.
struct Node {
    position: Position,
    /// The moves that lead to it.
    line: String,
    depth: u32,
    /// The moves from it, each with the node it leads to, if this one is new.
    moves: Vec<(TreeMove, Option<usize>)>,
}

impl Explore<'_> {
    /// What was played from the position, `depth` half-moves deep. A move is told if so many of a hundred games that had the first
    /// position played it, and one at least. Lists of games are not made, and variations are not looked into.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn tree(&self, depth: u32, least_share: u64) -> store::Result<ExploredTree> {
        let snapshot = self.database.snapshot()?;
        let root = self.node_answer(&self.query.position)?;
        let fewest = (root.results.games() * least_share).div_ceil(100).max(1);
        let mut tree = Growing::of(self.query.position.clone());
        let mut next = VecDeque::from([0]);
        while let Some(index) = next.pop_front() {
            if tree.nodes[index].depth == depth {
                continue;
            }
            // The first positions come first, so that each is told where the way to it is the shortest.
            let answer = self.node_answer(&tree.nodes[index].position)?;
            tree.grow(index, &answer, fewest, &mut next);
        }
        drop(snapshot);
        let Explored { results, score, unfinished, .. } = root;
        let opening = self.name_of_line()?;
        let is_cut = tree.is_cut;
        Ok(ExploredTree { opening, results, score, unfinished, moves: tree.take(0), is_cut })
    }

    fn node_answer(&self, position: &Position) -> store::Result<Explored> {
        let query = PositionQuery::from(position.clone());
        Explore { query: &query, lines: Lines::Main, lists: ListLengths::NONE, limit: None, ..*self }.answer()
    }
}

/// The tree while it is made.
struct Growing {
    nodes: Vec<Node>,
    /// The node of each position, by its canonical FEN.
    known: HashMap<String, usize>,
    moves: usize,
    is_cut: bool,
}

impl Growing {
    fn of(position: Position) -> Self {
        let known = HashMap::from([(position.canonical_fen(), 0)]);
        let nodes = vec![Node { position, line: String::new(), depth: 0, moves: Vec::new() }];
        Self { nodes, known, moves: 0, is_cut: false }
    }

    /// Adds the moves that were played from a position.
    fn grow(&mut self, index: usize, answer: &Explored, fewest: u64, next: &mut VecDeque<usize>) {
        for played in answer.moves.iter().filter(|played| played.results.games() >= fewest) {
            if self.moves == MOST_MOVES {
                self.is_cut = true;
                return;
            }
            let Node { position, line, depth, .. } = &self.nodes[index];
            let Some(after) = after(position, played) else { continue };
            let depth = depth + 1;
            let mut told = TreeMove {
                played: played.clone(),
                move_number: position.fullmove_number(),
                side: position.side(),
                games_before: answer.results.games(),
                same_as: None,
                moves: Vec::new(),
            };
            let line = told.line_after(line);
            let leads_to = match self.known.get(&after.canonical_fen()) {
                Some(&same) => {
                    told.same_as = Some(self.nodes[same].line.clone());
                    None
                }
                None => {
                    let new = self.nodes.len();
                    self.known.insert(after.canonical_fen(), new);
                    self.nodes.push(Node { position: after, line, depth, moves: Vec::new() });
                    next.push_back(new);
                    Some(new)
                }
            };
            self.nodes[index].moves.push((told, leads_to));
            self.moves += 1;
        }
    }

    /// The moves from a position, with all that follow.
    fn take(&mut self, index: usize) -> Vec<TreeMove> {
        let moves = std::mem::take(&mut self.nodes[index].moves);
        let whole = |(mut told, leads_to): (TreeMove, Option<usize>)| {
            told.moves = leads_to.map(|node| self.take(node)).unwrap_or_default();
            told
        };
        moves.into_iter().map(whole).collect()
    }
}

/// The position after a move that was played.
fn after(position: &Position, played: &ExploredMove) -> Option<Position> {
    let mut after = position.clone();
    after.make(played.code).ok()?;
    Some(after)
}
