//! Interprets words of movetext.

use std::borrow::Cow;

use crate::board::Position;
use crate::pgn::{decode, is_descriptive_move, is_foreign_move, is_misspelt_move, looks_like_move};

/// The length of the move at the start of a word, if only a result, a move number or another move follows it
/// in the word.
pub(crate) fn glued_move(word: &[u8]) -> Option<usize> {
    let results =
        [&b"1-0"[..], b"0-1", b"1/2-1/2"].into_iter().filter_map(|result| word.strip_suffix(result));
    let digits = word.iter().rev().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    let numbers = (1..=digits).map(|count| &word[..word.len() - count]);
    results.chain(numbers).find(|word| Position::is_san(word)).map(<[u8]>::len).or_else(|| glued_moves(word))
}

/// The length of the first move in a word that consists of two moves.
fn glued_moves(word: &[u8]) -> Option<usize> {
    const LONGEST: usize = 16;
    let parts = (2..word.len().min(LONGEST).saturating_sub(1)).filter(|_| word.len() <= LONGEST);
    parts.into_iter().find(|&length| {
        let (first, second) = word.split_at(length);
        Position::is_san(first) && Position::is_san(second)
    })
}

/// Whether a word could be a move in any notation: it is short, and contains a letter and a digit from 1 to
/// 8.
pub(crate) fn may_be_move(word: &str) -> bool {
    const LONGEST: usize = 24;
    word.len() <= LONGEST
        && word.contains(char::is_alphabetic)
        && word.contains(|letter| matches!(letter, '1'..='8'))
}

/// Whether a word that cannot be parsed as a move was probably meant as a move. `after` is the offset in
/// `text` at which the word ends.
#[cold]
pub(crate) fn is_meant_as_move(word: &[u8], text: &[u8], after: usize) -> bool {
    match word {
        // The name of an HTML tag, as in `<b>` or `</b>`.
        [_] if matches!(text[..after - 1], [.., b'<' | b'/']) => false,
        // `N` marks a novelty, unless it is part of a word like `N.f3`.
        b"N" => matches!(text.get(after), Some(b'.' | b'%' | b'_')),
        _ => {
            looks_like_move(word)
                || is_foreign_move(word)
                || is_descriptive_move(word)
                || is_misspelt_move(word)
        }
    }
}

/// A hint on the notation of a word that cannot be parsed as a move: a remark in parentheses, or empty.
pub(crate) fn notation_of(word: &[u8]) -> &'static str {
    if is_foreign_move(word) {
        " (in another language? pieces must be written as K, Q, R, B or N)"
    } else if is_descriptive_move(word) {
        " (descriptive notation is not supported)"
    } else {
        ""
    }
}

/// The maximum number of bytes of a text or token that a message quotes: a token can be as long as a file.
const MOST_SHOWN: usize = 500;

/// A text, shortened if necessary.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST_SHOWN {
        return text.into();
    }
    format!("{}…", &text[..text.floor_char_boundary(MOST_SHOWN)]).into()
}

/// A token as text, shortened if necessary.
pub(crate) fn shown(token: &[u8]) -> Cow<'_, str> {
    if token.len() <= MOST_SHOWN {
        return decode(token);
    }
    let begin = &token[..MOST_SHOWN];
    // The last character can be incomplete.
    let whole = begin.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
    let begin = if whole + 4 > MOST_SHOWN { &begin[..whole] } else { begin };
    format!("{}…", decode(begin)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glued_words_begin_with_a_move() {
        for (word, length) in [
            ("d62", Some(2)),
            ("Nd712", Some(3)),
            ("O-O-O120", Some(5)),
            ("e8=Q1-0", Some(4)),
            ("Kb30-1", Some(3)),
            ("Nf3Nc6", Some(3)),
            ("O-ONf6", Some(3)),
            ("e8=Qb6", Some(4)),
            ("Nc5+Nc5+", Some(4)),
            ("Nf3Nc6Bb5", None),
            ("e4e5d", None),
            ("Sf31", None),
            ("12", None),
            ("e4", None),
        ] {
            assert_eq!(glued_move(word.as_bytes()), length, "{word}");
        }
    }

    #[test]
    fn long_tokens_are_shown_in_part() {
        assert_eq!(shown(b"abc"), "abc");
        assert_eq!(shown(&[b'x'; 1000]), format!("{}…", "x".repeat(MOST_SHOWN)));
        assert_eq!(shown("é€".repeat(400).as_bytes()), format!("{}…", "é€".repeat(MOST_SHOWN / 5)));
        assert_eq!(shown(&[0xe9; 1000]), format!("{}…", "é".repeat(MOST_SHOWN)));
    }
}
