//! The moves played from a position: the same from the tables for much visited positions, by counting games, and by
//! plain SQL over the base tables.

use std::collections::HashSet;

use pgndex::board::{Color, GameResult, MoveCode, Position, PositionKey};
use pgndex::index::{Duplicates, IndexOptions, Progress, index};
use pgndex::store::row::{RatingSum, ResultCounts};
use pgndex::store::{Database, GameFilter, Hit, ListLengths, PositionCounts, Selection};
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::needs::{corpus, part_of_corpus};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const START_KEY: PositionKey = PositionKey(0x463b_9618_1691_fc9c);

/// A database that is open for writing.
struct Sample {
    database: Database,
    _directory: TempDir,
}

impl Sample {
    /// The database of some games, with table rows for positions that at least `threshold` games reached.
    fn of(pgn: impl AsRef<[u8]>, threshold: u32) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (input, target) = (directory.path().join("in.pgn"), directory.path().join("out.db"));
        std::fs::write(&input, pgn).expect("written");
        let duplicates = Duplicates::Keep;
        let options =
            IndexOptions { continuation_threshold: threshold, duplicates, ..IndexOptions::default() };
        index(&target, &[input], &options, &Progress::default()).expect("indexed");
        let database = Database::open(&target).expect("a database");
        Self { database, _directory: directory }
    }

    /// The same games in several files, one of which has grown between two runs.
    fn of_files(pgn: &[u8], threshold: u32) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| directory.path().join(name);
        let target = path("out.db");
        let ends: Vec<usize> =
            memchr::memmem::find_iter(pgn, "\n\n[Event ").map(|at| at + 2).chain([pgn.len()]).collect();
        let [one, two, three] = [1, 2, 3].map(|quarter| ends[ends.len() * quarter / 4]);
        let options = IndexOptions {
            continuation_threshold: threshold,
            duplicates: Duplicates::Keep,
            ..IndexOptions::default()
        };
        for files in [
            [("in.pgn", &pgn[..one]), ("a.pgn", &pgn[one..two])],
            [("in.pgn", &pgn[two..three]), ("b.pgn", &pgn[three..])],
        ] {
            let inputs = files.map(|(name, text)| {
                let before = std::fs::read(path(name)).unwrap_or_default();
                std::fs::write(path(name), [&before, text].concat()).expect("written");
                path(name)
            });
            index(&target, &inputs, &options, &Progress::default()).expect("indexed");
        }
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
        self.run("DELETE FROM visit_set; DELETE FROM level_continuation; DELETE FROM level_position;");
    }

    /// Fills the temporary table `last_visit` with one visit to the position for each game: the visit by which the game
    /// counts. Only games that match `condition`, which is SQL on the view `games`, have a row.
    fn last_visits(&self, key: i64, fen: &str, condition: &str) {
        self.run(
            "CREATE TEMP TABLE IF NOT EXISTS last_visit
                 (game_id, ply, move_code, result, white_elo, black_elo, year INTEGER, day TEXT);
             DELETE FROM last_visit;
             CREATE TEMP VIEW IF NOT EXISTS top AS SELECT * FROM last_visit
                 WHERE result <> '*' AND white_elo + black_elo IS NOT NULL ORDER BY white_elo + black_elo DESC, game_id LIMIT 15;
             CREATE TEMP VIEW IF NOT EXISTS recent AS SELECT * FROM last_visit
                 WHERE result <> '*' ORDER BY day DESC, game_id DESC LIMIT 15;",
        );
        let insert = format!(
            "INSERT INTO last_visit
            SELECT game_id, visit.ply, move_code, result, white_elo, black_elo,
                iif(date GLOB '[0-9][0-9][0-9][0-9].*', nullif(substr(date, 1, 4), '0000'), NULL),
                iif(date GLOB '[0-9][0-9][0-9][0-9].*', substr(date, 1, 4), '0000')
                    || replace(ifnull(substr(date, 5), '.??.??'), '?', '0')
            FROM (
                SELECT p.game_id, ifnull(max(p.ply) FILTER (WHERE p.move_code IS NOT NULL), max(p.ply)) AS ply
                FROM position_game AS o JOIN game_position AS p USING (game_id, ply)
                WHERE o.key = ?1 AND p.fen = ?2 GROUP BY p.game_id
            ) AS visit
            JOIN game_position USING (game_id, ply) JOIN game USING (game_id)
            WHERE game_id IN (SELECT game_id FROM games WHERE {condition})"
        );
        self.sql().execute(&insert, params![key, fen]).unwrap();
    }

    fn explore(&self, key: i64, fen: &str) -> PositionCounts {
        self.explore_some(key, fen, &Selection::default())
    }

    fn explore_some(&self, key: i64, fen: &str, selection: &Selection) -> PositionCounts {
        self.database.explore(PositionKey::from_i64(key), fen, selection, ListLengths::MAX.into()).unwrap()
    }

    /// Asserts that answers from the tables agree with SQL and with counting the games. Returns how many answers came
    /// from the tables.
    fn assert_right(&self, positions: &[(i64, String)], threshold: u32) -> usize {
        let visited = "SELECT count(*) FROM visited_position WHERE key = ?1 AND fen = ?2";
        let mut visited = self.sql().prepare(visited).unwrap();
        let mut from_tables = 0;
        let mut answers = vec![];
        for (key, fen) in positions {
            let found = self.explore(*key, fen);
            assert_eq!(formatted(&found), self.expected(*key, fen, "true"), "{fen}");
            let is_visited: bool = visited.query_row(params![key, fen], |row| row.get(0)).unwrap();
            assert_eq!(is_visited, found.results.games() + found.unfinished >= threshold.into(), "{fen}");
            from_tables += usize::from(is_visited);
            self.assert_only_games(&found);
            answers.push(found);
        }
        self.run("BEGIN");
        self.empty_tables();
        for ((key, fen), found) in positions.iter().zip(answers) {
            assert_eq!(self.explore(*key, fen), found, "{fen}");
        }
        self.run("ROLLBACK");
        from_tables
    }

    /// Asserts that a move which only one game played names this game. [`Sample::expected`] must be called before, for
    /// the same position.
    fn assert_only_games(&self, found: &PositionCounts) {
        for continuation in &found.continuations {
            let Some(only) = &continuation.only_game else {
                assert_ne!(continuation.results.games(), 1);
                continue;
            };
            let code = continuation.code.bits();
            let games =
                format!("SELECT game_id, ply FROM last_visit WHERE result <> '*' AND move_code = {code}");
            assert_eq!(lines(self.sql(), &games), [format!("{} {}", only.game.game.0, only.ply.0)]);
            assert_eq!(only.next, Some(continuation.code));
        }
    }

    fn expected(&self, key: i64, fen: &str, condition: &str) -> Vec<String> {
        self.last_visits(key, fen, condition);
        let queries = [
            "SELECT 'all', total(result = '1-0'), total(result = '1/2-1/2'), total(result = '0-1'), total(result = '*'),
                 total(iif(result <> '*', white_elo, 0)), count(iif(result <> '*', white_elo, NULL)),
                 total(iif(result <> '*', black_elo, 0)), count(iif(result <> '*', black_elo, NULL)) FROM last_visit",
            "SELECT move_code, total(result = '1-0'), total(result = '1/2-1/2'), total(result = '0-1'), total(white_elo),
                 count(white_elo), total(black_elo), count(black_elo), min(year), max(year)
             FROM last_visit WHERE result <> '*' AND move_code IS NOT NULL
             GROUP BY move_code ORDER BY count(*) DESC, move_code",
            "SELECT 'top', game_id, ply, move_code FROM top",
            "SELECT 'recent', game_id, ply, move_code FROM recent",
        ];
        queries.into_iter().flat_map(|query| lines(self.sql(), query)).collect()
    }

    /// `count` positions of random games and plies; early plies are more frequent than late ones.
    fn some_positions(&self, count: u32) -> Vec<(i64, String)> {
        let rows: u32 = self.sql().query_row("SELECT max(game_id) FROM game", [], |row| row.get(0)).unwrap();
        let walk =
            "SELECT key, fen FROM game_position WHERE game_id = ?1 AND ply <= ?2 ORDER BY ply DESC LIMIT 1";
        let mut walk = self.sql().prepare(walk).unwrap();
        let mut random = Random(1);
        let (mut positions, mut seen) = (vec![], HashSet::new());
        while positions.len() < count as usize {
            let ply = random.below(24).pow(2) / 3;
            match walk.query_row([1 + random.below(rows), ply], |row| Ok((row.get(0)?, row.get(1)?))) {
                Ok((key, fen)) if seen.insert(key) => positions.push((key, fen)),
                Ok(_) => {}
                Err(rusqlite::Error::QueryReturnedNoRows) => {}
                Err(error) => panic!("{error}"),
            }
        }
        positions
    }

    /// About `count` of the positions in the tables.
    fn some_visited(&self, count: usize) -> Vec<(i64, String)> {
        let mut all = self.sql().prepare("SELECT key, fen FROM visited_position ORDER BY key").unwrap();
        let all = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let all = all.collect::<rusqlite::Result<Vec<_>>>().unwrap();
        assert!(all.len() >= count, "{}", all.len());
        let step = all.len() / count;
        all.into_iter().step_by(step).collect()
    }
}

