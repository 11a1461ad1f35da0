//! The nearest positions, compared with a scan of all rows.

use pgndex::board::{GameResult, Position, PositionDistance};
use pgndex::index::{Duplicates, IndexOptions, Progress, index};
use pgndex::store::{Database, GameFilter, Hit, Nearest, Selection};
use tempfile::TempDir;

use crate::needs::part_of_corpus;

/// Pseudo-random numbers, the same in each run.
struct Random(u32);

impl Random {
    /// A number less than `most`.
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u32::try_from((u64::from(self.0) * u64::from(most)) >> 32).unwrap()
    }
}

/// The squares of a FEN (a blank is an empty square), the number of pieces of each kind, and the side to move.
#[derive(Clone, Debug)]
struct Board {
    squares: [u8; 64],
    counts: [u32; 12],
    side: u8,
}

impl Board {
    fn of(fen: &str) -> Self {
        let (placement, rest) = fen.split_once(' ').expect("a side to move");
        let letters = placement.bytes().filter(|&letter| letter != b'/');
        let squares = letters.flat_map(|letter| match letter {
            b'1'..=b'8' => vec![b' '; usize::from(letter - b'0')],
            _ => vec![letter],
        });
        let squares: [u8; 64] = squares.collect::<Vec<_>>().try_into().expect("64 squares");
        let count = |piece: &u8| squares.iter().filter(|&square| square == piece).count() as u32;
        Self { squares, counts: b"KQRBNPkqrbnp".each_ref().map(count), side: rest.as_bytes()[0] }
    }

    fn fen(&self) -> String {
        let line = |line: &[u8]| String::from_utf8_lossy(line).replace(' ', "1");
        let lines = self.squares.chunks(8).map(line).collect::<Vec<_>>();
        format!("{} {} - -", lines.join("/"), char::from(self.side))
    }

    /// The distance as the manual defines it.
    fn distance(&self, other: &Self) -> u32 {
        let mut distance = u32::from(self.side != other.side);
        let mut same_pawns = true;
        for (one, two) in self.squares.iter().zip(&other.squares) {
            if one == two {
                continue;
            }
            for piece in [one, two] {
                match *piece {
                    b' ' => {}
                    b'P' | b'p' => (distance, same_pawns) = (distance + 2, false),
                    _ => distance += 1,
                }
            }
        }
        let surplus: u32 = self.counts.iter().zip(&other.counts).map(|(one, two)| one.abs_diff(*two)).sum();
        distance + 3 * surplus + if same_pawns && surplus == 0 { 0 } else { 100 }
    }
}

struct Sample {
    path: std::path::PathBuf,
    database: Database,
    /// Game, ply and FEN of all positions, in order.
    rows: Vec<(u32, u32, Board, String)>,
    _directory: TempDir,
}

impl Sample {
    fn of(pgn: &[u8]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (input, path) = (directory.path().join("in.pgn"), directory.path().join("out.db"));
        std::fs::write(&input, pgn).expect("written");
        let options = IndexOptions { duplicates: Duplicates::Keep, ..IndexOptions::default() };
        index(&path, &[input], &options, &Progress::default()).expect("indexed");
        let database = Database::open(&path).expect("a database");
        let mut statement = database
            .connection()
            .prepare("SELECT game_id, ply, fen FROM game_position ORDER BY game_id, ply")
            .expect("SQL");
        let row = |row: &rusqlite::Row<'_>| {
            let fen: String = row.get(2)?;
            Ok((row.get(0)?, row.get(1)?, Board::of(&fen), fen))
        };
        let rows =
            statement.query_map([], row).expect("rows").collect::<rusqlite::Result<_>>().expect("rows");
        drop(statement);
        Self { path, database, rows, _directory: directory }
    }

    /// A position from a game; sometimes with two squares exchanged, or one cleared.
    fn position(&self, random: &mut Random) -> Position {
        loop {
            let (_, _, board, fen) = &self.rows[random.below(self.rows.len() as u32) as usize];
            let mut board = board.clone();
            let [square, other] = [0; 2].map(|_| random.below(64) as usize);
            match random.below(4) {
                0 => board.squares.swap(square, other),
                1 => board.squares[square] = b' ',
                _ => return Position::from_fen(fen.as_bytes()).expect("a legal position").0,
            }
            if let Ok((position, _)) = Position::from_fen(board.fen().as_bytes()) {
                return position;
            }
        }
    }

    /// Distance, game and ply of the nearest position of each game, nearest first, by a scan of all rows.
    fn expected(&self, position: &Position, is_selected: impl Fn(u32) -> bool) -> Vec<(u32, u32, u32)> {
        let board = Board::of(&position.canonical_fen());
        let games = self.rows.chunk_by(|one, two| one.0 == two.0).filter(|rows| is_selected(rows[0].0));
        let near = |(game, ply, other, _): &(u32, u32, Board, String)| (board.distance(other), *game, *ply);
        let mut best: Vec<_> = games.filter_map(|rows| rows.iter().map(near).min()).collect();
        best.sort_unstable();
        best
    }

    fn found(&self, nearest: &Nearest<'_>) -> (Vec<(u32, u32, u32)>, Option<u32>) {
        let mut found = Vec::new();
        let mut see = |hit: Hit| {
            found.push((hit.distance.expect("a distance"), hit.game.game.0, hit.ply.0));
            true
        };
        let unseen = self.database.nearest(nearest, &mut see).expect("an answer");
        (found, unseen)
    }

    /// Compares this many answers, also with filters, with a scan of all rows.
    fn assert_right(&self, count: u32, seed: u32) {
        let mut random = Random(seed);
        let filters = [
            (GameFilter::default(), "true"),
            (GameFilter { result: Some(GameResult::Draw), ..GameFilter::default() }, "result = '1/2-1/2'"),
            (
                GameFilter { elo_min: Some(2000), ..GameFilter::default() },
                "white_elo >= 2000 AND black_elo >= 2000",
            ),
            (GameFilter { plies_max: Some(60), ..GameFilter::default() }, "ply_count <= 60"),
            (GameFilter { event: Some("=nowhere".parse().unwrap()), ..GameFilter::default() }, "false"),
        ];
        for round in 0..count {
            let (filter, condition) = &filters[random.below(9).saturating_sub(4) as usize];
            let selection = self.database.select(filter).expect("a selection");
            let games = self.games(condition);
            let position = self.position(&mut random);
            let to = PositionDistance::to(&position);
            let expected = self.expected(&position, |game| games.binary_search(&game).is_ok());
            let (limit, offset) = (1 + random.below(30), random.below(5));
            let nearest =
                Nearest { to: &to, selection: &selection, limit: Some(limit), offset, most_games: None };
            let about = format!("{round}: {} {condition}", position.canonical_fen());
            let page = expected.iter().copied().skip(offset as usize).take(limit as usize);
            assert_eq!(self.found(&nearest), (page.collect(), None), "{about}");
            // If only a few games are read, the hits that are known to be the nearest are correct.
            let (found, unseen) = self.found(&Nearest { most_games: Some(20), offset: 0, ..nearest });
            let is_sure = |near: &&(u32, u32, u32)| unseen.is_none_or(|unseen| near.0 < unseen);
            let sure: Vec<_> = found.iter().take_while(is_sure).collect();
            let all: Vec<_> = expected.iter().take(limit as usize).take_while(is_sure).collect();
            assert_eq!(sure, all, "{about} {unseen:?}");
            if round % 10 == 0 {
                assert_eq!(
                    self.found(&Nearest { limit: None, offset: 0, ..nearest }),
                    (expected, None),
                    "{about}"
                );
            }
        }
    }

    fn games(&self, condition: &str) -> Vec<u32> {
        let sql = format!("SELECT game_id FROM game WHERE {condition} ORDER BY 1");
        let mut statement = self.database.connection().prepare(&sql).expect("SQL");
        statement
            .query_map([], |row| row.get(0))
            .expect("rows")
            .collect::<rusqlite::Result<_>>()
            .expect("numbers")
    }
}

