//! A run that writes Parquet files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::game::Game;
use super::moves::MoveBlock;
use super::output::Totals;
use super::schema::{
    COMMAND, COMMENT, GAME, MOVE_EVAL, NAG, PROBLEM, SOURCE, TAG, Table, VARIATION, VARIATION_MOVE,
};
use super::writer::Writer;
use crate::board::{MoveCode, Position};
use crate::id::{GameId, OpeningId, SourceId};
use crate::opening::OpeningBook;
use crate::store::Result;
use crate::store::row::virtual_table::{Cell, Rows as _};
use crate::store::row::{GameNames, GameRow, HeaderBatch, ProblemRow, SideTable, Text};
use crate::store::sink::{
    BlockNumber, DuplicateLinks, NewRun, PositionEncoder, PositionView, RunTotals, Sink, SortedOccurrences,
    UnsortedOccurrences as _,
};

/// Writes the games of a run, and what is told of them, into files.
pub(crate) struct ParquetFiles<'w> {
    writer: Option<Writer<'w>>,
    openings: Arc<OpeningBook>,
    /// The codes and names of these, by their numbers.
    names: HashMap<OpeningId, (String, String)>,
    /// The path of each source, and the byte from which it is read.
    sources: HashMap<SourceId, (String, u64)>,
    totals: &'w mut FileTotals,
}

/// What a run wrote.
#[derive(Debug, Default)]
pub(crate) struct FileTotals {
    pub(crate) totals: Totals,
    pub(crate) distinct_positions: u64,
    /// Bytes that went through temporary files.
    pub(crate) spilled_bytes: u64,
}

impl<'w> ParquetFiles<'w> {
    /// Writes through `writer`, and says in `totals` what was written.
    pub(crate) fn new(writer: Writer<'w>, openings: Arc<OpeningBook>, totals: &'w mut FileTotals) -> Self {
        let writer = Some(writer);
        Self { writer, openings, names: HashMap::new(), sources: HashMap::new(), totals }
    }

    fn writer(&mut self) -> &mut Writer<'w> {
        self.writer.as_mut().expect("until the end")
    }
}

/// The side tables that are written: those of SQLite with the same columns.
static SIDE_TABLES: [&Table; 7] = [&TAG, &MOVE_EVAL, &COMMENT, &NAG, &COMMAND, &VARIATION, &VARIATION_MOVE];

/// What stands in a column of `game`.
fn game_cell<'b>(
    batch: &'b HeaderBatch,
    row: usize,
    column: &str,
    names: &'b HashMap<OpeningId, (String, String)>,
) -> Cell<'b> {
    let game = &batch.games[row];
    let GameNames { event, site, white, black } = batch.names[row];
    let name = |name: Option<Text>| name.map_or(Cell::Null, |name| Cell::Text(name.of(&batch.text)));
    let opening = || game.opening.and_then(|id| names.get(&id));
    match column {
        "event" => name(event),
        "site" => name(site),
        "white" => name(white),
        "black" => name(black),
        "opening_eco" => opening().map_or(Cell::Null, |(eco, _)| Cell::Text(eco)),
        "opening" => opening().map_or(Cell::Null, |(_, name)| Cell::Text(name)),
        _ => {
            let index = GameRow::COLUMNS.iter().position(|name| *name == column);
            index.and_then(|index| GameRow::cell(batch, row, index)).unwrap_or(Cell::Null)
        }
    }
}

/// Gathers the moves of games.
#[derive(Debug, Default)]
pub(crate) struct MoveEncoder(MoveBlock);

impl PositionEncoder for MoveEncoder {
    type Block = MoveBlock;
    const IN_ORDER: bool = false;
    const TAKES_MOVES: bool = true;

    fn another(&self) -> Self {
        Self::default()
    }

    fn push(&mut self, _: &PositionView<'_>) -> Result<bool> {
        Ok(false)
    }

    fn push_moves(&mut self, game: GameId, setup: Option<&Position>, codes: &[MoveCode]) -> Result<()> {
        self.0.push(game, setup, codes);
        Ok(())
    }

    fn take(&mut self, used: Option<MoveBlock>) -> Result<Option<MoveBlock>> {
        let is_empty = self.0.is_empty();
        Ok((!is_empty).then(|| std::mem::replace(&mut self.0, used.unwrap_or_default())))
    }
}

