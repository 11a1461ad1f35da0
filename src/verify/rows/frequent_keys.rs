//! Checks the lists of frequent keys of levels.

use rusqlite::Connection;

use crate::store::frequent_keys::FrequentKeys;
use crate::verify::finding::{Collector, FindingKind, RowId};

const TABLE: &str = "occurrence_level";

/// The lists of frequent keys of all levels that have such a list.
#[derive(Debug, Default)]
pub(crate) struct ListedKeys(Vec<(i64, FrequentKeys)>);

impl ListedKeys {
    /// Reads the lists. Unreadable lists are reported.
    pub(crate) fn read(connection: &Connection, findings: &Collector) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare(
            "SELECT level, frequent_keys FROM occurrence_level WHERE frequent_keys NOTNULL ORDER BY level",
        )?;
        let mut rows = statement.query([])?;
        let mut lists = Vec::new();
        while let Some(row) = rows.next()? {
            let level = row.get(0)?;
            match row.get_ref(1)?.as_blob().ok().and_then(FrequentKeys::from_bytes) {
                Some(keys) => lists.push((level, keys)),
                None => {
                    let found = "frequent_keys is not a list of keys";
                    findings.about(FindingKind::WrongValue, TABLE, RowId::new([("level", level)]), found);
                }
            }
        }
        Ok(Self(lists))
    }

    /// Reports a key with more rows in a level than the list of the level allows: the key would be missed
    /// when games are added.
    pub(crate) fn check(&self, level: i64, key: i64, rows: u32, findings: &Collector) {
        let Ok(index) = self.0.binary_search_by_key(&level, |(level, _)| *level) else { return };
        let most = self.0[index].1.most_rows(key);
        if rows > most {
            let found =
                format!("key {key} has {rows} rows in the level, but frequent_keys allows at most {most}");
            findings.about(FindingKind::WrongCount, TABLE, RowId::new([("level", level)]), found);
        }
    }
}
