//! Chooses games and positions to export. Converts games to rows of a table, and positions to FEN, EPD or
//! rows of a table.

use std::ops::RangeInclusive;

use rusqlite::types::ValueRef;
use serde::Serialize;

use crate::id::{GameId, Ply};
use crate::pgn::Eval;
use crate::query::error::{DamagedGame, Error, brief};
use crate::query::game::{ReplayStep, replay};
use crate::query::position::{PositionQuery, push_move};
use crate::query::sequence::PositionSequence;
use crate::store::{
    self, Database, GameAnnotations, GameRecord, HitOrder, Lines, Scan, Search, Selection, StoredPosition,
};

/// Which games to export.
#[derive(Clone, Copy, Debug)]
pub enum Choice<'a> {
    /// The games of a selection, in the given order.
    Selection(&'a Selection, HitOrder),
    /// The games of a selection that reached a position.
    Reached(&'a PositionQuery, &'a Selection, HitOrder),
    /// The games of a selection that complete a sequence in the main line.
    Passed(&'a PositionSequence, &'a Selection, HitOrder),
    /// The games whose numbers are in the first column of a read-only SQL query, in the order of its rows.
    Sql(&'a str),
}

/// Calls `visit` with the number of each chosen game, until `visit` returns `false`.
///
/// # Errors
/// Errors of SQLite, [`Error::NotAGame`], and errors of `visit`.
pub fn choose_games<E: From<Error>>(
    database: &Database,
    choice: Choice<'_>,
    mut visit: impl FnMut(GameId) -> Result<bool, E>,
) -> Result<(), E> {
    let mut visited = Ok(());
    choose(database, choice, &mut |game| match visit(game) {
        Ok(continues) => continues,
        Err(error) => {
            visited = Err(error);
            false
        }
    })?;
    visited
}

fn choose(database: &Database, choice: Choice<'_>, see: &mut dyn FnMut(GameId) -> bool) -> Result<(), Error> {
    let (lines, limit, offset) = (Lines::Main, None, 0);
    match choice {
        Choice::Selection(selection, order) => {
            database.visit_games(selection, order, see)?;
        }
        Choice::Reached(query, selection, order) => {
            let (key, fen) = (query.position.key(), query.position.canonical_fen());
            let search = Search { key, fen: &fen, lines, selection, order, limit, offset };
            let mut last = None;
            database.visit_hits(&search, &mut |hit| {
                let game = hit.game.game;
                last.replace(game) == Some(game) || see(game)
            })?;
        }
        Choice::Passed(sequence, selection, order) => {
            let scan = Scan { lines, selection, order, limit, offset };
            database.scan(&scan, sequence, &mut |hit| see(hit.game.game))?;
        }
        Choice::Sql(sql) => choose_by_sql(database, sql, see)?,
    }
    Ok(())
}

fn choose_by_sql(database: &Database, sql: &str, visit: &mut dyn FnMut(GameId) -> bool) -> Result<(), Error> {
    let failed = |source| store::Error::sqlite(database.path(), "read the game numbers", source);
    let mut query = database.query(sql)?;
    let mut rows = query.rows([])?;
    while let Some(row) = rows.next_row()? {
        let value = row.get_ref(0).map_err(failed)?;
        let number = value.as_i64().ok().and_then(|number| u32::try_from(number).ok());
        let game = number.ok_or_else(|| Error::NotAGame { found: describe(value) })?;
        if !visit(GameId(game)) {
            break;
        }
    }
    Ok(())
}

/// Describes a value that is not the number of a game, for a message.
fn describe(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => format!("{number:?}"),
        ValueRef::Text(text) => format!("the text {:?}", brief(&String::from_utf8_lossy(text))),
        ValueRef::Blob(_) => "a BLOB".to_owned(),
    }
}

/// A game as a row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameFields<'a> {
    /// The number of the game.
    pub game_id: GameId,
    /// Event.
    pub event: Option<&'a str>,
    /// Site.
    pub site: Option<&'a str>,
    /// Date, `YYYY.MM.DD` with `??` for unknown parts.
    pub date: Option<&'a str>,
    /// Round.
    pub round: Option<&'a str>,
    /// White's player.
    pub white: Option<&'a str>,
    /// Black's player.
    pub black: Option<&'a str>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// White's rating.
    pub white_elo: Option<u16>,
    /// Black's rating.
    pub black_elo: Option<u16>,
    /// White's title.
    pub white_title: Option<&'a str>,
    /// Black's title.
    pub black_title: Option<&'a str>,
    /// The PGN's ECO code.
    pub eco: Option<&'a str>,
    /// The ECO code of the opening, determined by the positions of the game.
    pub opening_eco: Option<&'a str>,
    /// The name of the opening, determined by the positions of the game.
    pub opening: Option<&'a str>,
    /// The time control, as in the PGN.
    pub time_control: Option<&'a str>,
    /// Variant, as the PGN names it.
    pub variant: Option<&'a str>,
    /// Six-field FEN of the start position; `None`: the standard position.
    pub start_fen: Option<&'a str>,
    /// The number of half-moves.
    pub ply_count: u32,
    /// `ok`, `truncated` or `skipped`.
    pub status: &'static str,
    /// The path of the file that contains the game.
    pub source: String,
    /// The moves in SAN, with move numbers.
    pub moves: String,
}

