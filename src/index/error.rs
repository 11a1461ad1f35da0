//! Errors that end a run.

use std::fmt;
use std::io;
use std::path::PathBuf;

#[cfg(feature = "parquet")]
use crate::columnar;
use crate::error_advice::error_advice;
use crate::id::Ply;
use crate::index::Estimate;
use crate::sort;
use crate::source::shown_path;
use crate::store::pages::BtreeError;
use crate::store::space::{FreeSize, Need, Size, is_disk_full};
use crate::store::{self, Layout, SourceContent};

/// The result of a run, or of a part of a run.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a run failed. The database then contains what it contained before, unless the error is
/// [`Partial`](Error::Partial).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database could not be read or written.
    #[error(transparent)]
    Store(store::Error),
    /// Parquet files could not be written.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Parquet(columnar::Error),
    /// None of the sources can be read.
    #[error("nothing to index: {0}")]
    NoSource(String),
    /// No source was given, or the given directories and lists contain none.
    #[error("nothing to index: {}", if .0.is_empty() { NO_FILE.to_owned() } else { .0.join("; ") })]
    NoFile(
        /// Notes on ignored files, one sentence each.
        Vec<String>,
    ),
    /// A temporary file could not be written or read.
    #[error("{}: cannot use a temporary file here; {}, or choose another place for temporary files", directory.display(), error_advice(source).unwrap_or("free some space"))]
    Spill {
        /// The directory of the temporary file.
        directory: PathBuf,
        /// The space that all temporary files in this directory need, if known.
        need: Option<Need>,
        /// The system's error.
        source: io::Error,
    },
    /// There is not enough space for the output of the run or for its temporary files.
    #[error(
        "{}: about {} is needed here, but only {} is free; free some space, or choose another place for the database \
         or for temporary files{}", directory.display(), Size(*needed), FreeSize(*free), compact_fits(*compact)
    )]
    Space {
        /// The directory.
        directory: PathBuf,
        /// The estimated number of bytes that the run needs in this directory.
        needed: u64,
        /// The number of free bytes in this directory.
        free: u64,
        /// The estimated size of the database in the compact layout, in bytes, if such a database fits and
        /// the run can choose the layout.
        compact: Option<u64>,
    },
    /// The database uses another list of openings.
    #[error(
        "{}: was built with another list of opening names, which cannot be changed; keep that list, or build the database again",
        database.display()
    )]
    OtherOpenings {
        /// The database.
        database: PathBuf,
    },
    /// The database was built with a continuation threshold other than the requested one.
    #[error(
        "{}: was built with the continuation threshold {threshold}, which cannot be changed to {given}; keep {threshold}, or build the \
         database again", database.display()
    )]
    OtherThreshold {
        /// The database.
        database: PathBuf,
        /// The requested threshold.
        given: u32,
        /// The threshold of the database.
        threshold: u32,
    },
    /// The requested layout is not that of the database.
    #[error("{}: uses the layout `{layout}`, so no games can be added to it in the layout `{given}`", database.display())]
    OtherLayout {
        /// The database.
        database: PathBuf,
        /// The requested layout.
        given: Layout,
        /// The layout of the database.
        layout: Layout,
    },
    /// A file that is already in the database was indexed in an encoding other than the requested one.
    #[error(
        "{}: was indexed in the encoding {encoding}, not {given}, so nothing was added; keep {encoding}, or read all files of the \
         database again in {given}",
        shown_path(path)
    )]
    OtherEncoding {
        /// The database.
        database: PathBuf,
        /// The file.
        path: PathBuf,
        /// The requested encoding.
        given: &'static str,
        /// The encoding in which the file was indexed.
        encoding: &'static str,
    },
    /// The worker threads could not be started.
    #[error("cannot start the worker threads; use fewer threads")]
    Threads(#[source] rayon::ThreadPoolBuildError),
    /// A thread that decodes a source could not be started.
    #[error("cannot start another thread; use fewer threads")]
    Thread(#[source] io::Error),
    /// A worker thread panicked.
    #[error("a worker thread failed; this is a bug in pgndex. Please report it with the PGN that causes it")]
    Panicked,
    /// There are more games than the database can number.
    #[error("more than {} games in one database; index the files into several databases", u32::MAX)]
    TooManyGames,
    /// There are more names than the database can number.
    #[error(
        "more than {} names of players, events or sites in one database; nothing was added. Index the files into several databases",
        u32::MAX
    )]
    TooManyNames,
    /// No game was found, and existing data would be replaced.
    #[error(
        "no game was found in the input{}, so {} is not replaced",
        reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default(), target.display()
    )]
    NoGame {
        /// The database, or the directory of Parquet files, that would be replaced.
        target: PathBuf,
        /// The problem of a source that was unreadable, damaged or without games, if there is such a source.
        reason: Option<String>,
    },
    /// There were problems, and the run is strict.
    #[error(
        "{}. A strict run allows no errors or warnings, so nothing was written to the database. Otherwise pgndex keeps everything \
         that it can read, and lists the problems in the table `problem`",
        problem_summary(*errors, *warnings, first)
    )]
    Strict {
        /// The first error, with its place, or the first warning if there are no errors.
        first: String,
        /// The number of problems of severity error.
        errors: u64,
        /// The number of problems of severity warning.
        warnings: u64,
    },
    /// There were more errors than allowed.
    #[error(
        "{}{message}; {}; nothing was written to the database",
        place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default(),
        if *most == 0 { "stopped at the first error".to_owned() } else { format!("stopped after more than {most} errors") }
    )]
    TooManyErrors {
        /// The maximum number of errors.
        most: u64,
        /// The location of the first error beyond the maximum; `None` if this error concerns a whole source,
        /// which the message names.
        place: Option<Box<ProblemLocation>>,
        /// The message of the first error beyond the maximum.
        message: String,
    },
    /// A file for problems or rejected games could not be written.
    #[error("{}: cannot be written; check the path, the permissions and the free space", path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file for problems or rejected games is also used for something else in this run.
    #[error("{}: this file is also an input or another output of this run, or it belongs to the database; choose another file", path.display())]
    ReportInUse {
        /// The file.
        path: PathBuf,
    },
    /// A file for problems or rejected games exists, and is neither empty nor an earlier list of problems.
    #[error(
        "{}: already exists, so nothing was written to it; choose another file, or move this one away. {} replaced",
        path.display(),
        if *lists_problems { "Only an empty file, or an earlier list of problems, is" } else { "Only an empty file is" }
    )]
    ReportExists {
        /// The file.
        path: PathBuf,
        /// Whether the file is for problems, not for rejected games.
        lists_problems: bool,
    },
    /// The database is among the sources.
    #[error("{}: this is the database itself; give PGN files, or a directory without the database", path.display())]
    SourceIsTarget {
        /// The database, as named among the sources.
        path: PathBuf,
    },
    /// A source contains less than required.
    #[error(
        "{}: contains less than when it was indexed (games: {games} now, {} then{}), so games would be lost; nothing was written",
        had.path.display(),
        had.games,
        had.bytes.map(|had| format!("; bytes of text: {bytes} now, {had} then")).unwrap_or_default()
    )]
    Shrunk {
        /// The required minimum.
        had: SourceContent,
        /// The number of games found in the source.
        games: u64,
        /// The number of bytes of text found in the source.
        bytes: u64,
    },
    /// Positions were to be sampled from a stream, which can be read only once.
    #[error(
        "choosing positions at random reads all games twice, but a stream can be read only once; \
         write the stream to a file first"
    )]
    ReadOnce,
    /// The run was stopped by the caller.
    #[error("stopped before the end; nothing was written")]
    Stopped,
    /// A part of the work is committed, but the rest is not done.
    #[error("{done}; {rest} {}; {advice}", if source.is_some() { "failed" } else { "was stopped" })]
    Partial {
        /// What was committed.
        done: String,
        /// What was not done.
        rest: &'static str,
        /// How to do the rest.
        advice: &'static str,
        /// The error that ended the run; `None` if the caller stopped the run.
        source: Option<Box<Error>>,
    },
}

