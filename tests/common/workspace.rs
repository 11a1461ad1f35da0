//! A directory in which the program runs, and functions that check its output and its files.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Run, command};

/// Names that need escaping, and a null move.
pub(crate) const CLUB: &str = r#"[Event "Club \"Réti\" \\ final"]
[Site "?"]
[Date "2024.02.29"]
[Round "1.2"]
[White "Ågren, Åsa"]
[Black "棋聖"]
[Result "1-0"]
[WhiteElo "2455"]
[BlackElo "1987"]
[ECO "C25"]

1. e4 e5 2. Nc3 Nf6 3. -- d5 4. exd5 Nxd5 5. Qh5 1-0

"#;
/// A set-up, castling and a promotion.
pub(crate) const ENDINGS: &str = r#"[Event "Endings"]
[Site "?"]
[Date "?"]
[Round "?"]
[White "?"]
[Black "?"]
[Result "*"]
[SetUp "1"]
[FEN "r3k3/7P/8/8/8/8/8/4K3 b q - 5 17"]

17... O-O-O 18. h8=Q *

"#;
/// A game that repeats positions.
pub(crate) const SHUFFLE: &str = r#"[Event "Shuffle"]
[Site "?"]
[Date "2024.??.??"]
[Round "?"]
[White "Knight, A"]
[Black "Knight, B"]
[Result "1/2-1/2"]

1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2

"#;
/// A game with a move after mate.
pub(crate) const BLUNDER: &str = r#"[Event "Blunder"]
[Site "?"]
[Date "????.??.??"]
[Round "?"]
[White "Hasty, H"]
[Black "Knight, B"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 3. Kf2 0-1

"#;

/// A directory, and the arguments with which each command of [`Workspace::run_with`] begins.
pub(crate) struct Workspace {
    directory: TempDir,
    words: &'static [&'static str],
}

impl Workspace {
    pub(crate) fn new() -> Self {
        Self::for_command(&[])
    }

    /// A workspace that puts these arguments, such as `find games.db`, before the arguments of each command.
    pub(crate) fn for_command(words: &'static [&'static str]) -> Self {
        Self { directory: crate::support::directory(), words }
    }

    /// A workspace in memory, for thousands of files.
    #[cfg(feature = "parquet")]
    pub(crate) fn in_memory() -> Self {
        Self { directory: crate::support::directory_in_memory(), words: &[] }
    }

    pub(crate) fn with(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        self.write(name, text);
        self
    }

    /// With `games.pgn` and its database `games.db`. Games that could not be read completely are not a failure here.
    pub(crate) fn indexed(self, pgn: &str) -> Self {
        let workspace = self.with("games.pgn", pgn);
        workspace.index("games.db", Path::new("games.pgn"));
        workspace
    }

    /// With `games.db`, written row by row through the library.
    pub(crate) fn built(self, pgn: &str) -> Self {
        crate::games::build(&self.path("games.db"), "games.pgn", pgn);
        self
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("a file");
    }

    pub(crate) fn index(&self, database: &str, pgn: &Path) {
        let run = self.run(&["index", "--quiet", database, pgn.to_str().expect("a path")]);
        assert!([0, 3].contains(&run.status), "{run:?}");
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        command(self.directory(), arguments)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().expect("the program runs"))
    }

    /// The program with the arguments of the workspace, then these.
    pub(crate) fn command_with(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&[self.words, arguments].concat());
        command.env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run_with(&self, arguments: &[&str]) -> Run {
        Run::of(self.command_with(arguments).output().expect("the program runs"))
    }

    /// Standard output of a run that succeeds with an empty standard error.
    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let run = self.run_with(arguments);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments:?}");
        run.stdout
    }

    /// Standard output of a run that succeeds, with any standard error.
    #[track_caller]
    pub(crate) fn stdout_of(&self, arguments: &[&str]) -> String {
        let run = self.run_with(arguments);
        assert_eq!(run.status, 0, "{arguments:?}: {}", run.stderr);
        run.stdout
    }

    /// The single JSON object that a run with `--format json` prints.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&[arguments, &["--format", "json"]].concat());
        assert_eq!(text.lines().count(), 1, "{text}");
        json(&text)
    }

    /// Standard error of a run that prints nothing to standard output and ends with this status.
    #[track_caller]
    pub(crate) fn stderr_of(&self, status: i32, arguments: &[&str]) -> String {
        let run = self.run_with(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{arguments:?}");
        run.stderr
    }

    /// Standard error of a run that ends with status 1 and prints nothing to standard output.
    #[track_caller]
    pub(crate) fn failure(&self, arguments: &[&str]) -> String {
        self.stderr_of(1, arguments)
    }

    pub(crate) fn connection(&self, database: &str) -> Connection {
        Connection::open(self.path(database)).expect("a database")
    }

    pub(crate) fn number(&self, database: &str, sql: &str) -> i64 {
        self.connection(database).query_row(sql, [], |row| row.get(0)).expect("a number")
    }

    /// All rows of a query, as text.
    pub(crate) fn rows(&self, database: &str, sql: &str) -> Vec<String> {
        let connection = self.connection(database);
        let mut statement = connection.prepare(sql).expect("SQL");
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values = (0..columns).map(|column| Ok(format!("{:?}", row.get_ref(column)?)));
            Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
        };
        statement.query_map([], row).and_then(Iterator::collect).expect("rows")
    }

    /// The sorted names of the files in the directory.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory()).expect("a directory");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

/// Runs a command with `input` on standard input. The command need not read all of it.
pub(crate) fn run_with_input(mut command: Command, input: impl Into<Vec<u8>>) -> Run {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let (mut stdin, input) = (child.stdin.take().expect("a pipe"), input.into());
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("an end");
    let _ = writer.join().expect("no panic");
    Run::of(output)
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}
