//! Builds the columns of batches of positions or moves.

use arrow_array::ArrayRef;
use arrow_array::builder::StringBuilder;

use super::super::cells::{Fens, Values};
use super::column::Column;
use crate::board::{Color, FenText, MoveCode, Piece, Position};
use crate::opening::OpeningBook;
use crate::store::row::{EvalRow, HeaderBatch};
use crate::store::sink::GameMoves;

/// The maximum number of rows per batch.
pub(super) const BATCH_ROWS: usize = 1 << 16;

/// The rows of one batch.
#[derive(Debug)]
pub(super) struct PositionRows {
    columns: Vec<(Column, PositionValues)>,
    of_moves: bool,
    start: (Position, FenText),
    pub(super) rows: usize,
}

#[derive(Debug)]
enum PositionValues {
    Fens(Fens),
    Other(Values),
}

/// A game whose positions are to be returned.
#[derive(Clone, Copy)]
pub(super) struct GameRows<'g> {
    pub(super) id: i64,
    /// The index of the game in its batch.
    pub(super) row: usize,
    pub(super) batch: &'g HeaderBatch,
    pub(super) openings: &'g OpeningBook,
    pub(super) moves: &'g GameMoves<'g>,
    /// The game's rows of `move_eval`, in the order of plies.
    pub(super) evals: &'g [EvalRow],
}

/// A position of a game, with the rows of `move_eval` of this position and its neighbours.
struct PositionContext<'p> {
    game: &'p GameRows<'p>,
    ply: u32,
    position: &'p Position,
    placement: &'p FenText,
    code: Option<MoveCode>,
    /// The rows of `move_eval` at the previous ply, at this ply and at the next ply.
    evals: [Option<EvalRow>; 3],
}

impl PositionRows {
    pub(super) fn new(columns: &[Column], of_moves: bool) -> Self {
        let position = Position::start();
        let placement = FenText::new(&position);
        let columns = columns.iter().map(|&column| (column, PositionValues::of(column, of_moves))).collect();
        Self { columns, of_moves, start: (position, placement), rows: 0 }
    }

    /// Adds the rows of a game at `plies`, which must be in ascending order; `None` adds all rows of the
    /// game. Calls `flush` with the columns whenever they have [`BATCH_ROWS`] rows.
    pub(super) fn push(
        &mut self,
        game: &GameRows<'_>,
        mut plies: Option<&[u32]>,
        mut flush: impl FnMut(Vec<ArrayRef>),
    ) {
        let (mut position, mut placement) = match game.moves.setup {
            None => self.start.clone(),
            Some(position) => (position.clone(), FenText::new(position)),
        };
        let mut evals = Evals { rows: game.evals, next: 0 };
        let codes = game.moves.codes.iter().copied().map(Some);
        let mut before = self.rows;
        for (ply, code) in (0..).zip(codes.chain((!self.of_moves).then_some(None))) {
            let is_wanted = match &mut plies {
                None => true,
                Some([next, rest @ ..]) if *next == ply => {
                    plies = Some(rest);
                    true
                }
                Some([]) => break,
                Some(_) => false,
            };
            if is_wanted {
                let around = if game.evals.is_empty() { [None; 3] } else { evals.around(ply) };
                let (position, placement) = (&position, &placement);
                let place = PositionContext { game, ply, position, placement, code, evals: around };
                for (column, values) in &mut self.columns {
                    values.push(*column, &place, self.of_moves);
                }
                self.rows += 1;
                if self.rows == BATCH_ROWS {
                    self.push_game_cells(game, self.rows - before);
                    before = 0;
                    flush(self.take());
                }
            }
            if let Some(code) = code {
                position.replay(code);
                placement.update(&position, code);
            }
        }
        self.push_game_cells(game, self.rows - before);
    }

    /// Fills the columns of the table `game` for the last `rows` rows, which belong to this game.
    fn push_game_cells(&mut self, game: &GameRows<'_>, rows: usize) {
        for (column, values) in &mut self.columns {
            if let (Column::Game(column, _), PositionValues::Other(values)) = (column, values) {
                let cell = column.cell(game.batch, game.row, game.openings);
                (0..rows).for_each(|_| values.push(cell));
            }
        }
    }

    pub(super) fn take(&mut self) -> Vec<ArrayRef> {
        self.rows = 0;
        self.columns.iter_mut().map(|(_, values)| values.take()).collect()
    }
}

/// The rows of `move_eval` of one game. They must be requested in the order of plies.
struct Evals<'e> {
    rows: &'e [EvalRow],
    next: usize,
}

