//! Files to which a run writes problems with the input, and games with errors, as it finds them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::index::game::GameBatch;
use crate::index::{Error, IndexOptions, ProblemLocation, Result};
use crate::positioned_io::read_start;
use crate::source::{self, SourceFile, Sources, shown_path};
use crate::store::is_file_of;
use crate::store::row::{ProblemRow, Severity, SourceId};

/// Receives problems with the input, in input order, and counts errors.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    problems: Option<Output>,
    rejects: Option<Output>,
    errors: u64,
    most_errors: Option<u64>,
    /// The first errors in games, each with its place: at most three. Errors of whole sources are not
    /// included, because they are reported separately.
    pub(crate) first_errors: Vec<String>,
    /// The first error, with its place, or the first warning if there are no errors.
    pub(crate) first: Option<String>,
    /// The paths of the sources, whose ids follow `last_source`.
    paths: Vec<PathBuf>,
    last_source: SourceId,
}

impl Reports {
    /// Creates the files that the options name. An existing file must be empty or, for problems, contain the
    /// problems of an earlier run.
    ///
    /// # Errors
    /// If a file cannot be created, is also a source or another output, belongs to the database, or exists
    /// with other contents.
    pub(crate) fn create(
        options: &IndexOptions,
        sources: &Sources,
        last_source: SourceId,
        database: Option<&Path>,
    ) -> Result<Self> {
        let path = |file: &source::Result<SourceFile>| {
            file.as_ref().map_or_else(source::Error::path, |file| &file.path).to_owned()
        };
        let paths: Vec<PathBuf> = sources.files.iter().map(path).collect();
        let check = |path: &Option<PathBuf>, other: Option<PathBuf>, beginning| {
            let Some(path) = path else { return Ok(()) };
            if database.is_some_and(|database| is_file_of(database, path)) {
                return Err(Error::ReportInUse { path: path.clone() });
            }
            let used = paths.iter().map(PathBuf::as_path).chain(other.as_deref());
            check_output(path, used, beginning)
        };
        check(&options.problems, None, Some(PROBLEM_BEGINNING))?;
        // A file of rejected games looks like any other PGN file, so only an empty file is replaced.
        check(&options.rejects, options.problems.clone(), None)?;
        let create = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        let (problems, rejects) = (create(&options.problems)?, create(&options.rejects)?);
        let most_errors = options.most_errors;
        Ok(Self { problems, rejects, most_errors, paths, last_source, ..Self::default() })
    }

    /// Writes the problems and the rejected games of a batch. Its games must already have their ids. `text` is
    /// the text of the batch's chunk.
    ///
    /// # Errors
    /// [`Error::TooManyErrors`]; [`Error::Report`].
    pub(crate) fn take(&mut self, batch: &GameBatch, text: &[u8]) -> Result<()> {
        const MAX_LISTED: usize = 3;
        if batch.headers.problems.is_empty() {
            return Ok(());
        }
        let mut rejects = batch.rejects.iter();
        let mut last_game = 0;
        let mut excess = Ok(());
        let all_text = &batch.headers.text;
        for problem in &batch.headers.problems {
            let path = &self.paths[(problem.source.0 - self.last_source.0) as usize - 1];
            if let Some(output) = &mut self.problems {
                output.write(|out| write_json(out, path, problem, all_text))?;
            }
            let is_first_error = problem.severity == Severity::Error && self.errors == 0;
            if is_first_error || self.first.is_none() {
                self.first = Some(format_problem(path, problem, all_text));
            }
            if problem.severity != Severity::Error {
                continue;
            }
            if problem.game_number > 0 && self.first_errors.len() < MAX_LISTED {
                self.first_errors.push(format_problem(path, problem, all_text));
            }
            if problem.game_number != last_game
                && let Some(game) = rejects.next()
                && let Some(output) = &mut self.rejects
            {
                output
                    .write(|out| out.write_all(&text[game.clone()]).and_then(|()| out.write_all(b"\n\n")))?;
            }
            last_game = problem.game_number;
            self.errors += 1;
            if let Some(most) = self.most_errors.filter(|&most| self.errors > most) {
                excess = Err(too_many(most, path, problem, all_text));
                break;
            }
        }
        for output in [&mut self.problems, &mut self.rejects].into_iter().flatten() {
            output.write(BufWriter::flush)?;
        }
        excess
    }
}

