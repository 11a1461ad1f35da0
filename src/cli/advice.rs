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
        && let Some(name) = words.get(1)
    {
        let is_like = |command: &clap::Command| is_like(name, command.get_name());
        let tip = match (command_of(name), advice_on(name)) {
            (Some(instead), _) => format!("'pgndex {instead}' may be what you look for"),
            (None, Some(advice)) => advice.to_owned(),
            (None, None) if command.get_subcommands().any(is_like) => return,
            (None, None) => "'pgndex --help' lists the commands".to_owned(),
        };
        error.remove(ContextKind::SuggestedSubcommand);
        return tell(error, tip);
    }
    let tip = match (meant(error.kind(), words), unknown(error)) {
        (Some(tip), _) => tip.to_owned(),
        (None, Some(given)) => match subcommand.map(|command| (command, instead_of(given, command, words))) {
            Some((_, Some(instead))) => instead,
            // An option that is much alike: clap names it.
            _ if suggested(error).is_some_and(|option| is_like(given, option)) => return,
            Some((command, None)) => format!("'pgndex {} --help' lists the options", command.get_name()),
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

/// The option that clap takes for alike.
fn suggested(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(option)) => Some(option),
        Some(ContextValue::Strings(options)) => options.first().map(String::as_str),
        _ => None,
    }
}

/// Whether one word may be the other, mistyped: clap takes much more for alike.
fn is_like(given: &str, known: &str) -> bool {
    let [given, known] = [given, known].map(|word| word.trim_start_matches('-'));
    let most = given.chars().count().div_ceil(3);
    known.starts_with(given) || given.starts_with(known) || strsim::osa_distance(given, known) <= most.min(3)
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
        "convert" | "dump" => "export",
        "delete" | "drop" | "rm" => "remove",
        "list" => "find",
        "compact" | "vacuum" => "optimize",
        "copy" => "backup",
        "fix" => "repair",
        "server" | "web" => "serve",
        _ => return None,
    })
}

/// How to do what other programs have a command for.
fn advice_on(name: &str) -> Option<&'static str> {
    Some(match name {
        "combine" | "concat" | "join" | "merge" => {
            "to put two databases together, index the files of both into one, or 'pgndex export B --format pgn --output b.pgn' and \
             'pgndex index A b.pgn'; names of one player are put together by 'pgndex players DB --merge'"
        }
        "recover" | "restore" => "a backup is a database: 'pgndex backup COPY DB --overwrite' puts it back",
        "migrate" | "update" | "upgrade" => {
            "'pgndex index DB FILES' adds games and brings an older database up to date"
        }
        _ => return None,
    })
}

/// What to write instead of something that a command does not know.
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
            _ if has("elo-min") && given.split('-').any(|word| matches!(word, "elo" | "rating" | "ratings")) => {
                Some("use '--elo-min N', '--elo-max N' or both".to_owned())
            }
            "--won" | "--win" | "--wins" | "--winner" | "--lost" | "--loss" | "--losses" | "--drawn" | "--draw"
            | "--draws"
                if has("result") =>
            {
                Some(
                    "use '--result 1-0', '--result 0-1' or '--result draw', for a player's games with '--white NAME' or '--black NAME'"
                        .to_owned(),
                )
            }
            "--color" | "--colour" if has("white") => Some("use '--white NAME' or '--black NAME'".to_owned()),
            "--eval" | "--evals" | "--eval-min" | "--eval-max" | "--clock" | "--clock-min" | "--clock-max" | "--time" => {
                Some(
                    "evaluations and clocks are asked for with SQL: 'pgndex sql DB \"SELECT * FROM move_eval WHERE eval_cp > 300\"'"
                        .to_owned(),
                )
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
