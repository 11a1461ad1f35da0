//! `pgndex verify`: checks a database or Parquet files.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use pgndex::verify::{Finding, FindingKind, Findings, Id, Progress, Report, Sample, VerifyOptions, verify};
use serde_json::json;

use crate::cli::args::VerifyArgs;
use crate::cli::render::{Done, Found, OtherSource, Verified, counted, grouped, printable, stdout};
use crate::cli::report::{Status, report_done};
use crate::cli::terminal::{READING, Snapshot, display, end_after, note, stop_on_signal};

/// The result of a check.
struct Outcome {
    /// The first findings, one line each.
    first: Vec<String>,
    findings: u64,
    last_line: String,
    done: Done,
    /// What to do if there are findings.
    advice: String,
}

/// Checks a database or Parquet files, and prints the findings.
///
/// # Errors
/// If the arguments contradict each other, or the database or the files cannot be read at all. If the check is
/// stopped, or the result cannot be written.
pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Status> {
    let Outcome { first, findings, last_line, done, advice } = match &args.parquet {
        #[cfg(feature = "parquet")]
        Some(directory) => parquet(args, directory)?,
        _ => database(args)?,
    };
    if !args.report.json {
        let mut out = stdout();
        first.iter().try_for_each(|finding| writeln!(out, "{finding}"))?;
        let shown = first.len() as u64;
        if shown < findings {
            writeln!(out, "{} of {} findings shown; --limit shows more", grouped(shown), grouped(findings))?;
        }
        writeln!(out, "{last_line}")?;
        out.flush()?;
    }
    // The text for people has already been written to standard output.
    report_done(args.report, done, "")?;
    if findings > 0 && !args.report.json {
        note(&advice);
    }
    Ok(if findings == 0 { Status::Done } else { Status::Unsound })
}

/// Checks a database. Without `--json`, also prints which sources could not be compared with the games
/// indexed from them.
fn database(args: &VerifyArgs) -> anyhow::Result<Outcome> {
    let database = args.database.as_deref().expect("clap requires a database or --parquet");
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || {
        stopped.stop();
        // A constraint in a database from other people can call a function that never returns. So the process
        // ends even if the check does not.
        end_after(READING, Box::new(|| true));
    })?;
    let file_bytes = std::fs::metadata(database).map_or(0, |metadata| metadata.len());
    let snapshot = || snapshot(&progress, file_bytes);
    let report = display(args.report.log.quiet, snapshot, || verify(database, &options(args), &progress))?;
    if !args.report.json {
        note_sources(&report);
    }
    let line =
        |finding: &Finding| format!("{:<13}  {}", finding.kind.as_str(), printable(&finding.to_string()));
    Ok(Outcome {
        first: report.findings.first.iter().map(line).collect(),
        findings: report.findings.total(),
        last_line: last_line(&report),
        done: Done::Verify(Box::new(verified(database, &report))),
        advice: advice(&report.findings),
    })
}

/// Advice on how to make the database sound again, depending on the findings.
fn advice(findings: &Findings) -> String {
    const RESTORE: &str = "restore a backup, or read the files again with `pgndex index --reread`";
    let needs_new = [FindingKind::Integrity, FindingKind::Unreadable, FindingKind::Schema];
    let is_repairable = findings.repairable == findings.total();
    if !is_repairable && needs_new.iter().any(|kind| findings.counts.contains_key(kind)) {
        return "`pgndex repair` does not help here: restore a backup, or build a new database with `pgndex index --overwrite`"
            .to_owned();
    }
    match findings.repairable {
        0 => format!(
            "`pgndex repair` does not correct these rows. If they were not changed intentionally, {RESTORE}"
        ),
        _ if is_repairable && findings.counts.contains_key(&FindingKind::DanglingLink) => {
            "`pgndex repair` removes references to missing rows, and adds rows for missing sources and runs. It cannot restore data \
             that only the missing rows contained; for this data, restore a backup"
                .to_owned()
        }
        _ if is_repairable => {
            "`pgndex repair` rebuilds this data from the games and positions".to_owned()
        }
        corrected => {
            format!("`pgndex repair` corrects {}; for the rest, {RESTORE}", counted(corrected, "finding"))
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
        phase: "checking",
        ..Snapshot::default()
    }
}

/// Prints the sources that could not be compared with the games indexed from them. Of many sources, prints
/// only the first ones and the number of the others.
fn note_sources(report: &Report) {
    let mut printed = HashSet::new();
    for source in &report.notes {
        // A file that grew and was indexed again has several rows in `source`, whose notes are equal.
        if !printed.insert((&source.path, &source.message)) {
            continue;
        }
        let path = printable(&source.path.to_string_lossy());
        note(&format!(
            "{path}: {}, so the games indexed from this source could not be compared with it",
            source.message
        ));
    }
    let more = report.sources_other.saturating_sub(report.notes.len() as u64);
    if more > 0 {
        note(&format!("the same applies to {}", counted(more, "more source")));
    }
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

/// Checks the Parquet files of a directory.
#[cfg(feature = "parquet")]
fn parquet(args: &VerifyArgs, directory: &Path) -> anyhow::Result<Outcome> {
    use pgndex::columnar::{Progress, VerifyOptions, verify};

    use crate::cli::error::wrong_value;
    use crate::cli::render::VerifiedParquet;

    if args.database.is_some() && !crate::cli::usage::is_database_from_environment() {
        return Err(wrong_value("a database and --parquet were given; check one after the other"));
    }
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || stopped.stop())?;
    let snapshot = || Snapshot {
        bytes_done: progress.bytes(),
        bytes_total: progress.total_bytes(),
        games: progress.games(),
        phase: "checking",
        ..Snapshot::default()
    };
    let options = VerifyOptions {
        sample: (!args.all).then_some(args.sample),
        limit: args.limit as usize,
        threads: args.threads.threads.map_or(0, usize::from),
    };
    let report = display(args.report.log.quiet, snapshot, || verify(directory, options, &progress))?;
    Ok(Outcome {
        first: report.findings.iter().map(|finding| printable(finding)).collect(),
        findings: report.found,
        last_line: last_line_of_parquet(&report),
        done: Done::VerifyParquet(VerifiedParquet {
            directory: directory.display().to_string(),
            sound: report.found == 0,
            findings: report.found,
            first_findings: report.findings,
            files: report.files,
            bytes: report.bytes,
            games: report.games,
            positions: report.positions,
            replayed_games: report.replayed_games,
        }),
        advice: "write the files again: repeat the `pgndex export` or `pgndex index` that wrote them, with --overwrite"
            .to_owned(),
    })
}

#[cfg(feature = "parquet")]
fn last_line_of_parquet(report: &pgndex::columnar::VerifyReport) -> String {
    if report.found > 0 {
        return format!("not sound: {}", counted(report.found, "finding"));
    }
    format!(
        "sound: {}, {} in {} ({}); {} replayed",
        counted(report.games, "game"),
        counted(report.positions, "position"),
        counted(report.files, "file"),
        crate::cli::render::bytes(report.bytes),
        counted(report.replayed_games, "game")
    )
}
