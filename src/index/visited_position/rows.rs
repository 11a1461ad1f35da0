//! Writes the rows of visited positions. Finds their FENs and full move codes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::board::{GameResult, KeyMap, MoveCode, Position, PositionKey, ShortMove};
use crate::id::Level;
use crate::index::Result;
use crate::index::visited_position::{Fens, VisitedPosition};
use crate::store::BulkLoader;
use crate::store::row::{ContinuationRow, Text, VisitedPositionBatch, VisitedPositionRow};
use crate::store::visit_set::{PackingBuffers, PlayedMove, Visits};

/// Writes the rows of a level to `level_position`, `level_continuation` and `visit_set`. The tables of games
/// and positions must be complete.
///
/// The counts contain only the key of a position and the short codes of the moves. Nearly all visited
/// positions are found by walking from the start position, because a move from another visited position leads
/// to them. For other positions, and for positions that games from set-up positions reached, rows of
/// `game_position` are read. If two positions share a key, neither gets a row. This is detected if the FENs
/// that were read differ, if walks lead to different positions with this key, or if a move is impossible.
pub(crate) fn write(level: Level, mut visited: Vec<VisitedPosition>, loader: &BulkLoader<'_>) -> Result<()> {
    for visited in &mut visited {
        compare_fens(visited, loader)?;
    }
    visited.retain(|visited| visited.fens != Fens::Several);
    for visited in &mut visited {
        count_to_look_up(visited, loader)?;
    }
    let results = Walk::new(&visited).send(|visited| match (&visited.fens, visited.standard) {
        (Fens::Unknown, Some((game, ply))) => Ok(Some(loader.position_at(game, ply)?.fen)),
        (Fens::One(fen), _) => Ok(Some(fen.clone())),
        _ => Ok(None),
    })?;
    const AT_ONCE: usize = 4096;
    let (mut batch, mut buffers) = (VisitedPositionBatch::default(), PackingBuffers::default());
    let mut visits = Vec::new();
    let mut rows = visited.into_iter().zip(results).peekable();
    while let Some((mut visited, result)) = rows.next() {
        if let (Fens::One(fen), Some(codes)) = result {
            visited.visits.pack(&mut buffers);
            visits.push((visited.key, std::mem::take(&mut visited.visits)));
            add(&mut batch, (level, visited), &fen, &codes);
        }
        if batch.positions.len() >= AT_ONCE || rows.peek().is_none() {
            loader.append_visited(&batch)?;
            batch.clear();
        }
    }
    write_visits(level, &visits, loader)
}

/// Writes the games that reached each position. The input is in key order. The rows are written in the order
/// of their table: by block, then by key.
fn write_visits(level: Level, visits: &[(PositionKey, Visits)], loader: &BulkLoader<'_>) -> Result<()> {
    let mut sets: Vec<_> = visits.iter().map(|(_, visits)| visits.blocks().peekable()).collect();
    let mut order = BinaryHeap::new();
    for (index, blocks) in sets.iter_mut().enumerate() {
        order.extend(blocks.peek().map(|&(block, _)| Reverse((block, index))));
    }
    while let Some(Reverse((_, index))) = order.pop() {
        let blocks = &mut sets[index];
        if let Some((block, games)) = blocks.next() {
            loader.put_visits((level, visits[index].0), block, games)?;
        }
        order.extend(blocks.peek().map(|&(block, _)| Reverse((block, index))));
    }
    Ok(())
}

/// Compares the FENs of the occurrences in games from set-up positions with each other, and with the FEN of an
/// occurrence in a game from the standard start. Reads nothing if no game from a set-up position reached the
/// position.
fn compare_fens(visited: &mut VisitedPosition, loader: &BulkLoader<'_>) -> Result<()> {
    let places = std::mem::take(&mut visited.to_compare);
    if places.is_empty() {
        return Ok(());
    }
    for (game, ply) in visited.standard.into_iter().chain(places) {
        if !visited.fens.observe(&loader.position_at(game, ply)?.fen) {
            break;
        }
    }
    Ok(())
}

