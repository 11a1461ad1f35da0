//! Writes a player's record as tables, plain or in Markdown.

use std::io::Write;

use pgndex::board::Color;
use pgndex::query::{LineNode, Record, number_before};

use super::{Name, ScoreKind, Scores, Sections, Table, WINS, or_unknown, transposition, win_cells};
use crate::cli::args::SqlFormat;
use crate::cli::render::board::sign;
use crate::cli::render::number::percent;
use crate::cli::render::output::{RowWriter, Value, markdown};

/// The maximum width of a bar of a chart.
const BAR: usize = 30;
/// The columns after the name of each row: first those that are always present, then those for ratings.
const SCORES: [&str; 5] = ["games", "+", "=", "-", "score"];
const RATINGS: [&str; 3] = ["rating", "opponents", "performance"];

/// A note on which games performances are computed from.
const RATED_ONLY: &str = "performances count only games with a result against rated opponents";

/// Writes the sections of a record; `terminal` is the width of the terminal, if the sections go to a terminal.
///
/// # Errors
/// Errors of writing.
pub(crate) fn write_tables(
    out: &mut dyn Write,
    sections: &Sections<'_>,
    format: SqlFormat,
    terminal: Option<usize>,
) -> anyhow::Result<()> {
    Sheet { out, format, terminal, is_rated: sections.is_rated }.write(sections)
}

struct Sheet<'o> {
    out: &'o mut dyn Write,
    format: SqlFormat,
    terminal: Option<usize>,
    is_rated: bool,
}

impl Sheet<'_> {
    fn write(&mut self, sections: &Sections<'_>) -> anyhow::Result<()> {
        self.title(1, &format!("{}: {}", sections.name(), sections.extent()))?;
        if let Some(filters) = sections.filters().filter(|_| self.format == SqlFormat::Md) {
            writeln!(self.out, "{}\n", markdown(&filters))?;
        }
        for (number, section) in sections.sections.iter().enumerate() {
            if !section.title.is_empty() {
                self.title(2, &section.title)?;
            }
            match &section.table {
                Table::Scores(scores) => self.scores(scores)?,
                Table::Wins(wins) => {
                    let mut rows = self.rows(&WINS)?.shortening(&["opponent", "event", "opening"]);
                    wins.iter().try_for_each(|win| rows.row(&win_cells(win)))?;
                    rows.finish(|_| None)?;
                }
            }
            if number == 0 && self.is_rated {
                let apart = if self.format == SqlFormat::Md { "\n" } else { "" };
                writeln!(self.out, "{apart}{RATED_ONLY}")?;
            }
        }
        Ok(())
    }

    fn title(&mut self, level: usize, title: &str) -> anyhow::Result<()> {
        if level > 1 {
            writeln!(self.out)?;
        }
        match self.format {
            SqlFormat::Md => writeln!(self.out, "{} {}\n", "#".repeat(level), markdown(title))?,
            _ => writeln!(self.out, "{title}{}", if level == 1 { "\n" } else { ":" })?,
        }
        Ok(())
    }

    fn rows(&mut self, columns: &[&str]) -> anyhow::Result<RowWriter<&mut dyn Write>> {
        RowWriter::new(&mut *self.out, self.format, columns, self.terminal)
    }

    fn scores(&mut self, scores: &Scores<'_>) -> anyhow::Result<()> {
        let chart = Chart::of(scores);
        let share = if scores.share_of.is_some() { ["share"].as_slice() } else { &[] };
        let ratings = if self.is_rated { RATINGS.as_slice() } else { &[] };
        let bars = if chart.is_some() { [""].as_slice() } else { &[] };
        let columns = [&[scores.what], share, &SCORES, ratings, bars].concat();
        let cells: Vec<_> = scores
            .rows
            .iter()
            .map(|(name, record)| {
                let mut cells = vec![self.name(name)];
                cells.extend(scores.share_of.map(|whole| share_cell(record.games, whole)));
                cells.extend(self.cells(record));
                cells.extend(chart.as_ref().map(|chart| chart.cell(record)));
                cells
            })
            .collect();
        let mut rows = self.rows(&columns)?;
        cells.iter().try_for_each(|cells| rows.row(cells))?;
        rows.finish(|_| chart.map(|chart| chart.legend()))
    }

    fn name(&self, name: &Name<'_>) -> Value<'static> {
        match name {
            Name::Text(text) => text.clone().into(),
            Name::Year(year) => or_unknown(year.map(|year| year.to_string()).as_deref()).into(),
            Name::Line(moves) => self.line(moves).into(),
        }
    }

    /// The last move of a line, indented by the number of moves before it.
    fn line(&self, moves: &[&LineNode]) -> String {
        let Some((node, before)) = moves.split_last() else { return String::new() };
        let mover = if node.ply % 2 == 1 { Color::White } else { Color::Black };
        // Markdown ignores blanks at the beginning of a cell.
        let blank = if self.format == SqlFormat::Md { "· " } else { "  " };
        let number = number_before(node.ply.div_ceil(2), mover);
        let same = transposition(moves).map(|line| format!(" (= {line})")).unwrap_or_default();
        format!("{}{number} {}{same}", blank.repeat(before.len()), node.san)
    }

    /// The cells of a record.
    fn cells(&self, record: &Record) -> Vec<Value<'static>> {
        let number = |number: u64| Value::Integer(number.cast_signed());
        let mut cells = vec![
            number(record.games),
            record.wins.into(),
            record.draws.into(),
            record.losses.into(),
            match record.finished() {
                0 => Value::Null,
                games => share_cell(record.half_points(), 2 * games),
            },
        ];
        if self.is_rated {
            cells.extend([
                record.rating().map_or(Value::Null, number),
                record.opponent_rating().map_or(Value::Null, number),
                record.performance().map_or(Value::Null, |rating| Value::Integer(rating.into())),
            ]);
        }
        cells
    }
}

/// A percentage, padded so that all of them are aligned.
fn share_cell(part: u64, whole: u64) -> Value<'static> {
    format!("{:>7}", percent(part, whole)).into()
}

/// Bars for performances.
struct Chart {
    /// The range of the bars.
    first: i32,
    last: i32,
}

impl Chart {
    /// A chart of years, if there are performances to compare.
    fn of(scores: &Scores<'_>) -> Option<Self> {
        const STEP: i32 = 100;
        if scores.kind != ScoreKind::Years {
            return None;
        }
        let ratings: Vec<i32> = scores.rows.iter().filter_map(|(_, record)| record.performance()).collect();
        let (&least, &most) = ratings.iter().min().zip(ratings.iter().max()).filter(|_| ratings.len() > 1)?;
        Some(Self { first: least.div_euclid(STEP) * STEP - STEP, last: most.div_euclid(STEP) * STEP + STEP })
    }

    fn cell(&self, record: &Record) -> Value<'static> {
        record.performance().map_or(Value::Null, |rating| {
            let share = f64::from(rating - self.first) / f64::from(self.last - self.first);
            sign("▇", "#").repeat((share * BAR as f64).round() as usize).into()
        })
    }

    fn legend(&self) -> String {
        format!("bars show the performance, from {} to {}", self.first, self.last)
    }
}
