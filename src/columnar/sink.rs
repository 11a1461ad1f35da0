//! The sink that writes Parquet files.

use std::path::Path;

use rayon::ThreadPool;

use super::game_column::{GameColumn, rows_of};
use super::moves::EncodedMoves;
use super::output::Totals;
use super::schema::{GAME, PROBLEM, SIDE_TABLES, SOURCE};
use super::writer::Writer;
use crate::id::{GameId, SourceId};
use crate::opening::OpeningBook;
use crate::store::row::virtual_table::Cell;
use crate::store::row::{CountedGame, HeaderBatch};
use crate::store::sink::{BatchNumber, GameMoves, PositionEncoder, Sink, Takes};
use crate::store::{Result, SourceTotals};

/// Writes the games of a run, and their data, to files.
pub(crate) struct ParquetFiles<'w> {
    writer: Writer<'w>,
    /// Where the values of each column of `game` come from.
    game_columns: Vec<GameColumn>,
    openings: &'w OpeningBook,
}

impl<'w> ParquetFiles<'w> {
    pub(crate) fn new(writer: Writer<'w>, openings: &'w OpeningBook) -> Self {
        let game_columns =
            GAME.columns.iter().filter_map(|column| GameColumn::from_name(column.name)).collect();
        Self { writer, game_columns, openings }
    }

    /// Writes the tables that are computed from the moves. Must be called after the last game was added.
    pub(crate) fn write_positions(&mut self, pool: &ThreadPool) -> Result<()> {
        self.writer.write_positions(pool)
    }

    /// Adds the row of a source. Reading started at the offset `first_byte`.
    pub(crate) fn add_source(
        &mut self,
        id: SourceId,
        path: &Path,
        first_byte: u64,
        totals: &SourceTotals,
    ) -> Result<()> {
        let (path, digest) = (path.display().to_string(), totals.digest.map(|digest| digest.to_hex()));
        let number = |number: u64| Cell::Integer(number.cast_signed());
        let cells = [
            Cell::Integer(id.0.into()),
            Cell::Text(&path),
            number(first_byte),
            totals.bytes.map_or(Cell::Null, number),
            digest.as_deref().map_or(Cell::Null, Cell::Text),
            number(totals.games),
            number(totals.plies),
            number(totals.problems),
            number(totals.duplicates),
        ];
        self.writer.add_row(&SOURCE, None, cells)
    }

    /// Completes all files.
    pub(crate) fn finish(self) -> Result<Totals> {
        self.writer.finish()
    }
}

impl PositionEncoder for EncodedMoves {
    type Encoded = Self;
    const TAKES: Takes = Takes::Moves;

    fn another(&self) -> Self {
        Self::default()
    }

    fn push_moves(&mut self, &GameMoves { game, setup, codes }: &GameMoves<'_>) {
        self.push(game, setup, codes);
    }

    fn take(&mut self, used: Option<Self>) -> Result<Option<Self>> {
        Ok((!self.is_empty()).then(|| std::mem::replace(self, used.unwrap_or_default())))
    }
}

impl Sink for ParquetFiles<'_> {
    type Encoder = EncodedMoves;

    fn encoder(&self) -> EncodedMoves {
        EncodedMoves::default()
    }

    fn headers(&mut self, batch: &HeaderBatch) -> Result<()> {
        let Self { writer, game_columns, openings, .. } = self;
        for (row, game) in batch.games.iter().enumerate() {
            writer.add_game(game.game, CountedGame::of(game, &batch.text));
            let cells = game_columns.iter().map(|column| column.cell(batch, row, openings));
            writer.add_row(&GAME, Some(game.game), cells)?;
        }
        for table in SIDE_TABLES.into_iter().chain([&PROBLEM]) {
            let (rows, cell) = rows_of(table, batch);
            for row in 0..rows {
                let columns = 0..table.columns.len();
                let cells = columns.map(|column| cell(batch, row, column).unwrap_or(Cell::Null));
                // The first column of a side table is the game id, which determines the directory of the row.
                // The first column of `problem` is a source id. This id has no effect, because `problem` has
                // no directories by date.
                let game = match cell(batch, row, 0) {
                    Some(Cell::Integer(id)) => u32::try_from(id).ok().map(GameId),
                    _ => None,
                };
                writer.add_row(table, game, cells)?;
            }
        }
        Ok(())
    }

    fn positions(&mut self, _: BatchNumber, mut moves: EncodedMoves) -> Result<Option<EncodedMoves>> {
        self.writer.add_moves(&moves)?;
        moves.clear();
        Ok(Some(moves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::row::ProblemRow;
    use crate::store::row::virtual_table::Columns as _;

    #[test]
    fn columns_agree_with_the_rows() {
        for table in SIDE_TABLES {
            let side = HeaderBatch::SIDE_TABLES.iter().find(|side| side.name == table.name).unwrap();
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            assert_eq!(columns, side.columns, "{}", table.name);
        }
        // `game_moves`, a table that only compact databases have, is not written as Parquet.
        assert_eq!(SIDE_TABLES.len() + 1, HeaderBatch::SIDE_TABLES.len());
        let columns: Vec<&str> = PROBLEM.columns.iter().map(|column| column.name).collect();
        assert_eq!(columns, ProblemRow::COLUMNS);
        for column in GAME.columns {
            assert!(GameColumn::from_name(column.name).is_some(), "{}", column.name);
        }
    }
}
