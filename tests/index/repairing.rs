//! Databases that were changed through SQL: inconsistent rows are reported and can be repaired.

use std::fs;
use std::path::{Path, PathBuf};

use pgndex::index::{IndexOptions, Progress, Removal, RepairSummary, remove, repair};
use pgndex::store::row::GameId;
use pgndex::store::{Build, Database, WriterLock};
use pgndex::verify::{Report, Sample, VerifyOptions, verify};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::index::adding::{BY_OFFSET, assert_equal, assert_whole};
use crate::support::*;

/// Two files and a database of both.
struct Workspace {
    directory: TempDir,
    options: IndexOptions,
}

impl Workspace {
    fn new() -> Self {
        let place = Self {
            directory: directory_for(0),
            options: IndexOptions { continuation_threshold: 2, any_threshold: false, ..options() },
        };
        fs::write(place.path("a.pgn"), GAMES).expect("written");
        let other = &GAMES[pgndex::pgn::next_boundary(GAMES.as_bytes(), GAMES.len() / 2)..];
        let other = annotated(3) + &other.replace("Kasparov", "Kasparow").replace("[Date \"1", "[Date \"2");
        fs::write(place.path("b.pgn"), other).expect("written");
        place.index("games.db", &["a.pgn", "b.pgn"]);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn database(&self) -> PathBuf {
        self.path("games.db")
    }

    fn index(&self, database: &str, files: &[&str]) {
        let files: Vec<PathBuf> = files.iter().map(|name| self.path(name)).collect();
        run(&self.path(database), &files, &self.options).expect("indexed");
    }

    fn change(&self, sql: &str) {
        let database = Connection::open(self.database()).expect("a database");
        execute_without_constraints(&database, sql).expect("changed");
    }

    fn verify(&self) -> Report {
        let options = VerifyOptions { sample: Sample::All, threads: 1, ..VerifyOptions::default() };
        verify(&self.database(), &options, &pgndex::verify::Progress::default()).expect("verified")
    }

    fn repair(&self) -> RepairSummary {
        repair(&self.database(), &self.options, &Progress::default()).expect("repaired")
    }

    #[track_caller]
    fn assert_sound(&self) {
        assert_whole(&self.database());
        let report = self.verify();
        assert!(report.is_sound(), "{report:#?}");
    }
}

fn count(path: &Path, table: &str) -> u64 {
    number(&open(path), &format!("SELECT count(*) FROM {table}"))
}

/// A sound database stays as it is.
#[test]
fn a_sound_database_is_not_changed() {
    let place = Workspace::new();
    fs::copy(place.database(), place.path("before.db")).expect("a copy");
    let summary = place.repair();
    assert_eq!(
        (summary.counts.rows, summary.counts.names, summary.counts.sources, summary.hashes),
        (0, 0, 0, 0)
    );
    assert_eq!(summary.visited_positions, count(&place.database(), "visited_position"));
    assert_equal(&place.path("before.db"), &place.database(), &BY_OFFSET);
    let counted = ["visited_position", "continuation", "visit_set", "game_column"];
    for table in counted.into_iter().chain(["import", "source", "duplicate", "problem"]) {
        let all = format!("SELECT * FROM {table} ORDER BY 1, 2");
        assert_eq!(lines(&open(&place.path("before.db")), &all), lines(&open(&place.database()), &all));
    }
    place.assert_sound();
}

/// The games of a file were deleted through SQL. Other commands refuse to run until the database is repaired.
#[test]
fn games_deleted_through_sql() {
    for change in [
        "DELETE FROM game WHERE source_id = 1",
        "DELETE FROM game_position WHERE game_id IN (SELECT game_id FROM game WHERE source_id = 1);
         DELETE FROM tag WHERE game_id IN (SELECT game_id FROM game WHERE source_id = 1);
         DELETE FROM game WHERE source_id = 1; DELETE FROM source WHERE source_id = 1",
    ] {
        let place = Workspace::new();
        place.change(change);
        assert!(!place.verify().is_sound());
        let files = [place.path("a.pgn")];
        let reported = [
            message(&run(&place.database(), &files, &place.options).expect_err("refused")),
            message(
                &remove(
                    &place.database(),
                    &Removal::Sources(files.to_vec()),
                    &place.options,
                    &Progress::default(),
                )
                .expect_err("refused"),
            ),
        ];
        for reported in reported {
            assert!(reported.contains("according to its sources and runs"), "{reported}");
        }
        place.repair();
        place.assert_sound();
        // The database equals a new database of the other file alone.
        place.index("b.db", &["b.pgn"]);
        assert_equal(&place.database(), &place.path("b.db"), &BY_OFFSET);
        // The whole file can be indexed again.
        place.index("games.db", &["a.pgn"]);
        place.assert_sound();
        place.index("both.db", &["b.pgn", "a.pgn"]);
        for table in ["game", "game_position", "occurrence", "player", "visited_position", "continuation"] {
            assert_eq!(count(&place.database(), table), count(&place.path("both.db"), table), "{table}");
        }
    }
}

#[test]
fn derived_rows_are_rebuilt() {
    let place = Workspace::new();
    for change in [
        "DELETE FROM occurrence WHERE game_id % 2 = 0",
        "DELETE FROM level_position WHERE key % 3 = 0",
        "UPDATE level_position SET games = games + 1, top_games = '[]'; DELETE FROM level_continuation",
        "UPDATE source SET games = 7, plies = 0; UPDATE import SET games = 0, distinct_positions = 1, problems = 99",
        "UPDATE game SET prefix_hash = 5",
        "UPDATE game SET ply_count = ply_count + 1 WHERE game_id = 2",
        "DELETE FROM visit_set WHERE key % 2 = 0; UPDATE visit_set SET games = x'01'; DELETE FROM game_column WHERE name = 'date'",
        "UPDATE game_column SET cells = '[null]' WHERE name LIKE 'white%'; INSERT INTO game_column VALUES ('x', 3, '[]', x'')",
        "INSERT INTO tag VALUES (5000, 'Mood', 'gloomy'); INSERT INTO player VALUES (5000, 'Nobody')",
        "DELETE FROM game WHERE game_id IN (3, 5, 8); DELETE FROM problem WHERE game_id IN (3, 5, 8)",
    ] {
        place.change(change);
        let findings = place.verify().findings;
        assert!(findings.total() > 0 && findings.repairable == findings.total(), "{change}: {findings:#?}");
        assert!(place.repair().broken.is_empty());
        place.assert_sound();
    }
}

/// Two spellings of a name were merged through SQL: after the repair the counts agree, but the texts still have both.
#[test]
fn names_changed_through_sql() {
    let place = Workspace::new();
    place.change(
        "UPDATE game SET white_id = (SELECT player_id FROM player WHERE name LIKE 'Kasparov%')
             WHERE white_id = (SELECT player_id FROM player WHERE name LIKE 'Kasparow%');
         UPDATE game SET black_id = (SELECT player_id FROM player WHERE name LIKE 'Kasparov%')
             WHERE black_id = (SELECT player_id FROM player WHERE name LIKE 'Kasparow%');
         DELETE FROM player WHERE name LIKE 'Kasparow%'",
    );
    let summary = place.repair();
    assert!(summary.hashes > 0);
    let report = place.verify();
    let kinds: Vec<&str> = report.findings.counts.keys().map(|kind| kind.as_str()).collect();
    assert_eq!((kinds, report.findings.repairable), (vec!["source-text"], 0), "{report:#?}");
    let options = VerifyOptions { sample: Sample::All, sources: false, ..VerifyOptions::default() };
    let report = verify(&place.database(), &options, &pgndex::verify::Progress::default()).expect("verified");
    assert!(report.is_sound(), "{report:#?}");
}

/// A repair clears references to missing names, and says so. It cannot restore the names.
#[test]
fn references_to_missing_names_are_cleared() {
    let place = Workspace::new();
    place.change("UPDATE game SET white_id = 99999 WHERE game_id = 3");
    assert!(place.verify().findings.repairable > 0);
    assert_eq!(place.repair().counts.cleared, 1);
    let report = place.verify();
    assert_eq!(report.findings.repairable, 0, "{report:#?}");
    assert!(!report.is_sound());
}

/// The length of a game is wrong, but all of its positions exist.
#[test]
fn totals_do_not_follow_a_wrong_length() {
    let place = Workspace::new();
    place.change("UPDATE game SET ply_count = 3 WHERE game_id = 2");
    let report = place.verify();
    let about: Vec<_> = report.findings.first.iter().map(|found| (found.table, found.column)).collect();
    assert!(about.contains(&("game", Some("ply_count"))), "{report:#?}");
    assert!(about.iter().all(|&(table, _)| table != "import" && table != "source"), "{report:#?}");
    assert_eq!(place.repair().counts.ply_counts, 1);
    place.assert_sound();
}

#[test]
fn games_without_positions_are_reported() {
    let place = Workspace::new();
    place.change("DELETE FROM game_position WHERE game_id = 4 OR game_id = 6 AND ply > 9");
    let broken: Vec<u32> = place.repair().broken.into_iter().map(|game| game.0).collect();
    assert_eq!(broken, [4, 6]);
    assert_eq!(place.verify().findings.repairable, 0);
    let games = broken.into_iter().map(GameId).collect();
    remove(&place.database(), &Removal::Games(games), &place.options, &Progress::default()).expect("removed");
    place.assert_sound();
}

/// Rows that the page encoder never writes do not prevent the removal of other games.
#[test]
fn games_can_be_removed_despite_unexpected_rows() {
    let place = Workspace::new();
    for (first, (change, undo)) in (10..).step_by(2).zip([
        (
            "UPDATE game_position SET fen = fen || printf('%.*c', 3000, 'x') WHERE game_id = 3 AND ply = 7",
            "UPDATE game_position SET fen = rtrim(fen, 'x') WHERE game_id = 3 AND ply = 7",
        ),
        ("INSERT INTO move_eval VALUES (-1, 0, 1, 1, 1, 1, 1)", "DELETE FROM move_eval WHERE game_id = -1"),
        ("INSERT INTO occurrence VALUES (1, 5, -7, 0)", "DELETE FROM occurrence WHERE game_id = -7"),
        ("INSERT INTO occurrence VALUES (1, 'a', 7, 0)", "DELETE FROM occurrence WHERE key = 'a'"),
    ]) {
        place.change(change);
        let games = [first, first + 1].map(GameId).to_vec();
        let removed = remove(&place.database(), &Removal::Games(games), &place.options, &Progress::default());
        assert_eq!(removed.expect(change).games, 2, "{change}");
        assert_eq!(
            count(&place.database(), &format!("game_position WHERE game_id IN ({first}, {first} + 1)")),
            0,
            "{change}"
        );
        place.change(undo);
        place.assert_sound();
    }
}

#[test]
fn games_kept_by_a_trigger_are_reported() {
    let place = Workspace::new();
    place.change("CREATE TRIGGER keep BEFORE DELETE ON game BEGIN SELECT RAISE(IGNORE); END");
    let games = vec![GameId(2)];
    let reported = remove(&place.database(), &Removal::Games(games), &place.options, &Progress::default());
    let reported = message(&reported.expect_err("a trigger"));
    assert!(
        reported.contains("a trigger of the table game prevents the removal of games; nothing was changed"),
        "{reported}"
    );
    place.change("DROP TRIGGER keep");
    place.assert_sound();
}

/// A repair replaces the file, so rows that others write meanwhile would be lost.
#[test]
fn others_cannot_write_during_a_repair() {
    let place = Workspace::new();
    let write = "INSERT INTO setting VALUES ('mine', 1)";
    let database = Database::open_read_only(&place.database()).expect("a database");
    let lock = WriterLock::acquire(&place.database()).expect("a lock");
    let build = Build::copy_of(&database, lock, 1 << 20).expect("a copy");
    let other = Connection::open(place.database()).expect("a database");
    other.busy_timeout(std::time::Duration::ZERO).expect("set");
    let refused = other.execute(write, []).expect_err("the database is locked");
    assert_eq!(refused.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy));
    drop(build);
    other.execute_batch(&format!("BEGIN IMMEDIATE; {write}")).expect("written");
    let reported = repair(&place.database(), &place.options, &Progress::default())
        .expect_err("the database is being written to");
    assert!(message(&reported).contains("another program"), "{}", message(&reported));
    other.execute_batch("COMMIT").expect("committed");
    place.repair();
    assert_eq!(count(&place.database(), "setting WHERE name = 'mine'"), 1);
}

