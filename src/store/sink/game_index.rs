//! Builds the indexes of `game`: collects index rows while games are written, sorts them, and writes them as
//! pages.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, Row};

use super::sorter::Sorter;
use crate::store::cell::read_rows;
use crate::store::error::Result;
use crate::store::pages::{LeafWriter, PageFile, PageNumber, RowRecord, assemble};
use crate::store::row::virtual_table::Cell;

/// The columns of an index: the block of the game, `game_id >> shift`, then one or two columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    shift: u32,
    columns: Columns,
}

/// One or two columns of the table, identified by column number, from 0. Rows with NULL sort before rows with
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Columns {
    Integer(usize),
    /// Two integers. The first is never NULL. The second is NULL or from 0 to 2^32 - 2.
    Integers(usize, usize),
    /// Texts of at most [`MOST_TEXT`] bytes, without a NUL byte.
    Text(usize),
}

/// The maximum length, in bytes, of a text that [`Columns::number`] can encode.
const MOST_TEXT: usize = 11;

impl Key {
    /// Determines the key of an index from the statement that creates it; `None` if indexes of this kind are not
    /// supported. `columns` are the names and types of the table's columns, in order.
    fn of(sql: &str, columns: &[(String, String)]) -> Option<Self> {
        let key = sql.strip_prefix("CREATE INDEX ")?.split_once(" (game_id >> ")?.1.strip_suffix(')')?;
        let (shift, names) = key.split_once(", ")?;
        // `place` finds no column for an expression, or for a name followed by `DESC` or `COLLATE`.
        let place = |name: &str| columns.iter().position(|column| column.0 == name);
        let places: Vec<usize> = names.split(", ").map(place).collect::<Option<_>>()?;
        let typed: Vec<(usize, &str)> = places.into_iter().map(|at| (at, columns[at].1.as_str())).collect();
        let columns = match *typed {
            [(column, "INTEGER")] => Columns::Integer(column),
            [(column, "TEXT")] => Columns::Text(column),
            [(first, "INTEGER"), (second, "INTEGER")] => Columns::Integers(first, second),
            _ => return None,
        };
        let shift = shift.parse().ok().filter(|shift| (1..32).contains(shift))?;
        Some(Self { shift, columns })
    }

