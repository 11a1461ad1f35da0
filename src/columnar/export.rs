//! Exports a database, or some of its games, as Parquet files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};
use rusqlite::types::{FromSqlError, Type, ValueRef};
use rusqlite::{Row, named_params};

use super::error::Result;
use super::game::{Game, PartitionBy};
use super::moves::EncodedMoves;
use super::output::{Output, Totals, WrittenBy};
use super::schema::{
    COMMAND, COMMENT, Column, ColumnType, GAME, MOVE_EVAL, NAG, PROBLEM, SOURCE, TAG, Table, VARIATION,
    VARIATION_MOVE,
};
use super::writer::{WriteOptions, Writer, file_bytes};
use crate::board::{GameResult, MoveCode, Position};
use crate::id::GameId;
use crate::parallel;
use crate::store::row::virtual_table::Cell;
use crate::store::{self, Database, Error, ErrorKind, GameSet, Need};

const ACTION: &str = "read games";

/// What to export, and how.
#[derive(Clone, Debug)]
pub struct ExportOptions<'e> {
    /// The directory.
    pub directory: PathBuf,
    /// The number of the shard, which becomes the upper half of each `game_id`.
    pub shard: u32,
    /// The part of the date by which games are partitioned into directories.
    pub partition_by: PartitionBy,
    /// Whether existing files of this shard may be replaced.
    pub overwrite: bool,
    /// The games; `None` for all games.
    pub games: Option<&'e GameSet>,
    /// The number of worker threads; 0 for one per processor.
    pub threads: usize,
    /// The memory limit, in bytes. Three quarters of it are for sorting positions.
    pub memory: u64,
    /// The directory of temporary files; `None` for the output directory.
    pub temp_dir: Option<&'e Path>,
}

/// The progress of an export, for other threads to read, and a way to stop it.
#[derive(Debug, Default)]
pub struct ExportProgress {
    games: AtomicU64,
    plies: AtomicU64,
    is_sorting: AtomicBool,
    is_stopped: AtomicBool,
}

impl ExportProgress {
    /// The number of games read so far.
    pub fn games(&self) -> u64 {
        self.games.load(Ordering::Relaxed)
    }

    /// The number of moves of the games read so far.
    pub fn plies(&self) -> u64 {
        self.plies.load(Ordering::Relaxed)
    }

    /// Whether all games are read, and their positions are being sorted and written.
    pub fn is_sorting(&self) -> bool {
        self.is_sorting.load(Ordering::Relaxed)
    }

    /// Asks the export to stop soon. It then leaves no files behind.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the export was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// Writes a database, or some of its games, as Parquet files.
///
/// # Errors
/// If the database cannot be read, the files cannot be written, or the export is
/// [stopped](ExportProgress::stop).
pub fn export(database: &Database, options: &ExportOptions<'_>, progress: &ExportProgress) -> Result<Totals> {
    write(database, options, progress).map_err(|error| match error {
        super::Error::Store(error) => super::Error::Store(error.needing(need(database, options.games))),
        other => other,
    })
}

/// The space that the files need, if known.
fn need(database: &Database, games: Option<&GameSet>) -> Option<Need> {
    const SQL: &str = "SELECT (SELECT count(*) FROM game), (SELECT sum(positions) FROM import)";
    let counts = database.connection().query_row(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)));
    let (all, positions): (i64, i64) = counts.ok()?;
    let (all, positions) = (u64::try_from(all).ok()?, u64::try_from(positions).ok()?);
    let games = games.map_or(all, GameSet::len);
    // The chosen games are assumed to have average length.
    let plies = u128::from(positions) * u128::from(games) / u128::from(all.max(1));
    Some(Need::About(file_bytes(games, u64::try_from(plies).unwrap_or(u64::MAX))))
}

