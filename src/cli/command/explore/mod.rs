//! `pgndex explore`: prints the moves played from a position and their results.

mod table;
mod tree;
mod versus;

use std::time::Instant;

use pgndex::board::Position;
use pgndex::opening::OpeningBook;
use pgndex::picture::continuation_arrows;
use pgndex::query::{
    CountedGames, ExploreAnswer, ExploreQuery, HistoryYear, PositionStatistics, match_line, similar_names,
};
use pgndex::store::{Database, GameFilter, ListLengths, Selection};

use crate::cli::args::{ExploreArgs, ExploreFormat, read_position};
use crate::cli::command::find::{no_line, note_assumptions, note_line_match};
use crate::cli::error::wrong_value;
use crate::cli::notes::{
    count_or_note_skipped, note_filtered_out, note_players, note_unknown, note_variants, read_lines,
};
use crate::cli::render::{PictureOutput, print_json, use_ascii};
use crate::cli::terminal::{note, note_time};

/// The default length of each list of games in a table.
const LISTED: u8 = 5;
/// The maximum number of arrows in a picture: more arrows would hide the pieces.
const ARROWS: usize = 6;
/// How many of the most frequent moves `--history` counts by year.
const HISTORY_MOVES: usize = 4;

/// Prints the moves played from a position.
///
/// # Errors
/// If an argument is invalid, the opening names or the database cannot be read, or the answer or the picture
/// cannot be written.
pub(crate) fn run(args: &ExploreArgs) -> anyhow::Result<()> {
    if args.style.ascii {
        use_ascii();
    }
    if args.format == ExploreFormat::Dot && args.depth.is_none() {
        return Err(no_depth());
    }
    let start = args.timing.then(Instant::now);
    let query = read_position(&args.position)?;
    let book = args.openings.as_deref().map(OpeningBook::read).transpose()?;
    let (filter, versus) = (args.filter()?, args.versus()?);
    let database = Database::open_read_only(&args.database)?;
    let picture = PictureOutput::requested(&args.picture, Some(&args.database))?;
    note_assumptions(&query);
    if args.board && args.format != ExploreFormat::Table {
        note("the board is drawn only with --format table, not with json, csv or dot");
    }
    let selection = select(&database, &filter, args)?;
    let lines = read_lines(&database, args.variations)?;
    let explore = ExploreQuery {
        database: &database,
        query: &query,
        lines,
        selection: &selection,
        side: args.side,
        lists: lists(args),
        // With `--versus`, the limit is applied later, when the moves of both sets of games are known.
        limit: (args.limit > 0 && versus.is_none()).then_some(args.limit),
        counts_transposed: true,
        openings: book.as_ref(),
    };
    if let Some(depth) = args.depth {
        let tree = explore.tree(depth, args.least_share.into())?;
        if tree.is_empty() {
            note_no_games(args, &explore, &filter)?;
        }
        tree::write(args, &explore, &tree)?;
        note_time(start);
        return Ok(());
    }
    let answer = explore.answer()?;
    if answer.is_empty() {
        note_no_games(args, &explore, &filter)?;
    }
    note_variants(&database, &query.position, lines)?;
    let picture = picture.map(|file| (file, continuation_arrows(&answer, ARROWS)));
    let history = args.history.then(|| explore.history(HISTORY_MOVES)).transpose()?;
    match versus {
        Some(versus) => write_versus(args, &explore, answer, &versus)?,
        None => write_answer(args, &explore, answer, history)?,
    }
    if let Some((file, arrows)) = picture {
        file.write(&query.position, query.last_move(), args.style.flip, &arrows)?;
    }
    note_time(start);
    Ok(())
}

