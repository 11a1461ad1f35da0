//! Tag pairs.

use std::borrow::Cow;
use std::ops::Range;

use super::text::{BOM, decode, is_blank, line_length};

/// The number of bytes after an offset that are read to decide whether a game begins there.
pub const LOOK_AHEAD: usize = 16 << 10;

/// The maximum number of bytes before the value of a tag pair, including a byte order mark. Also the maximum
/// length, in bytes, of a tag pair without quotes and of a damaged tag pair.
const MOST_HEAD: usize = 1 << 10;

/// The maximum number of brackets that open a tag pair.
const MOST_OPEN: usize = 2;

/// Whether `text` begins with a tag pair: `[Name "`, within about 1 KiB. The bracket can be doubled. After a
/// name that begins with a capital letter, the quote can be of another kind.
#[must_use]
pub fn starts_tag_pair(text: &[u8]) -> bool {
    text.first() == Some(&b'[') && read_head(text).is_some()
}

/// The part of a tag pair before its value.
struct Head {
    name: Range<usize>,
    /// The start of the value.
    value: usize,
    /// Whether the quote before the value is `"`.
    has_plain_quote: bool,
}

/// Parses `[Name "`. There can be one line end between name and quote.
fn read_head(text: &[u8]) -> Option<Head> {
    let head = &text[..text.len().min(MOST_HEAD - BOM.len())];
    // Callers try each of many consecutive brackets as the first one, so only a few brackets are counted each
    // time.
    let open = head.iter().take(MOST_OPEN + 1).take_while(|&&byte| byte == b'[').count();
    if !(1..=MOST_OPEN).contains(&open) {
        return None;
    }
    let blanks = head[open..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let start = open + blanks;
    let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let end = start + head[start..].iter().take_while(in_name).count();
    let at = end + blanks_over_line(&head[end..]);
    let name = start..end;
    if name.is_empty() {
        return None;
    }
    if head.get(at) == Some(&b'"') {
        return Some(Head { name, value: at + 1, has_plain_quote: true });
    }
    let length = other_quote(head.get(at..)?).filter(|_| head[start].is_ascii_uppercase())?;
    Some(Head { name, value: at + length, has_plain_quote: false })
}

/// The length of the blanks at the start of a text, including at most one line end.
fn blanks_over_line(text: &[u8]) -> usize {
    let blanks =
        |from: usize| from + text[from..].iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    let end = blanks(0);
    blanks(end + line_end_length(&text[end..]))
}

/// The length of the line end at the start of a text; 0 if there is none.
fn line_end_length(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [b'\n' | b'\r', ..] => 1,
        _ => 0,
    }
}

/// Quotes that people and programs write instead of `"`, in UTF-8 and HTML. In Windows-1252 there are also
/// 0x84 and 0x91 to 0x94.
const OTHER_QUOTES: [&str; 14] = [
    "'", "`", "\u{2018}", "\u{2019}", "\u{201a}", "\u{201c}", "\u{201d}", "\u{201e}", "\u{201f}", "\u{ab}",
    "\u{bb}", "\u{ff02}", "&quot;", "&#34;",
];

/// The length in bytes of the quote at the start of a text, if it is a quote other than `"`.
#[cold]
fn other_quote(text: &[u8]) -> Option<usize> {
    match text {
        [0x84 | 0x91..=0x94, ..] => Some(1),
        _ => OTHER_QUOTES.iter().find(|quote| text.starts_with(quote.as_bytes())).map(|quote| quote.len()),
    }
}

/// The text without the quote at its end; `None` if it does not end in a quote.
fn without_quote(text: &[u8]) -> Option<&[u8]> {
    if let [rest @ .., 0x84 | 0x91..=0x94] = text {
        // In Windows-1252, this byte is a quote, but it can also be the last byte of a UTF-8 character.
        let lead = rest.iter().rposition(|byte| !matches!(byte, 0x80..=0xbf)).unwrap_or(0);
        if std::str::from_utf8(&text[lead..]).is_err() {
            return Some(rest);
        }
    }
    OTHER_QUOTES.iter().chain(&["\""]).find_map(|quote| text.strip_suffix(quote.as_bytes()))
}

