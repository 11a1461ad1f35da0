//! The position that is asked for: as a FEN, as moves of PGN or as moves in UCI notation.

use crate::board::{Color, FenChange, MoveCode, Position, SetupError};
use crate::query::pasted::{MovesNote, other_variant, pasted_fen, read_moves, variant_of_address};
use crate::query::text::brief;

/// A position that is asked for, and how it was told.
#[derive(Clone, Debug)]
pub struct PositionQuery {
    /// The position.
    pub position: Position,
    /// Where its line begins: the position itself, if it was told by a FEN alone.
    pub start: Position,
    /// Changes that make it another position than the FEN says, word by word. Missing counters are not among them: no
    /// look-up needs them.
    pub changes: Vec<FenChange>,
    /// What was assumed where moves were not read as they stand.
    pub notes: Vec<MovesNote>,
    /// The moves that lead to it, if it was told by moves.
    pub line: Vec<LineMove>,
}

impl From<Position> for PositionQuery {
    fn from(position: Position) -> Self {
        Self::at(position, Vec::new())
    }
}

/// A move of a line that was typed.
#[derive(Clone, Debug)]
pub struct LineMove {
    /// The number of the move.
    pub number: u32,
    /// Who plays it.
    pub side: Color,
    /// The move as it was typed.
    pub word: String,
    /// The move.
    pub code: MoveCode,
    /// The position after it.
    pub position: Position,
}

impl LineMove {
    /// The move with its number before it.
    #[must_use]
    pub fn numbered(&self) -> String {
        format!("{} {}", number_before(self.number, self.side), self.word)
    }
}

/// Why a text tells no position.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// The FEN is no legal position.
    #[error(
        "no legal position: {:?}; a FEN is placement, side, castling and en passant, such as \"8/8/8/4k3/8/4K3/4P3/8 w - -\"",
        brief(fen)
    )]
    Fen {
        /// What was given.
        fen: String,
        /// Why.
        source: SetupError,
    },
    /// A tag pair or an address in the text names a variant with rules of its own.
    #[error("the text is of the variant {:?}; only standard chess and Chess960 are known here", brief(name))]
    Variant {
        /// The variant.
        name: String,
    },
    /// A word among the moves is none.
    #[error("{:?}{place} is not a move; leave it out", brief(word))]
    NoMove {
        /// The word.
        word: String,
        /// Where it stands.
        place: Place,
    },
    /// A comment has no end.
    #[error("a comment is not closed; add '}}'")]
    UnclosedComment,
    /// A variation has no end.
    #[error("a variation is not closed; add ')'")]
    UnclosedVariation,
    /// Variations stand among the moves.
    #[error("a variation begins{place}; leave out what stands in its brackets")]
    Variation {
        /// Where.
        place: Place,
    },
    /// The moves are legal with the piece letters of two languages, and not the same.
    #[error(
        "the moves can be read in two ways: {} is {} in {} and {} in {}; write what you mean with the letters of English: {} or {}",
        brief(word), one.1, one.0, other.1, other.0, one.1, other.1
    )]
    Languages {
        /// The first word that is another move, with its number.
        word: String,
        /// A language, and the move that it is there.
        one: (&'static str, String),
        /// Another one, and the move that it is there.
        other: (&'static str, String),
    },
    /// Something ends that has not begun.
    #[error("a ')' or '}}' closes nothing")]
    StrayClosing,
    /// A move has another number in the text than in the game.
    #[error("the text calls {counted} move {typed}; write all moves of one line, or leave the numbers out")]
    Numbering {
        /// The move with its number in the game.
        counted: String,
        /// Its number in the text.
        typed: u32,
    },
    /// Tag pairs follow the moves.
    #[error("another game begins; give the moves of one")]
    NextGame,
    /// Something follows the result.
    #[error("there is more after {result}; give the moves of one game")]
    AfterResult {
        /// The result.
        result: &'static str,
    },
    /// A move is not legal.
    #[error("cannot play {number} {} (ply {ply}) in the position {fen}", brief(word))]
    Move {
        /// Its number as it stands before it.
        number: String,
        /// The move as it was typed.
        word: String,
        /// Which of the moves it is, from 1.
        ply: usize,
        /// The position before it.
        fen: String,
        /// Why.
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

    /// Reads a FEN, also where it stands in quotes, in a tag pair, in the address of a board at Lichess or chess.com, with `_` for blanks,
    /// or before the operations of EPD.
    ///
    /// # Errors
    /// [`PositionError::Fen`], [`PositionError::Variant`].
    pub fn from_fen(fen: &str) -> Result<Self, PositionError> {
        // The name that engines know it by.
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

    /// The move that led to the position, if it was told by moves.
    #[must_use]
    pub fn last_move(&self) -> Option<MoveCode> {
        self.line.last().map(|played| played.code)
    }

    /// Plays moves as people paste them: as in PGN, with small letters, chess symbols or the piece letters of other languages, with the
    /// signs of books and programs. [`notes`](Self::notes) tells what was assumed.
    ///
    /// # Errors
    /// When a move cannot be played: which, why, and in what position; when the text is not that of one line, or can be read in two
    /// ways.
    pub fn from_moves(text: &str) -> Result<Self, PositionError> {
        read_moves(text)
    }

    /// What was assumed where the position was not told in full, or not as it is usual.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let changes = self.changes.iter().map(ToString::to_string);
        changes.chain(self.notes.iter().map(ToString::to_string)).collect()
    }

    /// Plays moves in UCI notation, with commas or blanks between them.
    ///
    /// # Errors
    /// When a move cannot be played: which, why, and in what position.
    pub fn from_uci(text: &str) -> Result<Self, PositionError> {
        let query = Self::start().then_uci(text)?;
        if query.line.is_empty() { Err(PositionError::NoMoves) } else { Ok(query) }
    }

    /// Plays more moves in UCI notation, from the position on; none if the text is empty.
    ///
    /// # Errors
    /// When a move cannot be played: which, why, and in what position.
    pub fn then_uci(mut self, text: &str) -> Result<Self, PositionError> {
        let mut line = Line { position: self.position, played: self.line };
        let mut words = text.split([',', ' ']).filter(|word| !word.is_empty());
        words.try_for_each(|word| line.play(word.as_bytes()))?;
        (self.position, self.line) = (line.position, line.played);
        Ok(self)
    }
}

/// Where in a text of moves something stands: behind which move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(Option<String>);

impl Place {
    pub(super) fn after(last: Option<&LineMove>) -> Self {
        Self(last.map(LineMove::numbered))
    }
}

impl std::fmt::Display for Place {
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

/// A move's number as it stands before it: `3.`, or `3...` for Black's.
#[must_use]
pub fn number_before(number: u32, side: Color) -> String {
    format!("{number}{}", if side == Color::White { "." } else { "..." })
}

/// Adds a move to those of a line. Black's have a number only if they come first.
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

/// A move of a position in SAN; a code that does not fit the position, in UCI.
pub(super) fn san(position: &Position, code: MoveCode) -> String {
    match position.clone().make(code) {
        Ok(_) => position.san(code),
        Err(_) => code.uci(None).to_string(),
    }
}
