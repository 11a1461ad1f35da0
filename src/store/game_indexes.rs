//! The indexes of `game`. The first column of each index is the number of the game's block, so that adding
//! games changes only the end of the index.

use rusqlite::Connection;

/// A common table expression, for use after `WITH RECURSIVE`: the numbers of all blocks of 262,144 games
/// (`game_id >> 18`). They are the values of the first column of the indexes on hashes.
///
/// With this expression, SQLite looks up a hash in each block, even if there are no statistics for these
/// indexes.
pub(crate) const HASH_BLOCKS: &str = "hash_block (number) AS (
     SELECT 0 UNION ALL SELECT number + 1 FROM hash_block
     WHERE number < (SELECT game_id >> 18 FROM game ORDER BY game_id DESC LIMIT 1))";

/// Writes statistics which say that the first column of each index of `game` has few distinct values. So SQLite
/// looks up the second column for each of them (["Skip-scan"](https://www.sqlite.org/optoverview.html#skipscan)). The
/// statistics contain the number of games per block, and roughly the number of games per value: only the order of
/// magnitude matters.
const GAME_STATISTICS: &str =
    "WITH known (name, of_block, of_value) AS (VALUES ('game_white', 1 << 16, '10'), ('game_black', 1 << 16, '10'),
         ('game_event', 1 << 16, '20'), ('game_date', 1 << 16, '10'), ('game_eco', 1 << 16, '100'),
         ('game_opening', 1 << 16, '100'), ('game_moves_hash', 1 << 18, '2 2'), ('game_prefix_hash', 1 << 18, '2'))
     INSERT INTO main.sqlite_stat1 (tbl, idx, stat)
     SELECT 'game', name, games || ' ' || min(games, of_block) || ' ' || of_value
     FROM (SELECT game_id AS games FROM main.game ORDER BY game_id DESC LIMIT 1) CROSS JOIN known
     WHERE games > 0 AND name IN (SELECT name FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = 'game')";

/// Writes statistics of the two largest tables, `game_position` and `occurrence`. Without these statistics,
/// SQLite assumes that these tables are small, and scans a table instead of looking up a key. In
/// `occurrence`, two rows per level and key are assumed: only the order of magnitude matters.
const POSITION_STATISTICS: &str = "WITH counted (positions, games, levels) AS (
         SELECT (SELECT sum(positions) FROM main.import), (SELECT max(game_id) FROM main.game),
             (SELECT count(*) FROM main.occurrence_level))
     INSERT INTO main.sqlite_stat1 (tbl, idx, stat)
     SELECT 'game_position', 'game_position', positions || ' ' || max(1, positions / games) || ' 1' FROM counted
     WHERE positions > 0 AND games > 0
     UNION ALL SELECT 'occurrence', 'occurrence', positions || ' ' || max(1, positions / levels) || ' 2 1 1' FROM counted
     WHERE positions > 0 AND levels > 0";

/// Updates the numbers of games and positions that SQLite's query planner uses.
pub(crate) fn update_statistics(connection: &Connection) -> rusqlite::Result<()> {
    if !connection.table_exists(Some("main"), "sqlite_stat1")? {
        // `ANALYZE` is the only way to create `sqlite_stat1`.
        connection.execute_batch("ANALYZE main.setting")?;
        connection.execute_batch("DELETE FROM main.sqlite_stat1")?;
    }
    connection.execute_batch(
        "DELETE FROM main.sqlite_stat1 WHERE tbl IN ('game', 'game_position', 'occurrence')",
    )?;
    connection.execute_batch(GAME_STATISTICS)?;
    connection.execute_batch(POSITION_STATISTICS)
}
