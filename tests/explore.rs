//! What was played from a position: the same from the tables for much visited positions, counted game by game, and by plain
//! SQL over the base tables.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use pgndex::board::{GameResult, MoveCode, Position, PositionKey};
use pgndex::index::{IndexOptions, Progress, index};
use pgndex::store::{Database, Exploration, Hit, ListLengths, ResultCounts};
use rusqlite::{Connection, params};
use tempfile::TempDir;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const START_KEY: PositionKey = PositionKey(0x463b_9618_1691_fc9c);

/// A database, open for writing.
struct Sample {
    database: Database,
    _directory: TempDir,
}

impl Sample {
    fn of(pgn: impl AsRef<[u8]>) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (input, target) = (directory.path().join("in.pgn"), directory.path().join("out.db"));
        std::fs::write(&input, pgn).expect("written");
        index(&target, &[input], &IndexOptions::default(), &Progress::default()).expect("indexed");
        let database = Database::open(&target).expect("a database");
        Self { database, _directory: directory }
    }

    fn sql(&self) -> &Connection {
        self.database.connection()
    }

    fn run(&self, sql: &str) {
        self.sql().execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    fn empty_tables(&self) {
        self.run("DELETE FROM continuation; DELETE FROM visited_position;");
    }

    /// Fills the tables for much visited positions.
    fn fill_tables(&self, threshold: u32) {
        self.empty_tables();
        let visited = "SELECT key FROM position_game GROUP BY key HAVING count(DISTINCT game_id) >= ?1";
        let mut visited = self.sql().prepare(visited).unwrap();
        let keys = visited.query_map([threshold], |row| row.get(0)).unwrap();
        let keys: Vec<i64> = keys.collect::<rusqlite::Result<_>>().unwrap();
        for key in keys {
            let fens =
                "SELECT DISTINCT p.fen FROM position_game AS o JOIN game_position AS p USING (game_id, ply)
                        WHERE o.key = ?1";
            let fen: String = self.sql().query_row(fens, [key], |row| row.get(0)).unwrap();
            self.fill(key, &fen);
        }
    }

    fn fill(&self, key: i64, fen: &str) {
        self.last_visits(key, fen);
        self.sql()
            .execute(
                "INSERT INTO visited_position
                 SELECT ?1, ?2, count(*) FILTER (WHERE result <> '*'), total(result = '1-0'), total(result = '1/2-1/2'),
                     total(result = '0-1'), total(result = '*'), total(iif(result <> '*', elo_sum, 0)),
                     count(iif(result <> '*', elo_sum, NULL)),
                     (SELECT json_group_array(game_id) FROM top), (SELECT json_group_array(game_id) FROM recent)
                 FROM last_visit",
                params![key, fen],
            )
            .unwrap();
        self.sql()
            .execute(
                "INSERT INTO continuation
                 SELECT ?1, move_code, count(*), total(result = '1-0'), total(result = '1/2-1/2'), total(result = '0-1'),
                     total(elo_sum), count(elo_sum), min(year), max(year)
                 FROM last_visit WHERE result <> '*' AND move_code IS NOT NULL GROUP BY move_code",
                [key],
            )
            .unwrap();
    }

    /// Makes the temporary table `last_visit`: each game's last visit to a position.
    fn last_visits(&self, key: i64, fen: &str) {
        self.run(
            "CREATE TEMP TABLE IF NOT EXISTS last_visit
                 (game_id, ply, move_code, result, elo_sum, year INTEGER, day TEXT);
             DELETE FROM last_visit;
             CREATE TEMP VIEW IF NOT EXISTS top AS SELECT * FROM last_visit
                 WHERE result <> '*' AND elo_sum IS NOT NULL ORDER BY elo_sum DESC, game_id LIMIT 15;
             CREATE TEMP VIEW IF NOT EXISTS recent AS SELECT * FROM last_visit
                 WHERE result <> '*' ORDER BY day DESC, game_id DESC LIMIT 15;",
        );
        let insert = "INSERT INTO last_visit
            SELECT game_id, visit.ply, move_code, result, white_elo + black_elo,
                iif(date GLOB '[0-9][0-9][0-9][0-9].*', nullif(substr(date, 1, 4), '0000'), NULL),
                iif(date GLOB '[0-9][0-9][0-9][0-9].*', substr(date, 1, 4), '0000')
                    || replace(ifnull(substr(date, 5), '.??.??'), '?', '0')
            FROM (
                SELECT p.game_id, max(p.ply) AS ply FROM position_game AS o JOIN game_position AS p USING (game_id, ply)
                WHERE o.key = ?1 AND p.fen = ?2 GROUP BY p.game_id
            ) AS visit
            JOIN game_position USING (game_id, ply) JOIN game USING (game_id)";
        self.sql().execute(insert, params![key, fen]).unwrap();
    }

    /// What SQL makes of a position, and [`Database::explore`], as lines of text.
    fn assert_right(&self, key: i64, fen: &str, what: &str) {
        let found = self.database.explore(PositionKey::from_i64(key), fen, ListLengths::MAX).unwrap();
        assert_eq!(told(&found), self.expected(key, fen), "{what}: {fen}");
        let row = |query: &str, game: u32| -> (String, Option<u32>) {
            self.sql().query_row(query, [game], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
        };
        for continuation in &found.continuations {
            let Some(only) = &continuation.only_game else {
                assert_ne!(continuation.results.games(), 1, "{what}: {fen}");
                continue;
            };
            let (result, played) =
                row("SELECT result, move_code FROM last_visit WHERE game_id = ?1", only.game.game.0);
            assert_eq!(only.next, Some(continuation.code));
            assert_eq!((only.game.result.as_str(), only.next.map(|code| code.bits())), (&*result, played));
        }
    }

    fn expected(&self, key: i64, fen: &str) -> Vec<String> {
        self.last_visits(key, fen);
        let queries = [
            "SELECT 'all', total(result = '1-0'), total(result = '1/2-1/2'), total(result = '0-1'), total(result = '*'),
                 total(iif(result <> '*', elo_sum, 0)), count(iif(result <> '*', elo_sum, NULL)) FROM last_visit",
            "SELECT move_code, total(result = '1-0'), total(result = '1/2-1/2'), total(result = '0-1'), total(elo_sum),
                 count(elo_sum), min(year), max(year)
             FROM last_visit WHERE result <> '*' AND move_code IS NOT NULL
             GROUP BY move_code ORDER BY count(*) DESC, move_code",
            "SELECT 'top', game_id, ply, move_code FROM top",
            "SELECT 'recent', game_id, ply, move_code FROM recent",
        ];
        queries.into_iter().flat_map(|query| lines(self.sql(), query)).collect()
    }

    /// `count` positions: those of games and plies drawn at random, early plies more often than late ones.
    fn some_positions(&self, count: u32) -> Vec<(i64, String)> {
        let rows: u32 = self.sql().query_row("SELECT max(game_id) FROM game", [], |row| row.get(0)).unwrap();
        let walk =
            "SELECT key, fen FROM game_position WHERE game_id = ?1 AND ply <= ?2 ORDER BY ply DESC LIMIT 1";
        let mut walk = self.sql().prepare(walk).unwrap();
        // A linear congruential generator of Numerical Recipes: any will do.
        let mut state = 1_u32;
        let mut random = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u32::try_from((u64::from(state) * u64::from(most)) >> 32).unwrap()
        };
        let (mut positions, mut seen) = (vec![], HashSet::new());
        while positions.len() < count as usize {
            let ply = random(24).pow(2) / 3;
            match walk.query_row([1 + random(rows), ply], |row| Ok((row.get(0)?, row.get(1)?))) {
                Ok((key, fen)) if seen.insert(key) => positions.push((key, fen)),
                Ok(_) => {}
                Err(rusqlite::Error::QueryReturnedNoRows) => {}
                Err(error) => panic!("{error}"),
            }
        }
        positions
    }
}

