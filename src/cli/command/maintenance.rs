//! `pgndex backup`, `pgndex optimize` and `pgndex repair`.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use anyhow::bail;
use pgndex::index::{self, IndexOptions, OptimizeSummary, RepairSummary};
use pgndex::store::{Database, Layout, is_file_of};

use crate::cli::args::{BackupArgs, MaintenanceArgs, OptimizeArgs};
use crate::cli::render::{
    Copied, Done, Optimized, Repaired, bytes, counted, database_size, duration, printable,
    refuse_standard_output, shell_word,
};
use crate::cli::report::{Status, report_done};
use crate::cli::terminal::{
    COPYING, REPAIRING, Snapshot, WAITING, display, display_run, note, note_stopping, stop_on_signal,
    stoppable_run,
};

/// The progress of a backup, and whether the backup must stop. Several threads share this state.
#[derive(Debug, Default)]
struct State {
    is_stopped: AtomicBool,
    bytes: AtomicU64,
    total_bytes: AtomicU64,
}

/// Copies a database.
///
/// # Errors
/// If the database cannot be read, the copy cannot be written, or the command is stopped. If the copy would
/// replace the database itself or one of its auxiliary files. If the copy exists and `--overwrite` is missing.
pub(crate) fn backup(args: &BackupArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    refuse_standard_output(&args.target)?;
    if is_file_of(&args.database, &args.target) {
        bail!(
            "{}: cannot copy a database onto itself or onto one of its auxiliary files; name another file",
            args.target.display()
        );
    }
    let database = Database::open_read_only(&args.database)?;
    let state = Arc::new(State::default());
    let stopped = Arc::clone(&state);
    stop_on_signal(move || {
        stopped.is_stopped.store(true, Ordering::Relaxed);
        note_stopping();
    })?;
    let snapshot = || Snapshot {
        bytes_done: state.bytes.load(Ordering::Relaxed),
        bytes_total: state.total_bytes.load(Ordering::Relaxed),
        phase: COPYING,
        ..Snapshot::default()
    };
    let copied = display(args.report.log.quiet, snapshot, || {
        database.backup(&args.target, args.overwrite, |progress| {
            state.bytes.store(progress.bytes, Ordering::Relaxed);
            state.total_bytes.store(progress.total_bytes, Ordering::Relaxed);
            match state.is_stopped.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
    });
    let (length, elapsed) = (copied?, started.elapsed());
    let [database, copy] = [&args.database, &args.target].map(|path| path.display().to_string());
    let text = format!("{} copied to {} in {}", bytes(length), printable(&copy), duration(elapsed));
    let done = Copied { database, copy, bytes: length, seconds: elapsed.as_secs_f64() };
    report_done(args.report, Done::Backup(done), &text)
}

/// Merges the parts that separate runs added to a database. Converts the database if another layout is
/// requested.
///
/// # Errors
/// If the database cannot be read or written, or the command is stopped.
pub(crate) fn optimize(OptimizeArgs { layout, work: args }: &OptimizeArgs) -> anyhow::Result<()> {
    let progress = stoppable_run()?;
    let options = IndexOptions { layout: *layout, ..args.work.options() };
    let OptimizeSummary { levels, dropped_games, converted, bytes_before, file_bytes, free_bytes, elapsed } =
        display_run(args.report.log.quiet, &progress, || {
            index::optimize(&args.database, &options, &progress)
        })?;
    let (database, seconds) = (args.database.display().to_string(), elapsed.as_secs_f64());
    let converted_to = converted.map(Layout::as_str);
    let done = Optimized {
        database,
        levels,
        dropped_games,
        converted_to,
        bytes_before,
        file_bytes,
        free_bytes,
        seconds,
    };
    let merged = (levels > 1).then(|| format!("merged {levels} parts into one"));
    let dropped = (dropped_games > 0)
        .then(|| format!("dropped the positions of {}", counted(dropped_games, "removed game")));
    let changed = match converted {
        Some(layout) => Some(format!("converted to the {layout} layout")),
        None if levels <= 1 && dropped_games == 0 && file_bytes < bytes_before => {
            Some("nothing to merge; rewrote the file without its free pages".to_owned())
        }
        None => None,
    };
    let changes: Vec<_> = merged.into_iter().chain(dropped).chain(changed).collect();
    let changes = match (&changes[..], layout) {
        ([], Some(layout)) => format!("already has the {layout} layout; nothing to merge"),
        ([], None) => "nothing to merge".to_owned(),
        (changes, _) => format!("{} in {seconds:.1} s", changes.join(" and ")),
    };
    let size = database_size(&args.database, bytes_before, file_bytes, free_bytes);
    report_done(args.report, Done::Optimize(done), &format!("{changes}\n{size}"))
}

/// Repairs a database.
///
/// # Errors
/// If the database cannot be read or written, or the command is stopped.
pub(crate) fn repair(args: &MaintenanceArgs) -> anyhow::Result<Status> {
    let progress = stoppable_run()?;
    let snapshot = || {
        let phase = if pgndex::store::is_waiting() { WAITING } else { REPAIRING };
        Snapshot { phase, ..Snapshot::default() }
    };
    let summary = display(args.report.log.quiet, snapshot, || {
        index::repair(&args.database, &args.work.options(), &progress)
    })?;
    if !args.report.json {
        report_unrepaired(&summary);
    }
    let RepairSummary { counts, hashes, visited_positions, broken, file_bytes, elapsed } = summary;
    let done = Repaired {
        database: args.database.display().to_string(),
        removed_rows: counts.rows,
        cleared_references: counts.cleared,
        ply_counts: counts.ply_counts,
        removed_names: counts.names,
        forgotten_sources: counts.sources,
        unknown_sources: counts.unknown_sources,
        hashes,
        visited_positions,
        broken_games: broken.iter().map(|game| game.0).collect(),
        file_bytes,
        seconds: elapsed.as_secs_f64(),
    };
    let changes = [
        ("removed", counts.rows, "row"),
        ("removed", counts.names, "name"),
        ("removed", counts.sources, "source"),
        ("corrected the length of", counts.ply_counts, "game"),
        ("corrected", hashes, "hash"),
    ];
    let changes = changes.iter().filter(|(_, count, _)| *count > 0);
    let changes: String =
        changes.map(|(verb, count, noun)| format!("{verb} {}; ", counted(*count, noun))).collect();
    let text = format!(
        "{changes}rebuilt all tables derived from the games, such as `occurrence`, and move statistics for {}; took {:.1} s\n\
         {database}: {}; annotations, openings, settings and problems were not checked: run `pgndex verify {word}`",
        counted(visited_positions, "position"),
        elapsed.as_secs_f64(),
        bytes(file_bytes),
        database = printable(&args.database.to_string_lossy()),
        word = shell_word(&args.database.to_string_lossy()),
    );
    report_done(args.report, Done::Repair(done), &text)?;
    Ok(if broken.is_empty() { Status::Done } else { Status::Unsound })
}

/// Prints what could not be repaired.
fn report_unrepaired(summary: &RepairSummary) {
    if let Some(first) = summary.broken.first() {
        let (games, these) = match summary.broken.len() {
            1 => (format!("game {} has", first.0), "this game"),
            more => (
                format!("game {} and {} have", first.0, counted(more as u64 - 1, "more game")),
                "these games",
            ),
        };
        note(&format!(
            "{games} missing or surplus positions, which cannot be repaired; read the files again with `pgndex index --reread`, or remove \
             {these} with `pgndex remove`"
        ));
    }
    if summary.counts.cleared > 0 {
        note(&format!(
            "set {} to missing rows to NULL, such as names of players. To restore them, read the files again with `pgndex index \
             --reread`",
            counted(summary.counts.cleared, "reference"),
        ));
    }
    if summary.counts.unknown_sources > 0 {
        note(&format!(
            "the table `source` had no row for {} with games. `pgndex info` shows such a source as 'unknown source' with its number. Remove \
             its games with `pgndex remove --source NUMBER`, then index the file again",
            counted(summary.counts.unknown_sources, "source"),
        ));
    }
}
