//! Searches by position and filter, compared with a scan of all rows.

use std::path::Path;

use pgndex::board::{GameResult, MaterialSignature, Pattern, Position};
use pgndex::index::{IndexOptions, Progress, index};
use pgndex::pgn::Speed;
use pgndex::store::{
    Database, GameFilter, Hit, HitCount, HitOrder, Lines, NameFilter, Scan, Search, Selection,
};
use tempfile::TempDir;

/// Names that would do harm if they were inserted into SQL or used as patterns.
const HOSTILE: [&str; 7] =
    ["O'Neil, 100%", "O'Neil, 100_", "x'); DROP TABLE game; --", "Ågren \"Å\", [a]*?", "a\\b", "%", "_"];

/// The samples, and games with odd names, dates and results.
fn database() -> (TempDir, Database) {
    let directory = tempfile::tempdir().expect("a directory");
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut odd = String::new();
    let dates =
        ["2014.??.??", "2014.06.??", "????.??.??", "19??.??.??", "2014.06.26", "2014.07.01", "2013.??.??"];
    for (number, name) in HOSTILE.into_iter().enumerate() {
        let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
        let (other, date) =
            (HOSTILE[(number + 1) % 7].replace('\\', "\\\\").replace('"', "\\\""), dates[number]);
        let result = ["*", "1-0", "0-1"][number % 3];
        let control = ["180+2", "600", "-", "?", "60"][number % 5];
        let end = ["Normal", "Time forfeit", "normal"][number % 3];
        odd += &format!(
            "[TimeControl \"{control}\"]\n[Termination \"{end}\"]\n\
             [Event \"{escaped}\"]\n[Site \"{other}\"]\n[Date \"{date}\"]\n[Round \"?\"]\n[White \"{escaped}\"]\n[Black \"{other}\"]\n\
             [Result \"{result}\"]\n[WhiteElo \"{}\"]\n{}[ECO \"B9{number}\"]\n\n1. e4 c5 2. Nf3 Nc6 3. Ng1 Nb8 4. Nf3 {result}\n\n",
            2700 + number,
            if number % 2 == 0 { "[BlackElo \"2600\"]\n" } else { "" },
        );
    }
    let path = directory.path().join("odd.pgn");
    std::fs::write(&path, odd).expect("a file");
    let inputs = [path, project.join("examples/famous-games.pgn"), project.join("examples/synthetic.pgn")];
    let target = directory.path().join("games.db");
    index(&target, &inputs, &IndexOptions::default(), &Progress::default()).expect("an index");
    let database = Database::open_read_only(&target).expect("a database");
    (directory, database)
}

/// A row of the view `games`.
struct Game {
    id: u32,
    names: [Option<String>; 3],
    elo: [Option<u16>; 2],
    result: String,
    date: Option<String>,
    codes: [Option<String>; 2],
    /// Site, opening, speed, time control and termination.
    texts: [Option<String>; 5],
    plies: u32,
}

fn games(database: &Database) -> Vec<Game> {
    let sql = "SELECT game_id, white, black, event, white_elo, black_elo, result, date, eco, opening_eco,
                   site, opening, speed, time_control, termination, ply_count FROM games";
    let mut statement = database.connection().prepare(sql).expect("SQL");
    let rows = statement.query_map([], |row| {
        Ok(Game {
            id: row.get(0)?,
            names: [row.get(1)?, row.get(2)?, row.get(3)?],
            elo: [row.get(4)?, row.get(5)?],
            result: row.get(6)?,
            date: row.get(7)?,
            codes: [row.get(8)?, row.get(9)?],
            texts: [row.get(10)?, row.get(11)?, row.get(12)?, row.get(13)?, row.get(14)?],
            plies: row.get(15)?,
        })
    });
    rows.expect("rows").map(|game| game.expect("a game")).collect()
}

/// The year, month and day of a date; 0 if unknown. `None` if the year is unknown.
fn day(date: Option<&str>) -> Option<[u32; 3]> {
    let mut fields = date?.split('.').map(|field| field.parse().unwrap_or(0));
    let day = [fields.next()?, fields.next()?, fields.next()?];
    (day[0] > 0).then_some(day)
}

