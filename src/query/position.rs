//! Parses the position of a query: a FEN, PGN moves or UCI moves. Describes the position so that a board on a
//! screen can show it without knowing the rules of chess.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::board::{Color, FenChange, MoveCode, PieceKind, Position, SetupError};
use crate::opening::Opening;
use crate::query::error::{brief, cut};
use crate::query::pasted::{other_variant, pasted_fen, variant_of_address};
use crate::sorted::sort_by;
use crate::store::{self, Database};

/// The position of a query, and how it was given.
#[derive(Clone, Debug)]
pub struct PositionQuery {
    /// The position.
    pub position: Position,
    /// The first position of the line that leads to `position`; `position` itself if no moves were given.
    pub start: Position,
    /// The corrections made to the given FEN. Added move counters are not included, because look-ups do not
    /// need the counters.
    pub changes: Vec<FenChange>,
    /// Assumptions made when moves were not read exactly as written.
    pub notes: Vec<MovesNote>,
    /// The moves that lead to the position; empty if it was not given by moves.
    pub line: Vec<LineMove>,
}

impl From<Position> for PositionQuery {
    fn from(position: Position) -> Self {
        let start = position.clone();
        Self { position, start, changes: Vec::new(), notes: Vec::new(), line: Vec::new() }
    }
}

/// A move of a typed line.
#[derive(Clone, Debug)]
pub struct LineMove {
    /// The number of the move.
    pub number: u32,
    /// The side that plays it.
    pub side: Color,
    /// The move as typed.
    pub word: String,
    /// The move.
    pub code: MoveCode,
    /// The position after the move.
    pub position: Position,
}

impl LineMove {
    /// The move as typed, with its number in front.
    #[must_use]
    pub fn numbered(&self) -> String {
        format!("{} {}", number_before(self.number, self.side), self.word)
    }
}

