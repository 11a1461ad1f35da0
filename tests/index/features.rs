//! The sets of games by feature: they agree with the rows of the games, and answers are the same with and without them.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use pgndex::board::{
    Description, Ending, Material, MaterialSignature, MoveCode, MovePattern, Pattern, PawnStructure, Piece,
    PieceKind, Special,
};
use pgndex::index::{IndexOptions, Progress, Removal, optimize, remove, repair};
use pgndex::query::{AllHits, FindQuery, FindTarget, PositionSequence, Step};
use pgndex::store::row::GameId;
use pgndex::store::{Database, GameFilter, HitOrder, Lines};
use pgndex::verify::{FindingKind as Damage, Sample, VerifyOptions, verify};
use rusqlite::Connection;

use crate::needs::part_of_corpus;
use crate::support::*;

/// Set-ups, Chess960, en passant, promotions, a null move, and a game without positions.
const ODD: &str = "\
[Event \"a\"]\n[FEN \"no position\"]\n\n1. e4 *\n\n\
[Event \"b\"]\n[FEN \"4k3/6P1/8/8/4Pp2/8/8/4K3 b - e3 0 40\"]\n\n40... fxe3 41. g8=N Kf8 42. Nh6 e2 43. Kf2 e1=Q+ 0-1\n\n\
[Event \"c\"]\n[Variant \"Chess960\"]\n[FEN \"1rk2r2/8/8/8/8/8/8/1RK2R2 w FBfb - 0 1\"]\n\n1. O-O-O O-O 1-0\n\n\
[Event \"d\"]\n\n1. -- e5 2. f3 Qg5 3. g4 d5 4. a3 Qh4# 0-1\n\n\
[Event \"e\"]\n[FEN \"r5k1/1P6/8/8/8/8/7P/R3K2R w KQ - 0 1\"]\n\n1. O-O-O Rf8 2. b8=R Kg7 3. Rxf8 Kxf8 4. Rd8+ 1-0\n\n\
[Event \"f\"]\n[FEN \"5k2/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O+ Kg7 1/2-1/2\n\n";

/// The rows of all sets.
fn sets(database: &Path) -> Vec<String> {
    lines(&open(database), "SELECT block, kind, value, hex(sets) FROM game_set ORDER BY 1, 2, 3")
}

/// Asserts that the sets are those that `repair` builds from the rows of the games.
#[track_caller]
fn assert_sets_match_rows(database: &Path, what: &str) {
    let made = sets(database);
    repair(database, &options(), &Progress::default()).expect("repaired");
    assert!(made == sets(database), "{what}");
    assert_eq!(findings(database), Vec::<(Damage, String)>::new(), "{what}");
}

fn findings(database: &Path) -> Vec<(Damage, String)> {
    let options = VerifyOptions { sample: Sample::All, sources: false, ..VerifyOptions::default() };
    let report = verify(database, &options, &pgndex::verify::Progress::default()).expect("verified");
    let findings = report.findings.first.into_iter().filter(|finding| finding.table == "game_set");
    findings.map(|finding| (finding.kind, finding.to_string())).collect()
}

/// Texts with different kinds of games.
fn texts() -> Vec<String> {
    let corpora = ["chess960-20k", "lichess-24k", "otb-40k"];
    let parts = corpora.iter().filter_map(|name| part_of_corpus(name, 60_000));
    let parts = parts.map(|text| String::from_utf8_lossy(&text).into_owned());
    [GAMES.to_owned() + "\n" + ODD, annotated(2)].into_iter().chain(parts).collect()
}

#[test]
fn sets_agree_with_the_rows() {
    for (index, text) in texts().into_iter().enumerate() {
        let indexed = Indexed::new(text);
        assert_sets_match_rows(&indexed.database(), &format!("text {index}"));
        if index == 0 {
            let kinds = lines(&indexed.open(), "SELECT DISTINCT kind FROM game_set ORDER BY 1");
            let all =
                ["capture", "castling", "check", "game", "mate", "material", "pawns", "piece", "promotion"];
            assert_eq!(kinds, all);
        }
    }
}

