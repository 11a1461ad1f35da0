//! Rows of `problem` and `duplicate`.

use super::description::{columns, stored_row, table_row, values};
use super::stored::StoredText;
use super::text::Text;
use crate::id::{GameId, Ply, SourceId};

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
    /// The game's id, if it was kept.
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
    /// All moves of the game are the first moves of a longer one by the same players on the same date.
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
        /// The offset of the game's text in this file, in bytes.
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
    } with "import_id" = "?1"
}

// Kept games that are prefixes of longer games (kind `prefix`), and duplicates of a removed end of a source
// (kind `cut`), have rows too.
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

values! {
    DuplicateKind: Text(kind => kind.as_str()), StoredText;
    Severity: Text(severity => severity.as_str()), StoredText;
}