impl<'a> GameFields<'a> {
    /// The names of the fields.
    pub const NAMES: [&'static str; 22] = [
        "game_id",
        "event",
        "site",
        "date",
        "round",
        "white",
        "black",
        "result",
        "white_elo",
        "black_elo",
        "white_title",
        "black_title",
        "eco",
        "opening_eco",
        "opening",
        "time_control",
        "variant",
        "start_fen",
        "ply_count",
        "status",
        "source",
        "moves",
    ];

    /// The row of a game.
    ///
    /// # Errors
    /// If a stored position or move is invalid.
    pub fn from_record(record: &'a GameRecord) -> Result<Self, DamagedGame> {
        let game = &record.summary;
        let opening = record.opening.as_ref();
        let mut moves = String::new();
        for step in replay(record)? {
            let (position, stored) = step?;
            let Some(code) = stored.move_code else { continue };
            push_move(&mut moves, position.fullmove_number(), position.side(), &position.san(code));
        }
        Ok(Self {
            game_id: game.game,
            event: game.event.as_deref(),
            site: game.site.as_deref(),
            date: game.date.as_deref(),
            round: game.round.as_deref(),
            white: game.white.as_deref(),
            black: game.black.as_deref(),
            result: game.result.as_str(),
            white_elo: game.white_elo,
            black_elo: game.black_elo,
            white_title: game.white_title.as_deref(),
            black_title: game.black_title.as_deref(),
            eco: game.eco.as_deref(),
            opening_eco: opening.map(|opening| opening.eco.as_str()),
            opening: opening.map(|opening| opening.name.as_str()),
            time_control: record.time_control.as_deref(),
            variant: record.variant.as_deref(),
            start_fen: record.start_fen.as_deref(),
            ply_count: game.ply_count,
            status: game.status.as_str(),
            source: record.source.to_string_lossy().into_owned(),
            moves,
        })
    }
}

/// Which positions to export.
#[derive(Clone, Debug)]
pub enum Positions<'a> {
    /// All positions at these plies; ply 0 is the start position.
    Within(RangeInclusive<u32>),
    /// The last position of each game.
    Last,
    /// The position at which the main line of a game completes a sequence, as
    /// [`FindQuery`](crate::query::FindQuery) finds it.
    First(&'a PositionSequence),
}

/// Which positions to export, and whether they must have an evaluation.
#[derive(Clone, Debug)]
pub struct WantedPositions<'a> {
    /// The positions, chosen by ply or by sequence.
    pub which: Positions<'a>,
    /// Whether to export only positions with an engine evaluation.
    pub evaluated: bool,
}

impl WantedPositions<'_> {
    /// The plies of the wanted positions of a game, in ascending order. `annotations` are used only if
    /// `evaluated` is set.
    #[must_use]
    pub fn plies(&self, record: &GameRecord, annotations: &GameAnnotations) -> Vec<Ply> {
        let mut plies: Vec<Ply> = match &self.which {
            Positions::Within(range) => {
                let plies = record.positions.iter().map(|position| position.ply);
                plies.filter(|ply| range.contains(&ply.0)).collect()
            }
            Positions::Last => record.positions.last().map(|position| position.ply).into_iter().collect(),
            Positions::First(sequence) => sequence.place_in(record).into_iter().collect(),
        };
        if self.evaluated {
            plies.retain(|&ply| eval(annotations, ply).is_some());
        }
        plies
    }
}

/// The evaluation of a position of the main line.
fn eval(annotations: &GameAnnotations, ply: Ply) -> Option<Eval> {
    annotations.at(0, ply)?.numbers.eval
}

/// The output format of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionFormat {
    /// Six-field FEN.
    Fen,
    /// EPD: the canonical four fields, then full-move number (`fmvn`), half-move clock (`hmvc`), game and ply
    /// (`id`) and, if there is one, the move played (`sm`).
    Epd,
}

