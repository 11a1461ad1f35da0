//! What a step of the schema fills in from what a database has.

use rusqlite::{Connection, params};

use crate::pgn::{GameFacts, Speed};
use crate::store::row::virtual_table::Rows as _;
use crate::store::row::{GameRow, HeaderBatch};
use crate::store::write::fill::{fill_columns, fill_visit_sets};

/// Fills the columns of `game` that the tags tell, for games that were there before these columns.
pub(super) fn fill_game_columns(connection: &Connection) -> rusqlite::Result<()> {
    let mut games = connection.prepare(
        "SELECT game_id, time_control, site.name FROM game LEFT JOIN site USING (site_id) ORDER BY game_id",
    )?;
    let mut tags = connection.prepare(
        "SELECT name, value FROM tag WHERE game_id = ?1 AND typeof(name) = 'text' AND typeof(value) = 'text' ORDER BY name",
    )?;
    let mut update = connection.prepare(
        "UPDATE game SET lichess_id = ?2, started_at = ?3, time_initial = ?4, time_increment = ?5, speed = ?6,
             termination = ?7, white_rating_diff = ?8, black_rating_diff = ?9, white_fide_id = ?10, black_fide_id = ?11
         WHERE game_id = ?1",
    )?;
    let mut rows = games.raw_query();
    while let Some(row) = rows.next()? {
        let game: i64 = row.get(0)?;
        // Somebody may have put anything into a cell: what is no text says nothing.
        let text = |column| row.get_ref(column).ok().and_then(|value| value.as_str().ok());
        let pairs: Vec<(String, String)> = tags
            .query_map([game], |row| Ok((lossy(row, 0)?, lossy(row, 1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let pairs = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let facts = GameFacts::of(text(2), text(1), pairs);
        if facts == GameFacts::default() {
            continue;
        }
        let ([white_diff, black_diff], [white_fide, black_fide]) = (facts.rating_diffs, facts.fide_ids);
        update.execute(params![
            game,
            facts.lichess_id,
            facts.started_at,
            facts.time.initial,
            facts.time.increment,
            facts.time.speed.map(Speed::as_str),
            facts.termination,
            white_diff,
            black_diff,
            white_fide,
            black_fide,
        ])?;
    }
    Ok(())
}

/// Fills the columns and sets of games.
pub(super) fn fill_sets(connection: &Connection) -> rusqlite::Result<()> {
    fill_columns(connection)?;
    fill_visit_sets(connection)
}

/// Tables that are no side tables and came with a later version, with their columns.
const LATER_TABLES: [(&str, &[&str]); 2] = [
    ("removed_game", &["source_id", "byte_offset", "byte_length"]),
    ("visit_set", &["key", "block", "games"]),
];

/// Shows a connection that reads an older database what it lacks: columns of `game` as NULL, later tables without rows.
pub(crate) fn show_lacking(connection: &Connection) -> rusqlite::Result<()> {
    let side_tables = HeaderBatch::SIDE_TABLES.iter().map(|table| (table.name, table.columns));
    for (name, columns) in side_tables.chain(LATER_TABLES) {
        if !connection.table_exists(Some("main"), name)? {
            let columns: Vec<_> = columns.iter().map(|column| format!("NULL AS {column}")).collect();
            let columns = columns.join(", ");
            connection.execute_batch(&format!("CREATE TEMP VIEW {name} AS SELECT {columns} WHERE false"))?;
        }
    }
    show_lacking_columns(connection)
}

/// Shows a connection that reads a database without levels its `position_game` as one.
pub(super) fn show_level(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TEMP VIEW occurrence_level AS SELECT 1 AS level;
         CREATE TEMP VIEW occurrence AS SELECT 1 AS level, key, game_id, ply FROM main.position_game",
    )
}

fn show_lacking_columns(connection: &Connection) -> rusqlite::Result<()> {
    let lacking = GameRow::COLUMNS.iter().filter_map(|column| match lacks(connection, column) {
        Ok(false) => None,
        lacks => Some(lacks.map(|_| format!(", NULL AS {column}"))),
    });
    let lacking: Vec<String> = lacking.collect::<rusqlite::Result<_>>()?;
    if lacking.is_empty() {
        return Ok(());
    }
    connection.execute_batch(&format!("CREATE TEMP VIEW game AS SELECT *{} FROM main.game", lacking.concat()))
}

/// Whether the table `game` of an older database has no such column.
pub(crate) fn lacks(connection: &Connection, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM pragma_table_info('game', 'main') WHERE name = ?1)";
    connection.prepare_cached(sql)?.query_row([column], |row| row.get(0))
}

fn lossy(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes()?).into_owned())
}
