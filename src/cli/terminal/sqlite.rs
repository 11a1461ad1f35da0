//! How SQLite is set up, and what it was compiled with.
#![allow(unsafe_code)]

use rusqlite::{Connection, ffi};

/// With this, games are added to a database as pages.
const PAGES: &str = "ENABLE_DBPAGE_VTAB";
/// With this, all connections share one lock around their page caches.
const SHARED_LOCK: &str = "ENABLE_MEMORY_MANAGEMENT";
const REMEDY: &str = "compile it with the LIBSQLITE3_FLAGS that .cargo/config.toml has";

/// Has SQLite count no memory: all connections would wait for each other to count. To be called before the first is opened.
pub(crate) fn set_up() {
    // SAFETY: no connection is open and no other thread runs, as `main` calls this first; the option takes one int. If it is
    // refused, SQLite counts, which is slower and nothing else.
    unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0_i32) };
}

/// What SQLite was compiled with, as far as this program cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Compiled {
    has_pages: bool,
    has_shared_lock: bool,
}

impl Compiled {
    fn read() -> rusqlite::Result<Self> {
        let options = Connection::open_in_memory()?;
        let mut options = options.prepare("PRAGMA compile_options")?;
        let options: Vec<String> =
            options.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let has = |option: &str| options.iter().any(|found| found == option);
        Ok(Self { has_pages: has(PAGES), has_shared_lock: has(SHARED_LOCK) })
    }

    /// What is wanting: a sentence each.
    fn wants(self) -> Vec<String> {
        let mut wants = Vec::new();
        if !self.has_pages {
            wants.push(format!(
                "SQLite lacks {PAGES}: adding to a large database takes much longer; {REMEDY}"
            ));
        }
        if self.has_shared_lock {
            wants.push(format!("SQLite has {SHARED_LOCK}: threads wait for each other; {REMEDY}"));
        }
        wants
    }

    fn describe(self) -> String {
        let mut text = format!("SQLite {}", rusqlite::version());
        let is = |is_good: bool| if is_good { "yes" } else { "no" };
        text += &format!("\n  games are added as pages ({PAGES}): {}", is(self.has_pages));
        text += &format!(
            "\n  threads do not wait for each other (no {SHARED_LOCK}): {}",
            is(!self.has_shared_lock)
        );
        for want in self.wants() {
            text += &format!("\n  {want}");
        }
        text
    }
}

/// The versions of the program and of SQLite, and how that was compiled.
pub(crate) fn versions() -> rusqlite::Result<String> {
    Ok(format!("pgndex {}\n{}", env!("CARGO_PKG_VERSION"), Compiled::read()?.describe()))
}

/// What to say before games are added to a database: a sentence each.
pub(crate) fn wants() -> Vec<String> {
    Compiled::read().map_or_else(|_| Vec::new(), Compiled::wants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanting_is_told() {
        let good = Compiled { has_pages: true, has_shared_lock: false };
        assert_eq!(Compiled::read().unwrap(), good);
        assert!(good.wants().is_empty());
        let bad = Compiled { has_pages: false, has_shared_lock: true };
        insta::assert_snapshot!(bad.wants().join("\n"), @"
        SQLite lacks ENABLE_DBPAGE_VTAB: adding to a large database takes much longer; compile it with the LIBSQLITE3_FLAGS that .cargo/config.toml has
        SQLite has ENABLE_MEMORY_MANAGEMENT: threads wait for each other; compile it with the LIBSQLITE3_FLAGS that .cargo/config.toml has
        ");
        assert_eq!(bad.describe().lines().skip(1).count(), 4);
    }
}
