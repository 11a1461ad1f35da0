//! What a player likes to play: the first moves of games as a tree.

use std::collections::HashMap;

use serde::Serialize;

use super::Record;
use crate::board::{MoveCode, Position};
use crate::query::position::push_move;
use crate::store::PlayedGame;

/// A move that was played in some games after the same moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct LineNode {
    /// How many half-moves were played up to this one, which counts.
    pub ply: u32,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// The line of most games in the tree that comes to the same position, if it is another one: `1. d4 Nf6 2. c4`. The games of both are
    /// counted apart.
    pub transposes_to: Option<String>,
    /// What came of the games.
    #[serde(flatten)]
    pub record: Record,
    /// How games went on, the most frequent move first.
    pub next: Vec<Self>,
}

/// The tree while games are counted.
#[derive(Debug, Default)]
pub(super) struct Counting {
    record: Record,
    next: Vec<(MoveCode, Self)>,
}

impl Counting {
    /// Counts a game by its first moves.
    pub(super) fn count(&mut self, game: &PlayedGame, moves: &[MoveCode]) {
        self.record.count(game);
        let Some((&code, rest)) = moves.split_first() else { return };
        let at = self.next.iter().position(|(other, _)| *other == code).unwrap_or_else(|| {
            self.next.push((code, Self::default()));
            self.next.len() - 1
        });
        self.next[at].1.count(game, rest);
    }

    /// The moves of at least so many games, as a tree.
    pub(super) fn tree(self, fewest: u64) -> Vec<LineNode> {
        let mut nodes = self.nodes(&Position::start(), fewest, 1);
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
        nodes
    }

    fn nodes(mut self, position: &Position, fewest: u64, ply: u32) -> Vec<LineNode> {
        self.next.retain(|(_, counting)| counting.record.games >= fewest);
        self.next.sort_by_key(|(code, counting)| (std::cmp::Reverse(counting.record.games), code.bits()));
        let node = |(code, counting): (MoveCode, Self)| {
            let mut after = position.clone();
            // A move that is none in this position was changed by somebody.
            after.make(code).ok()?;
            Some(LineNode {
                ply,
                san: position.san(code),
                uci: position.uci(code).to_string(),
                transposes_to: None,
                record: counting.record.clone(),
                next: counting.nodes(&after, fewest, ply + 1),
            })
        };
        self.next.into_iter().filter_map(node).collect()
    }
}

/// Visits all nodes that follow a position and its line, each with the canonical FEN of its position and its line.
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
