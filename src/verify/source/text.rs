//! Compares games with the PGN text they were read from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};

use crate::board::MoveCode;
use crate::id::{GameId, NameId, SourceId};
use crate::index::{Annotations, SingleGameParser};
use crate::source::Mapped;
use crate::store::row::virtual_table::Cell;
use crate::store::row::{StoredId, StoredRow as _};
use crate::verify::check::Check;
use crate::verify::finding::{Collector, FindingKind, RowId};
use crate::verify::rows::problems::Problems;
use crate::verify::rows::replay::describe_move;
use crate::verify::rows::side_rows;
use crate::verify::rows::stored::{StoredGame, shown};

/// Reads games' texts in plain files again, and compares them with the rows of the games. Each thread has its
/// own `Texts`.
pub(crate) struct Texts<'c> {
    check: &'c Check<'c>,
    /// The last source read, and its text if games can be compared with it.
    open: Option<(StoredId<SourceId>, Option<Arc<Mapped>>)>,
    reread: SingleGameParser,
}

impl<'c> Texts<'c> {
    pub(crate) fn new(check: &'c Check<'c>) -> Self {
        Self { check, open: None, reread: SingleGameParser::default() }
    }

    /// Compares a game, with the moves in its rows, with its text. Returns whether the game was compared: its
    /// source must be an unchanged plain file.
    pub(crate) fn compare(
        &mut self,
        connection: &Connection,
        game: &StoredGame,
        codes: Option<&[MoveCode]>,
    ) -> rusqlite::Result<bool> {
        let Some(map) = self.open(game.source) else { return Ok(false) };
        let findings = &self.check.findings;
        let bytes = map.bytes();
        match piece(game.byte_offset, game.byte_length, bytes.len() as u64) {
            Some(range) => {
                let text = &bytes[range.start as usize..range.end as usize];
                let codes = |_: &_, _: &_| Ok(codes.map(Cow::Borrowed));
                let problems = &self.check.problems;
                let text = (text, self.check.sources.annotations(game));
                compare_game(findings, connection, problems, &mut self.reread, game, text, codes)?;
            }
            None => report_misplaced(findings, game, bytes.len() as u64),
        }
        Ok(true)
    }

    /// The text of a source that is an unchanged plain file.
    pub(crate) fn open(&mut self, source: StoredId<SourceId>) -> Option<Arc<Mapped>> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != source) {
            self.open = Some((source, self.check.sources.map(source, self.check.progress)));
        }
        self.open.as_ref()?.1.clone()
    }
}

/// The range of a part with an offset and a length, in a source of `bytes` bytes, if it is valid.
pub(crate) fn piece(offset: i64, length: i64, bytes: u64) -> Option<Range<u64>> {
    let (offset, length) = u64::try_from(offset).ok().zip(u64::try_from(length).ok())?;
    Some(offset..offset.checked_add(length)?).filter(|range| range.end <= bytes)
}

/// Reports that a game's text is not within its source of `bytes` bytes.
pub(crate) fn report_misplaced(findings: &Collector, game: &StoredGame, bytes: u64) {
    let found = game.byte_offset.saturating_add(game.byte_length);
    let expected = format!("a place within the {bytes} bytes of its source");
    let id = RowId::game(game.game);
    findings.wrong(FindingKind::SourceText, "game", id, "byte_offset", expected, found);
}

/// Compares a stored game and its stored problems with what a run with this setting of `annotations` would
/// store for the game's text. `codes` is called with the moves read from the text, and returns the moves in
/// the game's rows, if known.
pub(crate) fn compare_game<'m>(
    findings: &Collector,
    connection: &Connection,
    problems: &Problems,
    reread: &mut SingleGameParser,
    game: &StoredGame,
    (text, annotations): (&[u8], Annotations),
    codes: impl FnOnce(&Connection, &[MoveCode]) -> rusqlite::Result<Option<Cow<'m, [MoveCode]>>>,
) -> rusqlite::Result<()> {
    let id = || RowId::game(game.game);
    let Some(read) = reread.read(text, annotations) else {
        let found = format!("no game begins at byte {} of its source", game.byte_offset);
        findings.about(FindingKind::SourceText, "game", id(), found);
        return Ok(());
    };
    if read.span() != (0, text.len() as u64) {
        let (offset, length) = read.span();
        let found = format!(
            "bytes {} to {} of its source are not one game: there is one at {}, {length} bytes long",
            game.byte_offset,
            game.byte_offset + game.byte_length,
            game.byte_offset.saturating_add_unsigned(offset),
        );
        findings.about(FindingKind::SourceText, "game", id(), found);
        return Ok(());
    }
    let names = Names::of(connection, game)?;
    for (index, expected) in read.columns() {
        let (column, found) = (StoredGame::COLUMNS[index], stored_column(game, &names, index));
        if found != Some(expected) {
            let text = |cell: Cell<'_>| match cell {
                // The column has the number of the name.
                Cell::Text(name) if column.ends_with("_id") => Some(format!("the number of '{name}'")),
                _ => cell.to_text(),
            };
            let (expected, found) = (shown(text(expected)), shown(found.and_then(text)));
            findings.wrong(FindingKind::SourceText, "game", id(), column, expected, found);
        }
    }
    if let Some(codes) = codes(connection, read.codes())? {
        compare_moves(findings, game.game, read.codes(), &codes);
    }
    side_rows::compare(findings, connection, game.game, &read)?;
    problems.compare(findings, connection, game, read.problems())
}

/// The names that a game's row refers to.
struct Names {
    event: Option<String>,
    site: Option<String>,
    white: Option<String>,
    black: Option<String>,
}

impl Names {
    fn of(connection: &Connection, game: &StoredGame) -> rusqlite::Result<Self> {
        let name = |sql: &str, id: Option<StoredId<NameId>>| {
            let Some(id) = id else { return Ok(None) };
            connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()
        };
        const PLAYER: &str = "SELECT name FROM player WHERE player_id = ?1";
        Ok(Self {
            event: name("SELECT name FROM event WHERE event_id = ?1", game.event)?,
            site: name("SELECT name FROM site WHERE site_id = ?1", game.site)?,
            white: name(PLAYER, game.white)?,
            black: name(PLAYER, game.black)?,
        })
    }
}

/// The stored value of a column, with names instead of numbers, as in [`SingleGameParser`].
fn stored_column<'g>(game: &'g StoredGame, names: &'g Names, index: usize) -> Option<Cell<'g>> {
    let name = match StoredGame::COLUMNS[index] {
        "event_id" => &names.event,
        "site_id" => &names.site,
        "white_id" => &names.white,
        "black_id" => &names.black,
        _ => return game.cell(index),
    };
    Some(name.as_deref().map_or(Cell::Null, Cell::Text))
}

fn compare_moves(findings: &Collector, game: StoredId<GameId>, expected: &[MoveCode], found: &[MoveCode]) {
    let same = expected.iter().zip(found).take_while(|(expected, found)| expected == found).count();
    if same == expected.len() && same == found.len() {
        return;
    }
    let describe_move = |codes: &[MoveCode]| {
        codes.get(same).map_or_else(|| "the end".to_owned(), |&code| describe_move(code))
    };
    let row = RowId::position(game, i64::try_from(same).unwrap_or(i64::MAX).into());
    let (expected, found) = (describe_move(expected), describe_move(found));
    findings.wrong(FindingKind::SourceText, "game_position", row, "move_code", expected, found);
}