/// The rows of a query, its columns joined by blanks; NULL is `-`.
fn lines(connection: &Connection, query: &str) -> Vec<String> {
    let mut statement = connection.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let texts = (0..columns).map(|column| {
            use rusqlite::types::Value;
            Ok(match row.get(column)? {
                Value::Null => "-".to_owned(),
                Value::Integer(number) => number.to_string(),
                Value::Real(number) => number.to_string(),
                Value::Text(text) => text,
                Value::Blob(_) => panic!("{query}: a blob"),
            })
        });
        Ok(texts.collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
    });
    rows.and_then(Iterator::collect).unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// An answer in the form of [`Sample::expected`].
fn told(exploration: &Exploration) -> Vec<String> {
    let optional = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let ResultCounts { white_wins, draws, black_wins, elo_sum, elo_games } = exploration.results;
    let unfinished = exploration.unfinished;
    let mut lines = vec![format!("all {white_wins} {draws} {black_wins} {unfinished} {elo_sum} {elo_games}")];
    lines.extend(exploration.continuations.iter().map(|continuation| {
        let ResultCounts { white_wins, draws, black_wins, elo_sum, elo_games } = continuation.results;
        let code = continuation.code.bits();
        let years =
            [continuation.first_year, continuation.last_year].map(|year| optional(year.map(u32::from)));
        format!("{code} {white_wins} {draws} {black_wins} {elo_sum} {elo_games} {}", years.join(" "))
    }));
    let list = |name, hits: &[Hit]| -> Vec<String> {
        let line = |hit: &Hit| {
            format!("{name} {} {} {}", hit.game.game.0, hit.ply.0, optional(hit.next.map(|code| code.bits())))
        };
        hits.iter().map(line).collect()
    };
    lines.extend(list("top", &exploration.top_games));
    lines.extend(list("recent", &exploration.recent_games));
    lines
}

