//! Rows of `game_position` read from pages equal those that SQLite reads.

use pgndex::board::{MoveCode, PositionKey};
use pgndex::store::pages::{PageFile, PageNumber, PositionReader, PositionTrees, Tree};
use pgndex::store::row::{GameId, Level, Ply};
use rusqlite::{Connection, params};
use tempfile::TempDir;

/// Continues on an overflow page.
const LONG: &str = "7, printf('%.9000c', 'x')";

#[test]
fn rows_read_from_pages_agree_with_sqlite() {
    for (page_size, games) in [(512, 300_u32), (1024, 40), (8192, 800), (4096, 0)] {
        let directory = TempDir::new().expect("a directory");
        let path = directory.path().join("positions.db");
        let connection = Connection::open(&path).expect("a database");
        connection
            .execute_batch(&format!(
                "PRAGMA page_size = {page_size};
                 CREATE TABLE game_position (game_id INTEGER, ply INTEGER, key INTEGER, halfmove_clock INTEGER, move_code,
                     fen, PRIMARY KEY (game_id, ply)) WITHOUT ROWID;
                 BEGIN"
            ))
            .expect("a table");
        let mut insert = connection
            .prepare("INSERT INTO game_position VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
            .expect("a statement");
        let plies = |game: u32| game % 7 * 5;
        let code = |game: u32, ply: u32| (ply < plies(game)).then_some(game.wrapping_mul(0x9e37_79b9) ^ ply);
        for game in (1..=games).map(|game| 3 * game) {
            for ply in 0..=plies(game) {
                let fen = format!("{game}/{ply} w - -");
                let key = i64::from(game).wrapping_mul(-0x61c8_8646_80b5_83eb);
                insert.execute(params![game, ply, key, ply % 50, code(game, ply), fen]).expect("a row");
            }
        }
        drop(insert);
        // Rows with unexpected values.
        let odd = [(1, "7, NULL"), (2, "7, 'x'"), (4, "0.5, 'x'"), (5, "-1, 'x'"), (7, LONG)];
        for (game, values) in odd {
            connection
                .execute_batch(&format!("INSERT INTO game_position VALUES ({game}, 0, 1, 0, {values})"))
                .expect("a row");
        }
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'game_position'";
        let root = connection.query_row(root, [], |row| row.get(0).map(PageNumber)).expect("a root page");
        connection.execute_batch("COMMIT").expect("written");
        drop(connection);
        let file = PageFile::open(&path).expect("pages");
        let occurrences = Tree::read(&file, root).expect("a tree");
        let trees = PositionTrees { file: &file, positions: root, occurrences: &occurrences, levels: &[] };
        let mut reader = PositionReader::new(trees);
        let mut read = |game: u32, ply: u32| {
            let row = reader
                .played_at(GameId(game), Ply(ply), |fen, code| (fen.to_owned(), code.map(MoveCode::bits)));
            row.map_err(|error| error.to_string())
        };
        // In ascending order, in descending order, and in mixed order.
        let forwards = 1..=3 * games + 3;
        let orders: [Vec<u32>; 3] = [
            forwards.clone().collect(),
            forwards.clone().rev().collect(),
            forwards.map(|game| game * 7919 % (3 * games + 4)).collect(),
        ];
        for game in orders.into_iter().flatten() {
            for ply in 0..36 {
                let exists = game % 3 == 0 && (3..=3 * games).contains(&game) && ply <= plies(game);
                let expected = exists.then(|| (format!("{game}/{ply} w - -"), code(game, ply)));
                match odd.iter().find(|(other, _)| (*other, 0) == (game, ply)) {
                    Some((2, _)) => assert_eq!(read(game, ply), Ok(Some(("x".to_owned(), Some(7))))),
                    Some((_, values)) => assert!(read(game, ply).is_err(), "{values}"),
                    // The search for a neighbouring row may meet an incomplete row, which cannot be compared.
                    None if (4..12).contains(&game) && read(game, ply).is_err() => {}
                    None => assert_eq!(read(game, ply), Ok(expected), "{page_size} {game} {ply}"),
                }
            }
        }
    }
}

#[test]
fn occurrences_read_from_pages_agree_with_sqlite() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("occurrences.db");
    let connection = Connection::open(&path).expect("a database");
    connection
        .execute_batch(
            "PRAGMA page_size = 512;
             CREATE TABLE occurrence (level INTEGER NOT NULL, key INTEGER NOT NULL, game_id INTEGER NOT NULL, ply INTEGER NOT NULL,
                 PRIMARY KEY (level, key, game_id, ply)) WITHOUT ROWID;
             BEGIN",
        )
        .expect("a table");
    let levels = [1, 200, 260];
    let mut insert =
        connection.prepare("INSERT INTO occurrence VALUES (?1, ?2, ?3, ?4)").expect("a statement");
    let key = |number: i64| (number - 20).wrapping_mul(0x1fff_ffff_ffff_ff41);
    for game in 1..300_i64 {
        let level = levels.into_iter().rfind(|&level| level <= game).expect("a level");
        for ply in 0..30 {
            // Some keys occur in all games, some repeatedly, some in few games.
            let number = if ply < 3 { ply } else { (game * 31 + ply * ply * 7) % (40 + game % 9) };
            insert.execute([level, key(number), game, ply]).expect("a row");
        }
    }
    drop(insert);
    connection.execute_batch("COMMIT").expect("written");
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'occurrence'";
    let root = connection.query_row(root, [], |row| row.get(0).map(PageNumber)).expect("a root page");
    let expected = |key: i64| -> Vec<(u32, u32)> {
        let sql = "SELECT game_id, ply FROM occurrence WHERE key = ?1 ORDER BY 1, 2";
        let mut query = connection.prepare(sql).expect("a query");
        let rows = query.query_map([key], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        rows.map(Result::unwrap).collect()
    };
    let file = PageFile::open(&path).expect("pages");
    let occurrences = Tree::read(&file, root).expect("a tree");
    let levels = levels.map(|level| Level(u32::try_from(level).expect("a level")));
    let trees = PositionTrees { file: &file, positions: root, occurrences: &occurrences, levels: &levels };
    let reader = PositionReader::new(trees);
    let mut found_any = 0;
    for number in -3..60 {
        let mut found = Vec::new();
        let visited = reader
            .for_each_occurrence(PositionKey::from_i64(key(number)), |game, ply| found.push((game.0, ply.0)));
        visited.expect("pages are sound");
        found_any += usize::from(!found.is_empty());
        assert_eq!(found, expected(key(number)), "{number}");
    }
    assert!(found_any > 40);
}
