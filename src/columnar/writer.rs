//! Writes games to files; used by the sink of a run and by the export of a database.

use std::path::PathBuf;

use rayon::ThreadPool;

use super::by_key::{ByKey, PREFIX_BITS, PlayedOccurrence, PlayedOccurrences};
use super::game::{Game, Games, PartitionBy, game_id};
use super::moves::{EncodedMoves, MoveFile};
use super::output::{Output, Totals, WrittenBy};
use super::positions::Positions;
use super::schema::Table;
use super::small_tables::SmallTables;
use crate::id::GameId;
use crate::store::Result;
use crate::store::row::virtual_table::Cell;

/// The approximate size of the files of some games in bytes, as measured on collections with short and long
/// headers.
pub(crate) fn file_bytes(games: u64, plies: u64) -> u64 {
    const BYTES_A_PLY: u64 = 30;
    const BYTES_A_GAME: u64 = 60;
    plies.saturating_mul(BYTES_A_PLY).saturating_add(games.saturating_mul(BYTES_A_GAME))
}

#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    pub(crate) partition_by: PartitionBy,
    pub(crate) continuation_threshold: u32,
    /// Whether the run or a job writes the tables that are sorted by key.
    pub(crate) by_key: WrittenBy,
    /// The memory for sorting positions, in bytes.
    pub(crate) memory: u64,
    /// The directory of temporary files.
    pub(crate) temp_dir: PathBuf,
}

/// The result of sorting positions.
pub(super) struct Sorted {
    /// The number of distinct keys.
    pub(super) distinct: u64,
    /// The number of bytes written to temporary files.
    pub(super) spilled_bytes: u64,
}

/// Receives games and their rows. At the end, writes the tables that are computed from the moves of the
/// games.
pub(crate) struct Writer<'w> {
    output: Output,
    options: WriteOptions,
    is_stopped: &'w (dyn Fn() -> bool + Sync),
    small: Option<SmallTables>,
    games: Games,
    moves: Option<MoveFile>,
}

impl<'w> Writer<'w> {
    /// Starts writing.
    pub(crate) fn new(
        output: Output,
        options: WriteOptions,
        is_stopped: &'w (dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        let moves = MoveFile::create(&options.temp_dir)?;
        let (small, moves) = (Some(SmallTables::default()), Some(moves));
        Ok(Self { output, options, is_stopped, small, games: Games::default(), moves })
    }

    /// Adds the data of a game, before its rows.
    pub(super) fn add_game(&mut self, id: GameId, game: Game) {
        self.games.insert(id, game);
    }

    /// Adds a row of a table. The shard becomes the upper half of `game_id`.
    pub(super) fn add_row<'c>(
        &mut self,
        table: &'static Table,
        game: Option<GameId>,
        cells: impl IntoIterator<Item = Cell<'c>>,
    ) -> Result<()> {
        let shard = self.output.shard();
        let cells = table.columns.iter().zip(cells).map(|(column, cell)| match cell {
            Cell::Integer(id) if column.name == "game_id" => {
                Cell::Integer(u32::try_from(id).map_or(id, |id| game_id(shard, GameId(id))))
            }
            other => other,
        });
        let date = self.options.partition_by.of(self.games.of(game.unwrap_or_default()));
        let small = self.small.as_mut().expect("until the end");
        small.push(&self.output, table, date, cells)
    }

    /// Adds the moves of some games.
    pub(super) fn add_moves(&mut self, moves: &EncodedMoves) -> Result<()> {
        self.moves.as_mut().expect("until the end").append(moves)
    }

    /// Writes all positions. Called after the last game was added.
    pub(super) fn write_positions(&mut self, pool: &ThreadPool) -> Result<Sorted> {
        let moves = self.moves.take().expect("until the end").read()?;
        let (memory, directory) = (self.options.memory, self.options.temp_dir.clone());
        let visits = PlayedOccurrences::with_bits(PREFIX_BITS, memory, directory)?;
        let threads = pool.current_num_threads();
        let (output, games, is_stopped) = (&self.output, &self.games, self.is_stopped);
        Positions {
            output,
            games,
            moves: &moves,
            partition_by: self.options.partition_by,
            threads,
            is_stopped,
        }
        .write(&visits)?;
        let at_once = usize::try_from(memory / 6 / threads as u64).unwrap_or(usize::MAX).max(1 << 20);
        let threshold = self.options.continuation_threshold.max(1);
        let at_once = at_once / size_of::<PlayedOccurrence>();
        let by_key = ByKey { output, games, moves: &moves, threshold, at_once, is_stopped };
        let distinct = match self.options.by_key {
            WrittenBy::Run => by_key.write(&visits, pool)?,
            WrittenBy::Job => by_key.write_together(&visits)?,
        };
        Ok(Sorted { distinct, spilled_bytes: moves.bytes() + visits.spilled() })
    }

    /// Completes all files, and lists them in the manifest.
    pub(super) fn finish(mut self) -> Result<Totals> {
        self.small.take().expect("until the end").finish(&self.output)?;
        let Self { mut output, options, .. } = self;
        output.complete_empty_tables(options.partition_by)?;
        output.finish(options.partition_by.as_str(), options.continuation_threshold, options.by_key)
    }
}
