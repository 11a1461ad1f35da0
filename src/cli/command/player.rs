//! `pgndex player`: a player's record.

use std::io::Write as _;

use pgndex::board::Color;
use pgndex::query::{
    LineNode, PlayerGame, PlayerQuestion, PlayerRecord, Record, SideRecord, near_names, number_before,
};
use pgndex::store::Database;

use crate::cli::args::{PlayerArgs, PlayerFormat, SqlFormat};
use crate::cli::filter_note::{option, tell_near, tell_unknown, tell_without_one};
use crate::cli::note;
use crate::cli::render::number::{counted, grouped, percent};
use crate::cli::render::output::{RowWriter, Value, markdown, stdout, write_json};
use crate::cli::render::text::printable;
use crate::cli::terminal::timing::Timing;

/// How many players' names are told whose games are taken together.
const NAMES: usize = 5;
/// How wide the bars of a chart are.
const BAR: usize = 30;
/// What stands behind the name of each row: first what is always there, then what ratings tell.
const SCORES: [&str; 5] = ["games", "+", "=", "-", "score"];
const RATINGS: [&str; 3] = ["rating", "opponents", "performance"];

/// Shows a player's record.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn run(args: &PlayerArgs) -> anyhow::Result<()> {
    let timing = Timing::start(args.timing);
    let filter = args.filter.of_player(&args.name).filter()?;
    let database = Database::open_read_only(&args.database)?;
    let selection = database.select(&filter)?;
    let question = PlayerQuestion {
        database: &database,
        name: &args.name,
        selection: &selection,
        limit: if args.limit == 0 { usize::MAX } else { args.limit as usize },
        depth: args.depth,
        least_share: args.least_share.into(),
    };
    let record = question.answer()?;
    let named = |field: &str| match field {
        "player" => "NAME".to_owned(),
        "opponent" => "--opponent".to_owned(),
        field => option(field),
    };
    tell_near(&database, &selection, named)?;
    if record.all.games == 0 {
        let unknown = near_names(&database, &selection)?;
        tell_unknown(&unknown, named);
        if unknown.is_empty() {
            note("no game of this player passes the filters");
            tell_without_one(&database, &filter, None, &["player"])?;
        }
    }
    if record.players.len() > 1 {
        tell_players(&record);
    }
    match args.format {
        PlayerFormat::Json => {
            let mut out = stdout();
            write_json(&mut out, &record)?;
            writeln!(out)?;
            out.flush()?;
        }
        _ if record.all.games == 0 => {}
        PlayerFormat::Table => Sheet::new(SqlFormat::Table, &record).write(&record)?,
        PlayerFormat::Md => Sheet::new(SqlFormat::Md, &record).write(&record)?,
    }
    timing.report();
    Ok(())
}

/// Says that several players are taken together.
fn tell_players(record: &PlayerRecord) {
    let players = &record.players;
    let first = players.iter().take(NAMES);
    let mut names: Vec<_> =
        first.map(|player| format!("\"{}\" ({})", printable(&player.name), grouped(player.games))).collect();
    if players.len() > NAMES {
        names.push("…".to_owned());
    }
    let name = players.first().map_or("", |player| &player.name);
    note(&format!(
        "the name fits {}, all of whose games count: {}; for one of them: '={}'",
        counted(players.len() as u64, "player"),
        names.join(", "),
        printable(name)
    ));
}

/// A record as tables.
struct Sheet {
    format: SqlFormat,
    /// Whether any rating is known.
    is_rated: bool,
}

impl Sheet {
    fn new(format: SqlFormat, record: &PlayerRecord) -> Self {
        let is_rated = record.all.rating().is_some() || record.all.opponent_rating().is_some();
        Self { format, is_rated }
    }

