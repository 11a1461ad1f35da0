//! Positions in variations: hits, counts, scans and moves equal those that python-chess finds in the same games.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use pgndex::board::{GameResult, Position};
use pgndex::index::{Duplicates, IndexOptions, Progress, index};
use pgndex::store::{
    Database, GameFilter, GameSummary, Hit, HitCount, HitOrder, Lines, NameFilter, Scan, Search, Selection,
};
use tempfile::TempDir;

use crate::needs::{part_of_corpus, python_with_chess};

const NESTED: &[u8] = include_bytes!("../data/variations.pgn");
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

/// Game, line and ply.
type Place = (u32, u32, u32);

/// A position, and the move that led to it.
struct Reached {
    fen: String,
    before: String,
    uci: String,
}

/// Games in a database, and the same games as python-chess reads them.
struct Sample {
    database: Database,
    positions: BTreeMap<Place, Reached>,
    games: BTreeMap<u32, GameSummary>,
    _directory: TempDir,
}

impl Sample {
    fn of(pgn: &[u8]) -> Option<Self> {
        let directory = tempfile::tempdir().expect("a directory");
        let (input, target) = (directory.path().join("in.pgn"), directory.path().join("out.db"));
        std::fs::write(&input, pgn).expect("written");
        let options = IndexOptions {
            continuation_threshold: 20,
            duplicates: Duplicates::Keep,
            ..IndexOptions::default()
        };
        index(&target, std::slice::from_ref(&input), &options, &Progress::default()).expect("indexed");
        let database = Database::open_read_only(&target).expect("a database");
        let printed = script(&[], &input)?;
        let positions = printed.lines().map(|line| {
            let mut cells = line.split('\t');
            let number = |cell: Option<&str>| cell.expect("a cell").parse().expect("a number");
            let place = (number(cells.next()), number(cells.next()), number(cells.next()));
            let [fen, before, uci] = [(); 3].map(|()| cells.next().expect("a cell").to_owned());
            (place, Reached { fen, before, uci })
        });
        let positions = BTreeMap::from_iter(positions);
        let last = database.last_game().expect("a number").expect("a game").0;
        assert_eq!(positions.keys().next_back().map(|place| place.0), Some(last));
        let summary = |game| database.game(pgndex::store::row::GameId(game)).expect("a game").summary;
        let games = (1..=last).map(|game| (game, summary(game))).collect();
        Some(Self { database, positions, games, _directory: directory })
    }

    /// The places of a position, in order.
    fn places(&self, fen: &str) -> Vec<Place> {
        self.positions.iter().filter(|(_, reached)| reached.fen == fen).map(|(&place, _)| place).collect()
    }

    fn next(&self, (game, line, ply): Place) -> Option<String> {
        self.positions.get(&(game, line, ply + 1)).map(|reached| reached.uci.clone())
    }

    fn sort(&self, places: &mut [Place], order: HitOrder) {
        places.sort_by_key(|&place| {
            let game = &self.games[&place.0];
            let elo =
                game.white_elo.zip(game.black_elo).map(|(white, black)| i32::from(white) + i32::from(black));
            let latest = Reverse((day(game), place.0));
            let (rank, latest) = match order {
                HitOrder::Game => return (false, 0, Reverse((0, 0)), place),
                HitOrder::Rating => (elo.map_or(1, |elo| -elo), Reverse((0, 0))),
                HitOrder::Date => (0, latest),
            };
            (game.result == GameResult::Unknown, rank, latest, place)
        });
    }

