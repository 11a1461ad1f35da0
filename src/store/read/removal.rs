//! Queries for the removal of games. The check of counts also runs before games are added.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::id::{GameId, ImportId, SourceId};
use crate::sorted::sort_by_key;
use crate::store::cell::{DUPLICATE, GAME, IMPORT, SOURCE};
use crate::store::read::source::GIVEN_ENCODING;
use crate::store::{Database, ErrorKind, GameSet, Result, Snapshot};

/// A reading of a file in which games were skipped as duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedSource {
    /// The id of the reading.
    pub id: SourceId,
    /// The path of the file.
    pub path: PathBuf,
    /// Length in bytes and digest of the text; `None` if the file was not read to its end.
    pub text: Option<(u64, String)>,
    /// The run that read the file.
    pub import: ImportId,
    /// The options of the run that read the file: a JSON object. Empty if the table `import` has no row for
    /// the run.
    pub options: String,
    /// The name of the text's encoding, as given to the run that read its beginning; `None` if none was given.
    pub encoding: Option<String>,
    /// The games that [`Snapshot::skipped_duplicates`] found, in the order of their offsets.
    pub games: Vec<SkippedDuplicate>,
}

/// A game that was skipped as a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedDuplicate {
    /// The offset of the game's text, in bytes.
    pub byte_offset: u64,
    /// The length of the text, in bytes.
    pub byte_length: u64,
    /// The line in which the text begins, from 1.
    pub line: u64,
    /// The number of the game in the source, counted from 1.
    pub game_number: u32,
}

impl Snapshot {
    /// The games that were skipped as duplicates of `originals`, grouped by source. Omits the sources in
    /// `gone`, which are about to be removed.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn skipped_duplicates(&self, originals: &GameSet, gone: &[SourceId]) -> Result<Vec<SkippedSource>> {
        let read = || -> rusqlite::Result<Vec<SkippedSource>> {
            let mut found: HashMap<SourceId, Vec<SkippedDuplicate>> = HashMap::new();
            let mut statement = self.connection().prepare(
                "SELECT source_id, byte_offset, byte_length, line, game_number FROM duplicate
                 WHERE original_id = ?1 AND game_id IS NULL",
            )?;
            for original in originals.iter() {
                DUPLICATE.walk(statement.query([original.0])?, &mut |cells| {
                    let game = SkippedDuplicate {
                        byte_offset: cells.get("byte_offset")?,
                        byte_length: cells.get("byte_length")?,
                        line: cells.get("line")?,
                        game_number: cells.get("game_number")?,
                    };
                    found.entry(cells.get("source_id")?).or_default().push(game);
                    Ok(true)
                })?;
            }
            gone.iter().for_each(|source| _ = found.remove(source));
            let mut sources = Vec::with_capacity(found.len());
            for (id, mut games) in found {
                sort_by_key(&mut games, |game| game.byte_offset);
                sources.extend(skipped_source(self.connection(), id, games)?);
            }
            sort_by_key(&mut sources, |source| source.id);
            Ok(sources)
        };
        read().map_err(|source| self.failed(source))
    }

    /// The total number of half-moves of `games`. An id without a game counts as 0.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn plies_of(&self, games: &GameSet) -> Result<u64> {
        let sum = || -> rusqlite::Result<u64> {
            let mut statement = self.connection().prepare("SELECT ply_count FROM game WHERE game_id = ?1")?;
            let plies = |game: GameId| statement.query_row([game.0], |row| row.get::<_, u32>(0)).optional();
            games.iter().map(plies).try_fold(0, |sum, plies| Ok(sum + u64::from(plies?.unwrap_or(0))))
        };
        sum().map_err(|source| self.failed(source))
    }

    /// Fails if the counts of games in the rows of `source`, or those in the rows of `import`, do not add up to
    /// the number of games. Also fails if the database [has orphans](Self::has_orphans). In all these cases,
    /// somebody has changed rows through SQL.
    ///
    /// # Errors
    /// [`ErrorKind::CountsDiffer`]; errors of SQLite.
    pub fn check_counts(&self) -> Result<()> {
        let sql = "SELECT (SELECT count(*) FROM game), (SELECT CAST(total(games) AS INTEGER) FROM source),
             (SELECT CAST(total(games) AS INTEGER) FROM import)";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (games, of_sources, of_runs): (i64, i64, i64) =
            self.connection().query_row(sql, [], read).map_err(|source| self.failed(source))?;
        if games == of_sources && games == of_runs && !self.has_orphans()? {
            return Ok(());
        }
        let counted = if games == of_sources { of_runs } else { of_sources };
        Err(ErrorKind::CountsDiffer { games, counted }.at(self.path()))
    }
}

fn skipped_source(
    connection: &Connection,
    id: SourceId,
    games: Vec<SkippedDuplicate>,
) -> rusqlite::Result<Option<SkippedSource>> {
    let sql = "SELECT source_id, path, bytes, digest, import_id FROM source WHERE source_id = ?1";
    let found = SOURCE.first(connection, sql, [id.0], |cells| {
        let text = cells.get::<Option<u64>>("bytes")?.zip(cells.get("digest")?);
        Ok((cells.get("path")?, text, cells.get::<ImportId>("import_id")?))
    });
    let Some((path, text, import)) = found? else { return Ok(None) };
    let sql = "SELECT import_id, options FROM import WHERE import_id = ?1";
    let options =
        IMPORT.first(connection, sql, [import.0], |cells| cells.get("options"))?.unwrap_or_default();
    let sql = format!(
        "SELECT {GIVEN_ENCODING} FROM source WHERE path = (SELECT path FROM source WHERE source_id = ?1)
             AND source_id <= ?1 AND first_byte = 0 ORDER BY source_id DESC LIMIT 1"
    );
    let encoding = SOURCE.first(connection, &sql, [id.0], |cells| cells.get(0))?.flatten();
    Ok(Some(SkippedSource { id, path, text, import, options, encoding, games }))
}

impl Database {
    /// The number of removed games whose files are still sources of the database. Games that were removed with
    /// their whole file are not counted.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn removed_games(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM removed_game";
        let counted = self.connection().query_row(sql, [], |row| row.get(0).map(i64::cast_unsigned));
        counted.map_err(self.failed("read table removed_game"))
    }

    /// The games that were read from these sources.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn games_of_sources(&self, sources: &[SourceId]) -> Result<GameSet> {
        let ids = serde_json::json!(sources).to_string();
        let sql = "SELECT game_id FROM game WHERE source_id IN (SELECT value FROM json_each(?1))";
        let games = self.all("read table game", GAME, sql, [ids], |cells| cells.get(0))?;
        Ok(games.into_iter().collect())
    }

    /// Whether a game exists.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_game(&self, game: GameId) -> Result<bool> {
        let query = self.connection().prepare_cached("SELECT 1 FROM game WHERE game_id = ?1");
        query.and_then(|mut query| query.exists([game.0])).map_err(self.failed("read table game"))
    }

    /// Rewrites the file without unused pages.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn vacuum(&self) -> Result<()> {
        let failed = self.failed("rewrite the file without free pages");
        self.connection().execute_batch("VACUUM").map_err(failed)
    }
}
