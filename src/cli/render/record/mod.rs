//! Formats a player's record for display. Every format has the same sections, each with a table.

mod page;

use std::io::Write;

use pgndex::board::Color;
use pgndex::query::{LineNode, PlayerGame, PlayerRecord, Record, SideRecord, number_before};

use crate::cli::args::SqlFormat;
use crate::cli::render::{RowWriter, Value, counted, grouped, markdown, printable, sign};

pub(crate) use page::write_page;

/// The columns of the table of games won.
const WINS: [&str; 7] = ["game", "side", "opponent", "rating", "date", "event", "opening"];

/// A record in sections.
pub(crate) struct Sections<'r> {
    record: &'r PlayerRecord,
    /// The filters, in words.
    filters: Vec<String>,
    /// Whether any rating is known.
    is_rated: bool,
    /// The first section has no title of its own.
    sections: Vec<Section<'r>>,
}

/// A table under a title.
struct Section<'r> {
    title: String,
    /// Says what the table contains, and in which order.
    caption: &'static str,
    table: Table<'r>,
}

enum Table<'r> {
    Scores(Scores<'r>),
    Wins(&'r [PlayerGame]),
}

/// A table with a record in each row.
struct Scores<'r> {
    /// The header of the column with the names of the rows.
    what: &'static str,
    /// The number of games to which the shares of the rows refer; `None` if shares are not shown.
    share_of: Option<u64>,
    kind: ScoreKind,
    rows: Vec<(Name<'r>, &'r Record)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScoreKind {
    Plain,
    Years,
    /// The moves played with a side.
    Lines(Color),
}

/// The name of a row.
enum Name<'r> {
    Text(String),
    Year(Option<u16>),
    /// All moves of a line.
    Line(Vec<&'r LineNode>),
}

impl<'r> Sections<'r> {
    /// The sections of a record, with the filters that chose its games.
    pub(crate) fn of(record: &'r PlayerRecord, filters: Vec<String>) -> Self {
        let is_rated = record.all.rating().is_some() || record.all.opponent_rating().is_some();
        let mut sections = Self { record, filters, is_rated, sections: Vec::new() };
        let sides = [("all", &record.all), ("White", &record.white.record), ("Black", &record.black.record)];
        let sides = sides.map(|(side, of)| (side.to_owned(), of));
        sections.plain("", "All games, and those with each side", "side", sides);
        sections.side(Color::White, &record.white);
        sections.side(Color::Black, &record.black);
        sections.endings();
        sections.years();
        sections.opponents();
        if !record.best_wins.is_empty() {
            let table = Table::Wins(&record.best_wins);
            let caption = "Games won against the highest rated opponents";
            sections.sections.push(Section { title: "Best wins".to_owned(), caption, table });
        }
        sections
    }

    /// The name of the first player that matches, and the number of others.
    fn name(&self) -> String {
        let players = &self.record.players;
        let name = players.first().map_or("", |player| &player.name);
        let others = match players.len() {
            0 | 1 => String::new(),
            players => format!(" and {}", counted(players as u64 - 1, "other player")),
        };
        format!("{}{others}", printable(name))
    }

    /// The number of games, their years, and the number of games without a result.
    fn extent(&self) -> String {
        let record = self.record;
        let years: Vec<u16> = record.years.iter().filter_map(|year| year.year).collect();
        let span = match (years.first(), years.last()) {
            (Some(first), Some(last)) if first != last => format!(", {first} to {last}"),
            (Some(year), _) => format!(", {year}"),
            _ => String::new(),
        };
        let unfinished = match record.all.unfinished {
            0 => String::new(),
            games => format!(", {} without a result", grouped(games.into())),
        };
        format!("{}{span}{unfinished}", counted(record.all.games, "game"))
    }

    /// The filters, if there are any.
    fn filters(&self) -> Option<String> {
        (!self.filters.is_empty()).then(|| format!("Filters: {}", printable(&self.filters.join("; "))))
    }

    fn plain(
        &mut self,
        title: &str,
        caption: &'static str,
        what: &'static str,
        rows: impl IntoIterator<Item = (String, &'r Record)>,
    ) {
        let rows = rows.into_iter().map(|(name, record)| (Name::Text(name), record)).collect();
        self.scores(title, caption, Scores { what, share_of: None, kind: ScoreKind::Plain, rows });
    }

    fn scores(&mut self, title: &str, caption: &'static str, scores: Scores<'r>) {
        self.sections.push(Section { title: title.to_owned(), caption, table: Table::Scores(scores) });
    }

    fn side(&mut self, color: Color, side: &'r SideRecord) {
        if side.record.games == 0 {
            return;
        }
        let name = color.name();
        let title = shown(&format!("Openings with {name}"), side.openings.len(), side.opening_count);
        let openings = side.openings.iter().map(|opening| {
            let name = match (&opening.eco, &opening.name) {
                (Some(eco), Some(name)) => format!("{eco} {name}"),
                _ => or_unknown(None),
            };
            (name, &opening.record)
        });
        self.plain(&title, "By opening, most games first", "opening", openings);
        if !side.lines.is_empty() {
            let mut rows = Vec::new();
            side.lines.iter().for_each(|node| add_lines(&[], node, &mut rows));
            let (what, share_of) = ("line", Some(side.record.games));
            let caption = "Moves from the start position, with their share of the games with this side";
            let scores = Scores { what, share_of, kind: ScoreKind::Lines(color), rows };
            self.scores(&format!("Lines with {name}"), caption, scores);
        }
    }

    fn endings(&mut self) {
        let endings = &self.record.endings;
        if endings.is_empty() {
            return;
        }
        let rows = endings.iter().map(|ending| (Name::Text(ending.kind.as_str().to_owned()), &ending.record));
        let (what, share_of, rows) = ("ending", Some(self.record.all.games), rows.collect());
        let caption = "By the kinds of endings that games reached; a game is counted once for each kind that it reached";
        self.scores("Endings", caption, Scores { what, share_of, kind: ScoreKind::Plain, rows });
    }

    fn years(&mut self) {
        let rows = self.record.years.iter().map(|year| (Name::Year(year.year), &year.record)).collect();
        let scores = Scores { what: "year", share_of: None, kind: ScoreKind::Years, rows };
        self.scores("Years", "By year", scores);
    }

    fn opponents(&mut self) {
        let record = self.record;
        if self.is_rated {
            let ratings = record.opponent_ratings.iter().map(|rating| {
                let to = |from: u16| format!("{from} to {}", u32::from(from) + 99);
                (rating.from.map_or_else(|| or_unknown(None), to), &rating.record)
            });
            self.plain("Opponents' ratings", "By the opponent's rating, the highest first", "rated", ratings);
        }
        if record.speeds.iter().any(|speed| speed.speed.is_some()) {
            let speeds =
                record.speeds.iter().map(|speed| (or_unknown(speed.speed.as_deref()), &speed.record));
            self.plain("Speeds", "By class of the time control, most games first", "speed", speeds);
        }
        let title = shown("Opponents", record.opponents.len(), record.opponent_count);
        let opponents =
            record.opponents.iter().map(|opponent| (or_unknown(opponent.name.as_deref()), &opponent.record));
        self.plain(&title, "By opponent, most games first", "opponent", opponents);
    }
}

/// Adds a row for the line that consists of `before` and `node`, and rows for all its continuations.
fn add_lines<'r>(before: &[&'r LineNode], node: &'r LineNode, rows: &mut Vec<(Name<'r>, &'r Record)>) {
    let line = [before, &[node]].concat();
    rows.push((Name::Line(line.clone()), &node.record));
    node.next.iter().for_each(|next| add_lines(&line, next, rows));
}