/// The message of [`Error::NoFile`] if no file was ignored.
const NO_FILE: &str = "no PGN file was found (directories are searched for names ending in .pgn, .pgn.zst, .pgn.gz, .pgn.bz2 or .zip)";

/// The number of problems as text, and `first`: the first error, or the first warning if there are no errors.
#[must_use]
pub fn problem_summary(errors: u64, warnings: u64, first: &str) -> String {
    let plural = |count| if count == 1 { "" } else { "s" };
    let counts = match (errors, warnings) {
        (_, 0) => format!("{errors} error{}", plural(errors)),
        (0, _) => format!("{warnings} warning{}", plural(warnings)),
        _ => format!("{errors} error{} and {warnings} warning{}", plural(errors), plural(warnings)),
    };
    let sign = match (errors, warnings) {
        (1, 0) | (0, 1) => ":",
        (0, _) | (_, 0) => ", the first:",
        _ => ", the first error:",
    };
    format!("{counts} in the input{sign} {first}")
}

/// Text with the estimated size in the compact layout; empty if `bytes` is `None`.
fn compact_fits(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| {
        format!("; in the compact layout the database takes about {}", Size(bytes))
    })
}

impl Error {
    /// Converts this error to [`Partial`](Self::Partial). If this error is [`Stopped`](Self::Stopped), the
    /// new error has no source; otherwise, this error is its source. But if this error is already `Partial`, the
    /// new one has the same source, and says that both parts of the work are done.
    #[must_use]
    pub fn after(self, done: String, rest: &'static str, advice: &'static str) -> Self {
        match self {
            Self::Stopped => Self::Partial { done, rest, advice, source: None },
            Self::Partial { done: more, source, .. } => {
                Self::Partial { done: format!("{done}, and {more}"), rest, advice, source }
            }
            error => Self::Partial { done, rest, advice, source: Some(Box::new(error)) },
        }
    }

