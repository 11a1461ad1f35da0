//! Plans a run: its sources and the space it needs.

pub(crate) mod space;

use std::ops::Range;
use std::path::Path;

use crate::index::error::{Error, Result};
use crate::index::estimate::Estimate;
use crate::index::options::IndexOptions;
use crate::index::progress::{Phase, Progress};
use crate::index::spill::KeyHash;
use crate::source::{self, DecodeOptions, Opened, SourceFile, Sources};
use crate::store::directory_of;

/// A run that is about to begin: its sources are listed, and the space that it needs is estimated.
#[derive(Debug)]
pub struct Plan<'o> {
    pub(crate) sources: Sources,
    pub(crate) options: &'o IndexOptions,
    pub(crate) estimate: Estimate,
    /// The number of hash bits used: all, except in tests.
    pub(crate) hash_bits: u32,
}

impl<'o> Plan<'o> {
    /// Lists the sources (files, and the files in directories), and reads samples of some of them.
    ///
    /// # Errors
    /// If none of the sources can be read, or the run is [stopped](Progress::stop).
    pub fn new<P: AsRef<Path>>(paths: &[P], options: &'o IndexOptions, progress: &Progress) -> Result<Self> {
        progress.enter(Phase::Looking);
        let decode = DecodeOptions { threads: options.threads, memory: options.memory };
        let mut sources = source::list(paths, decode, progress).ok_or(Error::Stopped)?;
        for file in sources.files.iter_mut().flatten() {
            *file = file.clone().in_encoding(options.encoding);
        }
        check_sources(&sources, options)?;
        let estimate = estimate(&sources, options);
        Ok(Self { sources, options, estimate, hash_bits: KeyHash::BITS })
    }

    /// Restricts the run to games that begin in this range of the bytes of each file (compressed bytes for
    /// archives). Adjacent ranges together contain each game exactly once, wherever they are cut;
    /// [`source::parts`] suggests where to cut.
    ///
    /// Plain files and zstd archives can be read from the middle. For other files, the range with the first
    /// byte contains all games. Places of games in an archive count from the text of the first frame that
    /// begins in the range, and lines from the first game.
    #[must_use]
    pub fn with_range(mut self, range: &Range<u64>) -> Self {
        self.sources.files.iter_mut().flatten().for_each(|file| file.restrict(range));
        self.estimate = estimate(&self.sources, self.options);
        self
    }

    /// Plans work on an existing database only, without sources. All threads are used, because there is no
    /// input from which to compute a smaller number.
    pub(crate) fn without_sources(options: &'o IndexOptions) -> Self {
        let estimate = Estimate { text_bytes: u64::MAX, ..Estimate::default() };
        Self { sources: Sources::default(), options, estimate, hash_bits: KeyHash::BITS }
    }

    /// The ignored sources and the reasons, one sentence for each source.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.sources.notes
    }

    /// If the disk is full, adds the space that the run needs to the error.
    pub(crate) fn needing(&self, error: Error, estimate: &Estimate) -> Error {
        error.needing(estimate, self.sources.bytes().is_some())
    }

    /// Fails if the database is one of the sources.
    pub(crate) fn check_target(&self, target: &Path) -> Result<()> {
        let Ok(target) = std::fs::canonicalize(target) else { return Ok(()) };
        let is_target =
            |file: &&SourceFile| std::fs::canonicalize(&file.path).is_ok_and(|path| path == target);
        match self.sources.files.iter().flatten().find(is_target) {
            Some(file) => Err(Error::SourceIsTarget { path: file.path.clone() }),
            None => Ok(()),
        }
    }
}

pub(crate) fn estimate(sources: &Sources, options: &IndexOptions) -> Estimate {
    Estimate::new(sources, occurrence_memory(options, sources), options.annotations)
}

/// The memory for occurrences, in bytes. The rest of the memory is for data without a fixed size: buffers,
/// names, SQLite.
pub(crate) fn occurrence_memory(options: &IndexOptions, sources: &Sources) -> u64 {
    let decoding = sources.files.iter().flatten().map(SourceFile::extra_memory).max().unwrap_or(0);
    // Archives whose window needs more than half of the memory are refused.
    (options.memory - decoding.min(options.memory / 2)) / 4 * 3
}

/// Fails if no source can be read.
fn check_sources(sources: &Sources, options: &IndexOptions) -> Result<()> {
    let mut reason = None;
    for file in &sources.files {
        let message =
            match file.as_ref().map_err(source::Error::full_message).and_then(|file| check(file, options)) {
                Ok(()) => return Ok(()),
                Err(message) => message,
            };
        reason.get_or_insert(message);
    }
    Err(reason.map_or_else(|| Error::NoFile(sources.notes.clone()), Error::NoSource))
}

/// Checks that at least the beginning of a source can be read. Does not read from streams.
fn check(file: &SourceFile, options: &IndexOptions) -> std::result::Result<(), String> {
    match source::open(file).map_err(|error| error.full_message())? {
        Opened::Packed(packed) if file.bytes.is_some() => {
            let decode = DecodeOptions { threads: 1, memory: options.memory };
            let mut decoded = packed.decode(decode).map_err(|error| error.full_message())?;
            let mut failure = None;
            while let Err(error) = decoded.read(&mut Vec::new(), 1) {
                failure.get_or_insert_with(|| decoded.describe(&error, 0));
            }
            failure.map_or(Ok(()), |failure| Err(format!("{}: {failure}", source::shown_path(&file.path))))
        }
        _ => Ok(()),
    }
}

/// The directory of temporary files.
pub(crate) fn directory(options: &IndexOptions, database: &Path) -> std::path::PathBuf {
    options.temp_dir.clone().unwrap_or_else(|| directory_of(database).to_owned())
}
