//! `pgndex explore`: what was played from a position, and what came of it.

use std::io::Write as _;

use pgndex::opening::OpeningBook;
use pgndex::picture::{BoardPicture, continuation_arrows};
use pgndex::query::{Explore, Explored, ExploredMove, ListedGame};
use pgndex::store::row::ResultCounts;
use pgndex::store::{Database, ListLengths};

use crate::cli::args::read_position;
use crate::cli::args::{ExploreArgs, RowFormat};
use crate::cli::command::find::{no_line, tell_changes};
use crate::cli::command::variants::{read_lines, tell_variants};
use crate::cli::filter_note::{tell_near_players, tell_unknown_names, tell_without_one};
use crate::cli::note;
use crate::cli::render::board::BoardStyle;
use crate::cli::render::number::{counted, grouped, percent};
use crate::cli::render::output::{RowWriter, Value, stdout, terminal_width, write_json};
use crate::cli::render::picture::{PictureFile, orientation};
use crate::cli::render::text::printable;
use crate::cli::terminal::timing::Timing;

/// How many games of each list a table shows, unless told.
const LISTED: u8 = 5;
/// How many arrows a picture has: more hide the pieces.
const ARROWS: usize = 6;
/// How wide a bar is where there is no terminal to fit.
const BAR: usize = 20;
/// How wide a table is beside its bars, openings cut short.
const BESIDE_BAR: usize = 70;
/// How wide the column for variations is.
const VARIATIONS_WIDTH: usize = 12;

/// The column that is there if variations are looked into.
const VARIATIONS: &str = "variations";
/// The same in CSV.
const IN_VARIATIONS: &str = "in_variations";

const MOVES: [&str; 9] = ["move", "games", "  share", "w/d/b %", "", "elo", "last", VARIATIONS, "opening"];
const FIELDS: [&str; 12] = [
    "uci",
    "san",
    "games",
    "white",
    "draws",
    "black",
    "average_rating",
    "first_year",
    "last_year",
    IN_VARIATIONS,
    "eco",
    "opening",
];
const GAMES: [&str; 9] = ["game", "white", "elo", "black", "elo", "result", "date", "event", "next"];
/// The columns that are cut short if the terminal is narrow.
const NAMES: [&str; 4] = ["opening", "white", "black", "event"];

/// Shows what was played from a position.
///
/// # Errors
/// When the position, the names of openings or the database cannot be read, or the picture cannot be written.
pub(crate) fn run(args: &ExploreArgs) -> anyhow::Result<()> {
    let timing = Timing::start(args.timing);
    let query = read_position(&args.position)?;
    let book = args.openings.as_deref().map(OpeningBook::read).transpose()?;
    let filter = args.filter.filter()?;
    let database = Database::open_read_only(&args.database)?;
    let picture = PictureFile::asked(&args.picture, Some(&args.database))?;
    tell_changes(&query);
    let selection = database.select(&filter)?;
    tell_near_players(&database, &selection)?;
    let lines = read_lines(&database, args.variations)?;
    let explore = Explore {
        database: &database,
        query: &query,
        lines,
        selection: &selection,
        lists: lists(args),
        limit: (args.limit > 0).then_some(args.limit),
        openings: book.as_ref(),
    };
    let answer = explore.answer()?;
    if answer.is_empty() {
        tell_unknown_names(&explore.unknown_names()?);
        let which = if selection.is_all() { "game" } else { "game that passes the filters" };
        let which = no_line(which, lines);
        note(&format!("{which} reached this position: {}", query.position.canonical_fen()));
        tell_without_one(&database, &filter, Some(&query.position), &[])?;
    }
    tell_variants(&database, &query.position, lines)?;
    if let Some(file) = picture {
        file.write(&BoardPicture {
            position: &query.position,
            orientation: orientation(args.style.flip),
            last_move: query.last_move(),
            arrows: &continuation_arrows(&answer, ARROWS),
        })?;
    }
    match args.format {
        RowFormat::Table => write_table(args, &explore, &answer)?,
        RowFormat::Json => {
            let mut out = stdout();
            write_json(&mut out, &answer)?;
            writeln!(out)?;
            out.flush()?;
        }
        RowFormat::Csv => write_csv(&answer)?,
    }
    timing.report();
    Ok(())
}

