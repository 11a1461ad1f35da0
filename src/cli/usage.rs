//! Defines the command line, parses the arguments, and reports invalid arguments.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::PossibleValue;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, CommandFactory as _, FromArgMatches as _, ValueHint};

use crate::cli::args::{Arguments, FORMAT, formats};
use crate::cli::environment;
use crate::cli::render::{brief, of_stdout, printable};
use crate::cli::terminal::{log, sqlite};
use crate::cli::usage_hint::add_hint;

static IS_DATABASE_OF_ENVIRONMENT: AtomicBool = AtomicBool::new(false);

/// Whether the database comes from an environment variable.
pub(crate) fn is_database_from_environment() -> bool {
    IS_DATABASE_OF_ENVIRONMENT.load(Ordering::Relaxed)
}

/// The definition of the command line, for parsing and for documentation.
pub(crate) fn command() -> clap::Command {
    const VERBOSE: &str = "verbose";
    let verbose = Arg::new(VERBOSE)
        .long(VERBOSE)
        .action(ArgAction::SetTrue)
        .requires("version")
        .help("With --version: also print the version of SQLite and how SQLite was compiled");
    environment::apply(Arguments::command())
        .arg(verbose)
        .mut_subcommands(|command| with_more(with_json(command.mut_args(with_values))))
}

/// Adds a line at the end of the short help: how many options the short help omits.
fn with_more(command: clap::Command) -> clap::Command {
    let is_omitted = |arg: &&Arg| arg.is_hide_short_help_set() && !arg.is_hide_set();
    match command.get_arguments().filter(is_omitted).count() {
        0 => command,
        1 => command.after_help("… 1 more option: --help"),
        options => command.after_help(format!("… {options} more options: --help")),
    }
}

/// Adds the option `--json` to a command that has JSON among its formats.
fn with_json(command: clap::Command) -> clap::Command {
    const JSON: &str = "json";
    if !formats(&command).iter().any(|format| format == JSON) {
        return command;
    }
    let json = Arg::new(JSON)
        .long(JSON)
        .action(ArgAction::SetTrue)
        .conflicts_with(FORMAT)
        .help("The same as --format json");
    let takes_no_format =
        |command: &clap::Command| command.get_groups().any(|group| group.get_id() == CHANGE);
    let json = if takes_no_format(&command) { json.conflicts_with(CHANGE) } else { json };
    command.arg(json).mut_arg(FORMAT, |format| format.default_value_if(JSON, "true", JSON))
}

/// The group of options with which `pgndex players` does not list players, and accepts no output format.
const CHANGE: &str = "change";

/// If an argument takes values, applies the settings that are common to all such arguments.
fn with_values(arg: Arg) -> Arg {
    let has_values = arg.get_num_args().is_none_or(|values| values.takes_values());
    if !has_values || !arg.get_action().takes_values() {
        return arg;
    }
    let is_directory = arg.get_value_names().is_some_and(|names| names[0] == "DIR");
    let hint = match arg.get_value_hint() {
        ValueHint::AnyPath if is_directory => ValueHint::DirPath,
        // Without this hint, shells would complete file names.
        ValueHint::Unknown if arg.get_possible_values().is_empty() => ValueHint::Other,
        hint => hint,
    };
    let arg = with_many_values(arg);
    // By default, clap rejects a negative number as an unknown option.
    arg.allow_negative_numbers(true).ignore_case(true).value_hint(hint)
}

/// Moves the possible values of an option to its long help if they do not fit on the option's line.
fn with_many_values(arg: Arg) -> Arg {
    const FITTING: usize = 30;
    let values = arg.get_possible_values();
    let names = values.iter().map(PossibleValue::get_name).collect::<Vec<_>>().join(", ");
    if names.len() <= FITTING {
        return arg;
    }
    let help = match (arg.get_long_help(), arg.get_help()) {
        (Some(help), _) => help.to_string(),
        (None, help) => help.map(|help| format!("{help}.")).unwrap_or_default(),
    };
    let are_named = values.iter().all(|value| help.contains(value.get_name()));
    let arg = arg.hide_possible_values(true);
    if are_named { arg } else { arg.long_help(format!("{help}\n\nOne of {names}.")) }
}

/// The text below the options in a command's long help.
pub(crate) struct Notes {
    /// Lines with one command each.
    pub(crate) examples: Vec<String>,
    pub(crate) paragraphs: Vec<String>,
}

impl Notes {
    pub(crate) fn of(command: &clap::Command) -> Self {
        let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let (examples, rest): (Vec<_>, Vec<_>) =
            help.split("\n\n").partition(|part| part.starts_with("Examples:"));
        let examples = examples.iter().flat_map(|part| part.lines().skip(1));
        let examples = examples.map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned()).collect();
        let paragraphs = rest.iter().flat_map(|part| part.lines()).map(|line| line.trim_start().to_owned());
        Self { examples, paragraphs: paragraphs.collect() }
    }
}

/// Parses the arguments. Ends the process if they are invalid, or after printing the requested help or
/// version.
pub(crate) fn parse() -> Arguments {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let arguments = matches.and_then(|mut matches| {
        let name = matches.subcommand_name().map(str::to_owned);
        IS_DATABASE_OF_ENVIRONMENT.store(environment::gives_database(&matches), Ordering::Relaxed);
        Arguments::from_arg_matches_mut(&mut matches).map_err(|error| {
            // The message must contain the usage of the given command.
            match name.and_then(|name| command.find_subcommand_mut(name)) {
                Some(command) => error.format(command),
                None => error.format(&mut command),
            }
        })
    });
    arguments.unwrap_or_else(|mut error| {
        let is_verbose = || std::env::args_os().any(|argument| argument == "--verbose");
        if error.kind() == ErrorKind::DisplayVersion
            && is_verbose()
            && let Ok(versions) = sqlite::versions()
        {
            end_after(writeln!(std::io::stdout(), "{versions}"));
        }
        if matches!(error.kind(), ErrorKind::DisplayVersion | ErrorKind::DisplayHelp) {
            end_after(error.print());
        }
        sanitize(&mut error);
        let words: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
            && let Some(variable) = environment::variable_of(option, &words)
        {
            let named = format!("{variable}', the default of '{option}");
            error.insert(ContextKind::InvalidArg, ContextValue::String(named));
        }
        add_hint(&mut error, &command, &words);
        error.exit()
    })
}

/// Ends the process after the requested text was printed, with status 1 if printing failed. A closed pipe is
/// not a failure.
fn end_after(printed: std::io::Result<()>) -> ! {
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            log::complain(&of_stdout(error).to_string());
            std::process::exit(1)
        }
        _ => std::process::exit(0),
    }
}

/// Shortens the texts that a message quotes, and makes them safe for a terminal.
fn sanitize(error: &mut clap::Error) {
    let fit = |text: &String| brief(&printable(text)).into_owned();
    let fitted: Vec<_> = error
        .context()
        .filter_map(|(kind, value)| {
            use ContextKind::{InvalidArg, InvalidSubcommand, InvalidValue};
            let fitted = match value {
                ContextValue::String(text) => ContextValue::String(fit(text)),
                ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(fit).collect()),
                _ => return None,
            };
            let is_quoted = matches!(kind, InvalidArg | InvalidSubcommand | InvalidValue);
            (is_quoted && fitted != *value).then_some((kind, fitted))
        })
        .collect();
    // Suggestions would quote the original text again.
    if !fitted.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::None);
    }
    for (kind, value) in fitted {
        error.insert(kind, value);
    }
}
