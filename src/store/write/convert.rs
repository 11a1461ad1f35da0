//! Converts a database to another layout.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::board::MoveCode;
use crate::store::cell::read_rows;
use crate::store::database::Database;
use crate::store::error::{Error, ErrorKind, Result};
use crate::store::layout::{Layout, replayed};
use crate::store::lock::WriterLock;
use crate::store::schema::schema_of;
use crate::store::schema_version::SchemaVersion;
use crate::store::write::build::{Build, BuildOptions};
use crate::store::write::side_database::attach;

/// The objects of the schema that depend on the layout: the table or view `game_position`, and the table
/// `position_key` of a compact database.
const OF_LAYOUT: &str = "('game_position', 'position_key')";

impl Build {
    /// Builds a copy of the lock's target with another layout. [`finish`](Self::finish) replaces the target
    /// with the copy. Until then, others can read the target but not write to it. All rows are kept, and so
    /// are tables, columns and views of users.
    ///
    /// # Errors
    /// [`ErrorKind::CannotConvert`], or another error if the positions of a game are incomplete, the target
    /// cannot be read, or the copy cannot be written.
    pub fn converted(
        database: &Database,
        lock: WriterLock,
        options: BuildOptions,
        watch: impl Fn(&Connection),
    ) -> Result<Self> {
        let target = lock.target().to_owned();
        let kept = dependents(database.connection())
            .map_err(|source| Error::sqlite(&target, "read the schema", source))?;
        if let Some(object) = kept.into_iter().next() {
            return Err(ErrorKind::CannotConvert(object).at(&target));
        }
        let mut build = Self::of_target(database, lock, options)?;
        build.reopen()?;
        watch(build.connection());
        let failed = |source| Error::sqlite(&target, "copy the database", source);
        // In the locking mode EXCLUSIVE, the connection could not read a database in WAL mode while others have it open.
        build.connection().execute_batch("PRAGMA locking_mode = NORMAL").map_err(failed)?;
        attach(build.connection(), &target, "old").map_err(failed)?;
        let copied = copy_schema(build.connection(), options.layout)
            .and_then(|tables| copy_rows(build.connection(), &tables));
        copied.map_err(failed)?;
        let incomplete = match options.layout {
            Layout::Open => copy_positions(build.connection()),
            Layout::Compact => copy_moves(build.connection()),
        };
        if let Some(game) = incomplete.map_err(failed)? {
            return Err(ErrorKind::IncompletePositions(game).at(&target));
        }
        build.connection().execute_batch("COMMIT; DETACH old").map_err(failed)?;
        Ok(build)
    }
}

/// Additions of users that the conversion cannot keep: indexes and triggers of `game_position`; additional
/// columns of `game_position` and `game_moves`; views and triggers whose SQL contains the database name
/// `main`, because the old database has another name during the conversion.
fn dependents(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT 'the ' || type || ' ' || name FROM main.sqlite_schema
               WHERE type IN ('index', 'trigger') AND tbl_name = 'game_position' AND sql NOTNULL
                   OR type IN ('view', 'trigger') AND (sql LIKE '%main.%' OR sql LIKE '%\"main\"%')
               UNION ALL
               SELECT 'the column game_position.' || name FROM pragma_table_xinfo('game_position', 'main')
               WHERE name NOT IN ('game_id', 'ply', 'key', 'halfmove_clock', 'move_code', 'fen')
               UNION ALL
               SELECT 'the column game_moves.' || name FROM pragma_table_xinfo('game_moves', 'main') WHERE name NOT IN ('game_id', 'moves')";
    read_rows(&mut connection.prepare(sql)?, [], |row| row.get(0))
}

