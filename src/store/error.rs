//! What can go wrong with a database.

use std::fs;
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use crate::pgn::{LOOK_AHEAD, starts_tag_pair};
use crate::remedy::remedy;
use crate::store::cell::WrongCell;
use crate::store::holder::Holder;
use crate::store::pages::BtreeError;
use crate::store::row::GameId;
use crate::store::schema_version::SchemaVersion;
use crate::store::space::{Need, Size, is_disk_full};
use crate::store::sql_place::Place;

/// What can go wrong with a database; each message says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such file.
    #[error("{}: no such database; make one with `pgndex index`", path.display())]
    Missing {
        /// The database.
        path: PathBuf,
    },
    /// The file is no SQLite database.
    #[error("{}: {}", path.display(), what_instead(path))]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is an SQLite database of some other program.
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
        /// The latest this program knows.
        supported: SchemaVersion,
    },
    /// A version of the program that was never released made the database.
    #[error("{}: made by an unreleased version of pgndex; index its games again", path.display())]
    Unreleased {
        /// The database.
        path: PathBuf,
    },
    /// There is a file where the database is to be built.
    #[error("{}: exists already; name another file, or have it replaced", path.display())]
    TargetExists {
        /// The target.
        path: PathBuf,
    },
    /// The target of a build exists, may be replaced, but is no database of ours.
    #[error(
        "{}: exists and is not a database of pgndex, so it is not replaced; name another file, or remove it first",
        path.display()
    )]
    ForeignTarget {
        /// The target.
        path: PathBuf,
    },
    /// The database is where no write-ahead log can be kept.
    #[error(
        "{}: on this file system nobody could read while games are added; copy the database to a local disk and add the games there",
        path.display()
    )]
    NoSharing {
        /// The database.
        path: PathBuf,
    },
    /// The target of a build is a directory, a link to nothing, or has no file name.
    #[error(
        "{}: {}; give the name of a file", path.display(),
        if path.is_symlink() { "a link to nothing, so no database is made here" } else { "a database cannot be made here" }
    )]
    NotAFile {
        /// The target.
        path: PathBuf,
    },
    /// The name of the target leaves no room for those of the files beside it.
    #[error("{}: the name is too long for a database; the most is {most} bytes", path.display())]
    LongName {
        /// The target.
        path: PathBuf,
        /// How long a name may be, in bytes.
        most: usize,
    },
    /// The directory of the target is missing or cannot be written.
    #[error(
        "{}: cannot write into this directory; {}, or choose another place",
        path.display(),
        match remedy(source) {
            _ if !is_there => "create it",
            Some(remedy) if !matches!(source.kind(), PermissionDenied | NotFound) => remedy,
            _ => "see to its permissions",
        }
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Whether something has this path.
        is_there: bool,
        /// Why.
        source: io::Error,
    },
    /// Another process is writing the database.
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
        /// Who writes it, if it is this program.
        holder: Option<Holder>,
    },
    /// The file may be read only.
    #[error("{}: you may not write this file; change its permissions, or use a copy", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The disk, or the quota, or the size a file may have is used up.
    #[error(
        "{}: no space left{}{}; free some, or choose another disk",
        path.display(), if path.is_dir() { "" } else { " to write it" }, need.map(|need| format!(" ({need} are needed)")).unwrap_or_default()
    )]
    DiskFull {
        /// The database or its temporary file.
        path: PathBuf,
        /// How much room all of the work takes, if anybody knows.
        need: Option<Need>,
        /// What the system said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is too little space for a copy.
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
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Something stands in a cell that its column cannot have.
    #[error("{}: {cell}; `pgndex verify` tells all that is wrong", path.display())]
    WrongCell {
        /// The database.
        path: PathBuf,
        /// The cell.
        cell: Box<WrongCell>,
    },
    /// SQLite cannot make sense of tables or values that are not as this program leaves them.
    #[error("{}: cannot {action}: the database is not as pgndex left it; `pgndex verify` tells what is wrong", path.display())]
    Unsound {
        /// The database.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The moves of a game cannot be played.
    #[error("{}: game {} has a start position or a move that is not legal; `pgndex verify` tells what is wrong", path.display(), game.0)]
    UnsoundGame {
        /// The database.
        path: PathBuf,
        /// The game.
        game: GameId,
    },
    /// SQLite is given the path of a copy as text.
    #[error("{}: the path is not UTF-8, and SQLite copies a database to no such path; rename the directory or the database", path.display())]
    PathNotUtf8 {
        /// The path of the copy.
        path: PathBuf,
    },
    /// No source has this path.
    #[error("{}: no source of this database is {}; {}the table source lists them", path.display(), source_path.display(), meant(near))]
    UnknownSource {
        /// The database.
        path: PathBuf,
        /// The path looked for.
        source_path: PathBuf,
        /// Paths of sources that are like it, the most alike first: three at most.
        near: Vec<PathBuf>,
    },
    /// A view has the name of a table.
    #[error(
        "{}: {name} is a view, but pgndex needs a table of that name; nothing was written; drop the view and give the table \
         its name back, or index the games again into another database",
        path.display()
    )]
    ViewForTable {
        /// The database.
        path: PathBuf,
        /// The name of both.
        name: String,
    },
    /// Counts do not fit the rows that are there.
    #[error(
        "{}: there are {games} games, but its sources and runs say {told}; somebody changed its rows by other means than pgndex; \
         nothing was written; `pgndex verify` tells more, and `pgndex repair` makes the tables fit again",
        path.display()
    )]
    CountsDiffer {
        /// The database.
        path: PathBuf,
        /// How many games there are.
        games: i64,
        /// How many there should be.
        told: i64,
    },
    /// The numbers of a table are used up.
    #[error(
        "{}: {table} has a row numbered {last}, and there is no number left for another; `pgndex verify` tells \
         whether it is one of pgndex; nothing was added",
        path.display()
    )]
    NumbersUsedUp {
        /// The database.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// Its greatest number.
        last: u32,
    },
    /// The database can only be read where it can be written.
    #[error(
        "{}: SQLite must write beside this database to read it (it is in WAL mode, or its last writer was killed), and may \
         not; open it once where writing is allowed (sqlite3 FILE 'PRAGMA journal_mode = DELETE'), or copy it",
        path.display()
    )]
    NeedsWriting {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The system refused something.
    #[error("{}: cannot {action}; {}", path.display(), remedy(source).unwrap_or("check the disk and the permissions"))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// SQLite refused something.
    #[error("{}: cannot {action}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why not.
        source: rusqlite::Error,
    },
    /// A step of the schema could not be applied.
    #[error("{}: cannot bring the schema up to date; the database is unchanged", path.display())]
    Migration {
        /// The database.
        path: PathBuf,
        /// Why not.
        source: rusqlite_migration::Error,
    },
    /// A build was to be put into place before its bulk load was finished.
    #[error("{}: the bulk load is not finished; this is a bug in pgndex, please report it", path.display())]
    Unfinished {
        /// The temporary file.
        path: PathBuf,
    },
    /// Rows were given to the bulk load in the wrong order, or twice.
    #[error("{}: rows of table {table} came out of order; this is a bug in pgndex, please report it", path.display())]
    RowOrder {
        /// The database.
        path: PathBuf,
        /// The table.
        table: &'static str,
    },
    /// The bulk load wrote fewer rows than it was given.
    #[error(
        "{}: wrote {written} of {given} rows of table {table}; this is a bug in pgndex, please report it",
        path.display()
    )]
    RowsLost {
        /// The database.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// Rows given.
        given: usize,
        /// Rows written.
        written: usize,
    },
    /// Games that were to be removed are still there.
    #[error(
        "{}: games cannot be removed, as a trigger of the table game keeps them; nothing was changed; drop the trigger first",
        path.display()
    )]
    Kept {
        /// The database.
        path: PathBuf,
    },
    /// There is no game with that number.
    #[error("{}: no game {}; {}", path.display(), game.0, last.map_or_else(
        || "there are no games".to_owned(),
        |last| match game.0 {
            number if (1..last.0).contains(&number) => "it was taken out, or read again later and has another number now".to_owned(),
            _ => format!("the games have the numbers 1 to {}", last.0),
        }
    ))]
    NoSuchGame {
        /// The database.
        path: PathBuf,
        /// The number.
        game: GameId,
        /// The last game there is.
        last: Option<GameId>,
    },
    /// A statement by the user is no valid SQL, or failed.
    #[error("{message}{}", place.as_ref().map_or_else(String::new, |place| format!("\n{place}")))]
    Query {
        /// What is wrong.
        message: String,
        /// Where, if SQLite knows.
        place: Option<Box<Place>>,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A statement was stopped from another thread.
    #[error("stopped before the end")]
    Interrupted,
    /// A query by the user has no statement.
    #[error("the query is empty; give a statement, such as SELECT * FROM games LIMIT 10")]
    EmptyQuery,
    /// A query by the user has more than one statement.
    #[error("the query has more than one statement; give them one at a time")]
    MultipleStatements,
    /// A statement by the user would change something.
    #[error("this would change the database; only reading is allowed here")]
    NotReadOnly,
    /// Pages of the database could not be read or written.
    #[error(transparent)]
    Pages(BtreeError),
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The database, or the file, that it is about.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Missing { path, .. }
            | Self::NotADatabase { path, .. }
            | Self::OtherProgram { path, .. }
            | Self::TooNew { path, .. }
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
            | Self::Migration { path, .. }
            | Self::Unfinished { path, .. }
            | Self::RowOrder { path, .. }
            | Self::RowsLost { path, .. }
            | Self::Kept { path, .. }
            | Self::NoSuchGame { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Sorts an error of SQLite into the cases that a user can act on.
    pub(crate) fn sqlite(path: &Path, action: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if let Some(cell) = WrongCell::of(&source) {
            return Self::WrongCell { path, cell: Box::new(cell.clone()) };
        }
        let (code, extended) = match &source {
            rusqlite::Error::SqliteFailure(error, _) => (error.code, error.extended_code),
            _ if is_about_values(&source) => return Self::Unsound { path, action, source },
            _ => return Self::Sqlite { path, action, source },
        };
        match code {
            ErrorCode::DiskFull => Self::DiskFull { path, need: None, source: source.into() },
            // A file over its size limit fails as a plain write error; so does the shared memory of a write-ahead log on a full
            // disk.
            ErrorCode::SystemIoFailure
                if [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE].contains(&extended) =>
            {
                Self::DiskFull { path, need: None, source: source.into() }
            }
            // Others of this code ask for recovery after a crash.
            ErrorCode::ReadOnly if extended == ffi::SQLITE_READONLY => Self::ReadOnly { path, source },
            ErrorCode::NotADatabase => Self::NotADatabase { path },
            ErrorCode::DatabaseCorrupt => Self::Corrupt { path, source },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { path, holder: None },
            ErrorCode::OperationInterrupted => Self::Interrupted,
            // A statement of this program is wrong only where a table, a column or a value is another one.
            _ if extended == ffi::SQLITE_ERROR => Self::Unsound { path, action, source },
            ErrorCode::TypeMismatch | ErrorCode::TooBig => Self::Unsound { path, action, source },
            _ => Self::Sqlite { path, action, source },
        }
    }

    /// The error of a reader for whom a log or a journal has to be played back first.
    pub(super) fn of_recovery(self) -> Self {
        match self {
            Self::Sqlite { path, source, .. } if source.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
                Self::NeedsWriting { path, source }
            }
            error => error,
        }
    }

    /// Sorts an error of the system into the cases that a user can act on.
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        if is_disk_full(source.kind()) {
            Self::DiskFull { path, need: None, source: source.into() }
        } else {
            Self::Io { path, action, source }
        }
    }

    /// The error for a directory that no file can be made in.
    pub(crate) fn directory(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if is_disk_full(source.kind()) {
            Self::DiskFull { path, need: None, source: source.into() }
        } else {
            Self::Directory { is_there: path.exists(), path, source }
        }
    }

    /// The same error; if it is that of a full disk, it tells how much room the work takes.
    pub(crate) fn needing(self, need: Option<Need>) -> Self {
        match self {
            Self::DiskFull { path, need: None, source } => Self::DiskFull { path, need, source },
            other => other,
        }
    }
}

/// Whether an error is about what stands in tables, not about access to them.
fn is_about_values(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as Sql;
    // Without `bundled` the error of wrong SQL is an ordinary failure.
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

/// What is in the place of a database, and what to do.
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
        return "PGN, not a database; name the database first, which `pgndex index` makes";
    }
    "not an SQLite database; is this the right file?"
}

/// What may have been meant instead of an unknown path.
fn meant(near: &[PathBuf]) -> String {
    let near: Vec<_> = near.iter().map(|path| path.display().to_string()).collect();
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
