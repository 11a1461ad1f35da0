//! Rows of the tables of annotations: what a PGN says about moves.
//!
//! A place is a line and a ply: line 0 is the main line, and lines 1, 2, 3 … are the variations of a game in
//! the order of their text. Annotations at ply n belong to the position after n half-moves from the start of
//! the game.

use super::description::table_row;
use super::text::Text;
use crate::board::{MoveCode, PositionKey};
use crate::id::{GameId, Ply};

table_row! {
    /// One row of `move_eval`: clock and evaluation at a position of the main line, after the move that led
    /// to it.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct EvalRow in "move_eval", key 2 {
        /// The game.
        "game_id" pub game: GameId,
        /// The ply.
        "ply" pub ply: Ply,
        /// Centiseconds left on the clock of the player who has just moved.
        "clock" pub clock: Option<u32>,
        /// Centiseconds used for the move.
        "elapsed" pub elapsed: Option<u32>,
        /// The evaluation in centipawns, from White's point of view.
        "eval_cp" pub eval_cp: Option<i32>,
        /// Moves to mate; negative if Black mates.
        "eval_mate" pub eval_mate: Option<i32>,
        /// Search depth of the evaluation, in plies.
        "depth" pub depth: Option<u32>,
    }
}

table_row! {
    /// One row of `comment`.
    #[derive(Clone, Copy, Debug)]
    pub struct CommentRow in "comment", key 4 {
        /// The game.
        "game_id" pub game: GameId,
        /// The line.
        "line" pub line: u32,
        /// The ply.
        "ply" pub ply: Ply,
        /// The number of the comment at this place, from 1.
        "number" pub number: u32,
        /// The text, without commands.
        "text" pub comment: Text,
    }
}

table_row! {
    /// One row of `nag`: a numeric annotation glyph.
    #[derive(Clone, Copy, Debug)]
    pub struct NagRow in "nag", key 4 {
        /// The game.
        "game_id" pub game: GameId,
        /// The line.
        "line" pub line: u32,
        /// The ply.
        "ply" pub ply: Ply,
        /// The glyph's number.
        "nag" pub nag: u32,
    }
}

table_row! {
    /// One row of `command`: a `[%name value]` that is not stored in `move_eval`.
    #[derive(Clone, Copy, Debug)]
    pub struct CommandRow in "command", key 4 {
        /// The game.
        "game_id" pub game: GameId,
        /// The line.
        "line" pub line: u32,
        /// The ply.
        "ply" pub ply: Ply,
        /// The number of the command at this place, from 1.
        "number" pub number: u32,
        /// The command's name.
        "name" pub name: Text,
        /// The command's value.
        "value" pub value: Text,
    }
}

table_row! {
    /// One row of `variation`.
    #[derive(Clone, Copy, Debug)]
    pub struct VariationRow in "variation", key 2 {
        /// The game.
        "game_id" pub game: GameId,
        /// The number of the variation's line, from 1.
        "line" pub line: u32,
        /// The parent line.
        "parent_line" pub parent_line: u32,
        /// The ply of the position from which the variation's first move is played, instead of the parent
        /// line's move.
        "ply" pub ply: Ply,
    }
}

table_row! {
    /// One row of `variation_move`: a move of a variation, and the position after it.
    #[derive(Clone, Copy, Debug)]
    pub struct VariationMoveRow in "variation_move", key 3 {
        /// The game.
        "game_id" pub game: GameId,
        /// The line.
        "line" pub line: u32,
        /// The ply of the position.
        "ply" pub ply: Ply,
        /// The position's key.
        "key" pub key: PositionKey,
        /// Half-moves since the last capture or pawn move.
        "halfmove_clock" pub halfmove_clock: u32,
        /// The move.
        "move_code" pub move_code: MoveCode,
        /// The position's canonical four-field FEN.
        "fen" pub fen: Text,
    }
}
