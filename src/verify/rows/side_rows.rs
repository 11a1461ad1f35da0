//! Compares rows of the side tables of `game` (tables with rows that belong to a game) with the game's text.

use rusqlite::types::ValueRef;

use crate::id::GameId;
use crate::index::GameText;
use crate::sorted::SortedMap;
use crate::store::row::virtual_table::{Cell, Columns as _};
use crate::store::row::{HeaderBatch, MovesRow, SideTable, StoredId};
use crate::verify::FindingKind::SourceText;
use crate::verify::rows::Reader;
use crate::verify::{Id, RowId};

/// Compares the rows of a game in all side tables with its text.
pub(crate) fn compare(
    reader: Reader<'_>,
    game: StoredId<GameId>,
    text: &GameText<'_>,
) -> rusqlite::Result<()> {
    // Moves are compared as rows of `game_position`, which a compact database computes from `game_moves`.
    HeaderBatch::SIDE_TABLES.iter().filter(|table| table.name != MovesRow::TABLE).try_for_each(|table| {
        let expected_rows = text.side_rows(table).map(|row| row.into_iter().map(value).collect());
        compare_table(reader, game, table, expected_rows)
    })
}

/// A value; `None` is NULL.
type Value = Option<Id>;

fn value(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Null | Cell::Blob(_) => None,
        Cell::Integer(number) => Some(Id::Number(number)),
        Cell::Text(text) => Some(Id::Text(text.to_owned())),
    }
}

fn stored(value: ValueRef<'_>) -> Value {
    (value != ValueRef::Null).then(|| Id::of(value))
}

fn shown(value: Option<&Id>) -> String {
    value.cloned().map_or_else(|| "NULL".to_owned(), Id::into_text)
}

/// Compares the rows of a game in one table with the expected rows. An expected row contains no game id; its
/// key columns come first.
fn compare_table(
    reader: Reader<'_>,
    game: StoredId<GameId>,
    table: &SideTable,
    expected_rows: impl Iterator<Item = Vec<Value>>,
) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    let (key, values) = table.columns[1..].split_at(table.key - 1);
    let columns = table.columns[1..].join(", ");
    let sql = format!("SELECT {columns} FROM {} WHERE game_id = ?1", table.name);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([game])?;
    let mut found = SortedMap::new();
    while let Some(row) = rows.next()? {
        let cell = |column| Ok(stored(row.get_ref(column)?));
        let mut cells: Vec<Value> =
            (0..key.len() + values.len()).map(cell).collect::<rusqlite::Result<_>>()?;
        let values = cells.split_off(key.len());
        found.insert(cells, values);
    }
    // If all columns belong to the key, the last of them is reported.
    let first = values.first().or(key.last()).copied().unwrap_or("game_id");
    let wrong = |cells: &[Value], column, expected: String, found: Option<&Value>| {
        let row = RowId::game(game);
        let row = key.iter().zip(cells).fold(row, |row, (column, id)| {
            row.and(column, id.clone().unwrap_or_else(|| Id::Text(shown(None))))
        });
        let found = shown(found.and_then(Option::as_ref));
        findings.wrong(SourceText, table.name, row, column, expected, found);
    };
    for mut cells in expected_rows {
        let expected = cells.split_off(key.len());
        let found = found.remove(&cells);
        if found.is_none() && values.is_empty() {
            wrong(&cells, first, shown(cells.last().and_then(Option::as_ref)), None);
        }
        for (index, expected) in expected.iter().enumerate() {
            let found = found.as_ref().map(|found| &found[index]);
            if found != Some(expected) {
                wrong(&cells, values[index], shown(expected.as_ref()), found);
            }
        }
    }
    for (cells, found) in found {
        wrong(&cells, first, format!("no such {}", table.name), found.first().or(cells.last()));
    }
    Ok(())
}
