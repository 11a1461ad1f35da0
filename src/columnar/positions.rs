//! Writes `game_position`: replays all games again in parallel, and writes their positions in the order of
//! the games.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use super::by_key::{PlayedOccurrence, PlayedOccurrences};
use super::game::{DatePartition, Games, PartitionBy, game_id};
use super::in_order::in_order;
use super::moves::MoveReader;
use super::output::{OpenPart, Output};
use super::part::{Encoder, RowGroup};
use super::schema::{GAME_POSITION, GROUP_ROWS};
use crate::board::{FenText, MAX_CANONICAL_FEN, MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::sort::Scatter;
use crate::store::{Error, Result};

/// A file with at least this many rows gets no more row groups. These rows take about 250 MB.
const FILE_ROWS: u64 = 256 * GROUP_ROWS as u64;

/// The data for the table, and how to write it.
pub(super) struct Positions<'p> {
    pub(super) output: &'p Output,
    pub(super) games: &'p Games,
    pub(super) moves: &'p MoveReader,
    pub(super) partition_by: PartitionBy,
    pub(super) threads: usize,
    pub(super) is_stopped: &'p (dyn Fn() -> bool + Sync),
}

/// Games of one directory whose rows fit in a row group.
struct Job {
    date: DatePartition,
    games: Vec<GameId>,
}

impl Positions<'_> {
    /// Writes all positions, and adds their occurrences to `visits`.
    pub(super) fn write(&self, visits: &PlayedOccurrences) -> Result<()> {
        let encoder = Encoder::new(&GAME_POSITION);
        let start = (Position::start(), FenText::new(&Position::start()));
        let work = |Job { date, games }: Job| {
            if (self.is_stopped)() {
                return Err(Error::Interrupted);
            }
            let (mut rows, mut groups) = (Rows::default(), Vec::new());
            let mut scatter = Scatter::new(visits, SCATTER_BYTES);
            let mut scattered = Ok(());
            for game in games {
                let moves = self.moves.of(game);
                let id = game_id(self.output.shard(), game);
                moves.replay(&start, |ply, position, placement, code| {
                    rows.push(id, ply, position, placement, code);
                    // A game can have more rows than fit in a group.
                    if rows.ply.len() == GROUP_ROWS {
                        groups.push(encoder.encode(&std::mem::take(&mut rows).finish()));
                    }
                    let visit = PlayedOccurrence::new(position.key(), game, ply, moves.is_setup(), code);
                    if scattered.is_ok() {
                        scattered = scatter.push(visit);
                    }
                });
            }
            scattered.and_then(|()| scatter.finish())?;
            if !rows.ply.is_empty() {
                groups.push(encoder.encode(&rows.finish()));
            }
            Ok((date, groups))
        };
        let mut files = Files { output: self.output, encoder: &encoder, open: None };
        in_order(self.threads, self.jobs().map(Ok), work, |(date, groups)| {
            groups.into_iter().try_for_each(|group| files.append(date, group))
        })?;
        files.finish()
    }

    /// All games as jobs: directory by directory, in order within each directory.
    fn jobs(&self) -> impl Iterator<Item = Job> + Send {
        let date = |game: &GameId| self.partition_by.of(self.games.of(*game));
        let mut games: Vec<GameId> = self.moves.games().collect();
        // The games are in order already, and stay in order within a directory.
        games.sort_by_key(date);
        let mut games = games.into_iter().peekable();
        std::iter::from_fn(move || {
            let first = games.next()?;
            let date = date(&first);
            let mut job = Job { date, games: vec![first] };
            let mut rows = self.moves.of(first).positions();
            while let Some(game) = games.next_if(|game| {
                rows += self.moves.of(*game).positions();
                rows <= GROUP_ROWS && self.partition_by.of(self.games.of(*game)) == date
            }) {
                job.games.push(game);
            }
            Some(job)
        })
    }
}

/// The memory for occurrences that each job collects before sorting, in bytes.
const SCATTER_BYTES: usize = 4 << 20;

/// The columns of `game_position`.
#[derive(Default)]
struct Rows {
    game_id: Vec<i64>,
    ply: Vec<i32>,
    key: Vec<i64>,
    halfmove_clock: Vec<i32>,
    move_code: Vec<Option<i32>>,
    fen_ends: Vec<i32>,
    fens: Vec<u8>,
}

impl Rows {
    #[inline]
    fn push(
        &mut self,
        game_id: i64,
        ply: Ply,
        position: &Position,
        placement: &FenText,
        code: Option<MoveCode>,
    ) {
        let mut space = [0; MAX_CANONICAL_FEN];
        let length = placement.write_at_end(position, &mut space);
        self.fens.extend_from_slice(&space[MAX_CANONICAL_FEN - length..]);
        self.fen_ends.push(i32::try_from(self.fens.len()).unwrap_or(i32::MAX));
        self.game_id.push(game_id);
        self.ply.push(ply.0.cast_signed());
        self.key.push(position.key().as_i64());
        self.halfmove_clock.push(position.halfmove_clock().cast_signed());
        self.move_code.push(code.map(|code| code.bits().cast_signed()));
    }

    /// The columns in the order of the table.
    fn finish(self) -> Vec<ArrayRef> {
        let offsets = std::iter::once(0).chain(self.fen_ends).collect::<ScalarBuffer<i32>>();
        let fens = StringArray::new(OffsetBuffer::new(offsets), Buffer::from_vec(self.fens), None);
        vec![
            Arc::new(Int64Array::from(self.game_id)),
            Arc::new(Int32Array::from(self.ply)),
            Arc::new(Int64Array::from(self.key)),
            Arc::new(Int32Array::from(self.halfmove_clock)),
            Arc::new(Int32Array::from(self.move_code)),
            Arc::new(fens),
        ]
    }
}

/// Writes files one after the other.
struct Files<'f> {
    output: &'f Output,
    encoder: &'f Encoder,
    /// The current file, its directory and its number there.
    open: Option<(DatePartition, u32, OpenPart)>,
}

impl Files<'_> {
    fn append(&mut self, date: DatePartition, group: RowGroup) -> Result<()> {
        let number = match self.open.take() {
            Some((of, number, part)) if of == date && part.part.rows() < FILE_ROWS => {
                return self.open.insert((of, number, part)).2.part.append(group);
            }
            Some((of, number, part)) => {
                self.output.complete(part)?;
                if of == date { number + 1 } else { 0 }
            }
            None => 0,
        };
        let part = self.output.part(self.encoder, &date.to_string(), number)?;
        self.open.insert((date, number, part)).2.part.append(group)
    }

    fn finish(self) -> Result<()> {
        self.open.map_or(Ok(()), |(.., part)| self.output.complete(part))
    }
}
