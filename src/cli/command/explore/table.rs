//! Prints the moves, or the games by year, as a table or as CSV.

use std::borrow::Cow;
use std::io::Write as _;
use std::iter::repeat_n;

use pgndex::board::Color;
use pgndex::opening::Opening;
use pgndex::query::{ExploreQuery, HistoryYear, ListedGame, MoveStatistics, PositionStatistics, SideScore};
use pgndex::store::row::ResultCounts;

use crate::cli::args::{ExploreArgs, SqlFormat};
use crate::cli::render::{
    BoardStyle, RowWriter, Value, counted, grouped, is_ascii, percent, print_line, printable, sign, stdout,
    terminal_width,
};

/// The width of a bar if the width of the output is unknown.
const BAR: usize = 20;
/// The width of a table without its bars, with shortened opening names.
const WIDTH_WITHOUT_BAR: usize = 70;
/// The additional width of the columns for the view of one side.
pub(super) const SIDE_WIDTH: usize = 22;
/// The width of the column for variations.
const VARIATIONS_WIDTH: usize = 12;

/// The headers of the columns that are shown only with `--side`.
const OF_SIDE: [&str; 4] = ["  score", "+/=/- %", "opponents", "performance"];
/// The headers of the columns that are left out with `--side`.
const OF_BOTH: [&str; 2] = ["w/d/b %", "elo"];
/// The header of the column that is shown only with `--variations`.
const VARIATIONS: &str = "variations";
pub(super) const OPENING: &str = "opening";
pub(super) const MOVES: [&str; 13] = [
    "move", "games", "  share", OF_SIDE[0], OF_SIDE[1], OF_BOTH[0], "", OF_BOTH[1], OF_SIDE[2], OF_SIDE[3],
    "last", VARIATIONS, OPENING,
];
const GAMES: [&str; 9] = ["game", "white", "elo", "black", "elo", "result", "date", "event", "next"];
/// The columns to shorten if the terminal is narrow.
const NAMES: [&str; 4] = [OPENING, "white", "black", "event"];

/// Writes the whole answer as text: the opening's name, the board, the moves, and the lists of games.
pub(super) fn write(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    answer: &PositionStatistics,
) -> anyhow::Result<()> {
    write_head(args, explore, answer.opening.as_ref())?;
    if answer.is_empty() {
        return Ok(());
    }
    let variations = if answer.in_variations.is_some() { VARIATIONS_WIDTH } else { 0 };
    let beside = WIDTH_WITHOUT_BAR + variations + if explore.side.is_some() { SIDE_WIDTH } else { 0 };
    write_moves(explore, answer, Bars::beside(beside))?;
    write_games("Highest rated", &answer.top_games)?;
    write_games("Latest", &answer.recent_games)
}

/// Writes the opening's name, if there is one, and the board if requested.
pub(super) fn write_head(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    opening: Option<&Opening>,
) -> anyhow::Result<()> {
    let mut out = stdout();
    if let Some(opening) = opening {
        writeln!(out, "{}", printable(&opening.to_string()))?;
    }
    if args.board {
        BoardStyle::new(&args.style).write(&mut out, &explore.query.position, None)?;
    }
    if args.board || opening.is_some() {
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

/// A line of the table: a move, or the total.
pub(super) struct Line<'a> {
    pub(super) name: Cow<'a, str>,
    results: &'a ResultCounts,
    average_rating: Option<u64>,
    score: Option<&'a SideScore>,
    in_variations: Option<u64>,
    pub(super) opening: Option<String>,
}

impl<'a> Line<'a> {
    pub(super) fn of(played: &'a MoveStatistics) -> Self {
        Self {
            name: played.san.as_str().into(),
            results: &played.results,
            average_rating: played.average_rating,
            score: played.score.as_ref(),
            in_variations: played.in_variations,
            opening: played.opening.as_ref().map(ToString::to_string),
        }
    }

    /// The cells of all columns. The share is a percentage of `all`, which is a number of games.
    pub(super) fn cells(&self, all: u64, bars: Bars) -> [Value<'_>; MOVES.len()] {
        let Self { results, score, .. } = *self;
        let games = results.games();
        let parts = won_drawn_lost(results, score.map(|score| score.color));
        [
            self.name.as_ref().into(),
            games.into(),
            Value::share(games, all),
            points(parts, games),
            shares(parts, games),
            shares(parts, games),
            (games > 0).then(|| bars.draw(parts, games)).into(),
            self.average_rating.into(),
            score.and_then(|score| score.average_opponent_rating).into(),
            score.and_then(|score| score.performance).into(),
            results.last_year.into(),
            self.in_variations.into(),
            self.opening.as_deref().into(),
        ]
    }
}

/// Which columns of `MOVES` are shown.
pub(super) fn columns(side: Option<Color>, variations: bool, openings: bool) -> [bool; MOVES.len()] {
    MOVES.map(|name| match name {
        OPENING => openings,
        VARIATIONS => variations,
        name if OF_SIDE.contains(&name) => side.is_some(),
        name if OF_BOTH.contains(&name) => side.is_none(),
        _ => true,
    })
}

/// The score in percent; an empty cell if there are no games.
pub(super) fn points([won, drawn, _]: [u32; 3], games: u64) -> Value<'static> {
    (games > 0).then(|| Value::share(2 * u64::from(won) + u64::from(drawn), 2 * games)).into()
}

