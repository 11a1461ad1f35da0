//! Writes a player's record as an HTML page: one self-contained file for screens, paper or screen readers.
//!
//! The page is also well-formed XML, so that tests and other programs can parse it easily. All text goes
//! through [`text`].

use std::cmp::Reverse;
use std::io::{self, Write};

use pgndex::board::{Color, Position};
use pgndex::picture::{BoardPicture, escaped, piece_shapes};
use pgndex::query::{LineNode, PlayerRecord, Record};

use super::chart::{bar, bar_legend, progress};
use super::{Name, ScoreKind, Scores, Section, Sections, Table, WINS, or_unknown, transposition, win_cells};
use crate::cli::render::number::{counted, grouped, percent};
use crate::cli::render::output::Value;
use crate::cli::render::text::printable;

const STYLE: &str = include_str!("page.css");
/// The maximum number of boards below the lines of a side: two rows of three.
const BOARDS: usize = 6;
/// The maximum number of names listed.
const NAMES: usize = 12;
/// The note after the caption of a table with few unfinished games.
const FEW_UNFINISHED: &str = ". Games without a result count only in the number of games";
/// The title of the first section.
const FIRST: &str = "Score";

/// Writes the page of a record.
///
/// # Errors
/// Errors of writing.
pub(crate) fn write_page(out: &mut dyn Write, sections: &Sections<'_>) -> io::Result<()> {
    let (name, extent) = (text(&sections.name()), sections.extent());
    // Nothing may be loaded from anywhere, whatever the page contains.
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <title>{name}: {extent}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}\
         <header>\n<h1><bdi>{name}</bdi></h1>\n<p>{extent}</p>\n{}{}</header>\n",
        piece_shapes(),
        sections.filters().map(|filters| format!("<p>{}</p>\n", text(&filters))).unwrap_or_default(),
        names_of(sections.record),
    )?;
    contents(out, sections)?;
    writeln!(out, "<main>")?;
    let page = Page { is_rated: sections.is_rated };
    for (number, section) in (1..).zip(&sections.sections) {
        page.section(out, number, section)?;
    }
    writeln!(out, "</main>\n<footer>\n{}</footer>\n</body>\n</html>", page.explained())
}

/// A text for the page: without control characters, and with markup as entities.
fn text(text: &str) -> String {
    escaped(&printable(text))
}

/// The names in the games, if there are several, each with its number of games without filters.
fn names_of(record: &PlayerRecord) -> String {
    let spellings: Vec<_> = record.players.iter().flat_map(|player| &player.spellings).collect();
    if spellings.len() < 2 {
        return String::new();
    }
    let mut names: Vec<_> = spellings
        .iter()
        .take(NAMES)
        .map(|spelling| format!("<bdi>{}</bdi> ({})", text(&spelling.name), grouped(spelling.games)))
        .collect();
    if spellings.len() > NAMES {
        names.push(counted((spellings.len() - NAMES) as u64, "other name"));
    }
    format!("<p>Names, each with all its games: {}</p>\n", names.join("; "))
}

fn title_of<'s>(section: &'s Section<'_>) -> &'s str {
    if section.title.is_empty() { FIRST } else { &section.title }
}

/// Links to all sections.
fn contents(out: &mut dyn Write, sections: &Sections<'_>) -> io::Result<()> {
    writeln!(out, "<nav aria-label=\"Sections\">\n<ul>")?;
    for (number, section) in (1..).zip(&sections.sections) {
        writeln!(out, "<li><a href=\"#section-{number}\">{}</a></li>", text(title_of(section)))?;
    }
    writeln!(out, "</ul>\n</nav>")
}

struct Page {
    is_rated: bool,
}

/// How a table shows games without a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unfinished {
    /// All games have a result.
    None,
    /// So few games are without a result that a column would contain mostly zeros.
    Few,
    /// The games without a result have a column.
    Column,
}

impl Unfinished {
    /// The percentage of games from which on there is a column.
    const MANY: u64 = 5;

    fn of(scores: &Scores<'_>) -> Self {
        let sum =
            |count: fn(&Record) -> u64| scores.rows.iter().map(|(_, record)| count(record)).sum::<u64>();
        match (sum(|record| record.unfinished.into()), sum(|record| record.games)) {
            (0, _) => Self::None,
            (unfinished, games) if 100 * unfinished < Self::MANY * games => Self::Few,
            _ => Self::Column,
        }
    }
}