/// How many games to list: a table for people has fewer.
fn lists(args: &ExploreArgs) -> ListLengths {
    let (top, recent) = match args.format {
        RowFormat::Table => (LISTED, LISTED),
        RowFormat::Json => (ListLengths::MAX.top, ListLengths::MAX.recent),
        RowFormat::Csv => return ListLengths::NONE,
    };
    ListLengths { top: args.top.unwrap_or(top), recent: args.recent.unwrap_or(recent) }
}

fn write_csv(answer: &Explored) -> anyhow::Result<()> {
    let columns = FIELDS.map(|name| name != IN_VARIATIONS || answer.in_variations.is_some());
    let mut rows = RowWriter::stdout(RowFormat::Csv, &chosen(FIELDS, columns))?;
    for ExploredMove { uci, san, average_rating, results, in_variations, opening, .. } in &answer.moves {
        let opening = opening.as_ref();
        let cells = [
            Value::from(uci.as_str()),
            Value::from(san.as_str()),
            integer(Some(results.games())),
            results.white_wins.into(),
            results.draws.into(),
            results.black_wins.into(),
            integer(*average_rating),
            results.first_year.into(),
            results.last_year.into(),
            integer(*in_variations),
            opening.map(|opening| opening.eco.as_str()).into(),
            opening.map(|opening| opening.name.as_str()).into(),
        ];
        rows.row(&chosen(cells, columns))?;
    }
    rows.finish(|_| None)
}

/// The columns, or their cells, that are chosen.
fn chosen<T, const N: usize>(cells: [T; N], columns: [bool; N]) -> Vec<T> {
    cells.into_iter().zip(columns).filter_map(|(cell, is_chosen)| is_chosen.then_some(cell)).collect()
}

fn write_table(args: &ExploreArgs, explore: &Explore<'_>, answer: &Explored) -> anyhow::Result<()> {
    let style = BoardStyle::new(&args.style);
    let mut out = stdout();
    if let Some(opening) = &answer.opening {
        writeln!(out, "{}", printable(&opening.to_string()))?;
    }
    if args.board {
        style.write(&mut out, &explore.query.position, None)?;
    }
    if args.board || answer.opening.is_some() {
        writeln!(out)?;
    }
    out.flush()?;
    drop(out);
    if answer.is_empty() {
        return Ok(());
    }
    write_moves(answer, Bars::new(style.is_ascii(), answer.in_variations.is_some()))?;
    write_games("Highest rated", &answer.top_games)?;
    write_games("Latest", &answer.recent_games)
}

fn write_moves(answer: &Explored, bars: Bars) -> anyhow::Result<()> {
    if answer.moves.is_empty() {
        let mut out = stdout();
        writeln!(out, "{}", totals(answer, bars))?;
        return Ok(out.flush()?);
    }
    let named = answer.moves.iter().any(|played| played.opening.is_some());
    let columns = MOVES.map(|name| match name {
        "opening" => named,
        VARIATIONS => answer.in_variations.is_some(),
        _ => true,
    });
    let mut rows = RowWriter::stdout(RowFormat::Table, &chosen(MOVES, columns))?.shortening(&NAMES);
    for ExploredMove { san, average_rating, results, in_variations, opening, .. } in &answer.moves {
        let is_played = results.games() > 0;
        let share = percent(results.games(), answer.results.games());
        let shares = [results.white_wins, results.draws, results.black_wins]
            .map(|part| (f64::from(part) * 100.0 / results.games() as f64).round().to_string());
        let cells = [
            Value::from(san.as_str()),
            integer(Some(results.games())),
            format!("{share:>7}").into(),
            if is_played { shares.join("/").into() } else { Value::Null },
            if is_played { bars.draw(results).into() } else { Value::Null },
            integer(*average_rating),
            results.last_year.into(),
            integer(*in_variations),
            opening.as_ref().map_or(Value::Null, |opening| opening.to_string().into()),
        ];
        rows.row(&chosen(cells, columns))?;
    }
    rows.finish(|_| Some(totals(answer, bars)))
}

