//! The columns of tables of positions and moves.

use arrow_schema::Field;

use super::super::game_column::GameColumn;
use super::super::schema::{ColumnType, GAME, field};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    GameId,
    Ply,
    Key,
    HalfmoveClock,
    MoveCode,
    /// The canonical FEN: four fields.
    Fen,
    FullFen,
    MoveNumber,
    Side,
    Uci,
    San,
    Piece,
    Captured,
    Promotion,
    IsCheck,
    IsMate,
    Clock,
    Elapsed,
    EvalCp,
    EvalMate,
    Depth,
    EvalCpBefore,
    EvalMateBefore,
    /// A column of the table `game`.
    Game(GameColumn, ColumnType),
}

/// Columns of positions and their annotations; the default columns come first.
const OF_POSITIONS: [(&str, Column); 16] = [
    ("game_id", Column::GameId),
    ("ply", Column::Ply),
    ("key", Column::Key),
    ("halfmove_clock", Column::HalfmoveClock),
    ("move_code", Column::MoveCode),
    ("fen", Column::Fen),
    ("full_fen", Column::FullFen),
    ("move_number", Column::MoveNumber),
    ("side", Column::Side),
    ("uci", Column::Uci),
    ("san", Column::San),
    ("clock", Column::Clock),
    ("elapsed", Column::Elapsed),
    ("eval_cp", Column::EvalCp),
    ("eval_mate", Column::EvalMate),
    ("depth", Column::Depth),
];
const USUAL_OF_POSITIONS: usize = 6;

const OF_MOVES: [(&str, Column); 21] = [
    ("game_id", Column::GameId),
    ("ply", Column::Ply),
    ("move_number", Column::MoveNumber),
    ("side", Column::Side),
    ("uci", Column::Uci),
    ("san", Column::San),
    ("clock", Column::Clock),
    ("elapsed", Column::Elapsed),
    ("eval_cp_before", Column::EvalCpBefore),
    ("eval_mate_before", Column::EvalMateBefore),
    ("eval_cp", Column::EvalCp),
    ("eval_mate", Column::EvalMate),
    ("depth", Column::Depth),
    ("move_code", Column::MoveCode),
    ("piece", Column::Piece),
    ("captured", Column::Captured),
    ("promotion", Column::Promotion),
    ("is_check", Column::IsCheck),
    ("is_mate", Column::IsMate),
    ("key", Column::Key),
    ("fen", Column::FullFen),
];
const USUAL_OF_MOVES: usize = 12;

impl Column {
    /// The names of the columns that contain clocks and evaluations.
    pub(super) const ANNOTATIONS: [&'static str; 7] =
        ["clock", "elapsed", "eval_cp", "eval_mate", "depth", "eval_cp_before", "eval_mate_before"];

    /// All columns of the table of moves or, if `of_moves` is false, of positions. The table's own columns come
    /// first, followed by the columns of `game` that have other names. Also returns the number of default columns,
    /// with which the list begins.
    pub(super) fn all(of_moves: bool) -> (Vec<(&'static str, Field, Self)>, usize) {
        let (own, usual): (&[(&str, Self)], _) =
            if of_moves { (&OF_MOVES, USUAL_OF_MOVES) } else { (&OF_POSITIONS, USUAL_OF_POSITIONS) };
        let of_game = GAME.columns.iter().filter_map(|column| {
            let of_game = Self::Game(GameColumn::from_name(column.name)?, column.kind);
            own.iter().all(|(name, _)| *name != column.name).then_some((column.name, of_game))
        });
        let with_field = |(name, column): (&'static str, Self)| {
            let (kind, nullable) = column.kind(of_moves);
            (name, field(name, kind, nullable), column)
        };
        (own.iter().copied().chain(of_game).map(with_field).collect(), usual)
    }

    /// The type of the column, and whether it can be NULL.
    pub(super) const fn kind(self, of_moves: bool) -> (ColumnType, bool) {
        match self {
            Self::GameId | Self::Key => (ColumnType::Int64, false),
            Self::Ply | Self::HalfmoveClock | Self::MoveNumber | Self::IsCheck | Self::IsMate => {
                (ColumnType::Int32, false)
            }
            Self::MoveCode => (ColumnType::Int32, !of_moves),
            Self::Fen | Self::FullFen | Self::Side => (ColumnType::Text, false),
            Self::Uci | Self::San => (ColumnType::Text, !of_moves),
            Self::Piece | Self::Captured | Self::Promotion => (ColumnType::Text, true),
            Self::Game(_, kind) => (kind, true),
            // Clocks and evaluations.
            _ => (ColumnType::Int32, true),
        }
    }
}
