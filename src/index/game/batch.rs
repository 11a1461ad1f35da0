//! Batches of parsed games, which workers number, encode and pass to the sink.

use std::ops::Range;

use crate::board::{MoveCode, Position};
use crate::index::game::Signatures;
use crate::store::row::{CountedGame, GameId, GameNames, HeaderBatch};

/// Data of a game that the game's rows do not contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadGame {
    pub(crate) names: GameNames,
    /// The line in the chunk at which the game begins, from 0.
    pub(crate) line: u64,
    /// The ordinal number of the game in the batch, from 1. Omitted games are counted, too.
    pub(crate) number: u32,
    pub(crate) counted: CountedGame,
    /// The number of the game's move codes in the batch. They follow the codes of the previous game.
    pub(crate) moves: usize,
    pub(crate) start: Start,
}

/// The start position of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Standard,
    /// A set-up position. `GameBatch::setups` has one position for each game with this start, in the same
    /// order.
    Setup,
    /// No start position: the game could not be replayed and has no positions.
    Nowhere,
}

/// Consecutive games of one chunk. Until the batch is numbered, ids count from 0 within the batch, and lines
/// from 0 within the chunk.
#[derive(Debug, Default)]
pub(crate) struct GameBatch {
    pub(crate) headers: HeaderBatch,
    /// One entry per row of `game` in the headers.
    pub(crate) games: Vec<ReadGame>,
    /// The data for finding duplicates.
    pub(crate) signatures: Signatures,
    pub(crate) codes: Vec<MoveCode>,
    pub(crate) setups: Vec<Position>,
    /// The number of games read, including omitted ones.
    pub(crate) read: u32,
    /// The offset, in its source, of the last game read.
    pub(crate) last_game: Option<u64>,
    /// The texts of games with an error, as byte ranges of the chunk.
    pub(crate) rejects: Vec<Range<usize>>,
    /// The number of problems of severity error, and the number of problems of severity warning.
    pub(crate) errors: u64,
    pub(crate) warnings: u64,
}

impl GameBatch {
    /// Clears the batch and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.headers.clear();
        self.games.clear();
        self.signatures.clear();
        self.codes.clear();
        self.setups.clear();
        self.read = 0;
        self.last_game = None;
        self.rejects.clear();
        self.errors = 0;
        self.warnings = 0;
    }

    /// Removes each game whose entry in `is_removed` is `true`, and renumbers the other games. Keeps the
    /// problems of removed games.
    pub(crate) fn remove(&mut self, is_removed: &[bool]) {
        fn retain<T>(rows: &mut Vec<T>, is_removed: impl Fn(usize) -> bool) {
            let mut index = 0..;
            rows.retain(|_| !is_removed(index.next().expect("no end")));
        }
        let flag = |index: usize| is_removed[index];
        let (mut from, mut to) = (0, 0);
        for (game, &is_removed) in self.games.iter().zip(is_removed) {
            if !is_removed {
                self.codes.copy_within(from..from + game.moves, to);
                to += game.moves;
            }
            from += game.moves;
        }
        self.codes.truncate(to);
        let setups = self.games.iter().zip(is_removed).filter(|(game, _)| game.start == Start::Setup);
        let setups: Vec<bool> = setups.map(|(_, &is_removed)| is_removed).collect();
        retain(&mut self.setups, |index| setups[index]);
        retain(&mut self.games, flag);
        retain(&mut self.signatures.games, flag);
        let mut next = 0;
        let new_id = |&is_removed: &bool| {
            let id = (!is_removed).then_some(GameId(next));
            next += u32::from(!is_removed);
            id
        };
        self.headers.features = self.headers.features.kept(|index| !flag(index));
        let ids: Vec<Option<GameId>> = is_removed.iter().map(new_id).collect();
        let id = |game: GameId| ids[game.0 as usize];
        self.headers.renumber_games(id);
        self.headers.problems.iter_mut().for_each(|problem| problem.game = problem.game.and_then(id));
    }

    /// Whether the batch is large enough to be passed on.
    pub(crate) fn is_full(&self) -> bool {
        const CODES: usize = 1 << 18;
        const TEXT: usize = 4 << 20;
        const ROWS: usize = 1 << 14;
        self.codes.len() >= CODES
            || self.headers.text.len() >= TEXT
            || self.games.len().max(self.headers.problems.len()) >= ROWS
    }

    pub(crate) fn game_count(&self) -> u32 {
        u32::try_from(self.games.len()).expect("a batch is small")
    }
}

/// Among the rows from index `first` on, removes each row that is the same as the row before it.
pub(super) fn dedup_from<R: Copy>(rows: &mut Vec<R>, first: usize, is_same: impl Fn(&R, &R) -> bool) {
    let mut kept = first;
    for index in first..rows.len() {
        if kept == first || !is_same(&rows[kept - 1], &rows[index]) {
            rows[kept] = rows[index];
            kept += 1;
        }
    }
    rows.truncate(kept);
}
