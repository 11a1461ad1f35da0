//! Openings as lines of tab-separated columns.

use super::book::NamedPosition;
use super::entry::{Found, named, play};
use super::error::LineError;
use crate::board::Position;
use crate::pgn::{Lexer, decode};

/// The number of columns, and the indexes of the required columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    columns: usize,
    eco: usize,
    name: usize,
    pgn: usize,
}

impl Header {
    /// Parses a header line. Returns `None` if the line is not a header or a column is missing.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let names: Vec<&[u8]> = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii).collect();
        let column = |name: &[u8]| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        Some(Self {
            columns: names.len(),
            eco: column(b"eco")?,
            name: column(b"name")?,
            pgn: column(b"pgn")?,
        })
    }
}

/// Parses the header and all lines after it. Blank lines and columns that are not needed are ignored.
pub(super) fn read(text: &[u8]) -> Found<Vec<NamedPosition>> {
    let start_position = Position::start();
    let mut header = None;
    let mut openings = Vec::new();
    let mut next = 0;
    for line in text.split(|&byte| byte == b'\n') {
        let start = next;
        next += line.len() + 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match header {
            None => header = Header::read(line.trim_ascii()),
            Some(header) => {
                openings.push(read_line(header, line, &start_position).map_err(|error| (start, error))?)
            }
        }
    }
    Ok(openings)
}

fn read_line(header: Header, line: &[u8], start: &Position) -> Result<NamedPosition, LineError> {
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    if columns.len() < header.columns {
        return Err(LineError::Columns { found: columns.len(), expected: header.columns });
    }
    let mut lexer = Lexer::new(columns[header.pgn], 0);
    let position = play(start, || (lexer.next_token(), lexer.offset())).map_err(|(_, error)| error)?;
    named(columns[header.eco], &decode(columns[header.name]), &position)
}
