//! Finds the start of a game without tags: decides which words in text outside games are moves.

use super::blank::{is_blank, skip_blanks};
use super::lex::{Lexer, Token};
use super::tags::starts_tag_pair;
use super::word::{is_descriptive_move, is_foreign_move, is_remark};

/// Whether a word outside games can be the first move of a game. Castling and null moves are excluded: they
/// can resemble words and dashes in prose, and no game begins with them.
pub(super) fn begins_untagged_game(word: &[u8]) -> bool {
    is_move(word) && !matches!(word[0], b'-' | b'0' | b'O' | b'o' | b'Z' | b'@')
}

/// Whether a word has the form of a move, in any notation.
fn is_move(word: &[u8]) -> bool {
    crate::board::Position::is_san(word) || is_foreign_move(word) || is_descriptive_move(word)
}

/// Whether the word that `lexer` has just read outside games, and that could be a move, is part of movetext.
/// The word must be separate from other text, unlike in markup (`<h1>`) or between quotes. It must follow a
/// move number with its dot, or precede another move, a result, or the end of the text. `from` is the end of
/// the token before the word: earlier text is ignored, because the result must be the same for the game alone.
/// If the word is not part of movetext, `lexer` still continues after the word, but does not search again for
/// brackets that were searched for here.
#[cold]
pub(super) fn is_in_movetext<'a>(text: &'a [u8], lexer: &mut Lexer<'a>, word: &[u8], from: usize) -> bool {
    let end = lexer.offset();
    let before = &text[from..end - word.len()];
    let is_apart = text[..end - word.len()].last().is_none_or(|&byte| {
        is_blank(byte) || byte.is_ascii_digit() || !byte.is_ascii() || b".[](){}*!?".contains(&byte)
    });
    if is_apart && (follows_move_number(before) || starts_tag_pair(&text[skip_blanks(text, end)..])) {
        return true;
    }
    let mut ahead = Lexer::after(lexer, text, end);
    let goes_on = is_apart
        && loop {
            match ahead.next_annotated() {
                Token::Annotation(_) => {}
                Token::Move(word) | Token::Junk(word) if is_remark(word) => {}
                Token::Move(word) | Token::Junk(word) => break is_move(word),
                Token::Result(_) | Token::End | Token::NextGame => break true,
                _ => break false,
            }
        };
    if !goes_on {
        // No game has begun; text that was searched once is not searched again.
        *lexer = Lexer::after(&ahead, text, end);
    }
    goes_on
}

/// Whether a text ends in a move number with its dot, and blanks.
fn follows_move_number(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let dots = text.iter().rev().take_while(|&&byte| byte == b'.').count();
    dots > 0 && {
        let number = text[..text.len() - dots].trim_ascii_end();
        let digits = number.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let before = number[..number.len() - digits].last();
        matches!(digits, 1..=4) && !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.')
    }
}
