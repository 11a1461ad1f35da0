//! Computes, on all threads, the changes that added games make to visited positions, and writes the changes on
//! one thread.

use crate::board::{MoveCode, Position, PositionKey};
use crate::channel::{Receiver, Sender};
use crate::index::visited_position::{
    CountedGame, Fens, Tracker, VisitedPosition, compare_fens, count_to_look_up, to_json,
};
use crate::index::{Error, Result};
use crate::store::read::occurrence::visit::VisitedRows;
use crate::store::row::{ContinuationRow, ResultCounts, Text, VisitedPositionBatch, VisitedPositionRow};
use crate::store::visit_set::{PackingBuffers, add_to_block};
use crate::store::{BulkLoader, Snapshot};

/// A change of a visited position's row, to be sent to the writing thread.
pub(crate) enum Change {
    /// The position has no row, so nothing changes.
    Nothing,
    /// Two positions share the key: the row is removed.
    Remove(PositionKey),
    Add(Box<Addition>),
    /// Rows of new games must be read first. Only the writing thread can read them, because they are not yet
    /// committed.
    ToRead(Box<VisitedPosition>),
}

/// The data added to a row.
pub(crate) struct Addition {
    key: PositionKey,
    counts: ResultCounts,
    unfinished: u32,
    /// The new list of the best-rated games, and the new list of the latest games, as JSON; `None` if a list
    /// does not change.
    top_games: Option<String>,
    recent_games: Option<String>,
    moves: Vec<(MoveCode, ResultCounts)>,
    /// The games that reached the position, in blocks: for each changed block, its index and its new
    /// contents.
    visits: Vec<(u32, Vec<u8>)>,
}

/// Receives the counts of the new games from `found`, in pieces, and sends the changes to `ready`. Computes
/// each change that depends only on the database as it was before the run; sends the other positions as
/// [`Change::ToRead`]. Ends when there are no more pieces, or when the receiver of `ready` is gone.
pub(crate) fn precompute(
    tracker: &Tracker<'_>,
    found: &Receiver<Vec<VisitedPosition>>,
    ready: &Sender<Vec<Change>>,
) -> Result<()> {
    let known = Snapshot::open_snapshot(tracker.target)?;
    for piece in found.iter() {
        tracker.sorting.progress.check()?;
        let precompute = |visited: VisitedPosition| {
            if reads_new_rows(&visited, tracker) {
                return Ok(Change::ToRead(Box::new(visited)));
            }
            Change::of(visited, tracker, &known)
        };
        let piece = piece.into_iter().map(precompute).collect::<Result<_>>()?;
        if ready.send(piece).is_err() {
            break;
        }
    }
    Ok(())
}

/// Whether rows of new games must be read to compute the change of a position.
fn reads_new_rows(visited: &VisitedPosition, tracker: &Tracker<'_>) -> bool {
    let is_told = visited.standard.is_none() || tracker.reached.of(visited.key).is_some();
    !(visited.to_compare.is_empty() && visited.to_look_up.is_empty() && is_told)
}

impl Change {
    /// The change of a position's row; `Nothing` if `rows` does not have this row. Two positions share the
    /// key if the new games reached a position with another FEN, or if one of the new moves is impossible.
    fn of(mut visited: VisitedPosition, tracker: &Tracker<'_>, rows: &impl VisitedRows) -> Result<Self> {
        let key = visited.key;
        let Some(old) = rows.lists(key)? else { return Ok(Self::Nothing) };
        let Some(moves) = moves(&mut visited, old.fen, tracker) else { return Ok(Self::Remove(key)) };
        // A game that a user deleted counts as a game without rating and date.
        let outcomes = &tracker.outcomes;
        let elo_sum = |game| Ok::<_, Error>(outcomes.of(game)?.and_then(CountedGame::elo_sum).unwrap_or(0));
        let day = |game| Ok::<_, Error>(outcomes.of(game)?.map_or(0, CountedGame::day));
        let top_games = visited.top.with(&old.top_games, elo_sum)?.as_deref().map(to_json);
        let recent_games = visited.recent.with(&old.recent_games, day)?.as_deref().map(to_json);
        visited.visits.pack(&mut PackingBuffers::default());
        let mut visits = Vec::new();
        for (block, games) in visited.visits.blocks() {
            // An invalid set is kept: readers count the rows instead, and `verify` reports it.
            let all = match rows.visits(key, block)? {
                Some(old) => add_to_block(&old, games),
                None => Some(games.to_vec()),
            };
            visits.extend(all.map(|all| (block, all)));
        }
        let VisitedPosition { counts, unfinished, .. } = visited;
        let addition = Addition { key, counts, unfinished, top_games, recent_games, moves, visits };
        Ok(Self::Add(Box::new(addition)))
    }
}