/// The percentages of games won, drawn and lost; an empty cell if there are no games.
pub(super) fn shares(parts: [u32; 3], games: u64) -> Value<'static> {
    let rounded = parts.map(|part| (f64::from(part) * 100.0 / games as f64).round().to_string());
    (games > 0).then(|| rounded.join("/")).into()
}

/// The header of the column that contains the result of [`shares`].
pub(super) const fn shares_header(side: Option<Color>) -> &'static str {
    if side.is_some() { OF_SIDE[1] } else { OF_BOTH[0] }
}

/// The numbers of games won, drawn and lost by a side; without a side, by White.
pub(super) const fn won_drawn_lost(results: &ResultCounts, side: Option<Color>) -> [u32; 3] {
    let &ResultCounts { white_wins, draws, black_wins, .. } = results;
    match side {
        None | Some(Color::White) => [white_wins, draws, black_wins],
        Some(Color::Black) => [black_wins, draws, white_wins],
    }
}

fn write_moves(explore: &ExploreQuery<'_>, answer: &PositionStatistics, bars: Bars) -> anyhow::Result<()> {
    let side = explore.side;
    if answer.moves.is_empty() {
        return print_line(&totals(answer, side, bars));
    }
    let named = answer.moves.iter().any(|played| played.opening.is_some());
    let columns = columns(side, answer.in_variations.is_some(), named);
    let mut rows = RowWriter::stdout(SqlFormat::Table, &chosen(MOVES, columns))?.shortening(&NAMES);
    let sum = Line {
        name: sign("Σ", "all").into(),
        results: &answer.results,
        average_rating: answer.results.mean_elo(explore.query.position.side()),
        score: answer.score.as_ref(),
        in_variations: answer.in_variations,
        opening: None,
    };
    let all = answer.results.games();
    for line in answer.moves.iter().map(Line::of).chain([sum]) {
        rows.row(&chosen(line.cells(all, bars), columns))?;
    }
    rows.finish(Some(totals(answer, side, bars)))
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
    let verb = |count: u64, one: &'static str, more: &'static str| if count == 1 { one } else { more };
    let remarks = [
        transposed
            .filter(|&games| games > 0)
            .map(|transposed| format!("{} reached the position by another move order", grouped(transposed))),
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
    let remarks: Vec<_> = remarks.into_iter().flatten().collect();
    let line = bars.total(results, side);
    if remarks.is_empty() { line } else { format!("{line}\n{}", remarks.join("; ")) }
}

/// How many moves are not shown, as text; `None` if all are shown.
pub(super) fn hidden_moves(hidden: usize) -> Option<String> {
    (hidden > 0).then(|| format!("{} not shown: --limit 0 shows all", counted(hidden as u64, "move")))
}

fn write_games(title: &str, games: &[ListedGame]) -> anyhow::Result<()> {
    if games.is_empty() {
        return Ok(());
    }
    print_line(&format!("\n{title}:"))?;
    let mut rows = RowWriter::stdout(SqlFormat::Table, &GAMES)?.shortening(&NAMES);
    for ListedGame { game, san, .. } in games {
        rows.row(&[
            game.id.0.into(),
            game.white.name.as_deref().unwrap_or("?").into(),
            game.white.rating.into(),
            game.black.name.as_deref().unwrap_or("?").into(),
            game.black.rating.into(),
            game.result.as_str().into(),
            game.date.as_deref().into(),
            game.event.as_deref().into(),
            san.as_deref().unwrap_or("(last position)").into(),
        ])?;
    }
    rows.finish(None)
}

/// The headers or cells of the chosen columns.
pub(super) fn chosen<T, const N: usize>(cells: [T; N], columns: [bool; N]) -> Vec<T> {
    cells.into_iter().zip(columns).filter_map(|(cell, is_chosen)| is_chosen.then_some(cell)).collect()
}

/// Bars with three parts: games won, drawn and lost by White, or by the chosen side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bars {
    width: usize,
    /// The characters of the parts.
    parts: [char; 3],
}

