//! Splits movetext into tokens.

mod rare;
mod token;

pub(super) use rare::begins_moves;
pub use token::{Annotation, Token, Variation};

use memchr::{memchr, memchr2};

use super::tags::starts_tag_pair;
use super::text::{BOM, has_blank_line, is_blank, line_length};
use super::word::is_numeric_move;

/// The kind of text that begins with a byte.
#[derive(Clone, Copy)]
enum Class {
    /// A blank, or a sign without a meaning of its own.
    Skipped,
    LineEnd,
    Digit,
    Move,
    /// `!` or `?`.
    Mark,
    Comment,
    Rare,
}

static CLASSES: [Class; 256] = {
    let mut table = [Class::Rare; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'\n' | b'\r' => Class::LineEnd,
            0..=b' ' => Class::Skipped,
            b'.' | b'+' | b'#' | b'=' | b'/' | b'\\' | b'<' | b'>' | b',' | b'|' | b'~' | b'\'' => {
                Class::Skipped
            }
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N' | b'P' | b'O' | b'o' | b'Z' | b'@' => Class::Move,
            b'!' | b'?' => Class::Mark,
            b'{' => Class::Comment,
            _ => Class::Rare,
        };
        byte += 1;
    }
    table
};

/// Whether a byte can continue a word.
static IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric()
            || matches!(letter, b'-' | b'=' | b'+' | b'#' | b':' | b'/' | b'@' | b'_');
        byte += 1;
    }
    table
};

/// Splits one game's movetext into tokens.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    /// See [`token_start`](Self::token_start).
    odd: usize,
    /// Whether a move has been read. In a variation, always true.
    moved: bool,
    /// The offset up to which the lexer has searched in vain for the closing bracket of a [stray opening
    /// bracket](Token::StrayOpening). It does not search the text before this offset again.
    searched: usize,
    /// Whether the text is a variation.
    inner: bool,
    /// The number of square brackets that opened nested variations and are not closed yet.
    square: u32,
}

impl Variation {
    /// A lexer for this variation, which is a part of `text`. Read its tokens with
    /// [`next_annotated`](Lexer::next_annotated). The brackets of nested variations are
    /// [`Annotation::Opening`] and [`Annotation::Closing`]. Brackets of different kinds need not match, so
    /// there can be more of one annotation than of the other.
    #[must_use]
    pub fn lexer(self, text: &[u8]) -> Lexer<'_> {
        Lexer { moved: true, inner: true, ..Lexer::new(&text[..self.end], self.start) }
    }
}

impl<'a> Lexer<'a> {
    /// A lexer for `text` from byte `at` on. The text before `at` is used only to interpret the text after
    /// it, for example to find out whether dashes at `at` fill their line.
    #[must_use]
    pub const fn new(text: &'a [u8], at: usize) -> Self {
        Self { text, at, odd: at, moved: false, searched: 0, inner: false, square: 0 }
    }

    /// A lexer for `text` from byte `at` on, after another lexer has read the text before `at`. Closing
    /// brackets that the other lexer searched for in vain are not searched for again.
    pub(super) const fn after(other: &Self, text: &'a [u8], at: usize) -> Self {
        Self { searched: other.searched, ..Self::new(text, at) }
    }

    /// Moves the lexer `bytes` bytes back, within the word just read.
    pub(crate) const fn unread(&mut self, bytes: usize) {
        self.at -= bytes;
    }

    /// Sets the [start](Self::token_start) of the token just read, which consists of the last `bytes` bytes
    /// read.
    pub(super) const fn set_token_length(&mut self, bytes: usize) {
        self.odd = self.at - bytes;
    }

    /// The offset of the next byte to be read.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// The start of the token just read. Meaningful only for a result, junk, an unbalanced bracket, or an unclosed
    /// comment.
    #[must_use]
    pub const fn token_start(&self) -> usize {
        self.odd
    }

