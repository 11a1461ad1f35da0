//! Rowid tables that are built as pages, compared with what SQLite reads.

use std::path::Path;
use std::sync::Arc;

use crate::properties::cases;
use crate::support::directory_for;
use pgndex::store::pages::{BtreeError, PageFile, PageNumber, PageSize, TableWriter};
use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

/// An empty table `t` with a rowid and a text, and an empty table without a rowid.
fn empty(page_size: u32) -> (TempDir, Connection) {
    let directory = directory_for(0);
    let connection = Connection::open(directory.path().join("test.db")).unwrap();
    connection.pragma_update(None, "page_size", page_size).unwrap();
    let schema = "PRAGMA synchronous = OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
        CREATE TABLE other (a PRIMARY KEY) WITHOUT ROWID";
    connection.execute_batch(schema).unwrap();
    (directory, connection)
}

fn root(connection: &Connection, name: &str) -> PageNumber {
    let query = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    PageNumber(connection.query_row(query, [name], |row| row.get(0)).unwrap())
}

/// A record of NULL, which stands for the rowid, and a text.
fn record(text: &str) -> Vec<u8> {
    let mut serial_type = 13 + 2 * text.len();
    let mut types = vec![(serial_type & 0x7f) as u8];
    while serial_type >= 0x80 {
        serial_type >>= 7;
        types.insert(0, (serial_type & 0x7f) as u8 | 0x80);
    }
    [&[types.len() as u8 + 2, 0], &types[..], text.as_bytes()].concat()
}

fn build(path: &Path, root: PageNumber, rows: &[(u32, String)]) -> Result<(), BtreeError> {
    let file = Arc::new(PageFile::open(path)?);
    let mut writer = TableWriter::new(Arc::clone(&file));
    rows.iter().try_for_each(|(rowid, text)| writer.push(*rowid, &record(text)))?;
    writer.finish(root)?;
    file.finish()
}

/// Builds a table of these rows, and compares its contents with them.
fn check(page_size: u32, rows: &[(u32, String)]) {
    let (directory, connection) = empty(page_size);
    let root = root(&connection, "t");
    let path = directory.path().join("test.db");
    connection.close().unwrap();
    build(&path, root, rows).unwrap();
    let connection = Connection::open(path).unwrap();
    let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok", "{} rows on pages of {page_size} bytes", rows.len());
    let mut query = connection.prepare("SELECT id, text FROM t").unwrap();
    let found: Vec<(u32, String)> =
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    assert!(found == rows, "{} rows on pages of {page_size} bytes", rows.len());
    let mut query = connection.prepare("SELECT text FROM t WHERE id = ?1").unwrap();
    for (rowid, text) in rows.iter().step_by(1 + rows.len() / 100) {
        assert_eq!(query.query_row([rowid], |row| row.get::<_, String>(0)).as_ref(), Ok(text));
    }
    drop(query);
    // SQLite can change the table.
    connection.execute_batch("INSERT INTO t (text) VALUES ('more'); DELETE FROM t WHERE id % 3 = 0").unwrap();
    let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

fn text(length: usize) -> String {
    (0..length).map(|at| char::from(b'a' + (at % 26) as u8)).collect()
}

#[test]
fn any_number_of_rows() {
    for page_size in [512, 8192] {
        let per_leaf = page_size as usize / 64;
        // Numbers of rows that fill about one, two or three leaves.
        let edges = (1..4).flat_map(|leaves| leaves * per_leaf - 6..leaves * per_leaf + 3);
        for count in (0..4).chain(edges) {
            let rows: Vec<_> = (1..=count as u32).map(|rowid| (rowid, text(56))).collect();
            check(page_size, &rows);
        }
        // As many leaves as an interior page has room for, one more, and enough for three levels.
        let children = (page_size as usize - 12) / 11 + 1;
        for leaves in [children, children + 1, 4 * children] {
            let long = PageSize::new(page_size).unwrap().max_table_payload() - 20;
            let rows: Vec<_> = (1..=leaves as u32).map(|row| (row * 100_000, text(long))).collect();
            check(page_size, &rows);
        }
    }
}

#[test]
fn rows_of_any_length() {
    for page_size in [512, 1024, 8192, 65536] {
        let size = page_size as usize;
        let edges = [size - 35, size, 2 * size - 43, 2 * size, 3 * size - 50, 20 * size];
        let lengths = edges.iter().flat_map(|edge| edge - 12..edge + 12);
        let rows: Vec<_> = lengths.zip(1..).map(|(length, rowid)| (rowid, text(length))).collect();
        check(page_size, &rows);
    }
}

#[test]
fn other_pages_are_not_roots() {
    let (directory, connection) = empty(8192);
    let other = root(&connection, "other");
    connection.execute("INSERT INTO t VALUES (1, 'x')", []).unwrap();
    let full = root(&connection, "t");
    connection.close().unwrap();
    for root in [PageNumber(0), PageNumber(1), other, full, PageNumber(99)] {
        let result = build(&directory.path().join("test.db"), root, &[(1, text(3))]);
        assert!(matches!(result, Err(BtreeError::Root { .. })), "{root}: {result:?}");
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn any_rows(
        rows in proptest::collection::vec((1..1_000_000_u32, prop_oneof![0..80_usize, 0..9000_usize]), 0..400),
        page_size in prop_oneof![Just(512), Just(4096), Just(8192)],
    ) {
        let mut rowid = 0;
        let rows: Vec<_> = rows.into_iter().map(|(step, length)| { rowid += step; (rowid, text(length)) }).collect();
        check(page_size, &rows);
    }
}