/// A filter as names and values for [`filter`], and the same condition as a function.
type Case = (&'static [(&'static str, &'static str)], fn(&Game) -> bool);

fn word(name: &Option<String>, letters: &str) -> bool {
    let name = format!(" {}", name.as_deref().unwrap_or_default().to_lowercase());
    name.contains(&format!(" {letters}"))
}

const CASES: [Case; 34] = [
    (&[], |_| true),
    (&[("white", "PLAYER 00")], |game| word(&game.names[0], "player 00")),
    (&[("black", "=Player 145")], |game| game.names[1].as_deref() == Some("Player 145")),
    (&[("player", "=Player 145")], |game| {
        game.names[..2].iter().any(|name| name.as_deref() == Some("Player 145"))
    }),
    (&[("player", "nobody")], |_| false),
    (&[("event", "open 1")], |game| word(&game.names[2], "open 1")),
    (&[("elo_min", "2400")], |game| game.elo.iter().all(|elo| elo.is_some_and(|elo| elo >= 2400))),
    (&[("elo_max", "1800")], |game| game.elo.iter().all(|elo| elo.is_some_and(|elo| elo <= 1800))),
    (&[("since", "2014.06.15")], |game| {
        day(game.date.as_deref()).is_some_and(|[year, month, day]| {
            (year, if month == 0 { 99 } else { month }, if day == 0 { 99 } else { day }) >= (2014, 6, 15)
        })
    }),
    (&[("until", "2014-06")], |game| {
        day(game.date.as_deref()).is_some_and(|[year, month, _]| (year, month) <= (2014, 6))
    }),
    (&[("since", "2014"), ("until", "2014")], |game| {
        day(game.date.as_deref()).is_some_and(|[year, ..]| year == 2014)
    }),
    (&[("result", "1-0")], |game| game.result == "1-0"),
    (&[("result", "*")], |game| game.result == "*"),
    (&[("eco", "B9")], |game| game.codes[0].as_ref().is_some_and(|code| code.starts_with("B9"))),
    (&[("eco", "B91-C29")], |game| {
        game.codes[0].as_ref().is_some_and(|code| ("B91"..="C29").contains(&code.as_str()))
    }),
    (&[("opening-eco", "B9")], |game| game.codes[1].as_ref().is_some_and(|code| code.starts_with("B9"))),
    (&[("opening-eco", "B91-C29")], |game| {
        game.codes[1].as_ref().is_some_and(|code| ("B91"..="C29").contains(&code.as_str()))
    }),
    (&[("white", "=O'Neil, 100%")], |game| game.names[0].as_deref() == Some("O'Neil, 100%")),
    // Punctuation separates the words of a player's name.
    (&[("white", "o'neil, 100%")], |game| {
        game.names[0].as_deref().is_some_and(|name| name.starts_with("O'Neil, 100"))
    }),
    (&[("event", "=x'); DROP TABLE game; --")], |game| {
        game.names[2].as_deref() == Some("x'); DROP TABLE game; --")
    }),
    (&[("player", "%")], |game| game.names[..2].iter().any(|name| word(name, "%"))),
    (&[("player", "_"), ("result", "0-1")], |game| {
        game.result == "0-1" && game.names[..2].iter().any(|name| word(name, "_"))
    }),
    (&[("opponent", "=Player 145")], |game| {
        game.names[..2].iter().any(|name| name.as_deref() == Some("Player 145"))
    }),
    (&[("player", "player 00"), ("opponent", "player 1")], |game| {
        let fits = |one: usize, letters| word(&game.names[one], letters);
        fits(0, "player 00") && fits(1, "player 1") || fits(1, "player 00") && fits(0, "player 1")
    }),
    (&[("player", "o'neil"), ("opponent", "o'neil")], |game| {
        word(&game.names[0], "o'neil") && word(&game.names[1], "o'neil")
    }),
    (&[("player", "player 00"), ("opponent", "nobody")], |_| false),
    (&[("site", "x'); DROP TABLE game; --")], |game| word(&game.texts[0], "x'); drop table game; --")),
    (&[("opening", "sicilian")], |game| word(&game.texts[1], "sicilian")),
    (&[("opening", "=King's Pawn Game")], |game| game.texts[1].as_deref() == Some("King's Pawn Game")),
    (&[("speed", "blitz"), ("speed", "correspondence")], |game| {
        ["blitz", "correspondence"].map(Some).contains(&game.texts[2].as_deref())
    }),
    (&[("time-control", "600")], |game| {
        game.texts[3].as_deref().is_some_and(|control| matches!(control, "600" | "600+0"))
    }),
    (&[("termination", "NORMAL"), ("result", "*")], |game| {
        game.result == "*" && game.texts[4].as_ref().is_some_and(|text| text.to_lowercase() == "normal")
    }),
    (&[("plies-min", "100"), ("plies-max", "110")], |game| (100..=110).contains(&game.plies)),
    (&[("plies-max", "7"), ("termination", "'; DROP TABLE game; --")], |_| false),
];

fn filter(options: &[(&str, &str)]) -> GameFilter {
    let mut filter = GameFilter::default();
    for &(option, value) in options {
        let name = || Some(value.parse::<NameFilter>().expect("a name"));
        match option {
            "white" => filter.white = name(),
            "black" => filter.black = name(),
            "player" => filter.player = name(),
            "opponent" => filter.opponent = name(),
            "site" => filter.site = name(),
            "opening" => filter.opening = name(),
            "speed" => filter.speeds.extend(Speed::ALL.into_iter().find(|speed| speed.as_str() == value)),
            "time-control" => filter.time_control = Some(value.to_owned()),
            "termination" => filter.termination = Some(value.to_owned()),
            "plies-min" => filter.plies_min = value.parse().ok(),
            "plies-max" => filter.plies_max = value.parse().ok(),
            "event" => filter.event = name(),
            "elo_min" => filter.elo_min = value.parse().ok(),
            "elo_max" => filter.elo_max = value.parse().ok(),
            "since" => filter.since = value.parse().ok(),
            "until" => filter.until = value.parse().ok(),
            "eco" => filter.eco = value.parse().ok(),
            "opening-eco" => filter.opening_eco = value.parse().ok(),
            "result" => filter.result = GameResult::parse(value.as_bytes()),
            _ => panic!("{option}"),
        }
    }
    filter
}

/// Sorts games in the given order.
fn sort(found: &mut [(&Game, u32)], order: HitOrder) {
    found.sort_by_key(|(game, ply)| {
        let elo = game.elo[0].zip(game.elo[1]).map_or(1, |(white, black)| -i64::from(white + black));
        let [year, month, day] = day(game.date.as_deref()).unwrap_or_default().map(i64::from);
        let unfinished = game.result == "*";
        match order {
            HitOrder::Game => (false, 0, i64::from(game.id), *ply),
            HitOrder::Rating => (unfinished, elo, i64::from(game.id), *ply),
            HitOrder::Date => (unfinished, -(year * 10000 + month * 100 + day), -i64::from(game.id), *ply),
        }
    });
}

fn ids(hits: &[Hit]) -> Vec<(u32, u32)> {
    hits.iter().map(|hit| (hit.game.game.0, hit.ply.0)).collect()
}

#[test]
fn filters_and_orders_agree_with_a_full_scan() {
    let (_directory, database) = database();
    let games = games(&database);
    assert_eq!(games.len(), 1060);
    let lines: [&[&str]; 4] = [&[], &["e4"], &["e4", "c5", "Nf3"], &["h4", "h5", "Rh3"]];
    for line in lines {
        let mut position = Position::start();
        for san in line {
            position.play_san(san.as_bytes()).expect("a legal move");
        }
        let fen = position.canonical_fen();
        let mut statement = database
            .connection()
            .prepare("SELECT game_id, ply FROM game_position WHERE fen = ?1")
            .expect("SQL");
        let rows = statement.query_map([&fen], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        let reached: Vec<(u32, u32)> = rows.map(|row| row.expect("a row")).collect();
        for (options, holds) in CASES {
            let selection = database.select(&filter(options)).expect("a selection");
            let mut expected: Vec<(&Game, u32)> = reached
                .iter()
                .map(|&(id, ply)| (&games[id as usize - 1], ply))
                .filter(|(game, _)| holds(game))
                .collect();
            for order in [HitOrder::Game, HitOrder::Rating, HitOrder::Date] {
                sort(&mut expected, order);
                let all: Vec<_> = expected.iter().map(|(game, ply)| (game.id, *ply)).collect();
                for (limit, offset) in [(None, 0), (Some(5), 0), (Some(3), 4), (None, 7), (Some(0), 0)] {
                    let search = Search {
                        key: position.key(),
                        fen: &fen,
                        lines: Lines::Main,
                        selection: &selection,
                        order,
                        limit,
                        offset,
                    };
                    let end = limit.map_or(all.len(), |limit: u32| (offset + limit) as usize).min(all.len());
                    let found = super::hits(&database, &search);
                    let part = all.get(offset as usize..end).unwrap_or_default();
                    assert_eq!(ids(&found), part, "{line:?} {options:?} {order:?} {limit:?} {offset}");
                }
            }
            let search = Search {
                key: position.key(),
                fen: &fen,
                lines: Lines::Main,
                selection: &selection,
                order: HitOrder::Game,
                limit: None,
                offset: 0,
            };
            let mut distinct: Vec<_> = expected.iter().map(|(game, _)| game.id).collect();
            distinct.sort_unstable();
            distinct.dedup();
            let (hits, distinct) = (expected.len() as u64, distinct.len() as u64);
            match database.count_hits(&search).expect("a count") {
                HitCount::Exact { occurrences, games } => assert_eq!((occurrences, games), (hits, distinct)),
                HitCount::Games(games) => assert_eq!(games, distinct),
                HitCount::AtLeast(games) => assert!(games <= distinct, "{line:?} {options:?}"),
            }
        }
    }
    let left: i64 =
        database.connection().query_row("SELECT count(*) FROM game", [], |row| row.get(0)).expect("a count");
    assert_eq!(left, 1060);
}

#[test]
fn every_hostile_name_finds_only_its_own_games() {
    let (_directory, database) = database();
    for (number, name) in HOSTILE.into_iter().enumerate() {
        let exactly = Some(NameFilter::Exactly(name.to_owned()));
        for filter in [
            GameFilter { white: exactly.clone(), ..GameFilter::default() },
            GameFilter { event: exactly.clone(), ..GameFilter::default() },
        ] {
            let selection = database.select(&filter).expect("a selection");
            let mut found = Vec::new();
            database
                .visit_games(&selection, HitOrder::Game, |game| {
                    found.push(game.0 as usize);
                    true
                })
                .expect("games");
            assert_eq!(found, [number + 1], "{name}");
        }
    }
    let nobody = filter(&[("white", "nobody"), ("event", "open")]);
    assert_eq!(database.select(&nobody).expect("a selection").unknown_names()[0].field, "white");
}

/// The first matching position of each game, by a scan in the order of games.
fn first_fits(database: &Database, fits: impl Fn(&str) -> bool) -> Vec<(u32, u32)> {
    let mut statement = database
        .connection()
        .prepare("SELECT game_id, ply, fen FROM game_position ORDER BY game_id, ply")
        .expect("SQL");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)));
    let mut found: Vec<(u32, u32)> = Vec::new();
    for row in rows.expect("rows") {
        let (game, ply, fen) = row.expect("a row");
        if found.last().is_none_or(|last| last.0 != game) && fits(&fen) {
            found.push((game, ply));
        }
    }
    found
}

