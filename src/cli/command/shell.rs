//! `pgndex completions` and `pgndex man`: shell completions and manual pages.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use clap::{Arg, ArgGroup, Command, Id};
use clap_mangen::Man;

use crate::cli::args::{CompletionsArgs, ManArgs, formats};
use crate::cli::environment::{DATABASE, NO_PROGRESS, SPREADSHEET, THREADS};
use crate::cli::render::{refuse_standard_output, stdout};
use crate::cli::usage::{self, Notes};

/// Writes the completions for a shell.
///
/// # Errors
/// If writing fails.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut command = shown(&usage::command()).version(env!("CARGO_PKG_VERSION"));
    let name = command.get_name().to_owned();
    // The script is first generated in memory: `generate` panics if a write fails.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    let mut out = stdout();
    out.write_all(&text)?;
    Ok(out.flush()?)
}

/// A copy of a command for completions. It lacks the hidden options, because the completions would offer
/// them. Its groups of options allow every combination of their options.
fn shown(command: &Command) -> Command {
    let is_shown = |id: &&Id| command.get_arguments().any(|arg| arg.get_id() == *id && !arg.is_hide_set());
    let groups = command.get_groups().map(|group| {
        ArgGroup::new(group.get_id().clone()).multiple(true).args(group.get_args().filter(is_shown).cloned())
    });
    Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()))
        .groups(groups)
        .subcommands(command.get_subcommands().map(shown))
}

/// Writes the manual pages.
///
/// # Errors
/// If the directory cannot be created or written to.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<()> {
    let directory = &args.directory;
    refuse_standard_output(directory)?;
    if directory.is_file() {
        anyhow::bail!("{}: a file; name a directory", directory.display());
    }
    fs::create_dir_all(directory)
        .with_context(|| format!("{}: cannot create this directory; name another", directory.display()))?;
    // `pgndex help` needs no page: it prints what the other pages contain.
    let mut command = usage::command().disable_help_subcommand(true);
    command.build();
    let names: Vec<_> = command.get_subcommands().map(page_name).collect();
    write(directory, &command, &names)?;
    for subcommand in command.get_subcommands() {
        write(directory, subcommand, &[page_name(&command)])?;
    }
    Ok(())
}

fn page_name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// Writes the page of a command. `others` are the names of the pages under SEE ALSO.
fn write(directory: &Path, command: &Command, others: &[String]) -> anyhow::Result<()> {
    let path = directory.join(format!("{}.1", page_name(command)));
    let written = fs::write(&path, page(command, others)?);
    if written.is_err() {
        // Removes the incomplete page. If this fails too, only the write error is reported.
        let _ = fs::remove_file(&path);
    }
    written.with_context(|| format!("{}: cannot be written", path.display()))
}

fn page(command: &Command, others: &[String]) -> anyhow::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    // The date is empty, so that the same program always writes the same pages. The header is written here,
    // because `Man` would omit the empty field.
    let version = env!("CARGO_PKG_VERSION");
    let title = escaped(&page_name(command).to_uppercase());
    let mut page = format!(".TH \"{title}\" 1 \"\" \"pgndex {version}\" \"pgndex\"\n").into_bytes();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    for (heading, entries) in [
        ("EXIT STATUS", exit_status(command)),
        ("ENVIRONMENT", environment(command)),
        ("FILES", files(command)),
    ] {
        page.extend_from_slice(listed(heading, &entries).as_bytes());
    }
    page.extend_from_slice(notes(&Notes::of(command)).as_bytes());
    let others: Vec<_> = others.iter().map(|name| format!("\\fB{}\\fR(1)", escaped(name))).collect();
    page.extend_from_slice(format!(".SH \"SEE ALSO\"\n{}\n", others.join(",\n")).as_bytes());
    Ok(page)
}

/// A section of terms with explanations; an empty text if there are no entries.
fn listed(heading: &str, entries: &[(&str, &str)]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let entry = |(term, text): &(&str, &str)| format!(".TP\n\\fB{}\\fR\n{}\n", escaped(term), escaped(text));
    format!(".SH \"{heading}\"\n{}", entries.iter().map(entry).collect::<String>())
}

/// The notes below the options in the help, as sections of a manual page: paragraphs, then examples line by
/// line. The paragraph about the exit status is omitted, because the page has a section about it.
fn notes(notes: &Notes) -> String {
    let mut text = String::new();
    let is_shown = |line: &&String| !line.starts_with("Exit status: ");
    let paragraphs = notes.paragraphs.iter().filter(is_shown);
    let paragraphs: Vec<_> = paragraphs.map(|line| escaped(line) + "\n").collect();
    if !paragraphs.is_empty() {
        text += &format!(".SH NOTES\n{}", paragraphs.join(".PP\n"));
    }
    if !notes.examples.is_empty() {
        let lines: Vec<_> = notes.examples.iter().map(|line| escaped(line) + "\n").collect();
        text += &format!(".SH EXAMPLES\n.nf\n{}.fi\n", lines.concat());
    }
    text
}

