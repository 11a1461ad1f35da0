//! UTF-16 text as UTF-8.

use std::io::{self, Read};

/// Which byte of a unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

/// Reads UTF-16 text as UTF-8. The byte order mark it begins with is left out; what is no character becomes U+FFFD.
pub(super) struct Utf16<R> {
    reader: R,
    endian: Endian,
    begun: bool,
    ended: bool,
    /// UTF-16 bytes that have been read: at most three are kept, of a unit or a pair of units that is not complete.
    units: Vec<u8>,
    text: String,
    /// How much of the text has been given out.
    given: usize,
}

impl<R: Read> Utf16<R> {
    pub(super) fn new(reader: R, endian: Endian) -> Self {
        Self { reader, endian, begun: false, ended: false, units: Vec::new(), text: String::new(), given: 0 }
    }

    fn refill(&mut self) -> io::Result<()> {
        const BLOCK: u64 = 64 << 10;
        self.text.clear();
        self.given = 0;
        let read = (&mut self.reader).take(BLOCK).read_to_end(&mut self.units)?;
        self.ended = read == 0;
        let unit = |pair: &[u8]| match self.endian {
            Endian::Little => u16::from_le_bytes([pair[0], pair[1]]),
            Endian::Big => u16::from_be_bytes([pair[0], pair[1]]),
        };
        let mut whole = self.units.len() / 2 * 2;
        let is_first_of_pair = |unit: u16| (0xd800..0xdc00).contains(&unit);
        if !self.ended && whole > 0 && is_first_of_pair(unit(&self.units[whole - 2..])) {
            whole -= 2;
        }
        let units = self.units[..whole].chunks_exact(2).map(unit);
        let letters = char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
        let skipped = usize::from(!self.begun && whole > 0);
        self.text.extend(letters.skip(skipped));
        self.begun |= whole > 0;
        self.units.drain(..whole);
        if self.ended && !self.units.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
            self.units.clear();
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.ended {
            self.refill()?;
        }
        let read = (&self.text.as_bytes()[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::cases;
    use proptest::prelude::*;

    /// Gives its bytes a few at a time.
    struct Few<'a>(&'a [u8], usize);

    impl Read for Few<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn read(bytes: &[u8], endian: Endian, few: usize) -> String {
        let mut text = String::new();
        Utf16::new(Few(bytes, few), endian).read_to_string(&mut text).unwrap();
        text
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn text_comes_back(text in "\\PC{0,200}", few in 1..9usize) {
            let units: Vec<u16> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            prop_assert_eq!(&read(&little, Endian::Little, few), &text);
            prop_assert_eq!(&read(&big, Endian::Big, few), &text);
        }
    }

    #[test]
    fn a_long_text_comes_back_across_blocks() {
        let text = "a\u{1f600}é".repeat(50_000);
        let bytes: Vec<u8> =
            "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert!(read(&bytes, Endian::Little, usize::MAX) == text);
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"\xff\xfe", ""),
            (b"\xff\xfea\0b", "a\u{fffd}"),
            (b"\xff\xfe\0\xd8", "\u{fffd}"),
            (b"\xff\xfe\0\xdca\0", "\u{fffd}a"),
            (b"\xff\xfe\0\xd8\0", "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(read(bytes, Endian::Little, 3), text, "{}", bytes.escape_ascii());
        }
    }
}
