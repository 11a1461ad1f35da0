//! Blanks and line ends.

/// A byte order mark. It also occurs within files that were concatenated.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whether a byte is white space or another control character, which has no meaning between tokens.
#[inline]
pub(super) const fn is_blank(byte: u8) -> bool {
    byte <= b' '
}

/// The number of bytes before the end of the line.
pub(super) fn line_length(text: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len())
}

/// Whether blanks contain at least two line ends, that is, a whole blank line after the end of a line.
pub(super) fn has_blank_line(blanks: &[u8]) -> bool {
    let count = |end| blanks.iter().filter(|&&byte| byte == end).count();
    count(b'\n').max(count(b'\r')) > 1
}

/// The offset of the first byte from `at` on that is neither blank nor part of a byte order mark.
#[must_use]
pub(super) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    loop {
        at += text[at..].iter().take_while(|&&byte| is_blank(byte)).count();
        if !text[at..].starts_with(BOM) {
            return at;
        }
        at += BOM.len();
    }
}
