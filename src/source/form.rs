//! Detects the format of a file by its first bytes, not by its name.

use super::encoding::TextEncoding;

/// The byte order mark of UTF-8.
pub(super) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The offset of the signature of a tar archive.
const TAR: usize = 257;

/// A message with advice, if the beginning of a text shows that it is not PGN, or is probably UTF-16.
pub(crate) fn other_text(text: &[u8]) -> Option<&'static str> {
    const SEEN: usize = 64;
    let nuls = |first: usize| {
        let bytes = text.iter().take(SEEN).skip(first).step_by(2);
        bytes.len() > 2 && bytes.clone().all(|&byte| byte == 0)
    };
    match [nuls(0), nuls(1)] {
        [true, false] => {
            return Some(
                "every second byte is NUL, so this is probably UTF-16; set the option encoding to utf-16be",
            );
        }
        [false, true] => {
            return Some(
                "every second byte is NUL, so this is probably UTF-16; set the option encoding to utf-16le",
            );
        }
        _ => {}
    }
    let text = text.strip_prefix(MARK).unwrap_or(text).trim_ascii_start();
    let begins = |begin: &[u8]| text.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin));
    let second = text.get(1..).and_then(|rest| rest.trim_ascii_start().first());
    match text.first()? {
        b'<' if begins(b"<!doctype html") || begins(b"<html") => {
            Some("this is a web page (HTML), not PGN; download the file again")
        }
        b'<' if begins(b"<?xml") => Some("this is XML, not PGN; download the file again"),
        first => {
            let is_json = match first {
                b'{' => matches!(second, Some(b'"' | b'}')),
                b'[' => matches!(second, Some(b'{' | b'"' | b'[' | b']')),
                _ => false,
            };
            is_json.then_some("this is JSON, not PGN; download the file again")
        }
    }
}

/// The format of a file according to its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// PGN text in UTF-8 or an 8-bit character set, as far as can be detected.
    Text,
    /// UTF-16 text, according to its byte order mark.
    Utf16(TextEncoding),
    Zstd,
    Gzip,
    Bzip2,
    Zip,
    /// An unsupported format: its name, and what to do.
    Other(&'static str, &'static str),
}

impl Form {
    /// The number of bytes needed to detect the format.
    pub(super) const HEAD: usize = 264;

    /// The format of a file that begins with these bytes.
    pub(super) fn of(head: &[u8]) -> Self {
        const OTHERS: [(&[u8], &str, &str); 6] = [
            (b"SQLite format 3\0", "an SQLite database", "give PGN files"),
            (b"\xfd7zXZ\0", "an xz archive", "unpack it first (xz -d)"),
            (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first (7z x)"),
            (b"Rar!\x1a\x07", "a rar archive", "unpack it first (unrar x)"),
            (b"\x04\x22\x4d\x18", "an lz4 archive", "unpack it first (lz4 -d)"),
            (b"%PDF-", "a PDF document", "give PGN files"),
        ];
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Self::Bzip2,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            [0xff, 0xfe, ..] => Self::Utf16(TextEncoding::UTF_16LE),
            [0xfe, 0xff, ..] => Self::Utf16(TextEncoding::UTF_16BE),
            _ if head.get(TAR..).is_some_and(|rest| rest.starts_with(b"ustar")) => {
                Self::Other("a tar archive", "unpack it first (tar xf)")
            }
            _ => match OTHERS.iter().find(|(magic, ..)| head.starts_with(magic)) {
                Some(&(_, form, error_advice)) => Self::Other(form, error_advice),
                None => Self::Text,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_first_bytes() {
        for (head, form) in [
            (&b""[..], Form::Text),
            (b"[Event", Form::Text),
            (b"BZhell", Form::Text),
            (b"PK", Form::Text),
            (b"\xef\xbb\xbf[Event", Form::Text),
            (b"\x28\xb5\x2f\xfd\0", Form::Zstd),
            (b"\x5f\x2a\x4d\x18\0", Form::Zstd),
            (b"\x1f\x8b", Form::Gzip),
            (b"BZh91AY&SY", Form::Bzip2),
            (b"PK\x03\x04", Form::Zip),
            (b"\xff\xfe", Form::Utf16(TextEncoding::UTF_16LE)),
            (b"\xfe\xff\0[", Form::Utf16(TextEncoding::UTF_16BE)),
        ] {
            assert_eq!(Form::of(head), form, "{}", head.escape_ascii());
        }
        assert!(matches!(Form::of(b"SQLite format 3\0"), Form::Other("an SQLite database", _)));
        let tar = [&b"games.pgn"[..], &[0; TAR - 9], b"ustar\x0000"].concat();
        assert!(matches!(Form::of(&tar), Form::Other("a tar archive", _)));
    }

    #[test]
    fn other_formats_are_recognised_by_their_beginning() {
        for (text, what) in [
            (&b"<html>\n<head>"[..], "HTML"),
            (b"\xef\xbb\xbf\r\n<!DOCTYPE HTML PUBLIC", "HTML"),
            (b"<?xml version", "XML"),
            (b"{\"error\":1}", "JSON"),
            (b"{ }", "JSON"),
            (b"[\n {\"a\"", "JSON"),
            (b"[\0E\0v\0e\0n\0", "utf-16le"),
            (b"\0[\0E\0v\0e\0n", "utf-16be"),
        ] {
            assert!(
                other_text(text).is_some_and(|message| message.contains(what)),
                "{}",
                text.escape_ascii()
            );
        }
        for text in [
            &b""[..],
            b" ",
            b"[Event \"a\"]",
            b"{a comment}",
            b"<br>1. e4",
            b"\0\0\0\0\0\0\0\0",
            b"1. e4 *",
            b"1",
        ] {
            assert_eq!(other_text(text), None, "{}", text.escape_ascii());
        }
    }
}