    /// If the error says that the disk is full, adds the space that the run needs, unless the error contains it
    /// already. If `is_all_known` is `false`, the size of some input was unknown, and the estimate is a lower
    /// bound.
    pub(crate) fn needing(self, estimate: &Estimate, is_all_known: bool) -> Self {
        let need = |bytes| match (bytes, is_all_known) {
            (0, _) => None,
            (bytes, true) => Some(Need::About(bytes)),
            (bytes, false) => Some(Need::MoreThan(bytes)),
        };
        let written = need(estimate.database_bytes.saturating_add(estimate.beside_bytes));
        match self {
            Self::Store(error) => Self::Store(error.needing(written)),
            #[cfg(feature = "parquet")]
            Self::Parquet(columnar::Error::Store(error)) => {
                Self::Parquet(columnar::Error::Store(error.needing(written)))
            }
            Self::Spill { directory, need: None, source } if is_disk_full(source.kind()) => {
                Self::Spill { directory, need: need(estimate.spill_bytes), source }
            }
            other => other,
        }
    }

    /// If the error says that the disk is full, adds the space that work on a whole database needs.
    pub(crate) fn with_needed_space(self, need: Need) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.needing(Some(need))),
            other => other,
        }
    }
}

/// The location of a problem in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemLocation {
    /// The source.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// The byte within the line, from 1.
    pub column: u64,
    /// The offset in the source's text, from 0.
    pub byte_offset: u64,
    /// The number of the game, counted from 1 in its source.
    pub game_number: u32,
    /// The number of half-moves before the problem; `None` if the problem does not concern the moves.
    pub ply: Option<Ply>,
}

impl fmt::Display for ProblemLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, byte_offset, game_number, ply } = self;
        write!(f, "{}:{line}:{column} (byte {byte_offset}, game {game_number}", shown_path(path))?;
        ply.map_or(Ok(()), |ply| write!(f, ", ply {}", ply.0))?;
        f.write_str(")")
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            // SQL statements of a run are interrupted only if the run is stopped.
            store::Error::Interrupted => Self::Stopped,
            other => Self::Store(other),
        }
    }
}

impl From<BtreeError> for Error {
    fn from(error: BtreeError) -> Self {
        store::Error::from(error).into()
    }
}

impl From<sort::Error> for Error {
    fn from(sort::Error { directory, source }: sort::Error) -> Self {
        Self::Spill { directory, need: None, source }
    }
}

#[cfg(feature = "parquet")]
impl From<columnar::Error> for Error {
    fn from(error: columnar::Error) -> Self {
        match error {
            columnar::Error::Store(error) => error.into(),
            other => Self::Parquet(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_after_two_parts_keeps_its_cause() {
        let stopped = Error::Stopped.after("a".to_owned(), "b", "c").after("d".to_owned(), "e", "f");
        let Error::Partial { done, rest, advice, source } = stopped else { panic!("{stopped}") };
        assert_eq!((&*done, rest, advice, source.is_none()), ("d, and a", "e", "f", true));
        let failed = Error::Panicked.after("a".to_owned(), "b", "c").after("d".to_owned(), "e", "f");
        let Error::Partial { source: Some(source), .. } = failed else { panic!("{failed}") };
        assert!(matches!(*source, Error::Panicked));
    }
}
