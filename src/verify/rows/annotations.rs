//! Compares annotations with moves, for all games, without reading PGN files. Also compares the spellings of
//! players' names with each other.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::board::{MoveCode, Position};
use crate::store::cell::{
    COMMAND, COMMENT, GAME, MOVE_EVAL, NAG, PLAYER_ALIAS, Table, VARIATION, VARIATION_MOVE,
};
use crate::verify::FindingKind::{WrongCount, WrongValue};
use crate::verify::rows::{Reader, for_each_row, format_value};
use crate::verify::{Collector, FindingKind, Id, RowId};

/// A column of a table, its expected value in words, and the condition in SQL. In the condition, `t` is the
/// table, and `g` is `game`.
struct Rule(&'static str, String, String);

fn rule(column: &'static str, expected: &str, holds: &str) -> Rule {
    Rule(column, expected.to_owned(), holds.to_owned())
}

/// The condition that the line in the column `column` has a position with the row's ply.
fn on_line(column: &str) -> String {
    format!(
        "(t.{column} = 0 AND t.ply BETWEEN 0 AND g.ply_count
             OR EXISTS (SELECT 1 FROM variation AS v
                        WHERE v.game_id = t.game_id AND v.line = t.{column} AND v.ply = t.ply)
             OR EXISTS (SELECT 1 FROM variation_move AS m
                        WHERE m.game_id = t.game_id AND m.line = t.{column} AND m.ply = t.ply))"
    )
}

/// The rule that rows of a table with the same game, line and ply are numbered 1, 2, 3 ...
fn numbered(Table { name: table, .. }: Table) -> Rule {
    let holds = format!(
        "(t.number = 1 OR EXISTS (SELECT 1 FROM {table} AS c
             WHERE c.game_id = t.game_id AND c.line = t.line AND c.ply = t.ply AND c.number = t.number - 1))"
    );
    Rule("number", format!("1, or one more than the number of the previous {table}"), holds)
}

/// Compares all rows with the moves of their games. Rows of missing games are reported elsewhere.
pub(crate) fn check(reader: Reader<'_>) -> rusqlite::Result<()> {
    let place = || rule("ply", "a ply that exists in this line", &on_line("line"));
    let evals = rule(
        "eval_count",
        "the number of evaluations of the game in move_eval",
        "ifnull(t.eval_count, 0) = (SELECT count(*) FROM move_eval AS e WHERE e.game_id = t.game_id
             AND (e.eval_cp IS NOT NULL OR e.eval_mate IS NOT NULL))",
    );
    let clocks = rule(
        "clock_count",
        "the number of clock values of the game in move_eval",
        "ifnull(t.clock_count, 0) = (SELECT count(clock) FROM move_eval AS e WHERE e.game_id = t.game_id)",
    );
    check_table(reader, GAME, WrongCount, &[evals, clocks])?;
    let ply = rule("ply", "a ply of the game", "t.ply BETWEEN 0 AND g.ply_count");
    check_table(reader, MOVE_EVAL, WrongValue, &[ply])?;
    check_table(reader, COMMENT, WrongValue, &[place(), numbered(COMMENT)])?;
    check_table(reader, NAG, WrongValue, &[place()])?;
    check_table(reader, COMMAND, WrongValue, &[place(), numbered(COMMAND)])?;
    let parent = rule(
        "parent_line",
        "0, or an earlier variation",
        "t.parent_line = 0 OR t.parent_line < t.line AND EXISTS
             (SELECT 1 FROM variation AS v WHERE v.game_id = t.game_id AND v.line = t.parent_line)",
    );
    let branch = rule("ply", "a ply that exists in the parent line", &on_line("parent_line"));
    check_table(reader, VARIATION, WrongValue, &[parent, branch])?;
    let line = rule(
        "line",
        "a row of variation",
        "EXISTS (SELECT 1 FROM variation AS v WHERE v.game_id = t.game_id AND v.line = t.line)",
    );
    let follows = rule(
        "ply",
        "one more than the ply of the previous move",
        "(EXISTS (SELECT 1 FROM variation AS v
                 WHERE v.game_id = t.game_id AND v.line = t.line AND v.ply = t.ply - 1)
             OR EXISTS (SELECT 1 FROM variation_move AS m
                 WHERE m.game_id = t.game_id AND m.line = t.line AND m.ply = t.ply - 1))",
    );
    check_table(reader, VARIATION_MOVE, WrongValue, &[line, follows])?;
    replay_variations(reader)
}

fn check_table(
    reader: Reader<'_>,
    Table { name: table, key }: Table,
    kind: FindingKind,
    rules: &[Rule],
) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    let mut columns: Vec<String> = key.iter().map(|column| format!("t.{column}")).collect();
    columns.extend(rules.iter().map(|Rule(column, _, holds)| format!("t.{column}, ({holds}) IS TRUE")));
    let all: Vec<String> = rules.iter().map(|Rule(_, _, holds)| format!("({holds}) IS TRUE")).collect();
    let sql = format!(
        "SELECT {} FROM game AS g JOIN {table} AS t ON t.game_id = g.game_id WHERE NOT ({})",
        columns.join(", "),
        all.join(" AND ")
    );
    for_each_row(connection, &sql, [], &mut |row| {
        for (index, Rule(column, expected, _)) in rules.iter().enumerate() {
            let at = key.len() + 2 * index;
            if !row.get::<_, bool>(at + 1)? {
                let (id, found) = (RowId::read(row, 0, key)?, Id::of(row.get_ref(at)?).into_text());
                findings.wrong(kind, table, id, column, expected, found);
            }
        }
        Ok(())
    })
}

