//! `pgndex index`: indexes PGN files into a database, or writes them as Parquet files.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};
use pgndex::index::{
    Annotations, DatabaseSettings, Duplicates, Error, Estimate, IndexOptions, OnProblem, Plan, Progress,
    Summary, problem_summary,
};
use pgndex::source::{TextEncoding, has_name_of_games};
use pgndex::store::row::Severity;
use pgndex::store::{Database, KnownSource, Snapshot, SourceContent};

use crate::cli::args::{IndexArgs, OnProblemArg};
use crate::cli::error::{AT_FIRST_ERROR, naming_options, wrong_value};
use crate::cli::render::{
    Done, Report, bytes, counted, is_sqlite, printable, problem_query, refuse_file_of,
    refuse_standard_output, shell_word,
};
use crate::cli::report::{Status, report_done};
use crate::cli::terminal::{display_run, log, sqlite, stop_on_signal, stop_run};

#[cfg(feature = "parquet")]
use pgndex::index::ParquetOptions;

/// Indexes PGN files into a database or Parquet files, or only reads them in a dry run.
///
/// # Errors
/// If an argument is invalid, no source can be read, or there are more errors than allowed. If the output
/// cannot be written, or the run is stopped.
pub(crate) fn run(args: &IndexArgs) -> anyhow::Result<Status> {
    check_arguments(args)?;
    // Starts to handle signals before the database is opened: opening a locked database can take seconds.
    let progress = stoppable_progress()?;
    let mut options = options(args)?;
    let inputs = match args.reread {
        true => files_of(&args.database, args.drop_missing, &mut options)?,
        false => inputs(args),
    };
    check_database(args, &options)?;
    let quiet = args.report.log.quiet;
    if !quiet && !args.dry_run {
        let (is_parquet, skips) = (args.parquet.is_some(), options.duplicates != Duplicates::Keep);
        progress.on_estimate(move |estimate| announce(estimate, is_parquet, skips));
    }
    let plan = match display_run(quiet, &progress, || Plan::new(&inputs, &options, &progress)) {
        // A run that replaces nothing succeeds even without files: a directory of new files can be empty on
        // some days.
        Err(error @ Error::NoFile(_)) if !args.overwrite && args.parquet.is_none() => {
            if args.report.json {
                report_outcome(args, &Summary { added: true, ..Summary::default() })?;
            }
            log::note(&error.to_string());
            return Ok(Status::Done);
        }
        plan => plan?,
    };
    if !quiet {
        plan.notes().iter().for_each(|note| log::note(note));
        if target(args) == Some(&args.database) && !args.overwrite && is_sqlite(&args.database) {
            sqlite::note().into_iter().for_each(log::note);
        }
    }
    let result = display_run(quiet, &progress, || match &args.parquet {
        #[cfg(feature = "parquet")]
        Some(directory) => plan.write_parquet(&parquet(args, directory), &progress),
        _ if args.dry_run => plan.dry_run(&progress),
        _ => plan.run(&args.database, &progress),
    });
    let summary = result.map_err(|error| named(error, args))?;
    report_outcome(args, &summary)?;
    #[cfg(feature = "parquet")]
    if !quiet && args.parquet.is_some() {
        let note = args.parquet_layout.note_on(summary.parquet_files, summary.file_bytes);
        note.into_iter().for_each(log::note);
    }
    let found = summary.games + summary.left_out + summary.duplicates.skipped();
    let is_explained =
        [&summary.unreadable, &summary.damaged, &summary.gameless].iter().any(|of| !of.is_empty());
    if found == 0 && summary.known_sources == 0 && !is_explained {
        log::note("no games were found");
    }
    Ok(status(&summary))
}

/// Fails if the database or another output is `-`, or if `--drop-missing` is given without `--reread`.
fn check_arguments(args: &IndexArgs) -> anyhow::Result<()> {
    if args.database.as_os_str() == "-" && target(args) == Some(&args.database) {
        return Err(wrong_value(
            "-: the first argument is the database, which cannot be standard input; `pgndex index games.db -` reads games from standard input",
        ));
    }
    let written = target(args).into_iter().chain(args.problems.as_deref()).chain(args.rejects.as_deref());
    written.into_iter().try_for_each(refuse_standard_output)?;
    if args.drop_missing && !args.reread {
        // clap does not enforce `requires` if a given argument conflicts with the required argument.
        return Err(wrong_value(format!(
            "--drop-missing needs --reread, which reads the PGN files of the database again: pgndex index --reread --drop-missing {}",
            shell_word(&args.database.to_string_lossy())
        )));
    }
    Ok(())
}