/// The most frequent line that leads to the same position as the line `moves`. `None` if that line is `moves`
/// itself, or if `moves` without its last move also transposes to another line.
fn transposition<'r>(moves: &[&'r LineNode]) -> Option<&'r str> {
    let (last, before) = moves.split_last()?;
    let is_after_transposition = before.last().is_some_and(|node| node.transposes_to.is_some());
    last.transposes_to.as_deref().filter(|_| !is_after_transposition)
}

/// The cells of a game won.
fn win_cells(win: &PlayerGame) -> [Value<'_>; 7] {
    let opening = win.eco.as_ref().zip(win.opening.as_ref());
    [
        win.game_id.0.into(),
        win.side.name().into(),
        or_unknown(win.opponent.as_deref()).into(),
        win.opponent_rating.into(),
        win.date.as_deref().into(),
        win.event.as_deref().into(),
        opening.map(|(eco, name)| format!("{eco} {name}")).into(),
    ]
}

fn or_unknown(text: Option<&str>) -> String {
    text.unwrap_or("unknown").to_owned()
}

/// A title with the number of shown items, if not all are shown.
fn shown(title: &str, shown: usize, total: u64) -> String {
    if (shown as u64) < total { format!("{title}, {shown} of {}", grouped(total)) } else { title.to_owned() }
}

