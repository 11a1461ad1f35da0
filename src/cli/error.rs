//! Errors of commands; functions that recognise errors of the library; and messages that name the options of
//! the command line.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "parquet")]
use pgndex::columnar;
use pgndex::index::Error as IndexError;
use pgndex::query::Error as QueryError;
use pgndex::store::{Error as StoreError, ErrorKind, FilterError, FreeSize, Need, Size, free_bytes};
use pgndex::verify::Error as VerifyError;

use crate::cli::render::shell_word;

/// An argument has an invalid value, although clap accepted it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct WrongValue(pub(crate) anyhow::Error);

/// An error about an invalid argument, with this message.
pub(crate) fn wrong_value(
    message: impl std::fmt::Display + std::fmt::Debug + Send + Sync + 'static,
) -> anyhow::Error {
    WrongValue(anyhow::Error::msg(message)).into()
}

/// A command that writes a file was stopped.
#[derive(Debug, thiserror::Error)]
#[error("stopped; nothing was written")]
pub(crate) struct Stopped;

/// Whether an error means that the reader of the output has disconnected, as in `pgndex sql … | head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    io_errors(error).any(|kind| kind == io::ErrorKind::BrokenPipe)
}

/// The kinds of all I/O errors among an error and its causes.
pub(crate) fn io_errors(error: &anyhow::Error) -> impl Iterator<Item = io::ErrorKind> {
    error.chain().flat_map(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let csv = cause.downcast_ref::<csv::Error>().and_then(|error| match error.kind() {
            csv::ErrorKind::Io(error) => Some(error.kind()),
            _ => None,
        });
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        [io, csv, json].into_iter().flatten()
    })
}

/// Whether an error means that another program is writing the database or has locked it.
pub(crate) fn is_busy(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| store_error(cause).is_some_and(StoreError::is_busy))
}

/// Whether an error means that the work was stopped on request.
pub(crate) fn is_stop(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        matches!(store_error(cause), Some(StoreError::Interrupted))
            || matches!(
                cause.downcast_ref(),
                Some(IndexError::Stopped | IndexError::Partial { source: None, .. })
            )
            || matches!(cause.downcast_ref(), Some(VerifyError::Stopped))
            || cause.is::<Stopped>()
    })
}

