//! Brackets in movetext: distinguishes variations from comments.

use super::class::IN_WORD;
use crate::board::GameResult;
use crate::pgn::blank::has_blank_line;
use crate::pgn::word::is_remark;

/// Whether a text in brackets begins like moves: with a move number, a move, or a comment in braces. A word
/// that could be a move does not count in prose (`Nf3 is better`).
#[cold]
pub(in crate::pgn) fn begins_moves(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let word = &text[..text.iter().take_while(|&&byte| IN_WORD[usize::from(byte)]).count()];
    match text.first() {
        Some(b'0'..=b'9') if text.get(digits) == Some(&b'.') => true,
        Some(b'{') => true,
        _ => crate::board::Position::is_san(word) && !continues_as_prose(&text[word.len()..]),
    }
}

/// Whether the next word belongs to prose, such as `is`: it has at least two letters, all of them lower-case,
/// and is not an annotator's remark.
fn continues_as_prose(text: &[u8]) -> bool {
    let word = text.strip_prefix(b" ").unwrap_or_default();
    let word = &word[..word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()];
    word.len() > 1 && word.iter().all(u8::is_ascii_lowercase) && !is_remark(word)
}

/// The comment in square brackets at the start of `text`, and its length including the brackets. The comment
/// must not contain a blank line. A command, such as `[%clk 0:01:00]`, keeps its brackets.
#[cold]
pub(super) fn bracketed_comment(text: &[u8]) -> Option<(&[u8], usize)> {
    const LONGEST: usize = 200;
    let rest = &text[1..];
    let end = rest.iter().take(LONGEST).position(|byte| matches!(byte, b'[' | b']' | b'{' | b'}'))?;
    let comment = &rest[..end];
    // A text that begins with a slash is a closing tag of a forum's markup; one with a dollar sign is a NAG.
    let is_comment = rest[end] == b']'
        && comment.iter().any(u8::is_ascii_alphanumeric)
        && !comment.starts_with(b"/")
        && !comment.starts_with(b"$")
        && !has_blank_line(comment)
        && GameResult::parse(comment.trim_ascii()).is_none();
    let shown = if comment.starts_with(b"%") { &text[..end + 2] } else { comment };
    is_comment.then_some((shown, end + 2))
}
