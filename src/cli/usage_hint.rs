//! Advice on wrong arguments that is more helpful than clap's own advice.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use pgndex::board::{MaterialSignature, Position};
use pgndex::source::has_name_of_games;

use crate::cli::args::{formats, query_text};
use crate::cli::environment;
use crate::cli::render::{printable, shell_word};

/// Adds advice to an error, if clap's own advice is not helpful.
pub(super) fn add_hint(error: &mut clap::Error, command: &clap::Command, words: &[String]) {
    let subcommand = words.get(1).and_then(|name| command.find_subcommand(name));
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some(command) = subcommand
    {
        return add_hint_on_missing(error, command.get_name(), words);
    }
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(name) = words.get(1)
    {
        let is_suggested = error.get(ContextKind::SuggestedSubcommand).is_some();
        let is_like = |command: &clap::Command| is_suggested && is_like(name, command.get_name());
        let tip = match (command_of(name), hint_on(name)) {
            (Some(instead), _) => format!("did you mean 'pgndex {instead}'?"),
            (None, Some(advice)) => advice.to_owned(),
            (None, None) if command.get_subcommands().any(is_like) => return,
            (None, None) => "'pgndex --help' lists the commands".to_owned(),
        };
        error.remove(ContextKind::SuggestedSubcommand);
        return add_tip(error, tip);
    }
    if error.kind() == ErrorKind::ArgumentConflict {
        name_given_options(error, words);
    }
    if let Some(option) = subcommand.and_then(|command| option_as_query(error, command, words)) {
        error.insert(ContextKind::InvalidArg, ContextValue::String(option));
    }
    if let Some(tip) = probable_meaning(error.kind(), words) {
        return add_tip(error, tip.to_owned());
    }
    let (Some(given), Some(command)) = (unknown(error), subcommand) else { return };
    if let Some(mut instead) = instead_of(given, command, words) {
        if needs_games(&instead, command, words) {
            instead += "; filters also need --games";
        }
        add_tip(error, instead);
    } else if !suggested(error).is_some_and(|option| is_like(given, option)) {
        // clap suggests no option, or one that is not very similar.
        add_tip(error, format!("'pgndex {} --help' lists the options", command.get_name()));
    }
}

/// Shortens the list of conflicting options to those that were given: clap lists whole groups.
fn name_given_options(error: &mut clap::Error, words: &[String]) {
    let Some(ContextValue::Strings(options)) = error.get(ContextKind::PriorArg) else { return };
    let is_given = |option: &&String| {
        let name = option.split([' ', '=']).next().unwrap_or(option);
        words.iter().any(|word| word.split('=').next() == Some(name))
    };
    let given: Vec<String> = options.iter().filter(is_given).cloned().collect();
    match given.as_slice() {
        [] => {}
        [one] => drop(error.insert(ContextKind::PriorArg, ContextValue::String(one.clone()))),
        _ => drop(error.insert(ContextKind::PriorArg, ContextValue::Strings(given))),
    }
}

fn add_tip(error: &mut clap::Error, tip: String) {
    // The user did not mean the option that clap suggests. The usage text also contains this option.
    if error.remove(ContextKind::SuggestedArg).is_some() {
        error.remove(ContextKind::Usage);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// The unknown argument, if the error is about one.
fn unknown(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if error.kind() == ErrorKind::UnknownArgument => Some(option),
        _ => None,
    }
}

/// The option that clap suggests, or the first of several.
fn suggested(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(option)) => Some(option),
        Some(ContextValue::Strings(options)) => options.first().map(String::as_str),
        _ => None,
    }
}

/// Whether one word is probably a mistyped form of the other. clap also suggests words that are much less
/// similar.
fn is_like(given: &str, known: &str) -> bool {
    let [given, known] = [given, known].map(|word| word.trim_start_matches('-'));
    let most = given.chars().count().div_ceil(3);
    known.starts_with(given) || given.starts_with(known) || strsim::osa_distance(given, known) <= most.min(3)
}

