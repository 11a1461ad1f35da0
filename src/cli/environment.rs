//! Values that the environment gives where the command line gives none.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// The database of commands that only read.
pub(crate) const DATABASE: &str = "PGNDEX_DB";
/// The number of threads of all commands that have `--threads`.
pub(crate) const THREADS: &str = "PGNDEX_THREADS";
/// No progress is shown if it is set.
pub(crate) const NO_PROGRESS: &str = "PGNDEX_NO_PROGRESS";

/// Texts of CSV that a spreadsheet would take for formulas get an apostrophe in front if it is set.
pub(crate) const SPREADSHEET: &str = "PGNDEX_SPREADSHEET";

/// Commands that only read, and have no other argument without a name that could be meant by the first one.
const READING: [&str; 6] = ["info", "find", "explore", "export", "serve", "verify"];

/// What a variable says; an empty one says nothing.
pub(crate) fn value(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|value| !value.is_empty())
}

/// Whether a variable switches something on: an empty one and `0` do not.
pub(crate) fn is_on(variable: &str) -> bool {
    value(variable).is_some_and(|value| value != "0")
}

/// Lets variables stand in for arguments.
pub(crate) fn apply(command: Command) -> Command {
    command.mut_subcommands(|command| {
        let reads = READING.contains(&command.get_name());
        command.mut_args(|arg| {
            let variable = match arg.get_id().as_str() {
                "threads" => THREADS,
                "database" | "databases" if reads => DATABASE,
                _ => return arg,
            };
            // clap takes an empty variable for an empty value.
            if std::env::var_os(variable).is_some_and(|value| value.is_empty()) {
                return arg;
            }
            arg.env(variable).hide_env_values(true)
        })
    })
}

/// Whether the database is the one that the variable names.
pub(crate) fn gives_database(matches: &ArgMatches) -> bool {
    matches.subcommand().is_some_and(|(_, matches)| {
        let ids = ["database", "databases"];
        ids.iter().any(|id| {
            matches!(matches.try_contains_id(id), Ok(true))
                && matches.value_source(id) == Some(ValueSource::EnvVariable)
        })
    })
}

/// The variable that gives the value of an option that is not on the command line, as an error names the option.
pub(crate) fn variable_of(option: &str, words: &[String]) -> Option<&'static str> {
    let is_given =
        |word: &String| word.starts_with("--threads") || (word.starts_with("-j") && !word.starts_with("--"));
    let is_threads = option.starts_with("--threads") && !words.iter().any(is_given);
    (is_threads && value(THREADS).is_some()).then_some(THREADS)
}
