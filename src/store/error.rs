//! Errors of databases.

use std::fs;
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use crate::error_advice::error_advice;
use crate::pgn::{LOOK_AHEAD, starts_tag_pair};
use crate::store::cell::WrongCell;
use crate::store::lock::LockOwner;
use crate::store::pages::BtreeError;
use crate::store::row::GameId;
use crate::store::schema_version::SchemaVersion;
use crate::store::space::{Need, Size, is_disk_full};
use crate::store::sql::SqlLocation;

/// An error of a database. Most messages say what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such file.
    #[error("{}: no such database; make one with `pgndex index`", path.display())]
    Missing {
        /// The database.
        path: PathBuf,
    },
    /// The file is not an SQLite database, or the path is not that of a file.
    #[error("{}: {}", path.display(), what_instead(path))]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is an SQLite database of another program.
    #[error("{}: an SQLite database, but not made by pgndex; name another file", path.display())]
    OtherProgram {
        /// The database.
        path: PathBuf,
    },
    /// A newer program made the database.
    #[error(
        "{}: made by a newer pgndex (schema version {found}, this program knows {supported}); update pgndex",
        path.display()
    )]
    TooNew {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: SchemaVersion,
        /// The latest version this program supports.
        supported: SchemaVersion,
    },
    /// A version of the program that was never released made the database.
    #[error("{}: made by an unreleased version of pgndex; index its games again", path.display())]
    Unreleased {
        /// The database.
        path: PathBuf,
    },
    /// A file exists where the database is to be built.
    #[error("{}: exists already; name another file, or allow replacing it", path.display())]
    TargetExists {
        /// The target.
        path: PathBuf,
    },
    /// The target of a build exists and may be replaced, but is not a pgndex database.
    #[error(
        "{}: exists and is not a database of pgndex, so it is not replaced; name another file, or remove it first",
        path.display()
    )]
    ForeignTarget {
        /// The target.
        path: PathBuf,
    },
    /// The file system of the database does not support a write-ahead log.
    #[error(
        "{}: on this file system other programs cannot read while games are added; copy the database to a local disk and add the games there",
        path.display()
    )]
    NoSharing {
        /// The database.
        path: PathBuf,
    },
    /// The target of a build is a directory or a link to a missing file, ends with a separator, or has no
    /// file name.
    #[error(
        "{}: {}; give the name of a file", path.display(),
        if path.is_symlink() { "a link to a missing file, so no database is created here" } else { "a database cannot be created here" }
    )]
    NotAFile {
        /// The target.
        path: PathBuf,
    },
    /// The name of the target is too long: temporary files beside it need even longer names.
    #[error("{}: the name is too long for a database; the maximum is {most} bytes", path.display())]
    LongName {
        /// The target.
        path: PathBuf,
        /// The maximum length of a name, in bytes.
        most: usize,
    },
    /// The directory of the target is missing or cannot be written.
    #[error(
        "{}: cannot write into this directory; {}, or choose another place",
        path.display(),
        match error_advice(source) {
            _ if !is_there => "create it",
            Some(error_advice) if !matches!(source.kind(), PermissionDenied | NotFound) => error_advice,
            _ => "check its permissions",
        }
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Whether something exists at this path.
        is_there: bool,
        /// The system's error.
        source: io::Error,
    },
    /// Another process is writing the database, or another connection has locked it.
    #[error(
        "{}: {}; wait until it has finished",
        path.display(),
        holder.as_ref().map_or_else(
            || "in use by another program".to_owned(),
            |holder| format!("being written by {holder}")
        )
    )]
    Busy {
        /// The database.
        path: PathBuf,
        /// The process that writes the database, if it is pgndex and known.
        holder: Option<LockOwner>,
    },
    /// The file is read-only.
    #[error("{}: no permission to write this file; change its permissions, or use a copy", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The disk is full, or a quota or the maximum size of a file is reached.
    #[error(
        "{}: no space left{}{}; free some, or choose another disk",
        path.display(), if path.is_dir() { "" } else { " to write it" }, need.map(|need| format!(" ({need} are needed)")).unwrap_or_default()
    )]
    DiskFull {
        /// The database, its temporary file, or their directory.
        path: PathBuf,
        /// The space that the whole job needs, if known.
        need: Option<Need>,
        /// The system's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is not enough space for a copy.
    #[error(
        "{}: {} are needed here, but only {} are free; free some space, or choose another disk",
        directory.display(), Size(*needed), Size(*free)
    )]
    Space {
        /// The directory.
        directory: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The database is damaged.
    #[error("{}: the database is damaged; build it again", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A cell has a value that its column cannot have.
    #[error("{}: {cell}; `pgndex verify` lists everything that is wrong", path.display())]
    WrongCell {
        /// The database.
        path: PathBuf,
        /// The cell.
        cell: Box<WrongCell>,
    },
    /// A statement of this program failed, most likely because another program changed tables or values.
    #[error("{}: cannot {action}: the database is not as pgndex left it; `pgndex verify` lists what is wrong", path.display())]
    Unsound {
        /// The database.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The start position or a move of a game is not legal.
    #[error("{}: game {} has a start position or a move that is not legal; `pgndex verify` lists what is wrong", path.display(), game.0)]
    UnsoundGame {
        /// The database.
        path: PathBuf,
        /// The game.
        game: GameId,
    },
    /// The path of a copy is not UTF-8; SQLite needs a text.
    #[error("{}: the path is not UTF-8, and SQLite cannot copy a database there; rename the directory or the database", path.display())]
    PathNotUtf8 {
        /// The path of the copy.
        path: PathBuf,
    },
    /// No source has this path.
    #[error("{}: {}; {}`pgndex info` lists the files of this database", path.display(), no_source(source_path), meant(near))]
    UnknownSource {
        /// The database.
        path: PathBuf,
        /// The path looked for.
        source_path: PathBuf,
        /// Similar paths of sources, the most similar first: three at most.
        near: Vec<PathBuf>,
    },
    /// A view has the name of a table that the program needs.
    #[error(
        "{}: {name} is a view, but pgndex needs a table of that name; nothing was written. Drop the view and give the table \
         its name back, or index the games again into another database",
        path.display()
    )]
    ViewForTable {
        /// The database.
        path: PathBuf,
        /// The name of the view and the table.
        name: String,
    },
    /// The numbers of games in `source` or `import` differ from the number of rows in `game`.
    #[error(
        "{}: there are {games} games, but its sources and runs say {told}; another program changed its rows; nothing was \
         written. `pgndex verify` shows more, and `pgndex repair` makes the tables consistent again",
        path.display()
    )]
    CountsDiffer {
        /// The database.
        path: PathBuf,
        /// The number of games.
        games: i64,
        /// The number of games according to `source` or `import`.
        told: i64,
    },
    /// The greatest possible row number of a table is in use, so no number is left for new rows.
    #[error(
        "{}: {table} has a row numbered {last}, so no number is left for another; `pgndex verify` shows \
         whether pgndex wrote it; nothing was added",
        path.display()
    )]
    NumbersUsedUp {
        /// The database.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// The greatest number in use.
        last: u32,
    },
    /// To read the database, SQLite would have to create files beside it, but is not allowed to.
    #[error(
        "{}: SQLite must create files beside this database to read it (it is in WAL mode, or its last writer was killed), but is \
         not allowed to. Open it once where writing is allowed (sqlite3 FILE 'PRAGMA journal_mode = DELETE'), or copy it",
        path.display()
    )]
    NeedsWriting {
        /// The database.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// An operation on a file failed.
    #[error("{}: cannot {action}; {}", path.display(), error_advice(source).unwrap_or("check the disk and the permissions"))]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// SQLite reported an error.
    #[error("{}: cannot {action}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A build was to be moved to its target before its bulk load was finished.
    #[error("{}: the bulk load is not finished; this is a bug in pgndex, please report it", path.display())]
    Unfinished {
        /// The temporary file.
        path: PathBuf,
    },
    /// The bulk load wrote fewer rows than it received.
    #[error(
        "{}: wrote {written} of {given} rows of table {table}; this is a bug in pgndex, please report it",
        path.display()
    )]
    RowsLost {
        /// The database.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// Rows received.
        given: usize,
        /// Rows written.
        written: usize,
    },
    /// Games that were to be removed still exist because of a trigger.
    #[error(
        "{}: a trigger of the table game prevents the removal of games; nothing was changed; drop the trigger first",
        path.display()
    )]
    Kept {
        /// The database.
        path: PathBuf,
    },
    /// There is no game with this number.
    #[error("{}: {}", path.display(), no_game(*game, *last))]
    NoSuchGame {
        /// The database.
        path: PathBuf,
        /// The number.
        game: GameId,
        /// The last existing game; `None` if there are no games.
        last: Option<GameId>,
    },
    /// A user's statement is invalid SQL, or failed.
    #[error("{message}{}", place.as_ref().map_or_else(String::new, |place| format!("\n{place}")))]
    Query {
        /// What is wrong.
        message: String,
        /// The place of the error in the SQL, if SQLite reports it.
        place: Option<Box<SqlLocation>>,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A statement, or other long work, was stopped before its end.
    #[error("stopped before the end")]
    Interrupted,
    /// A user's query has no statement.
    #[error("the query is empty; give a statement, such as SELECT * FROM games LIMIT 10")]
    EmptyQuery,
    /// A user's query has more than one statement.
    #[error("the query has more than one statement; give them one at a time")]
    MultipleStatements,
    /// A user's statement would change the database.
    #[error("this would change the database; only reading is allowed here")]
    NotReadOnly,
    /// Pages of the database could not be read or written.
    #[error(transparent)]
    Pages(BtreeError),
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The database or file that the error is about; `None` for errors without a path.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Missing { path, .. }
            | Self::NotADatabase { path, .. }
            | Self::OtherProgram { path, .. }
            | Self::TooNew { path, .. }
            | Self::Unreleased { path, .. }
            | Self::TargetExists { path, .. }
            | Self::ForeignTarget { path, .. }
            | Self::NoSharing { path, .. }
            | Self::NotAFile { path, .. }
            | Self::LongName { path, .. }
            | Self::Directory { path, .. }
            | Self::Busy { path, .. }
            | Self::ReadOnly { path, .. }
            | Self::DiskFull { path, .. }
            | Self::Space { directory: path, .. }
            | Self::Corrupt { path, .. }
            | Self::WrongCell { path, .. }
            | Self::Unsound { path, .. }
            | Self::UnsoundGame { path, .. }
            | Self::PathNotUtf8 { path, .. }
            | Self::UnknownSource { path, .. }
            | Self::CountsDiffer { path, .. }
            | Self::ViewForTable { path, .. }
            | Self::NumbersUsedUp { path, .. }
            | Self::NeedsWriting { path, .. }
            | Self::Io { path, .. }
            | Self::Sqlite { path, .. }
            | Self::Unfinished { path, .. }
            | Self::RowsLost { path, .. }
            | Self::Kept { path, .. }
            | Self::NoSuchGame { path, .. } => Some(path),
            Self::Pages(error) => error.path(),
            Self::Query { .. }
            | Self::Interrupted
            | Self::EmptyQuery
            | Self::MultipleStatements
            | Self::NotReadOnly => None,
        }
    }

    /// Converts an error of SQLite into an error that the user can act on.
    pub(crate) fn sqlite(path: &Path, action: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if let Some(cell) = WrongCell::from_error(&source) {
            return Self::WrongCell { path, cell: Box::new(cell.clone()) };
        }
        let (code, extended) = match &source {
            rusqlite::Error::SqliteFailure(error, _) => (error.code, error.extended_code),
            _ if is_about_values(&source) => return Self::Unsound { path, action, source },
            _ => return Self::Sqlite { path, action, source },
        };
        match code {
            ErrorCode::DiskFull => Self::DiskFull { path, need: None, source: source.into() },
            // SQLite reports a reached limit of the file size as a plain write error. If a full disk keeps
            // the shared memory of a write-ahead log from growing, SQLite reports `IOERR_SHMSIZE`.
            ErrorCode::SystemIoFailure
                if [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE].contains(&extended) =>
            {
                Self::DiskFull { path, need: None, source: source.into() }
            }
            // Other extended codes have other reasons: for example, a recovery after a crash is necessary.
            ErrorCode::ReadOnly if extended == ffi::SQLITE_READONLY => Self::ReadOnly { path, source },
            ErrorCode::NotADatabase => Self::NotADatabase { path },
            ErrorCode::DatabaseCorrupt => Self::Corrupt { path, source },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { path, holder: None },
            ErrorCode::OperationInterrupted => Self::Interrupted,
            // A statement of this program fails in this way only if somebody changed a table, a column or a
            // value.
            _ if extended == ffi::SQLITE_ERROR => Self::Unsound { path, action, source },
            ErrorCode::TypeMismatch | ErrorCode::TooBig => Self::Unsound { path, action, source },
            _ => Self::Sqlite { path, action, source },
        }
    }

    /// Converts the error of a reader that may not recover a log or journal into [`Error::NeedsWriting`];
    /// other errors are returned unchanged.
    pub(super) fn during_recovery(self) -> Self {
        match self {
            Self::Sqlite { path, source, .. } if source.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
                Self::NeedsWriting { path, source }
            }
            error => error,
        }
    }

    /// Converts an error of the system into an error that the user can act on.
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        if is_disk_full(source.kind()) {
            Self::DiskFull { path, need: None, source: source.into() }
        } else {
            Self::Io { path, action, source }
        }
    }

    /// The error for a directory in which no file can be created.
    pub(crate) fn directory(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if is_disk_full(source.kind()) {
            Self::DiskFull { path, need: None, source: source.into() }
        } else {
            Self::Directory { is_there: path.exists(), path, source }
        }
    }

    /// Adds the space that the work needs, if the error is [`Error::DiskFull`].
    pub(crate) fn needing(self, need: Option<Need>) -> Self {
        match self {
            Self::DiskFull { path, need: None, source } => Self::DiskFull { path, need, source },
            other => other,
        }
    }
}

