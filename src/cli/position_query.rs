//! The position that a user asks for, as a FEN or as moves.

use anyhow::{Context as _, anyhow, bail};
use pgndex::board::{Color, FenChange, Position};
use pgndex::pgn::{Lexer, Token};

use crate::cli::args::PositionArgs;
use crate::cli::render::text::brief;
use crate::cli::usage::WrongValue;

/// A position, and what had to be put right in the FEN it came from.
#[derive(Debug)]
pub(super) struct PositionQuery {
    /// The position.
    pub(super) position: Position,
    /// Changes that make it another position than the FEN says, word by word. Missing counters are not among them: no
    /// look-up needs them.
    pub(super) changes: Vec<FenChange>,
    /// The moves that lead to it, if it was told by moves: each as it was typed, its number before it, with the position after
    /// it.
    pub(super) line: Vec<(String, Position)>,
}

impl PositionQuery {
    /// Reads `--fen`, `--moves` or `--play`.
    ///
    /// # Errors
    /// When the FEN is no legal position; when a move cannot be played: which, why, and in what position.
    pub(super) fn read(args: &PositionArgs) -> anyhow::Result<Self> {
        match args {
            PositionArgs { fen: Some(fen), .. } => Self::from_fen(fen),
            PositionArgs { moves: Some(moves), .. } => Ok(play_pgn(moves).map_err(WrongValue)?),
            PositionArgs { play: Some(play), .. } => Ok(play_uci(play).map_err(WrongValue)?),
            _ => bail!("no position; give --fen, --moves or --play"),
        }
    }

    /// Reads a FEN.
    ///
    /// # Errors
    /// When it is no legal position.
    pub(super) fn from_fen(fen: &str) -> anyhow::Result<Self> {
        let (position, mut changes) = Position::from_fen(fen.trim().as_bytes())
            .with_context(|| {
                format!(
                    "no legal position: {:?}; a FEN is placement, side, castling and en passant, such as \"8/8/8/4k3/8/4K3/4P3/8 w - -\"",
                    brief(fen)
                )
            })
            .map_err(WrongValue)?;
        changes.retain(|change| *change != FenChange::CountersAssumed);
        Ok(Self { position, changes, line: Vec::new() })
    }
}

/// Plays moves as they stand in PGN.
fn play_pgn(text: &str) -> anyhow::Result<PositionQuery> {
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    let mut line = Line::new("--moves");
    loop {
        match lexer.next_token() {
            Token::Move(word) => line.play(word)?,
            Token::Junk(word) => bail!("--moves: {:?} is no move", brief(&String::from_utf8_lossy(word))),
            Token::UnclosedComment => bail!("--moves: a comment is not closed; add '}}'"),
            Token::UnclosedVariation | Token::StrayOpening => {
                bail!("--moves: a variation is not closed; add ')'")
            }
            Token::StrayClosing => bail!("--moves: a ')' or '}}' closes nothing"),
            Token::NextGame => bail!("--moves: another game begins; give the moves of one"),
            Token::Result(_) if lexer.next_token() == Token::End => return line.end(),
            Token::Result(result) => {
                bail!("--moves: there is more after {}; give the moves of one game", result.as_str())
            }
            Token::End => return line.end(),
        }
    }
}

/// Plays moves in UCI notation, with commas or blanks between them.
fn play_uci(text: &str) -> anyhow::Result<PositionQuery> {
    let mut line = Line::new("--play");
    text.split([',', ' ']).filter(|word| !word.is_empty()).try_for_each(|word| line.play(word.as_bytes()))?;
    line.end()
}

/// Moves played one after the other from the start position.
struct Line {
    option: &'static str,
    position: Position,
    played: Vec<(String, Position)>,
}

impl Line {
    fn new(option: &'static str) -> Self {
        Self { option, position: Position::start(), played: Vec::new() }
    }

    fn play(&mut self, word: &[u8]) -> anyhow::Result<()> {
        let code = self.position.resolve_or_explain(word).with_context(|| self.failure(word))?;
        let typed = format!("{} {}", move_number(&self.position), String::from_utf8_lossy(word));
        self.position.make(code).with_context(|| self.failure(word))?;
        self.played.push((typed, self.position.clone()));
        Ok(())
    }

    fn failure(&self, word: &[u8]) -> String {
        let word = String::from_utf8_lossy(word);
        let (number, word) = (move_number(&self.position), brief(&word));
        format!(
            "{}: cannot play {number} {word} (ply {}) in the position {}",
            self.option,
            self.played.len() + 1,
            self.position.fen()
        )
    }

    fn end(self) -> anyhow::Result<PositionQuery> {
        if self.played.is_empty() {
            return Err(anyhow!(
                "{}: there are no moves; write them as in \"1. e4 c5 2. Nf3\" or e2e4,c7c5",
                self.option
            ));
        }
        Ok(PositionQuery { position: self.position, changes: Vec::new(), line: self.played })
    }
}

/// The number of the move to be played, as it stands before it: `3.`, or `3...` for Black's.
pub(super) fn move_number(position: &Position) -> String {
    number_before(position.fullmove_number(), position.side())
}

/// A move's number as it stands before it: `3.`, or `3...` for Black's.
pub(super) fn number_before(number: u32, side: Color) -> String {
    format!("{number}{}", if side == Color::White { "." } else { "..." })
}