/// Fails if the database and another argument were swapped, or if a database is given with `--parquet`. Also
/// fails if an output file of a dry run would overwrite the database. Prints a note if a dry run ignores the
/// database.
fn check_database(args: &IndexArgs, options: &IndexOptions) -> anyhow::Result<()> {
    if args.dry_run && is_target(args) && !args.inputs.is_empty() {
        let name = printable(&args.database.to_string_lossy());
        log::note(&format!("--dry-run takes no database; {name} is ignored"));
    }
    if args.dry_run && is_sqlite(&args.database) {
        for path in options.problems.iter().chain(&options.rejects) {
            refuse_file_of(&args.database, path)?;
        }
    }
    if args.parquet.is_some() && is_sqlite(&args.database) {
        bail!(
            "{0}: a database, but with --parquet all files are read as PGN; to write its tables, run `pgndex export {0} --parquet DIR`",
            args.database.display()
        );
    }
    if let Some(games) = games_instead_of_database(args) {
        bail!(
            "{0}: not a database; the database comes first, as in `pgndex index games.db {0}`",
            games.display()
        );
    }
    Ok(())
}

/// If `--on-problem stop`, or `--strict` in a dry run, made the run fail, adds this option to the message of
/// the error.
fn named(error: Error, args: &IndexArgs) -> anyhow::Error {
    match error {
        Error::Strict { first, errors, warnings } if args.dry_run => anyhow!(
            "{}. --strict allows no errors or warnings; use --problems FILE to list them",
            problem_summary(errors, warnings, &first)
        ),
        Error::TooManyErrors { .. } if args.on_problem == OnProblemArg::Stop => {
            let reason = format!("{AT_FIRST_ERROR}, because of --on-problem stop");
            anyhow!(error.to_string().replacen(AT_FIRST_ERROR, &reason, 1))
        }
        _ => error.into(),
    }
}

/// The status of a completed run.
pub(crate) fn status(summary: &Summary) -> Status {
    if summary.problems.of(Severity::Error) > 0 { Status::Lossy } else { Status::Done }
}

/// A message with the number of errors, the first error, and how to list all problems; `None` if there are no
/// errors. `problems` is the file that lists all problems, if this file was requested.
pub(crate) fn first_error(
    summary: &Summary,
    target: Option<&Path>,
    problems: Option<&Path>,
) -> Option<String> {
    let first = printable(summary.first_errors.first()?);
    let errors = match summary.problems.of(Severity::Error) {
        1 => "1 error in the input".to_owned(),
        errors => format!("{} in the input, the first", counted(errors, "error")),
    };
    let more = match (problems, target) {
        (Some(file), _) => format!("{} lists all problems", file.display()),
        (None, Some(database)) if summary.parquet_files == 0 => {
            format!("to list all problems: {}", problem_query(database))
        }
        _ => "use --problems FILE to list all problems".to_owned(),
    };
    Some(format!("{errors}: {first}; {more}"))
}

/// Creates the progress of a run that a signal can stop.
fn stoppable_progress() -> anyhow::Result<Arc<Progress>> {
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || {
        stop_run(&stopped);
        log::note_stopping();
    })?;
    Ok(progress)
}

/// Prints the result of a run.
fn report_outcome(args: &IndexArgs, summary: &Summary) -> anyhow::Result<()> {
    for source in summary.unreadable.iter().chain(&summary.damaged).chain(&summary.gameless) {
        log::complain(&naming_options(source));
    }
    if !args.report.log.quiet {
        summary.rewritten.iter().for_each(|note| log::note(note));
    }
    summary.log_left.iter().for_each(|note| log::note(note));
    note_options_without_effect(args, summary);
    if args.report.log.quiet {
        first_error(summary, target(args), args.problems.as_deref())
            .iter()
            .for_each(|text| log::complain(text));
    }
    let (problems, rejects) = (args.problems.as_deref(), args.rejects.as_deref());
    let report = Report { target: target(args), summary, problems, rejects };
    let done = Done::Index(Box::new(summary.object(report.target)));
    report_done(args.report, done, &report.text())
}