/// Whether an error shows that tables or values are not as this program expects.
fn is_about_values(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as Sql;
    // Without the feature `bundled`, invalid SQL is reported as an ordinary failure.
    #[cfg(feature = "bundled")]
    if matches!(error, Sql::SqlInputError { .. }) {
        return true;
    }
    matches!(
        error,
        Sql::InvalidColumnType(..)
            | Sql::FromSqlConversionFailure(..)
            | Sql::IntegralValueOutOfRange(..)
            | Sql::Utf8Error(..)
            | Sql::QueryReturnedNoRows
    )
}

/// Describes what the path is instead of a database, and suggests what to do.
fn what_instead(path: &Path) -> &'static str {
    let mut head = Vec::new();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return "a directory, not a database; name a file in it",
        Ok(metadata) if metadata.len() == 0 => {
            return "an empty file, not a database; `pgndex index` makes one";
        }
        Ok(metadata) if metadata.is_file() => {
            let _ = fs::File::open(path).and_then(|file| file.take(LOOK_AHEAD as u64).read_to_end(&mut head));
        }
        _ => {}
    }
    if starts_tag_pair(head.trim_ascii_start()) {
        return "this is a PGN file, not a database; give a database as the first argument (`pgndex index` makes one)";
    }
    "not an SQLite database; is this the right file?"
}

