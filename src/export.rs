//! Stored games as PGN.

use crate::pgn::GameWriter;
use crate::replay::{DamagedGame, replay};
use crate::store::GameRecord;

/// The tags of PGN's roster, which stand first.
const ROSTER: usize = 7;

/// The tag pairs of a game, roster first, each once. A value that did not fit its column is kept among the other tags: it
/// takes the place of the unknown one.
#[must_use]
pub fn tags(record: &GameRecord) -> Vec<(String, String)> {
    let mut tags = record.tags();
    let others = tags.split_off(ROSTER.min(tags.len()));
    for (name, value) in others {
        match tags.iter_mut().find(|(known, _)| *known == name) {
            // The result must be that of the movetext's end.
            Some((_, known)) if known.starts_with('?') && name != "Result" => *known = value,
            Some(_) => {}
            None => tags.push((name, value)),
        }
    }
    tags
}

/// Writes a game in PGN's export format, and a blank line, to the end of `text`.
///
/// # Errors
/// When a stored position or move does not fit; `text` is then as before.
pub fn write_pgn(text: &mut String, record: &GameRecord) -> Result<(), DamagedGame> {
    let before = text.len();
    let mut game = GameWriter::new(text);
    for (name, value) in tags(record) {
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