/// The SQL that selects the position at which a variation begins.
const BRANCH: &str = "
    SELECT p.fen, p.halfmove_clock FROM variation AS v
    JOIN game_position AS p ON p.game_id = v.game_id AND p.ply = v.ply
    WHERE v.game_id = ?1 AND v.line = ?2 AND v.parent_line = 0
    UNION ALL
    SELECT m.fen, m.halfmove_clock FROM variation AS v
    JOIN variation_move AS m ON m.game_id = v.game_id AND m.line = v.parent_line AND m.ply = v.ply
    WHERE v.game_id = ?1 AND v.line = ?2 AND v.parent_line > 0 AND v.parent_line < v.line";

/// A variation being replayed.
struct Line {
    game: i64,
    line: i64,
    ply: i64,
    /// `None` if the rest of the variation cannot be played.
    position: Option<Position>,
}

/// Replays all variations, each from the position at which it branches off.
fn replay_variations(Reader { connection, findings }: Reader<'_>) -> rusqlite::Result<()> {
    let sql = "SELECT game_id, line, ply, key, halfmove_clock, move_code, fen FROM variation_move
               ORDER BY game_id, line, ply";
    let mut open: Option<Line> = None;
    for_each_row(connection, sql, [], &mut |row| {
        let (game, line, ply): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let position = match open.take() {
            Some(open) if open.game == game && open.line == line => {
                // After a gap, which is reported elsewhere, nothing can be played.
                open.position.filter(|_| open.ply + 1 == ply)
            }
            _ => branch(connection, game, line)?,
        };
        play(row, open.insert(Line { game, line, ply, position }), findings)
    })
}

fn branch(connection: &Connection, game: i64, line: i64) -> rusqlite::Result<Option<Position>> {
    let found = connection.prepare_cached(BRANCH)?.query_row([game, line], |row| {
        let (fen, clock) = (row.get_ref(0)?, row.get_ref(1)?);
        let (Ok(fen), Ok(clock)) = (fen.as_str(), clock.as_i64()) else { return Ok(None) };
        Ok(Position::from_fen(format!("{fen} {clock} 1").as_bytes()).ok().map(|(position, _)| position))
    });
    Ok(found.optional()?.flatten())
}

/// Plays the move of a row, and reports values that do not match the position after it.
fn play(row: &Row<'_>, line: &mut Line, findings: &Collector) -> rusqlite::Result<()> {
    let Some(position) = &mut line.position else { return Ok(()) };
    let (game, number, ply) = (line.game, line.line, line.ply);
    let wrong = |column, expected: String, found: ValueRef<'_>| {
        let id = RowId::new([("game_id", game), ("line", number), ("ply", ply)]);
        findings.wrong(WrongValue, "variation_move", id, column, expected, Id::of(found).into_text());
    };
    let stored = row.get_ref(5)?;
    let bits = stored.as_i64().ok().and_then(|bits| u32::try_from(bits).ok());
    let made = bits.and_then(|bits| position.make(MoveCode::from_stored(bits)).ok());
    if made.is_none() {
        wrong("move_code", "a legal move".to_owned(), stored);
        line.position = None;
        return Ok(());
    }
    let (key, clock, fen) = (position.key().as_i64(), position.halfmove_clock(), position.canonical_fen());
    if row.get_ref(3)? != ValueRef::Integer(key) {
        wrong("key", key.to_string(), row.get_ref(3)?);
    }
    if row.get_ref(4)? != ValueRef::Integer(clock.into()) {
        wrong("halfmove_clock", clock.to_string(), row.get_ref(4)?);
    }
    if row.get_ref(6)? != ValueRef::Text(fen.as_bytes()) {
        wrong("fen", fen, row.get_ref(6)?);
    }
    Ok(())
}

/// Queries for wrong rows: the expected value, the column, and the SQL, which selects the alias and the value
/// found.
const WRONG_ALIASES: [(&str, &str, &str); 2] = [
    (
        "a name that is not itself another spelling",
        "name",
        "SELECT alias, name FROM player_alias WHERE name IN (SELECT alias FROM player_alias)",
    ),
    (
        "NULL, or the same number for all spellings of the name",
        "fide_id",
        "SELECT alias, fide_id FROM player_alias AS row WHERE fide_id IS NOT NULL
             AND EXISTS (SELECT 1 FROM player_alias AS other WHERE other.name = row.name AND other.fide_id < row.fide_id)",
    ),
];

/// Compares the spellings of players' names with each other.
pub(crate) fn check_aliases(Reader { connection, findings }: Reader<'_>) -> rusqlite::Result<()> {
    for (expected, column, sql) in WRONG_ALIASES {
        for_each_row(connection, sql, [], &mut |row| {
            let (id, found) = (RowId::read(row, 0, PLAYER_ALIAS.key)?, format_value(row.get_ref(1)?));
            findings.wrong(WrongValue, PLAYER_ALIAS.name, id, column, expected, found);
            Ok(())
        })?;
    }
    Ok(())
}