/// Suggests paths similar to an unknown path.
/// Says that there is no game with this number, and why.
pub(crate) fn no_game(game: GameId, last: Option<GameId>) -> String {
    let why = match last {
        None => "there are no games".to_owned(),
        Some(last) if (1..last.0).contains(&game.0) => {
            "it was removed, or was read again later and has another number now".to_owned()
        }
        Some(last) => format!("the games have the numbers 1 to {}", last.0),
    };
    format!("no game {}; {why}", game.0)
}

/// Says that no source has this path, or this number.
pub(crate) fn no_source(path: &Path) -> String {
    let path = path.display().to_string();
    if path.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("no file has the number or the path {path}");
    }
    format!("no games were indexed from {path}")
}

fn meant(near: &[PathBuf]) -> String {
    let near: Vec<_> = near.iter().map(|path| format!("\"{}\"", path.display())).collect();
    match near.split_last() {
        None => String::new(),
        Some((last, [])) => format!("did you mean {last}? "),
        Some((last, others)) => format!("did you mean {} or {last}? ", others.join(", ")),
    }
}

impl From<BtreeError> for Error {
    fn from(error: BtreeError) -> Self {
        match error {
            BtreeError::Io { path, source, .. } if is_disk_full(source.kind()) => {
                Self::DiskFull { path, need: None, source: source.into() }
            }
            other => Self::Pages(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_file_have_its_path() {
        let path = PathBuf::from("games.db");
        let unsuitable = BtreeError::Unsuitable { path: path.clone(), reason: "it is too old" };
        for error in [Error::Unreleased { path: path.clone() }, Error::Pages(unsuitable)] {
            assert_eq!(error.path(), Some(path.as_path()), "{error:?}");
        }
        assert_eq!(Error::Pages(BtreeError::Room).path(), None);
    }
}
