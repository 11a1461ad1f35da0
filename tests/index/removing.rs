//! Removing games leaves the database that results from indexing only the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pgndex::index::{Duplicates, IndexOptions, Progress, Removal, RemovalSummary, remove};
use pgndex::store::row::GameId;
use pgndex::verify::{Sample, VerifyOptions, verify};
use tempfile::TempDir;

use crate::index::adding::assert_whole;
use crate::needs::part_of_corpus;
use crate::support::*;

/// All data of a database, identified by file and by the tag `Round`, which is different in each game of the tests.
const DATA_QUERIES: [&str; 17] = [
    "SELECT file, place.round, white, black, white_elo, black_elo, result, date, iso_date, event, site, eco, opening, ply_count,
         time_control, speed, termination, eval_count, clock_count, status, byte_length
     FROM games JOIN place USING (game_id) ORDER BY 1, 2",
    "SELECT file, place.round, moves_hash, prefix_hash FROM game JOIN place USING (game_id) ORDER BY 1, 2",
    "SELECT file, round, p.ply, key, halfmove_clock, move_code, fen FROM game_position AS p JOIN place USING (game_id) ORDER BY 1, 2, 3",
    "SELECT key, file, round, ply FROM position_game JOIN place USING (game_id) ORDER BY 1, 2, 3, 4",
    "SELECT key, fen, games, white_wins, draws, black_wins, unfinished, white_elo_sum, white_elo_games, black_elo_sum, black_elo_games,
         (SELECT group_concat(white_elo + black_elo) FROM json_each(top_games) CROSS JOIN game ON game_id = value),
         (SELECT group_concat(date) FROM json_each(recent_games) CROSS JOIN game ON game_id = value),
         json_array_length(top_games), json_array_length(recent_games) FROM visited_position ORDER BY 1",
    "SELECT * FROM continuation ORDER BY 1, 2",
    "SELECT name FROM player ORDER BY 1",
    "SELECT name FROM event ORDER BY 1",
    "SELECT name FROM site ORDER BY 1",
    "SELECT file, round, name, value FROM tag JOIN place USING (game_id) ORDER BY 1, 2, 3",
    "SELECT file, round, e.ply, clock, elapsed, eval_cp, eval_mate, depth FROM move_eval AS e JOIN place USING (game_id) ORDER BY 1, 2, 3",
    "SELECT file, round, line, ply, number, text FROM comment JOIN place USING (game_id) ORDER BY 1, 2, 3, 4, 5",
    "SELECT file, round, line, ply, nag FROM nag JOIN place USING (game_id) ORDER BY 1, 2, 3, 4, 5",
    "SELECT file, round, line, ply, key, move_code, fen FROM variation_move JOIN place USING (game_id) ORDER BY 1, 2, 3, 4",
    "SELECT file, round, ply, token, kind, severity, message FROM problem JOIN place USING (game_id) ORDER BY 1, 2, 3, kind",
    "SELECT substr(path, -5), d.kind, count(*) FROM duplicate AS d JOIN source USING (source_id) GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT substr(path, -5), games, plies, problems, duplicates FROM source ORDER BY 1",
];

/// Files that are added and removed, and their database.
struct Collection {
    directory: TempDir,
    /// The games of each file.
    files: BTreeMap<String, Vec<String>>,
    /// The files in the database, in the order in which they were added, and the indexes of their removed games.
    indexed: Vec<(String, BTreeSet<usize>)>,
    options: IndexOptions,
}

impl Collection {
    fn new(files: BTreeMap<String, Vec<String>>, options: IndexOptions) -> Self {
        let directory = directory_for(0);
        for (name, games) in &files {
            fs::write(directory.path().join(name), games.concat()).expect("written");
        }
        Self { directory, files, indexed: Vec::new(), options }
    }

    fn database(&self) -> PathBuf {
        self.directory.path().join("games.db")
    }

    fn add(&mut self, name: &str) {
        run(&self.database(), &[self.directory.path().join(name)], &self.options).expect("indexed");
        self.indexed.push((name.to_owned(), BTreeSet::new()));
    }

    fn remove(&self, removal: &Removal) -> RemovalSummary {
        remove(&self.database(), removal, &self.options, &Progress::default()).expect("removed")
    }

    fn remove_file(&mut self, name: &str) {
        self.remove(&Removal::Sources(vec![self.directory.path().join(name)]));
        self.indexed.retain(|(indexed, _)| indexed != name);
    }

    /// Removes games by their ids.
    fn remove_games(&mut self, games: &[u32]) {
        let database = open(&self.database());
        for game in games {
            let sql = format!(
                "SELECT substr(path, -5), round FROM game JOIN source USING (source_id) WHERE game_id = {game}"
            );
            let found = lines(&database, &sql);
            let (file, round) = found[0].split_once('|').expect("two columns");
            let at = self.files[file].iter().position(|text| text.contains(&format!("[Round \"{round}\"]")));
            let (_, gone) =
                self.indexed.iter_mut().find(|(indexed, _)| indexed == file).expect("a file in the database");
            gone.insert(at.expect("one of its games"));
        }
        drop(database);
        self.remove(&Removal::Games(games.iter().copied().map(GameId).collect()));
    }

