//! Decodes bytes as text, and finds blanks and line ends.

use std::borrow::Cow;
use std::fmt;

/// Decodes UTF-8. Bytes that are not valid UTF-8 are decoded as Windows-1252, whose five unassigned bytes
/// become the control characters of Latin-1. There is one exception, for texts that also contain complete
/// multi-byte UTF-8 characters. In such a text, a truncated character becomes U+FFFD if at least its first
/// two bytes are present.
#[must_use]
#[inline]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(decode_mixed(bytes)),
    }
}

#[cold]
fn decode_mixed(bytes: &[u8]) -> String {
    let has_utf8 = has_utf8(bytes);
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        match chunk.invalid() {
            [_, _, ..] if has_utf8 => text.push(char::REPLACEMENT_CHARACTER),
            invalid => text.extend(invalid.iter().map(|&byte| windows_1252(byte))),
        }
    }
    text
}

/// Whether the bytes contain multi-byte UTF-8 characters.
fn has_utf8(bytes: &[u8]) -> bool {
    bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
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

/// A problem with the encoding of a text: bytes that are not text in a known encoding, or the character
/// U+FFFD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextFlaw {
    /// The offset of the first byte with the problem.
    pub offset: usize,
    /// Whether the whole text seems to be in an unknown encoding, not only some bytes of a UTF-8 text.
    pub is_encoding: bool,
    byte: u8,
    is_cut: bool,
}

impl TextFlaw {
    /// Finds the first problem of a text. A text has a problem in three cases:
    ///
    /// - It contains both multi-byte UTF-8 characters and bytes that are not UTF-8.
    /// - It is not UTF-8, and is probably not Windows-1252 either.
    /// - It is UTF-8 and contains U+FFFD.
    #[must_use]
    pub fn find(bytes: &[u8]) -> Option<Self> {
        if bytes.is_ascii() {
            return None;
        }
        if std::str::from_utf8(bytes).is_ok() {
            // U+FFFD replaces a character that was lost earlier, or bytes that have no character in the
            // file's encoding.
            let offset = memchr::memmem::find(bytes, "\u{fffd}".as_bytes())?;
            return Some(Self { offset, is_encoding: false, byte: bytes[offset], is_cut: true });
        }
        let has_utf8 = has_utf8(bytes);
        let offset = if has_utf8 {
            bytes.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len())
        } else {
            (0..bytes.len()).find(|&at| !is_plausible(bytes, at))?
        };
        let cut = bytes[offset..].utf8_chunks().next().is_some_and(|chunk| chunk.invalid().len() > 1);
        Some(Self { offset, is_encoding: !has_utf8, byte: bytes[offset], is_cut: has_utf8 && cut })
    }
}

impl fmt::Display for TextFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let byte = self.byte;
        if self.is_encoding {
            write!(
                f,
                "byte 0x{byte:02X} is not UTF-8, and is unusual here in Windows-1252. If the text is in another \
                 encoding, set the option encoding to its name (with the option reread if the file is already indexed)"
            )
        } else if self.is_cut {
            f.write_str("a character is incomplete or lost; U+FFFD replaces it")
        } else {
            write!(f, "byte 0x{byte:02X} is not UTF-8; it was read as Windows-1252")
        }
    }
}

/// Whether a byte is plausible in Windows-1252. Words of Western languages do not contain three consecutive
/// non-ASCII letters, and signs such as U+201E (a low quotation mark) do not occur between letters.
fn is_plausible(bytes: &[u8], at: usize) -> bool {
    let (before, after) = (at.checked_sub(1).map(|at| bytes[at]), bytes.get(at + 1).copied());
    let is_letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic());
    let is_high = |byte: Option<u8>| byte.is_some_and(|byte| byte >= 0xc0);
    match bytes[at] {
        0x81 | 0x8d | 0x8f | 0x90 | 0x9d => false,
        // Letters, apostrophes and dashes.
        0x83 | 0x8a | 0x8c | 0x8e | 0x91 | 0x92 | 0x96 | 0x97 | 0x9a | 0x9c | 0x9e | 0x9f => true,
        0x80..=0x9f => !(is_letter(before) && is_letter(after)),
        // Currency signs and the like. In Spanish, U+00A1 and U+00BF, inverted punctuation marks, begin
        // sentences.
        0xa1..=0xa9 | 0xac | 0xae | 0xaf | 0xb1..=0xb3 | 0xb6 | 0xb8 | 0xb9 | 0xbf => {
            let is_any_letter = |byte| is_letter(byte) || is_high(byte);
            let is_lower = after.is_some_and(|after| after.is_ascii_lowercase());
            let may_begin = matches!(bytes[at], 0xa1 | 0xa7 | 0xa9 | 0xbf);
            !(is_any_letter(after) && (is_any_letter(before) || is_lower && !may_begin))
        }
        0xc0.. => !(is_high(before) && is_high(after)),
        _ => true,
    }
}

