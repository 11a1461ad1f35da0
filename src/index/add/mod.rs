//! Adds sources to an existing database.

pub(crate) mod growth;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::index::add::growth::{Growth, GrowthCheck};
use crate::index::number::SourceStart;
use crate::index::plan::{Plan, directory, estimate, occurrence_memory};
use crate::index::run::{Intake, Run};
use crate::index::sink::AddedPages;
use crate::index::visited_position::Decreases;
use crate::index::{Duplicates, Error, IndexOptions, Phase, Progress, Reports, Result, Summary};
use crate::opening::OpeningBook;
use crate::source::{self, DecodeOptions, SearchObserver as _, SourceFile, Sources, TextEncoding};
use crate::store::row::{GameId, SourceId};
use crate::store::space::file_size;
use crate::store::write::duplicate::Replaced;
use crate::store::write::level::level_for;
use crate::store::write::remove::RowsToRemove;
use crate::store::{
    Database, GameSet, ImportId, KnownSource, KnownSources, PageTransaction, Snapshot, Tail, WriterLock,
    keep_temporary_files_in,
};

/// Adds the new games of the plan's sources to the database at `target`, in one transaction.
pub(crate) fn run(mut plan: Plan<'_>, target: &Path, progress: &Progress) -> Result<Summary> {
    let started = Instant::now();
    let lock = WriterLock::acquire(target)?;
    let database = Database::open(lock.target())?;
    plan.check_target(lock.target())?;
    progress.watch(database.connection());
    database.begin_adding(plan.options.memory / 4)?;
    let known = Snapshot::open(lock.target())?;
    progress.watch(known.connection());
    known.check_tables()?;
    known.check_numbers()?;
    known.check_counts()?;
    let files = std::mem::take(&mut plan.sources.files);
    let mut selection = Selection { last_source: known.last_source()?, ..Selection::default() };
    selection.add_all(files, &known, plan.options, progress)?;
    let import = ImportId(known.last_import()?.0 + 1);
    drop(known);
    let Selection { files, starts, last_source, tails, replaced, .. } = selection;
    let options = settled(plan.options, &database)?;
    let sources = Sources { files, ..Sources::default() };
    // The estimate does not include sources that the database already has.
    let estimate = estimate(&sources, &options);
    let plan = Plan { sources, options: &options, estimate, ..plan };
    let reports = Reports::create(&options, &plan.sources, last_source, Some(lock.target()))?;
    let mut summary = Summary { added: true, ..Summary::default() };
    if !plan.sources.files.is_empty() {
        let target = Some(lock.target().to_owned());
        let removed: GameSet = replaced.iter().map(|replaced| replaced.game).collect();
        let has_known = selection.known_sources > 0;
        let intake =
            Intake { target, removed, has_known, starts, last_source, import, ..Intake::all(&plan.sources) };
        let adding = Addition { plan: &plan, database: &database, lock: &lock, progress, started };
        summary = adding.fill(intake, &replaced, &tails, reports)?;
    }
    let syncing = Instant::now();
    if let Err(error) = database.end_adding() {
        if plan.sources.files.is_empty() {
            return Err(error.into());
        }
        // All games are committed.
        let log = lock.target().display();
        summary.log_left = Some(format!(
            "{error}. The games were added, but they are still in {log}-wal; the next run writes them into the database"
        ));
    }
    summary.stages.sync = syncing.elapsed();
    (summary.known_sources, summary.known_gameless) = (selection.known_sources, selection.known_gameless);
    summary.rewritten = selection.rewritten;
    summary.file_bytes = file_size(lock.target());
    summary.elapsed = started.elapsed();
    Ok(summary)
}

/// The data for adding sources to a database.
struct Addition<'a> {
    plan: &'a Plan<'a>,
    database: &'a Database,
    lock: &'a WriterLock,
    progress: &'a Progress,
    started: Instant,
}