/// Makes a database of two files. The ids of the games of the second file, `b.pgn`, begin before the border of
/// two blocks and end after it.
fn games_of_two_blocks(directory: &Path, through_sql: bool, options: &IndexOptions) -> PathBuf {
    let path = |name: &str| directory.join(name);
    let database = path("games.db");
    fs::write(path("a.pgn"), GAMES).expect("written");
    run(&database, &[path("a.pgn")], options).expect("indexed");
    if through_sql {
        write_through_sql(&database);
    }
    let connection = Connection::open(&database).expect("a database");
    connection.execute("INSERT INTO setting VALUES ('last_game', 65530)", []).expect("a row");
    drop(connection);
    fs::write(path("b.pgn"), GAMES.replace("Kasparov", "Kasparow") + "\n" + ODD).expect("written");
    run(&database, &[path("b.pgn")], options).expect("added");
    database
}

#[test]
fn sets_grow_and_shrink_with_their_blocks() {
    for through_sql in [false, true] {
        let directory = directory();
        let path = |name: &str| directory.path().join(name);
        let options = options();
        let database = games_of_two_blocks(directory.path(), through_sql, &options);
        let count = |sql: &str| number(&open(&database), sql);
        assert_eq!(count("SELECT count(*) FROM game WHERE game_id > 65535"), 53 + 6 - 5);
        assert_eq!(count("SELECT max(block) FROM game_set"), 1);
        let copy = path("copy.db");
        fs::copy(&database, &copy).expect("copied");
        assert_sets_match_rows(&copy, "added");
        let gone = [1, 2, 53, 65_533, 65_536, 65_540].map(GameId).to_vec();
        remove(&database, &Removal::Games(gone), &options, &Progress::default()).expect("removed");
        // Removed games stay in the sets until their level is written again.
        assert_eq!(findings(&database), []);
        let rewrite =
            |database: &Path| optimize(database, &options, &Progress::default()).expect("rewritten");
        fs::copy(&database, &copy).expect("copied");
        rewrite(&copy);
        assert_sets_match_rows(&copy, "removed");
        remove(&database, &Removal::Sources(vec![path("b.pgn")]), &options, &Progress::default())
            .expect("removed");
        assert_eq!(findings(&database), []);
        rewrite(&database);
        assert_eq!(count("SELECT max(block) FROM game_set"), 0);
        assert_sets_match_rows(&database, "a source removed");
    }
}

/// A level has games of two blocks. All games of one block are removed, and then most games of the other.
#[test]
fn no_sets_of_an_emptied_block_remain() {
    for through_sql in [false, true] {
        for gone in [[65_536..=70_000, 1..=53, 65_531..=65_533], [1..=53, 65_531..=65_535, 65_536..=65_585]] {
            let directory = directory();
            let options = IndexOptions { continuation_threshold: 4, ..options() };
            let database = games_of_two_blocks(directory.path(), through_sql, &options);
            for ids in gone {
                let games = Removal::Games(ids.map(GameId).collect());
                remove(&database, &games, &options, &Progress::default()).expect("removed");
                let check = VerifyOptions { sample: Sample::All, sources: false, ..VerifyOptions::default() };
                let report =
                    verify(&database, &check, &pgndex::verify::Progress::default()).expect("verified");
                let left = number(&open(&database), "SELECT count(*) FROM game");
                assert_eq!(report.findings.total(), 0, "{left} games: {:?}", report.findings);
            }
        }
    }
}

