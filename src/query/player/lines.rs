//! A player's opening moves: the first moves of games as a tree.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use serde::Serialize;

use super::score::Record;
use crate::board::{MoveCode, Position};
use crate::query::position::push_move;
use crate::sorted::{sort_by, sort_by_key};
use crate::store::PlayedGame;

/// The maximum number of moves in a tree: more are useless.
const MOST_MOVES: usize = 10_000;

/// A move that a player's games have after the same earlier moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineNode {
    /// Number of half-moves up to and including this one: 1 for the first move of the game.
    pub ply: u32,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// The most frequent line of the tree that reaches the same position by other moves: `1. d4 Nf6 2. c4`.
    /// The games of both lines are counted separately. `null` if this line is the most frequent one.
    pub transposes_to: Option<String>,
    /// Record of the games with this line.
    #[serde(flatten)]
    pub record: Record,
    /// The moves played after this one, the most frequent first.
    pub next: Vec<Self>,
}

/// Builds a tree of games by their first moves.
#[derive(Debug, Default)]
pub(super) struct TreeBuilder<'g> {
    games: Vec<(Box<[MoveCode]>, &'g PlayedGame)>,
}

/// A move of the tree under construction. Its games are consecutive in the sorted list.
struct Node {
    code: MoveCode,
    games: Range<usize>,
    ply: usize,
    /// Moves after it that are in the tree.
    next: Vec<usize>,
}

impl<'g> TreeBuilder<'g> {
    /// Adds a game with its first moves.
    pub(super) fn count(&mut self, game: &'g PlayedGame, moves: &[MoveCode]) {
        self.games.push((moves.into(), game));
    }

    /// The moves of at least `fewest` games, as a tree. If there are more than [`MOST_MOVES`], only the most
    /// frequent. Also returns whether moves were left out.
    pub(super) fn tree(mut self, fewest: u64) -> (Vec<LineNode>, bool) {
        sort_by(&mut self.games, |(one, _), (other, _)| {
            one.iter().map(|code| code.bits()).cmp(other.iter().map(|code| code.bits()))
        });
        let (taken, is_cut) = self.most_frequent(fewest);
        let mut nodes = self.nodes(&taken, 0, &Position::start());
        let mut lines: HashMap<String, (u64, String)> = HashMap::new();
        visit(&mut nodes, &Position::start(), "", &mut |node, fen, line| {
            let games = node.record.games;
            match lines.get_mut(&fen) {
                Some((most, _)) if *most >= games => {}
                Some(most) => *most = (games, line.to_owned()),
                None => drop(lines.insert(fen, (games, line.to_owned()))),
            }
        });
        visit(&mut nodes, &Position::start(), "", &mut |node, fen, line| {
            node.transposes_to = lines.get(&fen).map(|(_, most)| most).filter(|most| *most != line).cloned();
        });
        (nodes, is_cut)
    }

    /// The most frequent moves; among equally frequent ones, those of the shortest lines. The first node is
    /// the root, without a move. Also returns whether moves were left out.
    fn most_frequent(&self, fewest: u64) -> (Vec<Node>, bool) {
        let mut taken =
            vec![Node { code: MoveCode::NULL, games: 0..self.games.len(), ply: 0, next: Vec::new() }];
        let mut open = BinaryHeap::new();
        let mut at = 0;
        loop {
            for (code, games) in self.moves_after(&taken[at]) {
                if games.len() as u64 >= fewest {
                    let ply = taken[at].ply + 1;
                    open.push((games.len(), Reverse((ply, games.start, games.end, code.bits(), at))));
                }
            }
            let Some((_, Reverse((ply, start, end, _, before)))) = open.pop() else { return (taken, false) };
            if taken.len() > MOST_MOVES {
                return (taken, true);
            }
            at = taken.len();
            let code = self.games[start].0[ply - 1];
            taken.push(Node { code, games: start..end, ply, next: Vec::new() });
            taken[before].next.push(at);
        }
    }

    /// The moves played after a node, each with the range of its games.
    fn moves_after(&self, node: &Node) -> impl Iterator<Item = (MoveCode, Range<usize>)> {
        let (first, ply) = (node.games.start, node.ply);
        let code = move |(moves, _): &(Box<[MoveCode]>, &PlayedGame)| moves.get(ply).copied();
        let groups = self.games[node.games.clone()].chunk_by(move |one, other| code(one) == code(other));
        let mut end = first;
        groups.filter_map(move |group| {
            let start = end;
            end += group.len();
            Some((code(&group[0])?, start..end))
        })
    }

    fn nodes(&self, taken: &[Node], at: usize, position: &Position) -> Vec<LineNode> {
        let mut next = taken[at].next.clone();
        sort_by_key(&mut next, |&index| (Reverse(taken[index].games.len()), taken[index].code.bits()));
        let told = |index: usize| {
            let node = &taken[index];
            let mut after = position.clone();
            // A stored move that is impossible in this position: the database is damaged. `verify` reports
            // it; skip it here.
            after.make(node.code).ok()?;
            let mut record = Record::default();
            self.games[node.games.clone()].iter().for_each(|(_, game)| record.count(game));
            Some(LineNode {
                ply: u32::try_from(node.ply).unwrap_or(u32::MAX),
                san: position.san(node.code),
                uci: position.uci(node.code).to_string(),
                transposes_to: None,
                record,
                next: self.nodes(taken, index, &after),
            })
        };
        next.into_iter().filter_map(told).collect()
    }
}

/// Calls `see` for all nodes after a position, to which `line` leads: with the node, the canonical FEN of the
/// position after its move, and the line up to its move.
fn visit(
    nodes: &mut [LineNode],
    position: &Position,
    line: &str,
    see: &mut impl FnMut(&mut LineNode, String, &str),
) {
    for node in nodes {
        let (mut after, mut line) = (position.clone(), line.to_owned());
        push_move(&mut line, position.fullmove_number(), position.side(), &node.san);
        if after.play_san(node.san.as_bytes()).is_ok() {
            see(node, after.canonical_fen(), &line);
            visit(&mut node.next, &after, &line, see);
        }
    }
}