    fn assert_hits(&self, fen: &str, selection: &Selection, chosen: &BTreeSet<u32>) {
        let position = position(fen);
        let mut expected = self.places(fen);
        expected.retain(|place| chosen.contains(&place.0));
        let games = expected.iter().map(|place| place.0).collect::<BTreeSet<_>>().len() as u64;
        let search = |order, limit, offset| Search {
            key: position.key(),
            fen,
            lines: Lines::All,
            selection,
            order,
            limit,
            offset,
        };
        for order in [HitOrder::Game, HitOrder::Rating, HitOrder::Date] {
            self.sort(&mut expected, order);
            for (limit, offset) in [(None, 0), (Some(3), 0), (Some(2), 1), (None, 4), (Some(0), 0)] {
                let hits = super::hits(&self.database, &search(order, limit, offset));
                let part = expected.iter().skip(offset as usize);
                let part = part.take(limit.map_or(usize::MAX, |limit: u32| limit as usize));
                let part: Vec<_> = part.map(|&place| (place, self.next(place))).collect();
                let found: Vec<_> = hits
                    .iter()
                    .map(|hit| (place(hit), hit.next.map(|code| position.uci(code).to_string())))
                    .collect();
                assert_eq!(found, part, "{fen} {order:?} {limit:?} {offset}");
            }
        }
        match self.database.count_hits(&search(HitOrder::Game, None, 0)).expect("a count") {
            HitCount::Exact { occurrences, games: counted } => {
                assert_eq!((occurrences, counted), (expected.len() as u64, games), "{fen}");
            }
            HitCount::Games(counted) => assert_eq!(counted, games, "{fen}"),
            HitCount::AtLeast(counted) => assert!(counted <= games, "{fen}"),
        }
    }

    fn assert_moves(&self, fen: &str, selection: &Selection, chosen: &BTreeSet<u32>) {
        let (mut games, mut moves) = (BTreeSet::new(), BTreeMap::<_, BTreeSet<u32>>::new());
        for (&(game, line, _), Reached { fen: after, before, uci }) in &self.positions {
            if line == 0 || !chosen.contains(&game) {
                continue;
            }
            if after == fen || before == fen {
                games.insert(game);
            }
            if before == fen {
                moves.entry(uci.clone()).or_default().insert(game);
            }
        }
        let position = position(fen);
        let found = self.database.variation_moves(&position, selection).expect("moves");
        assert_eq!(found.games, games.len() as u64, "{fen}");
        let expected: BTreeMap<_, _> =
            moves.into_iter().map(|(uci, games)| (uci, games.len() as u64)).collect();
        let found = BTreeMap::from_iter(
            found.moves.iter().map(|(&code, &games)| (position.uci(code).to_string(), games)),
        );
        assert_eq!(found, expected, "{fen}");
    }

    /// Compares a scan of all lines for a part of a placement field.
    fn assert_scan(&self, part: &str, selection: &Selection, chosen: &BTreeSet<u32>) {
        let fits = |fen: &str| fen.split(' ').next().is_some_and(|placement| placement.contains(part));
        let mut first = BTreeMap::<u32, Place>::new();
        for (&place, reached) in &self.positions {
            if chosen.contains(&place.0) && fits(&reached.fen) {
                first.entry(place.0).or_insert(place);
            }
        }
        for order in [HitOrder::Game, HitOrder::Rating, HitOrder::Date] {
            for (limit, offset) in [(None, 0), (Some(2), 0), (Some(3), 2)] {
                let mut expected: Vec<_> = first.values().copied().collect();
                self.sort(&mut expected, order);
                let expected: Vec<_> = expected
                    .into_iter()
                    .skip(offset as usize)
                    .take(limit.map_or(usize::MAX, |limit: u32| limit as usize))
                    .collect();
                let scan = Scan { lines: Lines::All, selection, order, limit, offset };
                let mut found = Vec::new();
                self.database
                    .scan(&scan, &|fen: &[u8]| fits(std::str::from_utf8(fen).expect("text")), &mut |hit| {
                        found.push(place(&hit));
                        true
                    })
                    .expect("a scan");
                assert_eq!(found, expected, "{part} {order:?} {limit:?} {offset}");
            }
        }
    }

