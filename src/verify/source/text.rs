//! Compares games with the PGN text they were read from.

use std::ops::Range;
use std::sync::Arc;

use rusqlite::{Connection, Row};

use crate::board::MoveCode;
use crate::id::{GameId, SourceId};
use crate::index::SingleGameParser;
use crate::source::Mapped;
use crate::store::row::virtual_table::Cell;
use crate::store::row::{StoredId, StoredRow as _};
use crate::verify::FindingKind::SourceText;
use crate::verify::rows::{Reader, StoredGame, describe_move, shown, side_rows};
use crate::verify::{Check, Collector, RowId};

/// Reads games' texts in plain files again, and compares them with the rows of the games. Each thread has its
/// own `Texts`.
pub(crate) struct Texts<'c> {
    check: &'c Check<'c>,
    /// The last source read, and its text if games can be compared with it.
    open: Option<(StoredId<SourceId>, Option<Arc<Mapped>>)>,
    pub(crate) reread: SingleGameParser,
}

impl<'c> Texts<'c> {
    pub(crate) fn new(check: &'c Check<'c>) -> Self {
        Self { check, open: None, reread: SingleGameParser::default() }
    }

    /// Compares a game with its text; `codes` are the moves in the game's rows, if known. Returns whether the
    /// game was compared: its source must be a plain file that is unchanged or has only grown.
    pub(crate) fn compare(
        &mut self,
        connection: &Connection,
        game: &StoredGame,
        codes: Option<&[MoveCode]>,
    ) -> rusqlite::Result<bool> {
        let Some(map) = self.open(game.source) else { return Ok(false) };
        let bytes = map.bytes();
        match piece(game.byte_offset, game.byte_length, bytes.len() as u64) {
            Some(range) => {
                let text = &bytes[range.start as usize..range.end as usize];
                let reader = self.check.reader(connection);
                let in_text = compare_game(self.check, reader, &mut self.reread, game, text)?;
                if let Some((in_text, codes)) = in_text.zip(codes) {
                    compare_moves(reader.findings, game.game, in_text, codes);
                }
            }
            None => report_misplaced(&self.check.findings, game, bytes.len() as u64),
        }
        Ok(true)
    }

    /// The text of a source that is a plain file, and that is unchanged or has only grown; `None` for other
    /// sources.
    pub(crate) fn open(&mut self, source: StoredId<SourceId>) -> Option<Arc<Mapped>> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != source) {
            self.open = Some((source, self.check.sources.map(source, self.check.progress)));
        }
        self.open.as_ref()?.1.clone()
    }
}

/// The byte range with this offset and this length; `None` if it is not within a source of `bytes` bytes.
pub(crate) fn piece(offset: i64, length: i64, bytes: u64) -> Option<Range<u64>> {
    let (offset, length) = u64::try_from(offset).ok().zip(u64::try_from(length).ok())?;
    Some(offset..offset.checked_add(length)?).filter(|range| range.end <= bytes)
}

/// Reports that a game's text is not within its source of `bytes` bytes.
pub(crate) fn report_misplaced(findings: &Collector, game: &StoredGame, bytes: u64) {
    let found = format!("{} with a byte_length of {}", game.byte_offset, game.byte_length);
    let expected = format!("a place within the {bytes} bytes of its source");
    let id = RowId::game(game.game);
    findings.wrong(SourceText, "game", id, "byte_offset", expected, found);
}

/// Compares a stored game and its stored problems, but not its moves, with the rows that a run with the same
/// options would store for the game's text. Returns the moves in the text, for [`compare_moves`]; `None` if
/// the text is not exactly one game.
pub(crate) fn compare_game<'r>(
    check: &Check<'_>,
    reader: Reader<'_>,
    reread: &'r mut SingleGameParser,
    game: &StoredGame,
    text: &[u8],
) -> rusqlite::Result<Option<&'r [MoveCode]>> {
    let Reader { connection, findings } = reader;
    let id = || RowId::game(game.game);
    let Some(read) = reread.read(text, check.sources.annotations(game)) else {
        let found = format!("no game begins at byte {} of its source", game.byte_offset);
        findings.about(SourceText, "game", id(), found);
        return Ok(None);
    };
    if read.span() != (0, text.len() as u64) {
        let (offset, length) = read.span();
        let (start, end) = (game.byte_offset, game.byte_offset + game.byte_length);
        let place = start.saturating_add_unsigned(offset);
        let found = format!(
            "bytes {start} to {end} of its source are not exactly one game: a game of {length} bytes begins at \
             byte {place}"
        );
        findings.about(SourceText, "game", id(), found);
        return Ok(None);
    }
    let names = names(connection, game)?;
    for (index, expected) in read.columns() {
        let (column, found) = (StoredGame::COLUMNS[index], stored_column(game, &names, index));
        if found != Some(expected) {
            let text = |cell: Cell<'_>| match cell {
                // The column has the id of the name.
                Cell::Text(name) if column.ends_with("_id") => Some(format!("the id of '{name}'")),
                _ => cell.to_text(),
            };
            let (expected, found) = (shown(text(expected)), shown(found.and_then(text)));
            findings.wrong(SourceText, "game", id(), column, expected, found);
        }
    }
    side_rows::compare(reader, game.game, &read)?;
    check.problems.compare(reader, game, &read)?;
    Ok(Some(read.codes()))
}

/// The columns with ids of names.
const NAMES: [&str; 4] = ["event_id", "site_id", "white_id", "black_id"];

/// The names with the ids in the columns [`NAMES`] of a game.
fn names(connection: &Connection, game: &StoredGame) -> rusqlite::Result<[Option<String>; 4]> {
    let sql = "SELECT (SELECT name FROM event WHERE event_id = ?1), (SELECT name FROM site WHERE site_id = ?2),
                   (SELECT name FROM player WHERE player_id = ?3), (SELECT name FROM player WHERE player_id = ?4)";
    let ids = [game.event, game.site, game.white, game.black];
    let read = |row: &Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
    connection.prepare_cached(sql)?.query_row(ids, read)
}

/// The stored value of a column, with names instead of ids, as in [`SingleGameParser`].
fn stored_column<'g>(game: &'g StoredGame, names: &'g [Option<String>; 4], index: usize) -> Option<Cell<'g>> {
    match NAMES.iter().position(|column| *column == StoredGame::COLUMNS[index]) {
        Some(name) => Some(names[name].as_deref().map_or(Cell::Null, Cell::Text)),
        None => game.cell(index),
    }
}

/// Compares the moves in a game's text, `expected`, with the moves in the game's rows.
pub(crate) fn compare_moves(
    findings: &Collector,
    game: StoredId<GameId>,
    expected: &[MoveCode],
    found: &[MoveCode],
) {
    let same = expected.iter().zip(found).take_while(|(expected, found)| expected == found).count();
    if same == expected.len() && same == found.len() {
        return;
    }
    let describe_move = |codes: &[MoveCode]| {
        codes.get(same).map_or_else(|| "the end".to_owned(), |&code| describe_move(code))
    };
    let row = RowId::position(game, i64::try_from(same).unwrap_or(i64::MAX).into());
    let (expected, found) = (describe_move(expected), describe_move(found));
    findings.wrong(SourceText, "game_position", row, "move_code", expected, found);
}