/// The error of Parquet files that `error` is or wraps; `None` for other errors.
#[cfg(feature = "parquet")]
pub(crate) fn parquet_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e columnar::Error> {
    match error.downcast_ref() {
        Some(IndexError::Parquet(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// The database error that `error` is or wraps; `None` for other errors. The causes of `error` are not
/// searched.
pub(crate) fn store_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e StoreError> {
    if let Some(IndexError::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    #[cfg(feature = "parquet")]
    if let Some(columnar::Error::Store(error)) = parquet_error(error) {
        return Some(error);
    }
    #[cfg(feature = "serve")]
    if let Some(pgndex::server::Error::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(QueryError::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}

/// The message of an error for users of the command line: it names options instead of settings of the
/// library.
pub(crate) fn message(error: &(dyn Error + 'static)) -> String {
    naming_options(&with_options(error).unwrap_or_else(|| error.to_string()))
}

/// A text of the library about the input, with options of the command line instead of settings of the library.
pub(crate) fn naming_options(text: &str) -> String {
    text.replace("set the option encoding to", "set --encoding to")
        .replace("with the option reread", "with --reread")
        .replace("allow more memory,", "allow more memory (--memory),")
}

fn with_options(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(WrongValue(error)) = error.downcast_ref() {
        return error.downcast_ref().and_then(of_filter);
    }
    if let Some(error) = error.downcast_ref::<Box<IndexError>>() {
        return with_options(error.as_ref());
    }
    if let Some(error) = store_error(error) {
        return of_store(error);
    }
    #[cfg(feature = "serve")]
    if let Some(error @ pgndex::server::Error::Listen { source, .. }) = error.downcast_ref() {
        return Some(format!("{error}; {}", of_listening(source.kind())));
    }
    if let Some(error @ QueryError::NotAGame { .. }) = error.downcast_ref() {
        return Some(format!("--sql: {error}"));
    }
    #[cfg(feature = "parquet")]
    if let Some(columnar::Error::Exists { directory, shard }) = parquet_error(error) {
        let directory = directory.display();
        return Some(format!(
            "{directory}: already has Parquet files of shard {shard}; use --overwrite to replace them, or name another \
             directory or --shard"
        ));
    }
    match error.downcast_ref() {
        Some(VerifyError::Store(error)) => return of_store(error),
        Some(VerifyError::Threads(_)) => {
            return Some("cannot start the worker threads; use fewer threads (--threads)".to_owned());
        }
        _ => {}
    }
    error.downcast_ref().and_then(of_index)
}

/// Advice if the server cannot listen on an address.
#[cfg(feature = "serve")]
const fn of_listening(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::AddrInUse => {
            "another program listens on this address; stop that program, or name another port with --listen (port 0 takes a free one)"
        }
        io::ErrorKind::PermissionDenied => {
            "only an administrator may listen on ports below 1024; name a higher one with --listen"
        }
        io::ErrorKind::AddrNotAvailable => {
            "this machine does not have the address; take 127.0.0.1 for this machine only, or 0.0.0.0 for all of its addresses"
        }
        _ => "name another address with --listen",
    }
}

fn of_filter(error: &FilterError) -> Option<String> {
    Some(match error {
        FilterError::NoRating { least, most } => {
            format!("the lowest rating, {least}, is above the highest, {most}; swap --elo-min and --elo-max")
        }
        FilterError::NoLength { least, most } => {
            format!(
                "the smallest number of half-moves, {least}, is above the greatest, {most}; swap --plies-min and --plies-max"
            )
        }
        FilterError::NoDate { since, until } => {
            format!("the first date, {since}, is after the last, {until}; swap --since and --until")
        }
        _ => return None,
    })
}

fn of_store(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::File { path, kind: ErrorKind::TargetExists, .. } => {
            let path = path.display();
            format!("{path}: already exists; use --overwrite to replace it, or name another file")
        }
        StoreError::DiskFull { path, need, source } if is_file_too_large(source.as_ref()) => {
            let need = need.map(|need| format!(" ({need} is needed)")).unwrap_or_default();
            format!(
                "{}: a file of this size is not allowed here{need}; raise the limit (ulimit -f), or choose another disk",
                path.display()
            )
        }
        StoreError::DiskFull { path, need, .. } => {
            let space_needed = space_needed(*need, &directory_written(path));
            let what = if path.is_dir() { "" } else { " to write it" };
            format!(
                "{}: no space left{what}{space_needed}; free some, or choose another disk",
                path.display()
            )
        }
        StoreError::File { path, kind: ErrorKind::Corrupt, .. } => {
            format!(
                "{}: the database is damaged; restore a backup, or build it again with `pgndex index --overwrite`",
                path.display()
            )
        }
        StoreError::File { kind: ErrorKind::NoSuchGame { game, last: Some(last) }, .. }
            if (1..last.0).contains(&game.0) =>
        {
            format!("{error}; `pgndex find` lists games with their numbers")
        }
        // Here, the query is the value of `--sql`: `pgndex sql` has its own messages for these errors.
        StoreError::Query { .. } | StoreError::NotReadOnly | StoreError::MultipleStatements => {
            format!("--sql: {error}")
        }
        // The query of `pgndex remove` chooses the games to remove, so the example has a condition.
        StoreError::EmptyQuery => {
            "--sql: the query is empty; give a query that selects game numbers, such as SELECT game_id FROM game \
             WHERE ply_count < 10"
                .to_owned()
        }
        StoreError::File { kind: ErrorKind::Unreleased, .. } => format!("{error} (pgndex index --overwrite)"),
        _ => return None,
    })
}

/// Whether a write failed because the file would exceed the allowed size of a file, not because the disk is
/// full.
fn is_file_too_large(error: &(dyn Error + 'static)) -> bool {
    anyhow::Chain::new(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::FileTooLarge)
}

/// An existing directory on the disk of `path`, to measure the free space after a failed write. The path can
/// be a mount point or a link to another disk. Directories that were created for the path possibly no longer
/// exist.
fn directory_written(path: &Path) -> PathBuf {
    let target = if path.is_symlink() { path.canonicalize().ok() } else { None };
    let path = target.as_deref().unwrap_or(path);
    path.ancestors().find(|directory| directory.is_dir()).unwrap_or(Path::new(".")).to_owned()
}

/// The space needed, and the free space in a directory, as text. Omits a value that is unknown, and an estimate
/// that is too low.
fn space_needed(need: Option<Need>, directory: &Path) -> String {
    let free = free_bytes(directory);
    // The disk was full, so an estimate below the free space is too low.
    let need = need.filter(|need| match *need {
        Need::About(bytes) | Need::UpTo(bytes) => free.is_none_or(|free| free < bytes),
        Need::MoreThan(_) => true,
    });
    let need = need.map(|need| format!("{need} is needed"));
    let free = free.map(|free| format!("{} is free in {} now", FreeSize(free), directory.display()));
    let parts: Vec<_> = need.into_iter().chain(free).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", and ")) }
}

/// The library's words in the error of a run that stops at the first error in the input.
pub(crate) const AT_FIRST_ERROR: &str = "stopped at the first error";

/// The library's advice about temporary files.
const OTHER_PLACE: &str = "or choose another place for temporary files";

/// Advice if a setting of an existing database cannot be changed.
const REBUILD: &str = "or index everything again with --overwrite";

fn of_index(error: &IndexError) -> Option<String> {
    Some(match error {
        IndexError::Spill { directory, source, .. } if source.kind() == io::ErrorKind::NotFound => format!(
            "{}: cannot create temporary files: no such directory; choose another one with --temp-dir",
            directory.display()
        ),
        IndexError::Spill { directory, need, source } => {
            let is_full = pgndex::store::is_disk_full(source.kind());
            let space_needed = if is_full { space_needed(*need, directory) } else { String::new() };
            let error = error.to_string().replacen("here;", &format!("here{space_needed};"), 1);
            error.replace(OTHER_PLACE, "or choose another place with --temp-dir")
        }
        IndexError::Space { directory, needed, free, compact } => format!(
            "{}: about {} is needed here, but only {} is free; free some space, choose another place for the database, or \
             another directory for temporary files with --temp-dir{}",
            directory.display(),
            Size(*needed),
            FreeSize(*free),
            compact.map_or_else(String::new, |bytes| {
                format!(". With --layout compact, the database takes about {}", Size(bytes))
            })
        ),
        IndexError::OtherOpenings { database } => format!(
            "{}: was built with another list of opening names, which cannot be changed; omit --openings to keep it, {REBUILD}",
            database.display()
        ),
        IndexError::OtherLayout { database, given, layout } => format!(
            "{0}: uses the layout `{layout}`; omit --layout to keep it, or convert the database with `pgndex optimize {0} --layout {given}`",
            database.display()
        ),
        IndexError::OtherThreshold { database, given, threshold } => format!(
            "{}: was built with --continuation-threshold {threshold}, which cannot be changed to {given}; omit the option to keep \
             {threshold}, {REBUILD}",
            database.display()
        ),
        IndexError::OtherEncoding { database, path, given, encoding } => {
            other_encoding(database, path, given, encoding)
        }
        IndexError::Shrunk { .. } => format!(
            "{error}. Restore the file, or index the existing files into another database; --drop-missing drops the games"
        ),
        IndexError::Threads(_) => "cannot start the worker threads; use fewer threads (--threads)".to_owned(),
        IndexError::Thread(_) => "cannot start another thread; use fewer threads (--threads)".to_owned(),
        IndexError::Strict { .. } => error
            .to_string()
            .replacen("A strict run allows", "--strict allows", 1)
            .replacen("Otherwise pgndex", "Without --strict, pgndex", 1),
        IndexError::TooManyErrors { most: 0, .. } => error.to_string().replacen(
            AT_FIRST_ERROR,
            "stopped at the first error, because of --max-problems 0",
            1,
        ),
        IndexError::TooManyErrors { most, .. } => error.to_string().replacen(
            &format!("stopped after more than {most} errors"),
            &format!("stopped, because there are more errors than --max-problems {most} allows"),
            1,
        ),
        _ => return None,
    })
}

fn other_encoding(database: &Path, path: &Path, given: &str, encoding: &str) -> String {
    let [database, word] = [database, path].map(|path| shell_word(&path.to_string_lossy()));
    format!(
        "{}: was indexed with --encoding {encoding}, not {given}, so nothing was added. Omit the option to keep {encoding}, or name only \
         the other files. To read all files again: pgndex index --reread --encoding {given} {database}. To read this file again, first \
         remove it with all its games: pgndex remove {database} --source {word}",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgndex::store::SourceContent;

    #[test]
    fn a_closed_pipe_is_recognised_through_every_layer() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_closed_pipe(&anyhow::Error::from(broken()).context("writing")));
        assert!(is_closed_pipe(&csv::Error::from(broken()).into()));
        assert!(is_closed_pipe(&serde_json::Error::io(broken()).into()));
        assert!(!is_closed_pipe(&io::Error::other("full").into()));
    }

    #[test]
    fn an_estimate_below_the_free_space_is_not_printed() {
        let text = |need| space_needed(Some(need), Path::new("."));
        for [enough, too_much] in [[1, u64::MAX].map(Need::About), [1, u64::MAX].map(Need::UpTo)] {
            assert!(!text(enough).contains("needed"), "{}", text(enough));
            assert!(text(too_much).contains(" is needed"), "{}", text(too_much));
        }
    }

    fn directory() -> PathBuf {
        "there".into()
    }

    /// Errors that the user can avoid with an option, some of them wrapped in errors of other modules.
    fn errors() -> Vec<Box<dyn Error>> {
        let exists = || ErrorKind::TargetExists.at(&directory());
        let corrupt = || ErrorKind::Corrupt.at(&directory());
        let rating = FilterError::NoRating { least: 2, most: 1 };
        let length = FilterError::NoLength { least: 2, most: 1 };
        let date = FilterError::NoDate { since: "2002".parse().unwrap(), until: "2001".parse().unwrap() };
        vec![
            Box::new(exists()),
            Box::new(IndexError::from(exists())),
            Box::new(QueryError::from(corrupt())),
            Box::new(VerifyError::from(corrupt())),
            Box::new(QueryError::NotAGame { found: "NULL".to_owned() }),
            Box::new(IndexError::Spill {
                directory: directory(),
                need: Some(Need::About(3 << 20)),
                source: io::ErrorKind::StorageFull.into(),
            }),
            Box::new(IndexError::Spill {
                directory: directory(),
                need: None,
                source: io::ErrorKind::PermissionDenied.into(),
            }),
            Box::new(IndexError::TooManyErrors { most: 2, place: None, message: "wrong".to_owned() }),
            Box::new(IndexError::Space {
                directory: directory(),
                needed: 2 << 20,
                free: 1 << 20,
                compact: Some(500 << 10),
            }),
            Box::new(IndexError::OtherOpenings { database: directory() }),
            Box::new(IndexError::OtherThreshold { database: directory(), given: 5, threshold: 4 }),
            Box::new(IndexError::OtherEncoding {
                database: directory(),
                path: "a.pgn".into(),
                given: "windows-1251",
                encoding: "auto",
            }),
            Box::new(IndexError::Shrunk {
                had: SourceContent { path: directory(), games: 3, bytes: Some(700) },
                games: 2,
                bytes: 500,
            }),
            Box::new(IndexError::Thread(io::Error::other("too many"))),
            Box::new(IndexError::NoSource("a.pgn: set the option encoding to gbk".to_owned())),
            Box::new(IndexError::NoSource("a.zst: allow more memory, or unpack it first".to_owned())),
            Box::new(IndexError::Strict { first: "a.pgn:1:2: wrong".to_owned(), errors: 1, warnings: 0 }),
            Box::new(WrongValue(rating.into())),
            Box::new(WrongValue(length.into())),
            Box::new(WrongValue(date.into())),
        ]
    }

    #[test]
    fn only_messages_of_the_command_line_name_options() {
        for error in errors() {
            assert!(!error.to_string().contains("--"), "{error}");
            assert!(message(error.as_ref()).contains("--"), "{error}");
        }
        let texts: Vec<_> = errors().iter().map(|error| message(error.as_ref())).collect();
        insta::assert_snapshot!(texts.join("\n"), @"
        there: already exists; use --overwrite to replace it, or name another file
        there: already exists; use --overwrite to replace it, or name another file
        there: the database is damaged; restore a backup, or build it again with `pgndex index --overwrite`
        there: the database is damaged; restore a backup, or build it again with `pgndex index --overwrite`
        --sql: the first column must contain game numbers (game_id), but contains NULL
        there: cannot use a temporary file here (about 3072 KiB is needed); free some space, or choose another place with --temp-dir
        there: cannot use a temporary file here; check the permissions, or choose another place with --temp-dir
        wrong; stopped, because there are more errors than --max-problems 2 allows; nothing was written to the database
        there: about 2048 KiB is needed here, but only 1024 KiB is free; free some space, choose another place for the database, or another directory for temporary files with --temp-dir. With --layout compact, the database takes about 500 KiB
        there: was built with another list of opening names, which cannot be changed; omit --openings to keep it, or index everything again with --overwrite
        there: was built with --continuation-threshold 4, which cannot be changed to 5; omit the option to keep 4, or index everything again with --overwrite
        a.pgn: was indexed with --encoding auto, not windows-1251, so nothing was added. Omit the option to keep auto, or name only the other files. To read all files again: pgndex index --reread --encoding windows-1251 there. To read this file again, first remove it with all its games: pgndex remove there --source a.pgn
        there: contains less than when it was indexed (games: 2 now, 3 then; bytes of text: 500 now, 700 then), so games would be lost; nothing was written. Restore the file, or index the existing files into another database; --drop-missing drops the games
        cannot start another thread; use fewer threads (--threads)
        nothing to index: a.pgn: set --encoding to gbk
        nothing to index: a.zst: allow more memory (--memory), or unpack it first
        1 error in the input: a.pgn:1:2: wrong. --strict allows no errors or warnings, so nothing was written to the database. Without --strict, pgndex keeps everything that it can read, and lists the problems in the table `problem`
        the lowest rating, 2, is above the highest, 1; swap --elo-min and --elo-max
        the smallest number of half-moves, 2, is above the greatest, 1; swap --plies-min and --plies-max
        the first date, 2002, is after the last, 2001; swap --since and --until
        ");
    }
}
