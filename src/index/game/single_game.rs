//! Reads a game's text again, to compare it with the database.

use std::sync::Arc;

use crate::board::{MoveCode, Position};
use crate::index::game::{ChunkParser, Comparison, GameBatch, ParseOptions};
use crate::index::{Annotations, Duplicates, KeyHash};
use crate::opening::OpeningBook;
use crate::store::Layout;
use crate::store::row::virtual_table::{Cell, Columns as _, Rows as _};
use crate::store::row::{GameRow, ProblemRow, SideTable, SourceId};

/// Columns of `game` that are not compared with the game's text. The text contains neither the ids that a run
/// assigns nor its own offset in the source. Columns derived from the moves are compared with the positions
/// instead.
const NOT_COMPARED_WITH_TEXT: [&str; 8] = [
    "game_id",
    "source_id",
    "byte_offset",
    "byte_length",
    "opening_id",
    "ply_count",
    "moves_hash",
    "prefix_hash",
];

/// Parses the texts of single games in the same way as a run.
#[derive(Debug)]
pub(crate) struct SingleGameParser {
    batch: GameBatch,
    start: Position,
    openings: Arc<OpeningBook>,
    comparison: Comparison,
}

impl Default for SingleGameParser {
    fn default() -> Self {
        let comparison = Comparison { rule: Duplicates::Keep, hash: KeyHash::new(KeyHash::BITS) };
        let (batch, start) = (GameBatch::default(), Position::start());
        Self { batch, start, openings: OpeningBook::built_in(), comparison }
    }
}

impl SingleGameParser {
    /// Parses the first game of a text; `None` if the text has no game. `annotations` says which annotations
    /// to read.
    pub(crate) fn read(&mut self, text: &[u8], annotations: Annotations) -> Option<GameText<'_>> {
        let (start, openings) = (&self.start, &*self.openings);
        let options = ParseOptions {
            start,
            openings,
            annotations,
            leave_out: false,
            comparison: &self.comparison,
            layout: Layout::Open,
        };
        ChunkParser::new(text, text.len(), SourceId(1), 0, options).parse_batch(&mut self.batch);
        (!self.batch.games.is_empty()).then_some(GameText { batch: &self.batch })
    }
}

/// The data in a game's text.
#[derive(Debug)]
pub(crate) struct GameText<'r> {
    batch: &'r GameBatch,
}

impl<'r> GameText<'r> {
    /// The offset and the length of the game in the text, in bytes.
    pub(crate) fn span(&self) -> (u64, u64) {
        let row = &self.batch.headers.games[0];
        (row.byte_offset, row.byte_length)
    }

    /// The moves before the first one that could not be played.
    pub(crate) fn codes(&self) -> &'r [MoveCode] {
        &self.batch.codes[..self.batch.games[0].moves]
    }

    /// The values of the row of `game` that are compared with the text, each with the index of its column.
    /// For players, event and site, the value is the name instead of the id.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, Cell<'r>)> {
        let columns = GameRow::COLUMNS.iter().enumerate();
        let compared = columns.filter(|(_, column)| !NOT_COMPARED_WITH_TEXT.contains(column));
        compared.filter_map(|(index, column)| Some((index, self.cell(index, column)?)))
    }

    fn cell(&self, index: usize, column: &str) -> Option<Cell<'r>> {
        let (headers, names) = (&self.batch.headers, &self.batch.games[0].names);
        let name = match column {
            "event_id" => names.event,
            "site_id" => names.site,
            "white_id" => names.white,
            "black_id" => names.black,
            _ => return GameRow::cell(headers, 0, index),
        };
        Some(name.map_or(Cell::Null, |name| Cell::Text(name.of(&headers.text))))
    }

    /// The game's rows in a side table of `game` (a table with rows that belong to games), without the game's
    /// id.
    pub(crate) fn side_rows(&self, table: &SideTable) -> impl Iterator<Item = Vec<Cell<'r>>> {
        let SideTable { columns, cell, len, .. } = *table;
        let headers = &self.batch.headers;
        let game = Cell::Integer(headers.games[0].game.0.into());
        let rows = (0..len(headers)).filter(move |&row| cell(headers, row, 0) == Some(game));
        rows.map(move |row| (1..columns.len()).filter_map(|column| cell(headers, row, column)).collect())
    }

    /// The buffer that contains the texts of all rows.
    pub(crate) fn text(&self) -> &'r str {
        &self.batch.headers.text
    }

    /// The problems with the game, in the order in which they were found. Offsets and lines are counted from
    /// the start of the game's text, lines from 0.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &'r ProblemRow> {
        let headers = &self.batch.headers;
        let game = headers.games[0].game;
        headers.problems.iter().filter(move |row| row.game == Some(game))
    }
}
