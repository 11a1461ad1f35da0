//! Errors of databases.

use std::fmt;
use std::fs;
use std::io;
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use crate::error_advice::error_advice;
use crate::pgn::{LOOK_AHEAD, starts_tag_pair};
use crate::positioned_io::read_start;
use crate::store::cell::WrongCell;
use crate::store::pages::BtreeError;
use crate::store::row::GameId;
use crate::store::schema_version::SchemaVersion;
use crate::store::space::{FreeSize, Need, Size, is_disk_full, is_file_size_limited};
use crate::store::sql::SqlLocation;

/// An error of a database. Most messages say what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error about a file or a directory.
    #[error("{}: {kind}", path.display())]
    File {
        /// The database, another file, or a directory.
        path: PathBuf,
        /// What is wrong.
        kind: ErrorKind,
        /// The error of SQLite or of the system, if there is one.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The file is not an SQLite database, or the path is not that of a file.
    #[error("{}: {}", path.display(), what_instead(path))]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full, or a quota or the maximum size of a file is reached.
    #[error(
        "{}: no space left{}{}; free some, or choose another disk",
        path.display(), if path.is_dir() { "" } else { " to write it" }, need.map(|need| format!(" ({need} is needed)")).unwrap_or_default()
    )]
    DiskFull {
        /// The database, its temporary file, or their directory.
        path: PathBuf,
        /// The space that the whole job needs, as far as known.
        need: Option<Need>,
        /// The error of the system or of SQLite.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A user's statement is invalid SQL, or failed.
    #[error("{message}{}", place.as_ref().map_or_else(String::new, |place| format!("\n{place}")))]
    Query {
        /// What is wrong.
        message: String,
        /// The location of the error in the SQL, if SQLite reports it.
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
    #[error("the query has more than one statement; run one statement at a time")]
    MultipleStatements,
    /// A user's statement would change the database.
    #[error("this would change the database; only reading is allowed here")]
    NotReadOnly,
    /// Pages of the database could not be read or written.
    #[error(transparent)]
    Pages(BtreeError),
}

/// What is wrong with a file or a directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no database at this path.
    #[error("no such database; create one with `pgndex index`")]
    Missing,
    /// The file is an SQLite database of another program.
    #[error("an SQLite database of another program; choose another file")]
    OtherProgram,
    /// A newer program made the database.
    #[error("made by a newer pgndex (schema version {found}, this program knows {supported}); update pgndex")]
    TooNew {
        /// The schema version of the database.
        found: SchemaVersion,
        /// The latest version this program supports.
        supported: SchemaVersion,
    },
    /// A version of the program that was never released made the database.
    #[error("made by an unreleased version of pgndex; index its games again")]
    Unreleased,
    /// A file exists at the path of a new database or copy, and the caller did not allow replacing it.
    #[error("already exists; choose another file name, or allow replacing the file")]
    TargetExists,
    /// A file exists at the path of a new database or copy. It is neither empty nor a pgndex database, so it
    /// is not replaced.
    #[error(
        "already exists and is not a pgndex database, so it is not replaced; choose another file name, or \
         remove the file first"
    )]
    ForeignTarget,
    /// The file system of the database does not support a write-ahead log.
    #[error(
        "on this file system, other programs cannot read the database while games are added; copy the database to a local disk and add the games there"
    )]
    NoSharing,
    /// There cannot be a database at this path: it names a directory, a device or a link to a missing file, ends
    /// with a separator, or has no file name.
    #[error("{0}; give the name of a file")]
    NotAFile(
        /// The reason.
        &'static str,
    ),
    /// The name of a database is too long: temporary files beside it need even longer names.
    #[error("the name is too long for a database; the maximum is {most} bytes")]
    LongName {
        /// The maximum length of a name, in bytes.
        most: usize,
    },
    /// SQLite would take the database for the log or journal of another database, and delete it.
    #[error("a name that ends with -wal, -shm or -journal is for SQLite's own files; choose another name")]
    ReservedName,
    /// The directory of a database is missing, or no file can be created in it.
    #[error("{problem}; {advice}, or choose another directory")]
    Directory {
        /// What is wrong.
        problem: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// Another process is writing the database, or another connection has locked it.
    #[error(
        "{}; wait until it has finished",
        .0.as_ref().map_or_else(|| "in use by another program".to_owned(), |holder| format!("being written by {holder}"))
    )]
    Busy(
        /// The pgndex process that is writing the database; `None` if it is unknown, or if another program
        /// uses the database.
        Option<LockOwner>,
    ),
    /// The file is read-only.
    #[error("no permission to write this file; change its permissions, or use a copy")]
    ReadOnly,
    /// The directory does not have enough free space for a copy of a database.
    #[error(
        "{} is needed here, but only {} is free; free some space, or choose another disk",
        Size(*needed), FreeSize(*free)
    )]
    Space {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The database is damaged.
    #[error("the database is damaged; build it again")]
    Corrupt,
    /// A cell has a value that its column cannot have.
    #[error("{0}; check the database with `pgndex verify`")]
    WrongCell(
        /// The cell.
        Box<WrongCell>,
    ),
    /// A statement of this program failed, most likely because another program changed tables or values.
    #[error(
        "cannot {action}: another program seems to have changed the database; `pgndex verify` lists what is wrong"
    )]
    Unsound {
        /// The operation that failed.
        action: &'static str,
    },
    /// The start position or a move of a game is not legal.
    #[error("game {} has a start position or a move that is not legal; `pgndex verify` lists what is wrong", game.0)]
    UnsoundGame {
        /// The game.
        game: GameId,
    },
    /// The path of a copy is not UTF-8, but SQLite requires UTF-8.
    #[error(
        "the path is not UTF-8, and SQLite cannot copy a database there; rename the directory or the database"
    )]
    PathNotUtf8,
    /// No source has this path or id.
    #[error("{}; {}`pgndex info` lists the files of this database", no_source(source_path), meant(near))]
    UnknownSource {
        /// The path looked for.
        source_path: PathBuf,
        /// At most three similar paths of sources, the most similar first.
        near: Vec<PathBuf>,
    },
    /// A database cannot be converted to the other layout, because a user added an index, trigger, view or
    /// column that the conversion cannot keep.
    #[error("{0} cannot be kept in the other layout; drop it first")]
    CannotConvert(
        /// The kind and the name of the object, such as `the index by_fen`.
        String,
    ),
    /// A database cannot be converted to the other layout, because the stored positions or moves of a game
    /// are incomplete.
    #[error("game_position does not have all positions of game {0}; `pgndex verify` lists what is wrong")]
    IncompletePositions(
        /// The id of an incomplete game.
        i64,
    ),
    /// A view has the name of a table that the program needs.
    #[error(
        "{0} is a view, but pgndex needs a table of that name; nothing was written. Drop the view and give the table its name \
         back, or index the games again into another database"
    )]
    ViewForTable(
        /// The name of the view and the table.
        String,
    ),
    /// The number of rows of `game` differs from the number of games according to the rows of `source` or
    /// `import`.
    #[error(
        "the database has {games} games, but should have {counted} according to its sources and runs (tables `source` and \
         `import`); another program changed its rows; nothing was written. `pgndex verify` shows more, and `pgndex repair` \
         makes the tables consistent again"
    )]
    CountsDiffer {
        /// The number of games.
        games: i64,
        /// The number of games according to `source` or `import`.
        counted: i64,
    },
    /// The greatest possible id of a table's rows is in use, so no id is left for new rows.
    #[error(
        "table {table} has a row with the greatest possible id, {last}, so no id is left for new rows. Nothing was \
         added. Run `pgndex verify`: if it reports this row, another program added it; otherwise, index new games into another database"
    )]
    NumbersUsedUp {
        /// The table.
        table: &'static str,
        /// The greatest id in use.
        last: u32,
    },
    /// To read the database, SQLite would have to create files beside it, but is not allowed to.
    #[error(
        "SQLite must create files beside this database to read it (it is in WAL mode, or its last writer was killed), but is \
         not allowed to. Make its directory writable and run `sqlite3 FILE 'PRAGMA journal_mode = DELETE'` once, or copy the \
         database into a writable directory"
    )]
    NeedsWriting,
    /// An operation on a file failed.
    #[error("cannot {action}; {advice}")]
    Io {
        /// The operation that failed.
        action: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// SQLite reported an error.
    #[error("cannot {action}")]
    Sqlite {
        /// The operation that failed.
        action: &'static str,
    },
    /// A write cannot be completed: an earlier step has failed, indexes are still hidden, a transaction is
    /// still open, or the transaction for the write has already ended.
    #[error("the bulk load is not finished; this is a bug in pgndex, please report it")]
    Unfinished,
    /// The bulk load wrote fewer rows than it received.
    #[error("wrote {written} of {given} rows of table {table}; this is a bug in pgndex, please report it")]
    RowsLost {
        /// The table.
        table: &'static str,
        /// Rows received.
        given: usize,
        /// Rows written.
        written: usize,
    },
    /// Games that were to be removed still exist because of a trigger.
    #[error(
        "a trigger of the table game prevents the removal of games; nothing was changed; drop the trigger first"
    )]
    Kept,
    /// There is no game with this id.
    #[error("{}", no_game(*game, *last))]
    NoSuchGame {
        /// The id.
        game: GameId,
        /// The last existing game; `None` if there are no games.
        last: Option<GameId>,
    },
}