/// Prints the moves played, and the games by year if they were counted. In CSV, prints only one of the two:
/// the games by year if they were counted, otherwise the moves.
fn write_answer(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    answer: PositionStatistics,
    history: Option<Vec<HistoryYear>>,
) -> anyhow::Result<()> {
    match (args.format, &history) {
        (ExploreFormat::Table, history) => {
            table::write(args, explore, &answer)?;
            history.iter().try_for_each(|years| table::write_history(explore, years))
        }
        (ExploreFormat::Csv, Some(years)) => table::write_history_csv(years),
        (ExploreFormat::Csv, None) => table::write_csv(&answer),
        (ExploreFormat::Json, _) => print_json(&ExploreAnswer { explored: answer, history, versus: None }),
        (ExploreFormat::Dot, _) => Err(no_depth()),
    }
}

/// Selects the games that pass a filter. Prints notes on names that match several players, and on similar
/// names with many more games.
fn select(database: &Database, filter: &GameFilter, args: &ExploreArgs) -> anyhow::Result<Selection> {
    let selection = database.select(filter)?;
    note_players(database, &selection, &|field| args.option(field))?;
    Ok(selection)
}

/// Prints notes on why no game reached the position.
fn note_no_games(args: &ExploreArgs, explore: &ExploreQuery<'_>, filter: &GameFilter) -> anyhow::Result<()> {
    note_unknown(&similar_names(explore.database, explore.selection)?, &|field| args.option(field));
    let is_all = explore.selection.is_all();
    if explore.database.last_game()?.is_none() {
        note("the database has no games");
        return Ok(());
    }
    let is_start = explore.query.position == Position::start();
    let passing = match is_start || !is_all {
        true => count_or_note_skipped(explore.database, explore.selection)?,
        false => Some(1),
    };
    match passing {
        None => return Ok(()),
        Some(0) if !is_all => note("no game passes the filters"),
        Some(_) => {
            let which = if is_all { "game" } else { "game that passes the filters" };
            let which = no_line(which, explore.lines);
            note(&format!("{which} reached this position: {}", explore.query.position.canonical_fen()));
        }
    }
    if is_all && let Some(to) = match_line(explore.database, explore.query, explore.lines)? {
        note_line_match(to, &explore.query.line);
    }
    if is_all && is_start {
        note("all games start from set-up positions, as in Chess960; give such a position with --fen");
    }
    let counted = CountedGames::Reached { position: &explore.query.position, finished: true };
    note_filtered_out(explore.database, filter, counted, &|field| Some(args.option(field)))
}

/// Prints the moves played in two sets of games.
fn write_versus(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    mut answer: PositionStatistics,
    versus: &GameFilter,
) -> anyhow::Result<()> {
    let selection = select(explore.database, versus, args)?;
    let other = ExploreQuery { selection: &selection, ..*explore };
    let mut others = other.answer()?;
    if others.is_empty() {
        note_unknown(&similar_names(explore.database, &selection)?, &|field| args.option(field));
        note(match explore.database.count_games_of(&selection)? {
            0 => "no game passes the filters of --versus",
            _ => "no game that passes the filters of --versus reached this position",
        });
    }
    match args.format {
        ExploreFormat::Table => versus::write_table(args, explore, [&answer, &others]),
        ExploreFormat::Csv => versus::write_csv(args, [&answer, &others]),
        ExploreFormat::Json => {
            let limit = if args.limit == 0 { usize::MAX } else { args.limit as usize };
            answer.moves.truncate(limit);
            others.moves.truncate(limit);
            print_json(&ExploreAnswer { explored: answer, history: None, versus: Some(others) })
        }
        ExploreFormat::Dot => Err(no_depth()),
    }
}

fn no_depth() -> anyhow::Error {
    wrong_value("--format dot draws a tree, so give its depth too: --depth 4 --format dot")
}

/// The lengths of the lists of games. Unless lengths are given, tables have shorter lists than JSON. Other formats have
/// no lists.
fn lists(args: &ExploreArgs) -> ListLengths {
    let (top, recent) = match args.format {
        ExploreFormat::Table => (LISTED, LISTED),
        ExploreFormat::Json => (ListLengths::MAX.top, ListLengths::MAX.recent),
        ExploreFormat::Csv | ExploreFormat::Dot => return ListLengths::NONE,
    };
    ListLengths { top: args.top.unwrap_or(top), recent: args.recent.unwrap_or(recent) }
}
