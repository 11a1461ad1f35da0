//! An entry of a list: its moves and its name.

use super::book::{NamedPosition, Opening};
use super::error::LineError;
use crate::board::{Color, Position};
use crate::pgn::{Token, decode};

/// A result whose error includes its offset.
pub(super) type Found<T> = std::result::Result<T, (usize, LineError)>;

/// Builds a named position from a code and a name, both trimmed and checked, and a position.
pub(super) fn named(
    eco: &[u8],
    name: &str,
    position: &Position,
) -> std::result::Result<NamedPosition, LineError> {
    let eco = decode(eco.trim_ascii());
    let name = name.trim();
    if eco.is_empty() {
        return Err(LineError::NoCode);
    }
    if !is_code(eco.as_bytes()) {
        return Err(LineError::Code(shown(eco.as_bytes())));
    }
    if name.is_empty() {
        return Err(LineError::NoName);
    }
    Ok(NamedPosition::new(Opening { eco: eco.into_owned(), name: name.to_owned() }, position))
}

/// Whether a text is an ECO code: `B90`, with Scid's extension (`B90a`, `B90a1`), or with the extension that
/// PGN allows (`B90/01`).
fn is_code(text: &[u8]) -> bool {
    let [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9', extension @ ..] = text else { return false };
    matches!(extension, [] | [b'a'..=b'z'] | [b'a'..=b'z', b'1'..=b'4'] | [b'/', b'0'..=b'9', b'0'..=b'9'])
}

/// The beginning of a text, for messages.
fn shown(text: &[u8]) -> String {
    const MOST: usize = 40;
    let text = decode(text);
    let end = text.floor_char_boundary(MOST);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text[..end].escape_debug())
}

/// Plays the moves that `next` returns, from the position `start` up to the last move. `next` returns each
/// token with the offset after it.
pub(super) fn play<'a>(start: &Position, mut next: impl FnMut() -> (Token<'a>, usize)) -> Found<Position> {
    let mut position = start.clone();
    loop {
        let (token, end) = next();
        let what = match token {
            Token::Move(token) => {
                if let Err(error) = position.play_san(token) {
                    let dots = if position.side() == Color::White { "." } else { "..." };
                    let wrong = LineError::Move {
                        number: format!("{}{dots}", position.fullmove_number()),
                        token: shown(token),
                        error,
                        fen: position.fen(),
                    };
                    return Err((end - token.len(), wrong));
                }
                continue;
            }
            Token::Annotation(_) => continue,
            Token::Result(_) | Token::End | Token::NextGame => return Ok(position),
            Token::Junk(word) => {
                return Err((end - word.len(), LineError::Token(format!("\"{}\"", shown(word)))));
            }
            Token::UnclosedComment => "a comment that is not closed",
            Token::UnclosedVariation | Token::StrayOpening => "a variation that is not closed",
            Token::StrayClosing => "a closing bracket without an opening one",
        };
        return Err((end, LineError::Token(what.to_owned())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_a_letter_and_two_digits_with_the_known_extensions() {
        for code in ["A00", "E99", "B90a", "B90z4", "C42/01"] {
            assert!(is_code(code.as_bytes()), "{code}");
        }
        for text in ["F00", "B9", "b90", "B90A", "B90a5", "B90ab", "B90 ", "C42/1", "B90a1x"] {
            assert!(!is_code(text.as_bytes()), "{text}");
        }
    }
}
