//! Encodes games as batches of rows, and passes the batches to a caller during the run.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{ArrayRef, RecordBatch};

use super::super::cells::Columns;
use super::super::game::game_id;
use super::super::game_column::{GameColumn, rows_of};
use super::super::schema::GAME;
use super::choice::LeastRanks;
use super::positions::{BATCH_ROWS, GameRows, PositionRows};
use super::query::{RowKind, StreamQuery};
use crate::id::GameId;
use crate::opening::OpeningBook;
use crate::store::row::virtual_table::Cell;
use crate::store::row::{EvalRow, HeaderBatch};
use crate::store::sink::{BatchNumber, GameMoves, PositionEncoder, Sink, Takes};
use crate::store::{Error, Result, RowFilter};

/// Encodes the rows that a query requests.
#[derive(Debug)]
pub(crate) struct StreamEncoder {
    query: Arc<StreamQuery>,
    openings: Arc<OpeningBook>,
    filter: RowFilter,
    rows: Rows,
    made: Vec<RecordBatch>,
}

#[derive(Debug)]
enum Rows {
    Cells(Columns),
    Positions(Box<PositionRows>),
}

/// Collects the ranks (see `Sample::rank_of`) of the positions from which a sample is chosen.
#[derive(Debug)]
pub(crate) struct RankEncoder {
    of_rows: StreamEncoder,
    ranks: Vec<u64>,
    /// Ranks of this value or more are not needed.
    cutoff: Arc<AtomicU64>,
}

impl PositionEncoder for RankEncoder {
    type Encoded = Vec<u64>;
    const TAKES: Takes = Takes::Games;

    fn another(&self) -> Self {
        Self { of_rows: self.of_rows.another(), ranks: Vec::new(), cutoff: Arc::clone(&self.cutoff) }
    }

    fn push_games<'g>(
        &mut self,
        first: GameId,
        rows: &HeaderBatch,
        moves: impl Iterator<Item = GameMoves<'g>>,
    ) {
        let fits = self.of_rows.fitting(rows);
        let Self { of_rows: StreamEncoder { query, .. }, ranks, cutoff } = self;
        let cutoff = cutoff.load(Ordering::Relaxed);
        for moves in moves {
            let row = (moves.game.0 - first.0) as usize;
            if fits[row] {
                let positions = query.positions_of(&moves);
                query.choice.rank(moves.game, positions, evals_of(rows, row), cutoff, ranks);
            }
        }
    }

    fn take(&mut self, _: Option<Vec<u64>>) -> Result<Option<Vec<u64>>> {
        let ranks = std::mem::take(&mut self.ranks);
        Ok((!ranks.is_empty()).then_some(ranks))
    }
}

/// The rows of `move_eval` of a game. In a batch, these rows refer to a game by its index in the batch.
fn evals_of(rows: &HeaderBatch, row: usize) -> &[EvalRow] {
    let index = GameId(row as u32);
    let from = rows.evals.partition_point(|eval| eval.game < index);
    let evals = &rows.evals[from..];
    &evals[..evals.partition_point(|eval| eval.game == index)]
}

/// The approximate maximum size, in bytes, of a batch of rows whose texts can have any length.
const BATCH_BYTES: usize = 16 << 20;

impl StreamEncoder {
    fn new(query: StreamQuery, openings: &Arc<OpeningBook>) -> Self {
        let names = openings.iter().map(|(_, named)| named.opening.name.as_str());
        let filter = RowFilter::new(&query.filter, names);
        Self::with_filter(Arc::new(query), Arc::clone(openings), filter)
    }

    fn with_filter(query: Arc<StreamQuery>, openings: Arc<OpeningBook>, filter: RowFilter) -> Self {
        let rows = match &query.rows {
            RowKind::Table(table, columns) => {
                Rows::Cells(Columns::new(columns.iter().map(|&column| table.columns[column].kind)))
            }
            RowKind::Positions { of_moves, columns } => {
                Rows::Positions(PositionRows::new(columns, *of_moves).into())
            }
        };
        Self { query, openings, filter, rows, made: Vec::new() }
    }

    /// For each game of a batch, whether it passes the filter.
    fn fitting(&mut self, rows: &HeaderBatch) -> Vec<bool> {
        let Self { filter, openings, .. } = self;
        let fits = |row| {
            filter.fits(|column| {
                GameColumn::from_name(column).map_or(Cell::Null, |column| column.cell(rows, row, openings))
            })
        };
        (0..rows.games.len()).map(fits).collect()
    }

    /// Adds the rows of the requested table from the batch, except rows of games that do not match. Converts
    /// indexes of games in the batch to game ids, and leaves other values unchanged.
    fn push_cells(&mut self, first: GameId, batch: &HeaderBatch, fits: &[bool]) {
        let query = Arc::clone(&self.query);
        let RowKind::Table(table, columns) = &query.rows else { return };
        let number = |game: i64| {
            let index = u32::try_from(game).unwrap_or(u32::MAX);
            Cell::Integer(game_id(query.shard, GameId(first.0.saturating_add(index))))
        };
        if table.name == GAME.name {
            let columns: Vec<_> = columns
                .iter()
                .filter_map(|&column| GameColumn::from_name(GAME.columns[column].name))
                .collect();
            let id = GameColumn::from_name("game_id");
            let openings = Arc::clone(&self.openings);
            for (row, _) in fits.iter().enumerate().filter(|(_, fits)| **fits) {
                self.push_row(columns.iter().map(|&column| match column.cell(batch, row, &openings) {
                    Cell::Integer(game) if Some(column) == id => number(game),
                    cell => cell,
                }));
            }
            return;
        }
        let (len, cell) = rows_of(table, batch);
        let game_column = table.columns.iter().position(|column| column.name == "game_id");
        for row in 0..len {
            let game = game_column.and_then(|column| cell(batch, row, column));
            if let Some(Cell::Integer(game)) = game
                && !usize::try_from(game).is_ok_and(|game| fits.get(game).copied().unwrap_or(false))
            {
                continue;
            }
            self.push_row(columns.iter().map(|&column| match cell(batch, row, column) {
                Some(Cell::Integer(game)) if Some(column) == game_column => number(game),
                cell => cell.unwrap_or(Cell::Null),
            }));
        }
    }

