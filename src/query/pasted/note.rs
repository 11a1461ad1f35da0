//! The assumptions that were necessary to read pasted moves.

use std::fmt;

use crate::board::PieceKind;
use crate::query::text::{brief, cut};

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
    /// Two dashes are a null move.
    NullMove {
        /// The word as typed.
        word: String,
    },
    /// Moves after a `;` were ignored.
    Skipped {
        /// The ignored text.
        text: String,
    },
}

impl fmt::Display for MovesNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language { languages, letters } => {
                let letters: Vec<_> = letters
                    .iter()
                    .enumerate()
                    .map(|(index, (letters, kind))| {
                        let verb = if index == 0 { "is the " } else { "the " };
                        format!("{letters} {verb}{}", kind.name())
                    })
                    .collect();
                write!(f, "piece letters read as in {}: {}", either(languages), letters.join(", "))
            }
            Self::Capitals { words } => {
                const NAMED: usize = 4;
                let named: Vec<_> =
                    words.iter().take(NAMED).map(|(word, san)| format!("{} as {san}", brief(word))).collect();
                write!(f, "read with other capitals: {}", named.join(", "))?;
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

/// Joins several names, with `or` before the last.
fn either(names: &[&str]) -> String {
    const NAMED: usize = 4;
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] if names.len() < NAMED => format!("{} or {last}", names.join(", ")),
        names => format!("{} and others", names[..NAMED].join(", ")),
    }
}
