//! Writes games to files: games of an indexing run, or of a database that is exported. Tables that are not
//! computed from the moves are called small. Their rows are buffered, and written while games are read.

use std::collections::BTreeMap;

use rayon::ThreadPool;

use super::by_key::{PREFIX_BITS, PlayedOccurrence, PlayedOccurrences};
use super::cells::Columns;
use super::game::{DatePartition, Games, game_id};
use super::moves::{AllGames, EncodedMoves, MoveFile};
use super::output::{Output, Totals, WriteOptions, WrittenBy};
use super::part::{Encoder, Part};
use super::schema::{GAME, GROUP_ROWS, Placed, Table};
use crate::id::GameId;
use crate::store::Result;
use crate::store::row::CountedGame;
use crate::store::row::virtual_table::Cell;

/// The approximate size in bytes of the Parquet files of `games` games with `plies` half-moves in total. The
/// factors were measured on collections with short and long headers.
pub(crate) fn file_bytes(games: u64, plies: u64) -> u64 {
    const BYTES_A_PLY: u64 = 30;
    const BYTES_A_GAME: u64 = 60;
    plies.saturating_mul(BYTES_A_PLY).saturating_add(games.saturating_mul(BYTES_A_GAME))
}

/// Receives games and their rows. At the end, writes the tables that are computed from the moves of the
/// games.
pub(crate) struct Writer<'w> {
    output: Output,
    options: WriteOptions,
    is_stopped: &'w (dyn Fn() -> bool + Sync),
    /// The buffered rows of each table, by the name of the table.
    small: BTreeMap<&'static str, SmallTable>,
    games: Games,
    moves: Option<MoveFile>,
    distinct_positions: u64,
    spilled_bytes: u64,
}

impl<'w> Writer<'w> {
    /// Creates a writer, and a temporary file for the moves.
    pub(crate) fn new(
        output: Output,
        options: WriteOptions,
        is_stopped: &'w (dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        let moves = Some(MoveFile::create(&options.temp_dir)?);
        let (small, games) = (BTreeMap::new(), Games::default());
        let (distinct_positions, spilled_bytes) = (0, 0);
        Ok(Self { output, options, is_stopped, small, games, moves, distinct_positions, spilled_bytes })
    }

    /// Adds the data of a game. Must be called before the rows of the game are added.
    pub(super) fn add_game(&mut self, id: GameId, game: CountedGame) {
        self.games.insert(id, game);
    }

    /// Adds a row of a table. The shard becomes the upper half of `game_id`.
    pub(super) fn add_row<'c>(
        &mut self,
        table: &'static Table,
        game: Option<GameId>,
        cells: impl IntoIterator<Item = Cell<'c>>,
    ) -> Result<()> {
        let shard = self.output.shard;
        let cells = table.columns.iter().zip(cells).map(|(column, cell)| match cell {
            Cell::Integer(id) if column.name == "game_id" => {
                Cell::Integer(u32::try_from(id).map_or(id, |id| game_id(shard, GameId(id))))
            }
            other => other,
        });
        let date = self.options.partition_by.of(self.games.of(game.unwrap_or_default()));
        let new = || SmallTable { encoder: Encoder::new(table), files: BTreeMap::new(), bytes: 0 };
        self.small.entry(table.name).or_insert_with(new).push(&self.output, date, cells)
    }

    /// Adds the moves of some games.
    pub(super) fn add_moves(&mut self, moves: &EncodedMoves) -> Result<()> {
        self.moves.as_mut().expect("until the end").append(moves)
    }

    /// Writes the tables that are computed from the moves. Must be called after the last game was added.
    pub(super) fn write_positions(&mut self, pool: &ThreadPool) -> Result<()> {
        let moves = self.moves.take().expect("until the end").read()?;
        let Self { output, options, is_stopped, games, .. } = &*self;
        let visits = PlayedOccurrences::with_bits(PREFIX_BITS, options.memory, options.temp_dir.clone())?;
        let threads = pool.current_num_threads();
        let all = AllGames { output, options, games, moves: &moves, is_stopped: *is_stopped };
        all.write_positions(&visits, threads)?;
        let at_once = usize::try_from(options.memory / 6 / threads as u64).unwrap_or(usize::MAX).max(1 << 20);
        let at_once = at_once / size_of::<PlayedOccurrence>();
        self.distinct_positions = match options.by_key {
            WrittenBy::Run => all.write_by_key(&visits, pool, at_once)?,
            WrittenBy::Job => all.write_together(&visits, at_once)?,
        };
        self.spilled_bytes = moves.bytes.len() as u64 + visits.spilled();
        Ok(())
    }

    /// Completes all files, and lists them in the manifest.
    pub(super) fn finish(self) -> Result<Totals> {
        let Self { output, options, small, distinct_positions, spilled_bytes, .. } = self;
        for mut table in small.into_values() {
            table.flush(&output)?;
            table.files.into_values().try_for_each(|file| output.complete(file.part))?;
        }
        Ok(Totals { distinct_positions, spilled_bytes, ..output.finish(&options)? })
    }
}

/// The maximum size of a table's buffered rows, in bytes. Each table has its own limit. So the ends of its row
/// groups do not depend on the order in which rows of different tables arrive. The games of a collection can
/// be spread over a thousand months, each with its own file. With a lower limit for `game`, the row groups of
/// these files would have only a few dozen games. Most of the time would be spent on starting row groups.
fn most_bytes(table: &Table) -> usize {
    if table.name == GAME.name { 128 << 20 } else { 32 << 20 }
}

/// The rows of one table, with one file per directory.
struct SmallTable {
    encoder: Encoder,
    files: BTreeMap<Option<DatePartition>, SmallFile>,
    bytes: usize,
}

struct SmallFile {
    columns: Columns,
    part: Option<Part>,
}

impl SmallTable {
    /// Adds a row. `date` selects its directory, if the table has directories by date.
    fn push<'c>(
        &mut self,
        output: &Output,
        date: DatePartition,
        cells: impl IntoIterator<Item = Cell<'c>>,
    ) -> Result<()> {
        let table = self.encoder.table;
        let date = (table.placed == Placed::ByDate).then_some(date);
        let new = || SmallFile { columns: Columns::of_table(table), part: None };
        let file = self.files.entry(date).or_insert_with(new);
        let before = file.columns.bytes;
        file.columns.push(cells);
        self.bytes += file.columns.bytes - before;
        if file.columns.rows >= GROUP_ROWS {
            self.bytes -= file.columns.bytes;
            file.flush(output, &self.encoder, date)?;
        }
        if self.bytes > most_bytes(table) { self.flush(output) } else { Ok(()) }
    }

    /// Writes the buffered rows.
    fn flush(&mut self, output: &Output) -> Result<()> {
        self.bytes = 0;
        self.files.iter_mut().try_for_each(|(date, file)| file.flush(output, &self.encoder, *date))
    }
}

impl SmallFile {
    /// Writes the buffered rows.
    fn flush(&mut self, output: &Output, encoder: &Encoder, date: Option<DatePartition>) -> Result<()> {
        let directories = date.map(|date| date.to_string()).unwrap_or_default();
        output.append(&mut self.part, encoder, &directories, &self.columns.take())
    }
}