/// A tag pair as written in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagPair<'a> {
    /// The name.
    pub name: &'a [u8],
    /// The value, including backslashes.
    pub value: &'a [u8],
    /// The offset of the tag pair from the start of the text, in bytes.
    pub offset: usize,
}

impl<'a> TagPair<'a> {
    /// The value as [text](decode), without escapes and line ends.
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        let text = decode(self.value);
        if memchr::memchr3(b'\\', b'\n', b'\r', text.as_bytes()).is_none() {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\n' | '\r' => {
                    // The value continues on the next line.
                    out.truncate(out.trim_end().len());
                    out.push(' ');
                    letters = letters.as_str().trim_start().chars();
                }
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

/// A parsed tag pair, its end, and whether it is unclosed.
pub(super) struct ReadTag<'a> {
    pub(super) pair: TagPair<'a>,
    /// The offset after the tag pair.
    pub(super) end: usize,
    /// Whether the tag pair has no closing quote and bracket before its line ends, or the value has no quotes.
    pub(super) unclosed: bool,
}

/// Parses the tag pair that begins at `offset`, if there is one. Its value ends at a quote that is followed
/// by `]`. The `]`, or both the quote and the `]`, can be on the next line. Without such a quote, the value
/// ends at the end of its line.
pub(super) fn read_tag(text: &[u8], offset: usize) -> Option<ReadTag<'_>> {
    if text.get(offset) != Some(&b'[') {
        return None;
    }
    let head = read_head(&text[offset..])?;
    let name = &text[offset + head.name.start..offset + head.name.end];
    let start = offset + head.value;
    if !head.has_plain_quote {
        return Some(read_value_in_other_quotes(text, offset, name, start));
    }
    let mut at = start;
    let mut line_end = None;
    loop {
        match memchr::memchr3(b'"', b'\n', b'\r', &text[at..]).map(|found| at + found) {
            Some(quote) if text[quote] == b'"' => {
                let rest = &text[quote + 1..];
                let blanks = blanks_over_line(rest);
                let escaped =
                    text[start..quote].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1;
                // An escaped quote before a bracket is part of the value if another quote with a bracket
                // follows on the line.
                let mut value_continues = || {
                    let end = *line_end.get_or_insert_with(|| {
                        memchr::memchr2(b'\n', b'\r', &text[start..])
                            .map_or(text.len(), |found| start + found)
                    });
                    end > quote && memchr::memmem::find(&text[quote + 1..end], b"\"]").is_some()
                };
                if rest.get(blanks) == Some(&b']') && !(escaped && value_continues()) {
                    let pair = TagPair { name, value: &text[start..quote], offset };
                    let end = after_brackets(text, quote + 1 + blanks);
                    return Some(ReadTag { pair, end, unclosed: false });
                }
                at = quote + 1;
            }
            line_break => {
                let end = line_break.unwrap_or(text.len());
                match continuation_end(text, start, end) {
                    Some(next) => at = next,
                    None => return Some(unclosed(text, offset, name, start..end)),
                }
            }
        }
    }
}

/// The maximum number of bytes of a value on its second line.
const MOST_CONTINUED: usize = 512;

/// The start of the second line of a value whose first line ends at `line_end`; `None` if the value does not
/// continue there. The value continues if the first quote of the second line closes it, and that line does
/// not begin with `[`. A value has at most two lines.
#[cold]
fn continuation_end(text: &[u8], start: usize, line_end: usize) -> Option<usize> {
    let next = line_end + line_end_length(&text[line_end..]);
    let is_second = memchr::memchr2(b'\n', b'\r', &text[start..line_end]).is_none();
    let line = &text[next..text.len().min(next + MOST_CONTINUED)];
    let line = &line[..line_length(line)];
    let quote = memchr::memchr(b'"', line)?;
    let is_closed = line[quote + 1..].trim_ascii_start().first() == Some(&b']');
    (is_second && is_closed && line.trim_ascii_start().first() != Some(&b'[')).then_some(next)
}

