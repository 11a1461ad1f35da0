//! `pgndex find`: prints the games that have a certain position, or all games that pass the filters.

use std::io::Write;
use std::time::Instant;

use pgndex::board::Color;
use pgndex::query::{
    AllHits, CountedGames, FindQuery, FindTarget, FoundPosition, LineMatch, LineMove, NoHits, PositionQuery,
    Total, number_before, write_pgn,
};
use pgndex::store::row::GameId;
use pgndex::store::{Database, GameFilter, Hit, Lines, Seek as _};

use crate::cli::args::{FindArgs, FindFormat, FindTargetArgs, SqlFormat, filter_option, read_fen};
use crate::cli::error::wrong_value;
use crate::cli::notes::{
    count_or_note_skipped, games_that_reached, note_filtered_out, note_players, note_unknown, note_variants,
    read_lines,
};
use crate::cli::render::{RowWriter, Value, all_hint, counted, grouped, shown, stdout, write_json};
use crate::cli::terminal::{note, note_time};

/// A column: its name, and the function that returns its value.
type Column = (&'static str, for<'f, 'h> fn(&'f FoundPosition<'h>) -> Value<'f>);

const TABLE: [Column; 12] = [
    ("game", |found| found.game_id.0.into()),
    ("white", |found| found.white.unwrap_or("?").into()),
    ("elo", |found| found.white_elo.into()),
    ("black", |found| found.black.unwrap_or("?").into()),
    ("elo", |found| found.black_elo.into()),
    ("result", |found| found.result.into()),
    ("date", |found| found.date.into()),
    ("event", |found| found.event.into()),
    (LINE, |found| found.line.into()),
    ("ply", |found| found.ply.0.into()),
    ("next", next_move),
    (DISTANCE, |found| found.distance.into()),
];
/// The columns to shorten if the terminal is narrow.
const NAMES: [&str; 3] = ["white", "black", "event"];
const FIELDS: [Column; 19] = [
    ("game_id", |found| found.game_id.0.into()),
    ("white", |found| found.white.into()),
    ("white_elo", |found| found.white_elo.into()),
    ("black", |found| found.black.into()),
    ("black_elo", |found| found.black_elo.into()),
    ("result", |found| found.result.into()),
    ("date", |found| found.date.into()),
    ("event", |found| found.event.into()),
    ("site", |found| found.site.into()),
    ("round", |found| found.round.into()),
    ("eco", |found| found.eco.into()),
    (LINE, |found| found.line.into()),
    ("ply", |found| found.ply.0.into()),
    ("move_number", |found| found.move_number.into()),
    ("side", |found| found.side.into()),
    ("next_san", |found| found.next_san.as_deref().into()),
    ("next_uci", |found| found.next_uci.as_deref().into()),
    ("fen", |found| found.fen.into()),
    (DISTANCE, |found| found.distance.into()),
];
/// The column that is shown only if variations are searched.
const LINE: &str = "line";
/// The column that is shown only in a search for similar positions.
const DISTANCE: &str = "distance";

fn next_move<'f>(found: &'f FoundPosition<'_>) -> Value<'f> {
    let side = if found.side == "w" { Color::White } else { Color::Black };
    match &found.next_san {
        Some(san) => format!("{} {san}", number_before(found.move_number, side)).into(),
        None if found.line.is_some_and(|line| line > 0) => "(end of variation)".into(),
        None => "(last position)".into(),
    }
}