/// A file whose games were all deleted can be indexed again completely, although it had duplicates of games in other
/// files.
#[test]
fn a_source_without_games_is_removed_with_its_duplicates() {
    let mut place = Workspace::new();
    place.options.duplicates = pgndex::index::Duplicates::Skip;
    let own = GAMES.replace("Kasparov", "Kramnik").replace("[Date \"1", "[Date \"3");
    fs::write(place.path("c.pgn"), GAMES.to_owned() + &own).expect("written");
    place.index("games.db", &["c.pgn"]);
    let games = count(&place.database(), "game");
    place.change("DELETE FROM game WHERE source_id = 3");
    assert!(count(&place.database(), "duplicate WHERE source_id = 3 AND game_id IS NULL") > 0);
    assert_eq!(place.repair().counts.sources, 1);
    place.assert_sound();
    place.index("games.db", &["c.pgn"]);
    assert_eq!(count(&place.database(), "game"), games);
    place.assert_sound();
}

/// A sample has the requested number of games even if many ids are missing.
#[test]
fn samples_skip_missing_ids() {
    let place = Workspace::new();
    let last = count(&place.database(), "game");
    let even = (2..=u32::try_from(last).expect("a small number")).step_by(2).map(GameId).collect();
    remove(&place.database(), &Removal::Games(even), &place.options, &Progress::default()).expect("removed");
    for most in [1, 2, 3, 7, 10] {
        let options = VerifyOptions { sample: Sample::Some(most), threads: 1, ..VerifyOptions::default() };
        let report =
            verify(&place.database(), &options, &pgndex::verify::Progress::default()).expect("verified");
        assert_eq!(report.replayed_games, u64::from(most));
    }
}

