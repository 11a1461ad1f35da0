//! Writes the moves as CSV.

use pgndex::query::{MoveStatistics, PositionStatistics};

use super::table::{chosen, integer};
use crate::cli::args::RowFormat;
use crate::cli::render::output::{RowWriter, Value};

/// The column for variations, if these are searched.
const IN_VARIATIONS: &str = "in_variations";
/// The columns for the view of one side, if requested.
const OF_SIDE: [&str; 2] = ["average_opponent_rating", "performance"];

/// The fields of each move.
pub(super) const FIELDS: [&str; 14] = [
    "uci",
    "san",
    "games",
    "white",
    "draws",
    "black",
    "average_rating",
    OF_SIDE[0],
    OF_SIDE[1],
    "first_year",
    "last_year",
    IN_VARIATIONS,
    "eco",
    "opening",
];

/// Writes the moves.
pub(super) fn write(answer: &PositionStatistics) -> anyhow::Result<()> {
    let columns = columns(answer);
    let mut rows = RowWriter::stdout(RowFormat::Csv, &chosen(FIELDS, columns))?;
    for played in &answer.moves {
        rows.row(&chosen(cells(played), columns))?;
    }
    rows.finish(|_| None)
}

/// Which fields an answer has.
pub(super) fn columns(answer: &PositionStatistics) -> [bool; FIELDS.len()] {
    FIELDS.map(|name| match name {
        IN_VARIATIONS => answer.in_variations.is_some(),
        name => answer.score.is_some() || !OF_SIDE.contains(&name),
    })
}

/// The fields of a move.
pub(super) fn cells(played: &MoveStatistics) -> [Value<'_>; FIELDS.len()] {
    let MoveStatistics { uci, san, average_rating, results, score, in_variations, opening, .. } = played;
    let opening = opening.as_ref();
    let score = score.as_ref();
    [
        Value::from(uci.as_str()),
        Value::from(san.as_str()),
        integer(Some(results.games())),
        results.white_wins.into(),
        results.draws.into(),
        results.black_wins.into(),
        integer(*average_rating),
        integer(score.and_then(|score| score.average_opponent_rating)),
        score.and_then(|score| score.performance).map_or(Value::Null, |rating| Value::Integer(rating.into())),
        results.first_year.into(),
        results.last_year.into(),
        integer(*in_variations),
        opening.map(|opening| opening.eco.as_str()).into(),
        opening.map(|opening| opening.name.as_str()).into(),
    ]
}