impl Page {
    fn section(&self, out: &mut dyn Write, number: u32, section: &Section<'_>) -> io::Result<()> {
        let id = format!("section-{number}");
        writeln!(
            out,
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>",
            text(title_of(section))
        )?;
        if let Table::Scores(scores) = &section.table
            && scores.kind == ScoreKind::Years
            && let Some(chart) = progress(scores)
        {
            write!(out, "{chart}")?;
        }
        // A table that is too wide for a screen can be scrolled, also with the keyboard.
        writeln!(
            out,
            "<div class=\"wide\" role=\"group\" tabindex=\"0\" aria-labelledby=\"{id}\">\n<table>\n<caption>{}{}</caption>",
            section.caption,
            match &section.table {
                Table::Scores(scores) if Unfinished::of(scores) == Unfinished::Few => FEW_UNFINISHED,
                _ => "",
            }
        )?;
        match &section.table {
            Table::Scores(scores) => {
                self.scores(out, scores)?;
                writeln!(out, "</table>\n</div>")?;
                match scores.kind {
                    ScoreKind::Lines(side) => boards(out, scores, side)?,
                    _ if number == 1 => writeln!(out, "<p class=\"legend\">{}</p>", bar_legend())?,
                    _ => {}
                }
            }
            Table::Wins(wins) => {
                head(out, WINS.map(|column| (column, matches!(column, "game" | "rating"))))?;
                for win in *wins {
                    row(out, &win_cells(win).map(|value| Cell::of(&value)))?;
                }
                writeln!(out, "</tbody>\n</table>\n</div>")?;
            }
        }
        writeln!(out, "</section>")
    }

    fn scores(&self, out: &mut dyn Write, scores: &Scores<'_>) -> io::Result<()> {
        let given = |is_given, columns: &[&'static str]| if is_given { columns.to_vec() } else { Vec::new() };
        let has_unfinished = Unfinished::of(scores) == Unfinished::Column;
        let columns = [
            vec![scores.what],
            given(scores.share_of.is_some(), &["share"]),
            vec!["games", "score", "won", "drawn", "lost"],
            given(has_unfinished, &["no result"]),
            given(self.is_rated, &["rating", "opponents", "performance"]),
        ];
        head(out, columns.concat().into_iter().map(|column| (column, column != scores.what)))?;
        for (name, record) in &scores.rows {
            let mut cells = vec![Cell::text(name_of(name))];
            cells.extend(scores.share_of.map(|whole| Cell::number(percent(record.games, whole))));
            self.cells(record, has_unfinished, &mut cells);
            row(out, &cells)?;
        }
        writeln!(out, "</tbody>")
    }

    fn cells(&self, record: &Record, has_unfinished: bool, cells: &mut Vec<Cell>) {
        let number = |number: Option<u64>| Cell::number(number.map_or_else(String::new, |it| it.to_string()));
        cells.push(number(Some(record.games)));
        cells.push(match record.finished() {
            0 => Cell::number(String::new()),
            games => Cell { class: "score", html: percent(record.half_points(), 2 * games) + &bar(record) },
        });
        let unfinished = has_unfinished.then_some(record.unfinished);
        let counts = [record.wins, record.draws, record.losses].into_iter().chain(unfinished);
        cells.extend(counts.map(|count| number(Some(count.into()))));
        if self.is_rated {
            let performance = record.performance().map_or_else(String::new, |rating| rating.to_string());
            let from = match record.performance_games() {
                games if games == record.finished() || games == 0 => String::new(),
                games => format!(" <small>({})</small>", grouped(games)),
            };
            cells.extend([
                number(record.rating()),
                number(record.opponent_rating()),
                Cell::number(performance + &from),
            ]);
        }
    }

    /// The meaning of the numbers.
    fn explained(&self) -> String {
        let mut words = "<p>Points are the player's, whatever the side. Games without a result do not count in the score.".to_owned();
        if self.is_rated {
            words += " Opponents: the mean of their ratings. Performance: by the table of the FIDE Handbook (B.02, 8.1.1), from games with \
                      a result against opponents whose ratings are known; if these are not all games, their number is in brackets.";
        }
        format!("{words}</p>\n<p>Made by pgndex {}</p>\n", env!("CARGO_PKG_VERSION"))
    }
}

/// A cell of a table.
struct Cell {
    class: &'static str,
    html: String,
}

impl Cell {
    const fn text(html: String) -> Self {
        Self { class: "text", html }
    }

