//! The command line: parses the arguments, runs the command and prints its output.
//!
//! Answers go to standard output; notes, progress and errors to standard error. Only this module depends on
//! clap.

mod args;
mod command;
mod environment;
mod error;
#[cfg(test)]
#[path = "../../tests/common/generated_file.rs"]
mod generated_file;
#[cfg(unix)]
pub(crate) mod memory;
mod notes;
#[cfg(all(test, feature = "serve"))]
mod reference;
mod render;
mod report;
mod terminal;
mod usage;
mod usage_hint;

use args::{Arguments, Command, LogFormat};
pub(crate) use error::is_closed_pipe;
use report::Status;
pub(crate) use report::report_error;
pub(crate) use terminal::sqlite::set_up as set_up_sqlite;
pub(crate) use usage::parse;

/// Runs a command.
///
/// # Errors
/// Any error that makes the command fail, and also a closed output pipe, which is not a failure: see
/// [`is_closed_pipe`].
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
        Command::Optimize(args) => command::maintenance::optimize(&args)?,
        Command::Backup(args) => command::maintenance::backup(&args)?,
        Command::Verify(args) => return command::verify::run(&args),
        Command::Repair(args) => return command::maintenance::repair(&args),
        Command::Key(args) => command::key::run(&args)?,
        Command::Completions(args) => command::shell::completions(&args)?,
        Command::Man(args) => command::shell::man(&args)?,
    }
    Ok(Status::Done)
}
