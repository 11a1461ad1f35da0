//! Paths of sources in the database.

use std::path::Path;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A path as a value of SQLite: text if it is UTF-8, else a blob of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredPath<P>(pub(crate) P);

impl<P: AsRef<Path>> ToSql for StoredPath<P> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let path = self.0.as_ref();
        let bytes = path.as_os_str().as_encoded_bytes();
        Ok(ToSqlOutput::Borrowed(match path.to_str() {
            Some(text) => ValueRef::Text(text.as_bytes()),
            None => ValueRef::Blob(bytes),
        }))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::path_bytes::path_of_bytes;
    use crate::properties::cases;
    use crate::store::cell::{Cells, SOURCE};
    use proptest::prelude::*;
    use rusqlite::Connection;

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn every_path_is_decoded_again(bytes in prop_oneof![
            proptest::collection::vec(1..=255_u8, 0..40),
            "\\PC{0,20}".prop_map(String::into_bytes),
        ]) {
            let database = Connection::open_in_memory().unwrap();
            database.execute_batch("CREATE TABLE source (path TEXT NOT NULL)").unwrap();
            let path = path_of_bytes(&bytes);
            database.execute("INSERT INTO source VALUES (?1)", [StoredPath(&path)]).unwrap();
            let read = |row: &rusqlite::Row<'_>| {
                Ok((Cells::new(row, SOURCE).get("path")?, row.get::<_, String>("kind")?))
            };
            let (back, kind): (PathBuf, _) =
                database.query_row("SELECT path, typeof(path) AS kind FROM source", [], read).unwrap();
            prop_assert_eq!(back, path);
            prop_assert_eq!(kind, if std::str::from_utf8(&bytes).is_ok() { "text" } else { "blob" });
        }
    }
}