    const fn number(html: String) -> Self {
        Self { class: "number", html }
    }

    fn of(value: &Value<'_>) -> Self {
        let shown = text(&value.to_text());
        match value {
            Value::Integer(_) => Self::number(shown),
            _ => Self::text(format!("<bdi>{shown}</bdi>")),
        }
    }
}

/// Writes the names of columns. Each name is given together with whether its column contains numbers.
fn head(out: &mut dyn Write, columns: impl IntoIterator<Item = (&'static str, bool)>) -> io::Result<()> {
    let cells = columns.into_iter().map(|(column, is_number)| {
        let class = if is_number { "number" } else { "text" };
        format!("<th scope=\"col\" class=\"{class}\">{column}</th>")
    });
    writeln!(out, "<thead>\n<tr>{}</tr>\n</thead>\n<tbody>", cells.collect::<String>())
}

/// Writes a row; its first cell is its header.
fn row(out: &mut dyn Write, cells: &[Cell]) -> io::Result<()> {
    write!(out, "<tr>")?;
    for (index, Cell { class, html }) in cells.iter().enumerate() {
        match index {
            0 => write!(out, "<th scope=\"row\" class=\"{class}\">{html}</th>")?,
            _ => write!(out, "<td class=\"{class}\">{html}</td>")?,
        }
    }
    writeln!(out, "</tr>")
}

fn name_of(name: &Name<'_>) -> String {
    match name {
        Name::Text(name) => format!("<bdi>{}</bdi>", text(name)),
        Name::Year(year) => or_unknown(year.map(|year| year.to_string()).as_deref()),
        Name::Line(moves) => {
            let (before, last) = moves_of(moves);
            let before = if before.is_empty() { before } else { format!("<span>{before}</span> ") };
            let same = transposition(moves).map(|line| format!(" <small>= {}</small>", text(line)));
            format!("{before}<b>{last}</b>{}", same.unwrap_or_default())
        }
    }
}

/// The moves of a line without the last one, and the last one.
fn moves_of(moves: &[&LineNode]) -> (String, String) {
    let mut words: Vec<_> = moves
        .iter()
        .map(|node| match node.ply % 2 {
            1 => format!("{}.\u{a0}{}", node.ply.div_ceil(2), text(&node.san)),
            _ => text(&node.san),
        })
        .collect();
    let last = words.pop().unwrap_or_default();
    (words.join(" "), last)
}

/// The moves and the record of a row, if it is a line without continuations.
fn whole_line<'s, 'r>(
    (name, record): &'s (Name<'r>, &'r Record),
) -> Option<(&'s [&'r LineNode], &'r Record)> {
    match name {
        Name::Line(moves) if moves.last().is_some_and(|node| node.next.is_empty()) => Some((moves, record)),
        _ => None,
    }
}

/// Writes the final positions of lines without continuations, as boards: those of the lines with the most
/// games.
fn boards(out: &mut dyn Write, scores: &Scores<'_>, side: Color) -> io::Result<()> {
    let mut lines: Vec<_> = scores.rows.iter().filter_map(whole_line).collect();
    lines.sort_by_key(|(_, record)| Reverse(record.games));
    writeln!(out, "<div class=\"boards\">")?;
    for (moves, record) in lines.iter().take(BOARDS) {
        let mut position = Position::start();
        let mut last_move = None;
        for node in *moves {
            last_move = position.play_san(node.san.as_bytes()).ok();
        }
        let picture = BoardPicture { position: &position, orientation: side, last_move, arrows: &[] };
        let (before, last) = moves_of(moves);
        let score = match record.finished() {
            0 => String::new(),
            games => format!(", {}", percent(record.half_points(), 2 * games)),
        };
        writeln!(
            out,
            "<figure>\n{}<figcaption>{before} <b>{last}</b><br/>{}{score}</figcaption>\n</figure>",
            picture.to_svg_in_page(),
            counted(record.games, "game"),
        )?;
    }
    writeln!(out, "</div>")
}