/// The maximum width of a bar in a chart, in columns.
const BAR: usize = 30;
/// The columns that every table of scores has.
const SCORES: [&str; 5] = ["games", "+", "=", "-", "score"];
/// The additional columns of a table of scores if any rating is known.
const RATINGS: [&str; 3] = ["rating", "opponents", "performance"];

/// A note that says from which games performances are computed.
const RATED_ONLY: &str = "performances count only games with a result against rated opponents";

/// Writes the sections of a record. `terminal` is the width of the terminal to which tables are fitted;
/// `None` if their width is not limited.
///
/// # Errors
/// If writing fails.
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
                    rows.finish(None)?;
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

    fn rows(&mut self, columns: &[&str]) -> anyhow::Result<RowWriter<'_>> {
        RowWriter::new(Box::new(&mut *self.out), self.format, columns, self.terminal)
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
                cells.extend(scores.share_of.map(|whole| Value::share(record.games, whole)));
                cells.extend(self.cells(record));
                cells.extend(chart.as_ref().map(|chart| chart.cell(record)));
                cells
            })
            .collect();
        let mut rows = self.rows(&columns)?;
        cells.iter().try_for_each(|cells| rows.row(cells))?;
        rows.finish(chart.map(|chart| chart.legend()))
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
        // Markdown ignores spaces at the beginning of a cell.
        let blank = if self.format == SqlFormat::Md { "· " } else { "  " };
        let number = number_before(node.ply.div_ceil(2), mover);
        let same = transposition(moves).map(|line| format!(" (= {line})")).unwrap_or_default();
        format!("{}{number} {}{same}", blank.repeat(before.len()), node.san)
    }

    /// The cells of a record.
    fn cells(&self, record: &Record) -> Vec<Value<'static>> {
        let finished = record.finished();
        let score = (finished > 0).then(|| Value::share(record.half_points(), 2 * finished));
        let mut cells = vec![
            record.games.into(),
            record.wins.into(),
            record.draws.into(),
            record.losses.into(),
            score.into(),
        ];
        if self.is_rated {
            cells.extend([
                record.rating().into(),
                record.opponent_rating().into(),
                record.performance().into(),
            ]);
        }
        cells
    }
}

/// Bars for performances.
struct Chart {
    /// The ratings that an empty bar and a full bar show.
    first: i32,
    last: i32,
}

impl Chart {
    /// A chart of the performance in each year; `None` for scores that are not by year, or if fewer than two
    /// years have a performance.
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
        let bar = |rating| {
            let share = f64::from(rating - self.first) / f64::from(self.last - self.first);
            sign("▇", "#").repeat((share * BAR as f64).round() as usize)
        };
        record.performance().map(bar).into()
    }

    fn legend(&self) -> String {
        format!("bars show the performance, from {} to {}", self.first, self.last)
    }
}
