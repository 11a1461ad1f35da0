//! `pgndex explore`: what was played from a position, and what came of it.

use std::io::Write as _;

use pgndex::board::{GameResult, MoveCode, Position};
use pgndex::opening::{Opening, OpeningBook};
use pgndex::store::row::ResultCounts;
use pgndex::store::{Continuation, Database, Exploration, GameSummary, Hit, ListLengths};
use serde_json::{Value as Json, json};

use crate::cli::args::{ExploreArgs, RowFormat};
use crate::cli::command::variants::tell_variants;
use crate::cli::note;
use crate::cli::position_query::PositionQuery;
use crate::cli::render::board::BoardStyle;
use crate::cli::render::number::{counted, grouped, percent};
use crate::cli::render::output::{RowWriter, Value, stdout, terminal_width};
use crate::cli::render::text::{escaped_json, printable};
use crate::cli::terminal::timing::Timing;
use crate::cli::unknown_name::explain_names;

/// How many games of each list a table shows, unless told.
const LISTED: u8 = 5;
/// How wide a bar is where there is no terminal to fit.
const BAR: usize = 20;
/// How wide a table is beside its bars, openings cut short.
const BESIDE_BAR: usize = 70;

const MOVES: [&str; 8] = ["move", "games", "  share", "w/d/b %", "", "elo", "last", "opening"];
const FIELDS: [&str; 11] = [
    "uci",
    "san",
    "games",
    "white",
    "draws",
    "black",
    "average_rating",
    "first_year",
    "last_year",
    "eco",
    "opening",
];
const GAMES: [&str; 9] = ["game", "white", "elo", "black", "elo", "result", "date", "event", "next"];
/// The columns that are cut short if the terminal is narrow.
const NAMES: [&str; 4] = ["opening", "white", "black", "event"];

/// Shows what was played from a position.
///
/// # Errors
/// When the position, the names of openings or the database cannot be read.
pub(crate) fn run(args: &ExploreArgs) -> anyhow::Result<()> {
    let timing = Timing::start(args.timing);
    let PositionQuery { position, changes, line } = PositionQuery::read(&args.position)?;
    let book = args.openings.as_deref().map(OpeningBook::read).transpose()?;
    let filter = args.filter.filter()?;
    let database = Database::open_read_only(&args.database)?;
    for change in &changes {
        note(&change.to_string());
    }
    let fen = position.canonical_fen();
    if !changes.is_empty() {
        note(&format!("looking for {fen}"));
    }
    let lists = lists(args);
    let selection = database.select(&filter)?;
    let mut found = database.explore(position.key(), &fen, &selection, lists)?;
    if found.results.games() == 0 && found.unfinished == 0 {
        explain_names(&database, &selection)?;
        let which = if selection.is_all() { "no game" } else { "no game that passes the filters" };
        note(&format!("{which} reached this position: {fen}"));
    }
    tell_variants(&database, &position)?;
    let namer = Namer { database: &database, book };
    let limit = if args.limit == 0 { usize::MAX } else { args.limit as usize };
    let opening = namer.name_of_line(&position, &line)?;
    let moves = moves(&position, std::mem::take(&mut found.continuations), &namer)?;
    let answer = Answer { position, opening, found, moves, limit };
    match args.format {
        RowFormat::Table => answer.write_table(args)?,
        RowFormat::Json => answer.write_json()?,
        RowFormat::Csv => answer.write_csv()?,
    }
    timing.report();
    Ok(())
}

/// How many games to list: a table for people has fewer.
fn lists(args: &ExploreArgs) -> ListLengths {
    let (top, recent) = match args.format {
        RowFormat::Table => (LISTED, LISTED),
        RowFormat::Json => (ListLengths::MAX.top, ListLengths::MAX.recent),
        RowFormat::Csv => return ListLengths { top: 0, recent: 0 },
    };
    ListLengths { top: args.top.unwrap_or(top), recent: args.recent.unwrap_or(recent) }
}

/// Names positions by the user's list, or else by the one that the database was made with.
struct Namer<'a> {
    database: &'a Database,
    book: Option<OpeningBook>,
}

impl Namer<'_> {
    fn name(&self, position: &Position) -> anyhow::Result<Option<Opening>> {
        Ok(match &self.book {
            Some(book) => book.get(position).cloned(),
            None => self.database.opening_of(position.key(), &position.canonical_fen())?,
        })
    }

    /// The name of a position or, if it has none, of the last one that has on the line that led to it.
    fn name_of_line(
        &self,
        position: &Position,
        line: &[(String, Position)],
    ) -> anyhow::Result<Option<Opening>> {
        let on_line = line.iter().rev().map(|(_, position)| position);
        for position in std::iter::once(position).chain(on_line) {
            if let Some(opening) = self.name(position)? {
                return Ok(Some(opening));
            }
        }
        Ok(None)
    }
}

