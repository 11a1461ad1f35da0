//! The two layouts of a database: how it stores the positions of games.

pub(crate) mod replayed;

use std::fmt;

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection, params_from_iter};
use serde::Serialize;

use crate::board::polyglot_constants;
use crate::store::read_rows;

/// The statements that convert an empty database to the compact layout.
const COMPACT: &str = include_str!("../../../migrations/compact.sql");

/// How a database stores the positions of games. In both layouts, SQL uses the same names, columns and rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// `game_position` is a table with a row for each position.
    #[default]
    Open,
    /// `game_moves` contains the move codes of each game. `game_position` is a view that computes its rows
    /// from these codes.
    Compact,
}

impl Layout {
    /// Parses the name of a layout; `None` if it is unknown.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Open, Self::Compact].into_iter().find(|layout| layout.as_str() == name)
    }

    /// The layout's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Compact => "compact",
        }
    }

    /// The layout of the database that a connection has opened.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE type = 'view' AND name = 'game_position')";
        let is_compact = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(if is_compact { Self::Compact } else { Self::Open })
    }

    /// Changes an empty database from the open layout to this layout.
    pub(crate) fn apply(self, connection: &Connection) -> rusqlite::Result<()> {
        if self == Self::Open || Self::of(connection)? == Self::Compact {
            return Ok(());
        }
        let constants = serde_json::json!(polyglot_constants().collect::<Vec<_>>()).to_string();
        let transaction = connection.unchecked_transaction()?;
        let mut statements = Batch::new(&transaction, COMPACT);
        while let Some(mut statement) = statements.next()? {
            let count = statement.parameter_count();
            statement.execute(params_from_iter([&constants].into_iter().take(count)))?;
        }
        transaction.commit()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The views of the schema that read `game_position` directly.
const VIEWS: [&str; 4] = ["moves", "positions", "visited_position", "continuation"];

/// If a database is compact, makes all statements of this connection read `game_position` from a virtual
/// table, which replays games much faster than the view. The name of this temporary table hides the name of
/// the view, so statements need not be changed. The other views of the file still read the view: see
/// [`read_views_quickly`]. Returns the layout.
///
/// # Errors
/// Errors of SQLite.
pub(crate) fn read_quickly(connection: &Connection) -> rusqlite::Result<Layout> {
    let layout = Layout::of(connection)?;
    if layout == Layout::Open {
        return Ok(layout);
    }
    replayed::register(connection)?;
    let sql = format!("CREATE VIRTUAL TABLE IF NOT EXISTS temp.game_position USING {}", replayed::MODULE);
    connection.execute_batch(&sql)?;
    Ok(layout)
}

/// For users' statements, also makes the views of a compact database read the virtual table: temporary copies
/// hide these views. If the connection can write, users' own views are not hidden, so that `DROP VIEW` does
/// not drop the copy instead of the view.
///
/// # Errors
/// Errors of SQLite.
pub fn read_views_quickly(connection: &Connection) -> rusqlite::Result<()> {
    if read_quickly(connection)? == Layout::Open {
        return Ok(());
    }
    let sql = "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view' AND name <> 'game_position' ORDER BY rowid";
    let views: Vec<(String, String)> =
        read_rows(&mut connection.prepare(sql)?, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let can_write = !connection.is_readonly("main")?;
    let mut statements = String::new();
    for (_, view) in views.iter().filter(|(name, _)| !can_write || VIEWS.contains(&name.as_str())) {
        // SQLite stores `CREATE VIEW`, followed by the rest of the original statement.
        statements += &view.replacen("CREATE VIEW", "CREATE TEMP VIEW IF NOT EXISTS", 1);
        statements += ";";
    }
    connection.execute_batch(&statements)
}
