//! Stored games chosen and written: as rows of a table, their positions as FEN or EPD.

use rusqlite::types::ValueRef;
use serde::Serialize;

use crate::board::Color;
use crate::id::{GameId, Ply};
use crate::query::error::Error;
use crate::query::position::{PositionQuery, number_before};
use crate::query::replay::{DamagedGame, replay};
use crate::query::text::brief;
use crate::store::{self, Database, GameRecord, HitOrder, Lines, Search, Selection};

/// Which games are written.
#[derive(Clone, Copy, Debug)]
pub enum Choice<'a> {
    /// The games of a selection, in order.
    Selection(&'a Selection),
    /// Those of them that reached a position.
    Reached(&'a PositionQuery, &'a Selection),
    /// The games whose numbers stand in the first column of a read-only query, in its order.
    Sql(&'a str),
}

/// Passes the numbers of the chosen games on.
///
/// # Errors
/// What SQLite says, [`Error::NotAGame`]; what `visit` says.
pub fn choose_games<E: From<Error>>(
    database: &Database,
    choice: Choice<'_>,
    mut visit: impl FnMut(GameId) -> Result<(), E>,
) -> Result<(), E> {
    let mut visited = Ok(());
    let mut see = |game| {
        visited = visit(game);
        visited.is_ok()
    };
    match choice {
        Choice::Selection(selection) => database.visit_games(selection, see).map_err(Error::from)?,
        Choice::Reached(query, selection) => {
            let (key, fen) = (query.position.key(), query.position.canonical_fen());
            let (lines, order) = (Lines::Main, HitOrder::Game);
            let search = Search { key, fen: &fen, lines, selection, order, limit: None, offset: 0 };
            let mut last = None;
            database
                .visit_hits(&search, |hit| {
                    let game = hit.game.game;
                    last.replace(game) == Some(game) || see(game)
                })
                .map_err(Error::from)?;
        }
        Choice::Sql(sql) => choose_by_sql(database, sql, see)?,
    }
    visited
}

fn choose_by_sql(database: &Database, sql: &str, mut visit: impl FnMut(GameId) -> bool) -> Result<(), Error> {
    let failed = |source| store::Error::sqlite(database.path(), "read the numbers of games", source);
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

/// A value in words.
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
    /// Its number.
    pub game_id: GameId,
    /// Event.
    pub event: Option<&'a str>,
    /// Site.
    pub site: Option<&'a str>,
    /// `YYYY.MM.DD`, unknown parts `??`.
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
    /// The ECO code that the PGN gives.
    pub eco: Option<&'a str>,
    /// The ECO code of the opening, told from the positions.
    pub opening_eco: Option<&'a str>,
    /// The name of that opening.
    pub opening: Option<&'a str>,
    /// PGN time control.
    pub time_control: Option<&'a str>,
    /// Variant as the PGN names it.
    pub variant: Option<&'a str>,
    /// Six-field FEN of the start position; `None` is the standard one.
    pub start_fen: Option<&'a str>,
    /// How many moves, of both sides together.
    pub ply_count: u32,
    /// `ok`, `truncated` or `skipped`.
    pub status: &'static str,
    /// The file it stands in.
    pub source: String,
    /// Its moves in SAN, with numbers.
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
    /// When a stored position or move does not fit.
    pub fn of(record: &'a GameRecord) -> Result<Self, DamagedGame> {
        let game = &record.summary;
        let opening = record.opening.as_ref();
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
            moves: moves(record)?,
        })
    }
}

/// The moves of a game on one line; Black's have a number only if they come first.
fn moves(record: &GameRecord) -> Result<String, DamagedGame> {
    let mut moves = String::new();
    replay(record, |position, stored| {
        let Some(code) = stored.move_code else { return };
        let (number, side) = (position.fullmove_number(), position.side());
        let is_first = moves.is_empty();
        if !is_first {
            moves.push(' ');
        }
        if side == Color::White || is_first {
            moves.extend([number_before(number, side).as_str(), " "]);
        }
        moves += &position.san(code);
    })?;
    Ok(moves)
}

/// Which positions of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// All, from the start position to the last one.
    All,
    /// The one at this ply, if the game is that long.
    At(Ply),
    /// The last one.
    Last,
}

/// How a position is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionFormat {
    /// Six-field FEN.
    Fen,
    /// EPD: the canonical four fields, then full-move number (`fmvn`), half-move clock (`hmvc`), game and ply (`id`) and the
    /// move played (`sm`).
    Epd,
}

/// Writes positions of a game, one a line, to the end of `text`.
///
/// # Errors
/// When a stored position or move does not fit; `text` is then as before.
pub fn write_positions(
    text: &mut String,
    record: &GameRecord,
    which: Positions,
    format: PositionFormat,
) -> Result<(), DamagedGame> {
    let (before, last) = (text.len(), record.positions.last().map(|position| position.ply));
    let played = replay(record, |position, stored| {
        let is_wanted = match which {
            Positions::All => true,
            Positions::At(ply) => stored.ply == ply,
            Positions::Last => Some(stored.ply) == last,
        };
        match format {
            _ if !is_wanted => {}
            PositionFormat::Fen => text.extend([position.fen().as_str(), "\n"]),
            PositionFormat::Epd => {
                let (number, clock) = (position.fullmove_number(), position.halfmove_clock());
                let (game, ply) = (record.summary.game.0, stored.ply.0);
                *text += &position.canonical_fen();
                *text += &format!(" fmvn {number}; hmvc {clock}; id \"game {game} ply {ply}\";");
                // EPD has no null move.
                if let Some(code) = stored.move_code.filter(|code| !code.is_null()) {
                    text.extend([" sm ", &position.san(code), ";"]);
                }
                text.push('\n');
            }
        }
    });
    if played.is_err() {
        text.truncate(before);
    }
    played
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
        let row = serde_json::to_value(GameFields::of(&record).unwrap()).unwrap();
        let names: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, GameFields::NAMES);
    }
}
