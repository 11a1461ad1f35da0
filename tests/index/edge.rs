//! Odd and broken files from other projects' tests and of our own, if they are available.
//!
//! `tests/data/edge.tsv` lists the expected result for each file. If it differs from that of python-chess, a note
//! explains why.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgndex::index::{Duplicates, Error, IndexOptions};
use pgndex::pgn::decode;
use rusqlite::Connection;

use crate::needs::shared;
use crate::support::*;

/// The time limit for all files together.
const MOST_TIME: Duration = Duration::from_secs(300);
/// The maximum number of runs of equal values that are listed one by one.
const MOST_LISTED: usize = 40;

/// All files below a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A game: its plies, its status, its last position.
struct Game {
    plies: i64,
    status: String,
    /// The first four fields of a FEN and the half-move clock.
    fen: Option<String>,
}

impl Game {
    /// The games of each source, by its path.
    fn all(database: &Connection) -> HashMap<PathBuf, Vec<Self>> {
        let query = "SELECT path, g.ply_count, g.status, p.fen || ' ' || p.halfmove_clock FROM game AS g JOIN source USING (source_id)
            LEFT JOIN game_position AS p ON p.game_id = g.game_id AND p.ply = g.ply_count ORDER BY g.game_id";
        let mut query = database.prepare(query).expect("a query");
        let mut rows = query.query([]).expect("rows");
        let mut games: HashMap<PathBuf, Vec<Self>> = HashMap::new();
        while let Some(row) = rows.next().expect("a game") {
            let game = Self { plies: row.get_unwrap(1), status: row.get_unwrap(2), fen: row.get_unwrap(3) };
            games.entry(row.get_unwrap::<_, String>(0).into()).or_default().push(game);
        }
        games
    }

    fn show(&self) -> String {
        let mark = match self.status.as_str() {
            "ok" => "",
            "truncated" => "!",
            _ => "x",
        };
        format!("{}{mark}", self.plies)
    }
}

/// A game as python-chess reads it: plies (-1: it has no start position), the first four fields of the last FEN, and
/// the half-move clock.
struct Row {
    plies: i64,
    fen: String,
}

/// The rows of each file.
fn python_chess(table: &Path) -> HashMap<String, Vec<Row>> {
    let table = fs::read(table).expect("a table");
    let mut files: HashMap<String, Vec<Row>> = HashMap::new();
    for line in decode(&table).lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let fen = fields[4].rsplit_once(' ').map_or("", |(fen, _move_number)| fen);
        let row = Row { plies: fields[2].parse().expect("plies"), fen: fen.to_owned() };
        files.entry(fields[0].to_owned()).or_default().push(row);
    }
    files
}

/// Lists the values, with a count for equal neighbours. A long list is shortened to the number of games and the sum of
/// their plies. Values that end with `!` or `x` follow, each with the number of its game.
fn list(words: &[String]) -> String {
    let runs: Vec<String> = words
        .chunk_by(|a, b| a == b)
        .map(|run| if run.len() == 1 { run[0].clone() } else { format!("{}*{}", run.len(), run[0]) })
        .collect();
    if runs.len() <= MOST_LISTED {
        return runs.join(" ");
    }
    let number = |word: &String| word.trim_end_matches(['!', 'x']).parse::<i64>().expect("plies");
    let mut listed = vec![format!("{} games, {} plies", words.len(), words.iter().map(number).sum::<i64>())];
    let odd = words.iter().zip(1..).filter(|(word, _)| word.ends_with(['!', 'x']));
    let odd = odd.map(|(word, place)| format!("{place}:{word}"));
    listed.extend(odd);
    listed.join(" ")
}

/// `=` if python-chess plays the same plies to the same positions in all games; otherwise its plies, or the numbers of
/// the games with other positions.
fn compare(games: &[Game], rows: &[Row]) -> String {
    if games.iter().map(|game| game.plies).ne(rows.iter().map(|row| row.plies)) {
        return if rows.is_empty() {
            "none".to_owned()
        } else {
            list(&rows.iter().map(|row| row.plies.to_string()).collect::<Vec<_>>())
        };
    }
    let other =
        games.iter().zip(rows).zip(1..).filter(|((game, row), _)| game.fen.as_ref() != Some(&row.fen));
    let other: Vec<String> = other.map(|(_, place)| place.to_string()).collect();
    if other.is_empty() { "=".to_owned() } else { format!("position {}", list(&other)) }
}

