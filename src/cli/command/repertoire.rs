//! `pgndex repertoire`: compares a player's repertoire with games.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use pgndex::board::{Color, Position};
use pgndex::query::{
    Book, CountedGames, Departure, FollowingGame, Repertoire, RepertoireError, RepertoireLine,
    RepertoireMove, RepertoireQuery, Score, number_before, push_move, similar_names,
};
use pgndex::source::{self, DecodeOptions};
use pgndex::store::{Database, GameFilter, Selection};

use crate::cli::args::{RepertoireArgs, RowFormat, SqlFormat, filter_option};
use crate::cli::notes::{count_or_note_skipped, note_filtered_out, note_players, note_unknown};
use crate::cli::render::{
    RowWriter, Value, counted, grouped, percent, print_json, print_line, printable, sign,
};
use crate::cli::terminal::{note, note_time};

/// The maximum number of problems that are listed one by one.
const PROBLEMS: usize = 10;
/// The maximum size of a repertoire's text, in bytes.
const MOST: usize = 64 << 20;

/// Prints how the games compare with a repertoire.
///
/// # Errors
/// If an argument is invalid, or the repertoire or the database cannot be read. If the repertoire has no moves,
/// or its side is unknown. If the answer cannot be written.
pub(crate) fn run(args: &RepertoireArgs) -> anyhow::Result<()> {
    let start = args.timing.then(Instant::now);
    let filter = args.filter.filter()?;
    let database = Database::open_read_only(&args.database)?;
    let path = &args.repertoire;
    let name = || shown(path);
    let text = read(path)?;
    // A file that is not text could contain words that look like moves.
    if text.contains(&0) {
        bail!("{}: not a text file; give the PGN file of the repertoire", name());
    }
    let book = Book::read(&text, args.side).with_context(name)?;
    report_problems(&book, &name());
    let selection = database.select(&filter)?;
    note_players(&database, &selection, &filter_option)?;
    let limit = if args.limit == 0 { usize::MAX } else { args.limit as usize };
    let query = RepertoireQuery {
        database: &database,
        book: &book,
        selection: &selection,
        least_games: args.least_games.into(),
        least_share: args.least_share.into(),
        limit: if args.format == RowFormat::Json { usize::MAX } else { limit },
        games: args.games as usize,
        least_plies: args.least_plies,
    };
    let repertoires = match query.answer() {
        Err(RepertoireError::UnknownSide) => {
            bail!("{}: {} with --side", name(), RepertoireError::UnknownSide)
        }
        answer => answer?,
    };
    if repertoires.is_empty() {
        bail!("{}: contains no moves that can be read; give the PGN file of the repertoire", name());
    }
    note_outcome(&database, &filter, &selection, &repertoires)?;
    match args.format {
        RowFormat::Table => repertoires.iter().try_for_each(|repertoire| write(repertoire, limit))?,
        RowFormat::Json => print_json(&repertoires)?,
        RowFormat::Csv => write_csv(&repertoires)?,
    }
    note_time(start);
    Ok(())
}

/// If no game followed the repertoires, prints why. Also prints each side that was guessed.
fn note_outcome(
    database: &Database,
    filter: &GameFilter,
    selection: &Selection,
    repertoires: &[Repertoire],
) -> anyhow::Result<()> {
    if !repertoires.iter().any(reached) {
        note_unknown(&similar_names(database, selection)?, &filter_option);
        match count_or_note_skipped(database, selection)? {
            None => {}
            Some(0) if selection.is_all() => note("the database has no games"),
            Some(0) => {
                note("no game passes the filters");
                let option = |field: &str| Some(filter_option(field));
                note_filtered_out(database, filter, CountedGames::All, &option)?;
            }
            Some(_) => note("no game followed the repertoire"),
        }
    }
    for repertoire in repertoires.iter().filter(|repertoire| !repertoire.is_side_given) {
        note(&format!(
            "for games without the tag Orientation, the side was guessed: {}; if this is wrong, use --side {}",
            repertoire.side.name(),
            repertoire.side.other().name().to_lowercase()
        ));
    }
    Ok(())
}

/// The name of a path in messages.
fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { printable(&path.to_string_lossy()) }
}