impl Sink for ParquetFiles<'_> {
    type Encoder = MoveEncoder;

    fn encoder(&self) -> MoveEncoder {
        MoveEncoder::default()
    }

    fn begin(&mut self, run: &NewRun<'_>) -> Result<()> {
        let names =
            self.openings.iter().map(|(id, opening, _)| (id, (opening.eco.clone(), opening.name.clone())));
        self.names = names.collect();
        let source =
            |&(id, path, first_byte): &(SourceId, &Path, u64)| (id, (path.display().to_string(), first_byte));
        self.sources = run.sources.iter().map(source).collect();
        Ok(())
    }

    fn headers(&mut self, batch: &HeaderBatch) -> Result<()> {
        let Self { writer, names, .. } = self;
        let writer = writer.as_mut().expect("until the end");
        for (row, game) in batch.games.iter().enumerate() {
            let date = game.date.map(|date| date.of(&batch.text));
            writer.add_game(game.game, Game::new(game.result, [game.white_elo, game.black_elo], date));
            let cells = GAME.columns.iter().map(|column| game_cell(batch, row, column.name, names));
            writer.add_row(&GAME, Some(game.game), cells)?;
        }
        for table in SIDE_TABLES {
            let Some(side) = HeaderBatch::SIDE_TABLES.iter().find(|side| side.name == table.name) else {
                continue;
            };
            let SideTable { len, cell, .. } = *side;
            for row in 0..len(batch) {
                let cells =
                    (0..table.columns.len()).map(|column| cell(batch, row, column).unwrap_or(Cell::Null));
                let game = match cell(batch, row, 0) {
                    Some(Cell::Integer(id)) => u32::try_from(id).ok().map(GameId),
                    _ => None,
                };
                writer.add_row(table, game, cells)?;
            }
        }
        for row in 0..batch.problems.len() {
            let cells = (0..PROBLEM.columns.len())
                .map(|column| ProblemRow::cell(batch, row, column).unwrap_or(Cell::Null));
            writer.add_row(&PROBLEM, None, cells)?;
        }
        Ok(())
    }

    fn positions(&mut self, _: BlockNumber, mut block: MoveBlock) -> Result<Option<MoveBlock>> {
        self.writer().add_moves(&block)?;
        block.clear();
        Ok(Some(block))
    }

    fn occurrences<S: SortedOccurrences>(&mut self, sorted: &S) -> Result<(), S::Error> {
        let pool = sorted.unsorted().pool();
        let sorted = self.writer().write_positions(pool)?;
        self.totals.distinct_positions = sorted.distinct;
        self.totals.spilled_bytes = sorted.spilled_bytes;
        Ok(())
    }

    fn end(&mut self, run: &RunTotals) -> Result<()> {
        let sources = std::mem::take(&mut self.sources);
        for (id, totals) in &run.sources {
            let (path, first_byte) = sources.get(id).map_or(("", 0), |(path, first)| (path, *first));
            let digest = totals.digest.map(|digest| digest.to_hex());
            let number = |number: u64| Cell::Integer(number.cast_signed());
            self.writer().add_row(
                &SOURCE,
                None,
                [
                    Cell::Integer(id.0.into()),
                    Cell::Text(path),
                    number(first_byte),
                    totals.bytes.map_or(Cell::Null, number),
                    digest.as_deref().map_or(Cell::Null, Cell::Text),
                    number(totals.games),
                    number(totals.plies),
                    number(totals.problems),
                    number(totals.duplicates),
                ],
            )?;
        }
        Ok(())
    }

    fn links<S: SortedOccurrences>(&mut self, _: &S, _: &DuplicateLinks) -> Result<u64, S::Error> {
        Ok(0)
    }

    fn finish(mut self) -> Result<()> {
        let writer = self.writer.take().expect("until the end");
        self.totals.totals = writer.finish()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_those_of_the_rows() {
        for table in SIDE_TABLES {
            let side = HeaderBatch::SIDE_TABLES.iter().find(|side| side.name == table.name).unwrap();
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            assert_eq!(columns, side.columns, "{}", table.name);
        }
        assert_eq!(SIDE_TABLES.len(), HeaderBatch::SIDE_TABLES.len());
        let columns: Vec<&str> = PROBLEM.columns.iter().map(|column| column.name).collect();
        assert_eq!(columns, ProblemRow::COLUMNS);
        let told = ["event", "site", "white", "black", "opening_eco", "opening"];
        for column in GAME.columns.iter().filter(|column| !told.contains(&column.name)) {
            assert!(GameRow::COLUMNS.contains(&column.name), "{}", column.name);
        }
    }
}