impl Addition<'_> {
    /// Adds the games of the intake. Also removes the `replaced` games and all other rows of the `tails`,
    /// because the tails are read again.
    fn fill(
        &self,
        intake: Intake<'_>,
        replaced: &[Replaced],
        tails: &[Tail],
        reports: Reports,
    ) -> Result<Summary> {
        let Self { plan, database, lock, progress, started } = *self;
        progress.enter(Phase::Reading);
        progress.expect(plan.sources.bytes().unwrap_or(0));
        let known = Snapshot::open(lock.target())?;
        let (rows, last_game, levels) = (known.positions()?, known.last_game()?, known.levels()?);
        drop(known);
        let spill = directory(plan.options, lock.target());
        keep_temporary_files_in(&spill, database.connection())?;
        // The expected number of existing games whose occurrences are written again.
        let (levels, first) = (levels.into_iter().map(|games| games.level), last_game.0.saturating_add(1));
        let games = u32::try_from(plan.estimate.games).unwrap_or(u32::MAX);
        let merged =
            first.saturating_sub(level_for(levels, GameId(first), games, plan.options.small_level).0);
        // The minimum size of a row of `occurrence`, in bytes. It limits the assumed number of rows: `rows`
        // comes from the table `import`, which can state more rows than the file can contain.
        const FEWEST_BYTES_A_ROW: u64 = 12;
        let there = rows.min(file_size(lock.target()) / FEWEST_BYTES_A_ROW);
        let copied = (u128::from(there) * u128::from(merged) / u128::from(last_game.0.max(1))) as u64;
        let memory = occurrence_memory(plan.options, &plan.sources);
        let estimate = plan.estimate.with_copy(copied, database.free_bytes()?, memory);
        estimate.check(lock.target(), &spill)?;
        let intake = Intake { merged: copied, ..intake };
        let run = Run::new(plan, intake, progress, started, spill, reports)?;
        progress.estimated(&estimate);
        let write = || {
            let decreases = Decreases::compute(&run)?;
            let (games, positions) = (&run.intake.removed, decreases.positions);
            let leaving = RowsToRemove { games, positions, tails, by_user: None };
            let pages = PageTransaction::begin(database)?;
            let sink = AddedPages::new(database, lock, pages, plan.options.memory / 8, rows, leaving)?;
            run.add(sink, &decreases, replaced)
        };
        write().map_err(|error| plan.needing(error, &estimate))
    }
}

/// A sentence about a file that no longer begins with the text that was read before. `what` is the difference.
fn rewritten_note(path: &Path, what: &str, options: &IndexOptions) -> String {
    let games = match options.duplicates {
        Duplicates::Keep => "games already in the database are added once more",
        Duplicates::Skip | Duplicates::Moves => "games already in the database are skipped as duplicates",
    };
    format!(
        "{} has changed since it was indexed ({what}) and is read as a new file; its earlier games stay, and {games}",
        path.display()
    )
}

/// The options, but with the layout, the threshold and the openings of the database. Fails if another layout,
/// another threshold or other openings were requested explicitly.
fn settled(options: &IndexOptions, database: &Database) -> Result<IndexOptions> {
    let layout = database.layout();
    if let Some(given) = options.layout.filter(|&given| given != layout) {
        let database = database.path().to_owned();
        return Err(Error::OtherLayout { database, given, layout });
    }
    let continuation_threshold = database.continuation_threshold()?;
    let given = options.continuation_threshold;
    if !options.any_threshold && given != continuation_threshold {
        let database = database.path().to_owned();
        return Err(Error::OtherThreshold { database, given, threshold: continuation_threshold });
    }
    let digest: String = database.openings_digest()?;
    let given = options.openings.digest();
    let openings = if digest == given {
        Arc::clone(&options.openings)
    } else if given == OpeningBook::built_in().digest() {
        Arc::new(database.opening_book()?)
    } else {
        return Err(Error::OtherOpenings { database: database.path().to_owned() });
    };
    Ok(IndexOptions { continuation_threshold, openings, layout: Some(layout), ..options.clone() })
}

