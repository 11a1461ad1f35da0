//! `pgndex optimize`: merges the parts that additions have created.

use std::sync::Arc;

use pgndex::index::{OptimizeSummary, Progress, optimize};

use crate::cli::args::MaintenanceArgs;
use crate::cli::command::index::snapshot;
use crate::cli::render::done::{Done, Optimized};
use crate::cli::render::number::database_size;
use crate::cli::report::report_done;
use crate::cli::terminal::progress::Progress as Display;
use crate::cli::terminal::signal::{ignore_file_size_signal, stop_on_signal, stop_run};

/// Merges the parts of a database.
///
/// # Errors
/// If the database cannot be read or written, or the command is stopped.
pub(crate) fn run(args: &MaintenanceArgs) -> anyhow::Result<()> {
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || stop_run(&stopped))?;
    ignore_file_size_signal();
    let options = args.work.options();
    let shown = Arc::clone(&progress);
    let display = Display::start(args.report.log.quiet, move || snapshot(&shown));
    let merged = optimize(&args.database, &options, &progress);
    display.stop();
    let summary = merged?;
    let done = Done::Optimize(optimized(args, &summary));
    report_done(args.report, done, || last_line(args, &summary))
}

fn last_line(args: &MaintenanceArgs, summary: &OptimizeSummary) -> String {
    let OptimizeSummary { levels, bytes_before, file_bytes, free_bytes, elapsed } = summary;
    let done = match levels {
        0 | 1 if file_bytes < bytes_before => {
            format!(
                "nothing to merge; rewrote the file without its free pages in {:.1} s",
                elapsed.as_secs_f64()
            )
        }
        0 | 1 => "nothing to merge".to_owned(),
        levels => format!("merged {levels} parts into one in {:.1} s", elapsed.as_secs_f64()),
    };
    format!("{done}\n{}", database_size(&args.database, *bytes_before, *file_bytes, *free_bytes))
}

fn optimized(args: &MaintenanceArgs, summary: &OptimizeSummary) -> Optimized {
    let OptimizeSummary { levels, bytes_before, file_bytes, free_bytes, elapsed } = *summary;
    Optimized {
        database: args.database.display().to_string(),
        levels,
        bytes_before,
        file_bytes,
        free_bytes,
        seconds: elapsed.as_secs_f64(),
    }
}
