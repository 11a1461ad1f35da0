//! Prints the moves as a table, with lists of games below.

use std::io::Write as _;

use pgndex::board::Color;
use pgndex::query::{ExploreQuery, ListedGame, MoveStatistics, PositionStatistics, SideScore};
use pgndex::store::row::ResultCounts;

use crate::cli::args::{ExploreArgs, RowFormat};
use crate::cli::render::board::BoardStyle;
use crate::cli::render::number::{counted, grouped, percent};
use crate::cli::render::output::{RowWriter, Value, stdout, terminal_width};
use crate::cli::render::text::printable;

/// The width of a bar without a terminal.
const BAR: usize = 20;
/// The width of a table without its bars, with shortened openings.
const WIDTH_WITHOUT_BAR: usize = 70;
/// The additional width with the columns for the view of one side.
pub(super) const SIDE_WIDTH: usize = 22;
/// The width of the column for variations.
const VARIATIONS_WIDTH: usize = 12;

/// The columns for the view of one side, if requested.
pub(super) const OF_SIDE: [&str; 4] = ["  score", "+/=/- %", "opponents", "performance"];
/// The columns that are left out if the columns for one side are shown.
pub(super) const OF_BOTH: [&str; 2] = ["w/d/b %", "elo"];
/// The column for variations, if these are searched.
const VARIATIONS: &str = "variations";
const OPENING: &str = "opening";

const MOVES: [&str; 13] = [
    "move", "games", "  share", OF_SIDE[0], OF_SIDE[1], OF_BOTH[0], "", OF_BOTH[1], OF_SIDE[2], OF_SIDE[3],
    "last", VARIATIONS, OPENING,
];
const GAMES: [&str; 9] = ["game", "white", "elo", "black", "elo", "result", "date", "event", "next"];
/// The columns to shorten if the terminal is narrow.
const NAMES: [&str; 4] = [OPENING, "white", "black", "event"];

/// Writes the answer.
pub(super) fn write(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    answer: &PositionStatistics,
) -> anyhow::Result<()> {
    write_head(args, explore, answer.opening.as_ref().map(ToString::to_string))?;
    if answer.is_empty() {
        return Ok(());
    }
    let ascii = BoardStyle::new(&args.style).is_ascii();
    write_moves(explore, answer, Bars::new(ascii, answer.in_variations.is_some(), explore.side))?;
    write_games("Highest rated", &answer.top_games)?;
    write_games("Latest", &answer.recent_games)
}

/// Writes the name of the position, and the board if requested.
pub(super) fn write_head(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    name: Option<String>,
) -> anyhow::Result<()> {
    let mut out = stdout();
    if let Some(name) = &name {
        writeln!(out, "{}", printable(name))?;
    }
    if args.board {
        BoardStyle::new(&args.style).write(&mut out, &explore.query.position, None)?;
    }
    if args.board || name.is_some() {
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

/// A line of the table: a move, or the total.
struct Line<'a> {
    name: &'a str,
    results: &'a ResultCounts,
    average_rating: Option<u64>,
    score: Option<&'a SideScore>,
    in_variations: Option<u64>,
    opening: Option<String>,
}

impl Line<'_> {
    fn cells(&self, all: u64, bars: Bars) -> [Value<'_>; MOVES.len()] {
        let Self { name, results, score, .. } = *self;
        let games = results.games();
        let if_played = |cell: String| if games > 0 { cell.into() } else { Value::Null };
        let shares = |parts: [u32; 3]| {
            let rounded = parts.map(|part| (f64::from(part) * 100.0 / games as f64).round().to_string());
            if_played(rounded.join("/"))
        };
        let parts = won_drawn_lost(results, score);
        let points = 2 * u64::from(parts[0]) + u64::from(parts[1]);
        [
            Value::from(name),
            integer(Some(games)),
            format!("{:>7}", percent(games, all)).into(),
            if_played(format!("{:>7}", percent(points, 2 * games))),
            shares(parts),
            shares(parts),
            if_played(bars.draw(parts, games)),
            integer(self.average_rating),
            integer(score.and_then(|score| score.average_opponent_rating)),
            performance(score),
            results.last_year.into(),
            integer(self.in_variations),
            self.opening.as_deref().into(),
        ]
    }
}

