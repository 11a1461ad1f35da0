//! Checks Parquet files.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgndex::columnar::{VerifyOptions, VerifyProgress, VerifyReport, verify};

use crate::cli::args::VerifyArgs;
use crate::cli::render::done::{Done, VerifiedParquet};
use crate::cli::render::number::{bytes, counted, grouped};
use crate::cli::render::output::stdout;
use crate::cli::render::text::printable;
use crate::cli::report::{Status, report_done};
use crate::cli::terminal::log::note;
use crate::cli::terminal::progress::{Progress as Display, Snapshot};
use crate::cli::terminal::signal::stop_on_signal;

/// Checks the Parquet files of a directory and prints the findings.
pub(super) fn run(args: &VerifyArgs, directory: &Path) -> anyhow::Result<Status> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    stop_on_signal(move || stopped.store(true, Ordering::Relaxed))?;
    let progress = Arc::new(VerifyProgress::default());
    let shown = Arc::clone(&progress);
    let display = Display::start(args.report.log.quiet, move || Snapshot {
        bytes_done: shown.bytes(),
        bytes_total: shown.total_bytes(),
        games: shown.games(),
        plies: 0,
        files: None,
        phase: "checking",
    });
    let options = VerifyOptions {
        sample: (!args.all).then_some(args.sample),
        limit: args.limit as usize,
        threads: args.threads.threads.map_or(0, usize::from),
    };
    let result = verify(directory, options, &progress, &|| stop.load(Ordering::Relaxed));
    display.stop();
    let report = result?;
    let is_sound = report.found == 0;
    if !args.report.json {
        let mut out = stdout();
        for finding in &report.findings {
            writeln!(out, "{}", printable(finding))?;
        }
        let shown = report.findings.len() as u64;
        if shown < report.found {
            writeln!(
                out,
                "{} of {} findings shown; --limit shows more",
                grouped(shown),
                grouped(report.found)
            )?;
        }
        writeln!(out, "{}", last_line(&report))?;
        out.flush()?;
    }
    let done = VerifiedParquet {
        directory: directory.display().to_string(),
        sound: is_sound,
        findings: report.found,
        first_findings: report.findings,
        files: report.files,
        bytes: report.bytes,
        games: report.games,
        positions: report.positions,
        replayed_games: report.replayed_games,
    };
    report_done(args.report, Done::VerifyParquet(done), String::new)?;
    if !is_sound && !args.report.json {
        note(
            "write the files again: repeat the `pgndex export` or `pgndex index` that wrote them, with --overwrite",
        );
    }
    Ok(if is_sound { Status::Done } else { Status::Unsound })
}

fn last_line(report: &VerifyReport) -> String {
    if report.found > 0 {
        return format!("not sound: {}", counted(report.found, "finding"));
    }
    format!(
        "sound: {}, {} in {} ({}); {} replayed",
        counted(report.games, "game"),
        counted(report.positions, "position"),
        counted(report.files, "file"),
        bytes(report.bytes),
        counted(report.replayed_games, "game")
    )
}
