//! Writes a player's record as an HTML page: one self-contained file for screens, paper or screen readers.
//!
//! The page is also well-formed XML, so that tests and other programs can parse it easily. All texts from the
//! database pass through the function [`text`].

use std::cmp::Reverse;
use std::io::{self, Write};

use pgndex::board::{Color, Position};
use pgndex::picture::{BoardPicture, escaped, piece_shapes};
use pgndex::query::{LineNode, PlayerRecord, Record};

use super::{Name, ScoreKind, Scores, Section, Sections, Table, WINS, or_unknown, transposition, win_cells};
use crate::cli::render::{Value, counted, grouped, percent, printable};

const STYLE: &str = include_str!("page.css");
/// The maximum number of boards below the lines of a side: two rows of three.
const BOARDS: usize = 6;
/// The maximum number of names listed.
const NAMES: usize = 12;
/// The note after the caption of a table with few unfinished games.
const FEW_UNFINISHED: &str = ". Games without a result are included only in the number of games";
/// The title of the first section.
const FIRST: &str = "Score";

/// Writes the page of a record.
///
/// # Errors
/// If writing fails.
pub(crate) fn write_page(out: &mut dyn Write, sections: &Sections<'_>) -> io::Result<()> {
    let (name, extent) = (text(&sections.name()), sections.extent());
    // The Content-Security-Policy forbids the browser to load anything, whatever the page contains.
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

/// A text for the page: control characters are replaced, and markup characters become entities.
fn text(text: &str) -> String {
    escaped(&printable(text))
}

/// The player's names in the games, if there are several. Each name is followed by the number of all its
/// games, including the games that the filters exclude.
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
    format!("<p>Names, each with the number of all its games: {}</p>\n", names.join("; "))
}

fn title_of<'s>(section: &'s Section<'_>) -> &'s str {
    if section.title.is_empty() { FIRST } else { &section.title }
}

/// Writes links to all sections.
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
    /// If at least this percentage of the games have no result, the table has a column for them.
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

    /// Explains the numbers on the page.
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

/// Writes the names of columns. `columns` contains each name, and whether the column contains numbers.
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

/// The moves of a line except the last move, and the last move.
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

/// The moves and the record of a row, if the row is a line without continuations.
fn whole_line<'s, 'r>(
    (name, record): &'s (Name<'r>, &'r Record),
) -> Option<(&'s [&'r LineNode], &'r Record)> {
    match name {
        Name::Line(moves) if moves.last().is_some_and(|node| node.next.is_empty()) => Some((moves, record)),
        _ => None,
    }
}

/// Writes boards with the final positions of the most frequent lines without continuations.
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

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
/// The edges of a chart's area.
const LEFT: f64 = 60.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = HEIGHT - 32.0;
/// The chart omits performances that are based on fewer games than this. They mean little, and would flatten the
/// rest of the line.
const FEWEST_GAMES: u64 = 5;
/// The heights of the parts of a bar: games won, drawn and lost.
const PARTS: [(&str, u32); 3] = [("won", 12), ("drawn", 8), ("lost", 4)];

/// The results of games as an SVG bar of three parts, side by side: won (the tallest), drawn, lost (the
/// shortest).
fn bar(record: &Record) -> String {
    let whole = record.finished().max(1);
    let counts = [record.wins, record.draws, record.losses].map(u64::from);
    let (mut begin, mut rects, mut words) = (0.0, String::new(), Vec::new());
    for ((name, height), count) in PARTS.into_iter().zip(counts) {
        let width = count as f64 * 100.0 / whole as f64;
        if count > 0 {
            rects += &format!(
                "<rect class=\"{name}\" x=\"{begin:.1}\" y=\"{}\" width=\"{width:.1}\" height=\"{height}\"/>",
                12 - height
            );
        }
        words.push(format!("{} {name}", percent(count, whole)));
        begin += width;
    }
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" role=\"img\"><title>{}</title>{rects}</svg>",
        words.join(", ")
    )
}

/// The legend of the bars.
fn bar_legend() -> String {
    let part = |(name, height): (&str, u32)| {
        format!(
            "<svg class=\"sign\" viewBox=\"0 0 20 12\" aria-hidden=\"true\"><rect class=\"{name}\" y=\"{}\" width=\"20\" height=\"{height}\"/></svg> {name}",
            12 - height
        )
    };
    format!("The bars: {}", PARTS.map(part).join(" "))
}

/// A line of a chart: its name, its text in the caption, its values, and the shape of its points.
struct Line {
    name: &'static str,
    caption: &'static str,
    value: fn(&Record) -> Option<i64>,
    mark: fn(f64, f64) -> String,
}

const LINES: [Line; 2] = [
    Line {
        name: "rating",
        caption: "mean rating",
        value: |record| record.rating().map(u64::cast_signed),
        mark: |x, y| format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>"),
    },
    Line {
        name: "performance",
        caption: "performance, if it is based on at least five games",
        value: |record| {
            record.performance().filter(|_| record.performance_games() >= FEWEST_GAMES).map(i64::from)
        },
        mark: |x, y| format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"/>", x - 4.0, y - 4.0),
    },
];

