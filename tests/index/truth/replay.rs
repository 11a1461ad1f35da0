//! A database compared with a replay of its own moves.

use pgndex::board::{MoveCode, Position, PositionKey};
use rusqlite::Connection;

use super::corpus::{Corpus, Game, fullmove_number};

/// One row of `game_position`.
struct Stored {
    game: i64,
    ply: u32,
    key: PositionKey,
    halfmove_clock: u32,
    move_code: Option<u32>,
    fen: String,
}

/// Replays every game of a collection, or of its beginning, using only the database, and compares the tables with each
/// other.
pub(crate) fn is_consistent(corpus: &Corpus) {
    let database = &corpus.database;
    let mut statement = database
        .prepare(
            "SELECT game_id, ply, key, halfmove_clock, move_code, fen FROM game_position ORDER BY game_id, ply",
        )
        .unwrap();
    let mut rows = statement
        .query_map((), |row| {
            Ok(Stored {
                game: row.get(0)?,
                ply: row.get(1)?,
                key: PositionKey::from_i64(row.get(2)?),
                halfmove_clock: row.get(3)?,
                move_code: row.get(4)?,
                fen: row.get(5)?,
            })
        })
        .unwrap()
        .map(Result::unwrap);
    let (mut plies, mut positions) = (0, 0);
    for game in corpus.games.iter().filter(|game| game.status != "skipped") {
        replay(game, &mut rows);
        plies += u64::from(game.plies);
        positions += u64::from(game.plies) + 1;
    }
    assert!(rows.next().is_none(), "positions without a game");
    let summary = &corpus.summary;
    assert_eq!((summary.games, summary.plies), (corpus.games.len() as u64, plies));
    assert_eq!(summary.positions, positions);
    assert_eq!(summary.distinct_positions, same_occurrences(database));
    assert_sound(database);
}

/// Replays one game; the move codes must equal the stored ones, and only the last may have the mate bit.
fn replay(game: &Game, rows: &mut impl Iterator<Item = Stored>) {
    let mut position = game.start_fen.as_ref().map_or_else(Position::start, |fen| {
        let (position, changes) = Position::from_fen(fen.as_bytes()).unwrap();
        assert!(changes.is_empty(), "game {}: the start is not canonical: {fen}", game.id);
        assert_eq!(position.fen(), *fen, "game {}", game.id);
        position
    });
    for ply in 0..=game.plies {
        let row = rows.next().expect("a row for every ply");
        let at = (game.id, ply);
        assert_eq!((row.game, row.ply), at);
        assert_eq!(row.fen, position.canonical_fen(), "{at:?}");
        assert_eq!(row.key, position.key(), "{at:?}");
        assert_eq!(row.key, position.key_from_scratch(), "{at:?}");
        assert_eq!(row.halfmove_clock, position.halfmove_clock(), "{at:?}");
        assert_eq!(fullmove_number(game.start_fen.as_deref(), ply), position.fullmove_number(), "{at:?}");
        assert_eq!(row.move_code.is_some(), ply < game.plies, "{at:?}: only the last position has no move");
        let Some(bits) = row.move_code else { continue };
        let code =
            MoveCode::from_bits(bits).unwrap_or_else(|| panic!("{at:?}: {bits:#x} is not a move code"));
        let made = position.make(code.model()).unwrap_or_else(|error| panic!("{at:?}: {code:?}: {error}"));
        let is_mate = ply + 1 == game.plies && position.is_check() && !position.has_legal_move();
        let expected = if is_mate { made.with_mate() } else { made };
        assert_eq!(code, expected, "{at:?}");
    }
}

/// Compares `position_game` with `game_position` row by row, and returns the number of keys.
fn same_occurrences(database: &Connection) -> u64 {
    let read = |sql: &str| -> Vec<(i64, u32, u32)> {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    // In the order of the primary key, without sorting by SQLite, so that rows in the wrong order are noticed.
    let found = read("SELECT key, game_id, ply FROM position_game");
    assert!(found.is_sorted_by(|a, b| a < b), "position_game is sorted by key, without duplicate rows");
    let mut expected = read("SELECT key, game_id, ply FROM game_position");
    expected.sort_unstable();
    assert_eq!(found.len(), expected.len());
    let differing = found.iter().zip(&expected).find(|(found, expected)| found != expected);
    assert_eq!(differing, None, "position_game has the rows of game_position");
    found.chunk_by(|a, b| a.0 == b.0).count() as u64
}

fn assert_sound(database: &Connection) {
    let integrity: String = database.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
    let mut statement = database.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!statement.exists(()).unwrap(), "a row refers to a missing row");
}