/// Games with equal ratings, equal and half-known dates, returns to a position, and no result.
fn varied_games() -> String {
    let famous = include_str!("../examples/famous-games.pgn");
    let synthetic = include_str!("../examples/synthetic.pgn");
    let mut text = format!("{famous}\n{synthetic}\n");
    for (number, game) in synthetic.split("\n\n[Event ").enumerate() {
        let mut game = if number == 0 { game.to_owned() } else { format!("[Event {game}") };
        let lines: Vec<_> = game.lines().map(str::to_owned).collect();
        let replaced = |name: &str, value: &str| {
            let is_tag = |line: &String| line.starts_with(&format!("[{name} "));
            let line =
                |line: &String| if is_tag(line) { format!("[{name} \"{value}\"]") } else { line.clone() };
            lines.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        match number % 7 {
            0 => game = replaced("Date", "????.??.??"),
            1 => {
                game = replaced("Date", ["2014.??.??", "201?.??.??", "2014.06.??", "0000.01.01"][number % 4])
            }
            2 => game = replaced("WhiteElo", "?"),
            3 => game = replaced("BlackElo", ["2000", "1000"][number % 2]),
            4 => game = replaced("Date", "2014.06.26"),
            5 => game = ["1-0", "0-1", "1/2-1/2"].iter().fold(game, |game, result| game.replace(result, "*")),
            _ => {
                let moves = game.rfind("\n1. ").expect("moves");
                game.insert_str(moves + 1, "1. Nf3 Nf6 2. Ng1 Ng8 ");
            }
        }
        text += &game;
        text += "\n\n";
    }
    text
}

#[test]
fn it_is_what_plain_sql_says() {
    let sample = Sample::of(varied_games());
    let positions = sample.some_positions(1000);
    for (key, fen) in &positions {
        sample.assert_right(*key, fen, "as indexed");
    }
    sample.empty_tables();
    for (key, fen) in &positions {
        sample.assert_right(*key, fen, "counted");
    }
    sample.fill_tables(8);
    let visited = lines(sample.sql(), "SELECT count(*) FROM visited_position");
    assert!((100..1000).contains(&visited[0].parse().unwrap()), "{visited:?}");
    let mut alone = 0;
    for (key, fen) in &positions {
        sample.assert_right(*key, fen, "from tables");
        let found =
            sample.database.explore(PositionKey::from_i64(*key), fen, ListLengths { top: 0, recent: 0 });
        alone += u32::from(found.unwrap().results.games() <= 1);
    }
    assert!((10..900).contains(&alone), "{alone} of the positions arose once");
}

#[test]
fn it_is_what_plain_sql_says_of_a_corpus() {
    let Some(text) = corpus("otb-40k") else { return };
    let sample = Sample::of(text);
    let positions = sample.some_positions(1000);
    for (key, fen) in &positions {
        sample.assert_right(*key, fen, "as indexed");
    }
    sample.run("BEGIN");
    sample.empty_tables();
    for (key, fen) in positions.iter().step_by(10) {
        sample.assert_right(*key, fen, "counted");
    }
    sample.run("ROLLBACK");
}

/// The text of a corpus in `../shared`, or where `PGNDEX_SHARED` says; `None`, and a word why, if it is not there.
fn corpus(name: &str) -> Option<Vec<u8>> {
    let shared = std::env::var_os("PGNDEX_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = shared.join(format!("corpora/{name}.pgn.zst"));
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    let Ok(unpacked) = Command::new("zstd").args(["-dc", "--long=27"]).arg(&path).output() else {
        println!("skipped: there is no zstd to unpack {}", path.display());
        return None;
    };
    assert!(unpacked.status.success(), "{}", String::from_utf8_lossy(&unpacked.stderr));
    Some(unpacked.stdout)
}

/// Games that return to a position, end in it, or have no result.
const RETURNS: &str = r#"[Result "1-0"]
[Date "2020.??.??"]

1. Nf3 Nf6 2. Ng1 Ng8 3. e4 1-0

[Result "1/2-1/2"]
[Date "2020.01.02"]

1. Nc3 Nc6 2. Nb1 Nb8 1/2-1/2

[Result "*"]
[Date "2021.01.01"]
[WhiteElo "2900"]
[BlackElo "2900"]

1. d4 *

[Result "0-1"]
[WhiteElo "2500"]
[BlackElo "2401"]

1. e4 0-1

[Result "1-0"]
[WhiteElo "2300"]
[BlackElo "2601"]
[Date "199?.01.01"]

1. Nf3 1-0

[Result "1/2-1/2"]
[Date "2020.01.02"]
[WhiteElo "2600"]

1. Nf3 1/2-1/2
"#;

/// Answers of one position, counted game by game and from the tables.
fn both_ways(sample: &Sample, key: PositionKey, fen: &str, lists: ListLengths) -> Exploration {
    sample.empty_tables();
    let counted = sample.database.explore(key, fen, lists).unwrap();
    sample.fill(START_KEY.as_i64(), START);
    let told = sample.database.explore(key, fen, lists).unwrap();
    assert_eq!(told, counted);
    told
}

/// Numbers of games, plies and moves.
fn visits(hits: &[Hit]) -> Vec<(u32, u32, String)> {
    let played = |code: MoveCode| Position::start().san(code);
    let visit = |hit: &Hit| (hit.game.game.0, hit.ply.0, hit.next.map_or_else(String::new, played));
    hits.iter().map(visit).collect()
}

fn visit(game: u32, ply: u32, played: &str) -> (u32, u32, String) {
    (game, ply, played.to_owned())
}

#[test]
fn a_game_counts_once_by_its_last_visit_and_not_without_a_result() {
    let sample = Sample::of(RETURNS);
    let found = both_ways(&sample, START_KEY, START, ListLengths::MAX);
    let results = ResultCounts { white_wins: 2, draws: 2, black_wins: 1, elo_sum: 9802, elo_games: 2 };
    assert_eq!((found.results, found.unfinished), (results, 1));
    assert_eq!((results.games(), results.mean_elo()), (5, Some(2451)));
    let moves: Vec<_> = found
        .continuations
        .iter()
        .map(|found| {
            (Position::start().san(found.code), found.results.games(), found.first_year, found.last_year)
        })
        .collect();
    let (knight, pawn) =
        (("Nf3".to_owned(), 2, Some(2020), Some(2020)), ("e4".to_owned(), 2, Some(2020), Some(2020)));
    assert_eq!(moves, [knight, pawn]);
    assert_eq!(visits(&found.top_games), [visit(4, 0, "e4"), visit(5, 0, "Nf3")]);
    assert_eq!(
        visits(&found.recent_games),
        [visit(6, 0, "Nf3"), visit(2, 4, ""), visit(1, 4, "e4"), visit(5, 0, "Nf3"), visit(4, 0, "e4")]
    );
    let found = both_ways(&sample, START_KEY, START, ListLengths { top: 1, recent: 0 });
    assert_eq!((visits(&found.top_games), found.recent_games), (vec![visit(4, 0, "e4")], vec![]));
}

#[test]
fn positions_that_share_a_key_are_kept_apart() {
    const OTHER: &str = "8/8/8/4k3/8/4K3/4P3/8 w - -";
    let sample = Sample::of(RETURNS);
    sample.run(&format!("UPDATE game_position SET fen = '{OTHER}' WHERE game_id IN (2, 4) AND ply = 0"));
    let found = both_ways(&sample, START_KEY, START, ListLengths::MAX);
    assert_eq!((found.results.games(), found.results.black_wins), (4, 0));
    let [knight, pawn] = &found.continuations[..] else { panic!("{found:?}") };
    assert_eq!((knight.results.games(), &knight.only_game), (2, &None));
    let only = pawn.only_game.as_ref().expect("one game is left");
    assert_eq!((only.game.game.0, only.game.result, only.ply.0), (1, GameResult::White, 4));

    let found = both_ways(&sample, START_KEY, OTHER, ListLengths::MAX);
    assert_eq!((found.results.games(), found.results.black_wins, found.results.draws), (2, 1, 1));
    assert_eq!(found.continuations.len(), 2);
}

#[test]
fn the_only_game_with_a_move_is_not_one_that_played_it_on_an_earlier_visit() {
    let sample = Sample::of(
        "1. Nf3 Nf6 2. Ng1 Ng8 3. e4 1-0\n\n1. Nf3 d5 2. e4 *\n\n1. e4 *\n\n1. e4 0-1\n\n1. Nf3 0-1\n",
    );
    let found = both_ways(&sample, START_KEY, START, ListLengths::MAX);
    let only: Vec<_> = found
        .continuations
        .iter()
        .map(|found| (found.results.games(), found.only_game.as_ref().map(|hit| hit.game.game.0)))
        .collect();
    assert_eq!(only, [(2, None), (1, Some(5))]);
}

#[test]
fn a_position_that_no_game_reached_has_an_empty_answer() {
    let sample = Sample::of(RETURNS);
    let found = both_ways(&sample, PositionKey(1), "8/8/8/8/8/8/8/8 w - -", ListLengths::MAX);
    assert_eq!(found, Exploration::default());
    assert_eq!(found.results.mean_elo(), None);
}
