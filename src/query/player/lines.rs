//! What a player likes to play: the first moves of games as a tree.

use serde::Serialize;

use super::Record;
use crate::board::{MoveCode, Position};
use crate::store::PlayedGame;

/// A move that was played in some games after the same moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineNode {
    /// How many half-moves were played up to this one, which counts.
    pub ply: u32,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
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
        self.nodes(&Position::start(), fewest, 1)
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
                record: counting.record.clone(),
                next: counting.nodes(&after, fewest, ply + 1),
            })
        };
        self.next.into_iter().filter_map(node).collect()
    }
}
