//! Adding sources to a database that has games.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::error::{Error, Result};
use super::graft::is_merging_quicker;
use super::lines::count_lines;
use super::options::{IndexOptions, Writer};
use super::progress::Progress;
use super::report::Reports;
use super::run::{Intake, Plan, Replaced, Run, Update, Way, digest, directory};
use super::sequence::SourceStart;
use super::summary::Summary;
use crate::board::PositionKey;
use crate::opening::OpeningBook;
use crate::pgn::next_boundary;
use crate::source::{self, DecodeOptions, Mapped, Opened, SourceFile, Sources};
use crate::store::row::SourceId;
use crate::store::{
    BulkLoader, Database, Graft, ImportId, Known, KnownSource, LastGame, LoadMode, Scratch, SourceDigest,
    WriterLock,
};

/// Adds what is new of the plan's sources to the database at `target`, in one transaction.
pub(super) fn run(mut plan: Plan<'_>, target: &Path, progress: &Progress) -> Result<Summary> {
    let started = Instant::now();
    let lock = WriterLock::acquire(target)?;
    let database = Database::open(lock.target())?;
    progress.watch(database.connection());
    database.begin_adding(plan.options.memory / 4)?;
    let known = Known::open(lock.target())?;
    let decode = DecodeOptions { threads: plan.options.threads, memory: plan.options.memory };
    let files = std::mem::take(&mut plan.sources.files);
    let selection = Selection::of(files, &known, decode, progress)?;
    let last_source = known.last_source()?;
    let import = ImportId(known.last_import()?.0 + 1);
    let (rows, visited) = (known.positions()?, known.visited_keys()?);
    drop(known);
    let Selection { files, starts, again, known_sources } = selection;
    let replaced = replaced(&again, last_source);
    let options = settled(plan.options, &database)?;
    let sources = Sources { files, ..Sources::default() };
    let plan = Plan { sources, options: &options, estimate: plan.estimate };
    let reports = Reports::create(&options, &plan.sources, last_source, Some(lock.target()))?;
    let mut summary = Summary { added: true, ..Summary::default() };
    if !plan.sources.files.is_empty() {
        progress.expect(plan.sources.bytes().unwrap_or(0));
        let spill = directory(plan.options, lock.target());
        let new_rows = plan.estimate.plies + plan.estimate.games;
        let copied = if is_merging_quicker(rows, new_rows) { rows } else { 0 };
        plan.estimate.with_copy(copied, database.free_bytes()?).check(lock.target(), &spill)?;
        let target = Some(lock.target().to_owned());
        let removed = replaced.iter().map(|replaced| replaced.game).collect();
        let intake = Intake { sources: &plan.sources, starts, last_source, import, target, removed };
        let run = Run::new(&plan, intake, progress, started, spill, reports)?;
        let threshold = options.continuation_threshold;
        let update = Update { visited: &visited, threshold, removed: &[], replaced: &replaced };
        let graft = match options.writer {
            Writer::Direct => Graft::begin(&database)?,
            Writer::Sql => None,
        };
        summary = if let Some(graft) = graft {
            let scratch = Scratch::create(&lock, "headers", options.memory / 8)?;
            run.load_grafted(graft, &database, scratch, rows, update, |loader| remove(loader, &again))?
        } else {
            let loader = BulkLoader::begin(database.connection(), database.path(), LoadMode::Append)?;
            let removed = remove(&loader, &again)?;
            run.load(loader, Way::Added(&Update { removed: &removed, ..update }))?.0
        };
    }
    let syncing = Instant::now();
    database.end_adding()?;
    summary.stages.sync = syncing.elapsed();
    summary.known_sources = known_sources;
    summary.file_bytes = std::fs::metadata(lock.target()).map_or(0, |metadata| metadata.len());
    summary.elapsed = started.elapsed();
    Ok(summary)
}

/// Removes the games that are read again. Gives back the keys of their positions.
fn remove(loader: &BulkLoader<'_>, again: &[(usize, LastGame)]) -> Result<Vec<PositionKey>> {
    let mut removed = Vec::new();
    for (_, last) in again {
        match last.game {
            Some(game) => removed.extend(loader.remove_game(game)?),
            None => loader.remove_duplicate(last.source, last.byte_offset)?,
        }
    }
    Ok(removed)
}

/// The games that are removed, and where they are read again.
fn replaced(again: &[(usize, LastGame)], last_source: SourceId) -> Vec<Replaced> {
    let replaced = |&(file, LastGame { byte_offset, game, .. }): &(usize, LastGame)| {
        let source = SourceId(last_source.0 + 1 + u32::try_from(file).unwrap_or(u32::MAX));
        game.map(|game| Replaced { game, source, byte_offset })
    };
    again.iter().filter_map(replaced).collect()
}

/// The options with those things set that the database was made with.
fn settled(options: &IndexOptions, database: &Database) -> Result<IndexOptions> {
    let continuation_threshold = database.setting("continuation_threshold")?;
    let digest: String = database.setting("openings")?;
    let given = options.openings.digest();
    let openings = if digest == given {
        Arc::clone(&options.openings)
    } else if given == OpeningBook::built_in().digest() {
        Arc::new(database.opening_book()?)
    } else {
        return Err(Error::OtherOpenings { database: database.path().to_owned() });
    };
    Ok(IndexOptions { continuation_threshold, openings, ..options.clone() })
}