/// Why a text is not a valid position.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// The text is not a FEN, or its position is not legal.
    #[error("{}", wrong_fen(fen, source))]
    Fen {
        /// The text that was given.
        fen: String,
        /// Why it is not a FEN, or why the position is not legal.
        source: SetupError,
    },
    /// A tag pair or a URL in the text names a variant with its own rules.
    #[error("the variant is {:?}; only standard chess and Chess960 are supported", brief(name))]
    Variant {
        /// The variant.
        name: String,
    },
    /// A text does not consist of the moves of one line, or its move numbers are wrong.
    #[error("{0}")]
    Moves(String),
    /// The text is a legal line in two languages, but its words mean different moves in them.
    #[error(
        "the moves can be read in two ways: {} is {} in {} and {} in {}; write the move with English letters: {} or {}",
        brief(word), one.1, one.0, other.1, other.0, one.1, other.1
    )]
    Languages {
        /// The first word with two meanings, with its move number.
        word: String,
        /// One language, and the move that the word means in it.
        one: (&'static str, String),
        /// The other language, and the move that the word means in it.
        other: (&'static str, String),
    },
    /// A word cannot be played: the move is illegal, or the word is unreadable or ambiguous.
    #[error("cannot play {number} {} (ply {ply}) in the position {fen}", brief(word))]
    Move {
        /// The number of the move in the form in which it is written before a move: `3.`, or `3...` for a
        /// move of Black.
        number: String,
        /// The move as typed.
        word: String,
        /// The index of the move, from 1.
        ply: usize,
        /// The FEN of the position before the move.
        fen: String,
        /// Why the move cannot be played.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No move is given.
    #[error("there are no moves; write them as in \"1. e4 c5 2. Nf3\" or e2e4,c7c5")]
    NoMoves,
}

/// The message of [`PositionError::Fen`]: the position is not legal, or the text is not a FEN. In the second
/// case, the message also explains what a FEN is.
fn wrong_fen(fen: &str, error: &SetupError) -> String {
    let fen = brief(fen);
    match error {
        SetupError::Kings { .. }
        | SetupError::TooManyPieces { .. }
        | SetupError::PawnOnLastRank(_)
        | SetupError::OpponentInCheck(_) => format!("not a legal position: {fen:?}"),
        _ => format!(
            "not a FEN: {fen:?}; a FEN looks like this: \
             \"8/8/8/4k3/8/4K3/4P3/8 w - -\""
        ),
    }
}

impl PositionQuery {
    /// The start position.
    #[must_use]
    pub fn start() -> Self {
        Position::start().into()
    }

    /// Parses a FEN. The FEN can also be in quotes, in a tag pair or in the URL of a board at Lichess or
    /// chess.com. It can have `_` instead of blanks, and EPD operations can follow it. `startpos` is accepted
    /// too.
    ///
    /// # Errors
    /// [`PositionError::Fen`], [`PositionError::Variant`].
    pub fn from_fen(fen: &str) -> Result<Self, PositionError> {
        // The UCI protocol's name of the start position.
        if fen.trim().eq_ignore_ascii_case("startpos") {
            return Ok(Self::start());
        }
        if let Some(name) = other_variant(fen).or_else(|| variant_of_address(fen)) {
            return Err(PositionError::Variant { name });
        }
        let (position, mut changes) = Position::from_fen(pasted_fen(fen).trim().as_bytes())
            .map_err(|source| PositionError::Fen { fen: fen.to_owned(), source })?;
        changes.retain(|change| *change != FenChange::CountersAssumed);
        Ok(Self { changes, ..position.into() })
    }

    /// The name of the position or, if it has none, of the last named position on its line.
    pub(super) fn opening(
        &self,
        name: impl Fn(&Position) -> store::Result<Option<Opening>>,
    ) -> store::Result<Option<Opening>> {
        let on_line = self.line.iter().rev().map(|played| &played.position);
        let names = on_line.chain([&self.start]).map(name);
        names.filter_map(Result::transpose).next().transpose()
    }

    /// The last move before the position, if it was given by moves.
    #[must_use]
    pub fn last_move(&self) -> Option<MoveCode> {
        self.line.last().map(|played| played.code)
    }

    /// The corrections of the FEN and the assumptions about the moves, one sentence each.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let changes = self.changes.iter().map(ToString::to_string);
        changes.chain(self.notes.iter().map(ToString::to_string)).collect()
    }

    /// Parses moves in UCI notation, separated by commas or blanks.
    ///
    /// # Errors
    /// If a move cannot be played (the error says which move, why, and in what position), or if there are no
    /// moves.
    pub fn from_uci(text: &str) -> Result<Self, PositionError> {
        let query = Self::start().then_uci(text)?;
        if query.line.is_empty() { Err(PositionError::NoMoves) } else { Ok(query) }
    }

    /// Plays more UCI moves from the position. An empty text changes nothing.
    ///
    /// # Errors
    /// If a move cannot be played. The error says which move, why, and in what position.
    pub fn then_uci(mut self, text: &str) -> Result<Self, PositionError> {
        let mut words = text.split([',', ' ']).filter(|word| !word.is_empty());
        words.try_for_each(|word| self.play(word))?;
        Ok(self)
    }

    fn play(&mut self, word: &str) -> Result<(), PositionError> {
        let (number, side) = (self.position.fullmove_number(), self.position.side());
        let refusal = |source| PositionError::Move {
            number: number_before(number, side),
            word: word.to_owned(),
            ply: self.line.len() + 1,
            fen: self.position.fen(),
            source,
        };
        let code = self.position.resolve_or_explain(word.as_bytes()).map_err(|why| refusal(why.into()))?;
        let mut position = self.position.clone();
        let code = position.make(code).map_err(|why| refusal(why.into()))?;
        self.position = position.clone();
        self.line.push(LineMove { number, side, word: word.to_owned(), code, position });
        Ok(())
    }
}

/// A move's number as written in front of it: `3.`, or `3...` for a move of Black.
#[must_use]
pub fn number_before(number: u32, side: Color) -> String {
    format!("{number}{}", if side == Color::White { "." } else { "..." })
}

/// Appends a move to a line. Black's move has a number only if it is the first of the line.
pub fn push_move(line: &mut String, number: u32, side: Color, san: &str) {
    let is_first = line.is_empty();
    if !is_first {
        line.push(' ');
    }
    if side == Color::White || is_first {
        line.extend([number_before(number, side).as_str(), " "]);
    }
    line.push_str(san);
}

/// A move in SAN, or in UCI notation if the move is illegal in the position.
pub(super) fn san(position: &Position, code: MoveCode) -> String {
    match position.clone().make(code) {
        Ok(_) => position.san(code),
        Err(_) => code.uci(None).to_string(),
    }
}

/// `w` or `b`, as in FEN.
pub(super) const fn side(color: Color) -> &'static str {
    match color {
        Color::White => "w",
        Color::Black => "b",
    }
}

/// Serializes a side as `w` or `b`, as in FEN.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(super) fn as_letter<S: Serializer>(color: &Color, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(side(*color))
}

/// An assumption that was necessary to read pasted moves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MovesNote {
    /// The moves are written with the piece letters of another language.
    Language {
        /// The language; several languages if the moves are the same in all of them.
        languages: Vec<&'static str>,
        /// The letters, and the pieces that they name.
        letters: Vec<(&'static str, PieceKind)>,
    },
    /// Some words are moves only with other capitalization.
    Capitals {
        /// Each word as typed, and the move in SAN.
        words: Vec<(String, String)>,
    },
    /// The moves do not start from the standard position.
    Start {
        /// The FEN of the tag pair.
        fen: String,
    },
    /// Two dashes are read as a null move.
    NullMove {
        /// The word as typed.
        word: String,
    },
    /// The text after a `;` was ignored although it contains moves.
    Skipped {
        /// The ignored text.
        text: String,
    },
}

