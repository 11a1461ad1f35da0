//! `pgndex find`: the games that reached a position, or any games.

use std::io::Write;

use anyhow::anyhow;
use pgndex::board::Color;
use pgndex::query::{
    AllHits, FindQuery, FindTarget, FoundPosition, LineMatch, LineMove, NoHits, PositionQuery, Shown, Total,
    filters_given, number_before, write_pgn,
};
use pgndex::store::row::GameId;
use pgndex::store::{Database, Hit, Lines, Seek as _};

use crate::cli::args::{FindArgs, FindFormat, FindTargetArgs, RowFormat, filter_option, read_fen};
use crate::cli::command::variants::{games_that_reached, note_variants, read_lines};
use crate::cli::error::WrongValue;
use crate::cli::filter_notes::{note_alternatives, note_players, note_unknown_names, note_without_one};
use crate::cli::render::number::{counted, grouped};
use crate::cli::render::output::{RowWriter, Value, shown, stdout, write_json};
use crate::cli::terminal::log::note;
use crate::cli::terminal::timing::Timing;

const TABLE: [&str; 12] =
    ["game", "white", "elo", "black", "elo", "result", "date", "event", LINE, "ply", "next", DISTANCE];
/// The columns that are cut short if the terminal is narrow.
const NAMES: [&str; 3] = ["white", "black", "event"];
const FIELDS: [&str; 19] = [
    "game_id",
    "white",
    "white_elo",
    "black",
    "black_elo",
    "result",
    "date",
    "event",
    "site",
    "round",
    "eco",
    LINE,
    "ply",
    "move_number",
    "side",
    "next_san",
    "next_uci",
    "fen",
    DISTANCE,
];

/// The column for variations, if these are searched.
const LINE: &str = "line";
/// The column for the distance, in a search for the nearest positions.
const DISTANCE: &str = "distance";

/// How to see more.
const ALL: &str = "--limit 0 shows all";

/// Prints the games that match, each with its matching positions.
///
/// # Errors
/// If an argument is invalid, the database cannot be read, or the answer cannot be written.
pub(crate) fn run(args: &FindArgs) -> anyhow::Result<()> {
    let timing = Timing::start(args.timing);
    let target = read_target(&args.target)?;
    let filter = args.filter.filter()?;
    let database = Database::open_read_only(&args.database)?;
    let selection = database.select(&filter)?;
    note_players(&database, &selection)?;
    let lines = read_lines(&database, args.variations)?;
    match &target {
        FindTarget::Position(query) | FindTarget::Like(query) => note_assumptions(query),
        FindTarget::Sequence(sequence) if sequence.asks_for_moves() && lines == Lines::All => {
            let error = anyhow!("--move searches played moves only; leave out --variations");
            return Err(WrongValue(error).into());
        }
        FindTarget::Sequence(_) | FindTarget::Games => {}
    }
    let find = FindQuery {
        database: &database,
        target: &target,
        lines,
        selection: &selection,
        order: args.sort.order(),
        limit: (args.limit > 0).then_some(args.limit),
        offset: args.offset,
    };
    let (printer, shown) = print_hits(&find, args.format)?;
    if shown.occurrences == 0 {
        printer.finish(None)?;
        let nothing = find.nothing()?;
        note_no_hits(&nothing, &find);
        let as_given = |field: &str| Some(filter_option(field));
        match (&nothing, &target) {
            // If only one filter is given, it is the one that excludes all games.
            (NoHits::NoGame { .. }, _) if filters_given(&filter) < 2 => {
                note_alternatives(&database, &filter, filter_option)?;
            }
            _ if filters_given(&filter) < 2 => {}
            (NoHits::NoGame { .. }, _) => note_without_one(&database, &filter, None, as_given)?,
            (NoHits::FilteredOut { .. }, FindTarget::Position(query)) => {
                note_without_one(&database, &filter, Some(&query.position), as_given)?;
            }
            _ => {}
        }
    } else {
        printer.finish(Some(&find.total(&shown)?))?;
    }
    if let Some(distance) = shown.unseen {
        note(&format!(
            "not all games were searched, so from distance {distance} on there may be nearer positions than those shown; --limit 0 searches all games"
        ));
    }
    if let FindTarget::Position(query) = &target {
        note_variants(&database, &query.position, lines)?;
    }
    timing.report();
    Ok(())
}

fn read_target(args: &FindTargetArgs) -> anyhow::Result<FindTarget> {
    if let Some(fen) = &args.like {
        return Ok(FindTarget::Like(read_fen(fen)?.into()));
    }
    if let Some(sequence) = args.sequence.sequence()? {
        return Ok(FindTarget::Sequence(sequence.into()));
    }
    Ok(match args.position.query()? {
        None => FindTarget::Games,
        Some(position) => FindTarget::Position(position.into()),
    })
}

/// Prints the assumptions made about a given position.
pub(super) fn note_assumptions(query: &PositionQuery) {
    let assumptions = query.assumptions();
    for assumption in &assumptions {
        note(assumption);
    }
    if !assumptions.is_empty() {
        note(&format!("searching for this position: {}", query.position.canonical_fen()));
    }
}

