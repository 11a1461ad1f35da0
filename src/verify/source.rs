//! Games held against the PGN text they were read from.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rusqlite::{Connection, OptionalExtension as _};

use super::finding::{Collector, Id, Kind, RowId};
use super::progress::Progress;
use super::replay::told;
use super::report::{SourceNote, SourceState};
use super::stored::{StoredGame, shown};
use crate::board::MoveCode;
use crate::index::Reread;
use crate::source::{self, Mapped};

/// A row of `source`.
#[derive(Debug)]
struct SourceRow {
    id: i64,
    path: String,
    bytes: Option<i64>,
    digest: Option<String>,
    state: OnceLock<SourceState>,
}

/// The sources, each looked at when the first of its games is, and no more than once.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// By id.
    rows: Vec<SourceRow>,
    notes: Mutex<Vec<SourceNote>>,
}

impl Sources {
    /// Reads the table `source`.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement =
            connection.prepare("SELECT source_id, path, bytes, digest FROM source ORDER BY source_id")?;
        let rows = statement.query_map([], |row| {
            let [id, bytes] = [0, 2].map(|column| row.get::<_, Option<i64>>(column));
            Ok(SourceRow {
                id: id?.unwrap_or_default(),
                path: row.get(1)?,
                bytes: bytes?,
                digest: row.get(3)?,
                state: OnceLock::new(),
            })
        })?;
        Ok(Self { rows: rows.collect::<rusqlite::Result<_>>()?, notes: Mutex::default() })
    }

    pub(super) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// What became of a source, by its place in the table. Reads all of it when asked first.
    pub(super) fn look_at(&self, index: usize, progress: &Progress) {
        self.rows[index].state(&self.notes, progress);
    }

    /// How many sources are as they were, how many are not, and the first notes on these.
    pub(super) fn outcome(self, limit: usize) -> (u64, u64, Vec<SourceNote>) {
        let states = self.rows.iter().filter_map(|row| row.state.get().copied());
        let (same, other): (Vec<SourceState>, Vec<_>) = states.partition(|state| state.has_games());
        let order = |note: &SourceNote| self.rows.iter().position(|row| row.path == note.path);
        let mut notes = self.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        notes.sort_by_cached_key(order);
        notes.truncate(limit);
        (same.len() as u64, other.len() as u64, notes)
    }
}

impl SourceRow {
    fn state(&self, notes: &Mutex<Vec<SourceNote>>, progress: &Progress) -> SourceState {
        *self.state.get_or_init(|| {
            let (state, message) = self.compare(progress);
            if !state.has_games() {
                let note = SourceNote { path: self.path.clone(), state, message };
                notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
            }
            state
        })
    }

    /// Holds size and digest against the file.
    fn compare(&self, progress: &Progress) -> (SourceState, String) {
        const BLOCK: usize = 1 << 20;
        let (Some(bytes), Some(digest)) = (self.bytes, &self.digest) else {
            return (SourceState::Unreadable, "was not read to its end when it was indexed".to_owned());
        };
        let map = match Mapped::open(Path::new(&self.path)) {
            Ok(map) => map,
            Err(source::Error::Missing { .. }) => {
                return (SourceState::Missing, "is no longer there".to_owned());
            }
            Err(error) => return (SourceState::Unreadable, error.full_message()),
        };
        let changed = || (SourceState::Changed, "has changed since it was indexed".to_owned());
        let Some(text) = usize::try_from(bytes).ok().and_then(|bytes| map.bytes().get(..bytes)) else {
            return changed();
        };
        let mut hasher = blake3::Hasher::new();
        for (index, block) in text.chunks(BLOCK).enumerate() {
            if progress.is_stopped() {
                break;
            }
            hasher.update(block);
            map.release(index * BLOCK..index * BLOCK + block.len());
        }
        if hasher.finalize().to_hex().as_str() != digest {
            return changed();
        }
        let grown = map.bytes().len() > text.len();
        (if grown { SourceState::Grown } else { SourceState::Same }, String::new())
    }
}

/// Reads games' texts again, and holds their rows against them; a thread has its own.
pub(super) struct Texts<'c> {
    sources: &'c Sources,
    findings: &'c Collector,
    progress: &'c Progress,
    /// The source that was read last, and its text if games can be held against it.
    open: Option<(i64, Option<Arc<Mapped>>)>,
    reread: Reread,
}

impl<'c> Texts<'c> {
    pub(super) fn new(sources: &'c Sources, findings: &'c Collector, progress: &'c Progress) -> Self {
        Self { sources, findings, progress, open: None, reread: Reread::default() }
    }

