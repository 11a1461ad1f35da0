//! Sections of the manual pages on what a command returns, reads and writes.

use clap::Command;

use crate::cli::args::formats;
use crate::cli::environment::{DATABASE, NO_PROGRESS, SPREADSHEET, THREADS};

/// The page of the program itself, which has the entries of all commands.
const PROGRAM: &str = "pgndex";

/// A term and its explanation.
type Entry = (&'static str, &'static str);

/// What the exit statuses of a command mean.
pub(super) fn exit_status(command: &Command) -> Vec<Entry> {
    let name = command.get_name();
    let done = match name {
        "verify" => "The database or the Parquet files are sound.",
        "serve" => "Ended by Ctrl-C or SIGTERM.",
        "watch" => "Ended by Ctrl-C or SIGTERM; with --once, done.",
        _ => "Done, also if nothing was found or nothing was new.",
    };
    let failed = match name {
        "index" => {
            "Failed. The database is unchanged, unless everything is done and only the output of --json cannot be written."
        }
        "verify" => "The database or the Parquet files are not sound, or could not be checked.",
        "repair" => "Failed, or games have lost positions, which cannot be restored.",
        "game" => "Failed, or there is no game with this number.",
        "sql" => "A statement failed; those after it did not run.",
        _ => "Failed.",
    };
    let is_any_of = |names: &[&str]| name == PROGRAM || names.contains(&name);
    let mut entries =
        vec![("0", done), ("1", failed), ("2", "Wrong usage: an unknown option or an invalid value.")];
    if is_any_of(&["index", "watch"]) {
        entries.push((
            "3",
            "Done, but some games could not be read completely, or a file has text and no game.",
        ));
    }
    if is_any_of(&["index", "remove", "optimize", "backup", "repair", "players", "sql"]) {
        entries.push((
            "4",
            "Another program is writing the database, or has been reading it since before the command began. The database is \
             unchanged; try again later.",
        ));
    }
    if !["watch", "serve", "key", "completions", "man"].contains(&name) {
        entries.push(("129", "The terminal was closed (SIGHUP)."));
        entries.push(("130", "Stopped by Ctrl-C (SIGINT)."));
        entries.push(("143", "Stopped by SIGTERM."));
    }
    entries
}

/// The environment variables that a command reads.
pub(super) fn environment(command: &Command) -> Vec<Entry> {
    let is_program = command.get_name() == PROGRAM;
    let has = |option: &str| is_program || command.get_arguments().any(|arg| arg.get_id() == option);
    let reads = |variable: &str| {
        let is_it = |arg: &clap::Arg| arg.get_env().is_some_and(|name| name == variable);
        is_program || command.get_arguments().any(is_it)
    };
    let formats = formats(command);
    let writes = |format: &str| is_program || formats.iter().any(|known| known.starts_with(format));
    let is_any_of = |names: &[&str]| is_program || names.contains(&command.get_name());
    let entries = [
        (
            reads(DATABASE),
            DATABASE,
            "The database for commands that only read, if none is given on the command line.",
        ),
        (reads(THREADS), THREADS, "The number of threads, if --threads is not given."),
        (has("quiet"), NO_PROGRESS, "If it is set and not 0, no progress is shown."),
        (
            writes("csv"),
            SPREADSHEET,
            "If it is set and not 0, CSV values that a spreadsheet would treat as formulas begin with an apostrophe.",
        ),
        (has("color"), "NO_COLOR", "If it is set, boards have no colours, except with --color always."),
        (writes("table"), "COLUMNS", "The width of tables, if standard output is not a terminal."),
        (
            writes("table"),
            "LC_ALL, LC_CTYPE, LANG",
            "If the locale is not UTF-8, boards and bars are drawn in ASCII.",
        ),
        (is_any_of(&["watch", "serve"]), "NOTIFY_SOCKET", "Set by systemd for a service of Type=notify."),
        (
            is_any_of(&["watch"]),
            "WATCHDOG_USEC, WATCHDOG_PID",
            "Set by systemd for a service with WatchdogSec.",
        ),
    ];
    let read = entries.into_iter().filter(|(is_read, ..)| *is_read);
    read.map(|(_, variable, effect)| (variable, effect)).collect()
}

/// The files that a command reads and writes.
pub(super) fn files(command: &Command) -> Vec<Entry> {
    let name = command.get_name();
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_id() == option);
    let is_any_of = |names: &[&str]| name == PROGRAM || names.contains(&name);
    let mut entries = Vec::new();
    if name == PROGRAM || has("database") || has("databases") {
        entries.push(("DB", "The database, an SQLite file."));
    }
    if is_any_of(&["index", "watch", "remove", "optimize", "repair", "players", "sql", "serve"]) {
        entries.push((
            "DB-wal, DB-shm",
            "Parts of the database while it is in use. Never delete DB-wal: it can contain the latest changes.",
        ));
    }
    if is_any_of(&["index", "watch", "remove", "optimize", "backup", "repair", "players", "sql"]) {
        entries.push((
            ".DB.pgndex-tmp*",
            "The lock and the temporary files of a command that writes. The next such command removes those of a killed command.",
        ));
    }
    if is_any_of(&["index", "export", "verify"]) {
        entries.push((
            "DIR/_manifest-*.json",
            "The list of the Parquet files that a finished run wrote into DIR.",
        ));
    }
    entries
}