#[test]
fn wrong_sets_are_reported() {
    let indexed = Indexed::new(GAMES);
    let database = indexed.database();
    let reported = |sql: &str| {
        let copy = indexed.directory.path().join("damaged.db");
        fs::copy(&database, &copy).expect("copied");
        execute_without_constraints(&Connection::open(&copy).expect("a database"), sql).expect("changed");
        findings(&copy)
    };
    assert_eq!(reported("SELECT 1"), []);
    for (sql, kind, part) in [
        ("DELETE FROM game_set WHERE kind = 'castling'", Damage::MissingRow, "the set is missing"),
        (
            "INSERT INTO game_set VALUES (0, 'capture', -1, x'00020200')",
            Damage::SurplusRow,
            "no game of the block has this feature",
        ),
        (
            "INSERT INTO game_set VALUES (7, 'capture', 1, x'00020200')",
            Damage::SurplusRow,
            "no game of the block has this feature",
        ),
        (
            "UPDATE game_set SET sets = x'00020200' WHERE kind = 'castling'",
            Damage::WrongValue,
            "'castling', value 0: sets is a set that contains game 0, expected a set that does not contain it",
        ),
        (
            "UPDATE game_set SET sets = x'000302ff03' WHERE kind = 'castling'",
            Damage::WrongValue,
            "'castling', value 0: sets is a set that does not contain game ",
        ),
        ("UPDATE game_set SET sets = x'000104' WHERE kind = 'castling'", Damage::Unreadable, "sets of games"),
        (
            "INSERT INTO game_set VALUES ('a', 'capture', 1, x'00020200')",
            Damage::WrongValue,
            "game_set block 'a', kind 'capture', value 1: the row violates CHECK (block BETWEEN 0 AND 65535)",
        ),
        ("UPDATE game_set SET sets = 'x' WHERE kind = 'castling'", Damage::Unreadable, "sets of games"),
        (
            "UPDATE game_set SET kind = 'x' WHERE kind = 'castling'",
            Damage::Unreadable,
            "the name of a kind of game set",
        ),
    ] {
        let reported = reported(sql);
        let fits = |(found, text): &(Damage, String)| *found == kind && text.contains(part);
        assert!(reported.iter().any(fits), "{sql}: {reported:?}");
    }
}

/// Pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn is(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A position of a game, and the move played from it.
struct Place {
    fen: String,
    ply: u32,
    played: Option<MoveCode>,
}

impl Place {
    fn letters(&self) -> Vec<Vec<char>> {
        let placement = self.fen.split(' ').next().expect("a placement");
        let rank = |rank: &str| {
            let squares = rank.chars().map(|letter| match letter.to_digit(10) {
                Some(count) => ".".repeat(count as usize),
                None => letter.to_string(),
            });
            squares.collect::<String>().chars().collect()
        };
        placement.split('/').map(rank).collect()
    }

    /// A pattern that matches the position, or nearly matches it.
    fn pattern(&self, chance: &mut Chance) -> Pattern {
        let condition_count = chance.one_of(&[1, 1, 2, 3, 6]);
        let mut ranks = vec!["*".to_owned(); 8];
        let letters = self.letters();
        for _ in 0..condition_count {
            let rank = chance.below(8);
            let file = chance.below(8);
            let letter = letters[rank][file];
            ranks[rank] = match chance.below(6) {
                0 => format!("*{letter}*"),
                1 => format!("{}{letter}*", "?".repeat(file)),
                2 => format!("*{letter}{}", "?".repeat(7 - file)),
                3 => format!("{}[{letter}Qn]{}", "?".repeat(file), "?".repeat(7 - file)),
                4 if letter != '.' => format!("{}!*", "?".repeat(file)),
                _ => format!("{}{letter}{}", "?".repeat(file), "?".repeat(7 - file)),
            };
        }
        let side = chance.one_of(&["", "", "", " w", " b"]);
        Pattern::parse(&format!("{}{side}", ranks.join("/"))).expect("a pattern")
    }

    fn material(&self, chance: &mut Chance) -> MaterialSignature {
        let material = Material::from_placement(self.fen.as_bytes()).to_string();
        let open = |side: &str, chance: &mut Chance| match chance.below(4) {
            0 => format!("{}..", &side[..=chance.below(side.len())]),
            1 => format!("{}P*", side.trim_end_matches('P')),
            _ => side.to_owned(),
        };
        let (white, black) = material.split_once('v').expect("two sides");
        let text = format!("{}v{}", open(white, chance), open(black, chance));
        MaterialSignature::parse(&text).expect("material")
    }

