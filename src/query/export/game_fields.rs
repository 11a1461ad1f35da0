//! A game as a row of a table.

use serde::Serialize;

use crate::id::GameId;
use crate::query::position::push_move;
use crate::query::replay::{DamagedGame, replay};
use crate::store::GameRecord;

/// A game as a row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameFields<'a> {
    /// The number of the game.
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
    /// The PGN's ECO code.
    pub eco: Option<&'a str>,
    /// The ECO code of the opening, found by the positions.
    pub opening_eco: Option<&'a str>,
    /// The name of that opening.
    pub opening: Option<&'a str>,
    /// PGN time control.
    pub time_control: Option<&'a str>,
    /// Variant, as the PGN names it.
    pub variant: Option<&'a str>,
    /// Six-field FEN of the start position; `None`: the standard position.
    pub start_fen: Option<&'a str>,
    /// The number of moves of both sides together.
    pub ply_count: u32,
    /// `ok`, `truncated` or `skipped`.
    pub status: &'static str,
    /// The file that contains the game.
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

/// The moves of a game on one line.
fn moves(record: &GameRecord) -> Result<String, DamagedGame> {
    let mut moves = String::new();
    replay(record, |position, stored| {
        let Some(code) = stored.move_code else { return };
        push_move(&mut moves, position.fullmove_number(), position.side(), &position.san(code));
    })?;
    Ok(moves)
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
