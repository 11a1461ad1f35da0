//! Finds the boundaries between games. Whether an offset is a boundary depends only on the text near it.

use std::ops::Range;

use memchr::{memchr2, memmem, memrchr2};

use super::tags::{LOOK_AHEAD, read_tag, starts_tag_pair};
use super::text::{BOM, is_blank};

/// The number of bytes before an offset that are read to decide whether a game begins there. A longer line
/// does not count as a tag pair.
pub const LOOK_BACK: usize = 64 << 10;

/// The first game boundary after `from`, or the end of the text.
///
/// A boundary is the start of a tag-pair line after a blank line, except in three cases:
///
/// - The line follows another tag pair, even with comments in between.
/// - Nothing or only comments precede the line.
/// - The line is within a comment of up to [`LOOK_AHEAD`] bytes.
///
/// A boundary depends only on the text around it, so the games are the same wherever the search begins.
#[must_use]
pub fn next_boundary(text: &[u8], from: usize) -> usize {
    boundary_in(text, from..text.len()).unwrap_or(text.len())
}

/// The first game boundary after `range.start`. The first bytes of its line, up to the `[`, must also be in
/// `range`.
///
/// A boundary depends only on the text from [`LOOK_BACK`] bytes before it to [`LOOK_AHEAD`] bytes after it.
#[must_use]
pub fn boundary_in(text: &[u8], range: Range<usize>) -> Option<usize> {
    Boundaries::default().next_in(text, range)
}

/// Finds the boundaries of a text one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Boundaries {
    /// A range of the text that is known to contain no braces.
    without_braces: Range<usize>,
}

impl Boundaries {
    /// Like [`boundary_in`].
    pub(super) fn next_in(&mut self, text: &[u8], range: Range<usize>) -> Option<usize> {
        let mut find = |range: Range<usize>, line: &[u8]| {
            let window = text.get(range.start..range.end.min(text.len()))?;
            let tag = line.len() - 2;
            memmem::find_iter(window, line).map(|found| range.start + found + 1).find(|&at| {
                starts_tag_pair(&text[at + tag..])
                    && follows_a_game(&text[..at])
                    && !self.is_in_comment(text, at)
            })
        };
        let plain = find(range.clone(), b"\n[");
        // If files were concatenated, a byte order mark can precede the tag pair.
        find(range.start..plain.unwrap_or(range.end), b"\n\xef\xbb\xbf[").or(plain)
    }

    /// Whether the last brace before `at` opens a comment of at most [`LOOK_AHEAD`] bytes, and the next brace
    /// closes it. The result is the same for all offsets between two braces.
    fn is_in_comment(&mut self, text: &[u8], at: usize) -> bool {
        let most = text.len().min(at + LOOK_AHEAD);
        let known = &mut self.without_braces;
        if !(known.start..=known.end).contains(&at) {
            *known = at..at;
        }
        if known.end < most {
            known.end += memchr2(b'{', b'}', &text[known.end..most]).unwrap_or(most - known.end);
        }
        let next = known.end;
        if next >= most || text[next] != b'}' {
            return false;
        }
        let first = (next + 1).saturating_sub(LOOK_AHEAD);
        memrchr2(b'{', b'}', &text[first..at]).is_some_and(|last| text[first + last] == b'{')
    }
}

/// Whether the text before a tag pair shows that a game precedes it. The text must end in a blank line. What
/// precedes the blank line must be neither a tag pair nor comments that belong to the following tags.
fn follows_a_game(before: &[u8]) -> bool {
    let seen = &before[before.len().saturating_sub(LOOK_BACK)..];
    let is_cut = seen.len() < before.len();
    let last = seen.iter().rposition(|&byte| !is_blank(byte));
    if (last.is_none() && !is_cut) || memchr::memchr_iter(b'\n', &seen[last.unwrap_or(0)..]).nth(1).is_none()
    {
        return false;
    }
    last.is_none_or(|last| !belongs_to_tags(&seen[..=last], is_cut))
}

