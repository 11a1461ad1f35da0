//! Stored games as PGN.

use crate::pgn::GameWriter;
use crate::replay::{DamagedGame, replay};
use crate::store::GameRecord;

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
