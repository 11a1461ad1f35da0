//! Parses the position of a query: a FEN, PGN moves or UCI moves.

use crate::board::{Color, FenChange, MoveCode, Position, SetupError};
use crate::query::pasted::{MovesNote, other_variant, pasted_fen, variant_of_address};
use crate::query::text::brief;

/// The position of a query, and how it was given.
#[derive(Clone, Debug)]
pub struct PositionQuery {
    /// The position.
    pub position: Position,
    /// The start of its line: the position itself if it was given as a FEN only.
    pub start: Position,
    /// The corrections made to the given FEN, one by one. Missing counters are not included, because look-ups
    /// do not need them.
    pub changes: Vec<FenChange>,
    /// Assumptions made when moves were not read exactly as written.
    pub notes: Vec<MovesNote>,
    /// The moves that lead to the position; empty if it was not given by moves.
    pub line: Vec<LineMove>,
}

impl From<Position> for PositionQuery {
    fn from(position: Position) -> Self {
        Self::at(position, Vec::new())
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
    /// The position after it.
    pub position: Position,
}

impl LineMove {
    /// The move with its number in front.
    #[must_use]
    pub fn numbered(&self) -> String {
        format!("{} {}", number_before(self.number, self.side), self.word)
    }
}

/// Why a text is not a valid position.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// The FEN is not a legal position.
    #[error(
        "not a legal position: {:?}; a FEN has placement, side, castling and en passant, such as \"8/8/8/4k3/8/4K3/4P3/8 w - -\"",
        brief(fen)
    )]
    Fen {
        /// The text that was given.
        fen: String,
        /// Why.
        source: SetupError,
    },
    /// A tag pair or a URL in the text names a variant with its own rules.
    #[error("the variant is {:?}; only standard chess and Chess960 are supported", brief(name))]
    Variant {
        /// The variant.
        name: String,
    },
    /// A word among the moves is not a move.
    #[error("{:?}{place} is not a move; leave it out", brief(word))]
    NoMove {
        /// The word.
        word: String,
        /// The place of the word.
        place: MoveLocation,
    },
    /// A comment is not closed.
    #[error("a comment is not closed; add '}}'")]
    UnclosedComment,
    /// A variation is not closed.
    #[error("a variation is not closed; add ')'")]
    UnclosedVariation,
    /// There are variations among the moves.
    #[error("a variation begins{place}; leave out its brackets and what is inside")]
    Variation {
        /// The place.
        place: MoveLocation,
    },
    /// The moves are legal with the piece letters of two languages, but differ.
    #[error(
        "the moves can be read in two ways: {} is {} in {} and {} in {}; write the move with English letters: {} or {}",
        brief(word), one.1, one.0, other.1, other.0, one.1, other.1
    )]
    Languages {
        /// The first word that differs, with its number.
        word: String,
        /// A language, and the move in this language.
        one: (&'static str, String),
        /// Another language, and the move in that language.
        other: (&'static str, String),
    },
    /// A closing bracket has no opening one.
    #[error("a ')' or '}}' closes nothing; remove it")]
    StrayClosing,
    /// The number of a move in the text differs from its number in the game.
    #[error(
        "{} is numbered {typed}, but is White's move {counted}{}; write every move of one line, or leave out the numbers",
        brief(word), if typed > counted { ": a move may be missing" } else { "" }
    )]
    Numbering {
        /// The move as typed.
        word: String,
        /// The number of the move in the game.
        counted: u32,
        /// The number of the move in the text.
        typed: u32,
    },
    /// Another game begins after the moves: with tag pairs, or with White's first move.
    #[error("another game begins; give the moves of one game")]
    NextGame,
    /// Something follows the result.
    #[error("text follows the result {result}; give the moves of one game")]
    AfterResult {
        /// The result.
        result: &'static str,
    },
    /// A move is not legal.
    #[error("cannot play {number} {} (ply {ply}) in the position {fen}", brief(word))]
    Move {
        /// The number of the move, as written in front of it.
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

impl PositionQuery {
    /// The start position.
    #[must_use]
    pub fn start() -> Self {
        Self::at(Position::start(), Vec::new())
    }

    fn at(position: Position, changes: Vec<FenChange>) -> Self {
        Self { start: position.clone(), position, changes, notes: Vec::new(), line: Vec::new() }
    }

    /// Parses a FEN. It may also be in quotes, in a tag pair or in the URL of a board at Lichess or
    /// chess.com, have `_` for blanks, or be followed by EPD operations.
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
        Ok(Self::at(position, changes))
    }

    /// The last move before the position, if it was given by moves.
    #[must_use]
    pub fn last_move(&self) -> Option<MoveCode> {
        self.line.last().map(|played| played.code)
    }

    /// The assumptions made if the position was incomplete or given in an unusual form.
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
        let mut line = Line { position: self.position, played: self.line };
        let mut words = text.split([',', ' ']).filter(|word| !word.is_empty());
        words.try_for_each(|word| line.play(word.as_bytes()))?;
        (self.position, self.line) = (line.position, line.played);
        Ok(self)
    }
}

/// A place in a text of moves: after a move, or before the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveLocation(Option<String>);

impl MoveLocation {
    pub(super) fn after(last: Option<&LineMove>) -> Self {
        Self(last.map(LineMove::numbered))
    }
}

impl std::fmt::Display for MoveLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(last) => write!(f, " after {last}"),
            None => f.write_str(" before the first move"),
        }
    }
}

/// Moves played one after the other.
struct Line {
    position: Position,
    played: Vec<LineMove>,
}

impl Line {
    fn play(&mut self, word: &[u8]) -> Result<(), PositionError> {
        let (number, side) = (self.position.fullmove_number(), self.position.side());
        let code = self.position.resolve_or_explain(word).map_err(|why| self.refusal(word, why.into()))?;
        let mut position = self.position.clone();
        let code = position.make(code).map_err(|why| self.refusal(word, why.into()))?;
        self.position = position.clone();
        let word = String::from_utf8_lossy(word).into_owned();
        self.played.push(LineMove { number, side, word, code, position });
        Ok(())
    }

    fn refusal(&self, word: &[u8], source: Box<dyn std::error::Error + Send + Sync>) -> PositionError {
        PositionError::Move {
            number: number_before(self.position.fullmove_number(), self.position.side()),
            word: String::from_utf8_lossy(word).into_owned(),
            ply: self.played.len() + 1,
            fen: self.position.fen(),
            source,
        }
    }
}

/// A move's number as written in front of it: `3.`, or `3...` for Black's.
#[must_use]
pub fn number_before(number: u32, side: Color) -> String {
    format!("{number}{}", if side == Color::White { "." } else { "..." })
}

/// Appends a move to a line. Black's moves have a number only at the beginning.
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

/// A move in SAN; in UCI if the code is not possible in the position.
pub(super) fn san(position: &Position, code: MoveCode) -> String {
    match position.clone().make(code) {
        Ok(_) => position.san(code),
        Err(_) => code.uci(None).to_string(),
    }
}