/// Creates the tables and indexes of the old database that do not depend on its layout, and the objects of
/// `layout`. Begins a transaction. Returns the names of the tables to copy.
fn copy_schema(connection: &Connection, layout: Layout) -> rusqlite::Result<Vec<String>> {
    let number =
        |pragma: &str| connection.query_row(&format!("PRAGMA old.{pragma}"), [], |row| row.get::<_, i64>(0));
    for pragma in ["application_id", "user_version"] {
        connection.pragma_update(None, pragma, number(pragma)?)?;
    }
    let objects = format!(
        "SELECT name, sql FROM old.sqlite_schema
         WHERE type = ?1 AND ifnull(rootpage, 1) > 0 AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             AND tbl_name NOT IN {OF_LAYOUT} ORDER BY rowid"
    );
    let objects = |kind: &str| -> rusqlite::Result<Vec<(String, String)>> {
        read_rows(&mut connection.prepare(&objects)?, [kind], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    let tables = objects("table")?;
    for (_, sql) in tables.iter().chain(&objects("index")?) {
        connection.execute_batch(sql)?;
    }
    let positions: String = schema_of(SchemaVersion::LATEST, Layout::Open)?.query_row(
        "SELECT sql FROM sqlite_schema WHERE name = 'game_position'",
        [],
        |row| row.get(0),
    )?;
    connection.execute_batch(&positions)?;
    layout.apply(connection)?;
    connection.execute_batch("ANALYZE main.setting; BEGIN")?;
    Ok(tables.into_iter().map(|(name, _)| name).chain(["sqlite_stat1".to_owned()]).collect())
}

/// Copies the rows of `tables` (except `game_moves`), and the definitions of views, triggers and virtual
/// tables.
fn copy_rows(connection: &Connection, tables: &[String]) -> rusqlite::Result<()> {
    for table in tables.iter().filter(|table| *table != "game_moves") {
        let name = table.replace('"', "\"\"");
        connection.execute_batch(&format!(
            "DELETE FROM main.\"{name}\"; INSERT INTO main.\"{name}\" SELECT * FROM old.\"{name}\""
        ))?;
    }
    // Views, triggers and virtual tables have no pages of their own, so it is enough to copy their
    // definitions, as VACUUM does.
    connection.execute_batch(&format!(
        "PRAGMA writable_schema = ON;
         INSERT INTO main.sqlite_schema SELECT * FROM old.sqlite_schema
         WHERE (type IN ('view', 'trigger') OR type = 'table' AND rootpage = 0) AND name NOT IN {OF_LAYOUT};
         PRAGMA writable_schema = RESET"
    ))
}

/// A game whose row in `game_moves` of the database `schema` does not have all its moves, or is missing; `None`
/// if there is no such game.
fn incomplete_game(connection: &Connection, schema: &str) -> rusqlite::Result<Option<i64>> {
    let sql = format!(
        "SELECT game_id FROM {schema}.game LEFT JOIN {schema}.game_moves USING (game_id)
         WHERE status <> 'skipped' AND length(moves) IS NOT 4 * ply_count LIMIT 1"
    );
    connection.query_row(&sql, [], |row| row.get(0)).optional()
}

/// Fills the table `game_position` from the moves of the old database. If games have incomplete moves, fills
/// nothing and returns the id of one of them.
fn copy_positions(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let incomplete = incomplete_game(connection, "old")?;
    if incomplete.is_some() {
        return Ok(incomplete);
    }
    replayed::register(connection)?;
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE temp.replayed USING {}(old, {});
         INSERT INTO main.game_position SELECT * FROM temp.replayed;
         DROP TABLE temp.replayed",
        replayed::MODULE,
        replayed::STRICT
    ))?;
    Ok(None)
}

/// Fills `game_moves` from the positions of the old database. Returns a game whose rows are not those of a
/// complete game; `None` if all games are complete.
fn copy_moves(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut insert = connection.prepare("INSERT INTO main.game_moves (game_id, moves) VALUES (?1, ?2)")?;
    let mut positions = connection
        .prepare("SELECT game_id, ply, move_code, fen FROM old.game_position ORDER BY game_id, ply")?;
    let mut rows = positions.query([])?;
    let mut moves: Vec<u8> = Vec::new();
    // The game, the ply and the move of the previous row.
    let mut before: Option<(i64, i64, Option<MoveCode>)> = None;
    while let Some(row) = rows.next()? {
        let (game, ply): (i64, i64) = (row.get(0)?, row.get(1)?);
        let Ok(code) = row.get::<_, Option<u32>>(2) else { return Ok(Some(game)) };
        let played = code.and_then(MoveCode::from_bits);
        let (follows, incomplete) = match before {
            Some((unfinished, last, Some(_))) => ((game, ply) == (unfinished, last + 1), unfinished),
            Some((finished, _, None)) => (game != finished && ply == 0, game),
            None => (ply == 0, game),
        };
        if !follows || played.is_none() != code.is_none() {
            return Ok(Some(incomplete));
        }
        if let Some((.., Some(earlier))) = before {
            moves.extend(earlier.to_row(!row.get_ref(3)?.as_bytes()?.ends_with(b" -")));
        }
        if played.is_none() {
            insert.execute(params![game, moves])?;
            moves.clear();
        }
        before = Some((game, ply, played));
    }
    match before {
        Some((unfinished, _, Some(_))) => Ok(Some(unfinished)),
        _ => incomplete_game(connection, "main"),
    }
}
