//! Reads openings from files in three formats: TSV, Scid's `.eco` and PGN.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::book::{NamedPosition, Opening, OpeningBook};
use super::{Error, Result};
use crate::board::{Color, Position};
use crate::pgn::{FrameProblemKind, Lexer, MOST_TAGS, Reader, TagPair, Token, decode};
use crate::positioned_io::read_start;
use crate::sorted::sort;

/// The maximum size of a file, in bytes. The largest lists are about 1 MiB.
const MOST_BYTES: u64 = 16 << 20;

/// A result whose error consists of an offset in the text, in bytes, and a message.
type Found<T> = std::result::Result<T, (usize, String)>;

impl OpeningBook {
    /// Reads a file. If `path` is a directory, reads its files whose names end in `.tsv`, `.eco` or `.pgn`,
    /// in the order of their names.
    ///
    /// If a position occurs more than once, the last entry counts.
    ///
    /// # Errors
    /// If a file cannot be read, is too large, is in none of the supported formats, or contains no opening.
    /// If a directory has no such file. If an opening is invalid. The error about an invalid opening contains
    /// the line number.
    pub fn read(path: &Path) -> Result<Self> {
        let mut openings = Vec::new();
        for file in files(path)? {
            let text = read_file(&file)?;
            openings.append(&mut parse(&file, &text)?);
        }
        Ok(Self::new(openings))
    }
}

/// The path itself if it is a file, or the paths of the lists in a directory, ordered by name.
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
    sort(&mut paths);
    if paths.is_empty() { Err(Error::NoFile { path: path.to_owned() }) } else { Ok(paths) }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    let text = read_start(path, MOST_BYTES + 1)
        .map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), most: MOST_BYTES });
    }
    Ok(text)
}

fn parse(path: &Path, text: &[u8]) -> Result<Vec<NamedPosition>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let openings = match form(text) {
        Some(Form::Tsv) => read_tsv(text),
        Some(Form::Scid) => read_scid(text),
        Some(Form::Pgn) => read_pgn(text),
        None if text.trim_ascii().is_empty() => Ok(Vec::new()),
        None => return Err(Error::Form { path: path.to_owned() }),
    };
    let openings = openings.map_err(|(offset, reason)| {
        let line = memchr::memchr_iter(b'\n', &text[..offset.min(text.len())]).count() as u64 + 1;
        Error::Line { path: path.to_owned(), line, reason }
    })?;
    if openings.is_empty() { Err(Error::Empty { path: path.to_owned() }) } else { Ok(openings) }
}

/// A format of lists of openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Tsv,
    Scid,
    Pgn,
}

/// The format of a file, detected by its first line that is neither blank nor a Scid comment. `None` if the
/// format is unknown.
fn form(text: &[u8]) -> Option<Form> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.filter(|line| !line.is_empty()).find(|line| !line.starts_with(b"#"))?;
    if tsv_header(first).is_some() {
        Some(Form::Tsv)
    } else if starts_scid_entry(first) {
        Some(Form::Scid)
    } else if matches!(first[0], b'[' | b'{' | b';' | b'%') {
        Some(Form::Pgn)
    } else {
        None
    }
}

/// The number of columns in a TSV file, and the indexes of its columns `eco`, `name` and `pgn`. `None` if the
/// line is not a header or a column is missing.
fn tsv_header(line: &[u8]) -> Option<(usize, [usize; 3])> {
    let names: Vec<&[u8]> = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii).collect();
    let column = |name: &[u8]| names.iter().position(|known| known.eq_ignore_ascii_case(name));
    Some((names.len(), [column(b"eco")?, column(b"name")?, column(b"pgn")?]))
}