/// Games won, drawn and lost by the chosen side, or otherwise by White.
pub(super) fn won_drawn_lost(results: &ResultCounts, score: Option<&SideScore>) -> [u32; 3] {
    match score {
        Some(score) => score.won_drawn_lost(results),
        None => [results.white_wins, results.draws, results.black_wins],
    }
}

fn write_moves(explore: &ExploreQuery<'_>, answer: &PositionStatistics, bars: Bars) -> anyhow::Result<()> {
    let side = explore.side;
    if answer.moves.is_empty() {
        let mut out = stdout();
        writeln!(out, "{}", totals(answer, side, bars))?;
        return Ok(out.flush()?);
    }
    let named = answer.moves.iter().any(|played| played.opening.is_some());
    let columns = MOVES.map(|name| match name {
        OPENING => named,
        VARIATIONS => answer.in_variations.is_some(),
        name if OF_SIDE.contains(&name) => side.is_some(),
        name if OF_BOTH.contains(&name) => side.is_none(),
        _ => true,
    });
    let mut rows = RowWriter::stdout(RowFormat::Table, &chosen(MOVES, columns))?.shortening(&NAMES);
    let all = answer.results.games();
    for played in &answer.moves {
        let MoveStatistics { san, average_rating, results, score, in_variations, opening, .. } = played;
        let line = Line {
            name: san,
            results,
            average_rating: *average_rating,
            score: score.as_ref(),
            in_variations: *in_variations,
            opening: opening.as_ref().map(ToString::to_string),
        };
        rows.row(&chosen(line.cells(all, bars), columns))?;
    }
    let sum = Line {
        name: bars.sum(),
        results: &answer.results,
        average_rating: answer.results.mean_elo(explore.query.position.side()),
        score: answer.score.as_ref(),
        in_variations: answer.in_variations,
        opening: None,
    };
    rows.row(&chosen(sum.cells(all, bars), columns))?;
    rows.finish(|_| Some(totals(answer, side, bars)))
}

/// The totals below the moves, with an explanation of the bars.
fn totals(answer: &PositionStatistics, side: Option<Color>, bars: Bars) -> String {
    let PositionStatistics {
        results,
        unfinished,
        transposed,
        in_variations,
        ended,
        hidden_moves: hidden,
        ..
    } = answer;
    let games = results.games();
    let verb = |count: u64, one: &'static str, more: &'static str| if count == 1 { one } else { more };
    let remarks = [
        transposed.filter(|&games| games > 0).map(|transposed| {
            format!("{} reached the position by another order of moves", grouped(transposed))
        }),
        (*ended > 0).then(|| format!("{} ended here", grouped(*ended))),
        (*unfinished > 0).then(|| {
            let verb = verb(*unfinished, "is", "are");
            format!("{} without a result {verb} not counted", counted(*unfinished, "game"))
        }),
        in_variations.filter(|&games| games > 0).map(|games| {
            format!("{} {} the position in variations", counted(games, "game"), verb(games, "has", "have"))
        }),
        hidden_moves(*hidden),
    ];
    let parts = won_drawn_lost(results, answer.score.as_ref());
    let remarks: Vec<_> = remarks.into_iter().flatten().collect();
    let line = format!("{}: {}", counted(games, "game"), bars.legend(parts, games, side));
    if remarks.is_empty() { line } else { format!("{line}\n{}", remarks.join("; ")) }
}

/// How many moves are not shown, if any.
pub(super) fn hidden_moves(hidden: usize) -> Option<String> {
    (hidden > 0).then(|| format!("{} not shown: --limit 0 shows all", counted(hidden as u64, "move")))
}

fn write_games(title: &str, games: &[ListedGame]) -> anyhow::Result<()> {
    if games.is_empty() {
        return Ok(());
    }
    let mut out = stdout();
    writeln!(out, "\n{title}:")?;
    out.flush()?;
    drop(out);
    let mut rows = RowWriter::stdout(RowFormat::Table, &GAMES)?.shortening(&NAMES);
    for ListedGame { game, san, .. } in games {
        rows.row(&[
            game.id.0.into(),
            Value::from(game.white.name.as_deref().unwrap_or("?")),
            game.white.rating.into(),
            Value::from(game.black.name.as_deref().unwrap_or("?")),
            game.black.rating.into(),
            Value::from(game.result.as_str()),
            game.date.as_deref().into(),
            game.event.as_deref().into(),
            Value::from(san.as_deref().unwrap_or("(last position)")),
        ])?;
    }
    rows.finish(|_| None)
}

