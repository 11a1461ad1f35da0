//! Stored games as PGN.

use crate::board::{MoveCode, Position};
use crate::id::Ply;
use crate::pgn::GameWriter;
use crate::query::replay::{DamagedGame, replay};
use crate::store::{GameAnnotations, GameRecord, Remarks, StoredVariation};

/// Writes a game in PGN's export format, and a blank line, to the end of `text`, with what is said about its moves. The same game gives
/// the same bytes.
///
/// Read again, the text gives the same moves and annotations; clocks, times and values are written as `%clk`, `%emt` and `%eval`, whatever
/// way they were written in. Of a game that is not all in the database, the tag [`GameRecord::TRUNCATED`] says so.
///
/// # Errors
/// When a stored position or move does not fit; `text` is then as before.
pub fn write_pgn(
    text: &mut String,
    record: &GameRecord,
    annotations: &GameAnnotations,
) -> Result<(), DamagedGame> {
    let before = text.len();
    let mut game = GameWriter::new(text);
    for (name, value) in record.tags() {
        game.tag(&name, &value);
    }
    let mut writer = Writer { game, annotations, failed: Ok(()) };
    writer.remarks(0, Ply(0));
    let played = replay(record, |position, stored| match stored.move_code {
        Some(code) => writer.play(0, stored.ply, position, code, record),
        // They leave the game before its first move, and there is none.
        None if stored.ply == Ply(0) => writer.variations(0, Ply(0), position, record),
        None => {}
    });
    let Writer { game, failed, .. } = writer;
    let played = played.and(failed);
    match played {
        Ok(()) => game.finish(record.summary.result),
        Err(_) => text.truncate(before),
    }
    played
}

/// A variation as text for people, in lines of at most so many columns: it leaves a line at a ply, where `position` stands.
///
/// # Errors
/// When a stored move does not fit.
pub fn variation_text(
    record: &GameRecord,
    annotations: &GameAnnotations,
    variation: &StoredVariation,
    (ply, position): (Ply, &Position),
    columns: usize,
) -> Result<String, DamagedGame> {
    let mut text = String::new();
    let game = GameWriter::for_reading(&mut text, columns);
    let mut writer = Writer { game, annotations, failed: Ok(()) };
    writer.variation(variation, ply, position, record);
    writer.failed?;
    Ok(text)
}

struct Writer<'t, 'a> {
    game: GameWriter<'t>,
    annotations: &'a GameAnnotations,
    /// The first move of a variation that is not legal.
    failed: Result<(), DamagedGame>,
}

impl Writer<'_, '_> {
    /// A move from a position at a ply, what is said of it, and the variations that replace it.
    fn play(&mut self, line: u32, ply: Ply, position: &Position, code: MoveCode, record: &GameRecord) {
        self.game.play(position.fullmove_number(), position.side(), &position.san(code));
        self.remarks(line, Ply(ply.0 + 1));
        self.variations(line, ply, position, record);
    }

    fn remarks(&mut self, line: u32, ply: Ply) {
        let Some(Remarks { numbers, nags, comments, commands }) = self.annotations.at(line, ply) else {
            return;
        };
        nags.iter().for_each(|&nag| self.game.nag(nag));
        let numbers = numbers.commands().map(|(name, value)| format!("[%{name} {value}]"));
        let others = commands.iter().map(|(name, value)| match value.as_str() {
            "" => format!("[%{name}]"),
            value => format!("[%{name} {value}]"),
        });
        // Numbers come first: what is said of time and value once more is a command like others.
        let mut parts: Vec<String> = numbers.chain(others).collect();
        let mut comments = comments.iter();
        parts.extend(comments.next().cloned());
        if !parts.is_empty() {
            self.game.comment(&parts.join(" "));
        }
        comments.for_each(|comment| self.game.comment(comment));
    }

    fn variations(&mut self, line: u32, ply: Ply, position: &Position, record: &GameRecord) {
        for variation in self.annotations.variations(line, ply) {
            self.variation(variation, ply, position, record);
        }
    }

    fn variation(&mut self, variation: &StoredVariation, ply: Ply, position: &Position, record: &GameRecord) {
        let StoredVariation { line, ref moves } = *variation;
        self.game.open();
        self.remarks(line, ply);
        let mut next = position.clone();
        for (at, &code) in (ply.0..).zip(moves) {
            let before = next.clone();
            if let Err(source) = next.make(code) {
                let game = record.summary.game;
                self.failed = Err(DamagedGame::VariationMove { game, line, ply: Ply(at + 1), source });
                break;
            }
            self.play(line, Ply(at), &before, code, record);
        }
        if moves.is_empty() {
            self.variations(line, ply, position, record);
        }
        self.game.close();
    }
}