    /// The next token; annotations are skipped.
    // Unless `next` is inlined into the loop that replays games, replaying takes 4 % longer.
    #[inline(always)]
    pub fn next_token(&mut self) -> Token<'a> {
        self.next::<false>()
    }

    /// The next token, including annotations.
    #[inline(always)]
    pub fn next_annotated(&mut self) -> Token<'a> {
        self.next::<true>()
    }

    #[inline(always)]
    pub(super) fn next<const ANNOTATED: bool>(&mut self) -> Token<'a> {
        loop {
            let Some(&byte) = self.text.get(self.at) else { return Token::End };
            match CLASSES[usize::from(byte)] {
                Class::Skipped => self.at += 1,
                Class::Move => {
                    let word = self.word();
                    self.moved = self.moved || crate::board::Position::is_san(word);
                    return Token::Move(word);
                }
                Class::Digit => {
                    if let Some(token) = self.number() {
                        return token;
                    }
                }
                Class::Comment => match comment_length(&self.text[self.at + 1..]) {
                    Some(length) => {
                        let comment = &self.text[self.at + 1..self.at + 1 + length];
                        self.at += length + 2;
                        if ANNOTATED {
                            return Token::Annotation(Annotation::Comment(comment));
                        }
                    }
                    None => {
                        (self.odd, self.at) = (self.at, self.text.len());
                        return Token::UnclosedComment;
                    }
                },
                Class::LineEnd => {
                    self.at += 1;
                    if self.starts_line() || self.starts_again() {
                        return Token::NextGame;
                    }
                }
                Class::Mark if !ANNOTATED => self.at += 1,
                Class::Mark => return self.mark(),
                Class::Rare => {
                    if let Some(token) = self.rare(byte)
                        && (ANNOTATED || !matches!(token, Token::Annotation(_)))
                    {
                        return token;
                    }
                }
            }
        }
    }

    /// Reads one or two marks, each `!` or `?`.
    fn mark(&mut self) -> Token<'a> {
        let rest = &self.text[self.at..];
        let second = rest.get(1).filter(|byte| matches!(byte, b'!' | b'?')).copied().map(char::from);
        self.at += 1 + usize::from(second.is_some());
        Token::Annotation(Annotation::Nag(nag_of(char::from(rest[0]), second)))
    }

    /// Handles the start of a line: skips a `%` line or a byte order mark, and returns whether a tag pair
    /// begins there.
    #[inline]
    fn starts_line(&mut self) -> bool {
        match self.text.get(self.at) {
            Some(b'%') => {
                self.skip_line();
                false
            }
            Some(0xef) if self.text[self.at..].starts_with(BOM) => {
                self.at += BOM.len();
                starts_tag_pair(&self.text[self.at..])
            }
            Some(b'[') => starts_tag_pair(&self.text[self.at..]),
            Some(b' ' | b'\t') => {
                let line = &self.text[self.at..];
                let indent = line.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
                let starts = starts_tag_pair(&line[indent..]);
                if starts {
                    self.at += indent;
                }
                starts
            }
            _ => false,
        }
    }

    /// Whether this line begins with White's move 1, and follows a move of this game and a blank line.
    #[inline]
    fn starts_again(&self) -> bool {
        matches!(self.text.get(self.at), Some(b'1' | b' ' | b'\t'))
            && self.moved
            && !self.inner
            && starts_first_move(&self.text[self.at..])
            && follows_blank_line(&self.text[..self.at])
    }

    fn skip_line(&mut self) {
        self.at += line_length(&self.text[self.at..]);
    }

    /// Reads the word at the current offset, at least one byte.
    #[inline]
    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        self.at += 1;
        while let Some(&byte) = self.text.get(self.at) {
            if !IN_WORD[usize::from(byte)] {
                if matches!(byte, b'(' | b'.' | 0xe2) {
                    self.at += word_tail(&self.text[start..self.at], &self.text[self.at..]);
                }
                break;
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Reads a number: a move number (skipped), a result, castling with zeros, a null move, or junk.
    #[inline]
    fn number(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        let mut end = start + 1;
        while self.text.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
        match self.text.get(end) {
            Some(b'-' | b'/' | b':' | b'_' | b'F' | b'f' | 0x80..=0xff) => self.number_word(start, end),
            // `1 - 0`, `0.5-0.5`
            Some(b' ' | b'.' | b',') if end == start + 1 && self.text[start] <= b'1' => {
                self.at = end;
                self.scores(start)
            }
            _ if self.text[start] == b'0' && matches!(&self.text[start..end], b"00" | b"000" | b"0000") => {
                self.at = end;
                Some(Token::Move(&self.text[start..end]))
            }
            next if !self.moved && next != Some(&b'.') && is_numeric_move(&self.text[start..end]) => {
                (self.odd, self.at) = (start, end);
                Some(Token::Junk(&self.text[start..end]))
            }
            _ => {
                self.at = end;
                None
            }
        }
    }
}

/// The length in bytes of a comment whose opening brace is right before `text`; `None` if the comment is not
/// closed. The comment ends at the first closing brace, unless it contains nested comments: `text` has *n*
/// opening braces before this closing brace, and the next *n* braces after it are all closing ones. Then the
/// comment ends at the last of them.
#[inline]
fn comment_length(text: &[u8]) -> Option<usize> {
    let brace = memchr2(b'{', b'}', text)?;
    if text[brace] == b'}' { Some(brace) } else { nested_comment_length(text) }
}

#[cold]
fn nested_comment_length(text: &[u8]) -> Option<usize> {
    let first = memchr(b'}', text)?;
    let mut end = first;
    for _ in memchr::memchr_iter(b'{', &text[..first]) {
        match memchr2(b'{', b'}', &text[end + 1..]) {
            Some(next) if text[end + 1 + next] == b'}' => end += 1 + next,
            _ => return Some(first),
        }
    }
    Some(end)
}

/// The NAG for one or two marks, each `!` or `?`.
const fn nag_of(first: char, second: Option<char>) -> u32 {
    match (first, second) {
        ('!', None) => 1,
        ('!', Some('!')) => 3,
        ('!', Some(_)) => 5,
        (_, None) => 2,
        (_, Some('!')) => 6,
        (_, Some(_)) => 4,
    }
}

/// Whether a text ends in a blank line.
#[cold]
fn follows_blank_line(before: &[u8]) -> bool {
    has_blank_line(&before[before.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1)..])
}