/// The rows of a query, with the columns joined by blanks; NULL is `-`.
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
fn formatted(exploration: &PositionCounts) -> Vec<String> {
    let optional = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let elos = |counts: &ResultCounts| {
        let [white, black] = [counts.white_elo, counts.black_elo];
        format!("{} {} {} {}", white.sum, white.games, black.sum, black.games)
    };
    let ResultCounts { white_wins, draws, black_wins, .. } = exploration.results;
    let unfinished = exploration.unfinished;
    let elos_of_all = elos(&exploration.results);
    let mut lines = vec![format!("all {white_wins} {draws} {black_wins} {unfinished} {elos_of_all}")];
    lines.extend(exploration.continuations.iter().map(|continuation| {
        let ResultCounts { white_wins, draws, black_wins, first_year, last_year, .. } = continuation.results;
        let elos = elos(&continuation.results);
        let code = continuation.code.bits();
        let years = [first_year, last_year].map(|year| optional(year.map(u32::from)));
        format!("{code} {white_wins} {draws} {black_wins} {elos} {}", years.join(" "))
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

/// Games with equal ratings, with equal and partly unknown dates, with repetitions, and without a result.
fn varied_games() -> String {
    let famous = include_str!("../../examples/famous-games.pgn");
    let synthetic = include_str!("../../examples/synthetic.pgn");
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
        if let Some(variant) = [Some("Standard"), None, Some("chess960"), None, Some("Chess960")][number % 5]
        {
            let second_tag = game.find("\n[").expect("two tags") + 1;
            game.insert_str(second_tag, &format!("[Variant \"{variant}\"]\n"));
        }
        text += &game;
        text += "\n\n";
    }
    text
}

#[test]
fn answers_agree_with_plain_sql() {
    let sample = Sample::of(varied_games(), 8);
    assert!(sample.assert_right(&sample.some_positions(500), 8) >= 15);
    let visited = sample.some_visited(100);
    assert_eq!(sample.assert_right(&visited, 8), visited.len());
}

/// Filters, and the same conditions in plain SQL.
fn filters() -> Vec<(GameFilter, String)> {
    let filter = GameFilter::default;
    let one = "=Player 145";
    let is_one = |column: &str| format!("{column} = 'Player 145'");
    vec![
        (GameFilter { white: Some(one.parse().unwrap()), ..filter() }, is_one("white")),
        (
            GameFilter { player: Some(one.parse().unwrap()), result: Some(GameResult::White), ..filter() },
            format!("({} OR {}) AND result = '1-0'", is_one("white"), is_one("black")),
        ),
        (
            GameFilter { elo_min: Some(2000), elo_max: Some(2400), ..filter() },
            "min(white_elo, black_elo) >= 2000 AND max(white_elo, black_elo) <= 2400".to_owned(),
        ),
        (
            GameFilter { since: Some("2014".parse().unwrap()), ..filter() },
            "date GLOB '201[4-9]*' OR date GLOB '202*'".to_owned(),
        ),
        (GameFilter { event: Some("nowhere".parse().unwrap()), ..filter() }, "false".to_owned()),
    ]
}

#[test]
fn answers_on_some_games_agree_with_plain_sql() {
    let sample = Sample::of(varied_games(), 8);
    let mut positions = sample.some_positions(30);
    positions.push((START_KEY.as_i64(), START.to_owned()));
    for (filter, condition) in filters() {
        let selection = sample.database.select(&filter).unwrap();
        let mut games = 0;
        for (key, fen) in &positions {
            let found = sample.explore_some(*key, fen, &selection);
            assert_eq!(formatted(&found), sample.expected(*key, fen, &condition), "{condition}: {fen}");
            sample.assert_only_games(&found);
            games = games.max(found.results.games());
        }
        assert_eq!(games > 0, condition != "false", "{condition}");
    }
}

/// Pseudo-random numbers, the same in each run.
struct Random(u32);

impl Random {
    /// A number less than `most`.
    fn below(&mut self, most: u32) -> u32 {
        // The linear congruential generator of Numerical Recipes; any would do.
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u32::try_from((u64::from(self.0) * u64::from(most)) >> 32).unwrap()
    }
}

impl Sample {
    /// A random filter with values from the games of the database, and the same conditions in plain SQL on the view
    /// `games`.
    fn random_filter(&self, random: &mut Random) -> (GameFilter, String) {
        let (mut filter, mut conditions) = (GameFilter::default(), vec![]);
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        for _ in 0..=random.below(3) {
            let game = 1 + random
                .below(self.sql().query_row("SELECT max(game_id) FROM game", [], |row| row.get(0)).unwrap());
            let of_game = |column: &str| -> Option<String> {
                let sql = format!("SELECT CAST({column} AS TEXT) FROM games WHERE game_id = ?1");
                self.sql().query_row(&sql, [game], |row| row.get(0)).unwrap()
            };
            let number = |column: &str| of_game(column).and_then(|text| text.parse::<u16>().ok());
            let exactly = |name: &str| Some(format!("={name}").parse().unwrap());
            match random.below(14) {
                0 => {
                    let Some(name) = of_game("white") else { continue };
                    filter.player = exactly(&name);
                    conditions.push(format!("({0} IN (white, black))", quoted(&name)));
                }
                1 => {
                    let Some(name) = of_game("black") else { continue };
                    filter.black = exactly(&name);
                    conditions.push(format!("black = {}", quoted(&name)));
                }
                2 => {
                    let Some(name) = of_game("event") else { continue };
                    filter.event = exactly(&name);
                    conditions.push(format!("event = {}", quoted(&name)));
                }
                3 => {
                    let Some(name) = of_game("site") else { continue };
                    filter.site = exactly(&name);
                    conditions.push(format!("site = {}", quoted(&name)));
                }
                4 => {
                    let Some(least) = number("white_elo") else { continue };
                    filter.elo_min = Some(least);
                    conditions.push(format!("white_elo >= {least} AND black_elo >= {least}"));
                }
                5 => {
                    let Some(most) = number("black_elo") else { continue };
                    filter.elo_max = Some(most);
                    conditions.push(format!("max(white_elo, black_elo) <= {most}"));
                }
                6 => {
                    let Some(Ok(since)) = of_game("date").map(|date| date[..7].parse()) else { continue };
                    conditions.push(format!(
                        "substr(date, 1, 4) NOT GLOB '*[?]*' AND substr(date, 1, 7) >= '{since}'"
                    ));
                    filter.since = Some(since);
                }
                7 => {
                    let Some(Ok(until)) = of_game("date").map(|date| date[..4].parse()) else { continue };
                    conditions.push(format!(
                        "substr(date, 1, 4) NOT GLOB '*[?]*' AND substr(date, 1, 4) <= '{until}'"
                    ));
                    filter.until = Some(until);
                }
                8 => {
                    let Some(Ok(eco)) = of_game("eco").map(|eco| eco[..2].parse()) else { continue };
                    filter.eco = Some(eco);
                    conditions.push(format!("eco LIKE '{}%'", &of_game("eco").unwrap()[..2]));
                }
                9 => {
                    let Some(name) = of_game("opening") else { continue };
                    filter.opening = exactly(&name);
                    conditions.push(format!("opening = {}", quoted(&name)));
                }
                10 => {
                    let plies = number("ply_count").map(u32::from);
                    filter.plies_min = plies;
                    conditions.push(format!("ply_count >= {}", plies.unwrap()));
                }
                11 => {
                    let source = of_game("source").unwrap();
                    conditions.push(format!("source = {}", quoted(&source)));
                    filter.sources = vec![source.into()];
                }
                12 => {
                    let variant = of_game("variant").unwrap_or("standard".to_owned()).to_lowercase();
                    conditions.push(format!("lower(ifnull(variant, 'standard')) = {}", quoted(&variant)));
                    filter.variant = Some(variant);
                }
                _ => {
                    let result = of_game("result").unwrap();
                    filter.result = GameResult::parse(result.as_bytes());
                    conditions.push(format!("result = '{result}'"));
                }
            }
        }
        // A later condition of the same kind replaces an earlier one.
        let mut kept: Vec<String> = vec![];
        for condition in conditions {
            let kind = |condition: &str| {
                condition
                    .chars()
                    .take_while(|letter| *letter != '\'' && !letter.is_ascii_digit())
                    .collect::<String>()
            };
            let is_date = |condition: &str| if condition.contains("<= '") { "until" } else { "" };
            kept.retain(|other| (kind(other), is_date(other)) != (kind(&condition), is_date(&condition)));
            kept.push(condition);
        }
        (filter, if kept.is_empty() { "true".to_owned() } else { kept.join(" AND ") })
    }

    /// Compares `count` answers about visited positions under random filters with plain SQL and, for some, with the
    /// answers without sets or columns. Returns how many answers have games.
    fn assert_correct_under_filters(&self, count: u32) -> u32 {
        let positions = self.some_visited(100);
        let (mut random, mut with_games) = (Random(7), 0);
        for _ in 0..count {
            let (key, fen) = &positions[random.below(positions.len() as u32) as usize];
            let (filter, condition) = self.random_filter(&mut random);
            if filter.check().is_err() {
                continue;
            }
            let selection = self.database.select(&filter).unwrap();
            let found = self.explore_some(*key, fen, &selection);
            assert_eq!(formatted(&found), self.expected(*key, fen, &condition), "{condition}: {fen}");
            with_games += u32::from(found.results.games() > 0);
            if random.below(10) == 0 {
                self.run("BEGIN; DELETE FROM visit_set");
                assert_eq!(self.explore_some(*key, fen, &selection), found, "{condition}: {fen}");
                self.run("ROLLBACK; BEGIN; DELETE FROM game_column");
                assert_eq!(self.explore_some(*key, fen, &selection), found, "{condition}: {fen}");
                self.run("ROLLBACK");
            }
        }
        with_games
    }
}

#[test]
fn filtered_answers_agree_with_plain_sql() {
    let sample = Sample::of_files(varied_games().as_bytes(), 8);
    let readings =
        "SELECT count(*), count(DISTINCT path), (SELECT count(DISTINCT variant) FROM game) FROM source";
    assert_eq!(lines(sample.sql(), readings), ["4 3 3"]);
    assert!(sample.assert_correct_under_filters(300) > 100);
    let Some(text) = part_of_corpus("otb-40k", 1 << 19) else { return };
    let sample = Sample::of_files(&text, 8);
    assert!(sample.assert_correct_under_filters(250) > 100);
}

#[test]
#[ignore = "takes ten seconds"]
fn filtered_answers_on_many_games_agree_with_plain_sql() {
    let Some(text) = part_of_corpus("otb-40k", 3 << 20) else { return };
    let sample = Sample::of_files(&text, 16);
    assert!(sample.assert_correct_under_filters(2000) > 500);
}

#[test]
fn answers_on_a_part_of_a_corpus_agree_with_plain_sql() {
    let Some(text) = part_of_corpus("otb-40k", 1 << 20) else { return };
    let sample = Sample::of(text, 16);
    assert!(sample.assert_right(&sample.some_positions(200), 16) >= 10);
    let visited = sample.some_visited(100);
    assert_eq!(sample.assert_right(&visited, 16), visited.len());
}

#[test]
#[ignore = "takes ten seconds"]
fn answers_on_a_whole_corpus_agree_with_plain_sql() {
    let Some(text) = corpus("otb-40k") else { return };
    let sample = Sample::of(text, 64);
    assert!(sample.assert_right(&sample.some_positions(1000), 64) >= 50);
    let visited = sample.some_visited(300);
    assert_eq!(sample.assert_right(&visited, 64), visited.len());
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

/// The answer from the tables, which must equal the one by counting games.
fn both_ways(sample: &Sample, key: PositionKey, fen: &str, lists: ListLengths) -> PositionCounts {
    let formatted = sample.database.explore(key, fen, &Selection::default(), lists.into()).unwrap();
    sample.run("BEGIN");
    sample.empty_tables();
    let counted = sample.database.explore(key, fen, &Selection::default(), lists.into()).unwrap();
    sample.run("ROLLBACK");
    assert_eq!(formatted, counted);
    formatted
}

/// Game id, ply and move of each hit.
fn visits(hits: &[Hit]) -> Vec<(u32, u32, String)> {
    let played = |code: MoveCode| Position::start().san(code);
    let visit = |hit: &Hit| (hit.game.game.0, hit.ply.0, hit.next.map_or_else(String::new, played));
    hits.iter().map(visit).collect()
}

fn visit(game: u32, ply: u32, played: &str) -> (u32, u32, String) {
    (game, ply, played.to_owned())
}

#[test]
fn a_game_counts_once_by_its_last_move_and_not_without_a_result() {
    let sample = Sample::of(RETURNS, 1);
    let found = both_ways(&sample, START_KEY, START, ListLengths::MAX);
    let results = ResultCounts {
        white_wins: 2,
        draws: 2,
        black_wins: 1,
        white_elo: RatingSum { sum: 7400, games: 3 },
        black_elo: RatingSum { sum: 5002, games: 2 },
        first_year: Some(2020),
        last_year: Some(2020),
    };
    assert_eq!((found.results, found.unfinished), (results, 1));
    assert_eq!(results.games(), 5);
    assert_eq!([Color::White, Color::Black].map(|side| results.mean_elo(side)), [Some(2467), Some(2501)]);
    let moves: Vec<_> = found
        .continuations
        .iter()
        .map(|found| {
            (
                Position::start().san(found.code),
                found.results.games(),
                found.results.first_year,
                found.results.last_year,
            )
        })
        .collect();
    let (knight, pawn) =
        (("Nf3".to_owned(), 2, Some(2020), Some(2020)), ("e4".to_owned(), 2, Some(2020), Some(2020)));
    let other_knight = ("Nc3".to_owned(), 1, Some(2020), Some(2020));
    assert_eq!(moves, [knight, pawn, other_knight]);
    assert_eq!(visits(&found.top_games), [visit(4, 0, "e4"), visit(5, 0, "Nf3")]);
    assert_eq!(
        visits(&found.recent_games),
        [visit(6, 0, "Nf3"), visit(2, 0, "Nc3"), visit(1, 4, "e4"), visit(5, 0, "Nf3"), visit(4, 0, "e4")]
    );
    let found = both_ways(&sample, START_KEY, START, ListLengths { top: 1, recent: 0 });
    assert_eq!((visits(&found.top_games), found.recent_games), (vec![visit(4, 0, "e4")], vec![]));
}

#[test]
fn positions_with_the_same_key_are_distinguished() {
    const OTHER: &str = "8/8/8/4k3/8/4K3/4P3/8 w - -";
    let sample = Sample::of(RETURNS, 1);
    sample.run(&format!("UPDATE game_position SET fen = '{OTHER}' WHERE game_id IN (2, 4) AND ply = 0"));
    // The row in the tables belongs to the other position with this key.
    let found = both_ways(&sample, START_KEY, OTHER, ListLengths::MAX);
    assert_eq!((found.results.games(), found.results.black_wins, found.results.draws), (2, 1, 1));
    assert_eq!(found.continuations.len(), 2);
}

#[test]
fn the_only_game_with_a_move_played_it_on_its_last_visit() {
    let sample = Sample::of(
        "1. Nf3 Nf6 2. Ng1 Ng8 3. e4 1-0\n\n1. Nf3 d5 2. e4 *\n\n1. e4 *\n\n1. e4 0-1\n\n1. Nf3 0-1\n",
        1,
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
    let sample = Sample::of(RETURNS, 1);
    let found = both_ways(&sample, PositionKey(1), "8/8/8/8/8/8/8/8 w - -", ListLengths::MAX);
    assert_eq!(found, PositionCounts::default());
    assert_eq!(found.results.mean_elo(Color::White), None);
}
