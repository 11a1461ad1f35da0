//! Prints how often a position was reached from year to year.

use std::io::Write as _;

use pgndex::query::{ExploreQuery, HistoryYear, SideScore};

use super::table::{Bars, won_drawn_lost};
use crate::cli::args::{ExploreArgs, RowFormat};
use crate::cli::render::board::BoardStyle;
use crate::cli::render::number::percent;
use crate::cli::render::output::{RowWriter, Value, stdout};

/// The width of the table without the bars and the columns of moves.
const WIDTH_WITHOUT_BAR: usize = 38;
/// The width of the column of a move.
const MOVE_WIDTH: usize = 9;

/// Writes the years as a table.
pub(super) fn write_table(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    years: &[HistoryYear],
) -> anyhow::Result<()> {
    let Some(first) = years.first() else { return Ok(()) };
    let mut out = stdout();
    writeln!(out, "\nBy year:")?;
    out.flush()?;
    drop(out);
    let ascii = BoardStyle::new(&args.style).is_ascii();
    let bars = Bars::with_other_width(ascii, WIDTH_WITHOUT_BAR + MOVE_WIDTH * first.moves.len());
    let results = if explore.side.is_some() { "+/=/- %" } else { "w/d/b %" };
    let mut columns = vec!["year", "games", " of all", results, ""];
    let moves: Vec<_> = first.moves.iter().map(|played| format!("{:>7}", played.san)).collect();
    columns.extend(moves.iter().map(String::as_str));
    let mut rows = RowWriter::stdout(RowFormat::Table, &columns)?;
    for year in years {
        let (results, games) = (&year.results, year.results.games());
        let parts = won_drawn_lost(results, explore.side.map(SideScore::empty).as_ref());
        let shares = parts.map(|part| (f64::from(part) * 100.0 / games as f64).round().to_string());
        let if_played = |cell: String| if games > 0 { cell.into() } else { Value::Null };
        let mut cells = vec![
            Value::from(year.year.map_or_else(|| "unknown".to_owned(), |year| year.to_string())),
            Value::Integer(games.cast_signed()),
            format!("{:>7}", percent(games, year.games_of_year)).into(),
            if_played(shares.join("/")),
            if_played(bars.draw(parts, games)),
        ];
        cells.extend(
            year.moves.iter().map(|played| if_played(format!("{:>7}", percent(played.games, games)))),
        );
        rows.row(&cells)?;
    }
    rows.finish(|_| None)
}

/// Writes the years as CSV.
pub(super) fn write_csv(years: &[HistoryYear]) -> anyhow::Result<()> {
    let columns = ["year", "games", "games_of_year", "white", "draws", "black"];
    let moves = years.first().map(|year| year.moves.as_slice()).unwrap_or_default();
    let moves = moves.iter().map(|played| played.uci.as_str());
    let columns: Vec<&str> = columns.into_iter().chain(moves).collect();
    let mut rows = RowWriter::stdout(RowFormat::Csv, &columns)?;
    for HistoryYear { year, results, games_of_year, moves } in years {
        let count = |number: u64| Value::Integer(number.cast_signed());
        let mut cells = vec![
            (*year).into(),
            count(results.games()),
            count(*games_of_year),
            results.white_wins.into(),
            results.draws.into(),
            results.black_wins.into(),
        ];
        cells.extend(moves.iter().map(|played| count(played.games)));
        rows.row(&cells)?;
    }
    rows.finish(|_| None)
}