    fn push_row<'c>(&mut self, cells: impl Iterator<Item = Cell<'c>>) {
        let Rows::Cells(columns) = &mut self.rows else { return };
        columns.push(cells);
        if columns.rows == BATCH_ROWS || columns.bytes >= BATCH_BYTES {
            let columns = columns.take();
            self.made.push(batch(&self.query, columns));
        }
    }
}

fn batch(query: &StreamQuery, columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(query.schema(), columns).expect("columns as the schema says")
}

impl PositionEncoder for StreamEncoder {
    type Encoded = Vec<RecordBatch>;
    const TAKES: Takes = Takes::Games;
    const IN_ORDER: bool = true;

    fn another(&self) -> Self {
        let (query, openings) = (Arc::clone(&self.query), Arc::clone(&self.openings));
        Self::with_filter(query, openings, self.filter.clone())
    }

    fn push_games<'g>(
        &mut self,
        first: GameId,
        rows: &HeaderBatch,
        moves: impl Iterator<Item = GameMoves<'g>>,
    ) {
        let fits = self.fitting(rows);
        let Rows::Positions(_) = &self.rows else { return self.push_cells(first, rows, &fits) };
        let Self { query, openings, rows: Rows::Positions(positions), made, .. } = self else { return };
        for moves in moves {
            let row = (moves.game.0 - first.0) as usize;
            if !fits[row] {
                continue;
            }
            let evals = evals_of(rows, row);
            let id = game_id(query.shard, moves.game);
            let game = GameRows { id, row, batch: rows, openings, moves: &moves, evals };
            let flush = |columns| made.push(batch(query, columns));
            if query.choice.is_all() {
                positions.push(&game, None, flush);
                continue;
            }
            let count = query.positions_of(&moves);
            let plies = query.choice.plies(moves.game, count, evals, query.last_rank);
            if !plies.is_empty() {
                positions.push(&game, Some(&plies), flush);
            }
        }
    }

    fn take(&mut self, _: Option<Vec<RecordBatch>>) -> Result<Option<Vec<RecordBatch>>> {
        let (rows, columns) = match &mut self.rows {
            Rows::Cells(columns) => (columns.rows, columns.take()),
            Rows::Positions(positions) => (positions.rows, positions.take()),
        };
        if rows > 0 {
            self.made.push(batch(&self.query, columns));
        }
        let made = std::mem::take(&mut self.made);
        Ok((!made.is_empty()).then_some(made))
    }
}

/// Passes batches to a caller. The caller can end the run.
pub(crate) struct StreamSink<F> {
    encoder: StreamEncoder,
    take: F,
}

impl<F: FnMut(RecordBatch) -> ControlFlow<()>> StreamSink<F> {
    pub(crate) fn new(query: StreamQuery, openings: &Arc<OpeningBook>, take: F) -> Self {
        Self { encoder: StreamEncoder::new(query, openings), take }
    }
}

impl<F: FnMut(RecordBatch) -> ControlFlow<()>> Sink for StreamSink<F> {
    type Encoder = StreamEncoder;

    fn encoder(&self) -> StreamEncoder {
        self.encoder.another()
    }

    fn positions(&mut self, _: BatchNumber, batches: Vec<RecordBatch>) -> Result<Option<Vec<RecordBatch>>> {
        let flow = batches.into_iter().try_for_each(&mut self.take);
        if flow.is_break() { Err(Error::Interrupted) } else { Ok(None) }
    }
}

/// Collects in `ranks` the lowest ranks of the positions from which the sample is chosen.
pub(crate) struct RankSink<'r> {
    encoder: RankEncoder,
    ranks: &'r mut LeastRanks,
}

impl<'r> RankSink<'r> {
    pub(crate) fn new(query: StreamQuery, openings: &Arc<OpeningBook>, ranks: &'r mut LeastRanks) -> Self {
        let of_rows = StreamEncoder::new(query, openings);
        let cutoff = Arc::new(AtomicU64::new(u64::MAX));
        Self { encoder: RankEncoder { of_rows, ranks: Vec::new(), cutoff }, ranks }
    }
}

impl Sink for RankSink<'_> {
    type Encoder = RankEncoder;

    fn encoder(&self) -> RankEncoder {
        self.encoder.another()
    }

    fn positions(&mut self, _: BatchNumber, ranks: Vec<u64>) -> Result<Option<Vec<u64>>> {
        self.ranks.add(ranks);
        self.encoder.cutoff.store(self.ranks.cutoff, Ordering::Relaxed);
        Ok(None)
    }
}
