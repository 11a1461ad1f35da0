//! Tag pairs.

use std::borrow::Cow;

/// A byte order mark, which stands where files were put together too.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whether a byte is white space or another control character: between tokens, these mean nothing.
#[inline]
pub(super) const fn is_blank(byte: u8) -> bool {
    byte <= b' '
}

/// How many bytes from a place on are looked at to tell whether a game begins there.
pub const LOOK_AHEAD: usize = 1 << 10;

/// Whether a tag pair begins here: `[Name "`, within [`LOOK_AHEAD`] bytes.
#[must_use]
pub fn starts_tag_pair(text: &[u8]) -> bool {
    let head = &text[..text.len().min(LOOK_AHEAD - BOM.len())];
    let Some((b'[', rest)) = head.split_first() else { return false };
    let rest = rest.trim_ascii_start();
    let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let rest = &rest[name..];
    let blanks = rest.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    name > 0 && rest.get(blanks) == Some(&b'"')
}

/// A tag pair as it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagPair<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its value, backslashes included.
    pub value: &'a [u8],
    /// Where it begins, in bytes from the start of the text.
    pub offset: usize,
}

impl<'a> TagPair<'a> {
    /// The value as text: escapes taken out; UTF-8, or else Windows-1252 (of which Latin-1 is a part).
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        let text = decode(self.value);
        if !text.contains('\\') {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some(escaped @ ('"' | '\\')) => out.push(escaped),
                    Some(other) => out.extend(['\\', other]),
                    None => out.push('\\'),
                },
                _ => out.push(letter),
            }
        }
        Cow::Owned(out)
    }
}

/// What was read of a tag pair, and what was wrong with it.
pub(super) struct ReadTag<'a> {
    pub(super) pair: TagPair<'a>,
    /// The offset after it.
    pub(super) end: usize,
    /// Its line ended before a quote and a bracket closed it.
    pub(super) unclosed: bool,
}

/// Reads the tag pair that begins at `offset`, if one does. Its value ends at a quote before `]`, or with the line.
pub(super) fn read_tag(text: &[u8], offset: usize) -> Option<ReadTag<'_>> {
    if !starts_tag_pair(&text[offset..]) {
        return None;
    }
    let name_at = offset + 1 + text[offset + 1..].iter().take_while(|&&byte| is_blank(byte)).count();
    let name_len = text[name_at..].iter().take_while(|&&byte| !is_blank(byte) && byte != b'"').count();
    let name = &text[name_at..name_at + name_len];
    let start = name_at + name_len + memchr::memchr(b'"', &text[name_at + name_len..])? + 1;
    let mut at = start;
    let mut line_end = None;
    loop {
        match memchr::memchr3(b'"', b'\n', b'\r', &text[at..]).map(|found| at + found) {
            Some(quote) if text[quote] == b'"' => {
                let rest = &text[quote + 1..];
                let blanks = rest.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
                let escaped =
                    text[start..quote].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1;
                // An escaped quote before a bracket is part of the value if the line goes on to another of these pairs.
                let mut goes_on = || {
                    let end = *line_end.get_or_insert_with(|| {
                        memchr::memchr2(b'\n', b'\r', &text[start..])
                            .map_or(text.len(), |found| start + found)
                    });
                    memchr::memmem::find(&text[quote + 1..end], b"\"]").is_some()
                };
                if rest.get(blanks) == Some(&b']') && !(escaped && goes_on()) {
                    let pair = TagPair { name, value: &text[start..quote], offset };
                    return Some(ReadTag { pair, end: quote + 1 + blanks + 1, unclosed: false });
                }
                at = quote + 1;
            }
            line_break => {
                let end = line_break.unwrap_or(text.len());
                let value = text[start..end].trim_ascii_end();
                let value = value.strip_suffix(b"]").unwrap_or(value).trim_ascii_end();
                let value = value.strip_suffix(b"\"").unwrap_or(value);
                return Some(ReadTag { pair: TagPair { name, value, offset }, end, unclosed: true });
            }
        }
    }
}