/// The new moves of a position, with their codes. `None` if two positions share the key: the reached position
/// has a FEN other than `fen` from the database, or one of the moves is impossible.
fn moves(
    visited: &mut VisitedPosition,
    fen: String,
    tracker: &Tracker<'_>,
) -> Option<Vec<(MoveCode, ResultCounts)>> {
    let reached = tracker.reached.of(visited.key);
    visited.fens.observe(&fen);
    if let Some(reached) = reached {
        visited.fens.observe_all(&reached.fens);
    }
    let Fens::One(fen) = &visited.fens else { return None };
    let mut position = None;
    // Nearly all codes are known from reading games. The others are found by playing the move in the position.
    let mut code = |short| {
        reached.and_then(|reached| reached.code(short)).or_else(|| {
            let position = match &position {
                Some(position) => position,
                None => position.insert(Position::from_fen(fen.as_bytes()).ok()?.0),
            };
            position.clone().make_short(short)
        })
    };
    visited.moves.iter().map(|&(short, counts)| Some((code(short)?, counts))).collect()
}

/// Writes the changes of rows.
pub(crate) struct ChangeWriter<'w, 'c> {
    pub(crate) tracker: &'w Tracker<'w>,
    pub(crate) loader: &'w mut BulkLoader<'c>,
    pub(crate) batch: VisitedPositionBatch,
}

impl ChangeWriter<'_, '_> {
    /// Writes the new data of a position, using the current rows.
    pub(crate) fn write_new(&mut self, mut visited: VisitedPosition) -> Result<()> {
        count_to_look_up(&mut visited, self.loader)?;
        // Positions are also compared if they were not recorded when games were read.
        let standard = visited.standard.take();
        if self.tracker.reached.of(visited.key).is_none() {
            visited.to_compare.extend(standard);
        }
        compare_fens(&mut visited, self.loader)?;
        self.write(Change::of(visited, self.tracker, self.loader)?)
    }

    /// Writes a change. Computes it first, if that has not been done.
    pub(crate) fn write(&mut self, change: Change) -> Result<()> {
        let addition = match change {
            Change::Nothing => return Ok(()),
            Change::Remove(key) => return Ok(self.loader.remove_visited(key)?),
            Change::ToRead(visited) => return self.write_new(*visited),
            Change::Add(addition) => *addition,
        };
        let Addition { key, counts, unfinished, top_games, recent_games, moves, visits } = addition;
        let batch = &mut self.batch;
        batch.positions.push(VisitedPositionRow {
            key,
            fen: Text::default(),
            counts,
            unfinished,
            top_games: Text::push(&mut batch.text, &top_games.unwrap_or_default()),
            recent_games: Text::push(&mut batch.text, &recent_games.unwrap_or_default()),
        });
        let row = |(move_code, counts)| ContinuationRow { key, move_code, counts };
        batch.continuations.extend(moves.into_iter().map(row));
        for (block, games) in visits {
            self.loader.put_visits(key, block, &games)?;
        }
        if self.batch.positions.len() >= 1024 { self.finish() } else { Ok(()) }
    }

    /// Writes the buffered rows.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.tracker.sorting.progress.check()?;
        self.loader.add_to_visited(&self.batch)?;
        self.batch.clear();
        Ok(())
    }
}