#[test]
fn a_scan_finds_the_first_matching_position_of_each_game() {
    let (_directory, database) = database();
    let games = games(&database);
    let rook_endings = |fen: &str| {
        let placement = fen.split(' ').next().unwrap();
        placement.matches('R').count() == 1
            && placement.matches('r').count() == 1
            && !placement.contains(['Q', 'q', 'B', 'b', 'N', 'n'])
    };
    let material = MaterialSignature::parse("KRP*vKRP*").expect("a signature");
    let castled = Pattern::parse("*/*/*/*/*/*/*/?????RK?").expect("a pattern");
    let is_castled = |fen: &str| {
        let last = fen.split(' ').next().unwrap().rsplit('/').next().unwrap();
        let squares: String = last
            .chars()
            .map(|letter| letter.to_digit(10).map_or(letter.to_string(), |empty| ".".repeat(empty as usize)))
            .collect();
        &squares[5..7] == "RK"
    };
    let expected = [first_fits(&database, rook_endings), first_fits(&database, is_castled)];
    assert!(expected.iter().all(|found| found.len() > 5), "{} {}", expected[0].len(), expected[1].len());
    let everywhere = Selection::default();
    for (number, all) in expected.iter().enumerate() {
        for (index, (options, holds)) in CASES.into_iter().enumerate() {
            let selection = if options.is_empty() {
                everywhere.clone()
            } else {
                database.select(&filter(options)).expect("a selection")
            };
            let orders = [HitOrder::Game, HitOrder::Rating, HitOrder::Date];
            // All orders without a filter, and one order with each filter.
            for order in if index == 0 { &orders[..] } else { &orders[index % 3..][..1] } {
                let order = *order;
                for (limit, offset) in [(None, 0), (Some(4), 0), (Some(2), 3)] {
                    let mut found: Vec<_> = all
                        .iter()
                        .map(|&(id, ply)| (&games[id as usize - 1], ply))
                        .filter(|(game, _)| holds(game))
                        .collect();
                    sort(&mut found, order);
                    let expected: Vec<_> = found
                        .iter()
                        .map(|(game, ply)| (game.id, *ply))
                        .skip(offset as usize)
                        .take(limit.map_or(usize::MAX, |limit: u32| limit as usize))
                        .collect();
                    let mut hits = Vec::new();
                    let scan = Scan { lines: Lines::Main, selection: &selection, order, limit, offset };
                    let fits =
                        |fen: &[u8]| if number == 0 { material.matches(fen) } else { castled.matches(fen) };
                    database
                        .scan(&scan, &fits, &mut |hit| {
                            hits.push(hit);
                            true
                        })
                        .expect("a scan");
                    assert_eq!(ids(&hits), expected, "{number} {options:?} {order:?} {limit:?} {offset}");
                }
            }
        }
    }
}