/// The chosen columns, or their cells.
pub(super) fn chosen<T, const N: usize>(cells: [T; N], columns: [bool; N]) -> Vec<T> {
    cells.into_iter().zip(columns).filter_map(|(cell, is_chosen)| is_chosen.then_some(cell)).collect()
}

pub(super) fn integer<'a>(number: Option<u64>) -> Value<'a> {
    number.map_or(Value::Null, |number| Value::Integer(number.cast_signed()))
}

/// The performance of the chosen side.
pub(super) fn performance<'a>(score: Option<&SideScore>) -> Value<'a> {
    let rating = score.and_then(|score| score.performance);
    rating.map_or(Value::Null, |rating| Value::Integer(rating.into()))
}

/// Bars with three parts: games won, drawn and lost by White, or by the chosen side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bars {
    width: usize,
    won: char,
    drawn: char,
    lost: char,
}

impl Bars {
    pub(super) fn new(ascii: bool, variations: bool, side: Option<Color>) -> Self {
        let variations = if variations { VARIATIONS_WIDTH } else { 0 };
        let beside = WIDTH_WITHOUT_BAR + variations + if side.is_some() { SIDE_WIDTH } else { 0 };
        Self::with_other_width(ascii, beside)
    }

    /// Bars in a table whose other columns have this width.
    pub(super) fn with_other_width(ascii: bool, beside: usize) -> Self {
        let width = terminal_width().map_or(BAR, |width| width.saturating_sub(beside).clamp(6, 2 * BAR));
        let [won, drawn, lost] = if ascii { ['#', '=', '.'] } else { ['█', '▒', '░'] };
        Self { width, won, drawn, lost }
    }

    /// The name of the row with the totals.
    pub(super) fn sum(self) -> &'static str {
        if self.won.is_ascii() { "all" } else { "Σ" }
    }

    /// A bar for these numbers of games won, drawn and lost.
    pub(super) fn draw(self, [won, drawn, _]: [u32; 3], games: u64) -> String {
        // Each part ends at its share of the total, so that rounding never changes the width.
        let end = |part: u64| (part as f64 * self.width as f64 / games as f64).round() as usize;
        let [won, drawn] = [won, drawn].map(u64::from);
        let (won, drawn) = (end(won), end(won + drawn));
        let part = |letter, from, to| std::iter::repeat_n(letter, to - from);
        part(self.won, 0, won)
            .chain(part(self.drawn, won, drawn))
            .chain(part(self.lost, drawn, self.width))
            .collect()
    }

    /// Explains the parts, each with its games.
    pub(super) fn legend(self, [won, drawn, lost]: [u32; 3], games: u64, side: Option<Color>) -> String {
        let [win, draw, loss] = match side {
            None => ["White", "draw", "Black"],
            Some(_) => ["won", "drawn", "lost"],
        };
        let part = |letter, name, number: u32| {
            format!("{letter} {name} {} ({})", grouped(number.into()), percent(number.into(), games))
        };
        let parts = [part(self.won, win, won), part(self.drawn, draw, drawn), part(self.lost, loss, lost)];
        let of = side.map_or_else(String::new, |side| format!(", from {}'s side", side.name()));
        parts.join(", ") + &of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_bar_have_its_whole_width() {
        let bars = Bars { width: 10, won: '#', drawn: '=', lost: '.' };
        let draw = |won, drawn, lost| bars.draw([won, drawn, lost], u64::from(won + drawn + lost));
        assert_eq!(draw(1, 0, 0), "##########");
        assert_eq!(draw(0, 0, 3), "..........");
        assert_eq!(draw(1, 1, 1), "###====...");
        assert_eq!(draw(5, 4, 1), "#####====.");
        assert_eq!(draw(400_000, 1, 1), "##########");
    }
}
