//! Compares the search for duplicates with a comparison of all pairs of games. Most cases use hashes of so
//! few bits that many hashes are equal.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use rusqlite::Connection;

use crate::index::{Duplicates, IndexOptions, MIN_PLIES_OF_MOVES, PREFIX_PLIES, Plan, Progress};
use crate::properties::cases;
use crate::verify::{Sample, VerifyOptions, verify};

/// A game of these tests: the data in which games can differ.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Game {
    white: Option<&'static str>,
    black: Option<&'static str>,
    date: Option<&'static str>,
    result: &'static str,
    fen: Option<&'static str>,
    moves: Vec<&'static str>,
    /// Whether an illegal move follows `moves`.
    breaks_off: bool,
}

impl Game {
    fn text(&self) -> String {
        let tags = [("White", self.white), ("Black", self.black), ("Date", self.date), ("FEN", self.fen)]
            .into_iter();
        let mut text = String::new();
        for (name, value) in tags.chain([("Result", Some(self.result))]) {
            text += &value.map(|value| format!("[{name} \"{value}\"]\n")).unwrap_or_default();
        }
        let illegal = if self.breaks_off { "Ke5 " } else { "" };
        text + &format!("\n{} {illegal}{}\n\n", self.moves.join(" "), self.result)
    }

    fn has_players(&self) -> bool {
        self.white.is_some() && self.black.is_some()
    }

    fn has_moves_of(&self, other: &Self) -> bool {
        (self.fen, &self.moves, self.breaks_off) == (other.fen, &other.moves, other.breaks_off)
    }

    fn continues(&self, short: &Self) -> bool {
        let alike = |game: &Self| (game.white, game.black, game.date, game.fen);
        short.has_players()
            && alike(self) == alike(short)
            && short.moves.len() >= PREFIX_PLIES
            && self.moves.len() > short.moves.len()
            && self.moves.starts_with(&short.moves)
    }
}

fn game() -> impl Strategy<Value = Game> {
    const FEN: &str = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1";
    let player = || prop_oneof![3 => Just(Some("A")), 2 => Just(Some("B")), 1 => Just(None)];
    let date = prop_oneof![3 => Just(None), 1 => Just(Some("2001.01.01"))];
    let result = prop_oneof![3 => Just("1-0"), 1 => Just("*")];
    let fen = prop_oneof![4 => Just(None), 1 => Just(Some(FEN))];
    // The beginning of one of three sequences of moves. The second sequence differs from the first after 12
    // plies, the third after 16 plies.
    let plies = prop_oneof![0..3_usize, 13..26_usize];
    let moves =
        (plies, prop_oneof![Just(12), Just(16), Just(usize::MAX)]).prop_map(|(plies, differs_from)| {
            let (one, two) = (["Nf3", "Nf6", "Ng1", "Ng8"], ["Nc3", "Nc6", "Nb1", "Nb8"]);
            (0..plies)
                .map(|ply| if ply >= differs_from { two[ply % 4] } else { one[ply % 4] })
                .collect::<Vec<_>>()
        });
    (player(), player(), date, result, fen, moves, prop::bool::weighted(0.1)).prop_map(
        |(white, black, date, result, fen, moves, breaks_off)| Game {
            white,
            black,
            date,
            result,
            fen,
            moves,
            breaks_off,
        },
    )
}

