//! Converts text in other encodings to UTF-8.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use encoding_rs::{CoderResult, Decoder, Encoding};

/// A character encoding of the [WHATWG standard](https://encoding.spec.whatwg.org/).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

impl TextEncoding {
    pub(super) const UTF_16LE: Self = Self(encoding_rs::UTF_16LE);
    pub(super) const UTF_16BE: Self = Self(encoding_rs::UTF_16BE);

    /// The name of the row in the table `setting` that contains the encoding of a database's sources.
    pub const SETTING: &str = "encoding";
    /// The value in the row [`SETTING`](Self::SETTING) if no encoding was given: UTF-8, or
    /// Windows-1252 for bytes that are not valid UTF-8.
    pub const AUTO: &str = "auto";

    /// The encoding with this label, such as `windows-1251`, `cp1251` or `latin1`; `None` if no encoding has
    /// this label.
    #[must_use]
    pub fn parse(label: &str) -> Option<Self> {
        Encoding::for_label_no_replacement(label.as_bytes()).map(Self)
    }

    /// The name of an encoding, or [`AUTO`](Self::AUTO).
    pub(crate) fn name_or_auto(encoding: Option<Self>) -> &'static str {
        encoding.map_or(Self::AUTO, Self::name)
    }

    /// The name of the encoding in the standard, which is one of its labels.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Converts text to UTF-8. A byte order mark at its beginning is removed, and overrides the encoding. Invalid
/// bytes become U+FFFD.
pub(super) struct Transcoder<R> {
    reader: BufReader<R>,
    decoder: Decoder,
    /// The decoded text; `left` is the part of it not yet returned.
    text: Box<[u8]>,
    left: std::ops::Range<usize>,
    has_ended: bool,
}

impl<R: Read> Transcoder<R> {
    pub(super) fn new(reader: R, encoding: TextEncoding) -> Self {
        const BLOCK: usize = 64 << 10;
        let (reader, text) = (BufReader::with_capacity(BLOCK, reader), vec![0; BLOCK].into_boxed_slice());
        Self { reader, decoder: encoding.0.new_decoder(), text, left: 0..0, has_ended: false }
    }

    fn refill(&mut self) -> io::Result<()> {
        let input = self.reader.fill_buf()?;
        let is_at_end = input.is_empty();
        let (result, read, written, _) = self.decoder.decode_to_utf8(input, &mut self.text, is_at_end);
        self.reader.consume(read);
        self.left = 0..written;
        self.has_ended = is_at_end && result == CoderResult::InputEmpty;
        Ok(())
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left.is_empty() && !self.has_ended {
            self.refill()?;
        }
        let read = (&self.text[self.left.clone()]).read(buffer)?;
        self.left.start += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::cases;
    use proptest::prelude::*;

    /// Returns its bytes, at most the given number at a time.
    struct ShortReads<'a>(&'a [u8], usize);

    impl Read for ShortReads<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn read(bytes: &[u8], encoding: TextEncoding, few: usize) -> String {
        let mut text = String::new();
        Transcoder::new(ShortReads(bytes, few), encoding).read_to_string(&mut text).unwrap();
        text
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn utf_16_is_decoded(text in "\\PC{0,200}", few in 1..9usize) {
            let units: Vec<u16> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            prop_assert_eq!(&read(&little, TextEncoding::UTF_16LE, few), &text);
            prop_assert_eq!(&read(&big, TextEncoding::UTF_16BE, few), &text);
        }
    }

    #[test]
    fn a_long_text_is_decoded_across_blocks() {
        let text = "a\u{1f600}é".repeat(50_000);
        let bytes: Vec<u8> =
            "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert!(read(&bytes, TextEncoding::UTF_16LE, usize::MAX) == text);
    }

    #[test]
    fn invalid_characters_are_replaced() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"\xff\xfe", ""),
            (b"\xff\xfea\0b", "a\u{fffd}"),
            (b"\xff\xfe\0\xd8", "\u{fffd}"),
            (b"\xff\xfe\0\xdca\0", "\u{fffd}a"),
        ] {
            assert_eq!(read(bytes, TextEncoding::UTF_16LE, 3), text, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn encodings_are_named_by_labels() {
        let cyrillic = b"\xca\xe0\xf0\xef\xee\xe2";
        for label in ["windows-1251", "CP1251", " x-cp1251 "] {
            assert_eq!(read(cyrillic, TextEncoding::parse(label).unwrap(), 2), "Карпов");
        }
        assert_eq!(read(b"\xef\xbb\xbfM\xc3\xbc", TextEncoding::parse("cp1251").unwrap(), 9), "Mü");
        assert_eq!(read("\u{96ea}]".as_bytes(), TextEncoding::parse("utf8").unwrap(), 1), "\u{96ea}]");
        assert!(TextEncoding::parse("klingon").is_none());
    }
}