/// Prints the hits as they are found.
fn print_hits<'a>(find: &FindQuery<'a>, format: FindFormat) -> anyhow::Result<(Printer<'a>, Shown)> {
    let mut printer = Printer::new(find, format)?;
    let mut printed = Ok(());
    let shown = find.visit(|hit| {
        printed = printer.hit(hit);
        printed.is_ok()
    })?;
    printed?;
    Ok((printer, shown))
}

/// Prints why nothing was found.
fn note_no_hits(nothing: &NoHits, find: &FindQuery<'_>) {
    match nothing {
        NoHits::NotReached { fen, line } => {
            note(&format!("{} reached this position: {fen}", no_line("game", find.lines)));
            if let (Some(followed), FindTarget::Position(query)) = (line, find.target) {
                note_line_match(*followed, &query.line);
            }
        }
        NoHits::FilteredOut { reached, unknown_names } => {
            note_unknown_names(unknown_names);
            note(&format!("{} the position, but none passes the filters", games_that_reached(*reached)));
        }
        NoHits::PassedOver { reached, offset, unknown_names } => {
            note_unknown_names(unknown_names);
            let reached = games_that_reached(*reached);
            let filtered = if find.selection.is_all() { "" } else { " that pass the filters" };
            note(&format!("{reached} the position; --offset {offset} skips all games{filtered}"));
        }
        NoHits::NoGame { unknown_names } => {
            note_unknown_names(unknown_names);
            note(if find.selection.is_all() {
                "the database has no games"
            } else {
                "no game passes the filters"
            });
        }
        NoHits::AllSkipped { games, offset } => {
            let games = match (find.selection.is_all(), games) {
                (true, games) => format!("the database has {}", counted(*games, "game")),
                (false, 1) => "1 game passes the filters".to_owned(),
                (false, games) => format!("{} pass the filters", counted(*games, "game")),
            };
            note(&format!("{games}; --offset {offset} skips all games"));
        }
        NoHits::NoneFits { unknown_names } => {
            note_unknown_names(unknown_names);
            note("no position matches");
        }
        NoHits::MatchesSkipped { offset } => note(&format!("--offset {offset} skips all matches")),
    }
}

/// `no game`, or `no game and no variation` if variations are searched.
pub(super) fn no_line(game: &str, lines: Lines) -> String {
    match lines {
        Lines::Main => format!("no {game}"),
        Lines::All => format!("no {game} and no variation"),
    }
}

/// Prints how far the games of the database follow the moves.
pub(super) fn note_line_match(followed: LineMatch, line: &[LineMove]) {
    match followed {
        LineMatch::To { moves, reached } => {
            let (played, rest) = line.split_at(moves);
            let last = played.last().map(LineMove::numbered).unwrap_or_default();
            let played = if moves <= 8 { moves_text(played) } else { format!("… {last}") };
            let next = rest.first().map(LineMove::numbered).unwrap_or_default();
            let reached = games_that_reached(reached);
            note(&format!("{reached} the position after {played}; no game continued with {next}"));
        }
        LineMatch::Nowhere => {
            let first = line.first().map(LineMove::numbered).unwrap_or_default();
            note(&format!("no game reached the position after {first} either"));
        }
    }
}

/// Consecutive moves; Black's have a number only at the beginning.
fn moves_text(line: &[LineMove]) -> String {
    let mut text = String::new();
    for (index, played) in line.iter().enumerate() {
        match played.side {
            _ if index == 0 => text += &played.numbered(),
            Color::White => text.extend([" ", &played.numbered()]),
            Color::Black => text.extend([" ", &played.word]),
        }
    }
    text
}

/// `312 games`, or `45 occurrences in 43 games` if a position occurred more than once in a game.
fn hits_in_games(hits: u64, games: u64) -> String {
    if hits == games {
        counted(games, "game")
    } else {
        format!("{} in {}", counted(hits, "occurrence"), counted(games, "game"))
    }
}

/// How many hits are shown, and how many there are, as text.
fn total_text(total: &Total) -> String {
    let Total { occurrences, games, all, is_more } = *total;
    let hint = if is_more { format!("; {ALL}") } else { String::new() };
    let shown = grouped(occurrences);
    match all {
        AllHits::Shown => hits_in_games(occurrences, games),
        AllHits::Exact { occurrences, games } => {
            format!("{shown} of {} shown{hint}", hits_in_games(occurrences, games))
        }
        AllHits::Games(all) if occurrences == games => {
            format!("{shown} of {} shown{hint}", counted(all, "game"))
        }
        AllHits::Games(all) => {
            let shown = hits_in_games(occurrences, games);
            format!("{shown} shown; {} reached the position{hint}", counted(all, "game"))
        }
        AllHits::AtLeast(all) => format!("{shown} of {} or more games shown{hint}", grouped(all)),
        AllHits::Unknown if is_more => format!("{shown} shown, there are more; {ALL}"),
        AllHits::Unknown => format!("{shown} shown"),
    }
}

