//! Counts lines and columns of a text.

use std::ops::Range;

use memchr::memchr_iter;

/// The number of line ends in a part of a text: `\n`, `\r\n`, or `\r` alone.
pub(crate) fn count_lines(text: &[u8], range: Range<usize>) -> u64 {
    let part = &text[range.clone()];
    let is_alone = |at: &usize| text.get(range.start + at + 1) != Some(&b'\n');
    (memchr_iter(b'\n', part).count() + memchr_iter(b'\r', part).filter(is_alone).count()) as u64
}

/// Counts the line ends before an offset. Continues from the offset of the previous call, forwards or
/// backwards.
#[derive(Default)]
pub(crate) struct LineCounter {
    offset: usize,
    lines: u64,
    /// The start of the line that contains the offset.
    line_start: usize,
}

impl LineCounter {
    /// The line of an offset, from 0, and the column in bytes, from 1.
    pub(crate) fn at(&mut self, text: &[u8], offset: usize) -> (u64, u64) {
        let count = |range| count_lines(text, range);
        let is_other_line = if offset < self.offset {
            self.lines -= count(offset..self.offset);
            offset < self.line_start
        } else {
            let passed = count(self.offset..offset);
            self.lines += passed;
            passed > 0
        };
        if is_other_line {
            // An offset between `\r` and `\n` is still in the line that they end.
            let within = text[..offset].last() == Some(&b'\r') && text.get(offset) == Some(&b'\n');
            let end = memchr::memrchr2(b'\n', b'\r', &text[..offset - usize::from(within)]);
            self.line_start = end.map_or(0, |end| end + 1);
        }
        self.offset = offset;
        (self.lines, (offset - self.line_start) as u64 + 1)
    }
}

/// Counts the line ends of a text that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct LineStream {
    /// The number of line ends so far. A carriage return at the end of the text does not count yet, because a
    /// line feed can follow it.
    lines: u64,
    ends_in_return: bool,
    /// The number of bytes of the current line so far.
    columns: u64,
}

impl LineStream {
    /// Processes the next piece.
    pub(crate) fn pass(&mut self, text: &[u8]) {
        let Some(first) = text.first() else { return };
        self.lines += u64::from(self.ends_in_return && *first != b'\n');
        self.ends_in_return = text.ends_with(b"\r");
        self.lines += count_lines(text, 0..text.len()) - u64::from(self.ends_in_return);
        match memchr::memrchr2(b'\n', b'\r', text) {
            Some(end) => self.columns = (text.len() - end - 1) as u64,
            None => self.columns += text.len() as u64,
        }
    }

    /// The number of line ends so far, and the number of bytes of the current line. The next byte of the text
    /// must not be a line feed.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.lines + u64::from(self.ends_in_return), self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and the column, counted from the start of the text each time.
    fn plain_place(text: &[u8], offset: usize) -> (u64, u64) {
        let ends_line =
            |&at: &usize| text[at] == b'\n' || (text[at] == b'\r' && text.get(at + 1) != Some(&b'\n'));
        let ends: Vec<usize> = (0..offset).filter(ends_line).collect();
        (ends.len() as u64, (offset - ends.last().map_or(0, |end| end + 1)) as u64 + 1)
    }

    #[test]
    fn lines_and_columns_are_right_in_any_order() {
        let text = b"a\nbb\r\nccc\rdd\n\n\r\r\n\re\r\n\r\nff";
        for first in 0..=text.len() {
            for second in 0..=text.len() {
                let mut lines = LineCounter::default();
                for offset in [first, second] {
                    assert_eq!(lines.at(text, offset), plain_place(text, offset), "{first}, {second}");
                }
            }
        }
    }

    #[test]
    fn pieces_have_the_lines_of_the_whole() {
        let text = b"a\nbb\r\nccc\rdd\n\n\r\r\n\re\r\n\r\nff\r";
        let ends = (0..=text.len()).filter(|&end| text.get(end) != Some(&b'\n'));
        for end in ends {
            for size in 1..=4 {
                let mut lines = LineStream::default();
                text[..end].chunks(size).for_each(|piece| lines.pass(piece));
                let (expected, column) = plain_place(text, end);
                assert_eq!(lines.place(), (expected, column - 1), "{end}, {size}");
            }
        }
    }

    #[test]
    fn lines_end_in_three_ways() {
        let pieces: [&[u8]; 5] = [b"\n", b"\r", b"\r\n", b"abc", b"\n\r\r"];
        let mut text = Vec::new();
        for step in 0..2000_usize {
            text.extend_from_slice(pieces[(step * step + step / 7) % 5]);
        }
        let slow = |end: usize| {
            (0..end)
                .filter(|&at| text[at] == b'\n' || (text[at] == b'\r' && text.get(at + 1) != Some(&b'\n')))
                .count()
        };
        let mut counter = LineCounter::default();
        for at in [0, 1, 2, 3, 254, 255, 256, 511, 300, 1000, 10, text.len() - 1, text.len()] {
            assert_eq!(counter.at(&text, at).0, slow(at) as u64, "{at}");
        }
        assert_eq!(count_lines(b"", 0..0), 0);
        assert_eq!(count_lines(b"\r", 0..1), 1);
    }
}
