//! Stored games as PGN, and their positions as FEN or EPD.

use crate::pgn::GameWriter;
use crate::query::replay::{DamagedGame, replay};
use crate::store::GameRecord;
use crate::store::row::Ply;

/// Writes a game in PGN's export format, and a blank line, to the end of `text`. The same record gives the same bytes.
///
/// Of a game that is not all in the database, the tag [`GameRecord::TRUNCATED`] says so.
///
/// # Errors
/// When a stored position or move does not fit; `text` is then as before.
pub fn write_pgn(text: &mut String, record: &GameRecord) -> Result<(), DamagedGame> {
    let before = text.len();
    let mut game = GameWriter::new(text);
    for (name, value) in record.tags() {
        game.tag(&name, &value);
    }
    let played = replay(record, |position, stored| {
        if let Some(code) = stored.move_code {
            game.play(position.fullmove_number(), position.side(), &position.san(code));
        }
    });
    match played {
        Ok(()) => game.finish(record.summary.result),
        Err(_) => text.truncate(before),
    }
    played
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
