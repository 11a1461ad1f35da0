//! Trees built without SQLite become part of a database in a transaction, whatever the state of the pages that SQLite
//! has written.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pgndex::board::{MoveCode, PositionKey};
use pgndex::store::pages::{
    LeafWriter, PositionRecord, RebuiltTree, Segment, Tree, copy_without_games, extend, replace_end,
};
use pgndex::store::row::{GameId, Level, Occurrence, OccurrenceRow, Ply};
use pgndex::store::{BulkLoader, Database, GameSet, PageTransaction, migrate};
use rusqlite::{Connection, params};
use tempfile::TempDir;

const LONGEST: usize = OccurrenceRow::LONGEST_CELL;

/// Pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 11 ^ self.0 << 7
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }

    /// An occurrence in a game with an id of at least `first`; a few keys have many occurrences.
    fn occurrence(&mut self, first: u32) -> Occurrence {
        let key = match self.below(4) {
            0 => PositionKey(self.below(3) << 62 | 5),
            1 => PositionKey(self.below(40).wrapping_sub(20)),
            _ => PositionKey(self.next().wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        };
        Occurrence::new(key, GameId(first + self.below(500) as u32), Ply(self.below(300) as u32))
    }
}

impl Random {
    /// Some of the existing games: none, few, many, consecutive ones, or all.
    fn removed(&mut self, model: &Model) -> GameSet {
        let games: BTreeSet<u32> = model.positions.iter().map(|&(game, ..)| game).collect();
        let among = model.occurrences.iter().map(|row| row.game().0);
        let games: Vec<u32> = games.into_iter().chain(among).collect();
        let part = games.len() as u64 / 3 + 1;
        let first = self.below(part) as usize;
        let chosen = self.below(6);
        let is_chosen = |&(index, _): &(usize, u32)| match chosen {
            0 | 1 => false,
            2 => index % 29 == first % 29,
            3 => index % 3 != 0,
            4 => (first..first + part as usize).contains(&index),
            _ => true,
        };
        games.into_iter().enumerate().filter(is_chosen).map(|(_, game)| GameId(game)).collect()
    }
}

fn open(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

/// A database whose tables have rows that SQLite inserted and deleted in random order.
fn database(directory: &TempDir, page_size: u32, rows: u64, random: &mut Random) -> (PathBuf, Model) {
    let path = directory.path().join("games.db");
    let mut connection = open(&path);
    connection.pragma_update(None, "page_size", page_size).unwrap();
    migrate(&mut connection, &path).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF; BEGIN").unwrap();
    let mut model = Model::default();
    for _ in 0..rows {
        let row = random.occurrence(1);
        let values = params![row.key().as_i64(), row.game().0, row.ply().0];
        if random.below(4) == 0 {
            // Deletes the first row from `row` on. In most cases, there is one.
            let Some(&gone) = model.occurrences.range(row..).next() else { continue };
            model.occurrences.remove(&gone);
            let delete = "DELETE FROM occurrence WHERE level = 1 AND key = ?1 AND game_id = ?2 AND ply = ?3";
            connection.execute(delete, params![gone.key().as_i64(), gone.game().0, gone.ply().0]).unwrap();
        } else if model.occurrences.insert(row) {
            connection.execute("INSERT INTO occurrence VALUES (1, ?1, ?2, ?3)", values).unwrap();
        }
    }
    for game in 1..=u32::try_from(rows / 100).unwrap() {
        model.play(game, 1 + random.below(60) as u32, |game, ply, fen| {
            let insert = "INSERT INTO game_position VALUES (?1, ?2, 7, 0, 3, ?3)";
            connection.execute(insert, params![game, ply, fen]).unwrap();
        });
    }
    connection.execute_batch("COMMIT").unwrap();
    (path, model)
}

/// The expected contents of the tables.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    occurrences: BTreeSet<Occurrence>,
    /// Game, ply and FEN.
    positions: BTreeSet<(u32, u32, String)>,
}

impl Model {
    fn play(&mut self, game: u32, plies: u32, mut see: impl FnMut(u32, u32, &str)) {
        for ply in 0..plies {
            let fen = "x".repeat(((game * 31 + ply * 7) % 40) as usize);
            see(game, ply, &fen);
            self.positions.insert((game, ply, fen));
        }
    }

