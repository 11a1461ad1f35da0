//! Configures SQLite, and reports how it was compiled.
#![allow(unsafe_code)]

use rusqlite::{Connection, ffi};

/// The flags in `.cargo/config.toml` for compiling SQLite. Cargo reads that file only if it is run inside the
/// project's directory; other builds lack the flags.
const FLAGS: &str =
    "-DSQLITE_ENABLE_DBPAGE_VTAB -USQLITE_ENABLE_MEMORY_MANAGEMENT -DSQLITE_MAX_MMAP_SIZE=0x100000000000";

/// Disables SQLite's memory statistics: their lock would make all connections wait for each other. Must be
/// called before the first connection is opened.
pub(crate) fn set_up() {
    // SAFETY: `main` calls this before a connection is opened or a thread is started; the option takes one
    // int. If SQLite refuses the option, it keeps the statistics, and is only slower.
    unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0_i32) };
}

/// A compile-time option of SQLite whose presence or absence makes this program fast.
#[derive(Debug, PartialEq, Eq)]
struct RecommendedSetting {
    option: &'static str,
    /// True if SQLite should have the option, false if SQLite should lack it.
    is_wanted: bool,
    /// What is slow if SQLite differs from this setting.
    cost: &'static str,
}

const RECOMMENDED: [RecommendedSetting; 3] = [
    RecommendedSetting {
        option: "ENABLE_DBPAGE_VTAB",
        is_wanted: true,
        cost: "no ENABLE_DBPAGE_VTAB: games are added to a database row by row, which takes several times as long",
    },
    RecommendedSetting {
        option: "ENABLE_MEMORY_MANAGEMENT",
        is_wanted: false,
        cost: "ENABLE_MEMORY_MANAGEMENT: in `index` and `serve`, threads wait for each other",
    },
    RecommendedSetting {
        // The default depends on the system: about 2 GB, or 0.
        option: "MAX_MMAP_SIZE=0x100000000000",
        is_wanted: true,
        cost: "a low MAX_MMAP_SIZE: when games are added to a database of more than 2 GB, pages that are read are copied",
    },
];

impl RecommendedSetting {
    /// Whether an SQLite library with these compile-time options differs from this setting.
    fn is_lacking(&self, options: &[String]) -> bool {
        options.iter().any(|option| option == self.option) != self.is_wanted
    }
}

/// The settings that this program's SQLite lacks.
fn lacking() -> rusqlite::Result<Vec<&'static RecommendedSetting>> {
    let connection = Connection::open_in_memory()?;
    let mut options = connection.prepare("PRAGMA compile_options")?;
    let options: Vec<String> = options.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(RECOMMENDED.iter().filter(|way| way.is_lacking(&options)).collect())
}

/// A text that lists the missing settings with their effects and how to get them, or says that none is
/// missing.
fn describe(lacking: &[&RecommendedSetting]) -> String {
    if lacking.is_empty() {
        return "built with all recommended settings".into();
    }
    let mut text = String::from("built without these recommended settings:");
    for way in lacking {
        text += &format!("\n  {}", way.cost);
    }
    text += "\nto get them, build in a copy of the project, or anywhere with this environment variable:";
    text + &format!("\n  LIBSQLITE3_FLAGS=\"{FLAGS}\"")
}

/// The versions of the program and of SQLite, and how SQLite was compiled.
pub(crate) fn versions() -> rusqlite::Result<String> {
    let described = describe(&lacking()?);
    Ok(format!("pgndex {}\nSQLite {}\n{described}", env!("CARGO_PKG_VERSION"), rusqlite::version()))
}

/// The note that `index` prints before it adds games to an existing database, if SQLite lacks recommended
/// settings. The note is one line, because it is printed at each such run.
pub(crate) fn note() -> Option<&'static str> {
    note_on(&lacking().unwrap_or_default())
}

fn note_on(lacking: &[&RecommendedSetting]) -> Option<&'static str> {
    (!lacking.is_empty()).then_some(
        "this build lacks recommended settings, so adding games is slow; `pgndex --version --verbose` lists these settings",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_settings_are_reported() {
        assert_eq!(lacking().unwrap(), [&RECOMMENDED[0]; 0], "built without the flags of .cargo/config.toml");
        let of_libsqlite3_sys = ["ENABLE_MEMORY_MANAGEMENT", "MAX_MMAP_SIZE=0x7fff0000"].map(str::to_owned);
        assert!(RECOMMENDED.iter().all(|way| way.is_lacking(&of_libsqlite3_sys)));
        assert_eq!(note(), None);
        assert!(note_on(&[&RECOMMENDED[0]]).is_some());
        insta::assert_snapshot!(describe(&RECOMMENDED.each_ref()), @r#"
        built without these recommended settings:
          no ENABLE_DBPAGE_VTAB: games are added to a database row by row, which takes several times as long
          ENABLE_MEMORY_MANAGEMENT: in `index` and `serve`, threads wait for each other
          a low MAX_MMAP_SIZE: when games are added to a database of more than 2 GB, pages that are read are copied
        to get them, build in a copy of the project, or anywhere with this environment variable:
          LIBSQLITE3_FLAGS="-DSQLITE_ENABLE_DBPAGE_VTAB -USQLITE_ENABLE_MEMORY_MANAGEMENT -DSQLITE_MAX_MMAP_SIZE=0x100000000000"
        "#);
    }

    #[test]
    fn the_flags_are_those_of_this_build() {
        let config = include_str!("../../../.cargo/config.toml");
        assert!(config.contains(&format!("\nLIBSQLITE3_FLAGS = \"{FLAGS}\"\n")), "{config}");
    }
}
