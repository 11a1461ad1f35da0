//! Signals sent while a certain change to a file waits, so that no test depends on timing.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::disk::Library;
use super::scenario::text;
use crate::support::{GAMES, OPENINGS, directory, names, number, open, synthetic};

/// The number of games that `watch` adds to a database of [`GAMES`].
const OTHERS: usize = 300;
const LONG: Duration = Duration::from_secs(60);

/// A change that the process makes only when the test lets it continue.
struct PausedChange {
    library: Library,
    fifo: PathBuf,
}

impl PausedChange {
    fn new(place: &Path) -> Option<Self> {
        let paused_change = Self { library: Library::new()?, fifo: place.join("gate") };
        assert!(Command::new("mkfifo").arg(&paused_change.fifo).status().expect("mkfifo runs").success());
        Some(paused_change)
    }

    /// Runs a command without pausing it, and returns the number of changes that it makes below a directory.
    fn changes(&self, mut command: Command, place: &Path) -> u64 {
        self.library.preload(&mut command, place, "gate", 0);
        let output = command.output().expect("run");
        assert!(output.status.success(), "{}", text(&output));
        self.library.counted()
    }

    /// Starts a command, and waits until it is about to make a change. It continues when the returned file is closed.
    fn pause_at(&self, mut command: Command, place: &Path, at: u64) -> (Child, File) {
        self.library.preload(&mut command, place, "gate", at);
        command.env("FAULT_GATE", &self.fifo).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let began = Instant::now();
        loop {
            // As long as nobody reads the pipe, it cannot be opened for writing without blocking.
            let opened = File::options().write(true).custom_flags(libc::O_NONBLOCK).open(&self.fifo);
            if let Ok(opened) = opened {
                return (child, opened);
            }
            assert!(child.try_wait().expect("a process").is_none(), "the command ended before change {at}");
            assert!(began.elapsed() < LONG, "the command does not reach change {at}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn command(place: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgndex"));
    command.current_dir(place).args(arguments).stdin(Stdio::null()).env_remove("NOTIFY_SOCKET");
    command
}

#[track_caller]
fn done(place: &Path, arguments: &[&str]) -> Output {
    let output = command(place, arguments).output().expect("run");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output));
    output
}

fn send(signal: &str, process: &Child) {
    let sent = Command::new("kill").args([signal, &process.id().to_string()]).status();
    assert!(sent.expect("the command kill").success());
}

#[test]
fn a_stopped_copy_leaves_nothing() {
    let beside = directory();
    let Some(paused_change) = PausedChange::new(beside.path()) else { return };
    let place = directory();
    let place = place.path();
    fs::write(place.join("games.pgn"), GAMES).expect("written");
    done(place, &["index", "--quiet", "x.db", "games.pgn"]);
    // Large enough for a copy in many pieces.
    let padding = "CREATE TABLE padding (x); INSERT INTO padding VALUES (zeroblob(40 << 20))";
    done(place, &["sql", "x.db", "--write", padding]);
    let before = names(place);
    let backup = || command(place, &["backup", "--quiet", "x.db", "copy.db"]);
    let changes = paused_change.changes(backup(), place);
    assert!(place.join("copy.db").exists());
    fs::remove_file(place.join("copy.db")).expect("removed");
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let (mut child, paused) = paused_change.pause_at(backup(), place, changes / 2);
        let half = fs::metadata(place.join(".copy.db.pgndex-tmp")).expect("an incomplete copy").len();
        assert!(half > 0 && half < fs::metadata(place.join("x.db")).expect("a database").len(), "{half}");
        send(signal, &child);
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a line");
        assert!(line.starts_with("pgndex: note: stopping"), "{line}");
        drop(paused);
        let mut rest = String::new();
        stderr.read_line(&mut rest).expect("a line");
        assert_eq!(child.wait().expect("an exit status").code(), Some(status), "{rest}");
        assert_eq!(rest, "pgndex: error: stopped before the end\n");
        assert_eq!(names(place), before, "{signal}");
    }
    done(place, &["backup", "x.db", "copy.db"]);
    done(place, &["verify", "--all", "copy.db"]);
}

#[test]
fn watch_stopped_during_an_addition_neither_loses_nor_repeats_games() {
    const WATCH: [&str; 9] = ["watch", "x.db", "in", "--settle", "0", "--threads", "2", "--memory", "16MiB"];
    let beside = directory();
    let Some(paused_change) = PausedChange::new(beside.path()) else { return };
    let notify = beside.path().join("notify");
    let manager = UnixDatagram::bind(&notify).expect("a socket");
    manager.set_read_timeout(Some(LONG)).expect("a time limit");
    let start = || {
        let place = directory();
        fs::write(place.path().join("old.pgn"), GAMES).expect("written");
        done(place.path(), &["index", "--quiet", "--openings", OPENINGS, "x.db", "old.pgn"]);
        fs::create_dir(place.path().join("in")).expect("made");
        fs::write(place.path().join("in/a.pgn"), synthetic(OTHERS)).expect("written");
        place
    };
    let games = |place: &Path| number(&open(&place.join("x.db")), "SELECT count(*) FROM game");
    let place = start();
    let before = games(place.path());
    let changes =
        paused_change.changes(command(place.path(), &[&WATCH[..], &["--once"]].concat()), place.path());
    let after = games(place.path());
    assert_eq!(after, before + OTHERS as u64, "{before}, {after}");
    let mut stopped = 0;
    for share in [1, 3, 5, 7] {
        let what = format!("at {share} eighths of {changes} changes");
        let place = start();
        let mut watch = command(place.path(), &WATCH);
        watch.env("NOTIFY_SOCKET", &notify);
        let (child, paused) = paused_change.pause_at(watch, place.path(), changes * share / 8);
        send("-TERM", &child);
        let mut word = [0; 100];
        while manager.recv(&mut word).map(|length| &word[..length]).expect("a word") != b"STOPPING=1" {}
        drop(paused);
        let output = child.wait_with_output().expect("the output");
        assert_eq!(output.status.code(), Some(0), "{what}: {}", text(&output));
        done(place.path(), &["verify", "--all", "--quiet", "x.db"]);
        let printed = String::from_utf8_lossy(&output.stderr);
        if games(place.path()) == before {
            stopped += 1;
            assert!(
                printed
                    .ends_with("stopped; the games that were being added will be added at the next start\n"),
                "{what}: {printed}"
            );
        } else {
            // The signal came after the games were committed.
            assert_eq!(games(place.path()), after, "{what}");
        }
        for again in ["the next start", "the one after it"] {
            done(place.path(), &[&WATCH[..], &["--once"]].concat());
            assert_eq!(games(place.path()), after, "{what}, {again}");
        }
        done(place.path(), &["verify", "--all", "--quiet", "x.db"]);
        assert_eq!(names(place.path()), ["in", "old.pgn", "x.db"], "{what}");
    }
    println!("{stopped} of 4 additions were stopped");
    assert!(stopped > 0);
}
