//! `--log-format json`: the lines of all commands match a JSON Schema.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use crate::schema::Schema;
use crate::workspace::{Workspace, json};

const ONE: &str = "[White \"a\"]\n\n1. e4 e5 2. Ke3 *\n\n[White \"x\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n";
const TWO: &str = "[White \"b\"]\n\n1. d4 d5 *\n\n[White \"b\"]\n\n1. d4 d5 *\n";
const THREE: &str = "[White \"c\"]\n\n1. c4 c5 *\n";

/// Checks log lines, and collects their events.
struct Lines {
    schema: Schema,
    events: Mutex<BTreeSet<String>>,
}

impl Lines {
    fn new() -> Self {
        Self { schema: Schema::parse(include_str!("../../docs/log.schema.json")), events: Mutex::default() }
    }

    /// Checks a line and returns it.
    #[track_caller]
    fn take(&self, line: &str) -> Value {
        let value = json(line);
        if let Err(error) = self.schema.check(&value) {
            panic!("{error}: {line}");
        }
        let event = value["event"].as_str().expect("a word").to_owned();
        self.events.lock().expect("the events").insert(event);
        value
    }

    /// Runs a command, checks all its lines, and returns the last one.
    #[track_caller]
    fn of(&self, workspace: &Workspace, status: i32, arguments: &[&str]) -> Value {
        let run = workspace.run(&[arguments, &["--log-format", "json"]].concat());
        assert_eq!(run.status, status, "{arguments:?}: {run:?}");
        let mut lines: Vec<_> = run.stderr.lines().map(|line| self.take(line)).collect();
        lines.pop().unwrap_or_else(|| panic!("{arguments:?} has logged nothing"))
    }

    /// Checks lines until one has the given event.
    fn until(&self, reported: &mut impl Iterator<Item = std::io::Result<String>>, event: &str) {
        let is_it = reported.any(|line| self.take(&line.expect("UTF-8"))["event"] == event);
        assert!(is_it, "{event} was not logged");
    }
}

#[test]
fn log_lines_of_all_commands_match_the_schema() {
    let workspace = Workspace::new().with("one.pgn", ONE).with("two.pgn", TWO).with("none.pgn", "no game\n");
    fs::create_dir(workspace.path("in")).expect("made");
    fs::write(workspace.path("in/three.pgn"), THREE).expect("written");
    let lines = Lines::new();
    for (status, arguments) in [
        (3, &["index", "games.db", "one.pgn", "missing.pgn", "none.pgn"][..]),
        (0, &["index", "games.db", "two.pgn"]),
        (0, &["index", "games.db", "two.pgn"]),
        (0, &["index", "--dry-run", "two.pgn"]),
        (0, &["watch", "games.db", "in", "--once", "--settle", "0"]),
        (0, &["backup", "games.db", "copy.db"]),
        (0, &["optimize", "games.db"]),
        (0, &["repair", "games.db"]),
        (0, &["verify", "games.db"]),
        (0, &["remove", "games.db", "--source", "one.pgn"]),
    ] {
        let last = lines.of(&workspace, status, arguments);
        assert_eq!((&last["event"], &last["level"]), (&"done".into(), &"info".into()), "{last}");
    }
    workspace
        .connection("games.db")
        .execute("UPDATE game SET ply_count = ply_count + 1", [])
        .expect("written");
    let last = lines.of(&workspace, 1, &["verify", "games.db"]);
    assert_eq!((&last["event"], &last["fields"]["sound"]), (&"note".into(), &Value::Null), "{last}");
    for (status, arguments) in [
        (1, &["index", "two.pgn", "one.pgn"][..]),
        (1, &["index", "new.db", "missing.pgn"]),
        (1, &["watch", "games.db", "missing"]),
        (1, &["backup", "games.db", "copy.db"]),
        (1, &["optimize", "missing.db"]),
        (2, &["remove", "copy.db"]),
    ] {
        let last = lines.of(&workspace, status, arguments);
        assert_eq!((&last["event"], &last["level"]), (&"failed".into(), &"error".into()), "{last}");
        assert_eq!(last["fields"]["exit_status"], status, "{last}");
    }
    let events = lines.events.into_inner().expect("the events");
    assert_eq!(events.into_iter().collect::<Vec<_>>(), ["done", "failed", "note"]);
}

/// One run waits for the list of its sources, the other for its text. Progress is logged every ten seconds.
#[test]
fn log_lines_about_progress_match_the_schema() {
    let workspace = Workspace::new().with("one.pgn", THREE);
    assert!(Command::new("mkfifo").arg(workspace.path("list")).status().expect("mkfifo runs").success());
    let start = |arguments: &[&str]| {
        let mut command = workspace.command(&[&["index", "--log-format", "json"], arguments].concat());
        command.env_remove("PGNDEX_NO_PROGRESS");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let reported = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        (child, reported)
    };
    let lines = Lines::new();
    let ((mut looking, mut looked), (mut reading, mut read)) =
        (start(&["looked.db", "@list"]), start(&["read.db", "-"]));
    lines.until(&mut looked, "looking");
    fs::write(workspace.path("list"), "one.pgn\n").expect("written");
    lines.until(&mut read, "progress");
    reading.stdin.take().expect("a pipe").write_all(THREE.as_bytes()).expect("written");
    for (child, reported) in [(&mut looking, &mut looked), (&mut reading, &mut read)] {
        lines.until(reported, "done");
        assert_eq!(reported.count(), 0, "no line follows");
        assert_eq!(child.wait().expect("an exit status").code(), Some(0));
    }
    let events = lines.events.into_inner().expect("the events");
    assert_eq!(events.into_iter().collect::<Vec<_>>(), ["done", "looking", "progress"]);
}
