//! The command line: parses arguments, and prints the output of each command.
//!
//! Answers go to standard output; notes, progress and errors to standard error. Only this module depends on
//! clap.

mod args;
mod command;
mod environment;
mod error_hint;
mod filter_notes;
#[cfg(test)]
#[path = "../../tests/common/generated_file.rs"]
mod generated_file;
#[cfg(unix)]
pub(crate) mod memory;
#[cfg(all(test, feature = "serve"))]
mod reference;
mod render;
mod terminal;
mod usage;
mod usage_hint;

use std::io;
use std::path::Path;
use std::process::ExitCode;

#[cfg(feature = "parquet")]
use pgndex::columnar;
use pgndex::{index as index_job, query, store, verify};

use args::WrongValue;
use args::{Arguments, Command, LogFormat};
use render::text::bounded;
use terminal::log::{Event, Level};
pub(crate) use terminal::sqlite::set_up as set_up_sqlite;
pub(crate) use usage::parse;

/// The result of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Everything is done.
    Done,
    /// Everything is done, but a part of a game or of a file was lost.
    Lossy,
    /// Everything is done, and a database was found to be damaged.
    Unsound,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => Self::SUCCESS,
            Status::Lossy => Self::from(3),
            Status::Unsound => Self::FAILURE,
        }
    }
}

/// Runs a command.
///
/// # Errors
/// Any error that prevents the command; [`is_closed_pipe`] recognises the one that is not a failure.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Status> {
    terminal::signal::ignore_file_size_signal();
    if arguments.command.log_format() == LogFormat::Json {
        terminal::log::use_json();
    }
    match arguments.command {
        Command::Index(args) => return command::index::run(&args),
        Command::Watch(args) => return command::watch::run(&args),
        Command::Info(args) => command::info::run(&args)?,
        Command::Find(args) => command::find::run(&args)?,
        Command::Explore(args) => command::explore::run(&args)?,
        Command::Export(args) => command::export::run(&args)?,
        Command::Player(args) => command::player::run(&args)?,
        Command::Players(args) => command::players::run(&args)?,
        Command::Repertoire(args) => command::repertoire::run(&args)?,
        Command::Game(args) => command::game::run(&args)?,
        Command::Sql(args) => command::sql::run(&args)?,
        #[cfg(feature = "serve")]
        Command::Serve(args) => command::serve::run(&args)?,
        Command::Remove(args) => command::remove::run(&args)?,
        Command::Optimize(args) => command::optimize::run(&args)?,
        Command::Backup(args) => command::backup::run(&args)?,
        Command::Verify(args) => return command::verify::run(&args),
        Command::Repair(args) => return command::repair::run(&args),
        Command::Key(args) => command::key::run(&args)?,
        Command::Completions(args) => command::completions::run(&args)?,
        Command::Man(args) => command::man::run(&args)?,
    }
    Ok(Status::Done)
}

/// Whether the reader of the output has disconnected, as in `pgndex sql … | head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    io_errors(error).any(|kind| kind == io::ErrorKind::BrokenPipe)
}

/// The kinds of system errors within an error.
fn io_errors(error: &anyhow::Error) -> impl Iterator<Item = io::ErrorKind> {
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

/// Writes an error and its causes to standard error. Returns the exit status.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    /// The same command may succeed later.
    const BUSY: u8 = 4;
    const WRONG_USAGE: u8 = 2;
    let status = match error {
        _ if is_busy(error) => BUSY,
        _ if error.is::<WrongValue>() => WRONG_USAGE,
        _ => terminal::signal::exit_status().filter(|_| is_stop(error)).unwrap_or(1),
    };
    let event = Event::Failed { causes: causes(error), exit_status: status };
    let mut text = describe(error);
    if usage::is_database_from_environment() {
        text += &format!("\n  the variable {} names the database", environment::DATABASE);
    }
    terminal::log::write(Level::Error, &text, &error_hint::message(error.as_ref()), event);
    status.into()
}

