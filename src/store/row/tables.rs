//! Rows of `game`, of its side tables, of `problem`, `duplicate` and `occurrence`, and the columns of
//! `game_position`.
//!
//! Annotations are what a PGN says about moves. The place of an annotation is a line and a ply: line 0 is the main
//! line, and lines 1, 2, 3 … are the variations of a game in the order of their text. Annotations at ply n belong to
//! the position after n half-moves from the start of the game.

use super::description::{SideRow, Text, columns, stored_row, table_row, values};
use super::stored::StoredText;
use super::virtual_table::{Cell, Columns};
use crate::board::{GameResult, MoveCode, PositionKey};
use crate::id::{GameId, ImportId, Level, NameId, OpeningId, Ply, SourceId};

table_row! {
    /// One row of `game`. `None` is NULL. Unless the field says otherwise, NULL means that the value in the
    /// PGN is missing, unknown (such as `?`) or cannot be read.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct GameRow in "game", key 1, stored as StoredGame {
        /// The game.
        "game_id" pub game: GameId,
        /// The file that contains the game.
        "source_id" pub source: SourceId,
        /// The offset of the game's text in its source, in bytes.
        "byte_offset" pub byte_offset: u64,
        /// The length of the game's text, in bytes.
        "byte_length" pub byte_length: u64,
        /// Event name.
        "event_id" pub event: Option<NameId>,
        /// Site name.
        "site_id" pub site: Option<NameId>,
        /// The date from the PGN: `YYYY.MM.DD`. Unknown parts are `??`.
        "date" pub date: Option<Text>,
        /// Round.
        "round" pub round: Option<Text>,
        /// The player with White.
        "white_id" pub white: Option<NameId>,
        /// The player with Black.
        "black_id" pub black: Option<NameId>,
        /// Result.
        "result" pub result: GameResult,
        /// White's rating.
        "white_elo" pub white_elo: Option<u16>,
        /// Black's rating.
        "black_elo" pub black_elo: Option<u16>,
        /// White's title (GM, IM …).
        "white_title" pub white_title: Option<Text>,
        /// Black's title.
        "black_title" pub black_title: Option<Text>,
        /// ECO code from the PGN.
        "eco" pub eco: Option<Text>,
        /// The opening, determined from the positions.
        "opening_id" pub opening: Option<OpeningId>,
        /// Time control from the PGN.
        "time_control" pub time_control: Option<Text>,
        /// Variant, as the PGN names it.
        "variant" pub variant: Option<Text>,
        /// Six-field FEN of the start position; `None` for the standard position, and for a
        /// [skipped](GameStatus::Skipped) game.
        "start_fen" pub start_fen: Option<Text>,
        /// The number of half-moves replayed.
        "ply_count" pub ply_count: u32,
        /// How much of the game could be replayed.
        "status" pub status: GameStatus,
        /// A hash of the start position and the moves. Games with the same start position and moves have the
        /// same hash.
        "moves_hash" pub moves_hash: u64,
        /// A hash of the players, the date, the start position and the first moves. A broken-off game and the
        /// whole game have the same hash. `None` if there are too few moves or a player is unknown.
        "prefix_hash" pub prefix_hash: Option<u64>,
        /// The game's id on Lichess.
        "lichess_id" pub lichess_id: Option<Text>,
        /// Start of the game in UTC: `YYYY-MM-DDTHH:MM:SSZ`.
        "started_at" pub started_at: Option<Text>,
        /// Seconds on each clock at the start.
        "time_initial" pub time_initial: Option<u32>,
        /// Seconds added for each move, rounded.
        "time_increment" pub time_increment: Option<u32>,
        /// Centiseconds added for each move.
        "time_increment_cs" pub time_increment_cs: Option<u32>,
        /// The speed class: a word of [`Speed`](crate::pgn::Speed).
        "speed" pub speed: Option<&'static str>,
        /// How the game ended, from the tag `Termination`.
        "termination" pub termination: Option<Text>,
        /// The change of White's rating by this game.
        "white_rating_diff" pub white_rating_diff: Option<i32>,
        /// The change of Black's rating by this game.
        "black_rating_diff" pub black_rating_diff: Option<i32>,
        /// White's FIDE ID.
        "white_fide_id" pub white_fide_id: Option<u32>,
        /// Black's FIDE ID.
        "black_fide_id" pub black_fide_id: Option<u32>,
        /// The number of rows of `move_eval` with an evaluation; `None` if annotations were not read.
        "eval_count" pub eval_count: Option<u32>,
        /// The number of rows of `move_eval` with a clock; `None` if annotations were not read.
        "clock_count" pub clock_count: Option<u32>,
    } with "import_id" import: ImportId
}