/// Games whose source was deleted stay until they are removed; then the file can be indexed again.
#[test]
fn games_of_an_unknown_source_are_kept_and_can_be_removed() {
    let place = Workspace::new();
    let games = count(&place.database(), "game");
    place.change("DELETE FROM source WHERE source_id = 2");
    let summary = place.repair();
    assert_eq!((summary.counts.unknown_sources, summary.counts.sources), (1, 0));
    assert_eq!(count(&place.database(), "game"), games);
    place.assert_sound();
    let unknown = Removal::Sources(vec![PathBuf::from("unknown source 2")]);
    let removed = remove(&place.database(), &unknown, &place.options, &Progress::default()).expect("removed");
    assert!(removed.games > 0);
    place.assert_sound();
    place.index("games.db", &["b.pgn"]);
    assert_eq!(count(&place.database(), "game"), games);
    place.assert_sound();
}

/// Runs whose rows were deleted get rows again, so games can be added.
#[test]
fn missing_runs_are_added_again() {
    let place = Workspace::new();
    for (name, date) in [("c.pgn", "[Date \"3"), ("d.pgn", "[Date \"4")] {
        fs::write(place.path(name), GAMES.replace("[Date \"1", date)).expect("written");
    }
    place.index("games.db", &["c.pgn"]);
    place.change("DELETE FROM import");
    assert!(place.verify().findings.repairable > 0);
    place.repair();
    place.assert_sound();
    assert_eq!(
        count(&place.database(), "import WHERE finished_at NOT NULL AND program_version = 'unknown'"),
        2
    );
    place.index("games.db", &["d.pgn"]);
    place.assert_sound();
    for change in [
        "UPDATE import SET problems = problems + 1",
        "UPDATE import SET finished_at = NULL, plies = 3 WHERE import_id = 2",
    ] {
        place.change(change);
        assert!(place.verify().findings.repairable > 0, "{change}");
        place.repair();
        place.assert_sound();
    }
}