/// The parts of files to read.
#[derive(Debug, Default)]
struct Selection {
    files: Vec<source::Result<SourceFile>>,
    /// For each file, how many games and lines precede the first byte to read.
    starts: Vec<SourceStart>,
    /// The greatest id of a source in the database. The ids of `files` follow it.
    last_source: SourceId,
    /// Tails of grown files that are read again. A tail is the last game that an earlier run found, and
    /// everything after it.
    tails: Vec<Tail>,
    /// The games of these tails that the database has, each with the source and the offset at which it is read
    /// again.
    replaced: Vec<Replaced>,
    /// The number of files that are ignored because the database has their whole text.
    known_sources: u64,
    /// How many of the `known_sources` had no games when they were read.
    known_gameless: u64,
    /// Files that no longer begin with the text that was read before: a sentence each.
    rewritten: Vec<String>,
}

impl Selection {
    fn add_all(
        &mut self,
        files: Vec<source::Result<SourceFile>>,
        known: &Snapshot,
        options: &IndexOptions,
        progress: &Progress,
    ) -> Result<()> {
        let sources = known.sources()?;
        for mut file in files {
            if progress.looked_at(1, 0).is_break() {
                return Err(Error::Stopped);
            }
            let state = match &mut file {
                Ok(file) => Self::compare(file, &sources, (options, progress), known.path())?,
                Err(_) => FileState::New,
            };
            match (state, file) {
                (FileState::Unchanged, file) => {
                    let earlier = file.ok().and_then(|file| sources.latest(&file.path));
                    let is_gameless = earlier.is_some_and(|source| source.games == 0 && source.bytes > 0);
                    self.known_sources += 1;
                    self.known_gameless += u64::from(is_gameless);
                }
                (FileState::Grown(source, growth), Ok(file)) => {
                    self.add_grown(file, (&sources, source), &growth, known)?;
                }
                (FileState::Rewritten(what), Ok(file)) => {
                    self.rewritten.push(rewritten_note(&file.path, &what, options));
                    self.add(Ok(file), SourceStart::default());
                }
                (_, file) => self.add(file, SourceStart::default()),
            }
        }
        Ok(())
    }

    /// Compares the text of a file with the texts in the database. If it matches only in the encoding in which
    /// the file was indexed, sets this encoding, or fails if `any_encoding` is `false`.
    fn compare<'k>(
        file: &mut SourceFile,
        known: &'k KnownSources,
        (options, progress): (&IndexOptions, &Progress),
        database: &Path,
    ) -> Result<FileState<'k>> {
        let decode = DecodeOptions { threads: options.threads, memory: options.memory };
        let state = FileState::of(file, known, decode, progress);
        let earlier = known.latest(&file.path).filter(|source| source.games > 0);
        let encoding = earlier.map(|source| source.encoding.as_deref());
        let encoding = encoding.map(|name| name.and_then(TextEncoding::parse));
        let Some(encoding) = encoding.filter(|&encoding| encoding != options.encoding) else {
            return Ok(state);
        };
        // A byte order mark overrides any encoding.
        if matches!(state, FileState::Unchanged) || file.is_utf_16() {
            return Ok(state);
        }
        let as_indexed = file.clone().in_encoding(encoding);
        match FileState::of(&as_indexed, known, decode, progress) {
            FileState::Rewritten(_) | FileState::New => Ok(state),
            _ if !options.any_encoding => Err(Error::OtherEncoding {
                database: database.to_owned(),
                path: file.path.clone(),
                given: TextEncoding::name_or_auto(options.encoding),
                encoding: TextEncoding::name_or_auto(encoding),
            }),
            known => {
                *file = as_indexed;
                Ok(known)
            }
        }
    }

    fn add(&mut self, file: source::Result<SourceFile>, start: SourceStart) {
        self.files.push(file);
        self.starts.push(start);
    }

    fn add_grown(
        &mut self,
        mut file: SourceFile,
        (sources, source): (&KnownSources, &KnownSource),
        growth: &Growth,
        known: &Snapshot,
    ) -> Result<()> {
        let (mut place, mut games) = (growth.next_game, source.games);
        // New text before the first new game belongs to the last old game, which is therefore read again.
        if growth.continues {
            let tail = known.tail(sources, source)?;
            (place, games) = (growth.last_game, tail.games);
            let files = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
            let source = SourceId((self.last_source.0 + 1).saturating_add(files));
            let byte_offset = tail.byte_offset;
            self.replaced.extend(tail.game.map(|game| Replaced { game, source, byte_offset }));
            self.tails.push(tail);
        }
        (file.first_byte, file.is_damage_known) = (place.offset, source.is_damaged);
        let games = u32::try_from(games).unwrap_or(u32::MAX);
        self.add(Ok(file), SourceStart { games, lines: place.lines, columns: place.columns });
        Ok(())
    }
}