/// The offset after the closing bracket at `at` and any stray signs after it, such as a second bracket.
fn after_brackets(text: &[u8], at: usize) -> usize {
    let in_line =
        |byte: &&u8| matches!(byte, b']' | b',' | b'.' | b'"' | b'\'' | b'|' | b'\\' | b' ' | b'\t');
    let signs = &text[at..at + text[at..].iter().take_while(in_line).count()];
    at + signs.trim_ascii_end().len()
}

/// A tag pair whose value ends with its line.
fn unclosed<'a>(text: &'a [u8], offset: usize, name: &'a [u8], value: Range<usize>) -> ReadTag<'a> {
    let end = value.end;
    let value = text[value].trim_ascii_end();
    let value = value.strip_suffix(b"]").unwrap_or(value).trim_ascii_end();
    let value = without_quote(value).unwrap_or(value);
    ReadTag { pair: TagPair { name, value, offset }, end, unclosed: true }
}

/// Parses a value in quotes other than `"`, on one line. The value ends at the first quote of any kind that
/// is followed by `]`.
#[cold]
fn read_value_in_other_quotes<'a>(
    text: &'a [u8],
    offset: usize,
    name: &'a [u8],
    start: usize,
) -> ReadTag<'a> {
    let length = line_length(&text[start..]);
    let line = &text[start..start + length];
    let closed = memchr::memchr_iter(b']', line)
        .find_map(|close| Some((without_quote(line[..close].trim_ascii_end())?, close)));
    match closed {
        None => unclosed(text, offset, name, start..start + length),
        Some((value, close)) => {
            let pair = TagPair { name, value, offset };
            ReadTag { pair, end: after_brackets(text, start + close), unclosed: false }
        }
    }
}

/// Parses a tag pair without quotes, `[White Carlsen, Magnus]`, that fills a line except for blanks. Its name
/// begins with a capital letter.
#[cold]
pub(super) fn unquoted_tag(text: &[u8], offset: usize) -> Option<ReadTag<'_>> {
    let line = &text[offset..text.len().min(offset + MOST_HEAD)];
    let line = &line[..line_length(line)];
    let inner = line.trim_ascii_end().strip_prefix(b"[")?.strip_suffix(b"]")?;
    let inner = inner.trim_ascii();
    let length = inner.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let (name, value) = inner.split_at(length);
    let is_one = name.first().is_some_and(u8::is_ascii_uppercase)
        && value.first().is_some_and(|&byte| is_blank(byte))
        && !value.iter().any(|byte| matches!(byte, b'"' | b'[' | b']' | b'{' | b'}'));
    let pair = TagPair { name, value: value.trim_ascii(), offset };
    let end = offset + line.trim_ascii_end().len();
    (is_one && !crate::board::Position::is_san(name)).then_some(ReadTag { pair, end, unclosed: true })
}

/// The length of the damaged tag pair at the start of `text`. A damaged tag pair lacks a part: it has an
/// opening bracket before a name, or ends like a tag pair (`Site "Paris"]`). Only another tag pair can follow
/// on its line. If no tags precede the damaged tag pair (`after_tags` is `false`), it must contain a quote, and
/// another tag pair must follow it on the same line or the next. A move counts as a name only before a quote.
/// Text of more than [`MOST_HEAD`] bytes is not a damaged tag pair.
pub(super) fn damaged_tag(text: &[u8], after_tags: bool) -> Option<usize> {
    if !matches!(text.first(), Some(b'[' | b'A'..=b'Z' | b'a'..=b'z')) {
        return None;
    }
    let head = &text[..text.len().min(MOST_HEAD)];
    let line_end = memchr::memchr2(b'\n', b'\r', head);
    let line_end = line_end.or_else(|| (head.len() == text.len()).then_some(text.len()));
    let line = &head[..line_end.unwrap_or(head.len())];
    let length = damaged_length(line).filter(|&length| length < line.len() || line_end.is_some())?;
    let at = length + line[length..].iter().take_while(|&&byte| is_blank(byte)).count();
    let ends_line = at == line.len();
    if ends_line && line_end.is_none() {
        return None;
    }
    let next = &text[at + line_end_length(&text[at..])..];
    let is_confirmed = if after_tags {
        ends_line || starts_tag_pair(next)
    } else {
        line[..length].contains(&b'"') && starts_tag_pair(next)
    };
    is_confirmed.then_some(length)
}

