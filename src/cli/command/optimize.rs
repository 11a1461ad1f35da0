//! `pgndex optimize`: what many additions left side by side, merged.

use std::io::Write;
use std::sync::Arc;

use pgndex::index::{IndexOptions, OptimizeSummary, Progress, optimize};
use serde_json::json;

use crate::cli::args::OptimizeArgs;
use crate::cli::command::index::snapshot;
use crate::cli::render::number::database_size;
use crate::cli::render::output::stdout;
use crate::cli::render::text::escaped_json;
use crate::cli::terminal::progress::Progress as Display;
use crate::cli::terminal::signal::{ignore_file_size_signal, stop_on_signal};

/// Merges the levels of a database.
///
/// # Errors
/// When it cannot be read or written, or somebody stops it.
pub(crate) fn run(args: &OptimizeArgs) -> anyhow::Result<()> {
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || stopped.stop())?;
    ignore_file_size_signal();
    let options = IndexOptions { writer: args.writer.into(), ..args.work.options() };
    let shown = Arc::clone(&progress);
    let display = Display::start(args.quiet, move || snapshot(&shown));
    let optimized = optimize(&args.database, &options, &progress);
    display.stop();
    let summary = optimized?;
    if args.json {
        let mut out = stdout();
        writeln!(out, "{}", escaped_json(&to_json(args, &summary).to_string()))?;
        return Ok(out.flush()?);
    }
    if !args.quiet {
        eprintln!("{}", last_line(args, &summary));
    }
    Ok(())
}

fn last_line(args: &OptimizeArgs, summary: &OptimizeSummary) -> String {
    let OptimizeSummary { levels, bytes_before, file_bytes, free_bytes, elapsed } = summary;
    let done = match levels {
        0 | 1 => "nothing to merge".to_owned(),
        levels => format!("merged {levels} levels into one in {:.1} s", elapsed.as_secs_f64()),
    };
    format!("{done}\n{}", database_size(&args.database, *bytes_before, *file_bytes, *free_bytes))
}

fn to_json(args: &OptimizeArgs, summary: &OptimizeSummary) -> serde_json::Value {
    let OptimizeSummary { levels, bytes_before, file_bytes, free_bytes, elapsed } = summary;
    json!({
        "database": args.database.display().to_string(),
        "levels": levels,
        "bytes_before": bytes_before,
        "file_bytes": file_bytes,
        "free_bytes": free_bytes,
        "seconds": elapsed.as_secs_f64(),
    })
}