/// Prints the positions that match, each with its game. If the search is not for positions, prints the
/// games that match.
///
/// # Errors
/// If an argument is invalid, the database cannot be read, or the answer cannot be written.
pub(crate) fn run(args: &FindArgs) -> anyhow::Result<()> {
    let start = args.timing.then(Instant::now);
    let target = read_target(&args.target)?;
    let filter = args.filter.filter()?;
    let database = Database::open_read_only(&args.database)?;
    let selection = database.select(&filter)?;
    note_players(&database, &selection, &filter_option)?;
    let lines = read_lines(&database, args.variations)?;
    match &target {
        FindTarget::Position(query) | FindTarget::Like(query) => note_assumptions(query),
        FindTarget::Sequence(sequence) if sequence.asks_for_moves() && lines == Lines::All => {
            return Err(wrong_value("--move searches played moves only; leave out --variations"));
        }
        FindTarget::Sequence(_) | FindTarget::Games => {}
    }
    let find = FindQuery {
        database: &database,
        target: &target,
        lines,
        selection: &selection,
        order: args.sort,
        limit: (args.limit > 0).then_some(args.limit),
        offset: args.offset,
    };
    let mut printer = Printer::new(&find, args.format)?;
    let mut printed = Ok(());
    let shown = find.visit(|hit| {
        printed = printer.hit(hit);
        printed.is_ok()
    })?;
    printed?;
    if shown.occurrences == 0 {
        printer.finish(None, args.offset)?;
        note_nothing(&find, &filter)?;
    } else {
        printer.finish(Some(&find.total(&shown)?), args.offset)?;
    }
    if let Some(distance) = shown.unseen {
        note(&format!(
            "not all games were searched; positions at a distance of {distance} or more may be missing. \
             --limit 0 searches all games"
        ));
    }
    if let FindTarget::Position(query) = &target {
        note_variants(&database, &query.position, lines)?;
    }
    note_time(start);
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

/// Prints the corrections of a given FEN or the assumptions about given moves. If there are any, also prints
/// the position to search for.
pub(super) fn note_assumptions(query: &PositionQuery) {
    let assumptions = query.assumptions();
    for assumption in &assumptions {
        note(assumption);
    }
    if !assumptions.is_empty() {
        note(&format!("searching for this position: {}", query.position.canonical_fen()));
    }
}

/// Prints why nothing was found, and which filter to omit in order to find games.
fn note_nothing(find: &FindQuery<'_>, filter: &GameFilter) -> anyhow::Result<()> {
    let nothing = find.nothing()?;
    if matches!(nothing, NoHits::NoGame { .. })
        && count_or_note_skipped(find.database, find.selection)?.is_none()
    {
        return Ok(());
    }
    note_no_hits(&nothing, find);
    let counted = match (&nothing, find.target) {
        (NoHits::FilteredOut { .. }, FindTarget::Position(query)) => {
            CountedGames::Reached { position: &query.position, finished: false }
        }
        (NoHits::NoneFits { .. }, FindTarget::Sequence(sequence)) => {
            CountedGames::Matching { sequence, lines: find.lines }
        }
        (NoHits::NoGame { .. } | NoHits::NoneFits { .. }, _) => CountedGames::All,
        _ => return Ok(()),
    };
    note_filtered_out(find.database, filter, counted, &|field| Some(filter_option(field)))
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
            note_unknown(unknown_names, &filter_option);
            note(&format!("{} the position, but none passes the filters", games_that_reached(*reached)));
        }
        NoHits::HitsSkipped { reached, offset, unknown_names } => {
            note_unknown(unknown_names, &filter_option);
            let text = if find.selection.is_all() {
                let reached = games_that_reached(*reached);
                format!("{reached} the position; --offset {offset} skips all games")
            } else {
                format!("--offset {offset} skips all games that reached the position and pass the filters")
            };
            note(&text);
        }
        NoHits::NoGame { unknown_names } => {
            note_unknown(unknown_names, &filter_option);
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
            note_unknown(unknown_names, &filter_option);
            note("no position matches");
        }
        NoHits::MatchesSkipped { offset } => note(&format!("--offset {offset} skips all matches")),
    }
}

/// The text "no {game}", followed by "and no variation" if variations are searched.
pub(super) fn no_line(game: &str, lines: Lines) -> String {
    match lines {
        Lines::Main => format!("no {game}"),
        Lines::All => format!("no {game} and no variation"),
    }
}

/// Prints how far games of the database follow the given moves.
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

/// Consecutive moves as text. A move of Black has a number only if it comes first.
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

/// The numbers of hits and games as text: `312 games`, or `45 occurrences in 43 games` if the numbers differ.
fn hits_in_games(hits: u64, games: u64) -> String {
    if hits == games {
        counted(games, "game")
    } else {
        format!("{} in {}", counted(hits, "occurrence"), counted(games, "game"))
    }
}

