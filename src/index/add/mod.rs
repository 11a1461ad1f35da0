//! Adds sources to an existing database.

pub(crate) mod growth;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::index::add::growth::{EarlierReading, Growth, GrowthCheck, PrefixCheck};
use crate::index::number::SourceStart;
use crate::index::plan::{Plan, directory, estimate, occurrence_memory};
use crate::index::run::{Intake, Run};
use crate::index::visited_position::{Decreases, Removed};
use crate::index::{Duplicates, Error, IndexOptions, Phase, Progress, Reports, Result, Summary};
use crate::opening::OpeningBook;
use crate::source::{self, DecodeOptions, Opened, SearchObserver as _, SourceFile, Sources, TextEncoding};
use crate::store::row::SourceId;
use crate::store::sink::{AddedPages, Replaced};
use crate::store::write::level::games_to_merge;
use crate::store::write::remove::{Reason, RowsToRemove};
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
    let selection = Selection::of(files, &known, plan.options, progress)?;
    let last_source = known.last_source()?;
    let import = ImportId(known.last_import()?.0 + 1);
    drop(known);
    let Selection { files, starts, again, known_sources, known_gameless, rewritten } = selection;
    let replaced = replaced(&again, last_source);
    let options = settled(plan.options, &database)?;
    let sources = Sources { files, ..Sources::default() };
    // The estimate does not include sources that the database already has.
    let estimate = estimate(&sources, &options);
    let plan = Plan { sources, options: &options, estimate, ..plan };
    let reports = Reports::create(&options, &plan.sources, last_source, Some(lock.target()))?;
    let mut summary = Summary { added: true, ..Summary::default() };
    if !plan.sources.files.is_empty() {
        let tails: Vec<Tail> = again.into_iter().map(|(_, tail)| tail).collect();
        let target = Some(lock.target().to_owned());
        let removed: GameSet = replaced.iter().map(|replaced| replaced.game).collect();
        let has_known = known_sources > 0;
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
    (summary.known_sources, summary.known_gameless) = (known_sources, known_gameless);
    summary.rewritten = rewritten.iter().map(|(path, what)| rewritten_note(path, what, &options)).collect();
    summary.file_bytes = std::fs::metadata(lock.target()).map_or(0, |metadata| metadata.len());
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
        let (rows, last_game) = (known.positions()?, known.last_game()?);
        drop(known);
        let spill = directory(plan.options, lock.target());
        keep_temporary_files_in(&spill, database.connection())?;
        let merged =
            games_to_merge(&database.levels()?, last_game, plan.estimate.games, plan.options.small_level);
        // The minimum size of a row of `occurrence`, in bytes. It limits the assumed number of rows: `rows`
        // comes from the table `import`, which can state more rows than the file can contain.
        const FEWEST_BYTES_A_ROW: u64 = 12;
        let file_bytes = std::fs::metadata(lock.target()).map_or(0, |metadata| metadata.len());
        let there = rows.min(file_bytes / FEWEST_BYTES_A_ROW);
        let copied = (u128::from(there) * u128::from(merged) / u128::from(last_game.0.max(1))) as u64;
        let memory = occurrence_memory(plan.options, &plan.sources);
        let estimate = plan.estimate.with_copy(copied, database.free_bytes()?, memory);
        estimate.check(lock.target(), &spill)?;
        let intake = Intake { merged: copied, ..intake };
        let run = Run::new(plan, intake, progress, started, spill, reports)?;
        progress.estimated(&estimate);
        let write = || {
            let (games, threshold) = (&run.intake.removed, plan.options.continuation_threshold);
            let (target, pool) = (lock.target(), &run.pool);
            let decreases = Decreases::compute(Removed { target, games, threshold, pool, progress })?;
            let (positions, reason) = (decreases.positions, Reason::ReadAgain(tails));
            let leaving = RowsToRemove { games, positions, reason };
            let pages = PageTransaction::begin(database)?;
            let sink = AddedPages::new(database, lock, pages, plan.options.memory / 8, rows, leaving)?;
            run.add(sink, &decreases, replaced)
        };
        write().map_err(|error| plan.needing(error, &estimate))
    }
}

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