/// How a file compares with the texts in the database.
enum FileState<'k> {
    /// The database has the whole text of the file.
    Unchanged,
    /// The file begins with the whole text that was last read from it.
    Grown(&'k KnownSource, Growth),
    /// The file does not begin with the text that was last read from it. The value describes the difference.
    Rewritten(String),
    New,
}

impl<'k> FileState<'k> {
    fn of(file: &SourceFile, known: &'k KnownSources, decode: DecodeOptions, progress: &Progress) -> Self {
        // A stream cannot be compared before it is indexed, because it can be read only once.
        let Some(size) = file.bytes else { return Self::New };
        let earlier = known.latest(&file.path).filter(|source| source.bytes > 0);
        let longest =
            if file.is_plain() { Some(size).filter(|_| known.has_length(size)) } else { known.longest() };
        if longest.is_none() && earlier.is_none() {
            return Self::New;
        }
        let mut survey = GrowthCheck::new(earlier, longest);
        let Some(is_damaged) = read(file, decode, progress, &mut survey) else { return Self::New };
        let (whole, growth) = survey.finish();
        // The file is read although it has no new text, so that its damage is reported once.
        let is_new_damage =
            is_damaged && earlier.is_some_and(|source| !source.is_damaged) && matches!(growth, Some(Ok(_)));
        if let Some((bytes, digest)) = whole.map(|(bytes, digest)| (bytes, digest.to_hex()))
            && known.has_text(bytes, digest)
            && !is_new_damage
        {
            return Self::Unchanged;
        }
        match earlier.zip(growth) {
            None => Self::New,
            Some((source, Ok(growth))) => Self::Grown(source, growth),
            Some((_, Err(difference))) => Self::Rewritten(difference),
        }
    }
}

/// Reads the text of a file until the check is done. Returns whether the file is damaged; `None` if the check
/// has no result, because no text can be read or the run is stopped.
fn read(
    file: &SourceFile,
    options: DecodeOptions,
    progress: &Progress,
    survey: &mut GrowthCheck<'_>,
) -> Option<bool> {
    const PIECE: usize = 1 << 20;
    let mut decoded = source::open_text(file, options).ok()?;
    let (mut text, mut has_text, mut is_damaged) = (Vec::new(), false, false);
    while !survey.is_done() && !progress.is_stopped() {
        text.clear();
        let read = decoded.read(&mut text, PIECE);
        survey.take(&text);
        let _ = progress.looked_at(0, text.len() as u64);
        has_text |= !text.is_empty();
        match read {
            Ok(0) => break,
            Ok(_) => {}
            // Of a damaged archive, only the text that can be decoded is compared.
            Err(_) => is_damaged = true,
        }
    }
    ((has_text || !is_damaged) && !progress.is_stopped()).then_some(is_damaged)
}