/// How long the tag pair is that begins here and has lost a part: it opens a bracket before a name, or ends as a tag pair does
/// (`Site "Paris"]`). Nothing follows it on its line but another tag pair; a move is none, whatever follows it. If no tags were read
/// before, another tag pair must follow, on its line or on the next. What goes on for more than [`LOOK_AHEAD`] bytes is none.
pub(super) fn damaged_tag(text: &[u8], after_tags: bool) -> Option<usize> {
    if !matches!(text.first(), Some(b'[' | b'A'..=b'Z' | b'a'..=b'z')) {
        return None;
    }
    let head = &text[..text.len().min(LOOK_AHEAD)];
    let line_end = memchr::memchr2(b'\n', b'\r', head);
    let line_end = line_end.or_else(|| (head.len() == text.len()).then_some(text.len()));
    let line = &head[..line_end.unwrap_or(head.len())];
    let length = damaged_length(line).filter(|&length| length < line.len() || line_end.is_some())?;
    let blanks = line[length..].iter().take_while(|&&byte| is_blank(byte)).count();
    let next = if length + blanks < line.len() {
        &text[length + blanks..]
    } else {
        let rest = &text[line_end?..];
        let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest.strip_prefix(b"\n").unwrap_or(rest)
    };
    let ends_line = length + blanks == line.len();
    let is_told = if after_tags {
        ends_line || starts_tag_pair(next)
    } else {
        line[..length].contains(&b'"') && starts_tag_pair(next)
    };
    is_told.then_some(length)
}

/// How much of a line is a damaged tag pair, told by nothing but these bytes.
fn damaged_length(line: &[u8]) -> Option<usize> {
    let open = usize::from(line[0] == b'[');
    let blanks = |from: usize| line[from..].iter().take_while(|&&byte| is_blank(byte)).count();
    let start = open + blanks(open);
    let in_word = |byte: &&u8| !is_blank(**byte) && !matches!(**byte, b'"' | b'[' | b']');
    let word = &line[start..start + line[start..].iter().take_while(in_word).count()];
    let is_name = word.first().is_some_and(u8::is_ascii_alphabetic) && !crate::board::Position::is_san(word);
    let next = memchr::memchr_iter(b'[', line).find(|&at| at > 0 && starts_tag_pair(&line[at..]));
    let own = &line[..next.unwrap_or(line.len())];
    if open == 1 && is_name {
        return Some(memchr::memchr(b']', own).map_or(own.trim_ascii_end().len(), |close| close + 1));
    }
    let mut value = start + word.len();
    if !is_name {
        // What may be a move is a name only if its value stands in quotes.
        value += blanks(value);
        value += own.get(value).filter(|&&byte| byte == b'"').map(|_| 1)?;
    }
    memchr::memmem::find(&own[value..], b"\"]").map(|close| value + close + 2)
}

/// Bytes as text: UTF-8, or else Windows-1252, whose five unassigned bytes are the control characters of Latin-1.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| windows_1252(byte)).collect()),
    }
}

