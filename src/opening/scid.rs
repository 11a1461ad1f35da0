//! Scid's `.eco` files: `B90a "Sicilian: Najdorf"  1.e4 c5 … *`.
//!
//! An entry may extend over several lines. Between entries, `#` begins a comment that extends to the end of
//! its line.

use super::book::NamedPosition;
use super::entry::{Found, named, play};
use super::error::LineError;
use crate::board::Position;
use crate::pgn::{Lexer, decode};

/// Whether an entry begins here, that is, an ECO code.
pub(super) fn starts_entry(text: &[u8]) -> bool {
    matches!(text, [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9', ..])
}

/// Reads all entries.
pub(super) fn read(text: &[u8]) -> Found<Vec<NamedPosition>> {
    let start_position = Position::start();
    let mut openings = Vec::new();
    let mut at = 0;
    loop {
        at = skip_to_entry(text, at);
        if at == text.len() {
            return Ok(openings);
        }
        if !starts_entry(&text[at..]) {
            return Err((at, LineError::Outside));
        }
        let (opening, end) = read_entry(text, at, &start_position)?;
        openings.push(opening);
        at = end;
    }
}

/// The offset of the first byte from `at` on that is neither white space nor part of a comment.
fn skip_to_entry(text: &[u8], mut at: usize) -> usize {
    loop {
        at += text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if text.get(at) != Some(&b'#') {
            return at;
        }
        at += memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
    }
}

/// Parses the entry that begins at the offset `start`. Also returns the offset after it.
fn read_entry(text: &[u8], start: usize, position: &Position) -> Found<(NamedPosition, usize)> {
    let find = |byte, from: usize, what| {
        let found = memchr::memchr(byte, &text[from..]).map(|length| from + length);
        found.ok_or((start, LineError::Unclosed(what)))
    };
    let open = find(b'"', start, "name in double quotes")?;
    let close = find(b'"', open + 1, "closing quote")?;
    let end = find(b'*', close + 1, "'*' after the moves")?;
    let mut lexer = Lexer::new(&text[..end], close + 1);
    let position = play(position, || (lexer.next_token(), lexer.offset()))?;
    let opening = named(&text[start..open], &decode(&text[open + 1..close]), &position);
    Ok((opening.map_err(|error| (start, error))?, end + 1))
}