    fn read(path: &Path) -> Self {
        let connection = open(path);
        let mut query = connection.prepare("SELECT key, game_id, ply FROM position_game").unwrap();
        let occurrence = |row: &rusqlite::Row<'_>| {
            let (key, game, ply) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Occurrence::new(PositionKey::from_i64(key), GameId(game), Ply(ply)))
        };
        let occurrences: Vec<_> = query.query_map([], occurrence).unwrap().map(Result::unwrap).collect();
        assert!(occurrences.is_sorted(), "rows in the order of the table");
        let mut query = connection.prepare("SELECT game_id, ply, fen FROM game_position").unwrap();
        let position = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let positions: Vec<_> = query.query_map([], position).unwrap().map(Result::unwrap).collect();
        assert!(positions.is_sorted(), "rows in the order of the table");
        Self { occurrences: occurrences.into_iter().collect(), positions: positions.into_iter().collect() }
    }
}

/// Replaces the rows of `occurrence` by the rows that stay and new rows, in `ranges` segments.
fn replace_rows(
    transaction: &PageTransaction<'_>,
    new: &BTreeSet<Occurrence>,
    removed: &GameSet,
    model: &Model,
    ranges: usize,
) -> RebuiltTree {
    let file = transaction.file();
    let old = Tree::read(file, transaction.root_page("occurrence").unwrap()).unwrap();
    let bounds: Vec<Occurrence> = (0..ranges as u64)
        .map(|range| {
            let key = (range << 32) / ranges as u64;
            Occurrence::new(PositionKey(key << 32 ^ 1 << 63), GameId(0), Ply(0))
        })
        .collect();
    let mut writer = LeafWriter::new(Arc::clone(file));
    let stay = model.occurrences.iter().filter(|row| !removed.contains(row.game()));
    let rows: BTreeSet<Occurrence> = stay.chain(new).copied().collect();
    let segments: Vec<Segment> = (0..ranges)
        .map(|range| {
            let end = bounds.get(range + 1);
            for &occurrence in rows.range(bounds[range]..).take_while(|row| end.is_none_or(|end| *row < end))
            {
                writer.push(&OccurrenceRow { level: Level::FIRST, occurrence }).unwrap();
            }
            writer.finish_segment().unwrap()
        })
        .collect();
    replace_end(file, &old, OccurrenceRow::first_of(Level::FIRST), segments).unwrap()
}

/// Appends games to `game_position`, each as a segment, and leaves out removed games.
fn play(
    transaction: &PageTransaction<'_>,
    games: impl Iterator<Item = (u32, u32)>,
    removed: &GameSet,
    model: &mut Model,
) -> RebuiltTree {
    let file = transaction.file();
    let mut writer = LeafWriter::new(Arc::clone(file));
    let segments: Vec<Segment> = games
        .map(|(game, plies)| {
            model.play(game, plies, |game, ply, fen| {
                let row = PositionRecord {
                    game: GameId(game),
                    ply: Ply(ply),
                    key: PositionKey(7),
                    halfmove_clock: 0,
                    move_code: Some(MoveCode::from_stored(3)),
                    fen: fen.as_bytes(),
                };
                writer.push(&row).unwrap();
            });
            writer.finish_segment().unwrap()
        })
        .collect();
    let root = transaction.root_page("game_position").unwrap();
    if removed.is_empty() {
        return extend(file, root, segments).unwrap();
    }
    let mut gone = 0;
    let tree = Tree::read(file, root).unwrap();
    let rebuilt = copy_without_games(file, &tree, removed, segments, |game| {
        assert!(removed.contains(game));
        gone += 1;
    });
    let before = model.positions.len();
    model.positions.retain(|&(game, ..)| !removed.contains(GameId(game)));
    assert_eq!(gone, before - model.positions.len());
    rebuilt.unwrap()
}