impl ErrorKind {
    /// An error of this kind about a file or a directory.
    #[must_use]
    pub fn at(self, path: &Path) -> Error {
        Error::File { path: path.to_owned(), kind: self, source: None }
    }

    fn because(self, path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::File { path: path.to_owned(), kind: self, source: Some(source.into()) }
    }
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The database or file that the error is about; `None` for errors without a path.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } | Self::NotADatabase { path } | Self::DiskFull { path, .. } => Some(path),
            Self::Pages(error) => error.path(),
            _ => None,
        }
    }

    /// Whether somebody else is writing the database, or has locked it.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::File { kind: ErrorKind::Busy(_), .. })
    }

    /// Converts an error of SQLite into an error that the user can act on.
    pub(crate) fn sqlite(path: &Path, action: &'static str, source: rusqlite::Error) -> Self {
        if let Some(cell) = WrongCell::from_error(&source) {
            return ErrorKind::WrongCell(Box::new(cell.clone())).at(path);
        }
        let (code, extended) = match &source {
            rusqlite::Error::SqliteFailure(error, _) => (error.code, error.extended_code),
            _ if is_about_values(&source) => return ErrorKind::Unsound { action }.because(path, source),
            _ => return ErrorKind::Sqlite { action }.because(path, source),
        };
        let kind = match code {
            ErrorCode::DiskFull => return Self::disk_full(path, source),
            // If the limit of the file size is reached, SQLite reports a plain write error without the reason.
            ErrorCode::SystemIoFailure if extended == ffi::SQLITE_IOERR_WRITE && is_file_size_limited() => {
                return Self::disk_full(path, io::Error::from(io::ErrorKind::FileTooLarge));
            }
            // A used-up quota is a plain write error, too. If the shared-memory file of a write-ahead log
            // cannot grow because the disk is full, SQLite reports `IOERR_SHMSIZE`.
            ErrorCode::SystemIoFailure
                if [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE].contains(&extended) =>
            {
                return Self::disk_full(path, source);
            }
            ErrorCode::NotADatabase => return Self::NotADatabase { path: path.to_owned() },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => return ErrorKind::Busy(None).at(path),
            ErrorCode::OperationInterrupted => return Self::Interrupted,
            // Other extended codes have other causes: for example, the database must be recovered after a
            // crash.
            ErrorCode::ReadOnly if extended == ffi::SQLITE_READONLY => ErrorKind::ReadOnly,
            ErrorCode::DatabaseCorrupt => ErrorKind::Corrupt,
            // A statement of this program fails in this way only if somebody changed a table, a column or a
            // value.
            _ if extended == ffi::SQLITE_ERROR => ErrorKind::Unsound { action },
            ErrorCode::TypeMismatch | ErrorCode::TooBig => ErrorKind::Unsound { action },
            _ => ErrorKind::Sqlite { action },
        };
        kind.because(path, source)
    }

    /// The error of SQLite that caused this error; `None` if this is not [`Error::File`], or has another
    /// cause.
    pub(super) fn of_sqlite(&self) -> Option<&rusqlite::Error> {
        let Self::File { source, .. } = self else { return None };
        source.as_ref()?.downcast_ref()
    }

    /// If this error occurred because a reader is not allowed to recover a log or journal, returns
    /// [`ErrorKind::NeedsWriting`]. Returns other errors unchanged.
    pub(super) fn during_recovery(self) -> Self {
        let code = self.of_sqlite().and_then(rusqlite::Error::sqlite_error_code);
        match self {
            Self::File { path, kind: ErrorKind::Sqlite { .. }, source }
                if code == Some(ErrorCode::ReadOnly) =>
            {
                Self::File { path, kind: ErrorKind::NeedsWriting, source }
            }
            error => error,
        }
    }

    /// Converts an error of the system into an error that the user can act on.
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        if is_disk_full(source.kind()) {
            return Self::disk_full(path, source);
        }
        let advice = error_advice(&source).unwrap_or("check the disk and the permissions");
        ErrorKind::Io { action, advice }.because(path, source)
    }

    /// The error for a directory in which no file can be created.
    pub(crate) fn directory(path: &Path, source: io::Error) -> Self {
        if is_disk_full(source.kind()) {
            return Self::disk_full(path, source);
        }
        if !path.exists() {
            return ErrorKind::Directory { problem: "this directory does not exist", advice: "create it" }
                .at(path);
        }
        if !path.is_dir() {
            return ErrorKind::Directory { problem: "not a directory", advice: "check the path" }.at(path);
        }
        let advice = match error_advice(&source) {
            // In some file systems, such as /proc, no files can be created.
            _ if source.kind() == NotFound => "check its file system",
            Some(advice) if source.kind() != PermissionDenied => advice,
            _ => "check its permissions",
        };
        let problem = "cannot write into this directory";
        ErrorKind::Directory { problem, advice }.because(path, source)
    }

    fn disk_full(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::DiskFull { path: path.to_owned(), need: None, source: source.into() }
    }

    /// Adds the space that the work needs, if the error is [`Error::DiskFull`] and does not contain it yet.
    pub(crate) fn needing(self, need: Option<Need>) -> Self {
        match self {
            Self::DiskFull { path, need: None, source } => Self::DiskFull { path, need, source },
            other => other,
        }
    }
}

