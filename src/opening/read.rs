//! Files to openings, whatever their form.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::book::{Named, Opening, OpeningBook};
use super::error::{Error, LineError, Result};
use super::{pgn, scid, tsv};
use crate::board::{Color, Position};
use crate::pgn::{Token, decode};

/// The most that is read of one file, in bytes; the largest lists have about one MiB.
const MOST_BYTES: u64 = 16 << 20;

/// What is wrong, and at which offset.
pub(super) type Found<T> = std::result::Result<T, (usize, LineError)>;

/// Reads a file or the files of a directory.
pub(super) fn read_path(path: &Path) -> Result<OpeningBook> {
    let mut openings = Vec::new();
    for file in files(path)? {
        let text = read_file(&file)?;
        openings.append(&mut parse(&file, &text)?);
    }
    Ok(OpeningBook::new(openings))
}

/// Reads the text of a file; `path` is for errors.
pub(super) fn read_text(path: &Path, text: &[u8]) -> Result<OpeningBook> {
    parse(path, text).map(OpeningBook::new)
}

/// A file itself, or the lists in a directory by name.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Unreadable { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = paths.map_err(failed)?;
    let is_list = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        ["tsv", "eco", "pgn"].iter().any(|known| extension.eq_ignore_ascii_case(known)) && path.is_file()
    };
    paths.retain(is_list);
    paths.sort();
    if paths.is_empty() { Err(Error::NoFile { path: path.to_owned() }) } else { Ok(paths) }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text))
        .map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), most: MOST_BYTES });
    }
    Ok(text)
}

fn parse(path: &Path, text: &[u8]) -> Result<Vec<Named>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let openings = match form(text) {
        Some(Form::Tsv) => tsv::read(text),
        Some(Form::Scid) => scid::read(text),
        Some(Form::Pgn) => pgn::read(text),
        None if text.trim_ascii().is_empty() => Ok(Vec::new()),
        None => return Err(Error::Form { path: path.to_owned() }),
    };
    let openings = openings.map_err(|(offset, source)| {
        let line = memchr::memchr_iter(b'\n', &text[..offset.min(text.len())]).count() as u64 + 1;
        Error::Line { path: path.to_owned(), line, source }
    })?;
    if openings.is_empty() { Err(Error::Empty { path: path.to_owned() }) } else { Ok(openings) }
}

/// A form that lists of openings come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Tsv,
    Scid,
    Pgn,
}

/// The form of a file, told by the first line that is neither blank nor a comment of Scid's.
fn form(text: &[u8]) -> Option<Form> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.filter(|line| !line.is_empty()).find(|line| !line.starts_with(b"#"))?;
    if tsv::Header::read(first).is_some() {
        Some(Form::Tsv)
    } else if scid::starts_entry(first) {
        Some(Form::Scid)
    } else if matches!(first[0], b'[' | b'{' | b';' | b'%') {
        Some(Form::Pgn)
    } else {
        None
    }
}

/// An opening from its code and name, both trimmed and checked, and its position.
pub(super) fn named(eco: &[u8], name: &str, position: Position) -> std::result::Result<Named, LineError> {
    let eco = decode(eco.trim_ascii());
    let name = name.trim();
    if eco.is_empty() {
        return Err(LineError::NoCode);
    }
    if !is_code(eco.as_bytes()) {
        return Err(LineError::Code(shown(eco.as_bytes())));
    }
    if name.is_empty() {
        return Err(LineError::NoName);
    }
    Ok(Named { opening: Opening { eco: eco.into_owned(), name: name.to_owned() }, position })
}

/// Whether this is an ECO code: `B90`, with Scid's extension (`B90a`, `B90a1`), or with the one that PGN allows (`B90/01`).
fn is_code(text: &[u8]) -> bool {
    let [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9', extension @ ..] = text else { return false };
    matches!(extension, [] | [b'a'..=b'z'] | [b'a'..=b'z', b'1'..=b'4'] | [b'/', b'0'..=b'9', b'0'..=b'9'])
}

/// The beginning of a text, for messages.
fn shown(text: &[u8]) -> String {
    const MOST: usize = 40;
    let text = decode(text);
    let end = text.floor_char_boundary(MOST);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text[..end].escape_debug())
}

/// Plays the moves that `next` gives, each with the offset after it, from `start` to the end.
pub(super) fn play<'a>(start: &Position, mut next: impl FnMut() -> (Token<'a>, usize)) -> Found<Position> {
    let mut position = start.clone();
    loop {
        let (token, end) = next();
        let what = match token {
            Token::Move(token) => {
                if let Err(error) = position.play_san(token) {
                    let dots = if position.side() == Color::White { "." } else { "..." };
                    let wrong = LineError::Move {
                        number: format!("{}{dots}", position.fullmove_number()),
                        token: shown(token),
                        error,
                        fen: position.fen(),
                    };
                    return Err((end - token.len(), wrong));
                }
                continue;
            }
            Token::Result(_) | Token::End | Token::NextGame => return Ok(position),
            Token::Junk(word) => {
                return Err((end - word.len(), LineError::Token(format!("\"{}\"", shown(word)))));
            }
            Token::UnclosedComment => "a comment that is not closed",
            Token::UnclosedVariation | Token::StrayOpening => "a variation that is not closed",
            Token::StrayClosing => "a closing bracket without an opening one",
        };
        return Err((end, LineError::Token(what.to_owned())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_content() {
        for (text, expected) in [
            ("eco\tname\tpgn\nA00\tX\t1. b4\n", Some(Form::Tsv)),
            ("\n\nname\tpgn\tuci\teco\tepd\r\n", Some(Form::Tsv)),
            ("# scid\n\nA00a \"Start position\" *\n", Some(Form::Scid)),
            ("A00 \"Polish\"\n  1.b4 *", Some(Form::Scid)),
            ("{ A file of openings }\n[ECO \"A00\"]\n", Some(Form::Pgn)),
            ("[ECO \"A00\"]\n", Some(Form::Pgn)),
            ("eco,name,pgn\n", None),
            ("SQLite format 3\0", None),
            ("1. e4 e5 *", None),
            ("", None),
        ] {
            assert_eq!(form(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn codes_are_a_letter_and_two_digits_with_the_known_extensions() {
        for code in ["A00", "E99", "B90a", "B90z4", "C42/01"] {
            assert!(is_code(code.as_bytes()), "{code}");
        }
        for text in ["F00", "B9", "b90", "B90A", "B90a5", "B90ab", "B90 ", "C42/1", "B90a1x"] {
            assert!(!is_code(text.as_bytes()), "{text}");
        }
    }
}