table_row! {
    /// One row of `tag`: a tag pair that cannot be restored from the columns of `game`.
    #[derive(Clone, Copy, Debug)]
    pub struct TagRow in "tag", key 2 {
        /// The game.
        "game_id" pub game: GameId,
        /// Tag name.
        "name" pub name: Text,
        /// Tag value.
        "value" pub value: Text,
    }
}

/// One row of `game_moves`: the moves of a game, in a compact database.
#[derive(Clone, Debug)]
pub struct MovesRow {
    /// The game.
    pub game: GameId,
    /// The move codes, each as four bytes in big-endian order. The highest bit of a code says whether en
    /// passant is legal in the position after the move.
    pub moves: Vec<u8>,
}

// Not declared like the other rows, because its blob is not in the batch's text.
impl Columns for MovesRow {
    type Row = Self;

    const TABLE: &'static str = "game_moves";
    const ACTION: &'static str = "write table game_moves";
    const COLUMNS: &'static [&'static str] = &["game_id", "moves"];
    const RUN: &'static [&'static str] = &[];

    fn value<'a>(row: &'a Self, _: &'a str, column: usize) -> Option<Cell<'a>> {
        match column {
            0 => Some(Cell::Integer(row.game.0.into())),
            1 => Some(Cell::Blob(&row.moves)),
            _ => None,
        }
    }
}

impl SideRow for MovesRow {
    const KEY: usize = 1;

    fn game(&mut self) -> &mut GameId {
        &mut self.game
    }
}

/// The names of a game that are stored in tables of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct GameNames {
    /// Event name.
    pub event: Option<Text>,
    /// Site name.
    pub site: Option<Text>,
    /// The player with White.
    pub white: Option<Text>,
    /// The player with Black.
    pub black: Option<Text>,
}

/// How much of a game could be replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameStatus {
    /// The whole main line.
    #[default]
    Ok,
    /// Only the moves before the first error, such as an illegal move or a comment without an end.
    Truncated,
    /// Nothing: the variant is not supported, or the start position is invalid.
    Skipped,
}

impl GameStatus {
    /// The word used in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Truncated => "truncated",
            Self::Skipped => "skipped",
        }
    }

    /// The tag in which an exported game describes the part that is missing in the database.
    pub const LOSS_TAG: &str = "Truncated";

    /// A description of the part of a game that is in the PGN but not in the database; `None` if nothing is
    /// missing. `plies` is the number of stored plies.
    #[must_use]
    pub fn loss(self, plies: u32) -> Option<String> {
        match self {
            Self::Ok => None,
            Self::Truncated => Some(format!("the text after ply {plies} has an error, and was not read")),
            Self::Skipped => {
                Some("no moves: the variant is not supported, or the start position is not valid".to_owned())
            }
        }
    }
}

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
        /// The number of the comment among the comments with the same line and ply, from 1.
        "number" pub number: u32,
        /// The text, without its commands (`[%name value]`).
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
    /// One row of `command`: a command `[%name value]` from a comment. `move_eval` stores nothing of this
    /// command, or does not store it exactly as it is written.
    #[derive(Clone, Copy, Debug)]
    pub struct CommandRow in "command", key 4 {
        /// The game.
        "game_id" pub game: GameId,
        /// The line.
        "line" pub line: u32,
        /// The ply.
        "ply" pub ply: Ply,
        /// The number of the command among the commands with the same line and ply, from 1.
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
        /// The line that the variation leaves; 0 is the main line.
        "parent_line" pub parent_line: u32,
        /// The ply of the position in which the variation begins: its first move replaces the move that the
        /// parent line plays there.
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

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The problem was tolerated or corrected. The main line is complete, unless the game's variant is not
    /// supported.
    Warning,
    /// Part of a game or of a source was lost, or a source has no games.
    Error,
}

