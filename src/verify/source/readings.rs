//! The files that games were read from, and whether their texts have changed since then.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::id::{GameId, ImportId, SourceId};
use crate::index::Annotations;
use crate::parallel::lock;
use crate::sorted::sort_by_key;
use crate::source::{self, Finder, Mapped, SourceFile, TextEncoding};
use crate::store::row::StoredId;
use crate::store::{Cells, GIVEN_ENCODING, SOURCE, read_rows};
use crate::verify::rows::{StoredGame, for_each_row};
use crate::verify::{Progress, SourceNote, SourceState};

/// A row of `source`: one reading of a file.
#[derive(Debug)]
pub(crate) struct SourceRow {
    pub(crate) id: StoredId<SourceId>,
    /// The size in bytes and the digest of the text up to the end of this reading; `None` if the text was not
    /// read completely.
    pub(crate) text: Option<(u64, String)>,
}

/// Readings of a file, each of which continues the text of the previous one.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    path: PathBuf,
    encoding: Option<TextEncoding>,
    pub(crate) rows: Vec<SourceRow>,
    file: OnceLock<Result<SourceFile, Verdict>>,
    /// For each row, the state of its text, once it is known.
    verdicts: OnceLock<Vec<Verdict>>,
}

/// The state of a reading's text, and an explanation if games cannot be compared with it.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) state: SourceState,
    message: String,
}

impl Verdict {
    fn changed() -> Self {
        Self { state: SourceState::Changed, message: "the file has changed since it was indexed".to_owned() }
    }

    fn unread() -> Self {
        let message = "the file could not be read to its end when it was indexed".to_owned();
        Self { state: SourceState::Unreadable, message }
    }

    fn of(error: &source::Error) -> Self {
        match error {
            source::Error::Missing { path } => {
                let message = if path.as_os_str() == "-" {
                    "standard input cannot be read again"
                } else if path.exists() {
                    "not a regular file"
                } else {
                    "the file no longer exists"
                };
                Self { state: SourceState::Missing, message: message.to_owned() }
            }
            // The file could be decoded when it was indexed, so it has changed.
            source::Error::Form { .. } | source::Error::NoMember { .. } => Self::changed(),
            _ => Self { state: SourceState::Unreadable, message: error.full_message() },
        }
    }
}

/// Which annotations each run stored, according to its options. Omits runs whose options do not contain a
/// valid value.
fn annotations(connection: &Connection) -> rusqlite::Result<HashMap<StoredId<ImportId>, Annotations>> {
    let sql = "SELECT import_id, CASE WHEN json_valid(options) THEN json_extract(options, '$.annotations') END FROM import";
    let mut runs = HashMap::new();
    for_each_row(connection, sql, [], &mut |row| {
        let kept = row.get_ref(1)?.as_str_or_null().ok().flatten().and_then(Annotations::parse);
        if let Some(kept) = kept {
            runs.insert(row.get(0)?, kept);
        }
        Ok(())
    })?;
    Ok(runs)
}

/// The first and the last game of each source.
type GameRanges = HashMap<StoredId<SourceId>, [StoredId<GameId>; 2]>;

/// The sources. Each file is checked only once, when its state is first needed.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) chains: Vec<Chain>,
    /// For each source, the index of its chain in `chains`, and the index of its row in this chain.
    places: HashMap<StoredId<SourceId>, (usize, usize)>,
    /// Finds the files of the sources.
    pub(crate) finder: Finder,
    /// Which annotations each run stored.
    annotations: HashMap<StoredId<ImportId>, Annotations>,
    /// The first and the last game of each source, read when first needed.
    games: Mutex<Option<GameRanges>>,
}