fn write(database: &Database, options: &ExportOptions<'_>, progress: &ExportProgress) -> Result<Totals> {
    let is_stopped = &|| progress.is_stopped();
    let output = Output::create(&options.directory, options.shard, options.overwrite)?;
    let temp_dir = options.temp_dir.unwrap_or(&options.directory);
    let write = WriteOptions {
        partition_by: options.partition_by,
        continuation_threshold: database.continuation_threshold()?,
        by_key: WrittenBy::Run,
        memory: options.memory / 4 * 3,
        temp_dir: temp_dir.to_owned(),
    };
    let pool = ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|error| Error::io(temp_dir, "start threads", std::io::Error::other(error)))?;
    let mut writer = Writer::new(output, write, is_stopped)?;
    // All tables are read from one snapshot.
    let snapshot = database.connection().unchecked_transaction().map_err(failed(database))?;
    let last = database.last_game()?.unwrap_or_default();
    let mut export = Export { database, writer: &mut writer, pool: &pool, is_stopped };
    let ranges = Ranges { games: options.games, next: 1, last: last.0 };
    for (first, last) in ranges {
        if is_stopped() {
            return Err(Error::Interrupted.into());
        }
        let (games, plies) = export.range(first, last, options.games)?;
        progress.games.fetch_add(games, Ordering::Relaxed);
        progress.plies.fetch_add(plies, Ordering::Relaxed);
    }
    export.whole(&SOURCE, "source", None)?;
    export.whole(&PROBLEM, "problem", options.games)?;
    drop(snapshot);
    progress.is_sorting.store(true, Ordering::Relaxed);
    writer.write_positions(&pool)?;
    Ok(writer.finish()?)
}

fn failed(database: &Database) -> impl Fn(rusqlite::Error) -> Error {
    |source| Error::sqlite(database.path(), ACTION, source)
}

/// Ranges of game numbers without long gaps between the chosen games.
struct Ranges<'r> {
    games: Option<&'r GameSet>,
    next: u32,
    last: u32,
}

impl Iterator for Ranges<'_> {
    type Item = (GameId, GameId);

    fn next(&mut self) -> Option<(GameId, GameId)> {
        const MOST: u32 = 2048;
        const GAP: u32 = 16;
        let is_chosen = |id: u32| self.games.is_none_or(|games| games.contains(GameId(id)));
        let end = |first: u32| self.last.min(first.saturating_add(MOST - 1));
        // Long ranges without games are skipped.
        while self.next <= self.last
            && self.games.is_some_and(|games| !games.has_any(GameId(self.next)..=GameId(end(self.next))))
        {
            self.next = end(self.next).checked_add(1)?;
        }
        let first = (self.next..=self.last).find(|&id| is_chosen(id))?;
        let (mut last, mut id) = (first, first);
        while id < end(first) && id - last < GAP {
            id += 1;
            if is_chosen(id) {
                last = id;
            }
        }
        self.next = last.saturating_add(1);
        Some((GameId(first), GameId(last)))
    }
}

struct Export<'x, 'w> {
    database: &'x Database,
    writer: &'x mut Writer<'w>,
    pool: &'x ThreadPool,
    is_stopped: &'x (dyn Fn() -> bool + Sync),
}

/// The tables whose rows belong to games, except the positions.
static OF_GAMES: [&Table; 7] = [&TAG, &MOVE_EVAL, &COMMENT, &NAG, &COMMAND, &VARIATION, &VARIATION_MOVE];

impl Export<'_, '_> {
    /// Passes the games of a range to the writer. Returns the numbers of games and plies.
    fn range(&mut self, first: GameId, last: GameId, chosen: Option<&GameSet>) -> store::Result<(u64, u64)> {
        let is_chosen = |game: GameId| chosen.is_none_or(|games| games.contains(game));
        let starts = self.games(first, last, &is_chosen)?;
        for table in OF_GAMES {
            let columns: Vec<String> =
                table.columns.iter().map(|column| Self::column(table, column)).collect();
            let sql = format!(
                "SELECT {} FROM {} WHERE game_id BETWEEN :first AND :last ORDER BY {}",
                columns.join(", "),
                table.name,
                (1..=table.sorted_by).map(|column| column.to_string()).collect::<Vec<_>>().join(", ")
            );
            let writer = &mut *self.writer;
            for_each(
                self.database,
                &sql,
                (first, last),
                |row| {
                    let game = game_of(row, 0)?;
                    Ok(if is_chosen(game) { Some((game, cells(row, table)?)) } else { None })
                },
                |(game, cells)| writer.add_row(table, Some(game), cells.iter().map(Owned::cell)),
            )?;
        }
        self.moves(starts, first, last)
    }