/// Whether White's first move begins on this line, indented or not: `1. e4`, but not `1... e5`.
#[cold]
fn starts_first_move(line: &[u8]) -> bool {
    let indent = line.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    let Some(rest) = line[indent..].strip_prefix(b"1.") else { return false };
    matches!(rest.trim_ascii_start(), [letter, ..] if matches!(CLASSES[usize::from(*letter)], Class::Move))
}

/// The number of bytes after a word that still belong to it: the rest of `e8(Q)`, of `exd6e.p.`, or of
/// castling with Unicode dashes.
#[cold]
fn word_tail(word: &[u8], rest: &[u8]) -> usize {
    let in_word = |&byte: &u8| IN_WORD[usize::from(byte)];
    match rest {
        [b'(', b'Q' | b'R' | b'B' | b'N', b')', ..] if matches!(word, [.., b'a'..=b'h', b'1' | b'8']) => 3,
        [b'.', b'p', b'.', ..] if word.ends_with(b"e") => 3,
        [b'.', b' ', b'p', rest @ ..] if word.ends_with(b"e") && !rest.first().is_some_and(in_word) => {
            3 + usize::from(rest.first() == Some(&b'.'))
        }
        [b'.', b'p', ..] if word.ends_with(b"e") => 2,
        [0xe2, 0x80, 0x90..=0x95, b'O' | b'o', rest @ ..] if matches!(word, b"O" | b"o") => {
            4 + word_tail(word, rest)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut lexer = Lexer::new(text.as_bytes(), 0);
        let mut tokens = Vec::new();
        loop {
            match lexer.next_token() {
                Token::End => return tokens,
                Token::Move(word) => tokens.push(String::from_utf8_lossy(word).into_owned()),
                Token::Junk(word) => tokens.push(format!("junk:{}", String::from_utf8_lossy(word))),
                Token::Result(result) => tokens.push(format!("result:{}", result.as_str())),
                other => {
                    tokens.push(format!("{other:?}"));
                    if other == Token::NextGame {
                        return tokens;
                    }
                }
            }
        }
    }

    #[test]
    fn another_game_begins_with_its_tags_or_with_move_1_after_a_blank_line() {
        for (text, moves) in [
            ("1. e4 e5\n\n1. d4 d5 *", 2),
            ("1. e4 e5\r\n \r\n  1.d4", 2),
            ("1. e4\r\r1. d4", 1),
            ("1. e4 e5\n  [White \"A\"] 1. d4", 2),
            ("1. e4 Nf[Event \"a\"]\n", 2),
        ] {
            let found = tokens(text);
            assert_eq!(
                (found.len(), found.last().map(String::as_str)),
                (moves + 1, Some("NextGame")),
                "{text}"
            );
        }
        for text in [
            "{a}\n\n1. e4 e5",
            "1. e4\n\n1... e5",
            "1. e4\n1. e5",
            "1. e4\n\n1 e5",
            "<br>[White \"A\"]\n\n1. e4 e5",
        ] {
            assert_eq!(tokens(text).iter().filter(|token| token.starts_with('e')).count(), 2, "{text}");
        }
    }

    #[test]
    fn castling_is_read_with_unicode_dashes_and_letters() {
        for text in [
            "8. O\u{2010}O Ba6",
            "8.0\u{2013}0 Ba6",
            "8. o\u{2013}o\u{2013}o Ba6",
            "8. O\u{2010}O+ Ba6",
            "8. \u{41e}-\u{41e} Ba6",
        ] {
            let found = tokens(text);
            assert_eq!(
                (found.len(), crate::board::Position::is_san(found[0].as_bytes())),
                (2, true),
                "{text}"
            );
        }
        assert_eq!(tokens("1. e4 \u{2013} e5\u{2013}"), ["e4", "e5"]);
    }

    #[test]
    fn spacing_numbers_and_dots_do_not_matter() {
        let expected = ["e4", "e5", "Nf3", "Nc6", "result:1-0"];
        for text in [
            "1. e4 e5 2. Nf3 Nc6 1-0",
            "1.e4 e5 2.Nf3 Nc6 1-0",
            "1 e4 e5 2 Nf3 Nc6 1-0",
            "e4 e5\r\nNf3\tNc6\n1-0",
            "1. e4 1... e5 2 . Nf3 2\u{2026} Nc6 1-0",
            "1.\ne4\n1...e5 2.Nf3\u{a0}Nc6 1-0",
        ] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }

    #[test]
    fn comments_nags_and_variations_are_skipped() {
        let text =
            "1. e4! {a ( ; 1-0 } $1 (1. d4 (1. c4 {)} ) d5 ; ) not yet\n) e5?! ; } 2. d4\n2. Nf3 $255 !? *";
        assert_eq!(tokens(text), ["e4", "e5", "Nf3", "result:*"]);
        assert_eq!(tokens("1. e4 {; not a line} e5"), ["e4", "e5"]);
        assert_eq!(tokens("1. e4 {a {b {c} d} e} e5 {a {b} d5 {c} d6"), ["e4", "e5", "d5", "d6"]);
        assert_eq!(tokens("1. e4&excl; e5&#x3f;&excl; (2. d4&excl; ) &nbsp;Nf3"), ["e4", "e5", "Nf3"]);
        // The piece must not be lost: without it, the rest would be a pawn move.
        assert_eq!(tokens("2. &#9816;f3 &knight;c6"), ["&#9816;f3", "&knight;c6"]);
        assert_eq!(tokens("1. e4 & e5 &amp; &half;"), ["e4", "junk:&", "e5", "junk:&amp;", "result:1/2-1/2"]);
        assert_eq!(tokens("1. e4\n% d5 hidden\ne5 % 2. d4"), ["e4", "e5", "junk:%", "d4"]);
    }

    #[test]
    fn unclosed_comments_and_variations_are_reported() {
        assert_eq!(tokens("1. e4 { never"), ["e4", "UnclosedComment"]);
        assert_eq!(tokens("1. e4 (1. d4 { in } d5"), ["e4", "UnclosedVariation"]);
        assert_eq!(tokens("( ( 1. e4 e5"), ["StrayOpening", "StrayOpening", "e4", "e5"]);
        assert_eq!(tokens("( 1. d4 ) ( 1. e4 (e5) d5"), ["StrayOpening", "e4", "d5"]);
        assert_eq!(tokens("1. e4 ) e5 }"), ["e4", "StrayClosing", "e5", "StrayClosing"]);
        assert_eq!(tokens("1. e4 (d4\n[Event \"b\"]"), ["e4", "UnclosedVariation", "NextGame"]);
        assert_eq!(tokens("1. e4\n[Event \"b\"]"), ["e4", "NextGame"]);
        assert_eq!(tokens("1. e4\n[%clk 1]"), ["e4"]);
        assert_eq!(tokens("1. e4 [%clk 1"), ["e4", "junk:%clk"]);
        assert_eq!(tokens("1. e4 [2. d4 (]) d5"), ["e4", "StrayClosing", "d5"]);
        assert_eq!(tokens("1. e4 [2. d4 ( d5"), ["e4", "UnclosedVariation"]);
    }

    #[test]
    fn results_castling_and_null_moves_are_distinguished_from_numbers() {
        assert_eq!(tokens("12. 0-0 0-0-0+ 13. -- Z0"), ["0-0", "0-0-0+", "--", "Z0"]);
        assert_eq!(tokens("1/2-1/2"), ["result:1/2-1/2"]);
        assert_eq!(
            tokens("½-½ 1:0 1\u{2013}0 1/2"),
            ["result:1/2-1/2", "result:1-0", "result:1-0", "result:1/2-1/2"]
        );
        assert_eq!(tokens("d5*1. e4 *[%x]"), ["d5", "result:*", "e4", "result:*"]);
        assert_eq!(tokens("N*f3 *x"), ["N", "junk:*f3", "junk:*x"]);
        assert_eq!(tokens("10000. e4"), ["e4"]);
        assert_eq!(tokens("1.0-0.0 =-= e4 0f-0f"), ["result:1-0", "result:1/2-1/2", "e4", "result:*"]);
        assert_eq!(tokens("1-\u{bd} 1 - 1/2 e4"), ["junk:1-\u{bd}", "junk:1 - 1/2", "e4"]);
        assert_eq!(tokens("e4 (1-0) e5 (0-1)"), ["e4", "e5", "result:0-1"]);
        assert_eq!(tokens("12.0-0 1.0-0 2f4"), ["0-0", "0-0", "f4"]);
        assert_eq!(tokens("e8(Q) exd6e.p. e8/Q+ exd6 e.p."), ["e8(Q)", "exd6e.p.", "e8/Q+", "exd6", "e.p."]);
    }

    #[test]
    fn truncated_characters_do_not_affect_other_text() {
        for cut in [&b"\xe2\x80"[..], b"\xe2\x86", b"\xe2\x99", b"\xe2", b"\xef\xbb", b"\xc2", b"\xf0\x9f"] {
            let text = [b"1. e4 ", cut].concat();
            let mut lexer = Lexer::new(&text, 0);
            while lexer.next_token() != Token::End {}
            assert_eq!(lexer.offset(), text.len());
            let text = [b"1. e4 ", cut, b"\n[Event \"b\"]"].concat();
            let mut lexer = Lexer::new(&text, 0);
            let mut last = lexer.next_token();
            while !matches!(last, Token::End | Token::NextGame) {
                last = lexer.next_token();
            }
            assert_eq!(last, Token::NextGame, "{}", cut.escape_ascii());
        }
        assert_eq!(tokens("1. e4\u{2049} e5\u{2047}"), ["e4", "e5"]);
    }

    #[test]
    fn lines_of_dashes_are_not_null_moves() {
        assert_eq!(tokens("1. e4 -- 2. d4 - d5"), ["e4", "--", "d4", "d5"]);
        assert_eq!(tokens("1. e4 --- 2. d4 null"), ["e4", "---", "d4", "null"]);
        assert_eq!(tokens("x\n --- \n----- x"), ["junk:x", "junk:---", "junk:-----", "junk:x"]);
    }

    #[test]
    fn moves_in_numbers_are_distinguished_from_move_numbers() {
        assert_eq!(tokens("1. 5254 5755 2. 7163"), ["junk:5254", "junk:5755", "junk:7163"]);
        assert_eq!(tokens("1. 57581"), ["junk:57581"]);
        assert_eq!(tokens("1234. e4 1851 e5 1900"), ["e4", "e5"]);
        assert_eq!(tokens("1900 191 123456 e4"), ["e4"]);
    }
}
