//! The rows of each table as SQL reads them from a batch.

use std::ffi::CStr;

use super::row::{HeaderBatch, NameId, Occurrence, PositionBatch, ResultCounts, Text, VisitedBatch};
use super::vtab::{Cell, Rows};

/// Rows and the statement that inserts them.
pub(super) trait InsertRows: Rows {
    /// The table.
    const TABLE: &'static str;
    /// `write table …`, for errors.
    const ACTION: &'static str;
    /// `INSERT INTO … SELECT … FROM` the virtual table.
    /// Without `OR ROLLBACK` SQLite would keep a journal, in a temporary file somewhere, to undo the statement alone.
    const INSERT: &'static str;

    /// Number of rows.
    fn count(batch: &Self::Batch) -> usize {
        Self::len(batch)
    }
}

/// Declares a kind of rows: the batch, the table, its columns as the batch gives them, one more column that is a
/// parameter of the statement, and the functions for length and values.
macro_rules! rows {
    (
        $name:ident, $batch:ty, $table:literal, $columns:literal $(, $extra:literal = $parameter:literal)?;
        $len:expr, $cell:path
    ) => {
        pub(super) struct $name;

        impl Rows for $name {
            type Batch = $batch;
            const NAME: &'static CStr = c_str(concat!("batch_", $table, "\0"));
            const DECLARATION: &'static CStr = c_str(concat!("CREATE TABLE x (", $columns, ")\0"));

            fn len(batch: &$batch) -> usize {
                $len(batch)
            }

            #[inline]
            fn cell(batch: &$batch, row: usize, column: usize) -> Option<Cell<'_>> {
                $cell(batch, row, column)
            }
        }

        impl InsertRows for $name {
            const TABLE: &'static str = $table;
            const ACTION: &'static str = concat!("write table ", $table);
            const INSERT: &'static str = concat!(
                "INSERT OR ROLLBACK INTO ", $table, " (", $columns $(, ", ", $extra)?, ")
                 SELECT ", $columns $(, ", ", $parameter)?, " FROM batch_", $table
            );
        }
    };
}

const fn c_str(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("one zero byte, at the end"),
    }
}

rows!(
    GamePositions, PositionBatch, "game_position", "game_id, ply, key, halfmove_clock, move_code, fen";
    |batch: &PositionBatch| batch.rows.len(), game_position
);
rows!(
    PositionGames, [Occurrence], "position_game", "key, game_id, ply";
    |batch: &[Occurrence]| batch.len(), position_game
);
rows!(
    Games, HeaderBatch, "game",
    "game_id, source_id, byte_offset, byte_length, event_id, site_id, date, round, white_id, black_id, result, \
     white_elo, black_elo, white_title, black_title, eco, opening_id, time_control, variant, start_fen, ply_count, \
     status, moves_hash, prefix_hash", "import_id" = "?1";
    |batch: &HeaderBatch| batch.games.len(), game
);
rows!(
    Tags, HeaderBatch, "tag", "game_id, name, value";
    |batch: &HeaderBatch| batch.tags.len(), tag
);
rows!(
    Problems, HeaderBatch, "problem",
    "source_id, byte_offset, line, column_number, game_number, game_id, ply, token, kind, severity, message";
    |batch: &HeaderBatch| batch.problems.len(), problem
);
rows!(
    Duplicates, HeaderBatch, "duplicate",
    "source_id, byte_offset, byte_length, line, game_number, kind, original_id", "import_id" = "?1";
    |batch: &HeaderBatch| batch.duplicates.len(), duplicate
);
rows!(
    Players, HeaderBatch, "player", "player_id, name";
    |batch: &HeaderBatch| batch.players.len(), player
);
rows!(
    Events, HeaderBatch, "event", "event_id, name";
    |batch: &HeaderBatch| batch.events.len(), event
);
rows!(
    Sites, HeaderBatch, "site", "site_id, name";
    |batch: &HeaderBatch| batch.sites.len(), site
);

rows!(
    VisitedPositions, VisitedBatch, "visited_position",
    "key, fen, games, white_wins, draws, black_wins, unfinished, elo_sum, elo_games, top_games, recent_games";
    |batch: &VisitedBatch| batch.positions.len(), visited_position
);
rows!(
    Continuations, VisitedBatch, "continuation",
    "key, move_code, games, white_wins, draws, black_wins, elo_sum, elo_games, first_year, last_year";
    |batch: &VisitedBatch| batch.continuations.len(), continuation
);

#[inline]
fn game_position(batch: &PositionBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    let row = batch.rows.get(row)?;
    match column {
        0 => integer(row.game.0),
        1 => integer(row.ply.0),
        2 => integer(row.key.as_i64()),
        3 => integer(row.halfmove_clock),
        4 => optional(row.move_code.map(|code| code.bits())),
        5 => text(&batch.text, row.fen),
        _ => None,
    }
}

#[inline]
fn position_game(batch: &[Occurrence], row: usize, column: usize) -> Option<Cell<'_>> {
    let row = batch.get(row)?;
    match column {
        0 => integer(row.key().as_i64()),
        1 => integer(row.game().0),
        2 => integer(row.ply().0),
        _ => None,
    }
}