fn assert_sound(path: &Path) {
    let check: String = open(path).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

#[test]
fn trees_of_any_shape_grow_repeatedly() {
    let mut random = Random(1);
    for (page_size, rows) in
        [(1024, 0), (1024, 30), (1024, 12_000), (2048, 3000), (8192, 20_000), (8192, 400)]
    {
        let directory = TempDir::new().unwrap();
        let (path, mut model) = database(&directory, page_size, rows, &mut random);
        for round in 1..=6_u32 {
            let database = Database::open(&path).unwrap();
            database.begin_adding(1 << 20).unwrap();
            let mut transaction =
                PageTransaction::begin(&database).unwrap().expect("SQLite has the table of pages");
            let count = random.below(rows / 2 + 20);
            let new: BTreeSet<_> = (0..count).map(|_| random.occurrence(1000 * round)).collect();
            let games = 1000 * round..1000 * round + 1 + random.below(rows / 50 + 3) as u32;
            let plies: Vec<_> = games.map(|game| (game, 1 + random.below(90) as u32)).collect();
            let connection = database.connection();
            let text = "y".repeat(3 * page_size as usize);
            let set = |settings: Range<u32>| {
                for setting in settings {
                    let name = format!("{round} {setting}");
                    connection.execute("INSERT INTO setting VALUES (?1, ?2)", [&name, &text]).unwrap();
                }
            };
            let roots = ["occurrence", "game_position"].map(|table| transaction.root_page(table).unwrap());
            let ranges = 1 + random.below(9) as usize;
            let removed = random.removed(&model);
            let positions = play(&transaction, plies.into_iter(), &removed, &mut model);
            // SQLite continues in the same transaction: on pages that are free by then, and after the end of the file.
            if round % 2 == 0 {
                let old = Tree::read(transaction.file(), roots[0]).unwrap();
                let bytes = old.bytes(0, transaction.file().page_size())
                    + new.len() as u64 * OccurrenceRow::MOST_BYTES;
                let max_pages = Tree::max_pages_for(bytes, transaction.file().page_size(), LONGEST, ranges);
                let leaves = old.pages().count() as u64 + new.len() as u64 * 34 / u64::from(page_size);
                assert!(u64::from(max_pages) < leaves * 5 / 4 + 100, "{max_pages} pages for {leaves}");
                transaction.publish(vec![(roots[1], positions)], max_pages).unwrap();
                set(0..10);
                let tree = replace_rows(&transaction, &new, &removed, &model, ranges);
                set(10..15);
                transaction.finish(vec![(roots[0], tree)]).unwrap();
            } else {
                let tree = replace_rows(&transaction, &new, &removed, &model, ranges);
                transaction.finish(vec![(roots[0], tree), (roots[1], positions)]).unwrap();
            }
            model.occurrences.retain(|row| !removed.contains(row.game()));
            model.occurrences.extend(&new);
            set(15..20);
            if round == 2 {
                // SQLite, too, must be able to insert a row between the rows of a new tree.
                let first = *model.occurrences.first().unwrap();
                let game = 1_000_000;
                let row = Occurrence::new(first.key(), GameId(game), Ply(1));
                let values = params![row.key().as_i64(), game, 1];
                connection.execute("INSERT INTO occurrence VALUES (1, ?1, ?2, ?3)", values).unwrap();
                model.occurrences.insert(row);
            }
            BulkLoader::resume(&database).unwrap().finish().unwrap();
            database.end_adding().unwrap();
            drop(database);
            assert_sound(&path);
            let read = Model::read(&path);
            assert_eq!(read.positions, model.positions, "round {round}");
            assert!(read.occurrences == model.occurrences, "round {round}");
        }
    }
}

#[test]
fn an_aborted_transaction_changes_nothing() {
    let mut random = Random(7);
    let directory = TempDir::new().unwrap();
    let (path, model) = database(&directory, 1024, 5000, &mut random);
    let before = length(&path);
    for commits in [false, true] {
        let database = Database::open(&path).unwrap();
        database.begin_adding(1 << 20).unwrap();
        let transaction = PageTransaction::begin(&database).unwrap().expect("SQLite has the table of pages");
        let root = transaction.root_page("occurrence").unwrap();
        let tree = replace_rows(&transaction, &BTreeSet::new(), &GameSet::default(), &model, 3);
        assert!(length(&path) > before, "no page was written after the end of the file");
        if commits {
            // As if a crash or an error occurred after SQLite knew the new trees, but before the commit.
            transaction.finish(vec![(root, tree)]).unwrap();
            drop(BulkLoader::resume(&database).unwrap());
        } else {
            drop(transaction);
        }
        drop(database);
        assert_eq!(length(&path), before);
        assert_sound(&path);
        assert_eq!(Model::read(&path), model);
    }
}

#[test]
fn pages_that_a_crash_left_after_the_end_are_removed() {
    let mut random = Random(9);
    let directory = TempDir::new().unwrap();
    let (path, mut model) = database(&directory, 1024, 5000, &mut random);
    for round in 1..=3 {
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(length(&path) + (50 << 20)).unwrap();
        drop(file);
        let database = Database::open(&path).unwrap();
        database.begin_adding(1 << 20).unwrap();
        assert!(database.free_bytes().unwrap() >= 50 << 20);
        let transaction = PageTransaction::begin(&database).unwrap().expect("SQLite has the table of pages");
        let root = transaction.root_page("game_position").unwrap();
        let tree = play(&transaction, [(1000 * round, 30)].into_iter(), &GameSet::default(), &mut model);
        transaction.finish(vec![(root, tree)]).unwrap();
        BulkLoader::resume(&database).unwrap().finish().unwrap();
        database.end_adding().unwrap();
        drop(database);
        let pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        let bytes: i64 = open(&path).query_row(pages, [], |row| row.get(0)).unwrap();
        assert_eq!(length(&path), bytes.cast_unsigned());
        assert_sound(&path);
        assert_eq!(Model::read(&path), model);
    }
}

#[test]
fn readers_see_the_previous_state_until_the_commit() {
    let mut random = Random(3);
    let directory = TempDir::new().unwrap();
    let (path, mut model) = database(&directory, 1024, 4000, &mut random);
    for round in 1..=3_u32 {
        let database = Database::open(&path).unwrap();
        // No statement waits for a lock.
        database.connection().busy_timeout(Duration::ZERO).unwrap();
        database.begin_adding(1 << 20).unwrap();
        let transaction = PageTransaction::begin(&database).unwrap().expect("SQLite has the table of pages");
        let reader = open(&path);
        reader.execute_batch("BEGIN").unwrap();
        let sum = || -> i64 {
            reader.query_row("SELECT total(ply) FROM position_game", [], |row| row.get::<_, f64>(0)).unwrap()
                as i64
        };
        let seen = sum();
        let new: BTreeSet<_> = (0..500).map(|_| random.occurrence(1000 * round)).collect();
        let root = transaction.root_page("occurrence").unwrap();
        let tree = replace_rows(&transaction, &new, &GameSet::default(), &model, 2);
        model.occurrences.extend(&new);
        assert_eq!(sum(), seen);
        transaction.finish(vec![(root, tree)]).unwrap();
        BulkLoader::resume(&database).unwrap().finish().unwrap();
        assert_eq!(sum(), seen);
        // While a reader uses an older state, its pages must not be overwritten.
        let added = database.end_adding();
        assert!(added.is_ok());
        database.begin_adding(1 << 20).unwrap();
        assert!(PageTransaction::begin(&database).unwrap().is_none());
        assert_eq!(sum(), seen);
        reader.execute_batch("COMMIT").unwrap();
        drop(reader);
        database.end_adding().unwrap();
        drop(database);
        assert!(Model::read(&path) == model);
        assert_sound(&path);
    }
}

/// A failed statement can end the transaction while pages are still being written. Then another connection may commit
/// changes on free pages, and pages written later must not overwrite them.
#[test]
fn commits_of_others_are_not_overwritten() {
    let mut random = Random(11);
    let directory = TempDir::new().unwrap();
    let (path, model) = database(&directory, 1024, 5000, &mut random);
    // Consecutive free pages.
    let maker = open(&path);
    maker
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(2000000)); DROP TABLE t")
        .unwrap();
    drop(maker);
    let database = Database::open(&path).unwrap();
    database.begin_adding(1 << 20).unwrap();
    let mut transaction = PageTransaction::begin(&database).unwrap().expect("SQLite has the table of pages");
    let root = transaction.root_page("occurrence").unwrap();
    let page_size = transaction.file().page_size();
    let bytes = Tree::read(transaction.file(), root).unwrap().bytes(0, page_size);
    let max_pages = Tree::max_pages_for(bytes, page_size, LONGEST, 3);
    transaction.publish(Vec::new(), max_pages).unwrap();
    let repeated = "INSERT INTO setting VALUES ('a', 1); INSERT OR ROLLBACK INTO setting VALUES ('a', 2)";
    assert!(database.connection().execute_batch(repeated).is_err());
    assert!(database.connection().is_autocommit());
    let other = open(&path);
    other.busy_timeout(Duration::ZERO).unwrap();
    other.execute_batch("INSERT INTO setting VALUES ('other', zeroblob(1500000))").unwrap();
    let checkpoint = |connection: &Connection| -> (bool, i64, i64) {
        let mode = "PRAGMA wal_checkpoint(PASSIVE)";
        connection.query_row(mode, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    };
    let (_, pages, written_back) = checkpoint(&other);
    assert!(pages > 1000 && written_back == 0, "{written_back} of {pages}");
    drop(replace_rows(&transaction, &BTreeSet::new(), &GameSet::default(), &model, 3));
    drop(transaction);
    let (_, pages, written_back) = checkpoint(&other);
    assert_eq!(pages, written_back);
    drop((other, database));
    assert_sound(&path);
    assert_eq!(Model::read(&path), model);
    let blob = "SELECT value = zeroblob(1500000) FROM setting WHERE name = 'other'";
    assert!(open(&path).query_row(blob, [], |row| row.get::<_, bool>(0)).unwrap());
}

#[test]
fn hidden_indexes_are_restored() {
    let mut random = Random(13);
    let directory = TempDir::new().unwrap();
    let (path, _) = database(&directory, 4096, 100, &mut random);
    let schema = |connection: &Connection| -> Vec<String> {
        let mut query = connection
            .prepare("SELECT rowid || name || rootpage || ifnull(sql, '') FROM sqlite_schema")
            .unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let before = schema(&open(&path));
    let insert = |connection: &Connection, game: u32| {
        let insert = "INSERT INTO game (game_id, source_id, byte_offset, byte_length, eco, result, ply_count, status, moves_hash,
                      import_id) VALUES (?1, 1, 0, 0, 'B' || ?1, '*', 0, 'ok', ?1, 1)";
        connection.execute(insert, [game]).unwrap();
    };
    let indexed = |connection: &Connection| -> u32 {
        let count = "SELECT count(*) FROM game INDEXED BY game_eco WHERE eco >= 'B'";
        connection.query_row(count, [], |row| row.get(0)).unwrap_or(u32::MAX)
    };
    let names = ["game_eco", "game_moves_hash"];
    let database = Database::open(&path).unwrap();
    database.begin_adding(1 << 20).unwrap();
    let connection = database.connection();
    // In the three rounds, the loader is dropped, finished too early, and finished correctly.
    for round in 1..=3 {
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut loader = BulkLoader::resume(&database).unwrap();
        insert(connection, 10 * round);
        loader.hide_indexes(&names).unwrap();
        assert_eq!(indexed(connection), u32::MAX, "a hidden index cannot be used");
        insert(connection, 10 * round + 1);
        match round {
            1 => drop(loader),
            2 => assert!(loader.finish().is_err()),
            _ => {
                loader.restore_indexes().unwrap();
                assert_eq!(indexed(connection), 3, "the restored index lacks the rows added meanwhile");
                names.iter().for_each(|name| loader.rebuild_index(name).unwrap());
                loader.finish().unwrap();
            }
        }
        let games = u32::from(round == 3) * 2 + round - 1;
        assert_eq!(indexed(connection), games);
        assert_eq!(schema(connection), before);
        insert(connection, 10 * round + 2);
        assert_eq!(indexed(connection), games + 1);
    }
    database.end_adding().unwrap();
    drop(database);
    assert_sound(&path);
}

#[test]
fn a_file_of_another_layout_is_left_to_sqlite() {
    for layout in ["PRAGMA auto_vacuum = FULL", "PRAGMA page_size = 512", "PRAGMA encoding = 'UTF-16'"] {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("games.db");
        let mut connection = open(&path);
        connection.execute_batch(layout).unwrap();
        migrate(&mut connection, &path).unwrap();
        drop(connection);
        let database = Database::open(&path).unwrap();
        database.begin_adding(1 << 20).unwrap();
        assert!(PageTransaction::begin(&database).unwrap().is_none());
        assert!(database.connection().is_autocommit());
    }
}