/// Prints hits in one of the formats.
struct Printer<'a> {
    lines: Lines,
    /// Whether hits have a distance.
    is_like: bool,
    out: Printed<'a>,
}

enum Printed<'a> {
    /// A table without a row so far. If no row follows, not even the header is printed.
    EmptyTable(&'a Database),
    Table(RowWriter<Box<dyn Write>>),
    Csv(RowWriter<Box<dyn Write>>),
    Json(Box<dyn Write>),
    Pgn {
        database: &'a Database,
        out: Box<dyn Write>,
        text: String,
        last: Option<GameId>,
    },
}

impl<'a> Printer<'a> {
    fn new(find: &FindQuery<'a>, format: FindFormat) -> anyhow::Result<Self> {
        let (database, lines) = (find.database, find.lines);
        let is_like = matches!(find.target, FindTarget::Like(_));
        let out = match format {
            FindFormat::Table => Printed::EmptyTable(database),
            FindFormat::Json => Printed::Json(stdout()),
            FindFormat::Csv => {
                Printed::Csv(RowWriter::stdout(RowFormat::Csv, &names(&FIELDS, lines, is_like))?)
            }
            FindFormat::Pgn => Printed::Pgn { database, out: stdout(), text: String::new(), last: None },
        };
        Ok(Self { lines, is_like, out })
    }

    fn hit(&mut self, hit: &Hit) -> anyhow::Result<()> {
        let lines = self.lines;
        if let Printed::EmptyTable(database) = self.out {
            let digits = database.last_game()?.map_or(0, |game| game.0.to_string().len());
            let rows =
                RowWriter::stdout(RowFormat::Table, &names(&TABLE, lines, self.is_like))?.shortening(&NAMES);
            self.out = Printed::Table(rows.reserving(TABLE[0], digits));
        }
        match &mut self.out {
            Printed::EmptyTable(_) => {}
            Printed::Table(rows) => rows.row(&table_row(&FoundPosition::from_hit(hit, lines)?))?,
            Printed::Csv(rows) => rows.row(&field_row(&FoundPosition::from_hit(hit, lines)?))?,
            Printed::Json(out) => {
                write_json(out, &FoundPosition::from_hit(hit, lines)?)?;
            }
            Printed::Pgn { database, out, text, last } => {
                if last.replace(hit.game.game) != Some(hit.game.game) {
                    text.clear();
                    let game = hit.game.game;
                    write_pgn(text, &database.game(game)?, &database.annotations(game)?)?;
                    out.write_all(shown(text).as_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Prints how many hits are shown: below a table; for other formats on standard error, if there are more.
    fn finish(self, total: Option<&Total>) -> anyhow::Result<()> {
        match self.out {
            Printed::EmptyTable(_) => {}
            Printed::Table(rows) => return rows.finish(|_| total.map(total_text)),
            Printed::Csv(rows) => rows.finish(|_| None)?,
            Printed::Json(mut out) | Printed::Pgn { mut out, .. } => out.flush()?,
        }
        if let Some(total) = total.filter(|total| total.is_more) {
            note(&total_text(total));
        }
        Ok(())
    }
}

/// The columns for these lines, with or without the distance.
fn names(all: &[&'static str], lines: Lines, is_like: bool) -> Vec<&'static str> {
    let is_there = |name: &&str| match *name {
        LINE => lines == Lines::All,
        DISTANCE => is_like,
        _ => true,
    };
    all.iter().copied().filter(is_there).collect()
}

fn table_row<'h>(found: &FoundPosition<'h>) -> Vec<Value<'h>> {
    let side = if found.side == "w" { Color::White } else { Color::Black };
    let next = match &found.next_san {
        Some(san) => format!("{} {san}", number_before(found.move_number, side)),
        None if found.line.is_some_and(|line| line > 0) => "(end of variation)".to_owned(),
        None => "(last position)".to_owned(),
    };
    let game = [
        found.game_id.0.into(),
        Value::from(found.white.unwrap_or("?")),
        found.white_elo.into(),
        Value::from(found.black.unwrap_or("?")),
        found.black_elo.into(),
        Value::from(found.result),
        found.date.into(),
        found.event.into(),
    ];
    let position = [found.ply.0.into(), next.into()];
    let distance = found.distance.map(Value::from);
    game.into_iter().chain(found.line.map(Value::from)).chain(position).chain(distance).collect()
}

fn field_row<'f>(found: &'f FoundPosition<'_>) -> Vec<Value<'f>> {
    let game = [
        found.game_id.0.into(),
        found.white.into(),
        found.white_elo.into(),
        found.black.into(),
        found.black_elo.into(),
        Value::from(found.result),
        found.date.into(),
        found.event.into(),
        found.site.into(),
        found.round.into(),
        found.eco.into(),
    ];
    let position = [
        found.ply.0.into(),
        found.move_number.into(),
        Value::from(found.side),
        found.next_san.as_deref().into(),
        found.next_uci.as_deref().into(),
        Value::from(found.fen),
    ];
    let distance = found.distance.map(Value::from);
    game.into_iter().chain(found.line.map(Value::from)).chain(position).chain(distance).collect()
}