/// A problem as text, with its place.
fn format_problem(path: &Path, problem: &ProblemRow, text: &str) -> String {
    let &ProblemRow { line, column, game_number, severity, message, .. } = problem;
    let message = message.of(text);
    // A message about a whole source already names the source.
    if game_number == 0 && severity == Severity::Error {
        return message.to_owned();
    }
    format!("{}:{line}:{column}: {message}", shown_path(path))
}

fn too_many(most: u64, path: &Path, problem: &ProblemRow, text: &str) -> Error {
    let &ProblemRow { line, column, byte_offset, game_number, ply, message, .. } = problem;
    // A message about a whole source already names the source.
    let place = (game_number > 0).then(|| {
        Box::new(ProblemLocation { path: path.to_owned(), line, column, byte_offset, game_number, ply })
    });
    Error::TooManyErrors { most, place, message: message.of(text).to_owned() }
}

/// How a file of problems begins.
const PROBLEM_BEGINNING: &[u8] = b"{\"path\":";

/// Writes a problem as a JSON object. Its members are described in `docs/json.md`.
fn write_json(out: &mut impl Write, path: &Path, problem: &ProblemRow, text: &str) -> io::Result<()> {
    let object = json!({
        "path": path.to_string_lossy(),
        "line": problem.line,
        "column_number": problem.column,
        "byte_offset": problem.byte_offset,
        "game_number": Some(problem.game_number).filter(|&number| number > 0),
        "game_id": problem.game.map(|game| game.0),
        "ply": problem.ply.map(|ply| ply.0),
        "token": problem.token.map(|token| token.of(text)),
        "kind": problem.kind,
        "severity": problem.severity.as_str(),
        "message": problem.message.of(text),
    });
    writeln!(out, "{object}")
}

/// An output file. If the file is a pipe, nothing more is written once its reader has disconnected.
#[derive(Debug)]
struct Output {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Output {
    fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|source| Error::Report { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file: Some(BufWriter::new(file)) })
    }

    fn write(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        match write(file) {
            Ok(()) => Ok(()),
            // The reader has closed the pipe; the run continues.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.file = None;
                Ok(())
            }
            Err(source) => Err(Error::Report { path: self.path.clone(), source }),
        }
    }
}

/// Checks a path for an output file, before any file is created. An existing file must be empty or have this
/// beginning.
fn check_output<'p>(
    path: &Path,
    mut used: impl Iterator<Item = &'p Path>,
    beginning: Option<&[u8]>,
) -> Result<()> {
    let real = real_path(path).filter(|real| real.is_file() || !real.exists());
    let is_same = |other: &Path| other == path || real.is_some() && real_path(other) == real;
    if used.any(is_same) {
        return Err(Error::ReportInUse { path: path.to_owned() });
    }
    if real.is_some_and(|real| real.exists() && !is_replaceable(&real, beginning)) {
        return Err(Error::ReportExists { path: path.to_owned(), lists_problems: beginning.is_some() });
    }
    Ok(())
}

/// The canonical path of a file, which need not exist.
fn real_path(path: &Path) -> Option<PathBuf> {
    let new =
        || Some(fs::canonicalize(std::path::absolute(path).ok()?.parent()?).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(new)
}

/// Whether a file can be read, and is empty or begins with these bytes.
fn is_replaceable(path: &Path, beginning: Option<&[u8]>) -> bool {
    let length = beginning.map_or(1, <[u8]>::len) as u64;
    read_start(path, length).is_ok_and(|found| found.is_empty() || Some(found.as_slice()) == beginning)
}