impl Sources {
    /// Reads the table `source`.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut sources = Self { annotations: annotations(connection)?, ..Self::default() };
        let mut latest: HashMap<PathBuf, usize> = HashMap::new();
        let sql = format!(
            "SELECT source_id, path, first_byte, bytes, digest, {GIVEN_ENCODING} FROM source ORDER BY source_id"
        );
        for_each_row(connection, &sql, [], &mut |row| {
            let cells = Cells::new(row, SOURCE);
            let (id, path, bytes): (_, PathBuf, Option<i64>) = (cells.get(0)?, cells.get(1)?, cells.get(3)?);
            let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
            let is_first = row.get_ref(2)? == ValueRef::Integer(0);
            let begun = latest.get(&path).copied().filter(|_| !is_first);
            let encoding = row.get_ref(5)?.as_str_or_null().ok().flatten().and_then(TextEncoding::parse);
            let chain = begun.unwrap_or_else(|| {
                sources.chains.push(Chain { path: path.clone(), encoding, ..Chain::default() });
                sources.chains.len() - 1
            });
            latest.insert(path, chain);
            let rows = &mut sources.chains[chain].rows;
            sources.places.insert(id, (chain, rows.len()));
            rows.push(SourceRow { id, text: bytes.zip(cells.get(4)?) });
            Ok(())
        })?;
        Ok(sources)
    }

    /// Which annotations were stored by the run that read this game.
    pub(crate) fn annotations(&self, game: &StoredGame) -> Annotations {
        self.annotations.get(&game.import).copied().unwrap_or(Annotations::None)
    }

    /// The text of a source that is a plain file, and that is unchanged or has only grown; `None` for other
    /// sources.
    pub(super) fn map(&self, source: StoredId<SourceId>, progress: &Progress) -> Option<Arc<Mapped>> {
        let &(chain, row) = self.places.get(&source)?;
        let chain = &self.chains[chain];
        let file = chain.file(&self.finder).ok().filter(|file| file.is_plain())?;
        let has_games = chain.check_file(&self.finder, progress)[row].state.has_games();
        has_games.then(|| Mapped::open(&file.path).ok())?.map(Arc::new)
    }

    /// The first and the last game of a source; `None` if it has no games.
    pub(crate) fn games(
        &self,
        source: StoredId<SourceId>,
        connection: &Connection,
    ) -> rusqlite::Result<Option<[StoredId<GameId>; 2]>> {
        let mut all = lock(&self.games);
        if all.is_none() {
            let sql = "SELECT source_id, min(game_id), max(game_id) FROM game GROUP BY source_id";
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, [row.get(1)?, row.get(2)?]));
            *all = Some(read_rows(&mut connection.prepare(sql)?, [], read)?.into_iter().collect());
        }
        Ok(all.as_ref().and_then(|games| games.get(&source)).copied())
    }

    /// The number of sources that are unchanged or have grown, the number of other sources, and notes on at
    /// most `limit` of the other sources.
    pub(crate) fn outcome(self, limit: usize) -> (u64, u64, Vec<SourceNote>) {
        let (mut same, mut others) = (0, Vec::new());
        for Chain { path, rows, verdicts, .. } in self.chains {
            for (row, Verdict { state, message }) in
                rows.into_iter().zip(verdicts.into_inner().into_iter().flatten())
            {
                if state.has_games() {
                    same += 1;
                } else {
                    others.push((row.id, SourceNote { path: path.clone(), state, message }));
                }
            }
        }
        let other = others.len() as u64;
        sort_by_key(&mut others, |&(id, _)| id);
        (same, other, others.into_iter().take(limit).map(|(_, note)| note).collect())
    }
}

impl Chain {
    /// The file, if it can be found.
    fn file(&self, finder: &Finder) -> Result<&SourceFile, &Verdict> {
        let find = || match finder.find(&self.path) {
            Ok(file) => Ok(file.in_encoding(self.encoding)),
            Err(error) => Err(Verdict::of(&error)),
        };
        self.file.get_or_init(find).as_ref()
    }

    /// The file, if it must be decoded.
    pub(crate) fn packed(&self, finder: &Finder) -> Option<&SourceFile> {
        self.file(finder).ok().filter(|file| !file.is_plain())
    }