/// Adds advice to an error about missing arguments.
fn add_hint_on_missing(error: &mut clap::Error, command: &str, words: &[String]) {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return };
    let mut missing = missing.clone();
    let all = missing.len();
    missing.retain(|arg| command != "remove" || !arg.contains("--"));
    let lacks_database = missing.iter().any(|arg| arg == "<DB>");
    if command == "remove" {
        error.remove(ContextKind::Usage);
    }
    if missing.len() < all {
        // One text replaces the filters: clap lists all of them, twice.
        missing.push("a filter, such as --player NAME, --event NAME or --since DATE".to_owned());
        error.insert(ContextKind::InvalidArg, ContextValue::Strings(missing));
        return add_tip(error, "'pgndex remove --help' lists all filters".to_owned());
    }
    if missing.iter().any(|arg| arg == "--reread") {
        // clap also lists the PGN files, which --reread does not take.
        missing.retain(|arg| arg != "<PGN>...");
        error.insert(ContextKind::InvalidArg, ContextValue::Strings(missing));
        let database = words.iter().skip(2).find(|word| Path::new(word).is_file());
        let database = database.map_or("games.db".to_owned(), |database| shell_word(database));
        return add_tip(
            error,
            format!("to read all files again: 'pgndex index --reread --drop-missing {database}'"),
        );
    }
    if lacks_database && environment::value(environment::DATABASE).is_some() {
        let variable = environment::DATABASE;
        return add_tip(
            error,
            format!("'{command}' needs the database on the command line; it does not use {variable}"),
        );
    }
    // If only one value is given, clap takes it as the database.
    let given = words.get(2).filter(|word| !word.starts_with('-') || *word == "-");
    if let Some(given) = given.filter(|word| !lacks_database && cannot_be_database(command, word)) {
        let quote = if given.contains(' ') { "\"" } else { "" };
        let given = printable(given);
        add_tip(
            error,
            format!("the database comes first: 'pgndex {command} games.db {quote}{given}{quote}'"),
        );
    }
}

/// Whether `word`, the first argument of `command`, is probably not a database.
fn cannot_be_database(command: &str, word: &str) -> bool {
    let path = Path::new(word);
    if path.exists() {
        return path.is_dir() || has_name_of_games(path);
    }
    match command {
        "index" => {
            word == "-" || has_name_of_games(path) || word.starts_with('@') || word.contains(['*', '?'])
        }
        "game" | "player" | "repertoire" => !word.ends_with(".db"),
        _ => false,
    }
}

/// The unknown option that clap took as the statement of `pgndex sql`. This happens because a statement can
/// begin with a comment (`--`).
fn option_as_query(error: &clap::Error, command: &clap::Command, words: &[String]) -> Option<String> {
    let is_after_query = unknown(error).is_some_and(|given| !given.starts_with('-'));
    let is_known = |option: &str| match option.strip_prefix("--") {
        Some(name) => {
            let name = name.split('=').next();
            command.get_arguments().any(|arg| arg.get_long() == name)
        }
        None => command.get_arguments().any(|arg| arg.get_short() == option.chars().nth(1)),
    };
    let is_option = |word: &&String| query_text(word).is_err() && !is_known(word);
    let found = words.iter().skip(2).find(is_option);
    found.filter(|_| command.get_name() == "sql" && is_after_query).cloned()
}

/// The command that does what other programs call `name`.
fn command_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "add" | "build" | "create" | "import" | "load" => "index",
        "filter" | "list" | "position" | "query" | "search" => "find",
        "book" | "explorer" | "openings" | "tree" => "explore",
        "show" | "view" => "game",
        "stat" | "stats" | "status" => "info",
        "check" | "validate" => "verify",
        "convert" | "dump" => "export",
        "delete" | "drop" | "rm" => "remove",
        "compact" | "vacuum" => "optimize",
        "copy" => "backup",
        "fix" => "repair",
        "server" | "web" => "serve",
        _ => return None,
    })
}

/// Advice on a command that other programs have and pgndex does not have.
fn hint_on(name: &str) -> Option<&'static str> {
    Some(match name {
        "combine" | "concat" | "join" | "merge" => {
            "to combine two databases, index the files of both into one, or run 'pgndex export B --format pgn --output b.pgn' and \
             'pgndex index A b.pgn'. To merge names of one player, run 'pgndex players DB --merge NAME ALIAS'"
        }
        "recover" | "restore" => {
            "a backup is a database; to restore it, copy it over the damaged database: 'pgndex backup BACKUP DB --overwrite'"
        }
        "migrate" | "update" | "upgrade" => {
            "'pgndex index DB FILES' adds games and brings an older database up to date"
        }
        "version" => "'pgndex --version' prints the version",
        _ => return None,
    })
}

/// The tip on how to remove the game VALUE.
const REMOVE_BY_NUMBER: &str = "to remove a game by its number, use '--sql \"SELECT VALUE\"'";

