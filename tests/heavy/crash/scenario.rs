//! One operation, run many times from the same start.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use pgndex::store::Database;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{
    GAMES, OPENINGS, annotated, assert_same, assert_same_tables, directory_in_memory as directory, lines,
    names, number, open,
};

/// The database in each directory, and the file that is indexed.
pub(crate) const DATABASE: &str = "x.db";
const SOURCE: &str = "new.pgn";
/// With this many additional games, the first level is so large that it is kept when games are added. These games are
/// short, because the others have enough positions.
const LEVEL: usize = 1000;
const OPTIONS: [&str; 6] = ["--duplicates", "keep", "--continuation-threshold", "3", "--openings", OPENINGS];

/// What the run does to the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// There is no database.
    Fresh,
    /// An existing database is replaced.
    Overwriting,
    /// Games are added to a database.
    Adding,
    /// Games are added to a database with two levels: the first is kept, the second is rewritten.
    AddingToLevels,
    /// The two levels of a database are merged into one.
    Optimizing,
    /// A third of the games is removed from a database.
    Removing,
    /// A database with the open layout becomes compact.
    Converting,
}

impl Operation {
    /// Whether the operation begins with two levels.
    const fn has_levels(self) -> bool {
        matches!(self, Self::AddingToLevels | Self::Optimizing)
    }

    /// Whether the operation changes the existing database, with a write-ahead log.
    pub(crate) const fn has_log(self) -> bool {
        matches!(self, Self::Adding | Self::AddingToLevels | Self::Optimizing | Self::Converting)
    }
}

/// The layouts of a database. Each operation must end as safely in both.
pub(crate) const LAYOUTS: [&str; 2] = ["open", "compact"];

/// The two possible states of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Before,
    After,
}

/// An operation, the files before it, and the files after an undisturbed run.
pub(crate) struct Scenario {
    pub(crate) way: Operation,
    layout: &'static str,
    start: TempDir,
    end: TempDir,
}

impl Scenario {
    /// An operation on 53 games, repeated this many times, in the open layout.
    pub(crate) fn new(way: Operation, times: usize) -> Self {
        Self::in_layout(way, times, "open")
    }

    /// An operation on 53 games, repeated this many times.
    pub(crate) fn in_layout(way: Operation, times: usize, layout: &'static str) -> Self {
        let (start, end) = (directory(), directory());
        fs::write(start.path().join(SOURCE), GAMES.repeat(times) + &annotated(times)).expect("written");
        if way != Operation::Fresh {
            let index = |files: &[&str]| {
                let index = ["index", "--quiet", "--layout", layout];
                assert_done(&run(start.path(), &[&index[..], &OPTIONS, &[DATABASE], files].concat()));
            };
            // Half as many games, of other players.
            let write = |name: &str, times, short| {
                let games = GAMES.replace("[White \"", "[White \"Old ").repeat(times);
                let short =
                    "[White \"Old short\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n".repeat(short);
                fs::write(start.path().join(name), games + &short).expect("written");
            };
            write("old.pgn", times / 2 + 1, if way.has_levels() { LEVEL } else { 0 });
            index(if way == Operation::Removing { &["old.pgn", SOURCE] } else { &["old.pgn"] });
            fs::remove_file(start.path().join("old.pgn")).expect("removed");
            if way.has_levels() {
                write("later.pgn", 2, 0);
                index(&["later.pgn"]);
                fs::remove_file(start.path().join("later.pgn")).expect("removed");
            }
        }
        copy(start.path(), end.path());
        let scenario = Self { way, layout, start, end };
        assert_done(&scenario.command(scenario.end.path()).output().expect("run"));
        for place in [&scenario.start, &scenario.end] {
            if place.path().join(DATABASE).exists() {
                assert_done(&run(place.path(), &["verify", "--all", "--quiet", DATABASE]));
            }
        }
        assert_eq!(scenario.examine(scenario.end.path(), "undisturbed"), State::After);
        if way.has_levels() {
            let counts = [scenario.counts_before().expect("a database"), scenario.counts_after()];
            let levels = counts.map(|counts| counts.get(5).copied());
            assert_eq!(levels, [Some(2), Some(if way == Operation::Optimizing { 1 } else { 2 })]);
        }
        scenario
    }

    /// The duration of an undisturbed run.
    pub(crate) fn duration(&self) -> Duration {
        let measure = |_| {
            let (place, began) = (self.place(), Instant::now());
            assert_done(&self.command(place.path()).output().expect("run"));
            began.elapsed()
        };
        (0..3).map(measure).min().expect("a duration")
    }

    /// A directory with the files before the run.
    pub(crate) fn place(&self) -> TempDir {
        let place = directory();
        copy(self.start.path(), place.path());
        place
    }

    /// The command of the run in a directory.
    pub(crate) fn command(&self, place: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pgndex"));
        command.current_dir(place).stdin(Stdio::null());
        if self.way == Operation::Optimizing {
            command.args(["optimize", "--quiet", "--threads", "2", "--memory", "16MiB", DATABASE]);
            return command;
        }
        if self.way == Operation::Converting {
            command.args(["optimize", "--quiet", "--threads", "2", "--layout", "compact", DATABASE]);
            return command;
        }
        if self.way == Operation::Removing {
            let games = "SELECT game_id FROM game WHERE game_id % 3 = 0";
            command.args([
                "remove",
                "--quiet",
                "--threads",
                "2",
                "--memory",
                "16MiB",
                DATABASE,
                "--sql",
                games,
            ]);
            return command;
        }
        command.args(["index", "--quiet", "--threads", "2", "--memory", "16MiB"]).args(OPTIONS);
        if self.way == Operation::Overwriting {
            command.arg("--overwrite");
        }
        command.args(["--layout", self.layout, DATABASE, SOURCE]);
        command
    }

