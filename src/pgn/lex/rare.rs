//! Reads the rare tokens of movetext, such as results, NAGs, variations, square brackets and words with
//! non-ASCII characters.

use super::token::{Annotation, Token, Variation};
use super::{IN_WORD, Lexer, comment_length, nag_of};
use crate::board::GameResult;
use crate::pgn::tags::starts_tag_pair;
use crate::pgn::text::{BOM, has_blank_line, skip_blanks};
use crate::pgn::word::is_remark;

impl<'a> Lexer<'a> {
    /// Reads the token that begins with `byte`. `None` if the text there has no meaning; it is then skipped.
    #[inline(never)]
    pub(super) fn rare(&mut self, byte: u8) -> Option<Token<'a>> {
        self.odd = self.at;
        match byte {
            b';' => {
                let start = self.at + 1;
                self.skip_line();
                let comment = Annotation::Comment(&self.text[start..self.at]);
                Some(Token::Annotation(comment))
            }
            b'$' => {
                let digits = &self.text[self.at + 1..];
                let digits = &digits[..digits.iter().take_while(|byte| byte.is_ascii_digit()).count()];
                self.at += 1 + digits.len();
                let nag = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                nag.map(|nag| Token::Annotation(Annotation::Nag(nag)))
            }
            b'(' if self.inner => {
                self.at += 1;
                Some(Token::Annotation(Annotation::Opening))
            }
            b'[' if self.inner && begins_moves(&self.text[self.at + 1..]) => {
                self.at += 1;
                self.square += 1;
                Some(Token::Annotation(Annotation::Opening))
            }
            b'(' => self.variation(),
            b')' | b'}' => {
                self.at += 1;
                let closes = self.inner && byte == b')';
                Some(if closes { Token::Annotation(Annotation::Closing) } else { Token::StrayClosing })
            }
            b'*' if self.text.get(self.at + 1).is_some_and(u8::is_ascii_alphabetic) => {
                Some(Token::Junk(self.word()))
            }
            b'*' => {
                self.at += 1;
                Some(Token::Result(GameResult::Unknown))
            }
            b'[' | b']' => self.square_bracket(byte),
            b'&' => self.entity(),
            b'-' => self.dashes(),
            0x80..=0xff => self.high(),
            // A result such as `+:-`, whose first sign has been skipped.
            b':' if self.at > 0 => Some(self.scores(self.at - 1).unwrap_or_else(|| Token::Junk(self.word()))),
            _ => {
                let word = self.word();
                Some(if word == b"null" { Token::Move(word) } else { Token::Junk(word) })
            }
        }
    }

    /// Reads a square bracket: the start of the next game, a variation or its end, a comment, or nothing.
    fn square_bracket(&mut self, byte: u8) -> Option<Token<'a>> {
        if byte == b']' {
            self.at += 1;
            self.square = self.square.checked_sub(1)?;
            return Some(Token::Annotation(Annotation::Closing));
        }
        let rest = &self.text[self.at..];
        if starts_tag_pair(rest) {
            if self.moved && !self.inner {
                return Some(Token::NextGame);
            }
        } else if begins_moves(&rest[1..]) {
            return self.variation();
        } else if let Some((comment, length)) = bracketed_comment(rest) {
            self.at += length;
            return Some(Token::Annotation(Annotation::Comment(comment)));
        }
        self.at += 1;
        None
    }

    /// Reads an HTML character reference, such as `&excl;`: a sign, a result, the beginning of a word, junk,
    /// or nothing.
    #[cold]
    fn entity(&mut self) -> Option<Token<'a>> {
        let text = self.text;
        let rest = &text[self.at..];
        let Some((letter, length)) = entity(rest) else { return Some(Token::Junk(self.word())) };
        self.at += length;
        let next = |at: usize| match text.get(at) {
            Some(b'&') => entity(&text[at..]),
            Some(&byte) if byte.is_ascii() => Some((char::from(byte), 1)),
            _ => None,
        };
        match letter {
            '!' | '?' => {
                let second = next(self.at).filter(|(letter, _)| matches!(letter, '!' | '?'));
                self.at += second.map_or(0, |(_, length)| length);
                let nag = nag_of(letter, second.map(|(letter, _)| letter));
                Some(Token::Annotation(Annotation::Nag(nag)))
            }
            '*' => Some(Token::Result(GameResult::Unknown)),
            '\u{bd}' => {
                let dash = next(self.at).filter(|(letter, _)| matches!(letter, '-' | '\u{2013}'));
                if let Some((_, dash)) = dash
                    && let Some(('\u{bd}', half)) = next(self.at + dash)
                {
                    self.at += dash + half;
                }
                Some(Token::Result(GameResult::Draw))
            }
            '+' | '#' | '=' | '-' | '.' | ',' | '/' | '<' | '>' | '"' | '\'' | '\u{2013}' | '\u{2014}'
            | '\u{2026}' => None,
            letter if letter.is_whitespace() => None,
            // The character can be that of a piece; without it, the rest of the word would be a different
            // move.
            _ if text.get(self.at).is_some_and(u8::is_ascii_alphanumeric) => {
                let word = length + self.word().len();
                Some(Token::Move(&rest[..word]))
            }
            _ => Some(Token::Junk(&rest[..length])),
        }
    }

    /// Reads consecutive dashes. One dash has no meaning. Two dashes are a null move, and so are three dashes
    /// that do not fill their line. Three dashes that fill their line, and more than three dashes, are
    /// separators, and therefore junk.
    fn dashes(&mut self) -> Option<Token<'a>> {
        let (before, rest) = self.text.split_at(self.at);
        let dashes = &rest[..rest.iter().take_while(|&&byte| byte == b'-').count()];
        self.at += dashes.len();
        let is_line_end = |byte: Option<&u8>| matches!(byte, None | Some(b'\n' | b'\r'));
        let fills_line = || {
            let mut after = rest[dashes.len()..].iter().filter(|byte| !matches!(byte, b' ' | b'\t'));
            let mut before = before.iter().rev().filter(|byte| !matches!(byte, b' ' | b'\t'));
            is_line_end(after.next()) && is_line_end(before.next())
        };
        match dashes.len() {
            // The result `=-=`, whose first sign has been skipped.
            1 if before.ends_with(b"=") && rest.starts_with(b"-=") => self.scores(before.len() - 1),
            1 => None,
            2 => Some(Token::Move(dashes)),
            3 if !fills_line() => Some(Token::Move(dashes)),
            _ => Some(Token::Junk(dashes)),
        }
    }

    /// Reads a word that begins with a byte above 127. It is a figurine move, castling with Cyrillic or Greek
    /// letters, a sign, a result with `½`, or junk.
    fn high(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.at..];
        match rest {
            // Two marks in one character: U+203C, U+2047, U+2048, U+2049.
            [0xe2, 0x80, 0xbc, ..] | [0xe2, 0x81, 0x87..=0x89, ..] => {
                self.at += 3;
                let nag = match rest[2] {
                    0xbc => 3,
                    0x87 => 4,
                    0x88 => 6,
                    _ => 5,
                };
                Some(Token::Annotation(Annotation::Nag(nag)))
            }
            [0xe2, 0x99, 0x94..=0x9f, ..] => Some(Token::Move(self.wide_word())),
            // Skipped characters: a no-break space, a byte order mark, an ellipsis, an en dash, and signs for
            // evaluations, such as U+00B1. If a character is incomplete, the bytes after it must not be
            // skipped. In 8-bit character sets, a no-break space is a single byte.
            [0xc2, 0xa0 | 0xb1, ..] => self.pass(2),
            [0xa0, ..] => self.pass(1),
            [0xef, 0xbb, 0xbf, ..] => {
                self.at += BOM.len();
                (!self.inner && starts_tag_pair(&self.text[self.at..])).then_some(Token::NextGame)
            }
            [0xe2, 0x80 | 0x81 | 0x86..=0xaf, 0x80..=0xbf, ..] => self.pass(3),
            _ => {
                let start = self.at;
                if let Some(token) = self.scores(start) {
                    return Some(token);
                }
                let word = self.wide_word();
                let is_castling = || crate::board::Position::is_san(word);
                Some(match GameResult::parse(word) {
                    Some(result) => Token::Result(result),
                    None if is_castling() => Token::Move(word),
                    None => Token::Junk(word),
                })
            }
        }
    }

    fn pass(&mut self, bytes: usize) -> Option<Token<'a>> {
        self.at += bytes;
        None
    }

    /// Reads the word at the current offset, including bytes above 127.
    fn wide_word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let in_word = |byte: &&u8| IN_WORD[usize::from(**byte)] || !byte.is_ascii();
        let word = &rest[..rest.iter().take_while(in_word).count()];
        self.at += word.len();
        word
    }

    /// Reads the scores of both players at `start`: the game's result, or junk if their sum is too high.
    #[cold]
    pub(super) fn scores(&mut self, start: usize) -> Option<Token<'a>> {
        let rest = &self.text[start..];
        let (token, length) = match GameResult::read_scores(rest) {
            Some((result, length)) => (Token::Result(result), length),
            None => {
                let length = GameResult::impossible_scores(rest)?;
                (Token::Junk(&rest[..length]), length)
            }
        };
        (self.odd, self.at) = (start, start + length);
        Some(token)
    }

    #[inline(never)]
    pub(super) fn number_word(&mut self, start: usize, end: usize) -> Option<Token<'a>> {
        self.odd = start;
        // Results and castling are short. A longer word is neither, and need not be read to its end.
        const LONGEST: usize = 24;
        let text = self.text;
        self.text = &text[..text.len().min(start + LONGEST)];
        let word = self.wide_word();
        self.text = text;
        let castles = matches!(word, [b'0', b'-', b'0', ..] | [b'0', 0xe2, 0x80, 0x90..=0x95, b'0', ..]);
        if castles && word.len() < LONGEST {
            return Some(Token::Move(word));
        }
        if let Some(token) = self.scores(start) {
            return Some(token);
        }
        if let Some(result) = GameResult::parse(word) {
            return Some(Token::Result(result));
        }
        // A move number followed by something else.
        self.at = end.max(start + 1);
        None
    }

    /// Reads a variation, or a bracket that does not begin one.
    fn variation(&mut self) -> Option<Token<'a>> {
        let open = self.at;
        if (self.moved || open >= self.searched) && self.skip_variation() {
            let variation = Variation { start: open + 1, end: self.at - 1 };
            if let Some(result) = self.bracketed_result(variation) {
                return Some(Token::Result(result));
            }
            return Some(Token::Annotation(Annotation::Variation(variation)));
        }
        if self.moved {
            return Some(Token::UnclosedVariation);
        }
        self.searched = self.searched.max(self.at);
        self.at = open + 1;
        Some(Token::StrayOpening)
    }

    /// The result in brackets, such as `(1-0)`, if the text ends after it or continues with `[`. A `[` can
    /// begin the tags of the next game.
    #[inline]
    fn bracketed_result(&self, variation: Variation) -> Option<GameResult> {
        const LONGEST: usize = 12;
        if variation.length() > LONGEST {
            return None;
        }
        let result = GameResult::parse(variation.text(self.text).trim_ascii())?;
        matches!(self.text.get(skip_blanks(self.text, self.at)), None | Some(b'[')).then_some(result)
    }

    /// Skips a variation, including nested ones. Returns whether it is closed.
    fn skip_variation(&mut self) -> bool {
        let mut depth = 0_usize;
        let (open, close) = if self.text[self.at] == b'(' { (b'(', b')') } else { (b'[', b']') };
        while let Some(&byte) = self.text.get(self.at) {
            let offset = self.at;
            self.at += 1;
            match byte {
                byte if byte == open => depth += 1,
                byte if byte == close && depth == 1 => return true,
                byte if byte == close => depth -= 1,
                b'{' => match comment_length(&self.text[self.at..]) {
                    Some(length) => self.at += length + 1,
                    None => self.at = self.text.len(),
                },
                b'&' => self.at = offset + entity(&self.text[offset..]).map_or(1, |(_, length)| length),
                b';' => self.skip_line(),
                b'\n' | b'\r' if self.starts_line() => {
                    // The game ends here. Reading goes back to the line end: the next line, including its
                    // byte order mark, is read again as the start of a line.
                    self.at = offset;
                    return false;
                }
                _ => {}
            }
        }
        false
    }
}

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