fn windows_1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '\u{20ac}', '\u{81}', '\u{201a}', '\u{0192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
        '\u{02c6}', '\u{2030}', '\u{0160}', '\u{2039}', '\u{0152}', '\u{8d}', '\u{017d}', '\u{8f}', '\u{90}',
        '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{02dc}',
        '\u{2122}', '\u{0161}', '\u{203a}', '\u{0153}', '\u{9d}', '\u{017e}', '\u{0178}',
    ];
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_pairs_are_told_from_other_brackets() {
        for tag in [&b"[Event \"x\"]"[..], b"[ White\t\"\"]", b"[A\"x\"]"] {
            assert!(starts_tag_pair(tag));
        }
        for other in [&b"[%clk 1]"[..], b"[Event x]", b"[\"x\"]", b"[Event\n\"x\"]", b"x", b""] {
            assert!(!starts_tag_pair(other), "{}", other.escape_ascii());
        }
    }

    fn value(text: &[u8]) -> (String, bool) {
        let tag = read_tag(text, 0).unwrap();
        (tag.pair.text().into_owned(), tag.unclosed)
    }

    #[test]
    fn values_are_read_as_people_write_them() {
        let ok = |text: &str| (text.to_owned(), false);
        assert_eq!(value(b"[White \"Tal, Mikhail\"]\n"), ok("Tal, Mikhail"));
        assert_eq!(value(br#"[White "A \"The Cat\" B"]"#), ok(r#"A "The Cat" B"#));
        assert_eq!(value(br#"[White "A "The Cat" B"]"#), ok(r#"A "The Cat" B"#));
        assert_eq!(value(br#"[Black "back\\slash"]"#), ok(r"back\slash"));
        assert_eq!(value(br#"[Black "slash\"]"#), ok("slash\\"));
        assert_eq!(value(br#"[A"x" ][B "y"]"#), ok("x"));
        assert_eq!(value(b"[White \"\"]"), ok(""));
        assert_eq!(value(b"[White \"\xc5ke Sj\xf6berg\"]"), ok("\u{c5}ke Sj\u{f6}berg"));
        assert_eq!(value("[White \"Åke\"]".as_bytes()), ok("Åke"));
        assert_eq!(value(b"[White \"\x93x\x94\"]"), ok("\u{201c}x\u{201d}"));
    }

    #[test]
    fn tag_pairs_that_have_lost_a_part_are_told_from_moves() {
        for line in [
            "[Ro)und \"1\"]\n[A \"b\"]",
            "Round \"1\"]\r\n[A \"b\"]",
            "Round \"1\"]\n\n1. e4",
            "Round \"1\"]\n1. e4",
            "[\"1\"]\n\n1. e4",
            "[1-0Black \"A\"]\n1. e4",
            "Qd2 \"A\"]\n[B \"c\"]",
            "OO \"A\"]\n1. e4",
            "[Round\n1\"]",
            "[Round 1]\r\r1. e4",
        ] {
            let length = line.find(['\n', '\r']);
            assert_eq!(damaged_tag(line.as_bytes(), true), length, "{line}");
            assert_eq!(
                damaged_tag(line.as_bytes(), false),
                length.filter(|_| line.ends_with("\n[A \"b\"]") || line.ends_with("\n[B \"c\"]")),
                "{line}"
            );
        }
        assert_eq!(damaged_tag(b"[pgn]\n[A \"b\"]", false), None);
        let long = format!("[Round {}", "x".repeat(2 * LOOK_AHEAD));
        assert_eq!(damaged_tag(long.as_bytes(), true), None);
        // What follows on the line is told apart, and does not change what stands before it.
        for (tag, after_tags) in
            [("[Round 1]", true), ("[Round", true), ("Round \"1\"]", true), ("Round \"1\"]", false)]
        {
            for rest in [" [A \"b\"]", "[A \"b\"] 1. e4", "\t[A \"b\"]\n\n"] {
                let line = format!("{tag}{rest}");
                assert_eq!(damaged_tag(line.as_bytes(), after_tags), Some(tag.len()), "{line}");
            }
        }
        for moves in [
            "e4\"]",
            "[e4]",
            "[e4 e5",
            "[ Nf3\"]",
            "O-O\"]",
            "exd5 \"]",
            "[1. e4\"]",
            "[1. e4 \"x\"]",
            "e4 e5 \"x\"]",
        ] {
            for rest in ["", "\n", "\n\n", " ", " [A \"b\"]", "\n[A \"b\"]", "\n\n[A \"b\"]"] {
                let line = format!("{moves}{rest}");
                assert_eq!(damaged_tag(line.as_bytes(), true), None, "{line}");
            }
        }
        for line in
            ["1. e4 \"]\n[A \"b\"]", "e4 e5 *\n[A \"b\"]", "[x] 1. e4", "[ 1. e4 e5 *", "Nf3 \"]\n1. e4", ""]
        {
            assert_eq!(damaged_tag(line.as_bytes(), true), None, "{line}");
        }
    }

    #[test]
    fn values_that_are_not_closed_end_with_the_line() {
        assert_eq!(value(b"[Annotator  \"Krush, I]\n[X \"y\"]"), ("Krush, I".to_owned(), true));
        assert_eq!(value(b"[Site \"Paris\r\n"), ("Paris".to_owned(), true));
        assert_eq!(value(b"[Site \"Par"), ("Par".to_owned(), true));
    }
}