/// The text of a file, compressed or not, or of standard input.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = shown(path);
    let too_long = || {
        anyhow::anyhow!(
            "{name}: more than {} MiB, too large for a repertoire; is this the right file?",
            MOST >> 20
        )
    };
    let options = DecodeOptions { threads: 1, memory: MOST as u64 };
    let files = source::list(&[path], options, &()).map(|sources| sources.files).unwrap_or_default();
    let [file] = <[_; 1]>::try_from(files).map_err(|files| match files.len() {
        0 => anyhow::anyhow!("{name}: contains no PGN file; give the PGN file of the repertoire"),
        files => {
            anyhow::anyhow!("{name}: contains {files} PGN files; give one of them (unpack an archive first)")
        }
    })?;
    let (mut decoded, mut text) = (source::open_text(&file?, options)?, Vec::new());
    loop {
        match decoded.read(&mut text, 1 << 20) {
            Ok(0) => return Ok(text),
            Ok(_) if text.len() > MOST => return Err(too_long()),
            Ok(_) => {}
            Err(error) => bail!("{name}: {}", decoded.describe(&error, text.len() as u64)),
        }
    }
}

/// Prints the problems in parts of the repertoire that could not be read.
fn report_problems(book: &Book, path: &str) {
    for problem in book.problems.iter().take(PROBLEMS) {
        note(&format!("{path}:{}: game {}, {}", problem.line, problem.chapter, printable(&problem.message)));
    }
    let printed = book.problems.len().min(PROBLEMS) as u64;
    if book.problem_count > printed {
        note(&format!("{path}: {} like these", counted(book.problem_count - printed, "more problem")));
    }
}

fn reached(repertoire: &Repertoire) -> bool {
    repertoire.lines.iter().any(|line| line.followed > 0 || line.score.games > 0)
}

fn write(repertoire: &Repertoire, limit: usize) -> anyhow::Result<()> {
    let lines = &repertoire.lines;
    print_line(&format!(
        "For {}: {}, {}",
        repertoire.side.name(),
        counted(lines.len() as u64, "line"),
        counted(repertoire.positions, "position")
    ))?;
    write_all_lines(lines, limit)?;
    let others = repertoire.side.other().name();
    let unanswered = format!("{others}'s moves that the repertoire does not answer");
    write_departures(&unanswered, &repertoire.unanswered, repertoire.unanswered_count)?;
    let departures = format!("What {} played instead", repertoire.side.name());
    write_departures(&departures, &repertoire.departures, repertoire.departure_count)?;
    write_games(&repertoire.games)
}

/// Writes the lines, grouped by start position.
fn write_all_lines(lines: &[RepertoireLine], limit: usize) -> anyhow::Result<()> {
    let has_names = lines.iter().any(|line| line.chapter != lines[0].chapter);
    let shown = &lines[..lines.len().min(limit)];
    let mut first = 1;
    let is_same = |one: &RepertoireLine, other: &RepertoireLine| one.start_fen == other.start_fen;
    for (index, group) in shown.chunk_by(is_same).enumerate() {
        let blank = if index > 0 { "\n" } else { "" };
        match &group[0].start_fen {
            Some(fen) => print_line(&format!("{blank}From {fen}:"))?,
            None if index > 0 => print_line("\nFrom the start position:")?,
            None => {}
        }
        let is_last = first + group.len() > shown.len();
        let hidden = if is_last { lines.len() - shown.len() } else { 0 };
        write_lines(group, first, has_names, hidden as u64)?;
        first += group.len();
    }
    Ok(())
}

/// Writes lines, numbered from `first`, and below them the number of hidden lines.
fn write_lines(lines: &[RepertoireLine], first: usize, has_names: bool, hidden: u64) -> anyhow::Result<()> {
    let mut columns = vec!["line", "games", "score", "frequent departure (games)", "moves"];
    if has_names {
        columns.insert(1, "from");
    }
    let mut rows = RowWriter::stdout(SqlFormat::Table, &columns)?.shortening(&["from", "moves"]);
    let mut before: &[RepertoireMove] = &[];
    for (number, line) in (first as u64..).zip(lines) {
        let left = line
            .left_by
            .as_ref()
            .map(|left| format!("{} ({})", moves_text(std::slice::from_ref(left)), grouped(left.games)));
        let mut cells: Vec<Value<'_>> = vec![
            number.into(),
            line.score.games.into(),
            score(line.score),
            left.into(),
            line_text(line, before).into(),
        ];
        if has_names {
            cells.insert(1, line.name.as_deref().into());
        }
        rows.row(&cells)?;
        before = &line.moves;
    }
    rows.finish((hidden > 0).then(|| format!("{} not shown: --limit 0 shows all", counted(hidden, "line"))))
}

