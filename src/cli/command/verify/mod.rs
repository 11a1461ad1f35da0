//! `pgndex verify`: checks a database or Parquet files.

#[cfg(feature = "parquet")]
mod parquet;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use pgndex::verify::{Finding, FindingKind, Findings, Id, Progress, Report, Sample, VerifyOptions, verify};
use serde_json::json;

use crate::cli::args::VerifyArgs;
#[cfg(feature = "parquet")]
use crate::cli::error::WrongValue;
use crate::cli::render::done::{Done, Found, OtherSource, Verified};
use crate::cli::render::number::{counted, grouped};
use crate::cli::render::output::stdout;
use crate::cli::render::text::printable;
use crate::cli::report::{Status, report_done};
use crate::cli::terminal::log;
use crate::cli::terminal::progress::{Progress as Display, Snapshot};
use crate::cli::terminal::signal::{READING, end_after, stop_on_signal};

/// Checks a database or Parquet files, and prints the findings.
///
/// # Errors
/// If the arguments contradict each other, the files cannot be read at all, or the check is stopped.
pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Status> {
    #[cfg(feature = "parquet")]
    if let Some(directory) = &args.parquet {
        if args.database.is_some() && !crate::cli::usage::is_database_from_environment() {
            let both = "a database and --parquet were given; check one after the other";
            return Err(WrongValue(anyhow::anyhow!(both)).into());
        }
        return parquet::run(args, directory);
    }
    let database = args.database.as_deref().expect("clap requires one of both");
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || {
        stopped.stop();
        // A foreign database may have a constraint that calls a function which takes forever.
        end_after(READING, || true);
    })?;
    let file_bytes = std::fs::metadata(database).map_or(0, |metadata| metadata.len());
    let shown = Arc::clone(&progress);
    let display = Display::start(args.report.log.quiet, move || snapshot(&shown, file_bytes));
    let result = verify(database, &options(args), &progress);
    display.stop();
    let report = result?;
    if !args.report.json {
        let mut out = stdout();
        note_sources(&report);
        write_findings(&mut out, &report)?;
        writeln!(out, "{}", last_line(&report))?;
        out.flush()?;
    }
    // The answer for people has already been written to standard output.
    report_done(args.report, Done::Verify(Box::new(verified(database, &report))), String::new)?;
    if !report.is_sound() && !args.report.json {
        log::note(&advice(&report.findings));
    }
    Ok(if report.is_sound() { Status::Done } else { Status::Unsound })
}

/// How to make a database sound.
fn advice(findings: &Findings) -> String {
    const RESTORE: &str = "restore a backup, or read the files again with `pgndex index --reread`";
    let needs_new = [FindingKind::Integrity, FindingKind::Unreadable, FindingKind::Schema];
    if needs_new.iter().any(|kind| findings.counts.contains_key(kind)) {
        return "`pgndex repair` does not help here: restore a backup, or build a new database with `pgndex index --overwrite`"
            .to_owned();
    }
    match findings.repairable {
        0 => format!(
            "`pgndex repair` does not help here, because it does not change games and positions. If they were not changed \
             intentionally, {RESTORE}"
        ),
        corrected if corrected == findings.total() => {
            "`pgndex repair` rebuilds this data from the games and positions".to_owned()
        }
        corrected => {
            format!("`pgndex repair` corrects {}; for the others, {RESTORE}", counted(corrected, "finding"))
        }
    }
}

fn options(args: &VerifyArgs) -> VerifyOptions {
    let default = VerifyOptions::default();
    VerifyOptions {
        threads: args.threads.threads.map_or(default.threads, usize::from),
        sample: if args.all { Sample::All } else { Sample::Some(args.sample) },
        limit: args.limit as usize,
        sources: !args.no_sources,
    }
}

/// The progress. Its bytes are estimated: the file size multiplied by the share of rows read.
fn snapshot(progress: &Progress, file_bytes: u64) -> Snapshot {
    let share = progress.rows() as f64 / progress.total_rows().max(1) as f64;
    Snapshot {
        bytes_done: (share.min(1.0) * file_bytes as f64) as u64,
        bytes_total: file_bytes,
        games: progress.games(),
        plies: progress.plies(),
        files: None,
        phase: "checking",
    }
}

/// Prints the sources whose games could not be compared.
fn note_sources(report: &Report) {
    let mut told = HashSet::new();
    for note in &report.notes {
        // A file that grew was read several times.
        if !told.insert((&note.path, &note.message)) {
            continue;
        }
        let path = printable(&note.path.to_string_lossy());
        log::note(&format!(
            "{path}: {}, so the games indexed from it could not be checked against it",
            note.message
        ));
    }
    let more = report.sources_other.saturating_sub(report.notes.len() as u64);
    if more > 0 {
        log::note(&format!("the same applies to {}", counted(more, "more source")));
    }
}

fn write_findings(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    let findings = &report.findings;
    for finding in &findings.first {
        writeln!(out, "{:<13}  {}", finding.kind.as_str(), printable(&finding.to_string()))?;
    }
    let (shown, total) = (findings.first.len() as u64, findings.total());
    if shown < total {
        writeln!(out, "{} of {} findings shown; --limit shows more", grouped(shown), grouped(total))?;
    }
    Ok(())
}

fn last_line(report: &Report) -> String {
    let findings = &report.findings;
    if report.is_sound() {
        return format!(
            "sound: {}, {}; {} replayed, {} compared with the source",
            counted(report.games, "game"),
            counted(report.positions, "position"),
            grouped(report.replayed_games),
            grouped(report.reread_games)
        );
    }
    let kinds: Vec<String> = findings
        .counts
        .iter()
        .map(|(kind, count)| format!("{} {}", grouped(*count), kind.as_str()))
        .collect();
    format!("not sound: {} ({})", counted(findings.total(), "finding"), kinds.join(", "))
}

fn verified(database: &Path, report: &Report) -> Verified {
    let findings = &report.findings;
    let notes = report.notes.iter().map(|note| OtherSource {
        path: note.path.to_string_lossy().into_owned(),
        state: note.state.as_str(),
        message: note.message.clone(),
    });
    Verified {
        database: database.display().to_string(),
        sound: report.is_sound(),
        findings: findings.total(),
        finding_kinds: findings.counts.iter().map(|(kind, count)| (kind.as_str(), *count)).collect(),
        first_findings: findings.first.iter().map(found).collect(),
        games: report.games,
        positions: report.positions,
        replayed_games: report.replayed_games,
        replayed_plies: report.replayed_plies,
        compared_games: report.reread_games,
        visited_positions: report.visited_positions,
        duplicates: report.duplicates,
        sources_same: report.sources_same,
        sources_other: report.sources_other,
        first_sources_other: notes.collect(),
        seconds: report.elapsed.as_secs_f64(),
    }
}

fn found(finding: &Finding) -> Found {
    let id = |id: &Id| match id {
        Id::Number(number) => json!(number),
        Id::Text(text) => json!(text),
    };
    Found {
        kind: finding.kind.as_str(),
        table: finding.table,
        row: finding.row.0.iter().map(|(column, value)| ((*column).to_owned(), id(value))).collect(),
        column: finding.column,
        expected: finding.expected.clone(),
        found: finding.found.clone(),
    }
}