    /// Passes rows of `game` to the writer. Returns the start positions.
    fn games(
        &mut self,
        first: GameId,
        last: GameId,
        is_chosen: &dyn Fn(GameId) -> bool,
    ) -> store::Result<BTreeMap<GameId, Option<String>>> {
        let columns: Vec<String> = GAME.columns.iter().map(|column| Self::column(&GAME, column)).collect();
        let sql = format!(
            "SELECT {} FROM game
             LEFT JOIN player AS white ON white.player_id = game.white_id
             LEFT JOIN player AS black ON black.player_id = game.black_id
             LEFT JOIN event ON event.event_id = game.event_id
             LEFT JOIN site ON site.site_id = game.site_id
             LEFT JOIN opening ON opening.opening_id = game.opening_id
             WHERE game.game_id BETWEEN :first AND :last ORDER BY game.game_id",
            columns.join(", ")
        );
        let mut starts = BTreeMap::new();
        let writer = &mut *self.writer;
        for_each(
            self.database,
            &sql,
            (first, last),
            |row| {
                let game = game_of(row, 0)?;
                if !is_chosen(game) {
                    return Ok(None);
                }
                let text = |column: &str| row.get::<_, Option<String>>(index_of(column));
                let elo = |column: &str| row.get::<_, Option<u16>>(index_of(column));
                let result = text("result")?.and_then(|result| GameResult::parse(result.as_bytes()));
                let elos = [elo("white_elo")?, elo("black_elo")?];
                let known = Game::new(result.unwrap_or(GameResult::Unknown), elos, text("date")?.as_deref());
                Ok(Some((game, known, text("start_fen")?, cells(row, &GAME)?)))
            },
            |(game, known, start, cells)| {
                writer.add_game(game, known);
                starts.insert(game, start);
                writer.add_row(&GAME, Some(game), cells.iter().map(Owned::cell))
            },
        )?;
        Ok(starts)
    }

    /// Passes the moves of games, each with its start position, to the writer. Returns the numbers of games
    /// and plies.
    fn moves(
        &mut self,
        mut starts: BTreeMap<GameId, Option<String>>,
        first: GameId,
        last: GameId,
    ) -> store::Result<(u64, u64)> {
        let counted = starts.len() as u64;
        let sql = "SELECT game_id, move_code FROM game_position
                   WHERE game_id BETWEEN :first AND :last ORDER BY game_id, ply";
        let mut games: Vec<StoredMoves> = Vec::new();
        let mut plies = 0;
        for_each(
            self.database,
            sql,
            (first, last),
            |row| Ok(Some((game_of(row, 0)?, row.get::<_, Option<u32>>(1)?))),
            |(game, code)| {
                if let Some(start) = starts.remove(&game) {
                    games.push(StoredMoves { game, start, codes: Vec::new() });
                }
                if let (Some(moves), Some(code)) = (games.last_mut().filter(|moves| moves.game == game), code)
                {
                    moves.codes.push(MoveCode::from_stored(code));
                    plies += 1;
                }
                Ok(())
            },
        )?;
        let path = self.database.path();
        let moves = parallel::map(Some(self.pool), games.len(), |index| games[index].encoded(path))?;
        moves.iter().try_for_each(|moves| self.writer.add_moves(moves))?;
        Ok((counted, plies))
    }

    /// Passes a whole table, or its rows that belong to chosen games, to the writer.
    fn whole(&mut self, table: &'static Table, from: &str, chosen: Option<&GameSet>) -> store::Result<()> {
        let columns: Vec<String> = table.columns.iter().map(|column| Self::column(table, column)).collect();
        let sql = format!("SELECT {} FROM {from} ORDER BY {}_id", columns.join(", "), table.name);
        let game = table.columns.iter().position(|column| column.name == "game_id");
        let (writer, is_stopped) = (&mut *self.writer, self.is_stopped);
        for_each(
            self.database,
            &sql,
            None,
            |row| {
                let game = match game {
                    Some(column) => row.get::<_, Option<u32>>(column)?.map(GameId),
                    None => None,
                };
                let is_wanted = chosen.is_none_or(|games| {
                    table.name == "source" || game.is_some_and(|game| games.contains(game))
                });
                Ok(if is_wanted { Some(cells(row, table)?) } else { None })
            },
            |cells| {
                if is_stopped() {
                    return Err(Error::Interrupted);
                }
                writer.add_row(table, None, cells.iter().map(Owned::cell))
            },
        )
    }