fn game(batch: &HeaderBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    let row = batch.games.get(row)?;
    let optional_text =
        |value: Option<Text>| value.map_or(Some(Cell::Null), |value| text(&batch.text, value));
    let name = |id: Option<NameId>| optional(id.map(|id| id.0));
    match column {
        0 => integer(row.game.0),
        1 => integer(row.source.0),
        2 => integer(i64::try_from(row.byte_offset).ok()?),
        3 => integer(i64::try_from(row.byte_length).ok()?),
        4 => name(row.event),
        5 => name(row.site),
        6 => optional_text(row.date),
        7 => optional_text(row.round),
        8 => name(row.white),
        9 => name(row.black),
        10 => Some(Cell::Text(row.result.as_str())),
        11 => optional(row.white_elo),
        12 => optional(row.black_elo),
        13 => optional_text(row.white_title),
        14 => optional_text(row.black_title),
        15 => optional_text(row.eco),
        16 => optional(row.opening.map(|id| id.0)),
        17 => optional_text(row.time_control),
        18 => optional_text(row.variant),
        19 => optional_text(row.start_fen),
        20 => integer(row.ply_count),
        21 => Some(Cell::Text(row.status.as_str())),
        22 => integer(row.moves_hash.cast_signed()),
        23 => optional(row.prefix_hash.map(u64::cast_signed)),
        _ => None,
    }
}

fn tag(batch: &HeaderBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    let row = batch.tags.get(row)?;
    match column {
        0 => integer(row.game.0),
        1 => text(&batch.text, row.name),
        2 => text(&batch.text, row.value),
        _ => None,
    }
}

fn problem(batch: &HeaderBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    let row = batch.problems.get(row)?;
    match column {
        0 => integer(row.source.0),
        1 => integer(i64::try_from(row.byte_offset).ok()?),
        2 => integer(i64::try_from(row.line).ok()?),
        3 => integer(i64::try_from(row.column).ok()?),
        4 => optional(Some(row.game_number).filter(|&number| number != 0)),
        5 => optional(row.game.map(|game| game.0)),
        6 => optional(row.ply.map(|ply| ply.0)),
        7 => row.token.map_or(Some(Cell::Null), |token| text(&batch.text, token)),
        8 => Some(Cell::Text(row.kind)),
        9 => Some(Cell::Text(row.severity.as_str())),
        10 => text(&batch.text, row.message),
        _ => None,
    }
}

fn duplicate(batch: &HeaderBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    let row = batch.duplicates.get(row)?;
    match column {
        0 => integer(row.source.0),
        1 => integer(i64::try_from(row.byte_offset).ok()?),
        2 => integer(i64::try_from(row.byte_length).ok()?),
        3 => integer(i64::try_from(row.line).ok()?),
        4 => integer(row.game_number),
        5 => Some(Cell::Text(row.kind.as_str())),
        6 => integer(row.original.0),
        _ => None,
    }
}

fn player(batch: &HeaderBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    name(&batch.players, &batch.text, row, column)
}

fn event(batch: &HeaderBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    name(&batch.events, &batch.text, row, column)
}

fn site(batch: &HeaderBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    name(&batch.sites, &batch.text, row, column)
}

fn visited_position(batch: &VisitedBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    let row = batch.positions.get(row)?;
    match column {
        0 => integer(row.key.as_i64()),
        1 => text(&batch.text, row.fen),
        2..=5 => result_count(&row.counts, column - 2),
        6 => integer(row.unfinished),
        7 | 8 => result_count(&row.counts, column - 3),
        9 => text(&batch.text, row.top_games),
        10 => text(&batch.text, row.recent_games),
        _ => None,
    }
}

fn continuation(batch: &VisitedBatch, row: usize, column: usize) -> Option<Cell<'_>> {
    let row = batch.continuations.get(row)?;
    match column {
        0 => integer(row.key.as_i64()),
        1 => integer(row.move_code.bits()),
        2..=9 => result_count(&row.counts, column - 2),
        _ => None,
    }
}

/// The columns from `games` on to the years.
fn result_count<'a>(counts: &ResultCounts, column: usize) -> Option<Cell<'a>> {
    match column {
        0 => integer(i64::try_from(counts.games()).ok()?),
        1 => integer(counts.white_wins),
        2 => integer(counts.draws),
        3 => integer(counts.black_wins),
        4 => integer(i64::try_from(counts.elo_sum).ok()?),
        5 => integer(counts.elo_games),
        6 => optional(counts.first_year),
        7 => optional(counts.last_year),
        _ => None,
    }
}

fn name<'a>(names: &[(NameId, Text)], texts: &'a str, row: usize, column: usize) -> Option<Cell<'a>> {
    let (id, name) = names.get(row)?;
    match column {
        0 => integer(id.0),
        1 => text(texts, *name),
        _ => None,
    }
}

#[inline]
fn integer<'a>(value: impl Into<i64>) -> Option<Cell<'a>> {
    Some(Cell::Integer(value.into()))
}

#[inline]
fn optional<'a>(value: Option<impl Into<i64>>) -> Option<Cell<'a>> {
    Some(value.map_or(Cell::Null, |value| Cell::Integer(value.into())))
}

/// A text that cannot be cut out of the batch's is an error, not a panic: this runs below C code.
#[inline]
fn text(texts: &str, text: Text) -> Option<Cell<'_>> {
    let start = text.start as usize;
    texts.get(start..start.checked_add(text.len as usize)?).map(Cell::Text)
}