impl Bars {
    /// Bars for a table whose other columns together have this width.
    pub(super) fn beside(width: usize) -> Self {
        let width = terminal_width().map_or(BAR, |terminal| terminal.saturating_sub(width).clamp(6, 2 * BAR));
        Self { width, parts: if is_ascii() { ['#', '=', '.'] } else { ['█', '▒', '░'] } }
    }

    /// A bar for these numbers of games won, drawn and lost.
    fn draw(self, [won, drawn, _]: [u32; 3], games: u64) -> String {
        // Rounds the end of each part instead of its width, so that the whole bar always has its full width.
        let end = |part: u64| (part as f64 * self.width as f64 / games as f64).round() as usize;
        let [won, drawn] = [won, drawn].map(u64::from);
        let (won, drawn) = (end(won), end(won + drawn));
        let widths = [won, drawn - won, self.width - drawn];
        self.parts.into_iter().zip(widths).flat_map(|(letter, width)| repeat_n(letter, width)).collect()
    }

    /// The number of games and, for each part of the bars, its meaning and its number of games.
    pub(super) fn total(self, results: &ResultCounts, side: Option<Color>) -> String {
        let (games, counts) = (results.games(), won_drawn_lost(results, side));
        let names = match side {
            None => ["White", "draw", "Black"],
            Some(_) => ["won", "drawn", "lost"],
        };
        let part = |((letter, name), count): ((char, &str), u32)| {
            format!("{letter} {name} {} ({})", grouped(count.into()), percent(count.into(), games))
        };
        let parts: Vec<_> = self.parts.into_iter().zip(names).zip(counts).map(part).collect();
        let of = side.map_or_else(String::new, |side| format!(", from {}'s side", side.name()));
        format!("{}: {}{of}", counted(games, "game"), parts.join(", "))
    }
}

/// A field of a move in CSV: its name, and the function that returns its value.
pub(super) type Field = (&'static str, fn(&MoveStatistics) -> Value<'_>);

/// The fields of each move, with those for the view of one side and for variations if requested.
pub(super) fn fields(of_side: bool, of_variations: bool) -> Vec<Field> {
    fn score(played: &MoveStatistics) -> Option<&SideScore> {
        played.score.as_ref()
    }
    let fields: [(bool, Field); 14] = [
        (true, ("uci", |played| played.uci.as_str().into())),
        (true, ("san", |played| played.san.as_str().into())),
        (true, ("games", |played| played.results.games().into())),
        (true, ("white", |played| played.results.white_wins.into())),
        (true, ("draws", |played| played.results.draws.into())),
        (true, ("black", |played| played.results.black_wins.into())),
        (true, ("average_rating", |played| played.average_rating.into())),
        (
            of_side,
            ("average_opponent_rating", |played| {
                score(played).and_then(|score| score.average_opponent_rating).into()
            }),
        ),
        (of_side, ("performance", |played| score(played).and_then(|score| score.performance).into())),
        (true, ("first_year", |played| played.results.first_year.into())),
        (true, ("last_year", |played| played.results.last_year.into())),
        (of_variations, ("in_variations", |played| played.in_variations.into())),
        (true, ("eco", |played| played.opening.as_ref().map(|opening| opening.eco.as_str()).into())),
        (true, ("opening", |played| played.opening.as_ref().map(|opening| opening.name.as_str()).into())),
    ];
    fields.into_iter().filter_map(|(is_given, field)| is_given.then_some(field)).collect()
}