    fn played(&self, chance: &mut Chance) -> MovePattern {
        let Some(code) = self.played.filter(|code| !code.is_null()) else {
            return MovePattern::parse(chance.one_of(&["#", "+", "?xQ", "=", "=N", "O-O-O"]))
                .expect("a move");
        };
        let given = if code.is_mate() {
            "#"
        } else if code.is_check() {
            "+"
        } else {
            ""
        };
        let given = if chance.is(70) { given } else { "" };
        let text = match code.special() {
            Special::CastleShort => "O-O".to_owned(),
            Special::CastleLong => "O-O-O".to_owned(),
            special => {
                let letter = |piece: Piece| char::from(piece.kind().letter());
                let piece = code.piece().expect("a piece");
                let mut text = if chance.is(80) { letter(piece).to_string() } else { "?".to_owned() };
                if chance.is(30) {
                    text += &code.from().to_string();
                }
                if let Some(captured) = code.captured().filter(|_| chance.is(70)) {
                    text.push('x');
                    if chance.is(30) {
                        text.push(letter(captured));
                    }
                }
                if chance.is(70) {
                    text += &code.to().to_string();
                }
                match special {
                    Special::Promotion(becomes) if piece.kind() == PieceKind::Pawn && chance.is(60) => {
                        if text.starts_with('?') {
                            text.replace_range(..1, "P");
                        }
                        format!("{text}={}", letter(becomes))
                    }
                    _ => text,
                }
            }
        };
        MovePattern::parse(&format!("{text}{given}")).unwrap_or_else(|error| panic!("{text}{given}: {error}"))
    }

    fn step(&self, chance: &mut Chance) -> Step {
        let mut description = Description::default();
        for _ in 0..chance.one_of(&[1, 1, 1, 2, 3]) {
            match chance.below(6) {
                0 => description.material = Some(self.material(chance)),
                1 => description.ending = Some(self.ending(chance)),
                2 => description.structure = Some(PawnStructure::from_placement(self.fen.as_bytes())),
                3 => description.played = Some(self.played(chance)),
                _ => description.pattern = Some(self.pattern(chance)),
            }
        }
        let lasting = if chance.is(20) { chance.one_of(&[2, 4]) } else { 1 };
        let plies: RangeInclusive<u32> =
            if chance.is(20) { self.ply.saturating_sub(6)..=self.ply + 6 } else { 0..=u32::MAX };
        Step { description, lasting, plies }
    }

    fn ending(&self, chance: &mut Chance) -> Ending {
        let fits = Ending::ALL.into_iter().find(|ending| ending.matches(self.fen.as_bytes()));
        fits.unwrap_or_else(|| chance.one_of(&Ending::ALL))
    }
}

/// The positions of each game.
fn places(database: &Path) -> Vec<Vec<Place>> {
    let connection = open(database);
    let games: Vec<u32> = column(&connection, "SELECT game_id FROM game WHERE ply_count > 0 ORDER BY 1");
    let mut statement = connection
        .prepare("SELECT fen, ply, move_code FROM game_position WHERE game_id = ?1 ORDER BY ply")
        .expect("a query");
    let mut of_game = |game: u32| {
        let place = |row: &rusqlite::Row<'_>| {
            let played = row.get::<_, Option<u32>>(2)?.and_then(MoveCode::from_bits);
            Ok(Place { fen: row.get(0)?, ply: row.get(1)?, played })
        };
        let places = statement.query_map([game], place).expect("rows");
        places.collect::<rusqlite::Result<_>>().expect("places")
    };
    games.into_iter().map(&mut of_game).collect()
}

