//! Comments, NAGs and variations outside the movetext: before the first move, after the result, between
//! games.

use super::blank::{has_blank_line, is_blank, line_length, skip_blanks};
use super::lex::{Annotation, Lexer, Token, begins_moves};
use crate::board::GameResult;

/// The next comment, NAG or closed variation outside the movetext, with only blanks, `%` lines and results
/// before it. Text in parentheses that is not a variation is a comment.
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
            // A further result is skipped.
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

/// The end of a run of annotations without blank lines in between, of which `lexer` has read the first. Also
/// returns whether other text follows without a blank line.
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