/// Options of other programs. Each entry has names of such options, the argument of pgndex that a command must have
/// for the tip to apply, and the tip. If the argument is empty, the tip applies to all commands. In the tip, the
/// given value replaces VALUE, and the given command replaces COMMAND.
const OPTIONS: [(&[&str], &str, &str); 17] = [
    (&["--date", "--year"], "since", "use '--since VALUE --until VALUE'"),
    (&["--from", "--after"], "since", "use '--since VALUE'"),
    (&["--to", "--before"], "until", "use '--until VALUE'"),
    (
        &["--game", "--games", "--id"],
        "normalize",
        "print one game with 'pgndex game DB N --format pgn'; choose several with --sql",
    ),
    (&["--game", "--id"], "shrink", REMOVE_BY_NUMBER),
    (
        &[
            "--won", "--win", "--wins", "--winner", "--lost", "--loss", "--losses", "--drawn", "--draw",
            "--draws",
        ],
        "result",
        "use '--result 1-0', '--result 0-1' or '--result draw'; for one player's games, also give '--white NAME' or '--black NAME'",
    ),
    (&["--colour"], "color", "use '--color auto', '--color always' or '--color never'"),
    (&["--color", "--colour", "--side"], "white", "use '--white NAME' or '--black NAME'"),
    (
        &["--eval", "--evals", "--eval-min", "--eval-max", "--clock", "--clock-min", "--clock-max", "--time"],
        "",
        "query evaluations and clocks with SQL: 'pgndex sql DB \"SELECT * FROM move_eval WHERE eval_cp > 300\"'",
    ),
    (&["--name"], "player", "use '--player NAME'"),
    (&["--count"], "since", "the number of games is on the last line of 'pgndex find' with the same filters"),
    (&["--quick", "--fast"], "no-sources", "use '--sample 100 --no-sources'"),
    (&["-W"], "format", "use '--format FORMAT'"),
    (&["--port", "-p"], "listen", "use '--listen 127.0.0.1:VALUE'"),
    (&["--host", "--bind", "--address"], "listen", "use '--listen VALUE:9002'"),
    (
        &["--db", "--database", "-D"],
        "database",
        "the database needs no option; it comes first: 'pgndex COMMAND VALUE'",
    ),
    (&["--output", "-o"], "param", "write '> VALUE' at the end, or '.output VALUE' before the statement"),
];

/// What to write instead of an unknown argument.
fn instead_of(given: &str, command: &clap::Command, words: &[String]) -> Option<String> {
    let has = |name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
    if given.starts_with('-') {
        return instead_of_option(given, command, words);
    }
    if words.windows(2).any(|pair| pair[0] == "--then" && pair[1] == given) {
        return Some(format!(
            "--then takes no value and comes before the next description: '--then --move \"{given}\"'"
        ));
    }
    let at = words.iter().position(|word| word == given)?;
    let option = at.checked_sub(2).and_then(|at| words.get(at)).map_or("", String::as_str);
    // Joins the words that the shell split. If `option` is in `option_is`, the joined text begins with the
    // value of this option.
    let typed = |option_is: &[&str]| {
        let first = if option_is.contains(&option) { at - 1 } else { at };
        let typed = words[first..].iter().take_while(|word| *word == "-" || !word.starts_with('-'));
        typed.map(|word| printable(word)).collect::<Vec<_>>().join(" ")
    };
    const FENS: [&str; 3] = ["--fen", "--like", "--position"];
    let extension = given.rsplit_once('.').map(|(_, extension)| extension);
    if command.get_name() == "sql" {
        Some("a statement with spaces needs quotes: \"SELECT 1\" or \".schema games\"".to_owned())
    } else if FENS.contains(&option) && matches!(given, "w" | "b") {
        Some(format!("a FEN with spaces needs quotes: '{option} \"{}\"'", typed(&FENS)))
    } else if has("fen") && given.matches('/').count() >= 7 {
        Some(format!("give the FEN with --fen, and in quotes: '--fen \"{}\"'", typed(&FENS)))
    } else if has("moves") && are_moves(&typed(&[])) {
        Some(format!("put the moves in quotes: '--moves \"{}\"'", typed(&["--moves"])))
    } else if has("output")
        && matches!(extension, Some("pgn" | "csv" | "fen" | "epd" | "json" | "html" | "md"))
    {
        Some(format!("use '--output {given}'"))
    } else if command.get_name() == "remove" && given.parse::<u32>().is_ok() {
        Some(REMOVE_BY_NUMBER.replace("VALUE", given))
    } else if command.get_name() == "remove" && has_name_of_games(Path::new(given)) {
        Some(format!("for the games of a file, use '--source {}'", shell_word(given)))
    } else if has("player") && given.chars().next().is_some_and(char::is_alphabetic) {
        Some(format!("for games of a player, use '--player \"{given}\"'"))
    } else {
        None
    }
}