/// What stands below the moves, and tells what the parts of the bars are.
fn totals(answer: &Explored, bars: Bars) -> String {
    let Explored { results, unfinished, in_variations, ended, hidden_moves, .. } = answer;
    let games = results.games();
    let part =
        |name, number: u32| format!("{name} {} ({})", grouped(number.into()), percent(number.into(), games));
    let remarks = [
        results.mean_elo().map(|elo| format!("mean rating {elo}")),
        (*ended > 0).then(|| format!("{} ended here", counted(*ended, "game"))),
        (*unfinished > 0).then(|| {
            let verb = if *unfinished == 1 { "is" } else { "are" };
            format!("{} without a result {verb} not counted", counted(*unfinished, "game"))
        }),
        in_variations.filter(|&games| games > 0).map(|games| {
            let verb = if games == 1 { "has" } else { "have" };
            format!("{} {verb} the position in variations", counted(games, "game"))
        }),
        (*hidden_moves > 0)
            .then(|| format!("{} not shown: --limit 0 shows all", counted(*hidden_moves as u64, "move"))),
    ];
    let line = format!(
        "{}: {} {}, {} {}, {} {}",
        counted(games, "game"),
        bars.white,
        part("White", results.white_wins),
        bars.draw,
        part("draw", results.draws),
        bars.black,
        part("Black", results.black_wins)
    );
    let remarks: Vec<_> = remarks.into_iter().flatten().collect();
    if remarks.is_empty() { line } else { format!("{line}\n{}", remarks.join("; ")) }
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

fn integer<'a>(number: Option<u64>) -> Value<'a> {
    number.map_or(Value::Null, |number| Value::Integer(number.cast_signed()))
}

/// Bars of three parts: games won by White, drawn, won by Black.
#[derive(Clone, Copy, Debug)]
struct Bars {
    width: usize,
    white: char,
    draw: char,
    black: char,
}

impl Bars {
    fn new(ascii: bool, variations: bool) -> Self {
        let beside = BESIDE_BAR + if variations { VARIATIONS_WIDTH } else { 0 };
        let width = terminal_width().map_or(BAR, |width| width.saturating_sub(beside).clamp(6, 2 * BAR));
        let [white, draw, black] = if ascii { ['#', '=', '.'] } else { ['█', '▒', '░'] };
        Self { width, white, draw, black }
    }

    fn draw(self, results: &ResultCounts) -> String {
        // Each part ends where its share of the whole does, so that rounding never changes the width.
        let end = |games: u64| (games as f64 * self.width as f64 / results.games() as f64).round() as usize;
        let [white, draws] = [results.white_wins, results.draws].map(u64::from);
        let (white, draws) = (end(white), end(white + draws));
        let part = |letter, from, to| std::iter::repeat_n(letter, to - from);
        part(self.white, 0, white)
            .chain(part(self.draw, white, draws))
            .chain(part(self.black, draws, self.width))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_bar_fill_it() {
        let bars = Bars { width: 10, white: '#', draw: '=', black: '.' };
        let draw = |white_wins, draws, black_wins| {
            bars.draw(&ResultCounts { white_wins, draws, black_wins, ..ResultCounts::default() })
        };
        assert_eq!(draw(1, 0, 0), "##########");
        assert_eq!(draw(0, 0, 3), "..........");
        assert_eq!(draw(1, 1, 1), "###====...");
        assert_eq!(draw(5, 4, 1), "#####====.");
        assert_eq!(draw(400_000, 1, 1), "##########");
    }
}