    /// Copies the current files and asserts that the copy has one of the two states, with all its rows. Both states
    /// have been verified.
    pub(crate) fn check(&self, place: &Path, what: &str) -> State {
        let seen = directory();
        copy(place, seen.path());
        self.examine(seen.path(), what)
    }

    fn examine(&self, place: &Path, what: &str) -> State {
        let path = place.join(DATABASE);
        if self.way == Operation::Fresh && !path.exists() {
            return State::Before;
        }
        let database = Database::open_read_only(&path).unwrap_or_else(|error| panic!("{what}: {error}"));
        let state = self.state(database.connection(), what);
        let is_sound = |query: &str, expected: &[&str]| {
            assert_eq!(lines(database.connection(), query), expected, "{what}: {query}");
        };
        is_sound("PRAGMA integrity_check", &["ok"]);
        is_sound("PRAGMA foreign_key_check", &[]);
        let known = if state == State::Before { &self.start } else { &self.end };
        assert_same_tables(database.connection(), &open(&known.path().join(DATABASE)), what);
        state
    }

    /// The state that a connection sees; its tables must agree with each other.
    pub(crate) fn state(&self, seen: &Connection, what: &str) -> State {
        seen.execute_batch("BEGIN").expect("a transaction");
        let counts = counts(seen);
        seen.execute_batch("COMMIT").expect("the end of the transaction");
        if counts == self.counts_after() {
            State::After
        } else {
            assert_eq!(
                Some(counts),
                self.counts_before(),
                "{what}: neither the state before the run nor the one after it"
            );
            State::Before
        }
    }

    fn counts_before(&self) -> Option<Vec<u64>> {
        (self.way != Operation::Fresh).then(|| counts_in(&self.start))
    }

    fn counts_after(&self) -> Vec<u64> {
        counts_in(&self.end)
    }

    /// Runs the command undisturbed after an interrupted run, and asserts that the result is the expected one.
    pub(crate) fn complete(&self, place: &Path, what: &str) {
        let output = self.command(place).output().expect("run");
        assert!(output.status.success(), "{what}: {}", text(&output));
        self.assert_complete(place, what);
    }

    /// Asserts that a directory is in the state in which an undisturbed run leaves it.
    pub(crate) fn assert_complete(&self, place: &Path, what: &str) {
        assert_eq!(names(place), names(self.end.path()), "{what}");
        assert_same(&place.join(DATABASE), &self.end.path().join(DATABASE), what);
    }

    /// Asserts that a directory has the same file names as before the run.
    pub(crate) fn assert_same_files(&self, place: &Path, what: &str) {
        assert_eq!(names(place), names(self.start.path()), "{what}");
    }

    /// Copies the files before the run into a directory.
    pub(crate) fn set(&self, place: &Path) {
        copy(self.start.path(), place);
    }

    /// The size of the database in bytes before and after the run.
    pub(crate) fn sizes(&self) -> [u64; 2] {
        [&self.start, &self.end]
            .map(|place| fs::metadata(place.path().join(DATABASE)).map_or(0, |database| database.len()))
    }

    /// Asserts that a directory is in the state before the run.
    pub(crate) fn assert_untouched(&self, place: &Path, what: &str) {
        self.assert_same_files(place, what);
        if self.way != Operation::Fresh {
            assert_same(&place.join(DATABASE), &self.start.path().join(DATABASE), what);
        }
    }
}

fn counts_in(place: &TempDir) -> Vec<u64> {
    counts(Database::open_read_only(&place.path().join(DATABASE)).expect("a database").connection())
}

/// Counts that distinguish the states. Within one state, they must agree with each other.
fn counts(database: &Connection) -> Vec<u64> {
    let of = |query: &str| number(database, query);
    let (games, positions) = (of("SELECT count(*) FROM game"), of("SELECT count(*) FROM game_position"));
    assert_eq!(positions, of("SELECT count(*) FROM position_game"));
    assert_eq!(positions, of("SELECT sum(ply_count + 1) FROM game WHERE status <> 'skipped'"));
    assert_eq!([games, games], [of("SELECT sum(games) FROM source"), of("SELECT sum(games) FROM import")]);
    let levels = of("SELECT count(*) FROM occurrence_level");
    let white = "SELECT count(*) FROM game JOIN player ON player_id = white_id WHERE name LIKE 'Old %'";
    vec![
        games,
        positions,
        of(white),
        of("SELECT count(*) FROM import"),
        of("SELECT sum(games) FROM visited_position"),
        levels,
        of("SELECT count(*) FROM game_moves"),
    ]
}

/// Runs the program.
fn run(place: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pgndex")).args(arguments).current_dir(place).output().expect("run")
}

fn assert_done(output: &Output) {
    assert!(output.status.success(), "{}", text(output));
}

/// The exit status and the output of a process.
pub(crate) fn text(output: &Output) -> String {
    format!(
        "{}: {}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn copy(from: &Path, to: &Path) {
    for name in names(from) {
        fs::copy(from.join(&name), to.join(&name)).expect("copied");
    }
}

/// This many numbers between 0 and 1, spread evenly but not sorted.
pub(crate) fn spread(count: u32) -> impl Iterator<Item = f64> {
    (1..=count).map(|index| (f64::from(index) * 0.618_033_988_749_895).fract())
}

/// Waits until a file exists.
pub(crate) fn wait_for(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(20), "no {}", path.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}