/// What is to be read of some files.
#[derive(Debug, Default)]
struct Selection {
    files: Vec<source::Result<SourceFile>>,
    /// Of each file.
    starts: Vec<SourceStart>,
    /// Games that were cut off where their files ended, and are read again, with the numbers of these files, from 0.
    again: Vec<(usize, LastGame)>,
    /// How many files are left out because the database has them.
    known_sources: u64,
}

impl Selection {
    fn of(
        files: Vec<source::Result<SourceFile>>,
        known: &Known,
        decode: DecodeOptions,
        progress: &Progress,
    ) -> Result<Self> {
        let sources = known.sources()?;
        let mut selection = Self::default();
        for file in files {
            if progress.is_stopped() {
                return Err(Error::Stopped);
            }
            let standing = match &file {
                Ok(file) => Standing::of(file, &sources, decode, progress),
                Err(_) => Standing::New,
            };
            match (standing, file) {
                (Standing::Known, _) => selection.known_sources += 1,
                (Standing::Grown(grown), Ok(file)) => selection.add_grown(file, &grown, known)?,
                (_, file) => selection.add(file, SourceStart::default()),
            }
        }
        Ok(selection)
    }

    fn add(&mut self, file: source::Result<SourceFile>, start: SourceStart) {
        self.files.push(file);
        self.starts.push(start);
    }

    fn add_grown(&mut self, mut file: SourceFile, grown: &Grown, known: &Known) -> Result<()> {
        let text = grown.map.bytes();
        let boundary = next_boundary(text, grown.read - 1);
        let last_game = known.last_game_of(&file.path.to_string_lossy())?;
        let (mut first_byte, mut games) = (boundary, grown.games);
        // What follows before the next game belongs to the one that was the last.
        if let Some(last) = last_game
            && !text[grown.read..boundary].trim_ascii().is_empty()
        {
            self.again.push((self.files.len(), last));
            games = games.saturating_sub(1);
            first_byte = usize::try_from(last.byte_offset).unwrap_or(usize::MAX).min(grown.read);
        }
        file.first_byte = first_byte as u64;
        let lines = count_lines(text, 0..first_byte);
        self.add(Ok(file), SourceStart { games, lines });
        Ok(())
    }
}

/// How a file stands to what the database has.
enum Standing {
    /// All of it is there.
    Known,
    /// It begins with all that was read of it before.
    Grown(Grown),
    New,
}

/// A file that grew.
struct Grown {
    map: Mapped,
    /// How much of it was read before, in bytes.
    read: usize,
    /// Games that were found in it.
    games: u32,
}

impl Standing {
    fn of(file: &SourceFile, known: &[KnownSource], decode: DecodeOptions, progress: &Progress) -> Self {
        // A stream can be read only once.
        let Some(size) = file.bytes.filter(|_| !known.is_empty()) else { return Self::New };
        if !file.is_plain() {
            let text = decoded(file, decode, progress);
            let is_known = |(bytes, digest): (u64, String)| {
                known.iter().any(|source| source.bytes == bytes && source.digest == digest)
            };
            return if text.is_some_and(is_known) { Self::Known } else { Self::New };
        }
        let same_size: Vec<_> = known.iter().filter(|source| source.bytes == size).collect();
        let earlier =
            known.iter().rfind(|source| source.path == file.path && (1..size).contains(&source.bytes));
        if same_size.is_empty() && earlier.is_none() {
            return Self::New;
        }
        let Ok(map) = Mapped::open(&file.path) else { return Self::New };
        let digest_of = |bytes: u64| {
            let end = usize::try_from(bytes).unwrap_or(usize::MAX).min(map.bytes().len());
            digest(&map, end, || progress.is_stopped()).map(SourceDigest::to_hex)
        };
        if !same_size.is_empty()
            && let Some(digest) = digest_of(size)
            && same_size.iter().any(|source| source.digest == digest)
        {
            return Self::Known;
        }
        match earlier {
            Some(source) if digest_of(source.bytes).is_some_and(|digest| digest == source.digest) => {
                let read = usize::try_from(source.bytes).unwrap_or(usize::MAX);
                let games = u32::try_from(source.games).unwrap_or(u32::MAX);
                Self::Grown(Grown { map, read, games })
            }
            _ => Self::New,
        }
    }
}

/// Size and digest of the text of an archive; `None` if it is damaged or somebody asks to stop.
fn decoded(file: &SourceFile, options: DecodeOptions, progress: &Progress) -> Option<(u64, String)> {
    const BLOCK: usize = 1 << 20;
    let Ok(Opened::Packed(packed)) = source::open(file) else { return None };
    let mut decoded = packed.decode(options).ok()?;
    let (mut hasher, mut bytes, mut text) = (blake3::Hasher::new(), 0, Vec::new());
    loop {
        text.clear();
        let read = decoded.read(&mut text, BLOCK).ok()?;
        if read == 0 {
            return Some((bytes, SourceDigest(*hasher.finalize().as_bytes()).to_hex()));
        }
        if progress.is_stopped() {
            return None;
        }
        bytes += read as u64;
        hasher.update(&text);
    }
}
