//! `docs/nightly.md` is correct: its script, units and commands are extracted and run.

#![cfg(unix)]

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::needs::has_program;

const DOCUMENT: &str = include_str!("../../docs/nightly.md");
const GOOD: &str = "[Event \"good\"]\n\n1. e4 e5 *\n";
const BAD: &str = "[Event \"bad\"]\n\n1. e4 Ke3 *\n";

/// The code blocks in a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    DOCUMENT
        .split(&fence)
        .skip(1)
        .map(|rest| &rest[..rest.find("```").expect("an end of the block")])
        .collect()
}

/// The search path for programs, with ours first.
fn path_with_program() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_pgndex")).parent().unwrap().to_owned();
    let paths = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>();
    std::env::join_paths([program].into_iter().chain(paths)).unwrap()
}

struct Workspace {
    directory: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Self {
        let workspace = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(workspace.path("incoming")).unwrap();
        fs::write(workspace.path("nightly"), blocks("sh")[0]).unwrap();
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn deliver(&self, name: &str, text: &str) {
        fs::write(self.path("incoming").join(name), text).unwrap();
    }

    /// Runs the script with our program on its path. Returns the exit status and standard error.
    fn run_script(&self) -> (i32, String) {
        let Output { status, stdout, stderr } = Command::new("sh")
            // Run by `sh`, because a child of another test may still have the script open for writing.
            .arg(self.path("nightly"))
            .args([self.path("games.db"), self.path("incoming"), self.path("log")])
            .env("PATH", path_with_program())
            .output()
            .unwrap();
        assert_eq!(stdout, b"");
        (status.code().unwrap(), String::from_utf8(stderr).unwrap())
    }

    fn games(&self) -> i64 {
        let database = rusqlite::Connection::open(self.path("games.db")).unwrap();
        database.query_row("SELECT count(*) FROM game", [], |row| row.get(0)).unwrap()
    }

    /// The contents of the logs whose names have this suffix.
    fn logs(&self, suffix: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path("log")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.to_string_lossy().ends_with(suffix))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect()
    }
}

#[test]
fn nightly_runs_add_games_and_log_their_result() {
    let workspace = Workspace::new();
    workspace.deliver("monday.pgn", GOOD);
    assert_eq!(workspace.run_script(), (0, String::new()));
    assert_eq!(workspace.games(), 1);
    assert_eq!((workspace.logs("-problems.jsonl"), workspace.logs("-rejects.pgn")), (vec![], vec![]));
    assert!(workspace.logs(".log")[0].lines().last().unwrap().contains("\"message\":\"done\""));

    assert_eq!(workspace.run_script(), (0, String::new()), "there are no new games");
    assert_eq!(workspace.games(), 1);

    workspace.deliver("tuesday.pgn", &[GOOD, "\n", BAD].concat());
    let (status, printed) = workspace.run_script();
    assert_eq!((status, workspace.games()), (3, 3));
    assert!(printed.contains("something was lost: see ") && printed.contains("-problems.jsonl"), "{printed}");
    let problems = workspace.logs("-problems.jsonl");
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("\"kind\":\"illegal-move\""), "{problems:?}");
    assert_eq!(workspace.logs("-rejects.pgn"), [format!("{BAD}\n")]);

    let lock = File::create(workspace.path(".games.db.pgndex-tmp.lock")).unwrap();
    lock.lock().unwrap();
    let (status, printed) = workspace.run_script();
    assert_eq!(status, 4);
    assert!(printed.contains("another program is writing"), "{printed}");
    drop(lock);

    fs::write(workspace.path("games.db"), "no database").unwrap();
    let (status, printed) = workspace.run_script();
    assert_eq!(status, 1);
    assert!(
        printed.contains("failed with status 1") && printed.contains("not an SQLite database"),
        "{printed}"
    );
}

#[test]
fn the_other_commands_of_the_page_work() {
    let workspace = Workspace::new();
    workspace.deliver("a.pgn", &[BAD, "\n", BAD].concat());
    assert_eq!(workspace.run_script().0, 3);
    let [_, kinds, optimize, copy] = blocks("sh")[..] else { panic!("the page has other commands") };
    let problems = fs::read_dir(workspace.path("log")).unwrap().map(|entry| entry.unwrap().path());
    let problems = problems
        .map(|path| path.to_string_lossy().into_owned())
        .find(|path| path.ends_with(".jsonl"))
        .unwrap();
    for (tool, command, variable) in [
        ("jq", kinds, problems.trim_end_matches("-problems.jsonl")),
        ("true", optimize, ""),
        ("true", copy, ""),
    ] {
        if !has_program(tool) {
            continue;
        }
        let output = Command::new("sh")
            .args(["-c", command])
            .env("PATH", path_with_program())
            .env("run", variable)
            .env("database", workspace.path("games.db"))
            .env("backup", workspace.path("copy.db"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        match tool {
            "jq" => assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "2 illegal-move"),
            "true" if command == optimize => {
                assert!(String::from_utf8(output.stderr).unwrap().contains("nothing to merge"));
            }
            _ => assert!(workspace.path("copy.db").metadata().unwrap().len() > 0),
        }
    }
}

#[test]
fn the_units_and_the_cron_line_match_the_script() {
    let workspace = Workspace::new();
    let [service, timer, watch] = blocks("ini")[..] else { panic!("the page has other units") };
    assert_eq!(watch, include_str!("../../packaging/systemd/pgndex-watch.service"));
    let command = service.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    assert_eq!(blocks("cron"), [format!("15 3 * * * {command}\n")]);
    let (script, arguments) = command.split_once(' ').unwrap();
    assert_eq!(arguments.split(' ').count(), 3);
    assert!(DOCUMENT.contains(&format!("Save it as `{script}`")));
    assert!(blocks("sh")[0].contains("database=$1 games=$2 logs=$3\n"));

    fs::set_permissions(workspace.path("nightly"), fs::Permissions::from_mode(0o755)).unwrap();
    let service = service.replace(script, &workspace.path("nightly").to_string_lossy());
    fs::write(workspace.path("pgndex-nightly.service"), service).unwrap();
    fs::write(workspace.path("pgndex-nightly.timer"), timer).unwrap();
    let watch = watch.replace("ExecStart=pgndex ", &format!("ExecStart={} ", env!("CARGO_BIN_EXE_pgndex")));
    fs::write(workspace.path("pgndex-watch.service"), watch).unwrap();
    if !has_program("systemd-analyze") {
        return;
    }
    let output = Command::new("systemd-analyze")
        .args([
            "verify",
            "--man=no",
            "pgndex-nightly.service",
            "pgndex-nightly.timer",
            "pgndex-watch.service",
        ])
        .current_dir(workspace.directory.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !printed.contains("pgndex-"), "{printed}");
}
