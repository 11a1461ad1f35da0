//! Text outside the movetext: comments, NAGs and variations before the first move, after the result and
//! between games. Also finds the first move of a game without tags.

use super::lex::{Annotation, Lexer, Token, begins_moves};
use super::tags::starts_tag_pair;
use super::text::{has_blank_line, is_blank, line_length, skip_blanks};
use super::word::{is_descriptive_move, is_foreign_move, is_remark};
use crate::board::GameResult;

/// The next comment, NAG or closed variation outside the movetext, if only blanks, `%` lines and results are
/// between `from` and this annotation. Moves `lexer` to the end of the annotation. Text in parentheses that
/// is not a variation is returned as a comment.
pub(super) fn next_annotation<'a>(
    text: &'a [u8],
    lexer: &mut Lexer<'a>,
    from: usize,
) -> Option<Annotation<'a>> {
    let mut at = skip_blanks(text, from);
    loop {
        let rest = &text[at..];
        let length = match rest {
            [b'%', ..] if at == 0 || matches!(text[at - 1], b'\n' | b'\r') => line_length(rest),
            // Results are skipped here, such as a second result after a game.
            [b'*' | b'0' | b'1', ..] => {
                let word = &rest[..rest.iter().take_while(|&&byte| !is_blank(byte)).count()];
                GameResult::parse(word).map(|_| word.len())?
            }
            _ => break,
        };
        at = skip_blanks(text, at + length);
    }
    if !matches!(text.get(at)?, b'{' | b';' | b'$' | b'(' | b'!' | b'?' | b'&') {
        return None;
    }
    let mut next = Lexer::after(lexer, text, at);
    let Token::Annotation(annotation) = next.next_annotated() else { return None };
    *lexer = next;
    Some(match annotation {
        Annotation::Variation(variation) if !begins_moves(variation.text(text)) => {
            Annotation::Comment(variation.text(text))
        }
        annotation => annotation,
    })
}

/// The end of the annotations that begin at the offset of `lexer` and continue up to a blank line or other
/// text. Also returns whether other text follows them without a blank line.
pub(super) fn annotations_end(text: &[u8], lexer: &Lexer<'_>) -> (usize, bool) {
    let mut lexer = Lexer::after(lexer, text, lexer.offset());
    loop {
        let end = lexer.offset();
        let begin = skip_blanks(text, end);
        if begin == text.len() || has_blank_line(&text[end..begin]) {
            return (end, false);
        }
        if next_annotation(text, &mut lexer, end).is_none() {
            return (end, true);
        }
    }
}

/// Whether a word outside games can be the first move of a game. Castling and null moves are excluded: they
/// can resemble words and dashes in prose, and no game begins with them.
pub(super) fn begins_untagged_game(word: &[u8]) -> bool {
    is_move(word) && !matches!(word[0], b'-' | b'0' | b'O' | b'o' | b'Z' | b'@')
}

/// Whether a word has the form of a move, in any notation.
fn is_move(word: &[u8]) -> bool {
    crate::board::Position::is_san(word) || is_foreign_move(word) || is_descriptive_move(word)
}

/// Decides whether a word begins the movetext of a game without tags. The word looks like a move, is outside
/// games, and was just read by `lexer`. The word begins movetext if it meets two conditions. First, it is
/// separate from other text, unlike a word in markup (`<h1>`) or in quotes. Second, it follows a move number
/// with its dot, or precedes another move, a result, a tag pair, or the end of the text. `from` is the end of
/// the token before the word. The move number must begin at or after `from`, because the decision must be the
/// same when the game's text is parsed alone. Afterwards, `lexer` is still at the end of the word. If the
/// word does not begin a game, `lexer` also remembers which closing brackets were not found here, and does
/// not search for them again.
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
    let continues = is_apart
        && loop {
            match ahead.next_annotated() {
                Token::Annotation(_) => {}
                Token::Move(word) | Token::Junk(word) if is_remark(word) => {}
                Token::Move(word) | Token::Junk(word) => break is_move(word),
                Token::Result(_) | Token::End | Token::NextGame => break true,
                _ => break false,
            }
        };
    if !continues {
        // No game has begun; text that was searched once is not searched again.
        *lexer = Lexer::after(&ahead, text, end);
    }
    continues
}

/// Whether a text ends in a move number with its dot; blanks can follow the dot.
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
