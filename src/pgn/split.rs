//! Where one game ends and the next begins, told locally.

use std::ops::Range;

use memchr::memmem;

use super::tags::{BOM, is_blank, read_tag, starts_tag_pair};

/// How many bytes before a place are looked at to tell whether a game begins there. A longer line is taken for no tag pair.
pub const LOOK_BACK: usize = 64 << 10;

/// The first game boundary after `from`, or the end of the text.
///
/// A boundary is a tag-pair line after a blank line, where the nearest non-blank line before it does not end in a tag
/// pair. It can be told from the text around it alone, so cutting anywhere gives the same games as reading from the start.
#[must_use]
pub fn next_boundary(text: &[u8], from: usize) -> usize {
    boundary_in(text, from..text.len()).unwrap_or(text.len())
}

/// The first game boundary after `range.start` and a few bytes before `range.end`.
///
/// It depends on nothing but the text from [`LOOK_BACK`] bytes before it to [`LOOK_AHEAD`](super::LOOK_AHEAD) bytes after its start.
#[must_use]
pub fn boundary_in(text: &[u8], range: Range<usize>) -> Option<usize> {
    let find = |range: Range<usize>, line: &[u8]| {
        let window = text.get(range.start..range.end.min(text.len()))?;
        let tag = line.len() - 2;
        memmem::find_iter(window, line)
            .map(|found| range.start + found + 1)
            .find(|&at| starts_tag_pair(&text[at + tag..]) && follows_a_game(&text[..at]))
    };
    let plain = find(range.clone(), b"\n[");
    // Files were put together: one with a byte order mark may follow another.
    find(range.start..plain.unwrap_or(range.end), b"\n\xef\xbb\xbf[").or(plain)
}

/// Whether the text before a tag pair ends in a blank line, and its last non-blank line does not end in a tag pair.
fn follows_a_game(before: &[u8]) -> bool {
    let seen = &before[before.len().saturating_sub(LOOK_BACK)..];
    let is_cut = seen.len() < before.len();
    let last = seen.iter().rposition(|&byte| !is_blank(byte));
    if (last.is_none() && !is_cut) || memchr::memchr_iter(b'\n', &seen[last.unwrap_or(0)..]).nth(1).is_none()
    {
        return false;
    }
    match (last, last.and_then(|last| memchr::memrchr2(b'\n', b'\r', &seen[..last]))) {
        (Some(last), Some(line_break)) => !is_tag_line(&seen[line_break + 1..=last]),
        (Some(last), None) if !is_cut => !is_tag_line(&seen[..=last]),
        _ => true,
    }
}

/// Whether a line ends in a tag pair, or is one that nothing closes. What stands before the tag pair does not count: a whole game, or
/// the end of one, may stand on its line.
fn is_tag_line(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let line = line.strip_prefix(BOM).unwrap_or(line);
    if !(line.starts_with(b"[") || line.ends_with(b"]")) {
        return false;
    }
    let last = memchr::memrchr_iter(b'[', line).find(|&at| starts_tag_pair(&line[at..]));
    last.and_then(|at| read_tag(line, at))
        .is_some_and(|tag| tag.end == line.len() && (!tag.unclosed || tag.pair.offset == 0))
}

/// Cuts a text into chunks of whole games, each of about `size` bytes or one game, whichever is longer.
///
/// Gives byte ranges that follow each other from the start of the text to its end.
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
    use crate::pgn::LOOK_AHEAD;
    use crate::properties::cases;
    use proptest::prelude::*;

    #[test]
    fn a_tag_pair_after_movetext_and_a_blank_line_is_a_boundary() {
        let text = b"[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n";
        assert_eq!(next_boundary(text, 0), 22);
        assert_eq!(next_boundary(text, 22), text.len());
    }

    #[test]
    fn tags_after_tags_and_tags_without_a_blank_line_are_none() {
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
    fn what_follows_tag_pairs_on_their_line_ends_them() {
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

    /// A boundary is the same one in the text around it as in the whole, however long the lines and the blanks.
    #[test]
    fn boundaries_are_told_from_the_text_around_them() {
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
