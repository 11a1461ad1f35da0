//! Compares duplicates (rows, texts and moves) with the games that they repeat.

use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use crate::board::Position;
use crate::id::{GameId, SourceId};
use crate::index::{Annotations, GameText, MIN_PLIES_OF_MOVES, PREFIX_PLIES, SingleGameParser};
use crate::store::read_rows;
use crate::store::row::virtual_table::Columns as _;
use crate::store::row::{GameRow, StoredId};
use crate::verify::FindingKind::{SourceText, WrongValue};
use crate::verify::rows::{Batch, Reader, StoredDuplicate, first_difference, shown, stored};
use crate::verify::source::{Texts, piece};
use crate::verify::{Check, Collector, Duplicates, MissingIds, RowId};

/// Reads the next skipped games of a source that are in the sample, in the order of their texts. Reading
/// starts at the offset `from` in the source. `number` is the index, among all rows of the table, of the first row
/// at or after this offset.
pub(crate) fn read_skipped(
    check: &Check<'_>,
    connection: &Connection,
    source: StoredId<SourceId>,
    (from, mut number): (i64, u64),
) -> rusqlite::Result<Batch<StoredDuplicate, (i64, u64)>> {
    const AT_ONCE: usize = 1024;
    // Errors in the rows themselves are reported by the scan of all rows.
    let discarded = Collector::new(0);
    let columns = stored::columns::<StoredDuplicate>();
    let sql = format!(
        "SELECT {columns} FROM duplicate WHERE source_id = ?1 AND byte_offset >= ?2
         ORDER BY byte_offset LIMIT {AT_ONCE}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| stored::read(row, &discarded);
    let mut rows: Vec<StoredDuplicate> = read_rows(&mut statement, params![source, from], read)?;
    let next = rows.last().and_then(|last| last.byte_offset.checked_add(1));
    let next = next.map(|next| (next, number + rows.len() as u64));
    rows.retain(|row| {
        number += 1;
        check.options.sample.has(number - 1, check.duplicates.count) && row.is_skipped()
    });
    Ok((rows, next))
}

impl StoredDuplicate {
    fn row(&self) -> RowId {
        RowId::new([("source_id", self.source)]).and("byte_offset", self.byte_offset)
    }

    /// Whether the game was skipped, according to the row.
    fn is_skipped(&self) -> bool {
        matches!(self.kind.as_deref(), Some("same" | "moves" | "cut"))
    }
}

/// Scans pieces of the table `duplicate`. Each thread has its own scan.
pub(crate) struct DuplicateScan<'c> {
    check: &'c Check<'c>,
    texts: Texts<'c>,
    /// The number of rows checked: those in the sample.
    pub(crate) seen: u64,
}

impl<'c> DuplicateScan<'c> {
    pub(crate) fn new(check: &'c Check<'c>) -> Self {
        Self { check, texts: Texts::new(check), seen: 0 }
    }

    pub(crate) fn scan(&mut self, connection: &Connection, piece: usize) -> rusqlite::Result<()> {
        let Duplicates { count, ref starts, .. } = self.check.duplicates;
        let columns = stored::columns::<StoredDuplicate>();
        let sql = format!(
            "SELECT {columns} FROM duplicate WHERE (source_id, byte_offset) >= (?1, ?2)
             ORDER BY source_id, byte_offset LIMIT {}",
            Duplicates::PIECE
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(&starts[piece]))?;
        for index in piece as u64 * Duplicates::PIECE.. {
            let Some(row) = rows.next()? else { break };
            if self.check.progress.is_stopped() {
                break;
            }
            if self.check.options.sample.has(index, count) {
                let row = stored::read(row, &self.check.findings)?;
                self.row(connection, &row)?;
                self.seen += 1;
            }
        }
        Ok(())
    }

    fn row(&mut self, connection: &Connection, row: &StoredDuplicate) -> rusqlite::Result<()> {
        match row.kind.as_deref() {
            Some("prefix") => self.prefix(connection, row),
            _ if row.is_skipped() => self.skipped(connection, row),
            // The table's constraints exclude other kinds.
            _ => Ok(()),
        }
    }

    fn wrong(
        &self,
        row: &StoredDuplicate,
        column: &'static str,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) {
        let id = row.row();
        self.check.findings.wrong(WrongValue, "duplicate", id, column, expected, found);
    }

    /// Checks a game that was broken off, and the longer game that begins with its moves.
    fn prefix(&self, connection: &Connection, row: &StoredDuplicate) -> rusqlite::Result<()> {
        for (column, found) in [("line", row.line), ("game_number", row.game_number)] {
            if found.is_some() {
                self.wrong(row, column, "NULL", shown(found));
            }
        }
        let Some((game, original)) = row.game.zip(row.original) else {
            let column = if row.game.is_none() { "game_id" } else { "original_id" };
            self.wrong(row, column, "a row of game", "NULL");
            return Ok(());
        };
        const PLACE: &str = "SELECT 1 FROM game WHERE game_id = ?1
             AND NOT (source_id = ?2 AND byte_offset = ?3 AND byte_length = ?4)";
        let place = params![game, row.source, row.byte_offset, row.byte_length];
        if connection.prepare_cached(PLACE)?.exists(place)? {
            self.wrong(row, "game_id", "the game at this place of the source", game);
        }
        // Missing rows are reported elsewhere.
        const MOVES: &str = "SELECT 1 FROM game AS short JOIN game AS long ON long.game_id = ?2
             WHERE short.game_id = ?1 AND (
                 short.ply_count < ?3 OR short.ply_count >= long.ply_count
                 OR short.white_id IS NOT long.white_id OR short.black_id IS NOT long.black_id OR short.date IS NOT long.date
                 OR EXISTS (
                     SELECT 1 FROM game_position AS a LEFT JOIN game_position AS b ON b.game_id = ?2 AND b.ply = a.ply
                     WHERE a.game_id = ?1 AND (a.fen IS NOT b.fen OR a.move_code <> b.move_code)))";
        if connection.prepare_cached(MOVES)?.exists(params![game, original, PREFIX_PLIES as i64])? {
            let expected =
                format!("a game of the same players and date that begins with the moves of game {game}");
            self.wrong(row, "original_id", expected, original);
        }
        Ok(())
    }