    /// Encodes the values and the rowid of a row as a number; `None` if the values cannot be encoded. The
    /// numbers sort like the rows of the index. A number consists of the block, the values, and the number of
    /// the game within its block.
    #[inline]
    fn number(self, row: &[Cell<'_>], rowid: u32) -> Option<u128> {
        let block = u128::from(rowid >> self.shift) << (Columns::BITS + self.shift);
        let place = rowid & ((1 << self.shift) - 1);
        Some(block | self.columns.number(row)? << self.shift | u128::from(place))
    }

    /// Calls `see` with the block, the values and the rowid that a number encodes.
    #[inline]
    fn show<R>(self, number: u128, see: impl FnOnce(&[Cell<'_>]) -> R) -> R {
        let block = (number >> (Columns::BITS + self.shift)) as u32;
        let place = number as u32 & ((1 << self.shift) - 1);
        let rowid = Cell::Integer((block << self.shift | place).into());
        let block = Cell::Integer(block.into());
        let values = number >> self.shift & ((1 << Columns::BITS) - 1);
        let bytes = values.to_be_bytes();
        let value = match self.columns {
            Columns::Integer(_) if values >> 64 == 0 => Cell::Null,
            Columns::Integer(_) => Cell::Integer(unbiased(values)),
            Columns::Integers(..) => {
                let second = (values as u32).checked_sub(1);
                let second = second.map_or(Cell::Null, |value| Cell::Integer(value.into()));
                return see(&[block, Cell::Integer(unbiased(values >> 32)), second, rowid]);
            }
            Columns::Text(_) => {
                let [flag, text @ ..] = &bytes[16 - 1 - MOST_TEXT..] else { unreachable!("it is not empty") };
                let length = text.iter().position(|&byte| byte == 0).unwrap_or(MOST_TEXT);
                let text = std::str::from_utf8(&text[..length]).expect("the bytes of a text");
                if *flag == 0 { Cell::Null } else { Cell::Text(text) }
            }
        };
        see(&[block, value, rowid])
    }
}

impl Columns {
    /// The number of bits of the encoded values, without block and rowid.
    const BITS: u32 = 96;

    /// Encodes the values of a row as a number; `None` if they cannot be encoded. The numbers sort like the
    /// values.
    #[inline]
    fn number(self, row: &[Cell<'_>]) -> Option<u128> {
        Some(match self {
            Self::Integer(column) => match row[column] {
                Cell::Null => 0,
                Cell::Integer(value) => 1 << 64 | biased(value),
                Cell::Text(_) | Cell::Blob(_) => return None,
            },
            Self::Integers(first, second) => {
                let Cell::Integer(value) = row[first] else { return None };
                let second = match row[second] {
                    Cell::Null => 0,
                    Cell::Integer(value) => u32::try_from(value).ok()?.checked_add(1)?,
                    Cell::Text(_) | Cell::Blob(_) => return None,
                };
                biased(value) << 32 | u128::from(second)
            }
            Self::Text(column) => match row[column] {
                Cell::Null => 0,
                // A text with a NUL byte would be decoded as a shorter one.
                Cell::Text(text) if text.len() <= MOST_TEXT && !text.as_bytes().contains(&0) => {
                    let mut bytes = [0; 16];
                    let values = &mut bytes[16 - 1 - MOST_TEXT..];
                    values[0] = 1;
                    values[1..=text.len()].copy_from_slice(text.as_bytes());
                    u128::from_be_bytes(bytes)
                }
                Cell::Text(_) | Cell::Blob(_) | Cell::Integer(_) => return None,
            },
        })
    }
}

/// Maps an integer to a non-negative number, so that the numbers sort like the integers.
const fn biased(value: i64) -> u128 {
    (value.cast_unsigned() ^ 1 << 63) as u128
}

/// Reverses [`biased`]. Ignores all bits of the number except the lowest 64.
const fn unbiased(number: u128) -> i64 {
    (number as u64 ^ 1 << 63).cast_signed()
}

/// An index of a table, and its rows in the order in which they were added.
#[derive(Debug)]
pub(crate) struct IndexRows {
    name: String,
    root: PageNumber,
    /// `None` if SQLite must build the index, because its kind or one of its rows is not supported.
    rows: Option<(Key, Sorter)>,
}

impl IndexRows {
    /// The indexes of a table that were created with `CREATE INDEX`. Index rows that do not fit in `memory`
    /// bytes are written to files in `directory`.
    pub(crate) fn of_table(
        connection: &Connection,
        table: &str,
        memory: u64,
        directory: &Path,
    ) -> rusqlite::Result<Vec<Self>> {
        let sql = "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let columns: Vec<(String, String)> = read_rows(&mut connection.prepare(sql)?, [table], read)?;
        let sql = "SELECT name, rootpage, sql FROM sqlite_schema
                   WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL ORDER BY name";
        let read = |row: &Row<'_>| Ok((row.get(0)?, PageNumber(row.get(1)?), row.get(2)?));
        let indexes: Vec<(_, _, String)> = read_rows(&mut connection.prepare(sql)?, [table], read)?;
        let share = memory / indexes.len().max(1) as u64;
        let index = |(name, root, sql): (_, _, String)| {
            let key = Key::of(&sql, &columns);
            let sorter = |key: Key| Sorter::new(share, Columns::BITS + key.shift, directory.to_owned());
            let rows = key.map(|key| (key, sorter(key)));
            Self { name, root, rows }
        };
        Ok(indexes.into_iter().map(index).collect())
    }

    /// Adds the index row for a row of the table. `row` contains the values of the table's columns, in order.
    /// The rowid must be greater than that of the row before.
    #[inline]
    pub(crate) fn push(&mut self, row: &[Cell<'_>], rowid: u32) -> Result<()> {
        let Some((key, sorter)) = &mut self.rows else { return Ok(()) };
        match key.number(row, rowid) {
            Some(number) => sorter.push(number),
            None => {
                self.rows = None;
                Ok(())
            }
        }
    }

    /// Writes the index. If SQLite must build the index instead, writes nothing and returns its name.
    pub(crate) fn build(self, file: &Arc<PageFile>) -> Result<Option<String>> {
        // Because each write has so few pages, it goes through the page cache. So the index is still cached
        // when the search for duplicate games reads it soon afterwards.
        const PAGES: NonZeroUsize = NonZeroUsize::new(6).expect("six is not zero");
        let Some((key, sorter)) = self.rows else { return Ok(Some(self.name)) };
        let mut writer = LeafWriter::with_buffer(Arc::clone(file), PAGES);
        let mut record = RowRecord::default();
        sorter.for_each(|number| {
            key.show(number, |values| Ok(writer.push_payload(record.of(values.iter().copied()))?))
        })?;
        assemble(file, self.root, [writer.finish_segment()?])?;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Numbers sort like the rows that they encode, and can be decoded.
    #[test]
    fn numbers_stand_for_rows() {
        let integers: Vec<Cell<'_>> =
            [i64::MIN, -1, 0, 1, 255, 1 << 31, i64::MAX].map(Cell::Integer).to_vec();
        let texts = ["", "0", "1992.??.??", "2013.11.09", "A00", "A001", "B", "B90", "\u{e9}", "12345678901"];
        let mut texts: Vec<Cell<'_>> = texts.map(Cell::Text).to_vec();
        texts.sort_by_key(|cell| cell.to_text());
        let seconds = [Cell::Null, Cell::Integer(0), Cell::Integer(1), Cell::Integer((u32::MAX - 1).into())];
        let with_null = |cells: &[Cell<'static>]| [&[Cell::Null], cells].concat();
        let one = |cells: Vec<Cell<'static>>| cells.into_iter().map(|cell| vec![cell]).collect::<Vec<_>>();
        let two = integers.iter().flat_map(|&first| seconds.map(|second| vec![first, second])).collect();
        for (columns, rows) in [
            (Columns::Integer(0), one(with_null(&integers))),
            (Columns::Text(0), one(with_null(&texts))),
            (Columns::Integers(0, 1), two),
        ] {
            for shift in [1, 16, 18, 31] {
                check_order(Key { shift, columns }, &rows);
            }
        }
    }

    /// Checks the numbers of games in two blocks. Each block has games with all values in `rows`, which must
    /// be sorted like the index.
    fn check_order(key: Key, rows: &[Vec<Cell<'_>>]) {
        let size = 1 << key.shift;
        let blocks = [0..size, u32::MAX - (size - 1)..u32::MAX];
        let mut last = None;
        for (block, games) in [0, u32::MAX >> key.shift].into_iter().zip(blocks) {
            for row in rows {
                // The first and the last game of the block. Game 0 does not exist.
                for rowid in BTreeSet::from([games.start.max(1), games.end - 1]) {
                    let number = key.number(row, rowid).unwrap();
                    assert!(last < Some(number), "{key:?} {row:?}");
                    last = Some(number);
                    let [block, rowid] = [block, rowid].map(|number| Cell::Integer(number.into()));
                    let values = [&[block], &row[..], &[rowid]].concat();
                    key.show(number, |shown| assert_eq!(shown, values));
                }
            }
        }
    }

    #[test]
    fn oversized_keys_are_left_to_sqlite() {
        for (columns, row) in [
            (Columns::Integer(0), [Cell::Text("1"), Cell::Null]),
            (Columns::Text(0), [Cell::Text("123456789012"), Cell::Null]),
            (Columns::Text(0), [Cell::Text("a\0"), Cell::Null]),
            (Columns::Text(0), [Cell::Integer(1), Cell::Null]),
            (Columns::Integers(0, 1), [Cell::Null, Cell::Null]),
            (Columns::Integers(0, 1), [Cell::Integer(1), Cell::Integer(-1)]),
            (Columns::Integers(0, 1), [Cell::Integer(1), Cell::Integer(u32::MAX.into())]),
        ] {
            assert_eq!(columns.number(&row), None, "{columns:?} {row:?}");
        }
    }

    #[test]
    fn kinds_of_indexes_are_distinguished() {
        let connection = Connection::open_in_memory().unwrap();
        let schema = "CREATE TABLE t (game_id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c);
            CREATE INDEX i1 ON t (game_id >> 16, a);
            CREATE INDEX i2 ON t (game_id >> 18, b);
            CREATE INDEX i3 ON t (game_id >> 1, a, game_id);
            CREATE INDEX o1 ON t (game_id >> 16, c);
            CREATE INDEX o2 ON t (game_id >> 16, a DESC);
            CREATE INDEX o3 ON t (game_id >> 16, b COLLATE NOCASE);
            CREATE INDEX o4 ON t (game_id >> 16, a + 1);
            CREATE INDEX o5 ON t (game_id >> 16, a) WHERE a > 1;
            CREATE UNIQUE INDEX o6 ON t (game_id >> 16, a);
            CREATE INDEX o7 ON t (game_id >> 16, a, b);
            CREATE INDEX o8 ON t (game_id / 16, a);
            CREATE INDEX o9 ON t (game_id >> 32, a);
            CREATE INDEX p1 ON t (a);
            CREATE INDEX p2 ON t (a, game_id);";
        connection.execute_batch(schema).unwrap();
        let indexes = IndexRows::of_table(&connection, "t", 0, Path::new(".")).unwrap();
        let key = |index: &IndexRows| index.rows.as_ref().map(|rows| rows.0);
        let keys: Vec<(&str, Option<Key>)> = indexes.iter().map(|index| (&*index.name, key(index))).collect();
        let key = |shift, columns| Some(Key { shift, columns });
        let known = [
            ("i1", key(16, Columns::Integer(1))),
            ("i2", key(18, Columns::Text(2))),
            ("i3", key(1, Columns::Integers(1, 0))),
        ];
        assert_eq!(keys[..3], known);
        assert!(keys.len() == 14 && keys[3..].iter().all(|(_, key)| key.is_none()), "{keys:?}");
    }
}