/// What there is to print.
struct Answer {
    position: Position,
    opening: Option<Opening>,
    /// All but the continuations, which are `moves`.
    found: Exploration,
    moves: Vec<Move>,
    /// How many of them are shown.
    limit: usize,
}

struct Move {
    uci: String,
    san: String,
    /// What the position after the move is called.
    opening: Option<Opening>,
    found: Continuation,
}

impl Answer {
    fn shown(&self) -> impl Iterator<Item = &Move> {
        self.moves.iter().take(self.limit)
    }

    fn write_csv(&self) -> anyhow::Result<()> {
        let mut rows = RowWriter::stdout(RowFormat::Csv, &FIELDS)?;
        for Move { uci, san, opening, found } in self.shown() {
            let ResultCounts { white_wins, draws, black_wins, .. } = found.results;
            let opening = opening.as_ref();
            rows.row(&[
                Value::from(uci.as_str()),
                Value::from(san.as_str()),
                integer(Some(found.results.games())),
                white_wins.into(),
                draws.into(),
                black_wins.into(),
                integer(found.results.mean_elo()),
                found.results.first_year.into(),
                found.results.last_year.into(),
                opening.map_or(Value::Null, |opening| opening.eco.as_str().into()),
                opening.map_or(Value::Null, |opening| opening.name.as_str().into()),
            ])?;
        }
        rows.finish(|_| None)
    }

    /// Writes one object, as Lichess's opening explorer answers.
    fn write_json(&self) -> anyhow::Result<()> {
        let moves: Vec<_> = self.shown().map(|played| self.move_object(played)).collect();
        let list = |hits: &[Hit]| -> Vec<_> {
            let object = |hit: &Hit| {
                let mut object = json!({ "uci": hit.next.map(|code| self.position.uci(code).to_string()) });
                if let (Json::Object(fields), Json::Object(game)) = (&mut object, game_object(&hit.game)) {
                    fields.extend(game);
                }
                object
            };
            hits.iter().map(object).collect()
        };
        let ResultCounts { white_wins, draws, black_wins, .. } = self.found.results;
        let answer = json!({
            "opening": opening_object(self.opening.as_ref()),
            "white": white_wins,
            "draws": draws,
            "black": black_wins,
            "unfinished": self.found.unfinished,
            "moves": moves,
            "topGames": list(&self.found.top_games),
            "recentGames": list(&self.found.recent_games),
        });
        let mut out = stdout();
        writeln!(out, "{}", escaped_json(&answer.to_string()))?;
        Ok(out.flush()?)
    }

    fn move_object(&self, played: &Move) -> Json {
        let results = &played.found.results;
        json!({
            "uci": played.uci,
            "san": played.san,
            "averageRating": results.mean_elo(),
            "white": results.white_wins,
            "draws": results.draws,
            "black": results.black_wins,
            "game": played.found.only_game.as_ref().map(|hit| game_object(&hit.game)),
            "opening": opening_object(played.opening.as_ref()),
        })
    }

    fn write_table(&self, args: &ExploreArgs) -> anyhow::Result<()> {
        let style = BoardStyle::new(&args.style);
        let mut out = stdout();
        if let Some(opening) = &self.opening {
            writeln!(out, "{}", printable(&opening.to_string()))?;
        }
        if args.board {
            style.write(&mut out, &self.position, None)?;
        }
        if args.board || self.opening.is_some() {
            writeln!(out)?;
        }
        out.flush()?;
        drop(out);
        if self.found.results.games() == 0 && self.found.unfinished == 0 {
            return Ok(());
        }
        self.write_moves(Bars::new(style.is_ascii()))?;
        self.write_games("Highest rated", &self.found.top_games)?;
        self.write_games("Latest", &self.found.recent_games)
    }

    fn write_moves(&self, bars: Bars) -> anyhow::Result<()> {
        if self.moves.is_empty() {
            let mut out = stdout();
            writeln!(out, "{}", self.totals(bars))?;
            return Ok(out.flush()?);
        }
        let named = self.shown().any(|played| played.opening.is_some());
        let columns = if named { &MOVES[..] } else { &MOVES[..MOVES.len() - 1] };
        let mut rows = RowWriter::stdout(RowFormat::Table, columns)?.shortening(&NAMES);
        for Move { san, opening, found, .. } in self.shown() {
            let results = &found.results;
            let share = percent(results.games(), self.found.results.games());
            let shares = [results.white_wins, results.draws, results.black_wins]
                .map(|part| (f64::from(part) * 100.0 / results.games() as f64).round().to_string());
            let cells = [
                Value::from(san.as_str()),
                integer(Some(results.games())),
                format!("{share:>7}").into(),
                shares.join("/").into(),
                bars.draw(results).into(),
                integer(results.mean_elo()),
                results.last_year.into(),
                opening.as_ref().map_or(Value::Null, |opening| opening.to_string().into()),
            ];
            rows.row(&cells[..columns.len()])?;
        }
        rows.finish(|_| Some(self.totals(bars)))
    }