impl fmt::Display for MovesNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language { languages, letters } => {
                let named = letters.iter().map(|(letters, kind)| format!("{letters} the {}", kind.name()));
                let named = Vec::from_iter(named).join(", ").replacen(" the ", " is the ", 1);
                write!(f, "piece letters read as in {}: {named}", either(languages))
            }
            Self::Capitals { words } => {
                const NAMED: usize = 4;
                let named: Vec<_> =
                    words.iter().take(NAMED).map(|(word, san)| format!("{} to {san}", brief(word))).collect();
                write!(f, "letter case changed: {}", named.join(", "))?;
                match words.len().saturating_sub(NAMED) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::Start { fen } => {
                write!(f, "the moves start from the FEN in the tag pair: {}", brief(fen))
            }
            Self::NullMove { word } => write!(f, "{word:?} is read as a null move"),
            Self::Skipped { text } => {
                write!(f, "ignored as a comment: {:?}; leave out the ';' if these are moves", cut(text, 60))
            }
        }
    }
}

/// Joins several names, with `or` before the last. Replaces all but the first names of a long list with `and
/// others`.
fn either(names: &[&str]) -> String {
    const NAMED: usize = 4;
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] if names.len() < NAMED => format!("{} or {last}", names.join(", ")),
        names => format!("{} and others", names[..NAMED].join(", ")),
    }
}

/// A position, the line that led to it, and its legal moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DescribedPosition {
    /// FEN of the position, all six fields.
    pub fen: String,
    /// Canonical FEN, used to look the position up: the first four fields, with an en passant square only if
    /// an en passant capture is legal.
    pub canonical_fen: String,
    /// Polyglot key in 16 hexadecimal digits.
    pub key: String,
    /// Polyglot key as a signed 64-bit integer, as in the database. JavaScript rounds it: use `key` there.
    pub integer: i64,
    /// Side to move: `w` or `b`.
    pub turn: &'static str,
    /// Number of the next move.
    pub move_number: u32,
    /// Whether the side to move is in check.
    pub is_check: bool,
    /// Whether the side to move is mated.
    pub is_mate: bool,
    /// Whether the side to move has no legal move and is not in check.
    pub is_stalemate: bool,
    /// Opening of the position, or of the last named position on the way to it; `null` if there is none.
    pub opening: Option<Opening>,
    /// The legal moves, sorted by their SAN.
    pub moves: Vec<DescribedMove>,
    /// FEN of the first position of the line, all six fields.
    pub start_fen: String,
    /// The moves from the first position of the line to this position.
    pub line: Vec<DescribedMove>,
    /// Assumptions made because the position was given incompletely or in an unusual form: one sentence each.
    pub assumptions: Vec<String>,
    /// Corrections made to the given FEN: one sentence each. `assumptions` also contains them.
    pub changes: Vec<String>,
}

/// A move, and the position after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DescribedMove {
    /// The move in UCI notation.
    pub uci: String,
    /// The move in SAN.
    pub san: String,
    /// FEN of the position after the move, all six fields.
    pub fen: String,
}

impl DescribedPosition {
    /// Describes a position, with the opening names in the database.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn new(database: &Database, query: &PositionQuery) -> store::Result<Self> {
        let position = &query.position;
        let mut codes = Vec::new();
        position.legal_moves(&mut codes);
        let mut moves = Vec::from_iter(codes.into_iter().filter_map(|code| described(position, code)));
        sort_by(&mut moves, |one, other| one.san.cmp(&other.san));
        let mut before = query.start.clone();
        let mut line = Vec::with_capacity(query.line.len());
        for played in &query.line {
            line.extend(described(&before, played.code));
            before = played.position.clone();
        }
        Ok(Self {
            fen: position.fen(),
            canonical_fen: position.canonical_fen(),
            key: position.key().to_string(),
            integer: position.key().as_i64(),
            turn: side(position.side()),
            move_number: position.fullmove_number(),
            is_check: position.is_check(),
            is_mate: moves.is_empty() && position.is_check(),
            is_stalemate: moves.is_empty() && !position.is_check(),
            opening: query
                .opening(|position| database.opening_of(position.key(), &position.canonical_fen()))?,
            moves,
            start_fen: query.start.fen(),
            line,
            assumptions: query.assumptions(),
            changes: query.changes.iter().map(ToString::to_string).collect(),
        })
    }
}

/// A move of a position, with the position after it; `None` if the move is illegal.
fn described(position: &Position, code: MoveCode) -> Option<DescribedMove> {
    let mut after = position.clone();
    let made = after.make(code).ok()?;
    Some(DescribedMove { uci: position.uci(made).to_string(), san: position.san(made), fen: after.fen() })
}