pub(super) fn write_csv(answer: &PositionStatistics) -> anyhow::Result<()> {
    let (names, values): (Vec<_>, Vec<_>) =
        fields(answer.score.is_some(), answer.in_variations.is_some()).into_iter().unzip();
    let mut rows = RowWriter::stdout(SqlFormat::Csv, &names)?;
    for played in &answer.moves {
        rows.row(&values.iter().map(|value| value(played)).collect::<Vec<_>>())?;
    }
    rows.finish(None)
}

/// The width of the table of years without the bars and the columns of moves.
const YEARS_WIDTH: usize = 38;
/// The width of the column of a move.
const MOVE_WIDTH: usize = 9;

/// Writes the years as a table.
pub(super) fn write_history(explore: &ExploreQuery<'_>, years: &[HistoryYear]) -> anyhow::Result<()> {
    let Some(first) = years.first() else { return Ok(()) };
    print_line("\nBy year:")?;
    let bars = Bars::beside(YEARS_WIDTH + MOVE_WIDTH * first.moves.len());
    let mut columns = vec!["year", "games", "of year", shares_header(explore.side), ""];
    let moves: Vec<_> = first.moves.iter().map(|played| format!("{:>7}", played.san)).collect();
    columns.extend(moves.iter().map(String::as_str));
    let mut rows = RowWriter::stdout(SqlFormat::Table, &columns)?;
    for year in years {
        let games = year.results.games();
        let parts = won_drawn_lost(&year.results, explore.side);
        let mut cells = vec![
            year.year.map_or_else(|| "unknown".to_owned(), |year| year.to_string()).into(),
            games.into(),
            Value::share(games, year.games_of_year),
            shares(parts, games),
            (games > 0).then(|| bars.draw(parts, games)).into(),
        ];
        let of_move = |played: u64| (games > 0).then(|| Value::share(played, games));
        cells.extend(year.moves.iter().map(|played| of_move(played.games).into()));
        rows.row(&cells)?;
    }
    rows.finish(None)
}

/// Writes the years as CSV.
pub(super) fn write_history_csv(years: &[HistoryYear]) -> anyhow::Result<()> {
    let columns = ["year", "games", "games_of_year", "white", "draws", "black"];
    let moves = years.first().map(|year| year.moves.as_slice()).unwrap_or_default();
    let moves = moves.iter().map(|played| played.uci.as_str());
    let columns: Vec<&str> = columns.into_iter().chain(moves).collect();
    let mut rows = RowWriter::stdout(SqlFormat::Csv, &columns)?;
    for HistoryYear { year, results, games_of_year, moves } in years {
        let mut cells: Vec<Value<'_>> = vec![
            (*year).into(),
            results.games().into(),
            (*games_of_year).into(),
            results.white_wins.into(),
            results.draws.into(),
            results.black_wins.into(),
        ];
        cells.extend(moves.iter().map(|played| Value::from(played.games)));
        rows.row(&cells)?;
    }
    rows.finish(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_bar_have_its_whole_width() {
        let bars = Bars { width: 10, parts: ['#', '=', '.'] };
        let draw = |won, drawn, lost| bars.draw([won, drawn, lost], u64::from(won + drawn + lost));
        assert_eq!(draw(1, 0, 0), "##########");
        assert_eq!(draw(0, 0, 3), "..........");
        assert_eq!(draw(1, 1, 1), "###====...");
        assert_eq!(draw(5, 4, 1), "#####====.");
        assert_eq!(draw(400_000, 1, 1), "##########");
    }
}
