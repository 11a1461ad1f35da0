//! The stored rows equal the inserted rows, whatever they contain.

use std::collections::BTreeMap;

use crate::properties::cases;
use crate::support::defaults;
use pgndex::board::GameResult;
use pgndex::id::OpeningId;
use pgndex::store::row::{
    GameId, GameRow, GameStatus, HeaderBatch, NameId, Ply, ProblemRow, Severity, SourceId, TagRow,
};
use pgndex::store::{Build, BuildOptions, BulkLoader, ImportId, NewImport};
use proptest::collection::btree_map;
use proptest::option;
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;

type Table = Vec<Vec<Value>>;

/// Numbers near the limits at which SQLite stores them differently.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(1), Just(u32::MAX), 0..300_u32, any::<u32>()]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[ -~]{1,60}",
        "\\PC{0,40}",
        Just("a\0b".to_owned()),
        Just("x".repeat(20_000))
    ]
}

#[derive(Clone, Debug)]
struct Game {
    numbers: [u32; 4],
    elo: Option<u16>,
    hash: u64,
    texts: [Option<String>; 3],
    tags: BTreeMap<String, String>,
    problem: Option<String>,
}

fn game() -> impl Strategy<Value = Game> {
    (
        [number(), number(), number(), number()],
        option::of(any::<u16>()),
        any::<u64>(),
        [option::of(text()), option::of(text()), option::of(text())],
        // In a game, no two tag names differ only in case.
        btree_map(text().prop_map(|name| name.to_ascii_lowercase()), text(), 0..4),
        option::of(text()),
    )
        .prop_map(|(numbers, elo, hash, texts, tags, problem)| Game {
            numbers,
            elo,
            hash,
            texts,
            tags,
            problem,
        })
}

fn int(value: impl Into<i64>) -> Value {
    Value::Integer(value.into())
}

fn maybe(value: Option<impl Into<i64>>) -> Value {
    value.map_or(Value::Null, int)
}

fn words(value: Option<&String>) -> Value {
    value.map_or(Value::Null, |text| Value::Text(text.clone()))
}

/// The expected rows of the tables, in the order of their keys.
#[derive(Default)]
struct Expected {
    games: Table,
    tags: Table,
    problems: Table,
}

/// Passes the games to the loader in small batches, as an import does.
fn load(games: &BTreeMap<u32, Game>, build: &Build, batch: usize) -> Expected {
    let mut expected = Expected::default();
    let mut loader = BulkLoader::begin(build.connection(), build.path()).expect("a loader");
    loader
        .add_import(&NewImport { id: ImportId(1), program_version: "0", options: "{}" })
        .expect("an import");
    loader.add_openings(&defaults().openings).expect("openings");
    loader.add_source(SourceId(1), "x", 0).expect("a source");
    let mut headers = HeaderBatch::default();
    let name = headers.push_text("♔ name");
    headers.players.push((NameId(1), name));
    for (index, (&id, game)) in games.iter().enumerate() {
        add_game(GameId(id), game, &mut headers, &mut expected);
        if index % batch == 0 {
            loader.append_headers(&headers).expect("headers");
            headers.clear();
        }
    }
    loader.append_headers(&headers).expect("headers");
    loader.finish().expect("a commit");
    expected
}

/// An opening from the list.
fn opening(game: &Game) -> Option<OpeningId> {
    game.elo.map(|elo| OpeningId(1 + u32::from(elo) % defaults().openings.len() as u32))
}

fn add_game(id: GameId, game: &Game, batch: &mut HeaderBatch, expected: &mut Expected) {
    let [offset, length, plies, line] = game.numbers;
    let line = line.max(1);
    let texts = game.texts.each_ref().map(|text| text.as_ref().map(|text| batch.push_text(text)));
    batch.games.push(GameRow {
        game: id,
        source: SourceId(1),
        byte_offset: u64::from(offset) << 31,
        byte_length: length.into(),
        date: texts[0],
        round: texts[1],
        start_fen: texts[2],
        white: game.elo.map(|_| NameId(1)),
        white_elo: game.elo,
        opening: opening(game),
        result: GameResult::Draw,
        status: GameStatus::Truncated,
        ply_count: plies,
        moves_hash: game.hash,
        ..GameRow::default()
    });
    let [date, round, start_fen] = game.texts.each_ref().map(|text| words(text.as_ref()));
    expected.games.push(vec![
        int(id.0),
        int(i64::from(offset) << 31),
        int(length),
        date,
        round,
        maybe(game.elo.map(|_| 1)),
        Value::Text("1/2-1/2".into()),
        maybe(game.elo),
        maybe(opening(game).map(|id| id.0)),
        start_fen,
        int(plies),
        Value::Text("truncated".into()),
        int(game.hash.cast_signed()),
        int(1),
    ]);
    for (name, value) in &game.tags {
        let tag = TagRow { game: id, name: batch.push_text(name), value: batch.push_text(value) };
        batch.tags.push(tag);
        expected.tags.push(vec![int(id.0), words(Some(name)), words(Some(value))]);
    }
    if let Some(message) = &game.problem {
        let text = batch.push_text(message);
        batch.problems.push(ProblemRow {
            source: SourceId(1),
            byte_offset: offset.into(),
            line: line.into(),
            column: u64::from(line) + 1,
            game_number: plies,
            game: None,
            ply: game.elo.map(|elo| Ply(elo.into())),
            token: Some(text),
            kind: "kind",
            severity: Severity::Warning,
            message: text,
        });
        let number = maybe(Some(plies).filter(|&number| number != 0));
        let message = words(Some(message));
        expected.problems.push(vec![
            int(offset),
            int(line),
            int(i64::from(line) + 1),
            number,
            maybe(game.elo),
            message.clone(),
            message,
        ]);
    }
}

fn read(connection: &Connection, sql: &str) -> Table {
    let mut statement = connection.prepare(sql).expect("SQL");
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn stored_rows_equal_inserted_rows(games in btree_map(1..u32::MAX, game(), 0..20), batch in 1..8_usize) {
        let directory = tempfile::tempdir().expect("a directory");
        let build =
            Build::create(&directory.path().join("x.db"), BuildOptions::default()).expect("a build");
        let expected = load(&games, &build, batch);
        let read = |sql| read(build.connection(), sql);
        prop_assert_eq!(
            read("SELECT game_id, byte_offset, byte_length, date, round, white_id, result, white_elo, opening_id, start_fen,
                         ply_count, status, moves_hash, import_id FROM game ORDER BY game_id"),
            expected.games
        );
        prop_assert_eq!(read("SELECT * FROM tag ORDER BY game_id, name COLLATE BINARY"), expected.tags);
        prop_assert_eq!(
            read("SELECT byte_offset, line, column_number, game_number, ply, token, message FROM problem ORDER BY problem_id"),
            expected.problems
        );
        prop_assert_eq!(read("PRAGMA integrity_check"), [[Value::Text("ok".into())]]);
        prop_assert_eq!(read("PRAGMA foreign_key_check"), Table::new());
    }
}
