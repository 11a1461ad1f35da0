//! Exports a database, or some of its games, as Parquet files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rayon::{ThreadPool, ThreadPoolBuilder};
use rusqlite::Row;
use rusqlite::types::{FromSqlError, Type, Value, ValueRef};

use super::game::PartitionBy;
use super::moves::EncodedMoves;
use super::output::{Output, Result, Totals, WriteOptions, WrittenBy};
use super::progress::Progress;
use super::schema::{Column, ColumnType, GAME, PROBLEM, SIDE_TABLES, SOURCE, Table};
use super::writer::{Writer, file_bytes};
use crate::board::{GameResult, MoveCode, Position};
use crate::id::GameId;
use crate::parallel;
use crate::store::row::virtual_table::Cell;
use crate::store::row::{CountedGame, day_number};
use crate::store::{self, Database, Error, ErrorKind, GameSet, Need};

const ACTION: &str = "read games";

/// What to export, and how.
#[derive(Clone, Debug)]
pub struct ExportOptions<'e> {
    /// The output directory.
    pub directory: PathBuf,
    /// The number of the shard. It becomes the upper half of each `game_id`.
    pub shard: u32,
    /// The part of the date by which games are partitioned into directories.
    pub partition_by: PartitionBy,
    /// Whether to replace existing files of this shard. If not, existing files cause an error.
    pub overwrite: bool,
    /// The games to export; `None` for all games.
    pub games: Option<&'e GameSet>,
    /// The number of worker threads; 0 for one per processor.
    pub threads: usize,
    /// The memory limit, in bytes. Three quarters of it are for sorting positions.
    pub memory: u64,
    /// The directory of temporary files; `None` for the output directory.
    pub temp_dir: Option<&'e Path>,
}

/// Writes a database, or some of its games, as Parquet files.
///
/// # Errors
/// If the database cannot be read, the files cannot be written, or the export is
/// [stopped](Progress::stop).
pub fn export(database: &Database, options: &ExportOptions<'_>, progress: &Progress) -> Result<Totals> {
    write(database, options, progress).map_err(|error| match error {
        super::Error::Store(error) => super::Error::Store(error.needing(need(database, options.games))),
        other => other,
    })
}

/// The approximate space that the files need, if known.
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

fn write(database: &Database, options: &ExportOptions<'_>, progress: &Progress) -> Result<Totals> {
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
    let is_stopped = || progress.is_stopped();
    let mut writer = Writer::new(output, write, &is_stopped)?;
    // All tables are read from one snapshot.
    let snapshot = database.connection().unchecked_transaction().map_err(failed(database))?;
    let last = database.last_game()?.unwrap_or_default();
    let chosen = options.games;
    let mut export = Export { database, writer: &mut writer, pool: &pool, chosen, progress };
    for range in (Ranges { games: chosen, next: 1, last: last.0 }) {
        progress.check()?;
        export.range(range)?;
    }
    export.rows(&SOURCE, "FROM source ORDER BY source_id", None, &mut |_, _| Ok(()))?;
    export.rows(&PROBLEM, "FROM problem ORDER BY problem_id", None, &mut |_, _| Ok(()))?;
    drop(snapshot);
    progress.is_sorting.store(true, Ordering::Relaxed);
    writer.write_positions(&pool)?;
    Ok(writer.finish()?)
}

/// Ranges of game ids without long gaps between the chosen games.
struct Ranges<'r> {
    games: Option<&'r GameSet>,
    next: u32,
    last: u32,
}

impl Iterator for Ranges<'_> {
    type Item = [GameId; 2];

    fn next(&mut self) -> Option<[GameId; 2]> {
        const MOST: u32 = 2048;
        const GAP: u32 = 16;
        let is_chosen = |id: u32| self.games.is_none_or(|games| games.contains(GameId(id)));
        let end = |first: u32| self.last.min(first.saturating_add(MOST - 1));
        // Each range of `MOST` ids without a chosen game is skipped in one step.
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
        Some([GameId(first), GameId(last)])
    }
}

struct Export<'x, 'w> {
    database: &'x Database,
    writer: &'x mut Writer<'w>,
    pool: &'x ThreadPool,
    /// The chosen games; `None` for all games.
    chosen: Option<&'x GameSet>,
    progress: &'x Progress,
}

