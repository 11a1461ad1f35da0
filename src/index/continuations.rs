//! Crossroads to rows: their FENs and full move codes are found, and what was counted is written.

use std::collections::HashMap;

use super::crossroads::{Crossroads, to_json};
use super::error::Result;
use crate::board::{MoveCode, Position, PositionKey, ShortMove};
use crate::store::BulkLoader;
use crate::store::row::{ContinuationRow, Text, VisitedBatch, VisitedRow};

/// A crossroads' position and moves in full.
struct Told {
    fen: String,
    /// In the order of the crossroads' moves.
    codes: Vec<MoveCode>,
}

/// Writes the rows of `visited_position` and `continuation`; all other tables must be there.
///
/// A crossroads has but its key and its moves in short. Nearly always it is one move away from another one, so the start
/// position tells them all; for those that are not, a row of `game_position` is read. Where a move does not fit, two
/// positions share the key, and neither gets a row.
pub(super) fn write(mut crossroads: Vec<Crossroads>, loader: &mut BulkLoader<'_>) -> Result<()> {
    for visited in &mut crossroads {
        count_untold(visited, loader)?;
    }
    let told = Walk::new(&crossroads).tell(|visited| {
        let (game, ply) = visited.sample;
        Ok(loader.position_at(game, ply)?.fen)
    })?;
    const AT_ONCE: usize = 4096;
    let mut batch = VisitedBatch::default();
    let mut rows = crossroads.into_iter().zip(told).peekable();
    while let Some((visited, told)) = rows.next() {
        if let Some(told) = told {
            add(&mut batch, visited, &told);
        }
        if batch.positions.len() >= AT_ONCE || rows.peek().is_none() {
            loader.append_visited(&batch)?;
            batch.clear();
        }
    }
    Ok(())
}

/// Counts the moves that were not told, by looking them up.
pub(super) fn count_untold(visited: &mut Crossroads, loader: &BulkLoader<'_>) -> Result<()> {
    for (game, ply, outcome) in std::mem::take(&mut visited.untold) {
        if let Some(code) = loader.position_at(game, ply)?.move_code {
            visited.count_move(ShortMove::new(code), outcome);
        }
    }
    Ok(())
}

fn add(batch: &mut VisitedBatch, mut visited: Crossroads, told: &Told) {
    let key = visited.key;
    let position = VisitedRow {
        key,
        fen: Text::push(&mut batch.text, &told.fen),
        counts: visited.counts,
        unfinished: visited.unfinished,
        top_games: Text::push(&mut batch.text, &to_json(&visited.top.ids())),
        recent_games: Text::push(&mut batch.text, &to_json(&visited.recent.ids())),
    };
    batch.positions.push(position);
    let first = batch.continuations.len();
    for ((_, counts), &move_code) in visited.moves.drain(..).zip(&told.codes) {
        batch.continuations.push(ContinuationRow { key, move_code, counts });
    }
    batch.continuations[first..].sort_unstable_by_key(|row| row.move_code);
}

/// Goes from crossroads to crossroads by the moves that were played.
struct Walk<'c> {
    crossroads: &'c [Crossroads],
    indexes: HashMap<PositionKey, usize>,
    reached: Vec<bool>,
    /// Reached, but not yet looked at.
    queue: Vec<(usize, Position)>,
}

impl<'c> Walk<'c> {
    fn new(crossroads: &'c [Crossroads]) -> Self {
        let indexes = crossroads.iter().enumerate().map(|(index, visited)| (visited.key, index)).collect();
        Self { crossroads, indexes, reached: vec![false; crossroads.len()], queue: Vec::new() }
    }

    /// Tells of all crossroads, in their order, what can be told; `look_up` gives the FEN of one that no walk leads to.
    fn tell(mut self, mut look_up: impl FnMut(&Crossroads) -> Result<String>) -> Result<Vec<Option<Told>>> {
        let mut told: Vec<Option<Told>> = self.crossroads.iter().map(|_| None).collect();
        self.reach(Position::start());
        for index in 0..self.crossroads.len() {
            while let Some((at, position)) = self.queue.pop() {
                told[at] = self.look_around(at, &position);
            }
            if !self.reached[index] {
                self.reached[index] = true;
                let fen = look_up(&self.crossroads[index])?;
                if let Ok((position, _)) = Position::from_fen(fen.as_bytes()) {
                    self.queue.push((index, position));
                }
            }
        }
        while let Some((at, position)) = self.queue.pop() {
            told[at] = self.look_around(at, &position);
        }
        Ok(told)
    }

    fn reach(&mut self, position: Position) {
        if let Some(&index) = self.indexes.get(&position.key())
            && !std::mem::replace(&mut self.reached[index], true)
        {
            self.queue.push((index, position));
        }
    }

    fn look_around(&mut self, index: usize, position: &Position) -> Option<Told> {
        let moves = &self.crossroads[index].moves;
        let mut codes = Vec::with_capacity(moves.len());
        for &(short, _) in moves {
            let mut next = position.clone();
            codes.push(next.make_short(short)?);
            self.reach(next);
        }
        Some(Told { fen: position.canonical_fen(), codes })
    }
}
