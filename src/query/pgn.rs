//! Writes stored games as PGN.

use crate::board::{Color, MoveCode, Position};
use crate::id::Ply;
use crate::pgn::{CommentReader, GameWriter, MoveNumbers};
use crate::query::error::DamagedGame;
use crate::query::game::{replay, replay_variation};
use crate::store::{GameAnnotations, GameRecord, PositionAnnotations, StoredVariation};

/// Appends a game with its annotations to `text`, in PGN's export format and followed by a blank line. The
/// same game always produces the same bytes.
///
/// Parsing the text restores the moves and annotations. Clocks, times and evaluations that the stored
/// comments do not contain are added as commands. If that is not enough to restore all of these values, all
/// of them are added as commands. A game that is not complete in the database gets the tag
/// [`GameRecord::TRUNCATED`].
///
/// # Errors
/// If a stored position or move is invalid; `text` is then unchanged.
pub fn write_pgn(
    text: &mut String,
    record: &GameRecord,
    annotations: &GameAnnotations,
) -> Result<(), DamagedGame> {
    write(text, record, annotations, false)
}

/// Like [`write_pgn`], but writes all clocks, times and evaluations of the main line as `%clk`, `%emt` and
/// `%eval`. Their form in the original PGN does not matter.
///
/// # Errors
/// As [`write_pgn`].
pub fn write_normalized_pgn(
    text: &mut String,
    record: &GameRecord,
    annotations: &GameAnnotations,
) -> Result<(), DamagedGame> {
    write(text, record, annotations, true)
}

fn write(
    text: &mut String,
    record: &GameRecord,
    annotations: &GameAnnotations,
    is_normalized: bool,
) -> Result<(), DamagedGame> {
    let before = text.len();
    let mut game = GameWriter::new(text);
    for (name, value) in record.tags() {
        game.tag(&name, &value);
    }
    let mut writer = Writer { game, record, annotations, is_normalized, reader: CommentReader::default() };
    writer.remarks(0, Ply(0), None);
    let written = replay(record).and_then(|mut steps| {
        steps.try_for_each(|step| {
            let (position, stored) = step?;
            writer.play_or_end(0, stored.ply, &position, stored.move_code)
        })
    });
    match written {
        Ok(()) => writer.game.finish(record.summary.result),
        Err(_) => text.truncate(before),
    }
    written
}

/// A variation as text for people. The text is at most `columns` columns wide. The variation begins at `ply`
/// of the main line or of an outer variation, with `position`.
///
/// # Errors
/// If a stored move is invalid.
pub fn variation_text(
    record: &GameRecord,
    annotations: &GameAnnotations,
    variation: &StoredVariation,
    (ply, position): (Ply, &Position),
    columns: usize,
) -> Result<String, DamagedGame> {
    let mut text = String::new();
    let game = GameWriter::for_reading(&mut text, columns);
    let reader = CommentReader::default();
    let mut writer = Writer { game, record, annotations, is_normalized: false, reader };
    writer.variation(variation, ply, position)?;
    Ok(text)
}

struct Writer<'t, 'a> {
    game: GameWriter<'t>,
    record: &'a GameRecord,
    annotations: &'a GameAnnotations,
    /// Whether the clocks, times and evaluations of the main line are always written as commands.
    is_normalized: bool,
    /// Parses the comments of the main line in the order in which they are written. The meaning of an
    /// evaluation can depend on earlier comments.
    reader: CommentReader,
}

impl Writer<'_, '_> {
    /// Writes the move played from a position, its annotations, and the variations that begin in the
    /// position. If `code` is `None`, the line has ended, and only the variations are written.
    fn play_or_end(
        &mut self,
        line: u32,
        ply: Ply,
        position: &Position,
        code: Option<MoveCode>,
    ) -> Result<(), DamagedGame> {
        if let Some(code) = code {
            self.game.play(position.fullmove_number(), position.side(), &position.san(code));
            self.remarks(line, Ply(ply.0 + 1), Some(position.side()));
        }
        let annotations = self.annotations;
        let mut variations = annotations.variations(line, ply).iter();
        variations.try_for_each(|variation| self.variation(variation, ply, position))
    }