    /// Holds a game, with the moves that its rows tell, against its text. Gives back whether its text is there.
    pub(super) fn compare(
        &mut self,
        connection: &Connection,
        game: &StoredGame,
        codes: Option<&[MoveCode]>,
    ) -> rusqlite::Result<bool> {
        let Some(map) = self.open(game.source) else { return Ok(false) };
        let id = || RowId::of([("game_id", game.game)]);
        let range = usize::try_from(game.byte_offset).ok().zip(usize::try_from(game.byte_length).ok());
        let text = range.and_then(|(start, length)| map.bytes().get(start..start.checked_add(length)?));
        let Some(text) = text else {
            let (found, most) = (game.byte_offset.saturating_add(game.byte_length), map.bytes().len());
            let expected = format!("a place within the {most} bytes of its source");
            self.findings.wrong(Kind::SourceText, "game", id(), "byte_offset", expected, found);
            return Ok(true);
        };
        let Some(read) = self.reread.read(text) else {
            let found = format!("no game begins at byte {} of its source", game.byte_offset);
            self.findings.about(Kind::SourceText, "game", id(), found);
            return Ok(true);
        };
        if read.span() != (0, text.len() as u64) {
            let (offset, length) = read.span();
            let found = format!(
                "bytes {} to {} of its source are not one game: one stands at {}, {length} bytes long",
                game.byte_offset,
                game.byte_offset + game.byte_length,
                game.byte_offset.saturating_add_unsigned(offset),
            );
            self.findings.about(Kind::SourceText, "game", id(), found);
            return Ok(true);
        }
        let names = Names::of(connection, game)?;
        for (column, expected) in read.columns() {
            let found = stored_column(game, &names, column);
            if found != expected {
                let (expected, found) = (shown(expected), shown(found));
                self.findings.wrong(Kind::SourceText, "game", id(), column, expected, found);
            }
        }
        if let Some(codes) = codes {
            compare_moves(self.findings, game.game, read.codes(), codes);
        }
        compare_tags(self.findings, connection, game.game, read.tags())?;
        Ok(true)
    }

    /// The text of a source, if it is what it was.
    pub(super) fn open(&mut self, source: i64) -> Option<Arc<Mapped>> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != source) {
            let rows = &self.sources.rows;
            let row = rows.binary_search_by_key(&source, |row| row.id).ok().map(|index| &rows[index]);
            let row = row.filter(|row| row.state(&self.sources.notes, self.progress).has_games());
            let map = row.and_then(|row| Mapped::open(Path::new(&row.path)).ok()).map(Arc::new);
            self.open = Some((source, map));
        }
        self.open.as_ref()?.1.clone()
    }
}

/// The names that a game's row has by number.
struct Names {
    event: Option<String>,
    site: Option<String>,
    white: Option<String>,
    black: Option<String>,
}

impl Names {
    fn of(connection: &Connection, game: &StoredGame) -> rusqlite::Result<Self> {
        let name = |sql: &str, id: Option<i64>| {
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

/// What the database has for a column that [`Reread`] tells.
fn stored_column(game: &StoredGame, names: &Names, column: &str) -> Option<String> {
    match column {
        "event_id" => names.event.clone(),
        "site_id" => names.site.clone(),
        "white_id" => names.white.clone(),
        "black_id" => names.black.clone(),
        "white_elo" => game.white_elo.map(|elo| elo.to_string()),
        "black_elo" => game.black_elo.map(|elo| elo.to_string()),
        _ => game.text(column).map(str::to_owned),
    }
}

fn compare_moves(findings: &Collector, game: i64, expected: &[MoveCode], found: &[MoveCode]) {
    let same = expected.iter().zip(found).take_while(|(expected, found)| expected == found).count();
    if same == expected.len() && same == found.len() {
        return;
    }
    let told = |codes: &[MoveCode]| codes.get(same).map_or_else(|| "the end".to_owned(), |&code| told(code));
    let row = RowId::of([("game_id", game), ("ply", i64::try_from(same).unwrap_or(i64::MAX))]);
    let (expected, found) = (told(expected), told(found));
    findings.wrong(Kind::SourceText, "game_position", row, "move_code", expected, found);
}

fn compare_tags<'t>(
    findings: &Collector,
    connection: &Connection,
    game: i64,
    expected: impl Iterator<Item = (&'t str, &'t str)>,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("SELECT name, value FROM tag WHERE game_id = ?1 ORDER BY name")?;
    let stored =
        statement.query_map([game], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let mut stored: std::collections::BTreeMap<String, String> = stored.collect::<rusqlite::Result<_>>()?;
    let id = |name: &str| RowId(vec![("game_id", game.into()), ("name", Id::Text(name.to_owned()))]);
    for (name, value) in expected {
        match stored.remove(name) {
            Some(found) if found == value => {}
            found => findings.wrong(Kind::SourceText, "tag", id(name), "value", value, shown(found)),
        }
    }
    for (name, found) in stored {
        findings.wrong(Kind::SourceText, "tag", id(&name), "value", "no such tag", found);
    }
    Ok(())
}