/// The length of a damaged tag pair at the start of `line`, based on this line alone.
fn damaged_length(line: &[u8]) -> Option<usize> {
    let open = usize::from(line[0] == b'[');
    let blanks = |from: usize| line[from..].iter().take_while(|&&byte| is_blank(byte)).count();
    let start = open + blanks(open);
    let in_word = |byte: &&u8| !is_blank(**byte) && !matches!(**byte, b'"' | b'[' | b']');
    let word = &line[start..start + line[start..].iter().take_while(in_word).count()];
    let is_name = word.first().is_some_and(u8::is_ascii_alphabetic) && !crate::board::Position::is_san(word);
    let next = memchr::memchr_iter(b'[', line).find(|&at| at > 0 && starts_tag_pair(&line[at..]));
    let own = &line[..next.unwrap_or(line.len())];
    if open == 1 && word.is_empty() && line.get(start) == Some(&b']') {
        return Some(start + 1);
    }
    if open == 1 && is_name {
        return Some(memchr::memchr(b']', own).map_or(own.trim_ascii_end().len(), |close| close + 1));
    }
    let mut value = start + word.len();
    if !is_name {
        // A word that could be a move is a name only if its value is in quotes.
        value += blanks(value);
        value += own.get(value).filter(|&&byte| byte == b'"').map(|_| 1)?;
    }
    memchr::memmem::find(&own[value..], b"\"]").map(|close| value + close + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_pairs_are_distinguished_from_other_brackets() {
        for tag in [
            &b"[Event \"x\"]"[..],
            b"[ White\t\"\"]",
            b"[A\"x\"]",
            b"[[A \"x\"]]",
            b"[Event\n\"x\"]",
            b"[White 'C']",
            b"[White \xe2\x80\x9cC\xe2\x80\x9d]",
            b"[White \x93C\x94]",
            b"[White &quot;C&quot;]",
        ] {
            assert!(starts_tag_pair(tag));
        }
        for other in [
            &b"[%clk 1]"[..],
            b"[Event x]",
            b"[\"x\"]",
            b"[[[A \"x\"]]]",
            b"[Event\n\n\"x\"]",
            b"[see 'x']",
            b"x",
            b"",
        ] {
            assert!(!starts_tag_pair(other), "{}", other.escape_ascii());
        }
    }

    fn value(text: &[u8]) -> (String, bool) {
        let tag = read_tag(text, 0).unwrap();
        (tag.pair.text().into_owned(), tag.unclosed)
    }

    #[test]
    fn values_are_read_with_all_forms_of_quotes() {
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
        for text in [
            "[White 'O'Neil, A.']",
            "[White \u{201e}O'Neil, A.\u{201c}]",
            "[White \u{ab}O'Neil, A.\u{bb} ] 1. e4",
            "[[White \"O'Neil, A.\"]]",
            "[White \"O'Neil,\n A.\"]",
            "[White \"O'Neil,   \r\nA.\" ]",
            "[White\n\"O'Neil, A.\"]",
            "[White \"O'Neil, A.\"\n]",
            "[White &quot;O'Neil, A.&quot;]",
        ] {
            assert_eq!(value(text.as_bytes()), ok("O'Neil, A."), "{text}");
        }
        assert_eq!(value(b"[White \x93Ros\xe9\x94]"), ok("Ros\u{e9}"));
    }

    #[test]
    fn damaged_tag_pairs_are_distinguished_from_moves() {
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
        // The rest of the line is parsed separately, and does not change the result for the part before.
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
    fn unclosed_values_end_with_the_line() {
        assert_eq!(value(b"[Annotator  \"Krush, I]\n[X \"y\"]"), ("Krush, I".to_owned(), true));
        assert_eq!(value(b"[Site \"Paris\r\n"), ("Paris".to_owned(), true));
        assert_eq!(value(b"[Site \"Par"), ("Par".to_owned(), true));
    }
}