    /// The tested selections, each with its games.
    fn selections(&self) -> Vec<(Selection, BTreeSet<u32>)> {
        let white = self.games[&1].white.clone().unwrap_or_default();
        let by_name = GameFilter { white: Some(NameFilter::Exactly(white.clone())), ..GameFilter::default() };
        let won = GameFilter { result: Some(GameResult::White), ..GameFilter::default() };
        let is_all = |_: &GameSummary| true;
        let is_his = |game: &GameSummary| game.white.as_deref() == Some(white.as_str());
        let is_won = |game: &GameSummary| game.result == GameResult::White;
        let chosen = |fits: &dyn Fn(&GameSummary) -> bool| {
            self.games.iter().filter(|(_, game)| fits(game)).map(|(&game, _)| game).collect()
        };
        let select = |filter| self.database.select(filter).expect("a selection");
        vec![
            (Selection::default(), chosen(&is_all)),
            (select(&by_name), chosen(&is_his)),
            (select(&won), chosen(&is_won)),
        ]
    }

    /// Checks every `every`th position of the variations, and the positions that occur most often in them.
    fn assert_all(&self, every: usize) {
        let mut counts = BTreeMap::<&str, usize>::new();
        for (&(_, line, _), reached) in &self.positions {
            if line > 0 {
                *counts.entry(&reached.fen).or_default() += 1;
                *counts.entry(&reached.before).or_default() += 1;
            }
        }
        let mut fens: Vec<_> = counts.iter().map(|(&fen, &count)| (Reverse(count), fen)).collect();
        fens.sort_unstable();
        let (most, others) = fens.split_at(fens.len().min(20));
        for (_, fen) in most.iter().chain(others.iter().step_by(every)) {
            for (selection, chosen) in self.selections() {
                self.assert_hits(fen, &selection, &chosen);
                self.assert_moves(fen, &selection, &chosen);
            }
        }
        for (selection, chosen) in self.selections() {
            self.assert_hits(START, &selection, &chosen);
            self.assert_moves(START, &selection, &chosen);
            for part in ["2PP4", "p4p", "R4RK1", "n1B", "3q4"] {
                self.assert_scan(part, &selection, &chosen);
            }
        }
    }
}

/// The output of the script.
fn script(words: &[&str], input: &Path) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/variations.py");
    let output = Command::new(python_with_chess()?).arg(script).args(words).arg(input).output();
    let output = output.expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// The games that python-chess reads without an error; damaged games are tested elsewhere.
fn clean(text: &[u8]) -> Option<String> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    script(&["clean"], file.path())
}

fn position(fen: &str) -> Position {
    Position::from_fen(fen.as_bytes()).expect("a position").0
}

fn place(hit: &Hit) -> Place {
    (hit.game.game.0, hit.line, hit.ply.0)
}

/// A number that grows with the date; unknown parts count as 0.
fn day(game: &GameSummary) -> u32 {
    let date = game.date.as_deref().unwrap_or_default();
    let parts = date.split('.').zip([10_000, 100, 1]);
    let number = |(part, unit): (&str, u32)| match unit {
        10_000 => part.parse().unwrap_or(0) * unit,
        _ => part.replace('?', "0").parse().unwrap_or(0) * unit,
    };
    parts.map(number).sum()
}

#[test]
fn all_positions_of_nested_variations() {
    let Some(sample) = Sample::of(NESTED) else { return };
    sample.assert_all(1);
}

/// Checks the first `most` bytes of a collection.
fn check_annotated_games(most: usize) {
    let Some(text) = part_of_corpus("annotated_mixed", most) else { return };
    let Some(text) = clean(&text) else { return };
    let Some(sample) = Sample::of(text.as_bytes()) else { return };
    let moves = sample.positions.keys().filter(|place| place.1 > 0).count();
    println!("{} games, {moves} moves of variations", sample.games.len());
    sample.assert_all(moves / 40 + 1);
}

#[test]
fn positions_of_some_annotated_games() {
    check_annotated_games(80_000);
}

#[test]
#[ignore = "takes ten seconds"]
fn positions_of_many_annotated_games() {
    check_annotated_games(1_000_000);
}