/// The removed games, each with the source and the offset at which it is read again.
fn replaced(again: &[(usize, Tail)], last_source: SourceId) -> Vec<Replaced> {
    let replaced = |(file, Tail { byte_offset, game, .. }): &(usize, Tail)| {
        let source = SourceId((last_source.0 + 1).saturating_add(u32::try_from(*file).unwrap_or(u32::MAX)));
        game.map(|game| Replaced { game, source, byte_offset: *byte_offset })
    };
    again.iter().filter_map(replaced).collect()
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
    /// Tails of grown files that are read again, each with the index of its file. A tail is the last game
    /// that an earlier run found, and everything after it.
    again: Vec<(usize, Tail)>,
    /// The number of files that are ignored because the database has their whole text.
    known_sources: u64,
    /// How many of them had no games when they were read.
    known_gameless: u64,
    /// Files that no longer begin with the text that was read before, each with a description of the
    /// difference.
    rewritten: Vec<(PathBuf, String)>,
}

impl Selection {
    fn of(
        files: Vec<source::Result<SourceFile>>,
        known: &Snapshot,
        options: &IndexOptions,
        progress: &Progress,
    ) -> Result<Self> {
        let sources = known.sources()?;
        let mut selection = Self::default();
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
                    selection.known_sources += 1;
                    selection.known_gameless += u64::from(is_gameless);
                }
                (FileState::Grown(source, growth), Ok(file)) => {
                    selection.add_grown(file, (&sources, source), &growth, known)?;
                }
                (FileState::Rewritten(what), Ok(file)) => {
                    selection.rewritten.push((file.path.clone(), what));
                    selection.add(Ok(file), SourceStart::default());
                }
                (_, file) => selection.add(file, SourceStart::default()),
            }
        }
        Ok(selection)
    }

    /// Compares a file with the texts in the database. If it is known in the encoding in which it was
    /// indexed, sets this encoding, because its text would be another one otherwise.
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
            self.again.push((self.files.len(), tail));
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
        // A stream cannot be compared first, because it can be read only once.
        let Some(size) = file.bytes else { return Self::New };
        let earlier = known.latest(&file.path).filter(|source| source.bytes > 0);
        let longest =
            if file.is_plain() { Some(size).filter(|_| known.has_length(size)) } else { known.longest() };
        if longest.is_none() && earlier.is_none() {
            return Self::New;
        }
        let reading = earlier.map(|source| EarlierReading {
            bytes: source.bytes,
            digest: &source.digest,
            last_game: source.last_game,
        });
        let mut survey = GrowthCheck::new(reading, longest);
        let Some(is_damaged) = read(file, decode, progress, &mut survey) else { return Self::New };
        let (whole, beginning) = survey.finish();
        // The file is read although it has no new text, so that its damage is reported once.
        let is_new_damage = is_damaged
            && earlier.is_some_and(|source| !source.is_damaged)
            && matches!(beginning, Some(PrefixCheck::Same(_)));
        if let Some((bytes, digest)) = whole.map(|(bytes, digest)| (bytes, digest.to_hex()))
            && known.has_text(bytes, digest)
            && !is_new_damage
        {
            return Self::Unchanged;
        }
        let Some((source, beginning)) = earlier.zip(beginning) else { return Self::New };
        match beginning {
            PrefixCheck::Same(growth) => Self::Grown(source, growth),
            PrefixCheck::Other => Self::Rewritten("it begins differently".to_owned()),
            PrefixCheck::Shorter(bytes) => {
                Self::Rewritten(format!("{bytes} bytes of text instead of {}", source.bytes))
            }
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
    let mut decoded = match source::open(file) {
        Ok(Opened::Mapped(map)) => {
            for (index, piece) in map.bytes().chunks(PIECE).enumerate() {
                if survey.is_done() || progress.looked_at(0, piece.len() as u64).is_break() {
                    break;
                }
                survey.take(piece);
                map.release(index * PIECE..index * PIECE + piece.len());
            }
            return (!progress.is_stopped()).then_some(false);
        }
        Ok(Opened::Packed(packed)) => packed.decode(options).ok()?,
        Err(_) => return None,
    };
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