#[test]
fn the_nearest_positions_agree_with_a_full_scan() {
    let sample = Sample::of(include_bytes!("../../examples/synthetic.pgn"));
    sample.assert_right(8, 1);
    let sample = Sample::of(include_bytes!("../../examples/famous-games.pgn"));
    sample.assert_right(60, 2);
    let Some(text) = part_of_corpus("otb-40k", 1 << 17) else { return };
    Sample::of(&text).assert_right(20, 3);
}

#[test]
#[ignore = "takes ten seconds"]
fn the_nearest_positions_of_many_games_agree_with_a_full_scan() {
    let Some(text) = part_of_corpus("otb-40k", 1 << 19) else { return };
    Sample::of(&text).assert_right(40, 3);
    Sample::of(include_bytes!("../../examples/synthetic.pgn")).assert_right(40, 1);
}

#[test]
fn the_nearest_positions_are_the_same_without_sets_or_columns() {
    let mut sample = Sample::of(include_bytes!("../../examples/famous-games.pgn"));
    for change in
        ["DELETE FROM game_set WHERE kind = 'game'", "DELETE FROM game_column WHERE name = 'ply_count'"]
    {
        sample.database.connection().execute_batch(change).expect("SQL");
        sample.database = Database::open(&sample.path).expect("a database");
        sample.assert_right(20, 4);
    }
}

/// With so many pieces, positions with other material can be nearer than those with the same material.
#[test]
fn the_nearest_positions_of_a_full_board_agree_with_a_full_scan() {
    let target = "nnnnnnnk/nnnnnnnn/bbbbbbbb/bbbbbbbr/RBBBBBBB/BBBBBBBB/NNNNNNNN/KNNNNNNN";
    let upside_down = target.split('/').rev().collect::<Vec<_>>().join("/");
    let less = target.replacen("nnnnnnnn/", "nnnnnnn1/", 1);
    let game = |placement: &str| format!("[FEN \"{placement} w - - 0 1\"]\n[SetUp \"1\"]\n\n*\n\n");
    let sample = Sample::of([&upside_down, &upside_down, &less].map(|fen| game(fen)).concat().as_bytes());
    let (position, _) = Position::from_fen(format!("{target} w - -").as_bytes()).expect("a position");
    let expected = sample.expected(&position, |_| true);
    assert_eq!(expected, [(104, 3, 0), (128, 1, 0), (128, 2, 0)]);
    let (to, selection) = (PositionDistance::to(&position), Selection::default());
    let nearest = Nearest { to: &to, selection: &selection, limit: Some(1), offset: 0, most_games: None };
    assert_eq!(sample.found(&nearest), (expected[..1].to_vec(), None));
    assert_eq!(sample.found(&Nearest { most_games: Some(1), ..nearest }), (vec![expected[1]], Some(104)));
}

#[test]
fn without_positions_nothing_is_found() {
    let sample = Sample::of(b"[FEN \"no position\"]\n[SetUp \"1\"]\n\n1. e4 *\n");
    let (to, selection) = (PositionDistance::to(&Position::start()), Selection::default());
    let nearest = Nearest { to: &to, selection: &selection, limit: Some(15), offset: 0, most_games: None };
    assert_eq!(sample.found(&nearest), (vec![], None));
}