impl<'w> Export<'_, 'w> {
    /// Passes the chosen games of a range to the writer.
    fn range(&mut self, range: [GameId; 2]) -> store::Result<()> {
        let starts = self.games(range)?;
        for table in SIDE_TABLES {
            let sorted_by: Vec<String> = (1..=table.sorted_by).map(|column| column.to_string()).collect();
            let (name, sorted_by) = (table.name, sorted_by.join(", "));
            let sql = format!("FROM {name} WHERE game_id BETWEEN ?1 AND ?2 ORDER BY {sorted_by}");
            self.rows(table, &sql, Some(range), &mut |_, _| Ok(()))?;
        }
        self.moves(starts, range)
    }

    /// Passes the chosen games' rows of the table `game` to the writer. Returns the FEN of each game's start
    /// position; `None` is the standard one.
    fn games(&mut self, range: [GameId; 2]) -> store::Result<BTreeMap<GameId, Option<String>>> {
        let sql = "FROM game
             LEFT JOIN player AS white ON white.player_id = game.white_id
             LEFT JOIN player AS black ON black.player_id = game.black_id
             LEFT JOIN event ON event.event_id = game.event_id
             LEFT JOIN site ON site.site_id = game.site_id
             LEFT JOIN opening ON opening.opening_id = game.opening_id
             WHERE game.game_id BETWEEN ?1 AND ?2 ORDER BY game.game_id";
        let mut starts = BTreeMap::new();
        self.rows(&GAME, sql, Some(range), &mut |writer, row| {
            let game = GameId(row.get(0)?);
            let text = |column: &str| row.get::<_, Option<String>>(index_of(&GAME, column));
            let elo = |column: &str| row.get::<_, Option<u16>>(index_of(&GAME, column));
            let result = text("result")?.and_then(|result| GameResult::parse(result.as_bytes()));
            let elos = [elo("white_elo")?, elo("black_elo")?];
            let day = text("date")?.as_deref().map_or(0, day_number);
            writer.add_game(game, CountedGame::new(result.unwrap_or(GameResult::Unknown), elos, day));
            starts.insert(game, text("start_fen")?);
            Ok(())
        })?;
        Ok(starts)
    }

    /// Passes rows of a table to the writer: the rows of the chosen games or, if the table has no column
    /// `game_id`, all rows. Calls `see` with each row before it is passed on. `sql` is the part of the query
    /// after the list of columns.
    fn rows(
        &mut self,
        table: &'static Table,
        sql: &str,
        range: Option<[GameId; 2]>,
        see: &mut dyn FnMut(&mut Writer<'w>, &Row<'_>) -> rusqlite::Result<()>,
    ) -> store::Result<()> {
        let game_column = table.columns.iter().position(|column| column.name == "game_id");
        let columns: Vec<String> = table.columns.iter().map(|column| in_sql(table, column)).collect();
        let sql = format!("SELECT {} {sql}", columns.join(", "));
        let failed = failed(self.database);
        let mut statement = self.database.connection().prepare_cached(&sql).map_err(&failed)?;
        let rows = match range {
            Some(range) => statement.query(range.map(|game| game.0)),
            None => statement.query([]),
        };
        let mut rows = rows.map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            if range.is_none() {
                self.progress.check()?;
            }
            let game = game_column.map_or(Ok(None), |column| row.get(column)).map_err(&failed)?.map(GameId);
            let is_chosen =
                |games: &GameSet| game_column.is_none() || game.is_some_and(|game| games.contains(game));
            if self.chosen.is_none_or(is_chosen) {
                see(self.writer, row).map_err(&failed)?;
                let cells = cells(row, table).map_err(&failed)?;
                self.writer.add_row(table, game, cells.iter().map(cell))?;
            }
        }
        Ok(())
    }

    /// Passes the moves of the games in `starts` to the writer, each game with its start position.
    fn moves(
        &mut self,
        mut starts: BTreeMap<GameId, Option<String>>,
        range: [GameId; 2],
    ) -> store::Result<()> {
        self.progress.games.fetch_add(starts.len() as u64, Ordering::Relaxed);
        let sql = "SELECT game_id, move_code FROM game_position
                   WHERE game_id BETWEEN ?1 AND ?2 ORDER BY game_id, ply";
        let mut games: Vec<StoredMoves> = Vec::new();
        let failed = failed(self.database);
        let mut statement = self.database.connection().prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query(range.map(|game| game.0)).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            let game = row.get(0).map(GameId).map_err(&failed)?;
            let code: Option<u32> = row.get(1).map_err(&failed)?;
            if let Some(start) = starts.remove(&game) {
                games.push(StoredMoves { game, start, codes: Vec::new() });
            }
            if let (Some(moves), Some(code)) = (games.last_mut().filter(|moves| moves.game == game), code) {
                moves.codes.push(MoveCode::from_stored(code));
            }
        }
        let plies: usize = games.iter().map(|game| game.codes.len()).sum();
        self.progress.plies.fetch_add(plies as u64, Ordering::Relaxed);
        let path = self.database.path();
        let moves = parallel::map(Some(self.pool), games.len(), |index| games[index].encoded(path))?;
        moves.iter().try_for_each(|moves| self.writer.add_moves(moves))
    }
}

fn failed(database: &Database) -> impl Fn(rusqlite::Error) -> Error {
    |source| Error::sqlite(database.path(), ACTION, source)
}

/// A column's name in SQL.
fn in_sql(table: &Table, column: &Column) -> String {
    match (table.name, column.name) {
        ("game", name @ ("white" | "black" | "event" | "site" | "opening")) => format!("{name}.name"),
        ("game", "opening_eco") => "opening.eco".to_owned(),
        (table, name) => format!("{table}.{name}"),
    }
}

/// The index of a column in its table.
fn index_of(table: &Table, column: &str) -> usize {
    table.columns.iter().position(|known| known.name == column).expect("a column of the table")
}

fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Integer(number) => Cell::Integer(*number),
        Value::Text(text) => Cell::Text(text),
        _ => Cell::Null,
    }
}

/// Reads the cells of a row. Fails if a value does not fit its column.
fn cells(row: &Row<'_>, table: &Table) -> rusqlite::Result<Vec<Value>> {
    let cell = |(index, column): (usize, &Column)| {
        let wrong = |error: FromSqlError| {
            rusqlite::Error::FromSqlConversionFailure(index, Type::Null, Box::new(error))
        };
        match (row.get_ref(index)?, column.kind) {
            (ValueRef::Null, _) if column.nullable => Ok(Value::Null),
            (ValueRef::Integer(number), ColumnType::Int64) => Ok(Value::Integer(number)),
            (ValueRef::Integer(number), ColumnType::Int32) => {
                i32::try_from(number).map_err(|_| wrong(FromSqlError::OutOfRange(number)))?;
                Ok(Value::Integer(number))
            }
            (ValueRef::Text(text) | ValueRef::Blob(text), ColumnType::Text) => {
                Ok(Value::Text(String::from_utf8_lossy(text).into_owned()))
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
    /// Encodes the moves. Replays them first to check them: after an illegal move, meaningless positions
    /// would be written.
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