/// A byte order mark. It also occurs within files that were concatenated.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whether a byte is a space or an ASCII control character below it, such as a tab or a line end. Such bytes
/// have no meaning between tokens.
#[inline]
pub(super) const fn is_blank(byte: u8) -> bool {
    byte <= b' '
}

/// The number of bytes before the first line end, or of the whole text if it has none.
pub(super) fn line_length(text: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len())
}

/// Whether blanks contain a blank line: at least two line ends.
pub(super) fn has_blank_line(blanks: &[u8]) -> bool {
    let count = |end| blanks.iter().filter(|&&byte| byte == end).count();
    count(b'\n').max(count(b'\r')) > 1
}

/// The offset of the first byte from `at` on that is neither blank nor part of a byte order mark.
#[must_use]
pub(crate) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    loop {
        at += text[at..].iter().take_while(|&&byte| is_blank(byte)).count();
        if !text[at..].starts_with(BOM) {
            return at;
        }
        at += BOM.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8_are_decoded_one_by_one() {
        for (bytes, text) in [
            (&b"M\xc3\xbcller, Jos\xe9"[..], "M\u{fc}ller, Jos\u{e9}"),
            (b"Jos\xe9, \xc3\xa9t\xc3\xa9 \x93x\x94", "Jos\u{e9}, \u{e9}t\u{e9} \u{201c}x\u{201d}"),
            (b"gr\xc3\xb6\xc3\x9fer \xe2\x80", "gr\u{f6}\u{df}er \u{fffd}"),
            (b"Andr\xe9\x92s", "Andr\u{e9}\u{2019}s"),
            (b"\xc5ke Sj\xf6berg", "\u{c5}ke Sj\u{f6}berg"),
            (b"\x81", "\u{81}"),
            (b"", ""),
        ] {
            assert_eq!(decode(bytes), text);
        }
    }

    #[cfg(feature = "index")]
    #[test]
    fn each_byte_is_decoded_as_in_the_encoding_standard() {
        for byte in 0x80..=0xff {
            let mut expected = [0; 4];
            let mut decoder = encoding_rs::WINDOWS_1252.new_decoder_without_bom_handling();
            let (_, _, length, _) = decoder.decode_to_utf8(&[byte], &mut expected, true);
            assert_eq!(decode(&[byte]).as_bytes(), &expected[..length], "byte {byte:#x}");
        }
    }

    #[test]
    fn texts_in_other_encodings_are_noticed() {
        let flaw = |bytes: &[u8]| TextFlaw::find(bytes).map(|flaw| (flaw.offset, flaw.is_encoding));
        for bytes in [
            &b"Petrosian"[..],
            b"Jos\xc3\xa9",
            b"Jos\xe9 Ra\xfal",
            b"F\xe5\xe4, O\x92Kelly, \x8akrab, \x84x\x93",
            b"O\xb4Kelly, \xa1no!, \xbfqu\xe9?, \xa31000, \xa92024, \xabe4\xbb, 1\xaa, \xa7a, l\xb7l, 30\xb0, \xbd-\xbd",
            b"",
        ] {
            assert_eq!(flaw(bytes), None, "{}", bytes.escape_ascii());
        }
        // Windows-1251, code page 850, bytes that Windows-1252 does not assign.
        assert_eq!(flaw(b"\xca\xe0\xf0\xef\xee\xe2"), Some((1, true)));
        assert_eq!(flaw(b"Sp\x84tlese"), Some((2, true)));
        assert_eq!(flaw(b"M\x81ller"), Some((1, true)));
        // GBK, ISO 8859-2.
        assert_eq!(flaw(b"\xb6\xa1\xc1\xa2\xc8\xcb"), Some((3, true)));
        assert_eq!(flaw(b"\xa3ukasz"), Some((0, true)));
        assert_eq!(flaw(b"Stanis\xb3aw"), Some((6, true)));
        // U+FFFD (it replaces bytes that have no character in the encoding of a file); then invalid UTF-8.
        assert_eq!(flaw("Ivan\u{fffd}".as_bytes()), Some((4, false)));
        assert_eq!(flaw(b"M\xc3\xbcller Jos\xe9"), Some((11, false)));
        assert_eq!(flaw(b"\xc3\xb6 \xe2\x80"), Some((3, false)));
    }
}
