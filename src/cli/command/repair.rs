//! `pgndex repair`: makes tables consistent again.

use std::sync::Arc;

use pgndex::index::{Progress, RepairSummary, repair};

use crate::cli::args::MaintenanceArgs;
use crate::cli::render::done::{Done, Repaired};
use crate::cli::render::number::{bytes, counted};
use crate::cli::render::text::printable;
use crate::cli::report::{Status, report_done};
use crate::cli::terminal::log::note;
use crate::cli::terminal::progress::{Progress as Display, REPAIRING, Snapshot, WAITING};
use crate::cli::terminal::signal::{ignore_file_size_signal, stop_on_signal, stop_run};

/// Repairs a database.
///
/// # Errors
/// If the database cannot be read or written, or the command is stopped.
pub(crate) fn run(args: &MaintenanceArgs) -> anyhow::Result<Status> {
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || stop_run(&stopped))?;
    ignore_file_size_signal();
    let display = Display::start(args.report.log.quiet, || {
        let phase = if pgndex::store::is_waiting() { WAITING } else { REPAIRING };
        Snapshot { phase, ..Snapshot::default() }
    });
    let repaired = repair(&args.database, &args.work.options(), &progress);
    display.stop();
    let summary = repaired?;
    if !args.report.json {
        report_unrepaired(&summary);
    }
    let done = Done::Repair(object(args, &summary));
    report_done(args.report, done, || last_lines(args, &summary))?;
    Ok(if summary.broken.is_empty() { Status::Done } else { Status::Unsound })
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
            "{games} missing positions, which cannot be restored; read the files again with `pgndex index --reread`, or remove \
             {these} with `pgndex remove`"
        ));
    }
    if summary.counts.cleared > 0 {
        note(&format!(
            "{} to missing rows set to NULL, such as names of players. To restore them, read the files again with `pgndex index \
             --reread`",
            counted(summary.counts.cleared, "reference"),
        ));
    }
    if summary.counts.unknown_sources > 0 {
        note(&format!(
            "the table source lacked {} with games. `pgndex info` shows such a source as 'unknown source' with its number. Remove \
             its games with `pgndex remove --source`, then index the file again",
            counted(summary.counts.unknown_sources, "source"),
        ));
    }
}

fn last_lines(args: &MaintenanceArgs, summary: &RepairSummary) -> String {
    let RepairSummary { counts, hashes, visited_positions, file_bytes, elapsed, .. } = summary;
    format!(
        "removed {}, {} and {}; corrected the length of {}; recomputed {}, and the `explore` counts of {}; took {:.1} s\n{}: {}; check \
         the result with `pgndex verify`",
        counted(counts.rows, "row"),
        counted(counts.names, "name"),
        counted(counts.sources, "source"),
        counted(counts.ply_counts, "game"),
        counted(*hashes, "hash").replace("hashs", "hashes"),
        counted(*visited_positions, "position"),
        elapsed.as_secs_f64(),
        printable(&args.database.to_string_lossy()),
        bytes(*file_bytes),
    )
}

fn object(args: &MaintenanceArgs, summary: &RepairSummary) -> Repaired {
    let RepairSummary { counts, hashes, visited_positions, broken, file_bytes, elapsed } = summary;
    Repaired {
        database: args.database.display().to_string(),
        removed_rows: counts.rows,
        cleared_references: counts.cleared,
        ply_counts: counts.ply_counts,
        removed_names: counts.names,
        forgotten_sources: counts.sources,
        unknown_sources: counts.unknown_sources,
        hashes: *hashes,
        visited_positions: *visited_positions,
        broken_games: broken.iter().map(|game| game.0).collect(),
        file_bytes: *file_bytes,
        seconds: elapsed.as_secs_f64(),
    }
}