/// Whether the next word, such as `is`, belongs to prose. Such a word has at least two letters, all of them
/// lower-case, and is not an annotator's remark.
fn continues_as_prose(text: &[u8]) -> bool {
    let word = text.strip_prefix(b" ").unwrap_or_default();
    let word = &word[..word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()];
    word.len() > 1 && word.iter().all(u8::is_ascii_lowercase) && !is_remark(word)
}

/// The comment in square brackets at the start of `text`, and its length in bytes including the brackets. The
/// comment must not contain a blank line. A command, such as `[%clk 0:01:00]`, keeps its brackets.
#[cold]
fn bracketed_comment(text: &[u8]) -> Option<(&[u8], usize)> {
    const LONGEST: usize = 200;
    let rest = &text[1..];
    let end = rest.iter().take(LONGEST).position(|byte| matches!(byte, b'[' | b']' | b'{' | b'}'))?;
    let comment = &rest[..end];
    // A text that begins with a slash is a closing tag of a forum's markup; one that begins with a dollar
    // sign is a NAG.
    let is_comment = rest[end] == b']'
        && comment.iter().any(u8::is_ascii_alphanumeric)
        && !comment.starts_with(b"/")
        && !comment.starts_with(b"$")
        && !has_blank_line(comment)
        && GameResult::parse(comment.trim_ascii()).is_none();
    let shown = if comment.starts_with(b"%") { &text[..end + 2] } else { comment };
    is_comment.then_some((shown, end + 2))
}