    /// The state of each reading of a file that is plain or cannot be found. The first call reads as much of
    /// the file as needed.
    pub(crate) fn check_file(&self, finder: &Finder, progress: &Progress) -> &[Verdict] {
        self.verdicts.get_or_init(|| {
            let map = self
                .file(finder)
                .map_err(Verdict::clone)
                .and_then(|file| Mapped::open(&file.path).map_err(|error| Verdict::of(&error)));
            match map {
                Ok(map) => self.read_plain(&map, progress),
                Err(verdict) => vec![verdict; self.rows.len()],
            }
        })
    }

    /// Sets the state of each reading of a file that was decoded, or that cannot be decoded.
    pub(crate) fn set_verdicts(&self, verdicts: Result<Vec<Verdict>, source::Error>) -> &[Verdict] {
        let of = |row: &SourceRow, error: &source::Error| match Verdict::of(error) {
            Verdict { state: SourceState::Changed, .. } if row.text.is_none() => Verdict::unread(),
            verdict => verdict,
        };
        let all = |error| self.rows.iter().map(|row| of(row, &error)).collect();
        self.verdicts.get_or_init(|| verdicts.unwrap_or_else(all))
    }

    fn read_plain(&self, map: &Mapped, progress: &Progress) -> Vec<Verdict> {
        const PIECE: usize = 1 << 20;
        let mut marks = Marks::new(&self.rows);
        for (index, piece) in map.bytes().chunks(PIECE).enumerate() {
            if marks.is_done() || progress.is_stopped() {
                break;
            }
            marks.pass(piece);
            map.release(index * PIECE..index * PIECE + piece.len());
        }
        marks.verdicts()
    }
}

/// Compares sizes and digests of readings with a text that arrives in pieces.
#[derive(Debug)]
pub(crate) struct Marks<'r> {
    rows: &'r [SourceRow],
    /// The sizes and digests that are not yet compared, each with the index of its row; the smallest size is
    /// last.
    left: Vec<(&'r (u64, String), usize)>,
    hasher: blake3::Hasher,
    bytes: u64,
    /// For each row, whether its text is unchanged.
    is_same: Vec<bool>,
}

impl<'r> Marks<'r> {
    pub(crate) fn new(rows: &'r [SourceRow]) -> Self {
        let texts = rows.iter().zip(0..).filter_map(|(row, index)| Some((row.text.as_ref()?, index)));
        let mut left: Vec<_> = texts.collect();
        sort_by_key(&mut left, |&((bytes, _), _)| std::cmp::Reverse(*bytes));
        let (hasher, is_same) = (blake3::Hasher::new(), vec![false; rows.len()]);
        let mut marks = Self { rows, left, hasher, bytes: 0, is_same };
        marks.pass(b"");
        marks
    }

    /// Processes the next piece of text.
    pub(crate) fn pass(&mut self, mut text: &[u8]) {
        while let Some(&((mark, digest), row)) = self.left.last() {
            let before = usize::try_from(mark - self.bytes).unwrap_or(usize::MAX).min(text.len());
            self.hasher.update(&text[..before]);
            self.bytes += before as u64;
            text = &text[before..];
            if self.bytes < *mark {
                return;
            }
            self.is_same[row] = self.hasher.finalize().to_hex().as_str() == digest;
            self.left.pop();
        }
        self.bytes += text.len() as u64;
    }

    /// Whether the result is final: more text cannot change it.
    pub(crate) fn is_done(&self) -> bool {
        let longest = self.rows.iter().filter_map(|row| row.text.as_ref()).map(|(bytes, _)| *bytes).max();
        self.left.is_empty() && longest.is_none_or(|longest| self.bytes > longest)
    }

    /// The result for each row.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |(row, is_same): (&SourceRow, &bool)| match &row.text {
            None => Verdict::unread(),
            Some((bytes, _)) if *is_same => {
                let state = if self.bytes > *bytes { SourceState::Grown } else { SourceState::Same };
                Verdict { state, message: String::new() }
            }
            Some(_) => Verdict::changed(),
        };
        self.rows.iter().zip(&self.is_same).map(verdict).collect()
    }
}