/// Parses all lines after the header. Blank lines, other columns, and lines before the header are ignored.
fn read_tsv(text: &[u8]) -> Found<Vec<NamedPosition>> {
    let mut header = None::<(usize, [usize; 3])>;
    let (mut openings, mut next) = (Vec::new(), 0);
    for line in text.split(|&byte| byte == b'\n') {
        let start = next;
        next += line.len() + 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some((count, [eco, name, pgn])) = header else {
            header = tsv_header(line.trim_ascii());
            continue;
        };
        let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
        if columns.len() < count {
            let few = format!("number of columns: {}, but the header has {count}", columns.len());
            return Err((start, few));
        }
        let mut lexer = Lexer::new(columns[pgn], 0);
        let position =
            play(&mut || (lexer.next_token(), lexer.offset())).map_err(|(_, error)| (start, error))?;
        openings.push(named(start, columns[eco], &decode(columns[name]), &position)?);
    }
    Ok(openings)
}

/// Whether a text begins with an ECO code, as each entry of a Scid file does:
/// `B90a "Sicilian: Najdorf"  1.e4 c5 … *`.
fn starts_scid_entry(text: &[u8]) -> bool {
    matches!(text, [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9', ..])
}

/// Reads all entries of a Scid file. An entry can extend over several lines. Between entries, `#` begins a
/// comment that extends to the end of its line.
fn read_scid(text: &[u8]) -> Found<Vec<NamedPosition>> {
    let mut openings = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match text.get(at) {
            None => return Ok(openings),
            Some(b'#') => at += memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at),
            Some(_) if !starts_scid_entry(&text[at..]) => {
                return Err((at, "text that belongs to no opening".into()));
            }
            Some(_) => {
                let find = |byte, from: usize, what| {
                    let found = memchr::memchr(byte, &text[from..]).map(|length| from + length);
                    found.ok_or_else(|| (at, format!("the file ends without the {what}")))
                };
                let open = find(b'"', at, "name in double quotes")?;
                let close = find(b'"', open + 1, "closing quote")?;
                let end = find(b'*', close + 1, "'*' after the moves")?;
                let mut lexer = Lexer::new(&text[..end], close + 1);
                let position = play(&mut || (lexer.next_token(), lexer.offset()))?;
                openings.push(named(at, &text[at..open], &decode(&text[open + 1..close]), &position)?);
                at = end + 1;
            }
        }
    }
}

/// Reads all games of a PGN file. The tags of a game contain the code and the name, and its moves lead to the
/// position.
fn read_pgn(text: &[u8]) -> Found<Vec<NamedPosition>> {
    let mut reader = Reader::new(text);
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    let mut openings = Vec::new();
    while reader.next_game(&mut tags, &mut problems) {
        let start = reader.game_start();
        if let Some(tag) = tags.iter().find(|tag| tag.name.eq_ignore_ascii_case(b"FEN")) {
            let wrong = "openings must begin at the standard start position; this one has a FEN tag";
            return Err((tag.offset, wrong.into()));
        }
        if tag(&tags, "Opening").is_empty() {
            return Err((start, "this game has no Opening tag".into()));
        }
        let position = play(&mut || (reader.next_token(), reader.offset()))?;
        openings.push(named(start, tag(&tags, "ECO").as_bytes(), &name_of(&tags), &position)?);
    }
    let Some(problem) = problems.first() else { return Ok(openings) };
    let message = match problem.kind {
        FrameProblemKind::UnclosedTag | FrameProblemKind::UnquotedTag | FrameProblemKind::DamagedTag => {
            "a tag pair without its closing quote and bracket".to_owned()
        }
        FrameProblemKind::Outside => "text that belongs to no opening".to_owned(),
        FrameProblemKind::TooManyTags => format!("more than {MOST_TAGS} tag pairs in one opening"),
    };
    Err((problem.offset, message))
}