/// The character with this name in HTML, if the character occurs in moves, results or quotes.
fn named(name: &[u8]) -> Option<char> {
    Some(match name {
        b"excl" => '!',
        b"quest" => '?',
        b"quot" => '"',
        b"apos" => '\'',
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"nbsp" | b"ensp" | b"emsp" | b"thinsp" => ' ',
        b"num" => '#',
        b"plus" => '+',
        b"equals" => '=',
        b"minus" | b"hyphen" | b"dash" => '-',
        b"ndash" => '\u{2013}',
        b"mdash" => '\u{2014}',
        b"hellip" => '\u{2026}',
        b"period" => '.',
        b"comma" => ',',
        b"sol" => '/',
        b"ast" | b"midast" => '*',
        b"frac12" | b"half" => '\u{bd}',
        _ => return None,
    })
}

/// The character that `text` begins with, written as `&name;`, `&#33;` or `&#x21;`, and the length of this
/// reference in bytes. For an unknown name, returns the replacement character.
fn entity(text: &[u8]) -> Option<(char, usize)> {
    const LONGEST: usize = 12;
    let rest = text.strip_prefix(b"&")?;
    let length = rest.iter().take(LONGEST).position(|&byte| byte == b';')?;
    let name = &rest[..length];
    let is_name = |name: &[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric);
    let number = |digits: &[u8], radix| {
        let digits = std::str::from_utf8(digits).ok().filter(|digits| is_name(digits.as_bytes()))?;
        u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)
    };
    let letter = match name {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        name if !is_name(name) => return None,
        name => named(name).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    Some((letter, length + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_read_by_name_and_number() {
        for (text, found) in [
            ("&excl; Nc6", Some(('!', 6))),
            ("&#33;", Some(('!', 5))),
            ("&#x3f;&#33;", Some(('?', 6))),
            ("&frac12;-", Some(('\u{bd}', 8))),
            ("&unknown;", Some((char::REPLACEMENT_CHARACTER, 9))),
            ("& e4; e5", None),
            ("&;", None),
            ("&#;", None),
            ("&excl", None),
            ("excl;", None),
            ("&averylongnameindeed;", None),
        ] {
            assert_eq!(entity(text.as_bytes()), found, "{text}");
        }
    }
}