/// The process that is writing a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockOwner {
    /// The process id.
    pub process: u32,
    /// The time at which the process acquired the lock, in UTC: `2026-03-14T15:09:26Z`.
    pub since: String,
}

impl fmt::Display for LockOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} since {}", self.process, self.since)
    }
}

/// Whether an error shows that tables or values are not as this program expects.
fn is_about_values(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as Sql;
    // Without the feature `bundled`, rusqlite reports invalid SQL as an ordinary `SqliteFailure`.
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
    let head = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return "a directory, not a database; name a file in it",
        Ok(metadata) if !metadata.is_file() => return "not a regular file; name a database",
        Ok(metadata) if metadata.len() == 0 => {
            return "an empty file, not a database; `pgndex index` creates one";
        }
        _ => read_start(path, LOOK_AHEAD as u64).unwrap_or_default(),
    };
    if starts_tag_pair(head.trim_ascii_start()) {
        return "this is a PGN file, not a database; give a database as the first argument (`pgndex index` creates one)";
    }
    "not an SQLite database; is this the right file?"
}

/// The message that there is no game with this id, and why. `last` is the last existing game.
pub(crate) fn no_game(game: GameId, last: Option<GameId>) -> String {
    let why = match last {
        None => "there are no games".to_owned(),
        Some(_) if game.0 == 0 => "game numbers begin at 1".to_owned(),
        Some(last) if game.0 < last.0 => {
            "it was removed, or got a new number when its file was read again".to_owned()
        }
        Some(last) => format!("the highest number is {}", last.0),
    };
    format!("no game {}; {why}", game.0)
}

/// The message that no source has this path or, if `path` consists of digits, this id.
pub(crate) fn no_source(path: &Path) -> String {
    let path = path.display().to_string();
    if path.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("no indexed file has the number or path {path}");
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
                Self::disk_full(&path, source)
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
        for error in [ErrorKind::Unreleased.at(&path), Error::Pages(unsuitable)] {
            assert_eq!(error.path(), Some(path.as_path()), "{error:?}");
        }
        assert_eq!(Error::Pages(BtreeError::Room).path(), None);
    }
}
