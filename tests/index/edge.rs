//! Odd and broken files from other projects' tests and of our own, where they are there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgndex::index::{Error, IndexOptions};

use crate::support::*;

/// All files below a directory, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_file_panics_or_hangs() {
    let place = directory();
    let target = place.path().join("out.db");
    let options = IndexOptions { overwrite: true, ..options() };
    let roots = [shared("edge"), shared("archives")];
    let mut indexed = 0;
    for path in roots.into_iter().flatten().flat_map(|root| files(&root)) {
        let started = Instant::now();
        let result = run(&target, &[&path], &options);
        assert!(started.elapsed() < Duration::from_secs(3), "{}: {:?}", path.display(), started.elapsed());
        match result {
            Ok(summary) => assert_sound(&target, &summary),
            Err(Error::NoSource(_)) => {}
            Err(error) => panic!("{}: {error:?}", path.display()),
        }
        indexed += 1;
    }
    println!("{indexed} files");
}

/// Plies of all games as the table writes them: `!` after those of a game cut short, `x` after those of one skipped.
fn plies(database: &rusqlite::Connection) -> String {
    let query = "SELECT ply_count || CASE status WHEN 'ok' THEN '' WHEN 'truncated' THEN '!' ELSE 'x' END
        FROM game ORDER BY game_id";
    let plies: Vec<String> = column(database, query);
    if plies.len() > 20 && plies.iter().all(|ply| *ply == plies[0]) {
        return format!("{}*{}", plies.len(), plies[0]);
    }
    plies.join(" ")
}

#[test]
fn files_made_for_testing() {
    let Some(made) = shared("edge/made") else { return };
    let place = directory();
    let target = place.path().join("out.db");
    let options = IndexOptions { overwrite: true, ..options() };
    let table = include_str!("../data/edge_made.tsv");
    let mut wrong = Vec::new();
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let [name, games, expected_plies, problems, _] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("five columns: {row}");
        };
        let path = made.join(format!("{name}.pgn"));
        let found = match run(&target, &[&path], &options) {
            Ok(summary) => {
                let database = open(&target);
                let kinds = "SELECT kind || ':' || count(*) FROM problem GROUP BY kind ORDER BY kind";
                let kinds: Vec<String> = column(&database, kinds);
                [summary.games.to_string(), plies(&database), kinds.join(" ")]
            }
            Err(Error::NoSource(_)) => ["-", "-", "-"].map(str::to_owned),
            Err(error) => panic!("{name}: {error:?}"),
        };
        if found != [games, expected_plies, problems] {
            wrong.push(format!("{name}: {}, not {games}|{expected_plies}|{problems}", found.join("|")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let rows = table.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(
        rows,
        files(&made).iter().filter(|path| path.extension().is_some_and(|end| end == "pgn")).count()
    );
}