impl Severity {
    /// The word used in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One row of `problem`.
#[derive(Clone, Copy, Debug)]
pub struct ProblemRow {
    /// The source file.
    pub source: SourceId,
    /// The offset from the file's start, in bytes.
    pub byte_offset: u64,
    /// Line in the file, from 1.
    pub line: u64,
    /// Byte within the line, from 1.
    pub column: u64,
    /// The number of the game in the file, from 1; 0 outside any game.
    pub game_number: u32,
    /// The game's id; `None` if the game was not kept, or if the problem is outside any game.
    pub game: Option<GameId>,
    /// The ply that could not be played, or at which the problem was found.
    pub ply: Option<Ply>,
    /// The offending text.
    pub token: Option<Text>,
    /// A short word for the kind, such as `illegal-move`.
    pub kind: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The message for users: a sentence.
    pub message: Text,
}

columns! {
    ProblemRow: ProblemRow in "problem",
    |row| {
        "source_id" => row.source,
        "byte_offset" => row.byte_offset,
        "line" => row.line,
        "column_number" => row.column,
        "game_number" => Some(row.game_number).filter(|&number| number != 0),
        "game_id" => row.game,
        "ply" => row.ply,
        "token" => row.token,
        "kind" => row.kind,
        "severity" => row.severity,
        "message" => row.message,
    }
}

stored_row! {
    StoredProblem in "problem", key 1 {
        "problem_id" problem: u32,
        "source_id" source: SourceId,
        "byte_offset" byte_offset: u64,
        "line" line: u64,
        "column_number" column: u64,
        "game_number" game_number: Option<u32>,
        "ply" ply: Option<Ply>,
        "token" token: Option<Text>,
        "kind" kind: Option<Text>,
        "severity" severity: Option<Severity>,
        "message" message: Option<Text>,
    }
}

/// What a game has in common with the game it repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DuplicateKind {
    /// Moves, players, date and result.
    Same,
    /// Moves.
    Moves,
    /// Players and date. The original has all moves of this game, then further ones.
    Prefix,
}

impl DuplicateKind {
    /// The word used in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Moves => "moves",
            Self::Prefix => "prefix",
        }
    }
}

table_row! {
    /// A row of `duplicate` for a game that was skipped because it repeats another one.
    #[derive(Clone, Copy, Debug)]
    pub struct DuplicateRow in "duplicate" {
        /// The source file.
        "source_id" pub source: SourceId,
        /// The offset of the game's text in its source, in bytes.
        "byte_offset" pub byte_offset: u64,
        /// The length of the game's text, in bytes.
        "byte_length" pub byte_length: u64,
        /// Line in the file, from 1.
        "line" pub line: u64,
        /// The number of the game in the file, from 1.
        "game_number" pub game_number: u32,
        /// What the game has in common with the original.
        "kind" pub kind: DuplicateKind,
        /// The original game.
        "original_id" pub original: GameId,
    } with "import_id"
}

// Rows of two kinds are not written as a `DuplicateRow`. `prefix`: a kept game whose moves are the first
// moves of a longer game. `cut`: a game that was skipped because it is a copy of a game that was cut off at
// the end of its file. The game that was cut off was read completely later.
stored_row! {
    StoredDuplicate in "duplicate", key 2 {
        "source_id" source: SourceId,
        "byte_offset" byte_offset: u64,
        "byte_length" byte_length: u64,
        "line" line: Option<u64>,
        "game_number" game_number: Option<u32>,
        "kind" kind: Option<DuplicateKind>,
        "game_id" game: Option<GameId>,
        "original_id" original: Option<GameId>,
    }
}

/// An occurrence of a position: its key, the game and the ply.
///
/// It is one 128-bit number, so that two occurrences can be compared in one step. From the highest bits to
/// the lowest, the number contains the key, the game and the ply. The key's sign bit is inverted, so that the
/// unsigned order is SQLite's signed order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence(u128);

impl Occurrence {
    const SIGN: u64 = 1 << 63;

    /// The occurrence of the position `key` in `game` at `ply`.
    #[must_use]
    pub const fn new(key: PositionKey, game: GameId, ply: Ply) -> Self {
        Self(((key.0 ^ Self::SIGN) as u128) << 64 | (game.0 as u128) << 32 | ply.0 as u128)
    }

    /// The position's key.
    #[must_use]
    pub const fn key(self) -> PositionKey {
        PositionKey((self.0 >> 64) as u64 ^ Self::SIGN)
    }

    /// The game.
    #[must_use]
    pub const fn game(self) -> GameId {
        GameId((self.0 >> 32) as u32)
    }

    /// The ply.
    #[must_use]
    pub const fn ply(self) -> Ply {
        Ply(self.0 as u32)
    }
}

/// One row of `occurrence`. Rows are ordered as in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OccurrenceRow {
    /// The level that the game belongs to.
    pub level: Level,
    /// The position, game and ply.
    pub occurrence: Occurrence,
}

impl OccurrenceRow {
    /// A lower bound for all rows of a level.
    #[must_use]
    pub const fn first_of(level: Level) -> Self {
        Self { level, occurrence: Occurrence(0) }
    }
}

/// The columns of `game_position`.
pub(crate) const POSITION_COLUMNS: &[&str] = &["game_id", "ply", "key", "halfmove_clock", "move_code", "fen"];

values! {
    GameStatus: Text(status => status.as_str()), StoredText;
    DuplicateKind: Text(kind => kind.as_str()), StoredText;
    Severity: Text(severity => severity.as_str()), StoredText;
}
