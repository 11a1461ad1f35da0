//! The environment variables of pgndex. Some of them are defaults for arguments.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// The variable for the default database of the commands in `READING`.
pub(crate) const DATABASE: &str = "PGNDEX_DB";
/// The variable for the default number of threads of all commands with `--threads`.
pub(crate) const THREADS: &str = "PGNDEX_THREADS";
/// The variable that disables the display of progress.
pub(crate) const NO_PROGRESS: &str = "PGNDEX_NO_PROGRESS";

/// The variable that makes CSV output put an apostrophe before values that a spreadsheet would interpret as
/// formulas.
pub(crate) const SPREADSHEET: &str = "PGNDEX_SPREADSHEET";

/// Read-only commands without another positional argument that could be confused with the database.
const READING: [&str; 6] = ["info", "find", "explore", "export", "serve", "verify"];

/// The value of a variable; `None` if the variable is unset or empty.
pub(crate) fn value(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|value| !value.is_empty())
}

/// Whether a variable is on: set, not empty, and not `0`.
pub(crate) fn is_on(variable: &str) -> bool {
    value(variable).is_some_and(|value| value != "0")
}

/// Takes the defaults of arguments from environment variables.
pub(crate) fn apply(command: Command) -> Command {
    command.mut_subcommands(|command| {
        let reads = READING.contains(&command.get_name());
        command.mut_args(|arg| {
            let variable = match arg.get_id().as_str() {
                "threads" => THREADS,
                "database" | "databases" if reads => DATABASE,
                _ => return arg,
            };
            // clap would take an empty variable as an empty argument.
            if std::env::var_os(variable).is_some_and(|value| value.is_empty()) {
                return arg;
            }
            arg.env(variable).hide_env_values(true)
        })
    })
}

/// Whether the database comes from the variable [`DATABASE`].
pub(crate) fn gives_database(matches: &ArgMatches) -> bool {
    matches.subcommand().is_some_and(|(_, matches)| {
        let ids = ["database", "databases"];
        ids.iter().any(|id| {
            matches!(matches.try_contains_id(id), Ok(true))
                && matches.value_source(id) == Some(ValueSource::EnvVariable)
        })
    })
}

/// The variable that sets an option. `None` if no variable sets it, or if the option is on the command line.
/// `option` is the option as an error names it, and `words` are the arguments of the process.
pub(crate) fn variable_of(option: &str, words: &[String]) -> Option<&'static str> {
    let is_given =
        |word: &String| word.starts_with("--threads") || (word.starts_with("-j") && !word.starts_with("--"));
    let is_threads = option.starts_with("--threads") && !words.iter().any(is_given);
    (is_threads && value(THREADS).is_some()).then_some(THREADS)
}