/// The start of the last line of a text, after its byte order mark if it has one; `None` if the start of that
/// line was cut off.
fn line_start(text: &[u8], is_cut: bool) -> Option<usize> {
    let start = match memrchr2(b'\n', b'\r', text) {
        Some(line_break) => line_break + 1,
        None if is_cut => return None,
        None => 0,
    };
    Some(if text[start..].starts_with(BOM) { start + BOM.len() } else { start })
}

/// Whether a text ends in a tag pair, ends in comments after a tag pair, or consists only of comments.
/// `is_cut` says whether other text before it was cut off.
fn belongs_to_tags(mut text: &[u8], is_cut: bool) -> bool {
    loop {
        let Some(start) = line_start(text, is_cut) else { return false };
        let comment = if matches!(text.get(start), Some(b';' | b'%')) {
            start
        } else if text.ends_with(b"}") {
            match memrchr2(b'{', b'}', &text[..text.len() - 1]) {
                Some(open) if text[open] == b'{' => open,
                _ => return false,
            }
        } else {
            return ends_in_tag_pair(text, start, is_cut);
        };
        let rest = without_blanks(&text[..comment]);
        if rest.is_empty() {
            return !is_cut;
        }
        text = rest;
    }
}

/// A text without the blanks and byte order marks at its end.
fn without_blanks(mut text: &[u8]) -> &[u8] {
    loop {
        text = &text[..text.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1)];
        match text.strip_suffix(BOM) {
            Some(rest) => text = rest,
            None => return text,
        }
    }
}

/// Whether a text ends in a tag pair, or in a line that begins with an unclosed tag pair. The last line of
/// the text begins at `start`. Text before the tag pair on its line is ignored, because it can be a whole
/// game or the end of a game. A tag pair can extend over several lines.
fn ends_in_tag_pair(text: &[u8], mut start: usize, is_cut: bool) -> bool {
    /// The maximum number of lines of one tag pair.
    const LINES: usize = 4;
    let ends_with_tag = |start: usize| {
        let line = text[start..].trim_ascii_start();
        let last = memchr::memrchr_iter(b'[', line).find(|&at| starts_tag_pair(&line[at..]));
        let last = last.map(|at| at - usize::from(line[..at].ends_with(b"[")));
        last.and_then(|at| read_tag(line, at))
            .is_some_and(|tag| tag.end == line.len() && (!tag.unclosed || tag.pair.offset == 0))
    };
    if !text.ends_with(b"]") {
        return text[start..].trim_ascii_start().starts_with(b"[") && ends_with_tag(start);
    }
    for _ in 0..LINES {
        if memchr::memchr(b'[', &text[start..]).is_some() {
            return ends_with_tag(start);
        }
        // The opening bracket can be on an earlier line, if no blank line is in between.
        let before = text[..start].strip_suffix(b"\n").unwrap_or(&text[..start]);
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        match line_start(before, is_cut) {
            Some(previous) if !before[previous..].trim_ascii().is_empty() => start = previous,
            _ => return false,
        }
    }
    false
}