/// Looks up and counts the moves that the sorted occurrences could not store.
fn count_to_look_up(visited: &mut VisitedPosition, loader: &BulkLoader<'_>) -> Result<()> {
    for (game, ply, counted_game) in std::mem::take(&mut visited.to_look_up) {
        let played = loader.position_at(game, ply)?.move_code.map(ShortMove::new);
        visited.visits.push(game, PlayedMove::new(played));
        if let Some(played) = played
            && counted_game.result() != GameResult::Unknown
        {
            counted_game.add_to(visited.counts.of_move(played));
        }
    }
    Ok(())
}

fn add(
    batch: &mut VisitedPositionBatch,
    (level, visited): (Level, VisitedPosition),
    fen: &str,
    codes: &[MoveCode],
) {
    let VisitedPosition { key, counts, lists, .. } = visited;
    let position = VisitedPositionRow {
        level,
        key,
        fen: Text::push(&mut batch.text, fen),
        counts: counts.all,
        unfinished: counts.unfinished,
        top_games: Text::push(&mut batch.text, &lists.top.to_json()),
        recent_games: Text::push(&mut batch.text, &lists.recent.to_json()),
    };
    batch.positions.push(position);
    let first = batch.continuations.len();
    for ((_, counts), &move_code) in counts.moves.into_iter().zip(codes) {
        batch.continuations.push(ContinuationRow { level, key, move_code, counts });
    }
    batch.continuations[first..].sort_unstable_by_key(|row| row.move_code);
}

/// Walks from one visited position to another by the moves played.
struct Walk<'c> {
    visited: &'c [VisitedPosition],
    indexes: KeyMap<usize>,
    /// For each visited position, what is known about its FENs.
    fens: Vec<Fens>,
    /// Positions that were reached but not yet processed.
    queue: Vec<(usize, Position)>,
}

impl<'c> Walk<'c> {
    fn new(visited: &'c [VisitedPosition]) -> Self {
        let indexes = visited.iter().enumerate().map(|(index, visited)| (visited.key, index)).collect();
        let fens = visited.iter().map(|visited| visited.fens.clone()).collect();
        Self { visited, indexes, fens, queue: Vec::new() }
    }

    /// Returns, for each visited position in order, the FENs found and the codes of the moves. The codes are
    /// `None` if a move is impossible or the position was not found. `look_up` returns the FEN of a position
    /// to which no walk leads, if this FEN is known.
    fn send(
        mut self,
        mut look_up: impl FnMut(&VisitedPosition) -> Result<Option<String>>,
    ) -> Result<Vec<(Fens, Option<Vec<MoveCode>>)>> {
        let mut codes = vec![None; self.visited.len()];
        let start = Position::start();
        if self.indexes.get(&start.key()).is_some_and(|&index| self.visited[index].standard.is_some()) {
            self.reach(start);
        }
        for index in 0..self.visited.len() {
            self.find_reached_all(&mut codes);
            if codes[index].is_none()
                && let Some(fen) = look_up(&self.visited[index])?
                && let Ok((position, _)) = Position::from_fen(fen.as_bytes())
                && self.fens[index].observe(&fen)
            {
                self.queue.push((index, position));
            }
        }
        self.find_reached_all(&mut codes);
        Ok(self.fens.into_iter().zip(codes).collect())
    }

    fn find_reached_all(&mut self, codes: &mut [Option<Vec<MoveCode>>]) {
        while let Some((at, position)) = self.queue.pop() {
            codes[at] = self.find_reached(at, &position);
        }
    }

    /// Records the FEN of a position to which a walk leads. Adds the position to the queue if it is a visited
    /// one whose FEN was unknown.
    fn reach(&mut self, position: Position) {
        if let Some(&index) = self.indexes.get(&position.key()) {
            let is_first = self.fens[index] == Fens::Unknown;
            if self.fens[index].observe(&position.canonical_fen()) && is_first {
                self.queue.push((index, position));
            }
        }
    }

    fn find_reached(&mut self, index: usize, position: &Position) -> Option<Vec<MoveCode>> {
        let moves = &self.visited[index].counts.moves;
        let mut codes = Vec::with_capacity(moves.len());
        for &(short, _) in moves {
            let mut next = position.clone();
            codes.push(next.make_short(short)?);
            self.reach(next);
        }
        Some(codes)
    }
}
