//! Texts in files or on the command line that could control a terminal or fill it.

use std::io::Read as _;
use std::process::{Command, Stdio};

use crate::needs::has_program;
use crate::workspace::Workspace;

/// ESC, a C1 control, DEL, and characters that change the direction of writing.
const HOSTILE: [char; 6] = ['\u{1b}', '\u{9b}', '\u{7f}', '\u{202e}', '\u{2066}', '\u{200f}'];

fn hostile(name: &str) -> String {
    format!("{name}{}", HOSTILE.into_iter().collect::<String>())
}

/// A directory with `games.db`; its single game has hostile names in its tags.
fn sample() -> Workspace {
    let workspace = Workspace::new();
    let tags = ["Event", "Site", "Round", "White", "Black", "Annotator", "Opening"];
    let tags: String = tags.iter().map(|tag| format!("[{tag} \"{}\"]\n", hostile(tag))).collect();
    workspace.write("games.pgn", format!("{tags}\n1. e4 {} 1-0\n", hostile("e5")));
    let run = workspace.run(&["index", "games.db", "games.pgn"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_harmless(&run.stderr);
    workspace
}

#[track_caller]
fn assert_harmless(text: &str) {
    let is_harmful =
        |letter: &char| HOSTILE.contains(letter) || (letter.is_control() && !matches!(letter, '\n' | '\t'));
    assert_eq!(text.chars().find(is_harmful), None, "{text:?}");
}

const COMMANDS: [&[&str]; 9] = [
    &["find", "games.db", "--moves", "1. e4"],
    &["find", "games.db", "--moves", "1. e4", "--format", "pgn"],
    &["explore", "games.db", "--moves", "1. e4"],
    &["game", "games.db", "1"],
    &["game", "games.db", "1", "--format", "pgn"],
    &["info", "games.db"],
    &["sql", "games.db", "SELECT event AS 'a\u{1b}', white, * FROM games, problem"],
    &["export", "games.db", "--format", "pgn"],
    &["export", "games.db", "--format", "csv"],
];

const FORMATS: [&[&str]; 6] = [
    &[],
    &["--format", "json"],
    &["--format", "csv"],
    &["--format", "box"],
    &["--format", "md"],
    &["--format", "line"],
];

/// The output of a command on a terminal, which `script` creates; `None` if the command fails, for example because it
/// does not have the format.
#[cfg(target_os = "linux")]
fn on_terminal(workspace: &Workspace, arguments: &[&str]) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_pgndex");
    let quoted: String =
        arguments.iter().map(|argument| format!(" '{}'", argument.replace('\'', "'\\''"))).collect();
    // The shell waits at the end until the test has seen the status; otherwise `script` could end before it has read
    // the last output.
    let line = format!("stty cols 200; '{program}'{quoted}; echo status=$?; read -r end");
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .envs([("TERM", "xterm"), ("SHELL", "/bin/sh")])
        .current_dir(workspace.directory());
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script runs");
    let mut output = child.stdout.take().expect("a pipe");
    let (mut screen, mut block) = (Vec::new(), [0; 4096]);
    let screen = loop {
        let text = String::from_utf8_lossy(&screen).replace("\r\n", "\n");
        if let Some((before, status)) = text.rsplit_once("status=")
            && let Some(status) = status.strip_suffix('\n')
        {
            break (status == "0").then(|| before.to_owned());
        }
        let read = output.read(&mut block).expect("output");
        assert!(read > 0, "{text}");
        screen.extend_from_slice(&block[..read]);
    };
    drop(child.stdin.take());
    child.wait().expect("an end");
    screen
}

#[cfg(target_os = "linux")]
#[test]
fn names_from_files_cannot_control_a_terminal() {
    if !has_program("script") {
        return;
    }
    let workspace = sample();
    let mut seen = 0;
    for arguments in COMMANDS {
        for format in FORMATS {
            if arguments.contains(&"--format") && !format.is_empty() {
                continue;
            }
            let Some(screen) = on_terminal(&workspace, &[arguments, format].concat()) else { continue };
            assert_harmless(&screen);
            seen += usize::from(screen.contains("White"));
        }
    }
    // The other combinations have no such format, or print no names.
    assert_eq!(seen, 17);
}

#[test]
fn csv_has_the_values_of_the_database_and_json_is_escaped() {
    let workspace = sample();
    let stdout = |arguments: &[&str]| workspace.run(arguments).stdout;
    for arguments in [
        &["find", "games.db", "--moves", "1. e4", "--format", "csv"][..],
        &["sql", "games.db", "SELECT white FROM games", "--format", "csv"],
        &["export", "games.db", "--format", "csv"],
    ] {
        assert!(stdout(arguments).contains(&hostile("White")), "{arguments:?}");
    }
    for arguments in [
        &["find", "games.db", "--moves", "1. e4", "--format", "json"][..],
        &["game", "games.db", "1", "--format", "json"],
        &["sql", "games.db", "SELECT white AS 'a\u{9b}' FROM games", "--format", "json"],
        &["explore", "games.db", "--moves", "1. e4", "--format", "json"],
        &["info", "games.db", "--format", "json"],
        &["verify", "games.db", "--json"],
    ] {
        let json = stdout(arguments);
        assert_harmless(&json);
        let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let name = match arguments[0] {
            "find" => &value["white"],
            "game" => &value["tags"]["White"],
            "sql" => &value["a\u{9b}"],
            "explore" => &value["recentGames"][0]["white"]["name"],
            _ => continue,
        };
        assert_eq!(*name, hostile("White"), "{arguments:?}");
    }
}

#[test]
fn messages_quote_values_shortened_and_escaped() {
    let workspace = sample();
    let (harmful, long) = (hostile("x"), "x".repeat(20_000));
    for value in [&harmful, &long] {
        for arguments in [
            &["find", "games.db", "--fen", value][..],
            &["find", "games.db", "--moves", value],
            &["find", "games.db", "--moves", "1. e4", "--eco", value],
            &["find", "games.db", "--moves", "1. e4", "--opening-eco", value],
            &["find", "games.db", "--moves", "1. e4", "--white", value],
            &["find", "games.db", "--moves", "1. e4", "--format", value],
            &["find", "games.db", "--play", value],
            &["find", "games.db", "--pattern", value],
            &["find", "games.db", "--material", value],
            &["find", "games.db", "--material", &format!("{value}vK")],
            &["find", "games.db", &format!("--{value}")],
            &["find", "games.db", "--moves", "1. e4", value],
            &["game", "games.db", value],
            &["game", value, "1"],
            &["sql", "games.db", value],
            &["sql", "games.db", &format!(".{value}")],
            &["sql", "games.db", &format!(".schema {value}")],
            &["sql", "games.db", &format!(".mode {value}")],
            &["sql", "games.db", &format!("SELECT nothing.\"{value}\"")],
            &["export", "games.db", "--format", "csv", "--sql", &format!("SELECT '{value}'")],
            &["index", "new.db", value],
            &["index", "--log-format", "json", "new.db", value],
            &["index", "--memory", value, "new.db", "games.pgn"],
            &["key", value],
            &[value],
        ] {
            let run = workspace.run(arguments);
            assert_harmless(&run.stderr);
            assert!(
                !run.stderr.is_empty() && run.stderr.len() < 12_000,
                "{:.300}: {}",
                format!("{arguments:?}"),
                run.stderr.len()
            );
        }
    }
}

/// Lists show the beginning of a name, however long it is; a game and its export have all of it.
#[test]
fn long_names_are_cut_in_lists() {
    let name = "a".repeat(100_000);
    let workspace = Workspace::new();
    workspace.write("a.pgn", "[White \"a\"]\n[Event \"a\"]\n[WhiteElo \"2000\"]\n\n1. e4 1-0\n\n".repeat(3));
    workspace.stdout_of(&["index", "-q", "--duplicates", "keep", "a.db", "a.pgn"]);
    let sql = format!("UPDATE player SET name = '{name}'; UPDATE event SET name = '{name}'");
    workspace.connection("a.db").execute_batch(&sql).expect("long names");
    for arguments in [
        &["explore", "a.db", "--moves", "1. e4"][..],
        &["explore", "a.db", "--moves", "1. e4", "--format", "json"],
        &["find", "a.db"],
        &["find", "a.db", "--format", "json"],
    ] {
        let printed = workspace.stdout_of(arguments);
        assert!(printed.contains("aaa") && printed.len() < 30_000, "{arguments:?}: {}", printed.len());
    }
    assert!(workspace.stdout_of(&["export", "a.db", "--format", "pgn"]).contains(&name));
}