/// Cuts a text into chunks of whole games. Each chunk ends at the first boundary at least `size` bytes after
/// its start, or at the end of the text.
///
/// Returns consecutive byte ranges from the start of the text to its end.
pub fn chunks(text: &[u8], size: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == text.len() {
            return None;
        }
        let end = next_boundary(text, start.saturating_add(size.max(1)).min(text.len()) - 1);
        let chunk = start..end;
        start = end;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::cases;
    use proptest::prelude::*;

    #[test]
    fn a_tag_pair_after_movetext_and_a_blank_line_is_a_boundary() {
        let text = b"[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n";
        assert_eq!(next_boundary(text, 0), 22);
        assert_eq!(next_boundary(text, 22), text.len());
    }

    #[test]
    fn tags_after_tags_and_tags_without_a_blank_line_are_not_boundaries() {
        for text in [
            &b"[Event \"a\"]\n\n[Site \"b\"]\n\n"[..],
            b"1. e4 { from a mail:\n[Event \"no game\"]\n} e5 *\n",
            b"1. e4 *\n\n[%clk 0:01]\n",
            b"\n\n\n[Event \"first\"]\n",
            b"\xef\xbb\xbf[Event \"a\"]\n\n[Site \"b\"]\n\n",
            b"1. e4 *\n\n\xef\xbb\xbf1. d4 *\n",
            b"1. e4 * [Event \"a\"]\n\n[Site \"b\"]\n",
            b"1. e4 *\r[Event \"a\"]\n\n[Site \"b\"]\n",
            b"[Event \"a\n\n[Site \"b\"]\n",
        ] {
            assert_eq!(next_boundary(text, 0), text.len(), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn text_after_tag_pairs_on_their_line_ends_the_tags() {
        for game in [
            "[Event \"a\"] 1. e4 *\n\n",
            "[Event \"a\"]\r\r1. e4 *\r{\n\n",
            "[Event \"a\"] 1. e4 * {[%clk 1]\n\n",
        ] {
            let text = format!("{game}[Event \"b\"]\n");
            assert_eq!(next_boundary(text.as_bytes(), 0), game.len(), "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_before_the_tag_pair_is_part_of_the_boundary() {
        let text = b"[Event \"a\"]\n\n1. e4 {*\n\n\xef\xbb\xbf[Event \"b\"]\n\n1. d4 *\n\n[Event \"c\"]\n";
        assert_eq!(next_boundary(text, 0), 23);
        assert_eq!(next_boundary(text, 23), 48);
    }

    /// The boundaries found in the surrounding text are the same as in the whole text, for lines and blanks
    /// of any length.
    #[test]
    fn boundaries_depend_only_on_the_text_around_them() {
        let long = |byte: u8, length: usize| vec![byte; length];
        let blank = |length| [b"1. e4 *\n\n".to_vec(), long(b' ', length), b"\n".to_vec()].concat();
        let tag = |length| [b"[A \"".to_vec(), long(b'x', length), b"\"]\n\n".to_vec()].concat();
        let name =
            |length| [b"1. e4 *\n\n[".to_vec(), long(b'x', length), b" \"y\"]\n\n*\n\n".to_vec()].concat();
        for length in [10, LOOK_AHEAD - 12, LOOK_AHEAD, LOOK_BACK - 8, LOOK_BACK, 3 * LOOK_BACK] {
            for before in [blank(length), tag(length), name(length), long(b'\n', length)] {
                let text = [&before[..], b"[Event \"b\"]\n\n*\n"].concat();
                for at in 1..text.len() {
                    if text[at] != b'[' {
                        continue;
                    }
                    let whole = boundary_in(&text, at - 1..at + 1);
                    let from = at.saturating_sub(LOOK_BACK + 1);
                    let part = boundary_in(
                        &text[from..text.len().min(at + LOOK_AHEAD)],
                        at - 1 - from..at + 1 - from,
                    );
                    assert_eq!(part.map(|part| part + from), whole, "{length}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn chunks_of_any_size_cut_at_boundaries_of_the_whole(
            parts in proptest::collection::vec(0..8usize, 0..60),
            size in 1..200usize,
        ) {
            let pieces: [&[u8]; 8] = [b"[Event \"a\"]\n", b"\n", b"1. e4 e5 *\n", b"{ open ", b"} ", b" \r\n", b"[W \"", b"[x]\n"];
            let text: Vec<u8> = parts.iter().flat_map(|&part| pieces[part].to_vec()).collect();
            let mut boundaries = vec![0];
            while *boundaries.last().unwrap() < text.len() {
                let next = next_boundary(&text, *boundaries.last().unwrap());
                boundaries.push(next);
            }
            let mut end = 0;
            for chunk in chunks(&text, size) {
                prop_assert_eq!(chunk.start, end);
                prop_assert!(chunk.end > chunk.start);
                prop_assert!(boundaries.contains(&chunk.start));
                end = chunk.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