/// A scale of a chart, with labels at the multiples of a round step.
struct Scale {
    first: i64,
    last: i64,
    step: i64,
}

impl Scale {
    /// The scale that covers these values in at most `most` steps.
    fn of(values: impl Iterator<Item = i64> + Clone, most: i64) -> Option<Self> {
        let (least, greatest) = values.clone().min().zip(values.max())?;
        let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
        let step = steps.take(30).find(|step| greatest - least <= step * most)?;
        Some(Self { first: least, last: greatest, step })
    }

    /// The scale, extended so that it begins and ends at a multiple of the step.
    fn widened(self) -> Self {
        let Self { first, last, step } = self;
        let first = first.div_euclid(step) * step;
        Self { first, last: (last.div_euclid(step) + i64::from(last.rem_euclid(step) > 0)) * step, step }
    }

    /// The multiples of the step within the scale.
    fn ticks(&self) -> impl Iterator<Item = i64> {
        let from = self.first.div_euclid(self.step) + i64::from(self.first.rem_euclid(self.step) > 0);
        (from..=self.last.div_euclid(self.step)).map(|tick| tick * self.step)
    }

    /// The coordinate of a value, if the scale extends from the coordinate `from` to the coordinate `to`.
    fn place(&self, value: i64, from: f64, to: f64) -> f64 {
        from + (to - from) * (value - self.first) as f64 / (self.last - self.first).max(1) as f64
    }
}

/// A chart of ratings and performances by year; `None` if fewer than two years have either. A line without
/// points is omitted.
fn progress(scores: &Scores<'_>) -> Option<String> {
    let field = Field::of(scores)?;
    let (mut svg, mut words, mut signs) = (field.axes(), Vec::new(), Vec::new());
    for Line { name, caption, value, mark } in LINES {
        let points: Vec<(i64, i64)> =
            field.years.iter().filter_map(|(year, record)| Some((*year, value(record)?))).collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
        let places: Vec<(f64, f64)> =
            points.iter().map(|&(year, rating)| (field.x(year), field.y(rating))).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let marks: String = places.iter().map(|&(x, y)| mark(x, y)).collect();
        svg += &format!("<g class=\"{name}\"><path d=\"M{}\"/>{marks}</g>\n", path.join("L"));
        words.push(format!("{name} {} in {}, {} in {}", first.1, first.0, last.1, last.0));
        signs.push(format!(
            "<svg class=\"sign\" viewBox=\"0 0 32 12\" aria-hidden=\"true\"><g class=\"{name}\"><path d=\"M0 6H32\"/>{}</g></svg> {caption}",
            mark(16.0, 6.0)
        ));
    }
    Some(format!(
        "<figure class=\"chart\">\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>Progress by year</title>\n\
         <desc>{}. The table has all years.</desc>\n{svg}</svg>\n<figcaption>{}</figcaption>\n</figure>\n",
        words.join("; "),
        signs.join("; "),
    ))
}

/// The years of a chart, and its scales.
struct Field<'r> {
    years: Vec<(i64, &'r Record)>,
    across: Scale,
    up: Scale,
}

impl<'r> Field<'r> {
    fn of(scores: &Scores<'r>) -> Option<Self> {
        let years: Vec<(i64, &Record)> = scores
            .rows
            .iter()
            .filter_map(|(name, record)| match name {
                Name::Year(Some(year)) => Some((i64::from(*year), *record)),
                _ => None,
            })
            .filter(|(_, record)| LINES.iter().any(|line| (line.value)(record).is_some()))
            .collect();
        if years.len() < 2 {
            return None;
        }
        let values =
            years.iter().flat_map(|(_, record)| LINES.iter().filter_map(|line| (line.value)(record)));
        let up = Scale::of(values, 5)?.widened();
        let across = Scale::of(years.iter().map(|(year, _)| *year), 10)?;
        Some(Self { years, across, up })
    }

    /// The horizontal coordinate of a year.
    fn x(&self, year: i64) -> f64 {
        self.across.place(year, LEFT + 12.0, RIGHT - 12.0)
    }

    /// The vertical coordinate of a rating.
    fn y(&self, rating: i64) -> f64 {
        self.up.place(rating, BOTTOM, TOP)
    }

    fn axes(&self) -> String {
        let mut svg = String::new();
        for tick in self.up.ticks() {
            let y = self.y(tick);
            svg += &format!(
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>\n",
                LEFT - 8.0,
                y + 5.0
            );
        }
        // On a small screen, only every second label fits.
        for (tick, class) in self.across.ticks().zip(["first", "second"].into_iter().cycle()) {
            svg += &format!(
                "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>\n",
                self.x(tick),
                BOTTOM + 22.0
            );
        }
        svg
    }
}