/// Consecutive moves as text.
fn moves_text(moves: &[RepertoireMove]) -> String {
    let mut text = String::new();
    for made in moves {
        push_move(&mut text, made.move_number, made.side, &made.san);
    }
    text
}

/// A line as text, without the moves that it shares with the previous line.
fn line_text(line: &RepertoireLine, before: &[RepertoireMove]) -> String {
    let shared = line.moves.iter().zip(before).take_while(|(one, other)| one == other).count();
    // At least one move is shown.
    let shared = shared.min(line.moves.len().saturating_sub(1));
    let (more, end) =
        (if shared > 0 { sign("… ", "... ") } else { "" }, if line.is_open { " (no answer)" } else { "" });
    format!("{more}{}{end}", moves_text(&line.moves[shared..]))
}

/// The score in percent, computed from the games with a result; an empty cell if there are no such games.
fn score(score: Score) -> Value<'static> {
    (score.finished() > 0).then(|| percent(score.half_points(), 2 * score.finished())).into()
}

fn write_departures(name: &str, departures: &[Departure], count: u64) -> anyhow::Result<()> {
    if departures.is_empty() {
        return Ok(());
    }
    let shown = departures.len() as u64;
    let shown = if shown < count { format!(", {shown} of {}", grouped(count)) } else { String::new() };
    print_line(&format!("\n{name}{shown}:"))?;
    let columns = ["move", "games", "  share", "score", "repertoire", "after"];
    let mut rows = RowWriter::stdout(SqlFormat::Table, &columns)?.shortening(&["repertoire", "after"]);
    for departure in departures {
        let after = if departure.after.is_empty() { start(&departure.fen) } else { &departure.after };
        rows.row(&[
            format!("{} {}", number_before(departure.move_number, departure.side), departure.san).into(),
            departure.score.games.into(),
            Value::share(departure.score.games, departure.reached),
            score(departure.score),
            departure.expected.join(", ").into(),
            after.into(),
        ])?;
    }
    rows.finish(None)
}

/// The FEN; empty for the start position.
fn start(fen: &str) -> &str {
    if fen == Position::start().fen() { "" } else { fen }
}

fn write_games(games: &[FollowingGame]) -> anyhow::Result<()> {
    if games.is_empty() {
        return Ok(());
    }
    print_line("\nThe latest games that followed the repertoire:")?;
    let columns = ["game", "white", "elo", "black", "elo", "result", "date", "next", "after"];
    let mut rows = RowWriter::stdout(SqlFormat::Table, &columns)?.shortening(&["white", "black", "after"]);
    for game in games {
        rows.row(&[
            game.game_id.0.into(),
            game.white.as_deref().unwrap_or("?").into(),
            game.white_elo.into(),
            game.black.as_deref().unwrap_or("?").into(),
            game.black_elo.into(),
            game.result.into(),
            game.date.as_deref().into(),
            game.next.as_deref().unwrap_or("(last position)").into(),
            game.followed.as_str().into(),
        ])?;
    }
    rows.finish(None)
}

fn write_csv(repertoires: &[Repertoire]) -> anyhow::Result<()> {
    type Column = (&'static str, for<'r> fn(&'r Repertoire, &'r RepertoireLine) -> Value<'r>);
    const COLUMNS: [Column; 14] = [
        ("side", |repertoire, _| if repertoire.side == Color::White { "w" } else { "b" }.into()),
        ("chapter", |_, line| line.chapter.into()),
        ("name", |_, line| line.name.as_deref().into()),
        ("moves", |_, line| moves_text(&line.moves).into()),
        ("games", |_, line| line.score.games.into()),
        ("wins", |_, line| line.score.wins.into()),
        ("draws", |_, line| line.score.draws.into()),
        ("losses", |_, line| line.score.losses.into()),
        ("followed", |_, line| line.followed.into()),
        ("is_open", |_, line| u32::from(line.is_open).into()),
        ("left_by", |_, line| line.left_by.as_ref().map(|left| left.san.as_str()).into()),
        ("left_at", |_, line| {
            line.left_by.as_ref().map(|left| number_before(left.move_number, left.side)).into()
        }),
        ("left_games", |_, line| line.left_by.as_ref().map(|left| left.games).into()),
        ("start_fen", |_, line| line.start_fen.as_deref().into()),
    ];
    let mut rows = RowWriter::stdout(SqlFormat::Csv, &COLUMNS.map(|(name, _)| name))?;
    for repertoire in repertoires {
        for line in &repertoire.lines {
            rows.row(&COLUMNS.map(|(_, value)| value(repertoire, line)))?;
        }
    }
    rows.finish(None)
}
