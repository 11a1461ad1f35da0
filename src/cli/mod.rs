//! The command line: arguments, and what each command prints.
//!
//! Answers go to standard output; notes, progress and errors to standard error. Only here is clap known.

mod args;
mod board;
mod explore;
mod export;
mod find;
mod game;
mod histogram;
mod index;
mod info;
mod key;
mod number;
mod output;
mod position_query;
mod progress;
mod signal;
mod size;
mod sql;
mod summary;
mod table;
mod timing;
mod verify;

use std::io::{self, Write as _};
use std::process::ExitCode;

pub(crate) use args::Arguments;
use args::Command;

/// How a command that did not fail went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is done.
    Done,
    /// All is done, but of some games something was lost.
    Lossy,
    /// All is done, and it shows that a database is damaged.
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
/// Whatever keeps the command from being done; [`is_closed_pipe`] tells the one that is no failure.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Status> {
    match arguments.command {
        Command::Index(args) => return index::run(&args),
        Command::Info(args) => info::run(&args)?,
        Command::Find(args) => find::run(&args)?,
        Command::Explore(args) => explore::run(&args)?,
        Command::Export(args) => export::run(&args)?,
        Command::Game(args) => game::run(&args)?,
        Command::Sql(args) => sql::run(&args)?,
        Command::Verify(args) => return verify::run(&args),
        Command::Key(args) => key::run(&args)?,
    }
    Ok(Status::Done)
}

/// Whether the reader of our output has gone away, as in `pgndex sql … | head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let csv = cause.downcast_ref::<csv::Error>().and_then(|error| match error.kind() {
            csv::ErrorKind::Io(error) => Some(error.kind()),
            _ => None,
        });
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        [io, csv, json].contains(&Some(io::ErrorKind::BrokenPipe))
    })
}

/// Writes an error and what caused it to standard error.
pub(crate) fn report(error: &anyhow::Error) {
    // There is nowhere left to say that standard error cannot be written.
    let _ = write!(io::stderr().lock(), "{}", describe(error));
}

/// Writes to standard error that something could not be done, though the rest could.
fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "pgndex: error: {text}");
}

/// Writes a remark to standard error.
fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "pgndex: note: {text}");
}

/// An error with all its causes, one a line; a cause that only says again what stands above is left out.
fn describe(error: &anyhow::Error) -> String {
    let mut text = format!("pgndex: error: {error}\n");
    let mut above = error.to_string();
    for cause in error.chain().skip(1) {
        let message = cause.to_string();
        // SQLite's number for what its message has just told in words.
        let is_code = cause.is::<rusqlite::ffi::Error>();
        if !is_code && !above.contains(&message) {
            text += &format!("  because: {message}\n");
            above = message;
        }
    }
    text
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
    fn a_closed_pipe_is_told_through_every_layer() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_closed_pipe(&anyhow::Error::from(broken()).context("writing")));
        assert!(is_closed_pipe(&csv::Error::from(broken()).into()));
        assert!(is_closed_pipe(&serde_json::Error::io(broken()).into()));
        assert!(!is_closed_pipe(&io::Error::other("full").into()));
    }
}