/// The value of a tag, trimmed; empty if the tag is missing. If there are several such tags, the last one
/// counts.
fn tag(tags: &[TagPair<'_>], name: &str) -> String {
    let tag = tags.iter().rfind(|tag| tag.name.eq_ignore_ascii_case(name.as_bytes()));
    tag.map_or_else(String::new, |tag| tag.text().trim().to_owned())
}

/// The name `Opening: Variation, SubVariation`, from the tags that exist.
fn name_of(tags: &[TagPair<'_>]) -> String {
    let mut name = tag(tags, "Opening");
    let parts = ["Variation", "SubVariation"].map(|name| tag(tags, name));
    for (part, joint) in parts.iter().filter(|part| !part.is_empty()).zip([": ", ", "]) {
        name.extend([joint, part]);
    }
    name
}

/// Trims and checks the code and the name of an entry that begins at `start`, and builds its named position.
fn named(start: usize, eco: &[u8], name: &str, position: &Position) -> Found<NamedPosition> {
    let (eco, name) = (decode(eco.trim_ascii()), name.trim());
    if eco.is_empty() {
        return Err((start, "no ECO code".into()));
    }
    if !is_code(eco.as_bytes()) {
        let wrong =
            format!("\"{}\" is not an ECO code; write B90 (or B90a, as Scid does)", shown(eco.as_bytes()));
        return Err((start, wrong));
    }
    if name.is_empty() {
        return Err((start, "no name".into()));
    }
    Ok(NamedPosition::new(Opening { eco: eco.into_owned(), name: name.to_owned() }, position))
}

/// Whether a text is an ECO code: `B90`, with Scid's extension (`B90a`, `B90a1`), or with the extension that
/// PGN allows (`B90/01`).
fn is_code(text: &[u8]) -> bool {
    let [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9', extension @ ..] = text else { return false };
    matches!(extension, [] | [b'a'..=b'z'] | [b'a'..=b'z', b'1'..=b'4'] | [b'/', b'0'..=b'9', b'0'..=b'9'])
}

/// The beginning of a text, for messages; an ellipsis shows that more follows.
fn shown(text: &[u8]) -> String {
    const MOST: usize = 40;
    let text = decode(text);
    let end = text.floor_char_boundary(MOST);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text[..end].escape_debug())
}

/// Plays the moves that `next` returns, from the start position up to the last move. `next` returns each
/// token with the offset of its end.
fn play<'a>(next: &mut dyn FnMut() -> (Token<'a>, usize)) -> Found<Position> {
    let mut position = Position::start();
    loop {
        let (token, end) = next();
        let what = match token {
            Token::Move(token) => {
                if let Err(error) = position.play_san(token) {
                    let dots = if position.side() == Color::White { "." } else { "..." };
                    let (number, fen) = (position.fullmove_number(), position.fen());
                    let wrong = format!("{number}{dots}{}: {error} in {fen}", shown(token));
                    return Err((end - token.len(), wrong));
                }
                continue;
            }
            Token::Annotation(_) => continue,
            Token::Result(_) | Token::End | Token::NextGame => return Ok(position),
            Token::Junk(word) => {
                let wrong = format!("\"{}\" among the moves", shown(word));
                return Err((end - word.len(), wrong));
            }
            Token::UnclosedComment => "an unclosed comment among the moves",
            Token::UnclosedVariation | Token::StrayOpening => "an unclosed variation among the moves",
            Token::StrayClosing => "an unmatched closing bracket among the moves",
        };
        return Err((end, what.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_content() {
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
    fn problems_of_pgn_files_are_named() {
        let tags = "[ECO \"A00\"]\n[Opening \"X\"]\n";
        let many = "[A \"x\"]\n".repeat(MOST_TAGS);
        for (text, offset, expected) in [
            (format!("{tags}\n1. b4 *\n"), None, ""),
            // The two tag pairs in `tags` also count towards `MOST_TAGS`.
            (
                format!("{tags}{many}\n1. b4 *\n"),
                Some(tags.len() + (MOST_TAGS - 2) * 8),
                "more than 1000 tag pairs in one opening",
            ),
        ] {
            let problem = read_pgn(text.as_bytes()).err();
            assert_eq!(problem, offset.map(|offset| (offset, expected.to_owned())));
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