    /// Asserts that the database is sound, and equal to a new one of the remaining games.
    fn check(&self, what: &str) {
        assert_whole(&self.database());
        let options = VerifyOptions { sample: Sample::All, threads: 1, ..VerifyOptions::default() };
        let report =
            verify(&self.database(), &options, &pgndex::verify::Progress::default()).expect("verified");
        assert!(report.is_sound() && report.sources_other == 0, "{what}: {report:#?}");
        let fresh = directory_for(0);
        let mut paths = Vec::new();
        for (name, gone) in &self.indexed {
            let games = self.files[name].iter().enumerate();
            // A file of which no game is left counts as a file without games. The last line makes its text different
            // from that of other such files: a file with a known text is not read.
            let left = games.filter(|(index, _)| !gone.contains(index)).map(|(_, game)| game.clone());
            let left: String = left.chain([format!("% {name}\n")]).collect();
            let path = fresh.path().join(name);
            fs::write(&path, left).expect("written");
            paths.push(path);
        }
        if paths.is_empty() {
            return;
        }
        let once = fresh.path().join("once.db");
        for path in paths {
            run(&once, &[path], &self.options).expect("indexed");
        }
        assert_alike(&self.database(), &once, "round", what);
    }
}

/// Asserts that two databases have the same data. Games are identified by their file and this column.
fn assert_alike(left: &Path, right: &Path, column: &str, what: &str) {
    let place = format!(
        "CREATE TEMP VIEW place AS SELECT game_id, substr(path, -5) AS file, {column} AS round
         FROM game JOIN source USING (source_id)"
    );
    let (left, right) = (open(left), open(right));
    for database in [&left, &right] {
        database.execute_batch(&place).expect("a view");
    }
    for query in DATA_QUERIES {
        assert_same_answers(&left, &right, query, what);
    }
}

/// Pseudo-random numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }
}

/// Half of the shipped games and some with annotations and errors, each with its own `Round`.
fn games() -> Vec<String> {
    let bad = "[Event \"bad\"]\n[White \"X\"]\n[Black \"Y\"]\n[Round \"1\"]\n\n1. e4 e5 2. Ke3 Nf6 1-0\n\n";
    let unfinished = "[Event \"on\"]\n[White \"X\"]\n[Black \"Z\"]\n[Round \"1\"]\n\n1. e4 e5 2. Nf3 *\n\n";
    let half = GAMES.split("[Event ").skip(1).step_by(2).map(|game| format!("[Event {game}"));
    let text = [half.collect::<String>().as_str(), &annotated(4), bad, unfinished].concat();
    let mut games = Vec::new();
    for game in text.split("[Event ").skip(1) {
        let mut game = format!("[Event {}\n\n", game.trim_end());
        let (start, end) = match game.find("[Round ") {
            Some(start) => (start, start + game[start..].find('\n').expect("a line") + 1),
            None => (0, 0),
        };
        game.replace_range(start..end, &format!("[Round \"{}\"]\n", games.len()));
        games.push(game);
    }
    games
}

/// Files of these games. Some games are in several files, and some are cut in another file.
fn files(numbers: &mut Numbers) -> BTreeMap<String, Vec<String>> {
    let games = games();
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (index, game) in games.iter().enumerate() {
        for copy in 0..1 + numbers.below(3) {
            let round = format!("[Round \"{index}\"]");
            let mut text = game.replace(&round, &format!("[Round \"{index}.{copy}\"]"));
            if copy == 2
                && let Some(cut) = text.find("\n11.").or_else(|| text.find(" 11."))
            {
                text.truncate(cut);
                text.push_str(" *\n\n");
            }
            files.entry(format!("{}.pgn", numbers.below(6))).or_default().push(text);
        }
    }
    files
}

/// Adds and removes files and games in this many steps.
fn add_and_remove(seed: u64, steps: usize, check_every: usize, (through_sql, options): (bool, IndexOptions)) {
    let mut numbers = Numbers(seed);
    let mut collection = Collection::new(files(&mut numbers), options);
    let names: Vec<String> = collection.files.keys().cloned().collect();
    collection.add(&names[0]);
    if through_sql {
        write_through_sql(&collection.database());
    }
    for step in 1..=steps {
        let name = &names[numbers.below(names.len())];
        let is_in_database = collection.indexed.iter().any(|(indexed, _)| indexed == name);
        let games: Vec<u32> = column(&open(&collection.database()), "SELECT game_id FROM game ORDER BY 1");
        if !is_in_database {
            collection.add(name);
        } else if numbers.below(3) == 0 || games.is_empty() {
            collection.remove_file(name);
        } else {
            let few = 1 + numbers.below(5);
            let mut chosen: Vec<u32> = (0..few).map(|_| games[numbers.below(games.len())]).collect();
            chosen.sort_unstable();
            chosen.dedup();
            collection.remove_games(&chosen);
        }
        if step % check_every == 0 || step == steps {
            collection.check(&format!("seed {seed}, step {step}"));
        }
    }
}