/// Prints which options had no effect, and which option can be the reason why no game was found in a file.
fn note_options_without_effect(args: &IndexArgs, summary: &Summary) {
    if !summary.gameless.is_empty() && args.made_with.has_encoding() {
        log::note(
            "the files were read with the given --encoding; `--encoding auto` reads UTF-8 and Windows-1252",
        );
    }
    let are_known = summary.known_sources > 0 && summary.bytes == 0 && !args.report.log.quiet;
    let mut given = args.made_with.changing_games();
    if args.on_problem == OnProblemArg::Skip {
        given.push("--on-problem skip");
    }
    if let (true, Some((last, others))) = (are_known, given.split_last()) {
        let (options, apply) = match others {
            [] => (String::new(), "applies"),
            _ => (format!("{} and ", others.join(", ")), "apply"),
        };
        log::note(&format!(
            "{options}{last} {apply} only to new games; to change all games, use --reread as well"
        ));
    }
}

#[cfg(feature = "parquet")]
fn parquet(args: &IndexArgs, directory: &Path) -> ParquetOptions {
    ParquetOptions {
        directory: directory.to_owned(),
        shard: args.parquet_layout.shard,
        partition_by: args.parquet_layout.partition_by.into(),
        overwrite: args.overwrite,
        ..ParquetOptions::default()
    }
}

/// The database, or the directory of Parquet files; `None` in a dry run.
fn target(args: &IndexArgs) -> Option<&Path> {
    args.parquet.as_deref().or_else(|| Some(args.database.as_path()).filter(|_| !args.dry_run))
}

/// Whether the first argument is an existing database, or the name of a database to create. In a dry run, any
/// other first argument is a source.
fn is_target(args: &IndexArgs) -> bool {
    let path = &args.database;
    let is_name = || {
        let text = path.as_os_str().as_encoded_bytes();
        let is_list_or_pattern =
            text == b"-" || text.starts_with(b"@") || text.iter().any(|byte| b"*?[".contains(byte));
        !args.inputs.is_empty() && !is_list_or_pattern && !has_name_of_games(path) && !path.exists()
    };
    is_sqlite(path) || is_name()
}

/// The sources. With `--parquet`, or in a dry run without a database, the first argument is a source too.
fn inputs(args: &IndexArgs) -> Vec<PathBuf> {
    let is_input = args.parquet.is_some() || args.dry_run && !is_target(args);
    let first = Some(args.database.clone()).filter(|_| is_input);
    first.into_iter().chain(args.inputs.iter().cloned()).collect()
}

/// The first argument, if it is a file of games instead of the database. This is assumed only if
/// another argument is a database, or does not have the name of a file of games.
fn games_instead_of_database(args: &IndexArgs) -> Option<&Path> {
    let database = Some(args.database.as_path()).filter(|path| path.is_file() && !is_sqlite(path));
    let is_exchanged = args.parquet.is_none()
        && !args.dry_run
        && args.inputs.iter().any(|path| is_sqlite(path) || !has_name_of_games(path));
    database.filter(|path| is_exchanged && has_name_of_games(path))
}

/// Sets four options of a rebuilt database to those of the old one: threshold, layout, opening names and player
/// aliases.
fn keep_settings(database: &Path, options: &mut IndexOptions) -> anyhow::Result<()> {
    let known = Database::open_read_only(database)?;
    options.continuation_threshold = known.continuation_threshold()?;
    options.openings = Arc::new(known.opening_book()?);
    options.player_aliases = known.player_aliases()?;
    options.layout = Some(known.layout());
    Ok(())
}

/// The files that a database was built from, in the order in which they were first read. Fails like
/// [`check_own_rows`] and [`check_encodings`], or if no file can be read. If `drops` is true, prints a note about
/// each file that cannot be read. Otherwise, fails if a file with games cannot be read, and sets `options` so that the run
/// fails if a file has become shorter.
fn files_of(database: &Path, drops: bool, options: &mut IndexOptions) -> anyhow::Result<Vec<PathBuf>> {
    let known = Database::open_read_only(database)?;
    check_own_rows(&known, database)?;
    check_encodings(database, options)?;
    let mut contents = known.source_contents()?;
    let (mut files, mut seen) = (Vec::new(), HashSet::new());
    // A file that had no games is ignored if it is missing: no games can be lost.
    let is_readable = |content: &SourceContent| content.path.ancestors().any(|path| path.is_file());
    contents.retain(|content| content.games > 0 || is_readable(content));
    for SourceContent { path, .. } in &contents {
        // The path of a file in an archive begins with the archive's path.
        let file = path.ancestors().find(|path| path.is_file() && File::open(path).is_ok());
        match file {
            Some(file) => files.extend(seen.insert(file.to_owned()).then(|| file.to_owned())),
            None if drops => {
                log::note(&format!("{}: cannot be read; its games are left out", path.display()))
            }
            None => bail!(
                "{}: cannot be read, so its games would be lost; {} is unchanged. Run the command in the directory where the \
                 games were indexed, or index the existing files into another database; --drop-missing drops the games",
                path.display(),
                database.display()
            ),
        }
    }
    if files.is_empty() {
        let what =
            if contents.is_empty() { "was not built from any file" } else { "none of its files can be read" };
        bail!("{}: {what}, so the database is unchanged", database.display());
    }
    if !drops {
        // The same text can have another size in another encoding, so sizes are not compared.
        if DatabaseSettings::read(database)?.encoding != options.encoding {
            contents.iter_mut().for_each(|content| content.bytes = None);
        }
        options.at_least = contents;
    }
    Ok(files)
}