    /// A column's name in SQL.
    fn column(table: &Table, column: &Column) -> String {
        match (table.name, column.name) {
            ("game", "white") => "white.name".to_owned(),
            ("game", "black") => "black.name".to_owned(),
            ("game", "event") => "event.name".to_owned(),
            ("game", "site") => "site.name".to_owned(),
            ("game", "opening") => "opening.name".to_owned(),
            ("game", "opening_eco") => "opening.eco".to_owned(),
            (table, name) => format!("{table}.{name}"),
        }
    }
}

/// Reads rows, and calls `pass` with each value that `read` returns.
fn for_each<T>(
    database: &Database,
    sql: &str,
    range: impl Into<Option<(GameId, GameId)>>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Option<T>>,
    mut pass: impl FnMut(T) -> store::Result<()>,
) -> store::Result<()> {
    let failed = failed(database);
    let mut statement = database.connection().prepare_cached(sql).map_err(&failed)?;
    let rows = match range.into() {
        Some((first, last)) => statement.query(named_params! { ":first": first.0, ":last": last.0 }),
        None => statement.query([]),
    };
    let mut rows = rows.map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        if let Some(value) = read(row).map_err(&failed)? {
            pass(value)?;
        }
    }
    Ok(())
}

fn game_of(row: &Row<'_>, column: usize) -> rusqlite::Result<GameId> {
    row.get(column).map(GameId)
}

/// The index of a column of `game`.
fn index_of(column: &str) -> usize {
    GAME.columns.iter().position(|known| known.name == column).expect("a column of the table")
}

/// The value of a cell.
enum Owned {
    Null,
    Integer(i64),
    Text(String),
}

impl Owned {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Null,
            Self::Integer(number) => Cell::Integer(*number),
            Self::Text(text) => Cell::Text(text),
        }
    }
}

/// Reads the cells of a row. Each value must fit its column.
fn cells(row: &Row<'_>, table: &Table) -> rusqlite::Result<Vec<Owned>> {
    let cell = |(index, column): (usize, &Column)| {
        let wrong = |error: FromSqlError| {
            rusqlite::Error::FromSqlConversionFailure(index, Type::Null, Box::new(error))
        };
        match (row.get_ref(index)?, column.kind) {
            (ValueRef::Null, _) if column.nullable => Ok(Owned::Null),
            (ValueRef::Integer(number), ColumnType::Int64) => Ok(Owned::Integer(number)),
            (ValueRef::Integer(number), ColumnType::Int32) => {
                i32::try_from(number).map_err(|_| wrong(FromSqlError::OutOfRange(number)))?;
                Ok(Owned::Integer(number))
            }
            (ValueRef::Text(text) | ValueRef::Blob(text), ColumnType::Text) => {
                Ok(Owned::Text(String::from_utf8_lossy(text).into_owned()))
            }
            _ => Err(wrong(FromSqlError::InvalidType)),
        }
    };
    table.columns.iter().enumerate().map(cell).collect()
}

/// The moves of a game in a database.
struct StoredMoves {
    game: GameId,
    start: Option<String>,
    codes: Vec<MoveCode>,
}

impl StoredMoves {
    /// Replays the moves to check them: after an illegal move, meaningless positions would be written.
    fn encoded(&self, path: &Path) -> store::Result<EncodedMoves> {
        let failed = || ErrorKind::UnsoundGame { game: self.game }.at(path);
        let setup = match &self.start {
            Some(fen) => Some(Position::from_fen(fen.as_bytes()).map_err(|_| failed())?.0),
            None => None,
        };
        let mut position = setup.clone().unwrap_or_else(Position::start);
        for &code in &self.codes {
            position.make(code).map_err(|_| failed())?;
        }
        let mut moves = EncodedMoves::default();
        moves.push(self.game, setup.as_ref(), &self.codes);
        Ok(moves)
    }
}