    fn remarks(&mut self, line: u32, ply: Ply, mover: Option<Color>) {
        let annotations = self.annotations;
        let Some(remarks) = annotations.at(line, ply) else { return };
        remarks.nags.iter().for_each(|&nag| self.game.nag(nag));
        let comments = if line == 0 {
            self.main_comments(remarks, mover)
        } else {
            comments(MoveNumbers::default(), remarks)
        };
        comments.iter().for_each(|comment| self.game.comment(comment));
    }

    /// The comments to write for a position of the main line. Clocks, times and evaluations that the stored
    /// comments do not contain are added as commands. If `is_normalized`, all clocks, times and evaluations
    /// are written as commands.
    fn main_comments(&mut self, remarks: &PositionAnnotations, mover: Option<Color>) -> Vec<String> {
        if self.is_normalized {
            let is_number = |name: &str| matches!(name, "eval" | "clk" | "emt" | "timestamp");
            let commands = remarks.commands.iter().filter(|(name, _)| !is_number(name)).cloned().collect();
            return comments(remarks.numbers, &PositionAnnotations { commands, ..remarks.clone() });
        }
        let mut in_comments = MoveNumbers::default();
        if !remarks.numbers.is_empty() {
            in_comments = meaning_of(&mut self.reader.clone(), &comments(in_comments, remarks), mover).0;
        }
        // Add the numbers (clocks, times and evaluations) that the comments do not contain. If parsing the
        // result would not restore all numbers and commands, add all numbers.
        let left = remarks.numbers.without(in_comments);
        let (least, all) = (comments(left, remarks), || comments(remarks.numbers, remarks));
        let mut trial = self.reader.clone();
        let reads_back = meaning_of(&mut trial, &least, mover) == (remarks.numbers, remarks.commands.clone());
        let written = if reads_back { least } else { all() };
        meaning_of(&mut self.reader, &written, mover);
        written
    }

    fn variation(
        &mut self,
        variation: &StoredVariation,
        ply: Ply,
        position: &Position,
    ) -> Result<(), DamagedGame> {
        self.game.open();
        self.remarks(variation.line, ply, None);
        replay_variation(self.record, variation, ply, position, |ply, position, code| {
            self.play_or_end(variation.line, ply, position, code)
        })?;
        self.game.close();
        Ok(())
    }
}

/// The comments to write for a position. The first comment begins with all commands.
fn comments(numbers: MoveNumbers, remarks: &PositionAnnotations) -> Vec<String> {
    let PositionAnnotations { comments, commands, .. } = remarks;
    let numbers = numbers.commands().map(|(name, value)| format!("[%{name} {value}]"));
    let others = commands.iter().map(|(name, value)| match value.as_str() {
        "" => format!("[%{name}]"),
        value => format!("[%{name} {value}]"),
    });
    // The commands of `numbers` come first. A parser stores the first clock or evaluation in `MoveNumbers`,
    // and a second one as an ordinary command.
    let mut parts: Vec<String> = numbers.chain(others).collect();
    let mut comments = comments.iter();
    parts.extend(comments.next().cloned());
    let first = (!parts.is_empty()).then(|| parts.join(" "));
    first.into_iter().chain(comments.cloned()).collect()
}

/// The result of parsing comments: the clocks, times and evaluations, and all commands that cannot be
/// restored from these values.
fn meaning_of(
    reader: &mut CommentReader,
    comments: &[String],
    mover: Option<Color>,
) -> (MoveNumbers, Vec<(String, String)>) {
    let (mut numbers, mut commands) = (MoveNumbers::default(), Vec::new());
    for comment in comments {
        reader.read(comment.as_bytes(), mover, Some(&mut numbers), |name, value| {
            commands.push((name.to_owned(), value.to_owned()));
        });
    }
    (numbers, commands)
}