/// All hits as game, line and ply; and the total that is shown if only the first hit is requested.
fn answer(database: &Database, find: &FindQuery<'_>) -> (Vec<(u32, u32, u32)>, AllHits) {
    let mut hits = Vec::new();
    find.visit(|hit| {
        hits.push((hit.game.game.0, hit.line, hit.ply.0));
        true
    })
    .expect("hits");
    let page = FindQuery { limit: Some(1), database, ..*find };
    let shown = page.visit(|_| true).expect("a page");
    (hits, page.total(&shown).expect("a total").all)
}

/// Runs random queries on a database with all sets, without sets, and with sets for some games only. Returns the number
/// of queries with several hits.
fn run_queries(database: &Path, count: usize, seed: u64) -> usize {
    let copy = |name: &str, sql: &str| -> PathBuf {
        let copy = database.with_file_name(name);
        fs::copy(database, &copy).expect("copied");
        Connection::open(&copy).expect("a database").execute_batch(sql).expect("changed");
        copy
    };
    let without = copy("without.db", "DELETE FROM game_set");
    let none = Database::open_read_only(&without).expect("a database");
    let with = Database::open_read_only(database).expect("a database");
    // As if the first games had been added by a version without sets.
    let some = copy("some.db", "UPDATE game_set SET sets = x'0004061d0003' WHERE kind = 'game'");
    let some = Database::open_read_only(&some).expect("a database");
    let places = places(database);
    let chance = &mut Chance(seed);
    let mut found = 0;
    for query in 0..count {
        let game = &places[chance.below(places.len())];
        let mut plies: Vec<usize> =
            (0..chance.one_of(&[1, 1, 1, 2, 3])).map(|_| chance.below(game.len())).collect();
        plies.sort_unstable();
        let steps: Vec<Step> = plies.iter().map(|&ply| game[ply].step(chance)).collect();
        let moves = steps.iter().any(|step| step.description.played.is_some());
        let reported = format!("query {query} of seed {seed}: {steps:?}");
        let target = FindTarget::Sequence(PositionSequence::new(steps, chance.is(25), chance.is(25)).into());
        let filter = GameFilter { plies_min: chance.is(20).then_some(60), ..GameFilter::default() };
        let lines = if !moves && chance.is(20) { Lines::All } else { Lines::Main };
        let order = chance.one_of(&[HitOrder::Game, HitOrder::Game, HitOrder::Rating, HitOrder::Date]);
        let selection = none.select(&filter).expect("a selection");
        let find = FindQuery {
            database: &none,
            target: &target,
            lines,
            selection: &selection,
            order,
            limit: None,
            offset: 0,
        };
        let expected = answer(&none, &find);
        for database in [&with, &some] {
            let (hits, all) = answer(database, &FindQuery { database, ..find });
            assert_eq!(hits, expected.0, "{reported}");
            // The total may be unknown if it would take a scan of the whole database.
            let is_known = |all| all != AllHits::Unknown;
            assert!(
                all == expected.1 || is_known(all) != is_known(expected.1),
                "{reported}: {all:?} {expected:?}"
            );
            if let AllHits::Games(games) = all {
                let mut found: Vec<u32> = hits.iter().map(|&(game, ..)| game).collect();
                found.sort_unstable();
                found.dedup();
                assert_eq!(games, found.len() as u64, "{reported}");
            }
        }
        found += usize::from(expected.0.len() > 1);
    }
    found
}

#[test]
fn answers_agree_with_a_full_scan() {
    for (seed, text) in (1..).zip(texts()) {
        let indexed = Indexed::new(text);
        let found = run_queries(&indexed.database(), 30, seed);
        assert!(found > 5, "text {seed}: {found}");
    }
}

#[test]
#[ignore = "takes a minute"]
fn answers_on_many_games_agree_with_a_full_scan() {
    for (seed, corpus) in
        (1..).zip(["otb-40k", "fics", "lichess-24k", "tcec-3k", "chess960-20k", "annotated_mixed"])
    {
        let Some(text) = part_of_corpus(corpus, 3_000_000) else { return };
        let indexed = Indexed::new(text);
        assert_sets_match_rows(&indexed.database(), corpus);
        run_queries(&indexed.database(), 30, seed);
    }
}
