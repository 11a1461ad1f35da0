//! Openings as games of a PGN file: the tags contain code and name, the moves lead to the position.

use super::book::NamedPosition;
use super::entry::{Found, named, play};
use super::error::LineError;
use crate::board::Position;
use crate::pgn::{FrameProblem, Reader, TagPair};

/// Reads all games.
pub(super) fn read(text: &[u8]) -> Found<Vec<NamedPosition>> {
    let start_position = Position::start();
    let mut reader = Reader::new(text);
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    let mut openings = Vec::new();
    while reader.next_game(&mut tags, &mut problems) {
        let start = reader.game_start();
        if let Some(tag) = tags.iter().find(|tag| tag.name.eq_ignore_ascii_case(b"FEN")) {
            return Err((tag.offset, LineError::StartPosition));
        }
        if value(&tags, "Opening").is_empty() {
            return Err((start, LineError::NoOpening));
        }
        let position = play(&start_position, || (reader.next_token(), reader.offset()))?;
        let opening = named(&value(&tags, "ECO").into_bytes(), &name(&tags), &position);
        openings.push(opening.map_err(|error| (start, error))?);
    }
    match problems.first() {
        None => Ok(openings),
        Some(
            &(FrameProblem::UnclosedTag { offset }
            | FrameProblem::UnquotedTag { offset }
            | FrameProblem::DamagedTag { offset }),
        ) => Err((offset, LineError::UnclosedTag)),
        Some(&(FrameProblem::Outside { offset } | FrameProblem::TooManyTags { offset })) => {
            Err((offset, LineError::Outside))
        }
    }
}

/// The value of a tag; empty if it is missing.
fn value(tags: &[TagPair<'_>], name: &str) -> String {
    let tag = tags.iter().rfind(|tag| tag.name.eq_ignore_ascii_case(name.as_bytes()));
    tag.map_or_else(String::new, |tag| tag.text().trim().to_owned())
}

/// The name `Opening: Variation, SubVariation`, from the tags that exist.
fn name(tags: &[TagPair<'_>]) -> String {
    let mut name = value(tags, "Opening");
    let mut joint = ": ";
    for part in ["Variation", "SubVariation"].map(|tag| value(tags, tag)) {
        if !part.is_empty() && !name.is_empty() {
            name += joint;
            name += &part;
            joint = ", ";
        }
    }
    name
}