/// Escapes a line for troff, so that it is not read as a request and its hyphens can be copied.
fn escaped(line: &str) -> String {
    let text = line
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
        .replace('^', "\\(ha")
        .replace('~', "\\(ti")
        .replace('`', "\\(ga");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

/// The name of the program. Its manual page has the exit statuses, variables and files of all commands.
const PROGRAM: &str = "pgndex";

/// A term and its explanation.
type Entry = (&'static str, &'static str);

/// What the exit statuses of a command mean.
fn exit_status(command: &Command) -> Vec<Entry> {
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
        "repair" => "Failed, or games have missing or surplus positions, which cannot be repaired.",
        "game" => "Failed, or there is no game with this number.",
        "sql" => "A statement failed; those after it did not run.",
        _ => "Failed.",
    };
    let is_any_of = |names: &[&str]| name == PROGRAM || names.contains(&name);
    let is_stopped = !["watch", "serve", "key", "completions", "man"].contains(&name);
    applicable([
        (true, "0", done),
        (true, "1", failed),
        (true, "2", "Wrong usage: an unknown option or an invalid value."),
        (
            is_any_of(&["index", "watch"]),
            "3",
            "Done, but some games could not be read completely, or a file has text but no games.",
        ),
        (
            is_any_of(&["index", "remove", "optimize", "backup", "repair", "players", "sql"]),
            "4",
            "Another program is writing the database, or has been reading it since before the command began. The database is \
             unchanged; try again later.",
        ),
        (is_stopped, "129", "The terminal was closed (SIGHUP)."),
        (is_stopped, "130", "Stopped by Ctrl-C (SIGINT)."),
        (is_stopped, "143", "Stopped by SIGTERM."),
    ])
}

/// The term and the text of each entry that begins with `true`.
fn applicable<const N: usize>(entries: [(bool, &'static str, &'static str); N]) -> Vec<Entry> {
    let applies = entries.into_iter().filter(|(applies, ..)| *applies);
    applies.map(|(_, term, text)| (term, text)).collect()
}

/// The environment variables that a command reads.
fn environment(command: &Command) -> Vec<Entry> {
    let is_program = command.get_name() == PROGRAM;
    let has = |option: &str| is_program || command.get_arguments().any(|arg| arg.get_id() == option);
    let reads = |variable: &str| {
        let is_it = |arg: &Arg| arg.get_env().is_some_and(|name| name == variable);
        is_program || command.get_arguments().any(is_it)
    };
    let formats = formats(command);
    let writes = |format: &str| is_program || formats.iter().any(|known| known.starts_with(format));
    let is_any_of = |names: &[&str]| is_program || names.contains(&command.get_name());
    applicable([
        (reads(DATABASE), DATABASE, "The database, if none is given on the command line."),
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
    ])
}

/// The files that a command reads and writes.
fn files(command: &Command) -> Vec<Entry> {
    let name = command.get_name();
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_id() == option);
    let is_any_of = |names: &[&str]| name == PROGRAM || names.contains(&name);
    applicable([
        (name == PROGRAM || has("database") || has("databases"), "DB", "The database, an SQLite file."),
        (
            is_any_of(&["index", "watch", "remove", "optimize", "repair", "players", "sql", "serve"]),
            "DB-wal, DB-shm",
            "Parts of the database while it is in use. Never delete DB-wal: it can contain the latest changes.",
        ),
        (
            is_any_of(&["index", "watch", "remove", "optimize", "backup", "repair", "players", "sql"]),
            ".DB.pgndex-tmp*",
            "The lock and the temporary files of a command that writes. The next such command removes the files \
             that a killed command left behind.",
        ),
        (
            is_any_of(&["index", "export", "verify"]),
            "DIR/_manifest-*.json",
            "The list of the Parquet files that a finished run wrote into DIR.",
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_contain_no_roff_requests() {
        assert_eq!(escaped(".so a\\b --x 'y'"), "\\&.so a\\eb \\-\\-x \\(aqy\\(aq");
        let formatted = |help| notes(&Notes::of(&Command::new("x").after_long_help(help)));
        assert_eq!(
            formatted("More.\nYet.\n\nExit status: 0.\n\nExamples:\n  a -b"),
            ".SH NOTES\nMore.\n.PP\nYet.\n.SH EXAMPLES\n.nf\na \\-b\n.fi\n"
        );
        assert_eq!(formatted(""), "");
    }
}
