//! A player's record for people: its sections, each with a table, which are the same in every format.

mod chart;
mod page;
mod tables;

use pgndex::board::Color;
use pgndex::query::{LineNode, PlayerGame, PlayerRecord, Record, SideRecord};

use crate::cli::render::number::{counted, grouped};
use crate::cli::render::output::Value;
use crate::cli::render::text::printable;

pub(crate) use page::write_page;
pub(crate) use tables::write_tables;

/// The columns of games won.
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
    /// The number of games of which each row's share is shown; `None` if shares are not shown.
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

/// The name of a row's record.
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
        sections.plain(
            "",
            "All games, and those with each side",
            "side",
            sides.map(|(side, of)| (side.to_owned(), of)),
        );
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

    /// The number of games, and their years.
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
        let scores = Scores {
            what: "ending",
            share_of: Some(self.record.all.games),
            kind: ScoreKind::Plain,
            rows: rows.collect(),
        };
        self.scores(
            "Endings",
            "By the kinds of endings that games reached; a game counts once in each",
            scores,
        );
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
            self.plain("Speeds", "By how fast the games were, most games first", "speed", speeds);
        }
        let title = shown("Opponents", record.opponents.len(), record.opponent_count);
        let opponents =
            record.opponents.iter().map(|opponent| (or_unknown(opponent.name.as_deref()), &opponent.record));
        self.plain(&title, "By opponent, most games first", "opponent", opponents);
    }
}

/// Adds a line and its continuations.
fn add_lines<'r>(before: &[&'r LineNode], node: &'r LineNode, rows: &mut Vec<(Name<'r>, &'r Record)>) {
    let line = [before, &[node]].concat();
    rows.push((Name::Line(line.clone()), &node.record));
    node.next.iter().for_each(|next| add_lines(&line, next, rows));
}

/// The line with the most games that leads to the same position as a given line. `None` if there is no such
/// line, or if the given line without its last move already has one.
fn transposition<'r>(moves: &[&'r LineNode]) -> Option<&'r str> {
    let (last, before) = moves.split_last()?;
    let is_told = before.last().is_some_and(|node| node.transposes_to.is_some());
    last.transposes_to.as_deref().filter(|_| !is_told)
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
        opening.map_or(Value::Null, |(eco, name)| format!("{eco} {name}").into()),
    ]
}

fn or_unknown(text: Option<&str>) -> String {
    text.unwrap_or("unknown").to_owned()
}

/// A title with the number of shown items, if not all are shown.
fn shown(title: &str, shown: usize, total: u64) -> String {
    if (shown as u64) < total { format!("{title}, {shown} of {}", grouped(total)) } else { title.to_owned() }
}