    /// What stands below the moves, and tells what the parts of the bars are.
    fn totals(&self, bars: Bars) -> String {
        let Exploration { results, unfinished, .. } = &self.found;
        let games = results.games();
        let part = |name, number: u32| {
            format!("{name} {} ({})", grouped(number.into()), percent(number.into(), games))
        };
        let ended = games - self.moves.iter().map(|played| played.found.results.games()).sum::<u64>();
        let hidden = self.moves.len().saturating_sub(self.limit);
        let remarks = [
            results.mean_elo().map(|elo| format!("mean rating {elo}")),
            (ended > 0).then(|| format!("{} ended here", counted(ended, "game"))),
            (*unfinished > 0)
                .then(|| format!("{} without a result not counted", counted(*unfinished, "game"))),
            (hidden > 0)
                .then(|| format!("{} not shown: --limit 0 shows all", counted(hidden as u64, "move"))),
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

    fn write_games(&self, title: &str, hits: &[Hit]) -> anyhow::Result<()> {
        if hits.is_empty() {
            return Ok(());
        }
        let mut out = stdout();
        writeln!(out, "\n{title}:")?;
        out.flush()?;
        drop(out);
        let mut rows = RowWriter::stdout(RowFormat::Table, &GAMES)?.shortening(&NAMES);
        for Hit { game, next, .. } in hits {
            rows.row(&[
                game.game.0.into(),
                Value::from(game.white.as_deref().unwrap_or("?")),
                game.white_elo.into(),
                Value::from(game.black.as_deref().unwrap_or("?")),
                game.black_elo.into(),
                Value::from(game.result.as_str()),
                (&game.date).into(),
                (&game.event).into(),
                next.map_or_else(|| "(last position)".to_owned(), |code| san(&self.position, code)).into(),
            ])?;
        }
        rows.finish(|_| None)
    }
}

/// The moves, the most frequent first, then by their UCI notation.
fn moves(position: &Position, found: Vec<Continuation>, namer: &Namer<'_>) -> anyhow::Result<Vec<Move>> {
    let read = |found: Continuation| {
        let mut after = position.clone();
        let opening = match after.make(found.code) {
            Ok(_) => namer.name(&after)?,
            Err(_) => None,
        };
        let uci = position.uci(found.code).to_string();
        Ok(Move { uci, san: san(position, found.code), opening, found })
    };
    let mut moves = found.into_iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    moves.sort_by(|a, b| {
        let games = |played: &Move| played.found.results.games();
        games(b).cmp(&games(a)).then_with(|| a.uci.cmp(&b.uci))
    });
    Ok(moves)
}

fn integer<'a>(number: Option<u64>) -> Value<'a> {
    number.map_or(Value::Null, |number| Value::Integer(number.cast_signed()))
}

/// A move in SAN; a code that does not fit the position, in UCI.
fn san(position: &Position, code: MoveCode) -> String {
    match position.clone().make(code) {
        Ok(_) => position.san(code),
        Err(_) => code.uci(None).to_string(),
    }
}

fn opening_object(opening: Option<&Opening>) -> Json {
    opening.map_or(Json::Null, |opening| json!({ "eco": opening.eco, "name": opening.name }))
}

/// A game as Lichess tells it: ids are texts there.
fn game_object(game: &GameSummary) -> Json {
    let date = game.date.as_deref().unwrap_or_default();
    let mut parts = date.split('.').map(|part| part.parse::<u16>().ok().filter(|&number| number != 0));
    let (year, month) = (parts.next().flatten(), parts.next().flatten());
    json!({
        "id": game.game.0.to_string(),
        "winner": match game.result {
            GameResult::White => Some("white"),
            GameResult::Black => Some("black"),
            GameResult::Draw | GameResult::Unknown => None,
        },
        "white": { "name": game.white, "rating": game.white_elo },
        "black": { "name": game.black, "rating": game.black_elo },
        "year": year,
        "month": year.zip(month).map(|(year, month)| format!("{year:04}-{month:02}")),
    })
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
    fn new(ascii: bool) -> Self {
        let width = terminal_width().map_or(BAR, |width| width.saturating_sub(BESIDE_BAR).clamp(6, 2 * BAR));
        let [white, draw, black] = if ascii { ['#', '=', '.'] } else { ['█', '▒', '░'] };
        Self { width, white, draw, black }
    }

    fn draw(self, results: &ResultCounts) -> String {
        // Each part ends where its share of the whole does, so that rounding never changes the width.
        let end =
            |games: u32| (f64::from(games) * self.width as f64 / results.games() as f64).round() as usize;
        let (white, draws) = (end(results.white_wins), end(results.white_wins + results.draws));
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
