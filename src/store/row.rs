//! The rows that the bulk load writes, as batches that are filled, written and reused.

use crate::board::{GameResult, MoveCode, PositionKey};
use crate::opening::OpeningId;

/// A game's number in the database: 1, 2, 3 … in input order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(pub u32);

/// A half-move's number in its game; the position before the first move has ply 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ply(pub u32);

/// The number of a row in `source`: 1, 2, 3 … in input order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// The number of a row in `player`, `event` or `site`: 1, 2, 3 … in order of first appearance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// One row of `position_game`: in which game and at which ply a position arose.
///
/// One 128-bit number, so that sorting compares once: the key (biased, so that unsigned order is SQLite's signed
/// order), then the game, then the ply.
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

/// One row of `game_position`; its FEN stands in the batch's text.
#[derive(Clone, Copy, Debug)]
pub struct PositionRow {
    /// The game.
    pub game: GameId,
    /// The ply: 0 is the start position.
    pub ply: Ply,
    /// The position's key.
    pub key: PositionKey,
    /// Half-moves since the last capture or pawn move.
    pub halfmove_clock: u32,
    /// The move played from here, or `None` after the last one.
    pub move_code: Option<MoveCode>,
    /// The canonical four-field FEN, in the batch's text.
    pub fen: Text,
}

/// Rows of `game_position` in key order (game, then ply).
#[derive(Debug, Default)]
pub struct PositionBatch {
    /// The rows.
    pub rows: Vec<PositionRow>,
    /// The FENs of all rows, one after the other.
    pub text: String,
}

impl PositionBatch {
    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.text.clear();
    }
}

/// A piece of a batch's text: byte offset and length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Offset in bytes.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

impl Text {
    /// Adds `piece` to a batch's text.
    ///
    /// # Panics
    /// When the batch's text would pass 4 GiB.
    pub fn push(text: &mut String, piece: &str) -> Self {
        let start = u32::try_from(text.len()).expect("batch text under 4 GiB");
        text.push_str(piece);
        Self { start, len: u32::try_from(piece.len()).expect("text under 4 GiB") }
    }

    /// The text itself.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        &text[self.start as usize..][..self.len as usize]
    }
}

/// How much of a game could be replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameStatus {
    /// All of its main line.
    #[default]
    Ok,
    /// The legal moves before the first illegal or unreadable one.
    Truncated,
    /// Nothing: its variant is not supported or its start position is none.
    Skipped,
}

impl GameStatus {
    /// The word in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Truncated => "truncated",
            Self::Skipped => "skipped",
        }
    }
}

/// One row of `game`. `None` is NULL: the PGN does not say, or says `?`.
#[derive(Clone, Copy, Debug, Default)]
pub struct GameRow {
    /// The game.
    pub game: GameId,
    /// The file it stands in.
    pub source: SourceId,
    /// Where its text begins in that file, in bytes.
    pub byte_offset: u64,
    /// How long its text is, in bytes.
    pub byte_length: u64,
    /// Event name.
    pub event: Option<NameId>,
    /// Site name.
    pub site: Option<NameId>,
    /// PGN date, `YYYY.MM.DD`, unknown parts `??`.
    pub date: Option<Text>,
    /// Round.
    pub round: Option<Text>,
    /// White's player.
    pub white: Option<NameId>,
    /// Black's player.
    pub black: Option<NameId>,
    /// Result.
    pub result: GameResult,
    /// White's rating.
    pub white_elo: Option<u16>,
    /// Black's rating.
    pub black_elo: Option<u16>,
    /// White's title (GM, IM …).
    pub white_title: Option<Text>,
    /// Black's title.
    pub black_title: Option<Text>,
    /// ECO code, as the PGN says.
    pub eco: Option<Text>,
    /// The opening, told from the positions.
    pub opening: Option<OpeningId>,
    /// PGN time control.
    pub time_control: Option<Text>,
    /// Variant as the PGN names it.
    pub variant: Option<Text>,
    /// Six-field FEN of the start position; `None` is the standard one.
    pub start_fen: Option<Text>,
    /// Half-moves replayed.
    pub ply_count: u32,
    /// How much of the game could be replayed.
    pub status: GameStatus,
    /// A hash of start position and move codes: equal games have equal hashes.
    pub moves_hash: u64,
    /// A hash of players, date, start position and the first moves, which a broken-off game shares with the whole one; `None` if
    /// there are too few moves or a player is not known.
    pub prefix_hash: Option<u64>,
}

/// One row of `tag`: a tag pair that has no column of its own.
#[derive(Clone, Copy, Debug)]
pub struct TagRow {
    /// The game.
    pub game: GameId,
    /// Tag name.
    pub name: Text,
    /// Tag value.
    pub value: Text,
}

/// What came of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    /// Games that White won.
    pub white_wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games that Black won.
    pub black_wins: u32,
    /// Both players' ratings added up, of the games in which both are known.
    pub elo_sum: u64,
    /// How many these are.
    pub elo_games: u32,
    /// The earliest year of a game whose year is known.
    pub first_year: Option<u16>,
    /// The latest.
    pub last_year: Option<u16>,
}

