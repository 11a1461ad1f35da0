//! Exports positions of a game, as lines and as rows of a table.

use std::ops::RangeInclusive;

use serde::Serialize;

use crate::board::Position;
use crate::id::{GameId, Ply};
use crate::pgn::Eval;
use crate::query::replay::{DamagedGame, replay};
use crate::query::sequence::PositionSequence;
use crate::store::{GameAnnotations, GameRecord, StoredPosition};

/// Which positions of a game to export.
#[derive(Clone, Debug)]
pub enum Positions<'a> {
    /// All positions at these plies; ply 0 is the start position.
    Within(RangeInclusive<u32>),
    /// The last position.
    Last,
    /// The position at which a game completes a sequence, as [`FindQuery`](crate::query::FindQuery) finds it.
    First(&'a PositionSequence),
}

/// Which positions of a game to export, and whether a position needs an evaluation.
#[derive(Clone, Debug)]
pub struct WantedPositions<'a> {
    /// The choice of positions by ply or sequence.
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
    /// (`id`) and the move played (`sm`).
    Epd,
}

/// Appends the positions of a game at `plies`, which must be in ascending order, to `text`, one per line.
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
    let played = replay_at(record, plies, |position, stored| match format {
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
    });
    if played.is_err() {
        text.truncate(before);
    }
    played
}

/// Replays a game, and calls `visit` with the positions at `plies`, which must be in ascending order.
fn replay_at(
    record: &GameRecord,
    plies: &[Ply],
    mut visit: impl FnMut(&Position, &StoredPosition),
) -> Result<(), DamagedGame> {
    replay(record, |position, stored| {
        if plies.binary_search(&stored.ply).is_ok() {
            visit(position, stored);
        }
    })
}

/// A position of a game as a row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PositionFields {
    /// Six-field FEN.
    pub fen: String,
    /// The game.
    pub game_id: GameId,
    /// The ply in the game; 0 is the start position.
    pub ply: Ply,
    /// The move played from the position, in UCI notation; `None` after the last move.
    pub uci: Option<String>,
    /// The same move in SAN.
    pub san: Option<String>,
    /// The result of the game: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// White's rating.
    pub white_elo: Option<u16>,
    /// Black's rating.
    pub black_elo: Option<u16>,
    /// The evaluation of the position: centipawns, White's view.
    pub eval_cp: Option<i32>,
    /// Moves to mate, negative if Black mates. If it is known, `eval_cp` is `None`.
    pub eval_mate: Option<i32>,
}

impl PositionFields {
    /// The names of the fields.
    pub const NAMES: [&'static str; 10] =
        ["fen", "game_id", "ply", "uci", "san", "result", "white_elo", "black_elo", "eval_cp", "eval_mate"];

    /// The rows of the positions of a game at `plies`, which must be in ascending order.
    ///
    /// # Errors
    /// If a stored position or move is invalid.
    pub fn of(
        record: &GameRecord,
        annotations: &GameAnnotations,
        plies: &[Ply],
    ) -> Result<Vec<Self>, DamagedGame> {
        let game = &record.summary;
        let mut rows = Vec::with_capacity(plies.len());
        replay_at(record, plies, |position, stored| {
            let (eval_cp, eval_mate) = Eval::columns(eval(annotations, stored.ply));
            rows.push(Self {
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
            });
        })?;
        Ok(rows)
    }
}