/// Each rule for duplicates, with pages and through SQL.
fn all_options() -> impl Iterator<Item = (bool, IndexOptions)> {
    [false, true].into_iter().flat_map(|through_sql| {
        [Duplicates::Keep, Duplicates::Skip, Duplicates::Moves].into_iter().map(move |duplicates| {
            let options =
                IndexOptions { duplicates, continuation_threshold: 2, any_threshold: false, ..options() };
            (through_sql, options)
        })
    })
}

#[test]
fn files_and_games_are_added_and_removed() {
    for (seed, options) in (1..).zip(all_options()) {
        add_and_remove(seed, 6, 3, options);
    }
}

/// The stored number of distinct positions stays correct if a duplicate replaces the removed game. The removed game reached the position with the greatest
/// key, in the last row of `occurrence`.
#[test]
fn the_number_of_distinct_positions_stays_when_a_duplicate_replaces_a_removed_game() {
    let game = |white: &str, black: &str, moves: &str| {
        format!(
            "[Event \"E\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"1-0\"]\n\n{moves} 1-0\n\n"
        )
    };
    // Knights go out and home. There are so many moves that removing one short game counts as a small change.
    let knights = |number: u64| {
        let (out, home) = ([["Nc3", "Nf3"], ["Nc6", "Nf6"]], [["Nb1", "Ng1"], ["Nb8", "Ng8"]]);
        let (mut are_out, mut bits) = ([[false; 2]; 2], number);
        let mut moves = if number.is_multiple_of(3) { vec!["e3", "f5"] } else { Vec::new() };
        for ply in 0..100 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (side, knight) = (ply % 2, (bits >> 63) as usize);
            moves.push(if are_out[side][knight] { home[side][knight] } else { out[side][knight] });
            are_out[side][knight] ^= true;
        }
        moves.join(" ")
    };
    let short = game("Aa", "Bb", "b4 c6");
    let others = (0..900).map(|number| game(&format!("W{number}"), &format!("B{number}"), &knights(number)));
    let long = others.fold(game("W", "B", "b4 c6 e4 e5 Nf3 Nf6"), |text, game| text + &game);
    let directory = directory_for(0);
    let path = |name: &str| directory.path().join(name);
    for (name, text) in [("x.pgn", &short), ("a.pgn", &long), ("y.pgn", &short)] {
        fs::write(path(name), text).expect("written");
    }
    let options = IndexOptions { duplicates: Duplicates::Skip, ..options() };
    let database = path("games.db");
    run(&database, &["x.pgn", "a.pgn", "y.pgn"].map(path), &options).expect("indexed");
    let removal = Removal::Sources(vec![path("x.pgn")]);
    remove(&database, &removal, &options, &Progress::default()).expect("removed");
    let distinct = "SELECT distinct_positions - (SELECT count(DISTINCT key) FROM occurrence) FROM import";
    assert_eq!(number(&open(&database), distinct), 0);
    assert_whole(&database);
}

/// A large collection in four files: two of them are removed, then a third of the games of another one.
#[test]
#[ignore = "takes a minute"]
fn files_of_a_large_collection_are_removed() {
    let Some(text) = part_of_corpus("otb-40k", 14_000_000) else { return };
    let directory = directory();
    let mut files = Vec::new();
    let mut start = 0;
    for number in 1..=4 {
        let about = text.len() * number / 4;
        let next =
            memchr::memmem::find(&text[about.min(text.len() - 1)..], b"\n\n[Event ").map(|at| about + at + 2);
        let end = next.unwrap_or(text.len());
        let path = directory.path().join(format!("{number}.pgn"));
        fs::write(&path, &text[start..end]).expect("written");
        files.push(path);
        start = end;
    }
    for through_sql in [false, true] {
        let options = IndexOptions { duplicates: Duplicates::Skip, continuation_threshold: 20, ..options() };
        let (all, once) = (directory.path().join("all.db"), directory.path().join("once.db"));
        run(&all, &files, &options).expect("indexed");
        if through_sql {
            write_through_sql(&all);
        }
        let go = |removal| remove(&all, &removal, &options, &Progress::default()).expect("removed");
        go(Removal::Sources(vec![files[0].clone(), files[2].clone()]));
        run(&once, &[&files[1], &files[3]], &options).expect("indexed");
        assert_alike(&all, &once, "game.byte_offset", "two files");
        let games: Vec<u32> = column(&open(&all), "SELECT game_id FROM game WHERE game_id % 3 = 0");
        go(Removal::Games(games.into_iter().map(GameId).collect()));
        let options = VerifyOptions { sample: Sample::All, ..VerifyOptions::default() };
        let report = verify(&all, &options, &pgndex::verify::Progress::default()).expect("verified");
        assert!(report.is_sound(), "{report:#?}");
        fs::remove_file(all).and_then(|()| fs::remove_file(once)).expect("removed");
    }
}

#[test]
#[ignore = "takes minutes"]
fn files_and_games_are_added_and_removed_fifty_times() {
    for (seed, options) in (7..).zip(all_options()) {
        add_and_remove(seed, 50, 5, options);
    }
}