    /// Checks a skipped game: its text, and whether it still equals its original.
    fn skipped(&mut self, connection: &Connection, row: &StoredDuplicate) -> rusqlite::Result<()> {
        if row.game.is_some() {
            self.wrong(row, "game_id", "NULL", shown(row.game));
        }
        for (column, found) in [("line", row.line), ("game_number", row.game_number)] {
            if found.is_none_or(|number| number < 1) {
                self.wrong(row, column, "a number from 1", shown(found));
            }
        }
        // If an original was removed and the duplicate's file cannot be read again, the duplicate remains
        // without an original.
        let is_like = matches!(row.kind.as_deref(), Some("same" | "moves"));
        if row.original.is_none() && is_like && self.check.gone != MissingIds::All {
            self.wrong(row, "original_id", "a row of game", "NULL");
        }
        let map = if self.check.options.sources { self.texts.open(row.source) } else { None };
        let Some(map) = map else { return Ok(()) };
        let range = piece(row.byte_offset, row.byte_length, map.bytes().len() as u64);
        let text = range.map(|range| &map.bytes()[range.start as usize..range.end as usize]);
        compare(self.check.reader(connection), &mut self.texts.reread, row, text)
    }
}

/// Compares the row of a skipped game, and the game's original, with the text of the game. `text` is `None`
/// if the row's byte range is not within the source.
pub(crate) fn compare(
    reader: Reader<'_>,
    reread: &mut SingleGameParser,
    row: &StoredDuplicate,
    text: Option<&[u8]>,
) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    let report = |column, expected: String, found: String| {
        let id = row.row();
        findings.wrong(SourceText, "duplicate", id, column, expected, found);
    };
    let read = text.and_then(|text| reread.read(text, Annotations::None));
    let Some(read) = read.filter(|read| text.is_some_and(|text| read.span() == (0, text.len() as u64)))
    else {
        report("byte_length", "the length of exactly one game".to_owned(), row.byte_length.to_string());
        return Ok(());
    };
    // Only the kinds `same` and `moves` have an original to compare with. For `same`, players, date and
    // result are compared too.
    let (Some(id), Some(kind @ ("same" | "moves"))) = (row.original, row.kind.as_deref()) else {
        return Ok(());
    };
    // A missing original is reported elsewhere.
    let Some(original) = original(connection, id)? else { return Ok(()) };
    let text_columns = columns(&read);
    let compared = if kind == "same" { text_columns.len() } else { COLUMNS_OF_MOVES };
    let differs = |index: &usize| text_columns[*index] != original[*index];
    if let Some(index) = (0..compared).find(differs) {
        let [value, found] = [&text_columns, &original].map(|columns| shown(columns[index].as_deref()));
        let column = COLUMNS[index];
        let expected = format!("a game whose {column} is {value}");
        report("original_id", expected, format!("{id}, whose {column} is {found}"));
    } else if kind == "moves" && read.codes().len() < MIN_PLIES_OF_MOVES as usize {
        let plies = read.codes().len();
        let found = format!("moves, of {plies} {}", if plies == 1 { "ply" } else { "plies" });
        report("kind", format!("at least {MIN_PLIES_OF_MOVES} plies"), found);
    } else if let Some(ply) = first_difference(connection, id, read.codes())? {
        let found = format!("{id}, which differs at ply {ply}");
        report("original_id", "a game with the same moves".to_owned(), found);
    }
    Ok(())
}

/// The columns that are compared in addition to the moves. For duplicates of the kind `moves`, only the first
/// `COLUMNS_OF_MOVES` of these columns are compared.
const COLUMNS: [&str; 6] = ["start_fen", "status", "white_id", "black_id", "date", "result"];
const COLUMNS_OF_MOVES: usize = 2;

/// The values of [`COLUMNS`] according to a text, with names instead of ids, and the start position without
/// counters.
fn columns(text: &GameText<'_>) -> [Option<String>; 6] {
    COLUMNS.map(|column| {
        let entry = text.columns().find(|&(index, _)| GameRow::COLUMNS[index] == column);
        let value = entry.and_then(|(_, cell)| cell.to_text());
        if column == "start_fen" { start(value.as_deref()) } else { value }
    })
}

/// The values of [`COLUMNS`] of a game in the database; `None` if there is no such game.
fn original(connection: &Connection, id: StoredId<GameId>) -> rusqlite::Result<Option<[Option<String>; 6]>> {
    const SQL: &str = "SELECT start_fen, status, (SELECT name FROM player WHERE player_id = white_id),
             (SELECT name FROM player WHERE player_id = black_id), date, result
         FROM game WHERE game_id = ?1";
    let read = |row: &Row<'_>| {
        let mut columns: [Option<String>; 6] = Default::default();
        for (index, column) in columns.iter_mut().enumerate() {
            *column = row.get(index)?;
        }
        columns[0] = start(columns[0].as_deref());
        Ok(columns)
    };
    connection.prepare_cached(SQL)?.query_row([id], read).optional()
}

/// A start position for comparison, without counters.
fn start(fen: Option<&str>) -> Option<String> {
    let Some(fen) = fen else { return Some(Position::start().canonical_fen()) };
    Position::from_fen(fen.as_bytes()).ok().map(|(position, _)| position.canonical_fen())
}