impl Evals<'_> {
    fn around(&mut self, ply: u32) -> [Option<EvalRow>; 3] {
        while self.rows.get(self.next).is_some_and(|row| row.ply.0 + 1 < ply) {
            self.next += 1;
        }
        let rows = &self.rows[self.next..];
        let at = |ply: u32| rows.iter().take(3).find(|row| row.ply.0 == ply).copied();
        [ply.checked_sub(1).and_then(at), at(ply), at(ply + 1)]
    }
}

impl PositionValues {
    fn of(column: Column, of_moves: bool) -> Self {
        match column {
            Column::Fen | Column::FullFen => Self::Fens(Fens::default()),
            _ => Self::Other(Values::new(column.kind(of_moves).0)),
        }
    }

    #[inline]
    fn push(&mut self, column: Column, place: &PositionContext<'_>, of_moves: bool) {
        match self {
            Self::Other(Values::Int64(values)) => match column {
                Column::GameId => values.append_value(place.game.id),
                Column::Key => values.append_value(place.position.key().as_i64()),
                _ => {}
            },
            Self::Other(Values::Int32(values)) => {
                if !matches!(column, Column::Game(..)) {
                    values.append_option(place.number(column, of_moves));
                }
            }
            Self::Other(Values::Text(values)) => place.push_text(column, values),
            Self::Fens(values) => values.push(place.position, place.placement, column == Column::FullFen),
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Fens(values) => values.take(),
            Self::Other(values) => values.take(),
        }
    }
}

impl PositionContext<'_> {
    #[inline]
    fn number(&self, column: Column, of_moves: bool) -> Option<i32> {
        // The clock and the evaluation of a move are stored with the position after it.
        let [_, at, after] = &self.evals;
        let eval = if of_moves { after } else { at };
        let flag = |flag: fn(MoveCode) -> bool| Some(i32::from(self.code.is_some_and(flag)));
        match column {
            Column::Ply => Some(self.ply.cast_signed()),
            Column::HalfmoveClock => Some(self.position.halfmove_clock().cast_signed()),
            Column::MoveCode => self.code.map(|code| code.bits().cast_signed()),
            Column::MoveNumber => Some(self.position.fullmove_number().cast_signed()),
            Column::IsCheck => flag(MoveCode::is_check),
            Column::IsMate => flag(MoveCode::is_mate),
            Column::Clock => (*eval)?.clock.map(u32::cast_signed),
            Column::Elapsed if of_moves => self.elapsed(),
            Column::Elapsed => (*eval)?.elapsed.map(u32::cast_signed),
            Column::EvalCp => (*eval)?.eval_cp,
            Column::EvalMate => (*eval)?.eval_mate,
            Column::Depth => (*eval)?.depth.map(u32::cast_signed),
            Column::EvalCpBefore => (*at)?.eval_cp,
            Column::EvalMateBefore => (*at)?.eval_mate,
            _ => None,
        }
    }

    /// The time used for the move in centiseconds: from the PGN, or computed from clocks and increment, as in
    /// the view `moves`.
    fn elapsed(&self) -> Option<i32> {
        let [before, _, after] = self.evals;
        let stored = after.and_then(|row| row.elapsed).map(i64::from);
        let computed = || {
            let increment = self.game.batch.games[self.game.row].time_increment_cs?;
            Some(i64::from(before?.clock?) - i64::from(after?.clock?) + i64::from(increment))
        };
        stored
            .or_else(computed)
            .filter(|elapsed| *elapsed >= 0)
            .and_then(|elapsed| i32::try_from(elapsed).ok())
    }

    fn push_text(&self, column: Column, values: &mut StringBuilder) {
        let letter = |piece: Option<Piece>| piece.map(|piece| char::from(piece.letter()).to_string());
        match column {
            Column::Side => values.append_value(if self.position.side() == Color::White { "w" } else { "b" }),
            Column::Uci => values.append_option(self.code.map(|code| self.position.uci(code).to_string())),
            Column::San => values.append_option(self.code.map(|code| self.position.san(code))),
            Column::Piece => values.append_option(letter(self.code.and_then(MoveCode::piece))),
            Column::Captured => values.append_option(letter(self.code.and_then(MoveCode::captured))),
            Column::Promotion => {
                let piece = letter(self.code.and_then(MoveCode::promotion));
                values.append_option(piece.map(|letter| letter.to_ascii_lowercase()));
            }
            _ => {}
        }
    }
}