/// The columns of the table for each file, without its name and the note. All files are sources of one database.
fn found<'t>(paths: &[PathBuf], rows: impl Fn(&Path) -> &'t [Row]) -> HashMap<PathBuf, [String; 4]> {
    let place = directory();
    let target = place.path().join("out.db");
    let summary = run(&target, paths, &options()).expect("indexed");
    assert_sound(&target, &summary);
    let database = open(&target);
    let mut games = Game::all(&database);
    let kinds = "SELECT path, group_concat(kind || ':' || count, ' ') FROM
            (SELECT source_id, kind, count(*) AS count FROM problem GROUP BY 1, 2 ORDER BY 1, 2)
        JOIN source USING (source_id) GROUP BY path";
    let mut kinds = database.prepare(kinds).expect("a query");
    let kinds = kinds.query_map([], |row| Ok((PathBuf::from(row.get::<_, String>(0)?), row.get(1)?)));
    let mut kinds: HashMap<PathBuf, String> = kinds.and_then(Iterator::collect).expect("problems");
    let paths: Vec<String> = column(&database, "SELECT path FROM source");
    let columns = paths.into_iter().map(PathBuf::from).map(|path| {
        let (games, kinds) =
            (games.remove(&path).unwrap_or_default(), kinds.remove(&path).unwrap_or_default());
        let plies: Vec<String> = games.iter().map(Game::show).collect();
        let compared = compare(&games, rows(&path));
        (path, [games.len().to_string(), list(&plies), kinds, compared])
    });
    columns.collect()
}

#[test]
fn unusual_files_are_read_as_listed() {
    let Some(edge) = shared("edge") else { return };
    let truth = python_chess(&edge.join("TRUTH_pychess.tsv"));
    let table = include_str!("../data/edge.tsv");
    let mut listed: HashMap<&str, Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            line.split_once('\t').map(|(file, rest)| (file, rest.split('\t').collect())).expect("columns")
        })
        .collect();
    let mut paths = files(&edge);
    let name = |path: &Path| {
        path.strip_prefix(&edge).expect("a path below the directory").to_string_lossy().into_owned()
    };
    paths.retain(|path| name(path).ends_with(".pgn") || name(path).ends_with(".pgn.zst"));
    // Each file that must be rejected is indexed alone. The other files are indexed together.
    let is_refused = |path: &PathBuf| listed.get(name(path).as_str()).is_some_and(|listed| listed[0] == "-");
    let (refused, read): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(is_refused);
    for path in &refused {
        let place = directory();
        let result = run(&place.path().join("out.db"), &[path], &options());
        assert!(matches!(result, Err(Error::NoSource(_))), "{}", path.display());
    }
    let started = Instant::now();
    let rows = |path: &Path| truth.get(name(path).trim_end_matches(".zst")).map_or(&[][..], Vec::as_slice);
    let mut found = found(&read, rows);
    assert!(started.elapsed() < MOST_TIME, "{:?}", started.elapsed());
    found.extend(refused.into_iter().map(|path| (path, ["-"; 4].map(str::to_owned))));
    let mut wrong = Vec::new();
    for path in paths {
        let file = name(&path);
        let Some(found) = found.remove(&path) else {
            wrong.push(format!("{file}: not read"));
            continue;
        };
        let listed = listed.remove(file.as_str()).unwrap_or_default();
        let note = listed.get(4).copied().unwrap_or_default();
        if listed.len() != 5 || found != listed[..4] || (found[3] != "=" && note.is_empty()) {
            wrong.push(format!("{file}\t{}\t{note}", found.join("\t")));
        }
    }
    assert!(wrong.is_empty(), "not as in the table, or without a note:\n{}", wrong.join("\n"));
    assert!(listed.is_empty(), "no such files: {:?}", listed.keys());
    assert!(found.is_empty(), "no such sources: {:?}", found.keys());
}

/// Reads all archives of at most this many bytes into one database.
fn check_archives(most: u64) {
    let Some(archives) = shared("archives") else { return };
    let place = directory();
    let target = place.path().join("out.db");
    // Most archives contain the same games.
    let options = IndexOptions { duplicates: Duplicates::Skip, ..options() };
    let mut paths = files(&archives);
    paths.retain(|path| fs::metadata(path).expect("a file").len() <= most);
    let started = Instant::now();
    let summary = run(&target, &paths, &options).expect("indexed");
    assert!(started.elapsed() < MOST_TIME, "{:?}", started.elapsed());
    assert_sound(&target, &summary);
    assert_eq!(summary.damaged.len(), 2, "{:?}", summary.damaged);
}

#[test]
fn no_archive_panics_or_hangs() {
    check_archives(800_000);
}

#[test]
#[ignore = "takes ten seconds"]
fn no_large_archive_panics_or_hangs() {
    check_archives(u64::MAX);
}