/// Whether another program is writing the database.
fn is_busy(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(store_error(cause), Some(store::Error::Busy { .. })))
}

/// A command that writes a file was stopped.
#[derive(Debug, thiserror::Error)]
#[error("stopped; nothing was written")]
struct Stopped;

/// Whether the work was stopped on request.
fn is_stop(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        matches!(store_error(cause), Some(store::Error::Interrupted))
            || matches!(
                cause.downcast_ref(),
                Some(index_job::Error::Stopped | index_job::Error::Partial { source: None, .. })
            )
            || matches!(cause.downcast_ref(), Some(verify::Error::Stopped))
            || cause.is::<Stopped>()
    })
}

/// The error of Parquet files within an error, if there is one.
#[cfg(feature = "parquet")]
fn parquet_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e columnar::Error> {
    match error.downcast_ref() {
        Some(index_job::Error::Parquet(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// The error of a database within an error, if there is one.
fn store_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e store::Error> {
    if let Some(index_job::Error::Store(error)) = error.downcast_ref() {
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
    if let Some(query::Error::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}

/// Writes to standard error that a part failed.
fn complain(text: &str) {
    terminal::log::write(Level::Error, &format!("pgndex: error: {text}"), text, Event::Note {});
}

/// Fails if an output file is the database or belongs to it.
fn refuse_file_of(database: &Path, path: &Path) -> anyhow::Result<()> {
    if store::is_file_of(database, path) {
        anyhow::bail!(
            "{}: is the database itself or one of its auxiliary files; name another file",
            path.display()
        );
    }
    Ok(())
}

/// Fails if an output file or directory has the name that means standard output elsewhere.
fn refuse_standard_output(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        let wrong = anyhow::anyhow!(
            "-: the output goes to a file, not to standard output; name a file (./- for a file called -)"
        );
        return Err(WrongValue(wrong).into());
    }
    Ok(())
}

/// Writes a note to standard error.
fn note(text: &str) {
    terminal::log::write(Level::Info, &format!("pgndex: note: {text}"), text, Event::Note {});
}

/// Prints that running work will end soon.
fn note_stopping() {
    note(
        "stopping; a second signal ends the program immediately and leaves temporary files, which the next run removes",
    );
}

/// An error with all its causes, one per line.
fn describe(error: &anyhow::Error) -> String {
    let causes = causes(error).into_iter().map(|cause| format!("\n  because: {cause}"));
    format!("pgndex: error: {}{}", error_hint::message(error.as_ref()), causes.collect::<String>())
}

/// The causes of an error, without those that only repeat the one above.
fn causes(error: &anyhow::Error) -> Vec<String> {
    let mut causes = Vec::new();
    let mut above = error_hint::message(error.as_ref());
    for cause in error.chain().skip(1) {
        let message = error_hint::message(cause);
        // SQLite's error code, which its message has just described.
        let is_code = cause.is::<rusqlite::ffi::Error>();
        if !is_code && !above.contains(&message) {
            causes.push(bounded(&message).into_owned());
            above = message;
        }
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn causes_are_listed_once_each() {
        let error = Err::<(), _>(io::Error::other("disk on fire"))
            .context("cannot read: disk on fire")
            .context("games.db: cannot open")
            .unwrap_err();
        insta::assert_snapshot!(describe(&error), @r"
        pgndex: error: games.db: cannot open
          because: cannot read: disk on fire
        ");
    }

    #[test]
    fn a_closed_pipe_is_recognised_through_every_layer() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_closed_pipe(&anyhow::Error::from(broken()).context("writing")));
        assert!(is_closed_pipe(&csv::Error::from(broken()).into()));
        assert!(is_closed_pipe(&serde_json::Error::io(broken()).into()));
        assert!(!is_closed_pipe(&io::Error::other("full").into()));
    }
}