/// Fails if no encoding is given, and a file would be read in another encoding than before.
fn check_encodings(database: &Path, options: &IndexOptions) -> anyhow::Result<()> {
    if !options.any_encoding {
        return Ok(());
    }
    let sources = Snapshot::open(database)?.sources()?;
    let encoding = options.encoding.map(TextEncoding::name);
    let is_other = |source: &KnownSource| source.games > 0 && source.encoding.as_deref() != encoding;
    if let Some((path, source)) = sources.files().find(|(_, source)| is_other(source)) {
        bail!(
            "{}: was indexed with --encoding {}, but all files are read again in one encoding; give --encoding, or index the files \
             into another database",
            path.display(),
            source.encoding.as_deref().unwrap_or(TextEncoding::AUTO)
        );
    }
    Ok(())
}

/// Fails if rebuilding the database from its files would add removed games again, or lose data that other
/// programs added.
fn check_own_rows(known: &Database, database: &Path) -> anyhow::Result<()> {
    let removed = known.removed_games()?;
    if removed > 0 {
        bail!(
            "{}: {} removed from it and would be added again. Index the files of this database into another one instead",
            database.display(),
            if removed == 1 { "1 game was".to_owned() } else { format!("{removed} games were") }
        );
    }
    let others = known.added_by_others()?;
    if !others.is_empty() {
        bail!(
            "{}: these additions of other programs would be lost: {}. Index the files of this database into another one, or drop \
             these additions first",
            database.display(),
            others.join(", ")
        );
    }
    Ok(())
}

/// Prints the estimate if it is large. On a terminal, first clears the line with the progress.
fn announce(estimate: &Estimate, is_parquet: bool, skips_duplicates: bool) {
    const MUCH: u64 = 100 << 20;
    let Estimate { database_bytes, spill_bytes, .. } = *estimate;
    if database_bytes + spill_bytes < MUCH {
        return;
    }
    let spill = match spill_bytes {
        0 => String::new(),
        spill => format!(", and {} go to temporary files (--memory, --temp-dir)", bytes(spill)),
    };
    if !log::is_json() && io::stderr().is_terminal() {
        let _ = write!(io::stderr().lock(), "\r\x1b[K");
    }
    let what = if is_parquet { "the files will take" } else { "the database will grow by" };
    // The number of duplicates becomes known only while games are read.
    let less = if skips_duplicates { ", less if games are skipped as duplicates" } else { "" };
    log::note(&format!("{what} about {}{less}{spill}", bytes(database_bytes)));
}

fn options(args: &IndexArgs) -> anyhow::Result<IndexOptions> {
    let work = args.work.options();
    let mut options = IndexOptions {
        overwrite: args.overwrite || args.reread,
        must_have_games: true,
        strict: args.strict,
        on_problem: if args.on_problem == OnProblemArg::Skip { OnProblem::Skip } else { OnProblem::Keep },
        most_errors: if args.on_problem == OnProblemArg::Stop { Some(0) } else { args.max_problems },
        problems: args.problems.clone(),
        rejects: args.rejects.clone(),
        chunk_size: args
            .chunk_size
            .map_or(work.chunk_size, |size| usize::try_from(size).unwrap_or(usize::MAX)),
        ..work
    };
    if args.reread {
        keep_settings(&args.database, &mut options)?;
    }
    let options = args.made_with.given(options)?;
    let ignores_settings = args.overwrite || args.parquet.is_some();
    let made_with =
        if ignores_settings { DatabaseSettings::default() } else { DatabaseSettings::read(&args.database)? };
    // With `--reread`, annotations that an earlier run omitted are stored now, unless this run omits them
    // too.
    let annotations = if args.reread { Annotations::All } else { made_with.annotations };
    Ok(args.made_with.or(options, DatabaseSettings { annotations, ..made_with }))
}