/// Whether a tip names a filter of `pgndex remove` that has no effect without `--games`.
fn needs_games(tip: &str, command: &clap::Command, words: &[String]) -> bool {
    let is_named = |filter: &clap::Id| {
        filter != "source" && tip.contains(&format!("'--{}", filter.as_str().replace('_', "-")))
    };
    command.get_name() == "remove"
        && !words.iter().any(|word| word == "--games")
        && command.get_groups().any(|group| group.get_id() == "FilterArgs" && group.get_args().any(is_named))
}

/// What to write instead of an unknown option.
fn instead_of_option(given: &str, command: &clap::Command, words: &[String]) -> Option<String> {
    let name = command.get_name();
    let has = |name: &str| {
        let is_it =
            |arg: &clap::Arg| arg.get_long() == Some(name) || name == "database" && arg.get_id() == name;
        command.get_arguments().any(is_it)
    };
    let value = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(given)? {
        "" => words.get(at + 1).map(String::as_str).filter(|value| !value.starts_with('-')),
        value if value.starts_with('=') || !given.starts_with("--") => Some(value.trim_start_matches('=')),
        _ => None,
    });
    let value = value.map(printable);
    let fits = |(names, needs, _): &&(&[&str], &str, &str)| {
        names.contains(&given) && (needs.is_empty() || has(needs))
    };
    if let Some((.., tip)) = OPTIONS.iter().find(fits) {
        let value = match given {
            "--port" | "-p" => value.filter(|port| port.parse::<u16>().is_ok()).unwrap_or("PORT".to_owned()),
            _ => value.unwrap_or("VALUE".to_owned()),
        };
        return Some(tip.replace("VALUE", &value).replace("COMMAND", name));
    }
    let plain = given.trim_start_matches('-').to_lowercase().replace('_', "-");
    if has("elo-min") && plain.split('-').any(|word| matches!(word, "elo" | "rating" | "ratings")) {
        return Some("use '--elo-min N', '--elo-max N' or both".to_owned());
    }
    if matches!(given, "--output" | "-o") {
        let file = value.as_deref().unwrap_or("FILE");
        return Some(match has("format") {
            true => format!("write '> {file}' at the end"),
            false => format!("the database needs no option; it comes first: 'pgndex {name} {file}'"),
        });
    }
    let format = if matches!(plain.as_str(), "jsonl" | "ndjson") { "json" } else { &plain };
    if formats(command).iter().any(|known| known == format) {
        return Some(format!("use '--format {format}'"));
    }
    (given.len() > 2 && has(&plain) && format!("--{plain}") != given).then(|| format!("use '--{plain}'"))
}

/// Whether a text begins with a legal first move of White or of Black.
fn are_moves(text: &str) -> bool {
    let mut words =
        text.split(|letter: char| letter == '.' || letter.is_whitespace()).filter(|word| !word.is_empty());
    let first = words.find(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    let mut after_a_move = Position::start();
    // After this move, Black has the same moves as after any other first move of White.
    let _ = after_a_move.play_san(b"a3");
    first.is_some_and(|word| {
        [Position::start(), after_a_move]
            .iter_mut()
            .any(|position| position.play_san(word.as_bytes()).is_ok())
    })
}

/// Advice on arguments that are often confused.
fn probable_meaning(kind: ErrorKind, words: &[String]) -> Option<&'static str> {
    use ErrorKind::{ArgumentConflict, InvalidValue, UnknownArgument};
    let command = words.get(1).map(String::as_str);
    let after = |option: &str| {
        let at = words.iter().position(|word| word == option)?;
        words.get(at + 1).map(String::as_str)
    };
    let is_given =
        |option: &str| words.iter().any(|word| word == option || word.starts_with(&format!("{option}=")));
    match command.filter(|_| matches!(kind, ArgumentConflict | UnknownArgument)) {
        Some("index") if is_given("--eco") => Some("give names of openings with --openings FILE"),
        Some("player") if is_given("--side") => {
            Some("for games with White, add '--white NAME'; for games with Black, add '--black NAME'")
        }
        Some("explore")
            if after("--versus").is_some_and(|word| word.starts_with("--") && !word.contains(' ')) =>
        {
            Some("put the filters of --versus in quotes, as in --versus \"--since 2020\"")
        }
        _ if command == Some("export")
            && kind == InvalidValue
            && is_given("--fen")
            && after("--fen").is_none_or(|word| word.starts_with('-')) =>
        {
            Some("--fen takes a position; to write positions as FEN, use --format fen")
        }
        _ if kind == InvalidValue
            && after("--ending").is_some_and(|text| MaterialSignature::parse(text).is_ok()) =>
        {
            Some("give pieces with --material, as in --material KRPvKR")
        }
        _ => None,
    }
}