    fn write(&self, record: &PlayerRecord) -> anyhow::Result<()> {
        let name = record.players.first().map_or("", |player| &player.name);
        let others = match record.players.len() {
            0 | 1 => String::new(),
            players => format!(" and {}", counted(players as u64 - 1, "other player")),
        };
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
        let title =
            format!("{}{others}: {}{span}{unfinished}", printable(name), counted(record.all.games, "game"));
        self.title(1, &title)?;
        let sides = [("all", &record.all), ("White", &record.white.record), ("Black", &record.black.record)];
        self.scores("side", sides.map(|(side, record)| (side.to_owned(), record)))?;
        for (name, side) in [("White", &record.white), ("Black", &record.black)] {
            self.side(name, side)?;
        }
        self.years(record)?;
        if self.is_rated {
            self.title(2, "Opponents' ratings")?;
            let ratings = record.opponent_ratings.iter().map(|rating| {
                let to = |from: u16| format!("{from} to {}", u32::from(from) + 99);
                (rating.from.map_or_else(|| or_unknown(None), to), &rating.record)
            });
            self.scores("rated", ratings)?;
        }
        if record.speeds.iter().any(|speed| speed.speed.is_some()) {
            self.title(2, "Speeds")?;
            let speeds = record.speeds.iter();
            self.scores("speed", speeds.map(|speed| (or_unknown(speed.speed.as_deref()), &speed.record)))?;
        }
        self.title(2, &shown("Opponents", record.opponents.len(), record.opponent_count))?;
        let opponents = record.opponents.iter();
        self.scores(
            "opponent",
            opponents.map(|opponent| (or_unknown(opponent.name.as_deref()), &opponent.record)),
        )?;
        self.best_wins(&record.best_wins)
    }

    fn title(&self, level: usize, title: &str) -> anyhow::Result<()> {
        let mut out = stdout();
        if level > 1 {
            writeln!(out)?;
        }
        match self.format {
            SqlFormat::Md => writeln!(out, "{} {}\n", "#".repeat(level), markdown(title))?,
            _ => writeln!(out, "{title}{}", if level == 1 { "\n" } else { ":" })?,
        }
        Ok(out.flush()?)
    }

    /// A table of scores, each row with its name.
    fn scores<'r>(
        &self,
        what: &str,
        records: impl IntoIterator<Item = (String, &'r Record)>,
    ) -> anyhow::Result<()> {
        let mut rows = RowWriter::stdout(self.format, &self.columns(&[what], &[]))?;
        for (name, record) in records {
            rows.row(&self.cells(vec![name.into()], record))?;
        }
        rows.finish(|_| None)
    }