impl ResultCounts {
    /// No games.
    pub const NONE: Self = Self {
        white_wins: 0,
        draws: 0,
        black_wins: 0,
        elo_sum: 0,
        elo_games: 0,
        first_year: None,
        last_year: None,
    };

    /// How many games there are.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.white_wins as u64 + self.draws as u64 + self.black_wins as u64
    }

    /// The players' mean rating, rounded; `None` if there is no game in which both are known.
    #[must_use]
    pub const fn mean_elo(&self) -> Option<u64> {
        // Two players a game; half the divisor more rounds.
        let games = self.elo_games as u64;
        (self.elo_sum + games).checked_div(2 * games)
    }
}

/// One row of `visited_position`. The lists are JSON arrays.
#[derive(Clone, Copy, Debug)]
pub struct VisitedRow {
    /// The position's key.
    pub key: PositionKey,
    /// Its canonical FEN.
    pub fen: Text,
    /// What came of the games that reached it.
    pub counts: ResultCounts,
    /// How many games without a result reached it besides.
    pub unfinished: u32,
    /// The best-rated games' ids, best first.
    pub top_games: Text,
    /// The latest games' ids, latest first.
    pub recent_games: Text,
}

/// One row of `continuation`.
#[derive(Clone, Copy, Debug)]
pub struct ContinuationRow {
    /// The position's key.
    pub key: PositionKey,
    /// The move.
    pub move_code: MoveCode,
    /// What came of the games in which it was played.
    pub counts: ResultCounts,
}

/// Rows of `visited_position` and `continuation`, in key order.
#[derive(Debug, Default)]
pub struct VisitedBatch {
    /// Rows of `visited_position`.
    pub positions: Vec<VisitedRow>,
    /// Rows of `continuation`.
    pub continuations: Vec<ContinuationRow>,
    /// All texts, one after the other.
    pub text: String,
}

impl VisitedBatch {
    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.continuations.clear();
        self.text.clear();
    }
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Put right by tolerance; nothing is lost.
    Warning,
    /// Something of a game was lost.
    Error,
}

impl Severity {
    /// The word in the database.
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
    /// The file.
    pub source: SourceId,
    /// Where, in bytes from the file's start.
    pub byte_offset: u64,
    /// Line in the file, from 1.
    pub line: u64,
    /// Byte within the line, from 1.
    pub column: u64,
    /// Which game of the file, from 1; 0 outside any game.
    pub game_number: u32,
    /// The game's id, if it was kept.
    pub game: Option<GameId>,
    /// The ply that was to be made.
    pub ply: Option<Ply>,
    /// The offending text.
    pub token: Option<Text>,
    /// A short word for the kind, such as `illegal-move`.
    pub kind: &'static str,
    /// How bad.
    pub severity: Severity,
    /// A sentence.
    pub message: Text,
}

/// In what a game repeats another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DuplicateKind {
    /// Moves, players, date and result.
    Same,
    /// Moves.
    Moves,
    /// All its moves are the first of a longer game by the same players on the same date.
    Prefix,
}

impl DuplicateKind {
    /// The word in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Moves => "moves",
            Self::Prefix => "prefix",
        }
    }
}

/// One row of `duplicate`: a game that was skipped because it repeats another one.
#[derive(Clone, Copy, Debug)]
pub struct DuplicateRow {
    /// The file.
    pub source: SourceId,
    /// Where its text begins in that file, in bytes.
    pub byte_offset: u64,
    /// How long its text is, in bytes.
    pub byte_length: u64,
    /// Line in the file, from 1.
    pub line: u64,
    /// Which game of the file, from 1.
    pub game_number: u32,
    /// In what it repeats the other.
    pub kind: DuplicateKind,
    /// The game that it repeats.
    pub original: GameId,
}

/// Rows of the small tables, in game order; texts stand in the batch's own text.
#[derive(Debug, Default)]
pub struct HeaderBatch {
    /// Rows of `game`.
    pub games: Vec<GameRow>,
    /// Rows of `tag`, by game, then name.
    pub tags: Vec<TagRow>,
    /// Rows of `problem`, in input order.
    pub problems: Vec<ProblemRow>,
    /// Rows of `duplicate`, in input order.
    pub duplicates: Vec<DuplicateRow>,
    /// New rows of `player`.
    pub players: Vec<(NameId, Text)>,
    /// New rows of `event`.
    pub events: Vec<(NameId, Text)>,
    /// New rows of `site`.
    pub sites: Vec<(NameId, Text)>,
    /// All texts, one after the other.
    pub text: String,
}

impl HeaderBatch {
    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.games.clear();
        self.tags.clear();
        self.problems.clear();
        self.duplicates.clear();
        self.players.clear();
        self.events.clear();
        self.sites.clear();
        self.text.clear();
    }

    /// Adds a text.
    ///
    /// # Panics
    /// When the batch's text would pass 4 GiB.
    pub fn push_text(&mut self, text: &str) -> Text {
        Text::push(&mut self.text, text)
    }
}