/// How many hits are shown, and how many there are, as text.
fn total_text(total: &Total, offset: u32) -> String {
    let Total { occurrences, games, all, is_more } = *total;
    let hint = all_hint(is_more, offset);
    let shown = grouped(occurrences);
    match all {
        AllHits::Shown => hits_in_games(occurrences, games),
        AllHits::Exact { occurrences: all, games } if all != games => {
            format!("{}, {shown} shown{hint}", hits_in_games(all, games))
        }
        AllHits::Exact { games: all, .. } => format!("{shown} of {} shown{hint}", counted(all, "game")),
        AllHits::Games(all) if occurrences == games => {
            format!("{shown} of {} shown{hint}", counted(all, "game"))
        }
        AllHits::Games(all) => {
            let shown = hits_in_games(occurrences, games);
            format!("{shown} shown; {} reached the position{hint}", counted(all, "game"))
        }
        AllHits::AtLeast(all) => format!("{shown} of {} or more games shown{hint}", grouped(all)),
        AllHits::Unknown if is_more => format!("{shown} shown, but there are more{hint}"),
        AllHits::Unknown => format!("{shown} shown"),
    }
}

/// Prints hits in one of the formats.
struct Printer<'a> {
    lines: Lines,
    format: FindFormat,
    /// The columns of a table or of CSV.
    columns: Vec<Column>,
    out: Printed<'a>,
}

enum Printed<'a> {
    /// A table or CSV.
    Rows(RowWriter<'static>),
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
        let is_shown = |(name, _): &Column| match *name {
            LINE => lines == Lines::All,
            DISTANCE => matches!(find.target, FindTarget::Like(_)),
            _ => true,
        };
        let all = if format == FindFormat::Table { TABLE.as_slice() } else { &FIELDS };
        let columns: Vec<_> = all.iter().copied().filter(is_shown).collect();
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        let out = match format {
            FindFormat::Table => {
                let digits = database.last_game()?.map_or(0, |game| game.0.to_string().len());
                let rows = RowWriter::stdout(SqlFormat::Table, &names)?.shortening(&NAMES);
                Printed::Rows(rows.reserving(names[0], digits))
            }
            FindFormat::Json => Printed::Json(stdout()),
            FindFormat::Csv => Printed::Rows(RowWriter::stdout(SqlFormat::Csv, &names)?),
            FindFormat::Pgn => Printed::Pgn { database, out: stdout(), text: String::new(), last: None },
        };
        Ok(Self { lines, format, columns, out })
    }

    fn hit(&mut self, hit: &Hit) -> anyhow::Result<()> {
        let found = || FoundPosition::from_hit(hit, self.lines);
        match &mut self.out {
            Printed::Rows(rows) => {
                let found = found()?;
                rows.row(&self.columns.iter().map(|(_, value)| value(&found)).collect::<Vec<_>>())?;
            }
            Printed::Json(out) => write_json(out, &found()?)?,
            Printed::Pgn { database, out, text, last } => {
                let game = hit.game.game;
                if last.replace(game) != Some(game) {
                    text.clear();
                    write_pgn(text, &database.game(game)?, &database.annotations(game)?)?;
                    out.write_all(shown(text).as_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Ends the output, and prints how many hits are shown, unless there are none. In a table, this number is
    /// in the last line, which is omitted if the table was too wide. In other formats, it is in a note on
    /// standard error, which is printed only if there are further hits.
    fn finish(self, total: Option<&Total>, offset: u32) -> anyhow::Result<()> {
        let is_table = self.format == FindFormat::Table;
        match self.out {
            // Without rows, the header is not printed either.
            Printed::Rows(_) if is_table && total.is_none() => {}
            Printed::Rows(rows) => rows.finish(total.map(|total| total_text(total, offset)))?,
            Printed::Json(mut out) | Printed::Pgn { mut out, .. } => out.flush()?,
        }
        if let Some(total) = total.filter(|total| total.is_more && !is_table) {
            // Several occurrences can be in one game, which is written once.
            let is_shorter = self.format == FindFormat::Pgn && total.games < total.occurrences;
            let written =
                if is_shorter { counted(total.games, "game") + " written; " } else { String::new() };
            note(&(written + &total_text(total, offset)));
        }
        Ok(())
    }
}