    /// The columns of a record between others.
    fn columns<'c>(&self, before: &[&'c str], behind: &[&'c str]) -> Vec<&'c str> {
        let ratings = if self.is_rated { RATINGS.as_slice() } else { &[] };
        [before, &SCORES, ratings, behind].concat()
    }

    /// The cells of a record behind others.
    fn cells<'v>(&self, mut cells: Vec<Value<'v>>, record: &Record) -> Vec<Value<'v>> {
        let number = |number: u64| Value::Integer(number.cast_signed());
        let finished = record.finished();
        cells.extend([
            number(record.games),
            record.wins.into(),
            record.draws.into(),
            record.losses.into(),
            match finished {
                0 => Value::Null,
                games => format!("{:>7}", percent(record.half_points(), 2 * games)).into(),
            },
        ]);
        if self.is_rated {
            cells.extend([
                record.rating().map_or(Value::Null, number),
                record.opponent_rating().map_or(Value::Null, number),
                record.performance().map_or(Value::Null, |rating| Value::Integer(rating.into())),
            ]);
        }
        cells
    }

    fn side(&self, name: &str, side: &SideRecord) -> anyhow::Result<()> {
        if side.record.games == 0 {
            return Ok(());
        }
        self.title(2, &shown(&format!("Openings with {name}"), side.openings.len(), side.opening_count))?;
        let openings = side.openings.iter().map(|opening| {
            let name = match (&opening.eco, &opening.name) {
                (Some(eco), Some(name)) => format!("{eco} {name}"),
                _ => "unknown".to_owned(),
            };
            (name, &opening.record)
        });
        self.scores("opening", openings)?;
        if side.lines.is_empty() {
            return Ok(());
        }
        self.title(2, &format!("Lines with {name}"))?;
        let mut rows = RowWriter::stdout(self.format, &self.columns(&["line", "share"], &[]))?;
        let mut write = |node: &LineNode| {
            let mover = if node.ply % 2 == 1 { Color::White } else { Color::Black };
            // Blanks at the beginning of a cell are lost in Markdown.
            let blank = if self.format == SqlFormat::Md { "· " } else { "  " };
            let indent = blank.repeat(node.ply as usize - 1);
            let number = number_before(node.ply.div_ceil(2), mover);
            let share = format!("{:>7}", percent(node.record.games, side.record.games));
            let cells = vec![format!("{indent}{number} {}", node.san).into(), share.into()];
            rows.row(&self.cells(cells, &node.record))
        };
        side.lines.iter().try_for_each(|node| walk(node, &mut write))?;
        rows.finish(|_| None)
    }

    fn years(&self, record: &PlayerRecord) -> anyhow::Result<()> {
        self.title(2, "Years")?;
        let performances: Vec<i32> =
            record.years.iter().filter_map(|year| year.record.performance()).collect();
        let chart = Chart::of(&performances);
        let bars = if chart.range.is_some() { [""].as_slice() } else { &[] };
        let mut rows = RowWriter::stdout(self.format, &self.columns(&["year"], bars))?;
        for year in &record.years {
            let label = or_unknown(year.year.map(|year| year.to_string()).as_deref());
            let mut cells = self.cells(vec![label.into()], &year.record);
            if chart.range.is_some() {
                let performance = year.record.performance();
                cells.push(performance.map_or(Value::Null, |rating| chart.bar(rating).into()));
            }
            rows.row(&cells)?;
        }
        rows.finish(|_| chart.legend())
    }

    fn best_wins(&self, wins: &[PlayerGame]) -> anyhow::Result<()> {
        const COLUMNS: [&str; 7] = ["game", "side", "opponent", "rating", "date", "event", "opening"];
        if wins.is_empty() {
            return Ok(());
        }
        self.title(2, "Best wins")?;
        let mut rows =
            RowWriter::stdout(self.format, &COLUMNS)?.shortening(&["opponent", "event", "opening"]);
        for win in wins {
            let opening = win.eco.as_ref().zip(win.opening.as_ref());
            rows.row(&[
                win.game_id.0.into(),
                Value::from(if win.side == Color::White { "White" } else { "Black" }),
                Value::from(or_unknown(win.opponent.as_deref())),
                win.opponent_rating.into(),
                win.date.as_deref().into(),
                win.event.as_deref().into(),
                opening.map_or(Value::Null, |(eco, name)| format!("{eco} {name}").into()),
            ])?;
        }
        rows.finish(|_| None)
    }
}

fn walk(node: &LineNode, see: &mut impl FnMut(&LineNode) -> anyhow::Result<()>) -> anyhow::Result<()> {
    see(node)?;
    node.next.iter().try_for_each(|next| walk(next, see))
}

fn or_unknown(text: Option<&str>) -> String {
    text.unwrap_or("unknown").to_owned()
}

/// A title that says how many of a list are shown, if not all.
fn shown(title: &str, shown: usize, total: u64) -> String {
    if (shown as u64) < total { format!("{title}, {shown} of {}", grouped(total)) } else { title.to_owned() }
}

/// Bars for ratings.
struct Chart {
    /// Where bars begin and end.
    range: Option<(i32, i32)>,
}

impl Chart {
    fn of(ratings: &[i32]) -> Self {
        const STEP: i32 = 100;
        let range = ratings.iter().min().zip(ratings.iter().max());
        let range = range.map(|(&least, &most)| {
            (least.div_euclid(STEP) * STEP - STEP, most.div_euclid(STEP) * STEP + STEP)
        });
        Self { range: range.filter(|_| ratings.len() > 1) }
    }

    fn bar(&self, rating: i32) -> String {
        let Some((first, last)) = self.range else { return String::new() };
        let share = f64::from(rating - first) / f64::from(last - first);
        "▇".repeat((share * BAR as f64).round() as usize)
    }

    fn legend(&self) -> Option<String> {
        self.range.map(|(first, last)| format!("bars show the performance, from {first} to {last}"))
    }
}