/// Appends a game's positions at `plies` to `text`, one per line. `plies` must be in ascending order.
///
/// # Errors
/// If a stored position or move is invalid; `text` is then unchanged.
pub fn write_positions(
    text: &mut String,
    record: &GameRecord,
    plies: &[Ply],
    format: PositionFormat,
) -> Result<(), DamagedGame> {
    let before = text.len();
    let mut write = |step: ReplayStep<'_>| -> Result<(), DamagedGame> {
        let (position, stored) = step?;
        match format {
            PositionFormat::Fen => text.push_str(&position.fen()),
            PositionFormat::Epd => {
                let (number, clock) = (position.fullmove_number(), position.halfmove_clock());
                let (game, ply) = (record.summary.game.0, stored.ply.0);
                *text += &position.canonical_fen();
                *text += &format!(" fmvn {number}; hmvc {clock}; id \"game {game} ply {ply}\";");
                // EPD has no null move.
                if let Some(code) = stored.move_code.filter(|code| !code.is_null()) {
                    text.extend([" sm ", &position.san(code), ";"]);
                }
            }
        }
        text.push('\n');
        Ok(())
    };
    let written = replay_at(record, plies).and_then(|mut steps| steps.try_for_each(&mut write));
    if written.is_err() {
        text.truncate(before);
    }
    written
}

/// Replays a game like [`replay`], but returns only the positions at `plies`, which must be in ascending
/// order.
fn replay_at<'r>(
    record: &'r GameRecord,
    plies: &[Ply],
) -> Result<impl Iterator<Item = ReplayStep<'r>>, DamagedGame> {
    let is_at = |stored: &StoredPosition| plies.binary_search(&stored.ply).is_ok();
    Ok(replay(record)?.filter(move |step| step.as_ref().map_or(true, |(_, stored)| is_at(stored))))
}

/// A position of a game as a row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PositionFields {
    /// Six-field FEN.
    pub fen: String,
    /// The id of the game.
    pub game_id: GameId,
    /// The ply in the game; 0 is the start position.
    pub ply: Ply,
    /// The move played from the position, in UCI notation; `None` in the last position.
    pub uci: Option<String>,
    /// The move played from the position, in SAN; `None` in the last position.
    pub san: Option<String>,
    /// The result of the game: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// White's rating.
    pub white_elo: Option<u16>,
    /// Black's rating.
    pub black_elo: Option<u16>,
    /// The evaluation of the position in centipawns, from White's view.
    pub eval_cp: Option<i32>,
    /// The number of moves to mate, negative if Black mates. If this is known, `eval_cp` is `None`.
    pub eval_mate: Option<i32>,
}

impl PositionFields {
    /// The names of the fields.
    pub const NAMES: [&'static str; 10] =
        ["fen", "game_id", "ply", "uci", "san", "result", "white_elo", "black_elo", "eval_cp", "eval_mate"];

    /// The rows for a game's positions at `plies`, which must be in ascending order.
    ///
    /// # Errors
    /// If a stored position or move is invalid.
    pub fn of(
        record: &GameRecord,
        annotations: &GameAnnotations,
        plies: &[Ply],
    ) -> Result<Vec<Self>, DamagedGame> {
        let game = &record.summary;
        let row = |step: ReplayStep<'_>| {
            let (position, stored) = step?;
            let (eval_cp, eval_mate) = Eval::columns(eval(annotations, stored.ply));
            Ok(Self {
                fen: position.fen(),
                game_id: game.game,
                ply: stored.ply,
                uci: stored.move_code.map(|code| position.uci(code).to_string()),
                san: stored.move_code.map(|code| position.san(code)),
                result: game.result.as_str(),
                white_elo: game.white_elo,
                black_elo: game.black_elo,
                eval_cp,
                eval_mate,
            })
        };
        replay_at(record, plies)?.map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::GameResult;
    use crate::store::GameSummary;
    use crate::store::row::GameStatus;

    #[test]
    fn a_row_has_the_named_fields_in_order() {
        let summary = GameSummary {
            game: GameId(1),
            white: None,
            black: None,
            white_elo: None,
            black_elo: None,
            white_title: None,
            black_title: None,
            result: GameResult::Unknown,
            date: None,
            event: None,
            site: None,
            round: None,
            eco: None,
            ply_count: 0,
            status: GameStatus::Ok,
        };
        let record = GameRecord {
            summary,
            time_control: None,
            variant: None,
            start_fen: None,
            opening: None,
            source: "a.pgn".into(),
            byte_offset: 0,
            byte_length: 0,
            other_tags: Vec::new(),
            positions: Vec::new(),
        };
        let row = serde_json::to_value(GameFields::from_record(&record).unwrap()).unwrap();
        let names: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, GameFields::NAMES);
    }
}
