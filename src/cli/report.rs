//! Reports the result or the error of a command, and determines the exit status.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;

use crate::cli::args::ReportArgs;
use crate::cli::error::{WrongValue, is_busy, is_stop};
use crate::cli::render::{Done, bounded, escaped_json};
use crate::cli::terminal::{Event, Level, log, signal};
use crate::cli::{environment, error, usage};

/// The result of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The command has done everything that was requested.
    Done,
    /// The command has finished, but a part of a game, of a file or of a directory could not be read.
    Lossy,
    /// The command has finished, but the database or the Parquet files are damaged.
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

/// Reports what a command did. With `--json`, prints an object to standard output. If the log is JSON, writes
/// the event `done` to standard error. If the log is text and `--json` is not given, writes the given text to
/// standard error, unless it is empty. With `--quiet`, writes nothing to standard error.
///
/// # Errors
/// If the object cannot be written to standard output. A closed pipe is not an error: the exit status still
/// shows the result.
pub(crate) fn report_done(args: ReportArgs, done: Done, text: &str) -> anyhow::Result<()> {
    if args.json {
        let object = serde_json::to_string(&done)?;
        match writeln!(io::stdout().lock(), "{}", escaped_json(&object)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => {
                written.context("the run is done, but its summary cannot be written to standard output")?;
            }
        }
    }
    if args.log.quiet {
        return Ok(());
    }
    if log::is_json() {
        log::write(Level::Info, "done", "done", Event::Done(done));
    } else if !args.json && !text.is_empty() {
        // The work is done, so the command succeeds even if the summary cannot be written.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
    Ok(())
}

/// Writes an error and its causes to standard error. Returns the exit status.
pub(crate) fn report_error(error: &anyhow::Error) -> ExitCode {
    /// Another program uses the database: the same command can succeed later.
    const BUSY: u8 = 4;
    const WRONG_USAGE: u8 = 2;
    let status = match error {
        _ if is_busy(error) => BUSY,
        _ if error.is::<WrongValue>() => WRONG_USAGE,
        _ => signal::exit_status().filter(|_| is_stop(error)).unwrap_or(1),
    };
    let event = Event::Failed { causes: causes(error), exit_status: status };
    let mut text = describe(error);
    if usage::is_database_from_environment() {
        text += &format!("\n  the variable {} names the database", environment::DATABASE);
    }
    log::write(Level::Error, &text, &error::message(error.as_ref()), event);
    status.into()
}

/// An error with its causes, one per line.
fn describe(error: &anyhow::Error) -> String {
    let causes = causes(error).into_iter().map(|cause| format!("\n  because: {cause}"));
    format!("pgndex: error: {}{}", error::message(error.as_ref()), causes.collect::<String>())
}

/// The causes of an error. Omits SQLite's error codes, and each cause that is already part of the message
/// before it. This comparison ignores letter case and the system's error code.
fn causes(error: &anyhow::Error) -> Vec<String> {
    let mut causes = Vec::new();
    let mut above = error::message(error.as_ref());
    for cause in error.chain().skip(1) {
        let message = error::message(cause);
        // The cause is SQLite's error code, which the message before it describes.
        let is_code = cause.is::<rusqlite::ffi::Error>();
        let reason = message.split(" (os error ").next().unwrap_or(&message).to_lowercase();
        if !is_code && !above.to_lowercase().contains(&reason) {
            causes.push(bounded(&message).into_owned());
            above = message;
        }
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let error = io::Error::other("No such file (os error 2)");
        let error = Err::<(), _>(error).context("a.pgn: no such file; check the path").unwrap_err();
        assert!(causes(&error).is_empty());
    }
}