/// The expected database after some runs, computed by comparing all games.
#[derive(Default)]
struct Expected {
    kept: Vec<Game>,
    /// The expected rows of `duplicate`. A key consists of the run and the byte offset in the run's file. A
    /// value consists of the kind, the id of the short game (only for `prefix`), and the id of the longer or
    /// repeated game.
    rows: BTreeMap<(usize, usize), (&'static str, Option<usize>, usize)>,
    places: Vec<(usize, usize)>,
}

impl Expected {
    fn add(&mut self, run: usize, games: &[Game], rule: Duplicates) {
        let (last, mut offset) = (self.kept.len(), 0);
        for game in games {
            let place = (run, offset);
            offset += game.text().len();
            let first = |is_like: &dyn Fn(&Game) -> bool| Some(self.kept.iter().position(is_like)? + 1);
            let same = first(&|other| other == game && game.has_players());
            let alike = first(&|other| other.has_moves_of(game))
                .filter(|_| rule == Duplicates::Moves && game.moves.len() >= MIN_PLIES_OF_MOVES as usize);
            let found = same.map(|id| ("same", id)).or(alike.map(|id| ("moves", id)));
            match found.filter(|_| rule != Duplicates::Keep && !game.moves.is_empty()) {
                Some((kind, id)) => {
                    self.rows.insert(place, (kind, None, id));
                }
                None => {
                    self.kept.push(game.clone());
                    self.places.push(place);
                }
            }
        }
        if rule == Duplicates::Keep {
            return;
        }
        for (short, place) in self.kept.iter().zip(&self.places).enumerate().map(|(at, game)| (at, game.1)) {
            // Pairs of games that both existed before the run are not reported.
            let from = if short < last { last } else { 0 };
            let is_longer = |game: &Game| game.continues(&self.kept[short]);
            if let Some(long) = self.kept[from..].iter().position(is_longer) {
                self.rows.entry(*place).or_insert(("prefix", Some(short + 1), from + long + 1));
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        let line =
            |(&(run, offset), &(kind, game, original)): (&(usize, usize), &(&str, Option<usize>, usize))| {
                format!("{} {offset} {kind} {game:?} {original}", run + 1)
            };
        self.rows.iter().map(line).collect()
    }

    fn players(&self) -> Vec<String> {
        let mut players: Vec<&str> = Vec::new();
        for name in self.kept.iter().flat_map(|game| [game.white, game.black]).flatten() {
            if !players.contains(&name) {
                players.push(name);
            }
        }
        players.into_iter().map(str::to_owned).collect()
    }
}

fn found(database: &Path) -> (Vec<String>, Vec<String>, Vec<u32>) {
    let database = Connection::open(database).unwrap();
    let rows = |sql: &str, line: fn(&rusqlite::Row<'_>) -> rusqlite::Result<String>| {
        let mut query = database.prepare(sql).unwrap();
        query.query_map([], line).unwrap().collect::<rusqlite::Result<Vec<String>>>().unwrap()
    };
    let duplicates = rows(
        "SELECT source_id, byte_offset, kind, game_id, original_id FROM duplicate ORDER BY 1, 2",
        |row| {
            let (source, offset, kind): (u32, u32, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (game, original): (Option<u32>, u32) = (row.get(3)?, row.get(4)?);
            Ok(format!("{source} {offset} {kind} {game:?} {original}"))
        },
    );
    let players = rows("SELECT name FROM player ORDER BY player_id", |row| row.get(0));
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    let counts =
        ["SELECT count(*) FROM game", "SELECT sum(games) FROM source", "SELECT sum(duplicates) FROM source"];
    (duplicates, players, counts.map(count).to_vec())
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn duplicates_agree_with_a_comparison_of_all_games(
        runs in proptest::collection::vec(
            (proptest::collection::vec(game(), 1..60), prop_oneof![
                1 => Just(Duplicates::Keep), 3 => Just(Duplicates::Skip), 2 => Just(Duplicates::Moves)
            ]),
            1..4,
        ),
        bits in prop_oneof![Just(0), Just(3), Just(8), Just(64)],
        memory in prop_oneof![Just(0), Just(64 << 20)],
    ) {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out.db");
        let mut expected = Expected::default();
        for (number, (games, rule)) in runs.into_iter().enumerate() {
            // A text that is already in the database is not read again, so each text must be different.
            let end = format!("% {number}\n");
            let text: String = games.iter().map(Game::text).chain([end]).collect();
            let file = directory.path().join(format!("{number}.pgn"));
            std::fs::write(&file, text).unwrap();
            let options = IndexOptions { duplicates: rule, memory, threads: 2, chunk_size: 400, ..IndexOptions::default() };
            let mut plan = Plan::new(&[file], &options, &Progress::default()).unwrap();
            plan.hash_bits = bits;
            plan.run(&target, &Progress::default()).unwrap();
            expected.add(number, &games, rule);
            let (rows, players, counts) = found(&target);
            prop_assert_eq!(rows, expected.lines());
            prop_assert_eq!(players, expected.players());
            let skipped = expected.rows.values().filter(|(kind, ..)| *kind != "prefix").count();
            let kept = expected.kept.len();
            prop_assert_eq!(counts, [kept, kept, skipped].map(|count| count as u32));
        }
        if bits == 64 {
            let options = VerifyOptions { sample: Sample::All, ..VerifyOptions::default() };
            let report = verify(&target, &options, &Default::default()).unwrap();
            prop_assert!(report.is_sound(), "{:?}", report);
        }
    }
}