/// Without the settings `last_game` and `removed_games`, the id of a removed game could be given to another game.
#[test]
fn the_numbers_of_removed_games_are_checked() {
    let place = Workspace::new();
    let last = count(&place.database(), "game");
    let game = |id: u64| Removal::Games(vec![GameId(u32::try_from(id).expect("a small number"))]);
    for removal in [game(2), game(last), Removal::Sources(vec![place.path("a.pgn")])] {
        remove(&place.database(), &removal, &place.options, &Progress::default()).expect("removed");
        for change in [
            "UPDATE setting SET value = 1 WHERE name = 'last_game'",
            "DELETE FROM setting WHERE name = 'last_game'",
            "DELETE FROM setting WHERE name = 'removed_games'",
            "UPDATE setting SET value = 0 WHERE name = 'removed_games'",
            "UPDATE setting SET value = 'x' WHERE name = 'removed_games'",
        ] {
            place.assert_sound();
            place.change(change);
            let findings = place.verify().findings;
            assert!(
                findings.total() > 0 && findings.repairable == findings.total(),
                "{change}: {findings:#?}"
            );
            place.repair();
        }
    }
    // The repair emptied `deleted_game`.
    let kept = number(&open(&place.database()), "SELECT value FROM setting WHERE name = 'last_game'");
    assert_eq!(kept, last);
    place.assert_sound();
}
