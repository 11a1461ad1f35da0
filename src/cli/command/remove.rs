//! `pgndex remove`: removes games from a database.

use std::fs;
use std::time::Instant;

use pgndex::index::{Error, LostDuplicates, Removal, RemovalSummary, removable, remove, shrink};
use pgndex::query::{Choice, choose_games, similar_names};
use pgndex::store::{Database, ErrorKind, GameFilter};

use crate::cli::args::{RemoveArgs, filter_option};
use crate::cli::error::wrong_value;
use crate::cli::notes::{note_several, note_unknown};
use crate::cli::render::{Done, Lost, Removed, counted, database_size, printable};
use crate::cli::report::report_done;
use crate::cli::terminal::{display_run, note, stoppable_run};

/// Removes games, shrinks the file, or does both. In a dry run, only prints what would be removed.
///
/// # Errors
/// If an argument is invalid, the database cannot be read or written, a source or game does not exist, or the
/// command is stopped.
pub(crate) fn run(args: &RemoveArgs) -> anyhow::Result<()> {
    let removal = removal(args)?;
    if args.dry_run {
        let Some(removal) = &removal else {
            return Err(wrong_value("--dry-run: say what to remove: --source, --games or --sql"));
        };
        return report_outcome(args, &removable(&args.database, removal)?, None, true);
    }
    if removal.is_none() && !args.shrink {
        return Err(wrong_value("say what to remove: --source PATH, --games with filters, or --sql QUERY"));
    }
    let progress = stoppable_run()?;
    let options = args.work.options();
    let started = Instant::now();
    let bytes_before = fs::metadata(&args.database).map_or(0, |metadata| metadata.len());
    let removes = removal.is_some();
    let (removed, shrunk) = display_run(args.report.log.quiet, &progress, || {
        let removed =
            removal.map(|removal| remove(&args.database, &removal, &options, &progress)).transpose()?;
        if !args.shrink {
            return Ok((removed, None));
        }
        let shrunk = shrink(&args.database, &options, &progress).map_err(|error| {
            const ALONE: &str = "`pgndex remove DB --shrink` does only this";
            match &removed {
                Some(summary) => error.after(summary.done(), "shrinking the file", ALONE),
                None => error,
            }
        })?;
        Ok::<_, Error>((removed, Some(shrunk)))
    })?;
    let mut summary = removed.unwrap_or_default();
    if let Some(file_bytes) = shrunk {
        (summary.file_bytes, summary.free_bytes, summary.elapsed) = (file_bytes, 0, started.elapsed());
    }
    report_outcome(args, &summary, shrunk.map(|_| bytes_before), removes)
}

/// What to remove; `None` if no games are chosen.
fn removal(args: &RemoveArgs) -> anyhow::Result<Option<Removal>> {
    let filter = args.filter.filter()?;
    let whole_files = GameFilter { sources: filter.sources.clone(), ..GameFilter::default() };
    if filter != whole_files && !args.games {
        return Err(wrong_value("to remove the games that these options choose, give --games too"));
    }
    let database = Database::open_read_only(&args.database)?;
    if args.games {
        let selection = database.select(&filter)?;
        note_unknown(&similar_names(&database, &selection)?, &filter_option);
        if note_several(&database, &selection, &filter_option)? {
            return Err(wrong_value(
                "the name matches several players; nothing is removed. Give one of them as =NAME, as in --player \"=Carlsen,M\"",
            ));
        }
        return Ok(Some(Removal::Filter(Box::new(filter))));
    }
    if let Some(sql) = &args.sql {
        let mut games = Vec::new();
        choose_games(&database, Choice::Sql(sql), |game| {
            if database.game_from(game)? != Some(game) {
                let last = database.last_game()?;
                return Err(ErrorKind::NoSuchGame { game, last }.at(&args.database).into());
            }
            games.push(game);
            Ok::<_, anyhow::Error>(true)
        })?;
        return Ok(Some(Removal::Games(games)));
    }
    Ok((!filter.sources.is_empty()).then_some(Removal::Sources(filter.sources)))
}

/// Prints the result. `before` is the size of the file in bytes before the command began; `None` if the file
/// was not rewritten. `removes` is false if the command only rewrote the file.
fn report_outcome(
    args: &RemoveArgs,
    summary: &RemovalSummary,
    before: Option<u64>,
    removes: bool,
) -> anyhow::Result<()> {
    let done = Done::Remove(removed(args, summary));
    if args.report.json {
        return report_done(args.report, done, "");
    }
    for LostDuplicates { path, games, reason } in &summary.lost {
        let path = printable(&path.to_string_lossy());
        note(&format!(
            "not added: {} of {path}, skipped earlier as duplicates; the file cannot be read again ({}). To add \
             them, remove that file from the database with --source, and index it again",
            counted(*games, "game"),
            printable(reason),
        ));
    }
    report_done(args.report, done, &last_line(args, summary, before, removes))
}

fn last_line(args: &RemoveArgs, summary: &RemovalSummary, before: Option<u64>, removes: bool) -> String {
    let RemovalSummary { games, plies, returned, file_bytes, free_bytes, elapsed, .. } = summary;
    let (verb, added) = if args.dry_run { ("would remove", "would add") } else { ("removed", "added") };
    let returned = match returned {
        0 => String::new(),
        returned => format!("; {added} {} from the duplicates skipped earlier", counted(*returned, "game")),
    };
    let mut size = database_size(&args.database, before.unwrap_or(*file_bytes), *file_bytes, *free_bytes);
    if !removes {
        return size;
    }
    if before.is_none() && *free_bytes > 0 && !args.dry_run {
        size += ", for games that are added later; `pgndex remove DB --shrink` makes the file smaller";
    }
    let time = if args.dry_run { String::new() } else { format!(" in {:.1} s", elapsed.as_secs_f64()) };
    format!("{verb} {}, {}{time}{returned}\n{size}", counted(*games, "game"), counted(*plies, "ply"))
}

fn removed(args: &RemoveArgs, summary: &RemovalSummary) -> Removed {
    let lost = summary.lost.iter().map(|LostDuplicates { path, games, reason }| Lost {
        path: path.to_string_lossy().into_owned(),
        games: *games,
        reason: reason.clone(),
    });
    Removed {
        database: args.database.display().to_string(),
        dry_run: args.dry_run,
        games: summary.games,
        plies: summary.plies,
        sources: summary.sources,
        returned: summary.returned,
        lost: lost.collect(),
        file_bytes: summary.file_bytes,
        free_bytes: summary.free_bytes,
        seconds: summary.elapsed.as_secs_f64(),
    }
}
