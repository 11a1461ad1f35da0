//! What helps against arguments that are wrong, where clap says something else.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use pgndex::board::{MaterialSignature, Position};

use crate::cli::usage::formats;

/// Says what helps against an error, where something else does than clap says.
pub(super) fn advise(error: &mut clap::Error, command: &clap::Command, words: &[String]) {
    let subcommand = words.get(1).and_then(|name| command.find_subcommand(name));
    if let Some(tip) = lacks_filter(error, words) {
        // Clap lists all filters twice.
        let filter = "a filter, such as --player NAME, --event NAME or --since DATE".to_owned();
        error.insert(ContextKind::InvalidArg, ContextValue::Strings(vec![filter]));
        error.remove(ContextKind::Usage);
        return tell(error, tip.to_owned());
    }
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(instead) = words.get(1).and_then(|name| command_of(name))
    {
        error.remove(ContextKind::SuggestedSubcommand);
        return tell(error, format!("'pgndex {instead}' may be what you look for"));
    }
    let tip = match (meant(error.kind(), words), unknown(error)) {
        (Some(tip), _) => tip.to_owned(),
        (None, Some(given)) => match subcommand.map(|command| (command, instead_of(given, command, words))) {
            Some((_, Some(instead))) => instead,
            // An option that is much alike: clap names it.
            _ if error.get(ContextKind::SuggestedArg).is_some() => return,
            Some((command, None)) => format!("'pgndex {} --help' tells the options", command.get_name()),
            None => return,
        },
        (None, None) => return,
    };
    tell(error, tip);
}

fn tell(error: &mut clap::Error, tip: String) {
    // What clap takes for alike was not meant; it stands in the usage, too.
    if error.remove(ContextKind::SuggestedArg).is_some() {
        error.remove(ContextKind::Usage);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// The option that is not there, if this is what is wrong.
fn unknown(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if error.kind() == ErrorKind::UnknownArgument => Some(option),
        _ => None,
    }
}

/// What says that a command which takes games out lacks a filter.
fn lacks_filter(error: &clap::Error, words: &[String]) -> Option<&'static str> {
    let is_remove = words.get(1).is_some_and(|command| command == "remove");
    let is_given = words.iter().any(|word| word == "--games");
    (is_remove && is_given && error.kind() == ErrorKind::MissingRequiredArgument)
        .then_some("'pgndex remove --help' tells all filters")
}

/// The command that other programs call by another name.
fn command_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "add" | "build" | "create" | "import" | "load" => "index",
        "filter" | "position" | "query" | "search" => "find",
        "book" | "explorer" | "openings" | "tree" => "explore",
        "show" | "view" => "game",
        "stat" | "stats" | "status" => "info",
        "check" | "validate" => "verify",
        "delete" | "drop" | "rm" => "remove",
        "compact" | "merge" | "vacuum" => "optimize",
        "copy" => "backup",
        "fix" => "repair",
        "server" | "web" => "serve",
        _ => return None,
    })
}

/// What to write in the place of something that a command does not know.
fn instead_of(given: &str, command: &clap::Command, words: &[String]) -> Option<String> {
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_long() == Some(option));
    if given.starts_with('-') {
        return match given {
            "--date" | "--year" if has("since") => {
                let value = words.iter().skip_while(|word| *word != given).nth(1);
                let date = value.filter(|value| !value.starts_with('-')).map_or("1972", String::as_str);
                Some(format!("use '--since {date} --until {date}'"))
            }
            "--game" | "--games" | "--id" if command.get_name() == "export" => Some(
                "one game is told by 'pgndex game DB N --format pgn'; several are chosen by --sql".to_owned(),
            ),
            "--fen" if command.get_name() == "key" => {
                Some("a position needs no option: 'pgndex key \"FEN\"'".to_owned())
            }
            "--output" | "-o" if command.get_name() == "sql" => {
                Some("write '> FILE' at the end, or '.output FILE' before the statement".to_owned())
            }
            "--elo" | "--rating" if has("elo-min") => {
                Some("use '--elo-min N', '--elo-max N' or both".to_owned())
            }
            "--name" if has("player") => Some("use '--player NAME'".to_owned()),
            _ => format_of(given, command).map(|format| format!("use '--format {format}'")),
        };
    }
    if words.windows(2).any(|pair| pair[0] == "--then" && pair[1] == given) {
        return Some(format!(
            "--then stands alone, before the next description: '--then --move \"{given}\"'"
        ));
    }
    let extension = given.rsplit_once('.').map(|(_, extension)| extension);
    if command.get_name() == "sql" {
        Some("a statement with blanks stands in quotes: \"SELECT 1\" or \".schema games\"".to_owned())
    } else if has("fen") && given.matches('/').count() >= 7 {
        Some("a position is one text in quotes: '--fen \"…\"'".to_owned())
    } else if has("moves") && are_moves(given) {
        let before = words.iter().skip_while(|word| *word != "--moves").nth(1).filter(|word| *word != given);
        let moves: Vec<_> = before.map(String::as_str).into_iter().chain([given]).collect();
        Some(format!("moves are given in quotes: '--moves \"{}\"'", moves.join(" ")))
    } else if has("output")
        && matches!(extension, Some("pgn" | "csv" | "fen" | "epd" | "json" | "html" | "md"))
    {
        Some(format!("use '--output {given}'"))
    } else if has("player") && given.chars().next().is_some_and(char::is_alphabetic) {
        Some(format!("for games of a player, use '--player \"{given}\"'"))
    } else {
        None
    }
}

/// Whether a text begins with a first move, or an answer to one.
fn are_moves(text: &str) -> bool {
    let mut words =
        text.split(|letter: char| letter == '.' || letter.is_whitespace()).filter(|word| !word.is_empty());
    let first = words.find(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    first.is_some_and(|word| {
        [Position::start(), after_a_move()]
            .iter_mut()
            .any(|position| position.play_san(word.as_bytes()).is_ok())
    })
}

/// Black to move.
fn after_a_move() -> Position {
    let mut position = Position::start();
    // What is there from the beginning, and blocks nothing.
    let _ = position.play_san(b"a3");
    position
}

/// The format of a command that an unknown option is called after.
fn format_of(option: &str, command: &clap::Command) -> Option<String> {
    let name = match option.strip_prefix("--")? {
        "jsonl" | "ndjson" => "json",
        name => name,
    };
    formats(command).into_iter().find(|format| format == name)
}

/// What was meant by arguments that often stand for others.
fn meant(kind: ErrorKind, words: &[String]) -> Option<&'static str> {
    use ErrorKind::{ArgumentConflict, InvalidValue, UnknownArgument};
    let command = words.get(1).map(String::as_str);
    let after = |option: &str| {
        let at = words.iter().position(|word| word == option)?;
        words.get(at + 1).map(String::as_str)
    };
    let is_given =
        |option: &str| words.iter().any(|word| word == option || word.starts_with(&format!("{option}=")));
    match command.filter(|_| matches!(kind, ArgumentConflict | UnknownArgument)) {
        Some("index") if is_given("--eco") => Some("names of openings are given by --openings FILE"),
        Some("player") if is_given("--side") => {
            Some("for the games with White add '--white NAME', for those with Black '--black NAME'")
        }
        Some("explore")
            if after("--versus").is_some_and(|word| word.starts_with("--") && !word.contains(' ')) =>
        {
            Some("the filters of --versus are one text in quotes, as in --versus \"--since 2020\"")
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
            Some("pieces are told by --material, as in --material KRPvKR")
        }
        _ => None,
    }
}
