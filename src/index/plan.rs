//! Plans a run: lists its sources, and estimates the space that it needs.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::board::Color;
use crate::index::{
    Annotations, Error, Estimate, IndexOptions, KeyHash, Phase, PlayedOccurrence, Progress, Result,
};
use crate::pgn::{Annotation, CommentReader, MoveNumbers, Reader, Token, next_boundary};
use crate::source::{self, DecodeOptions, Opened, Packed, SourceFile, Sources};
use crate::store::space::free_bytes;
use crate::store::{Layout, directory_of};

/// A run that is about to begin: its sources are listed, and the space that it needs is estimated.
#[derive(Debug)]
pub struct Plan<'o> {
    pub(crate) sources: Sources,
    pub(crate) options: &'o IndexOptions,
    pub(crate) estimate: Estimate,
    /// The number of bits of each hash that are used: all, except in tests.
    pub(crate) hash_bits: u32,
}

impl<'o> Plan<'o> {
    /// Lists the sources (files, and the files in directories and zip archives), and reads samples of some of
    /// them.
    ///
    /// # Errors
    /// If there are no sources, if none of them can be read, or if the run is [stopped](Progress::stop).
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
    /// archives). If adjacent ranges together cover a file, each game belongs to exactly one of them,
    /// wherever the ranges meet; [`source::parts`] suggests ranges.
    ///
    /// Plain files and zstd archives can be read from the middle, unless an encoding is given or a plain file is
    /// in UTF-16. For other files, the range with the first byte contains all games. In an archive, offsets of games are counted from the start of the text of
    /// the first frame that begins in the range. Lines are always counted from the first game in the range.
    #[must_use]
    pub fn with_range(mut self, range: &Range<u64>) -> Self {
        self.sources.files.iter_mut().flatten().for_each(|file| file.restrict(range));
        self.estimate = estimate(&self.sources, self.options);
        self
    }

    /// Plans a run without sources, which only changes an existing database. All threads are used, because
    /// there is no input from which to compute a smaller number.
    pub(crate) fn without_sources(options: &'o IndexOptions) -> Self {
        let estimate = Estimate { text_bytes: u64::MAX, ..Estimate::default() };
        Self { sources: Sources::default(), options, estimate, hash_bits: KeyHash::BITS }
    }

    /// Notes on the listing of the sources, one sentence each: for example, why a file is ignored.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.sources.notes
    }

    /// If the error says that the disk is full, adds the space that the run needs.
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
    let estimate = Estimate::new(sources, occurrence_memory(options, sources), options.annotations);
    if options.layout == Some(Layout::Compact) { estimate.compact() } else { estimate }
}

/// The memory for occurrences, in bytes. The rest of the memory is for data without a fixed size: buffers,
/// names, SQLite.
pub(crate) fn occurrence_memory(options: &IndexOptions, sources: &Sources) -> u64 {
    let decoding = sources.files.iter().flatten().map(SourceFile::extra_memory).max().unwrap_or(0);
    // The decoder accepts windows of up to half of the memory, and always those of up to the usual 128 MiB.
    (options.memory - decoding.min(options.memory / 2)) / 4 * 3
}

/// Fails if no source can be read.
fn check_sources(sources: &Sources, options: &IndexOptions) -> Result<()> {
    let mut reason = None;
    for file in &sources.files {
        match file.as_ref().map_err(source::Error::full_message).and_then(|file| check(file, options)) {
            Ok(()) => return Ok(()),
            Err(message) => _ = reason.get_or_insert(message),
        }
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

/// The directory for temporary files.
pub(crate) fn directory(options: &IndexOptions, database: &Path) -> PathBuf {
    options.temp_dir.clone().unwrap_or_else(|| directory_of(database).to_owned())
}

impl Estimate {
    /// The estimate for sources, with `memory` bytes for occurrences, and with these annotations stored.
    /// Streams are not counted, because their size is unknown.
    pub(crate) fn new(sources: &Sources, memory: u64, annotations: Annotations) -> Self {
        // Measured on collections with short and long headers: the tables of positions take 100 bytes per ply,
        // the other tables 250 bytes per game.
        const BYTES_A_PLY: u64 = 100;
        const BYTES_A_GAME: u64 = 250;
        const SCRATCH_A_GAME: u64 = 200;
        const BYTES_A_NUMBER: u64 = 22;
        let sample = Sample::of(sources, memory, annotations);
        let part = |of: u64, count: u64, whole: u64| {
            (u128::from(of) * u128::from(count) / u128::from(whole.max(1))) as u64
        };
        let input = sources.files.iter().flatten().filter_map(|file| file.bytes).sum();
        let read_before: u64 = sources.files.iter().flatten().map(|file| file.first_byte).sum();
        let text_bytes = part(input, sample.files_text, sample.files_bytes).saturating_sub(read_before);
        let (games, plies) =
            (part(text_bytes, sample.games, sample.bytes), part(text_bytes, sample.plies, sample.bytes));
        let number_bytes = part(text_bytes, sample.numbers, sample.bytes).saturating_mul(BYTES_A_NUMBER);
        let annotation_bytes = part(text_bytes, sample.annotation_bytes, sample.bytes);
        Self {
            games,
            plies,
            text_bytes,
            database_bytes: plies
                .saturating_mul(BYTES_A_PLY)
                .saturating_add(games.saturating_mul(BYTES_A_GAME))
                .saturating_add(number_bytes)
                .saturating_add(annotation_bytes),
            beside_bytes: games.saturating_mul(SCRATCH_A_GAME).saturating_add(annotation_bytes),
            spill_bytes: (plies + games)
                .saturating_mul(size_of::<PlayedOccurrence>() as u64)
                .saturating_sub(memory),
        }
    }

    /// The estimate for the same games in the compact layout.
    fn compact(self) -> Self {
        // Measured: `game_position` takes 80 bytes per ply, `game_moves` takes 4.
        const SAVED_A_PLY: u64 = 76;
        let saved = self.plies.saturating_mul(SAVED_A_PLY);
        Self { database_bytes: self.database_bytes.saturating_sub(saved), ..self }
    }

    /// Like [`check`](Self::check), for a new database with the open layout. If the check fails, but would
    /// succeed for the compact layout, the error says so.
    pub(crate) fn check_open(self, target: &Path, spill: &Path) -> Result<()> {
        let Err(mut error) = self.check(target, spill) else { return Ok(()) };
        let smaller = self.compact();
        if let Error::Space { compact, .. } = &mut error
            && smaller.check(target, spill).is_ok()
        {
            *compact = Some(smaller.database_bytes);
        }
        Err(error)
    }

    /// The estimate for a run that also rewrites `rows` stored rows of `occurrence`. The database has `free`
    /// free bytes, and occurrences may use `memory` bytes before they are written to temporary files.
    pub(crate) fn with_copy(self, rows: u64, free: u64, memory: u64) -> Self {
        // Measured with games of all lengths.
        const BYTES_A_ROW: u64 = 20;
        let copy = rows.saturating_mul(BYTES_A_ROW).saturating_sub(free);
        let sorted = (self.plies + self.games).saturating_add(rows);
        Self {
            database_bytes: self.database_bytes.saturating_add(copy),
            spill_bytes: sorted.saturating_mul(size_of::<PlayedOccurrence>() as u64).saturating_sub(memory),
            ..self
        }
    }

    /// Fails if there is clearly not enough free space: less than four fifths of the estimated need.
    pub(crate) fn check(&self, target: &Path, spill: &Path) -> Result<()> {
        let beside = directory_of(target);
        let mut needs = vec![(beside, self.database_bytes.saturating_add(self.beside_bytes))];
        if device(beside).is_some() && device(beside) == device(spill) {
            needs[0].1 = needs[0].1.saturating_add(self.spill_bytes);
        } else {
            needs.push((spill, self.spill_bytes));
        }
        for (directory, needed) in needs {
            if let Some(free) = free_bytes(directory).filter(|free| *free < needed / 5 * 4) {
                let directory = directory.to_owned();
                return Err(Error::Space { directory, needed, free, compact: None });
            }
        }
        Ok(())
    }
}

/// Games and plies in samples of the sources.
#[derive(Debug, Default)]
struct Sample {
    bytes: u64,
    games: u64,
    plies: u64,
    /// The number of comments with clocks, times or evaluations.
    numbers: u64,
    /// The estimated number of bytes in the tables for annotations other than clocks, times and evaluations.
    annotation_bytes: u64,
    annotations: Annotations,
    /// The maximum number of samples per file.
    places: usize,
    comments: CommentReader,
    /// The total size of the sampled files, and that of their text, in bytes.
    files_bytes: u64,
    files_text: u64,
}

impl Sample {
    const WINDOW: usize = 64 << 10;
    /// The intended number of samples from all files together. A file can contain games of different kinds:
    /// with only three samples, estimates for one file were up to 25 percent off.
    const PLACES: usize = 48;
    /// The minimum and the maximum number of samples from one file.
    const PLACES_OF_A_FILE: [usize; 2] = [3, 16];

    /// Samples at most sixteen files.
    fn of(sources: &Sources, memory: u64, annotations: Annotations) -> Self {
        const FILES: usize = 16;
        let files: Vec<&SourceFile> =
            sources.files.iter().flatten().filter(|file| file.bytes.is_some_and(|bytes| bytes > 0)).collect();
        let [least, most] = Self::PLACES_OF_A_FILE;
        let places = (Self::PLACES / files.len().clamp(1, FILES)).clamp(least, most);
        let mut sample = Self { annotations, places, ..Self::default() };
        for file in files.iter().step_by(files.len().div_ceil(FILES).max(1)) {
            let bytes = file.bytes.unwrap_or_default();
            let text = match source::open(file) {
                Ok(Opened::Mapped(map)) => {
                    sample.add_samples(map.bytes());
                    bytes
                }
                Ok(Opened::Packed(packed)) => sample.decode(packed, bytes, memory),
                Err(_) => continue,
            };
            sample.files_bytes += bytes;
            sample.files_text += text;
        }
        sample
    }

    /// Takes samples of a text.
    fn add_samples(&mut self, text: &[u8]) {
        let mut end = 0;
        for place in 0..self.places {
            let start = (text.len() / self.places * place).max(end);
            // Both searches for a boundary are limited, so that a very long game does not prolong them.
            let limit = start.saturating_add(4 * Self::WINDOW).min(text.len());
            let start = if start == 0 { 0 } else { next_boundary(&text[..limit], start - 1) };
            let limit = start.saturating_add(2 * Self::WINDOW).min(text.len());
            end = next_boundary(&text[..limit], start.saturating_add(Self::WINDOW).min(limit));
            self.add(&text[start..end]);
        }
    }

    /// Samples the beginning of an archive of `bytes` bytes. Returns the estimated size of its whole text.
    fn decode(&mut self, packed: Packed, bytes: u64, memory: u64) -> u64 {
        const TEXT: usize = 8 << 20;
        /// The size of the beginning of the text. The beginning is compressed less than later text,
        /// because there is little earlier text to which it can refer.
        const BEGINNING: usize = 2 << 20;
        /// The maximum compression ratio assumed. Games are hardly ever compressed more than this. A beginning
        /// with a higher ratio is not typical, and must not make a run fail.
        const MOST_RATIO: u128 = 30;
        let options = DecodeOptions { threads: 1, memory };
        let Ok(mut decoded) = packed.decode(options) else { return 0 };
        let (mut text, mut beginning) = (Vec::new(), None);
        while text.len() < TEXT {
            match decoded.read(&mut text, BEGINNING) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            beginning.get_or_insert((text.len(), decoded.bytes_read()));
        }
        self.add_samples(&text);
        let Some((first, first_packed)) = beginning.filter(|_| text.len() >= TEXT) else {
            return text.len() as u64;
        };
        let packed = u128::from(decoded.bytes_read().saturating_sub(first_packed).max(1));
        let rest = u128::from(bytes.saturating_sub(first_packed)) * (text.len() - first) as u128 / packed;
        (first as u128 + rest).min(u128::from(bytes) * MOST_RATIO) as u64
    }

    fn annotation(&mut self, annotation: Annotation<'_>) {
        // Measured, in bytes: the size of the row of a comment or NAG, without the text of the comment; and
        // the database space for each byte of a variation's text. Most of this space is for FENs.
        const BYTES_A_ROW: u64 = 14;
        const BYTES_A_VARIATION_BYTE: u64 = 14;
        let is_all = self.annotations == Annotations::All;
        match annotation {
            Annotation::Comment(comment) if self.annotations != Annotations::None => {
                let mut numbers = MoveNumbers::default();
                let mover = Some(Color::White);
                let text = self.comments.read(comment, mover, Some(&mut numbers), |_, _| {}).len();
                self.numbers += u64::from(!numbers.is_empty());
                self.annotation_bytes += if is_all && text > 0 { BYTES_A_ROW + text as u64 } else { 0 };
            }
            Annotation::Variation(variation) if is_all => {
                self.annotation_bytes += BYTES_A_VARIATION_BYTE * variation.length() as u64;
            }
            Annotation::Nag(_) if is_all => self.annotation_bytes += BYTES_A_ROW,
            _ => {}
        }
    }

    fn add(&mut self, text: &[u8]) {
        let mut reader = Reader::new(text);
        let (mut tags, mut problems) = (Vec::new(), Vec::new());
        self.bytes += text.len() as u64;
        while reader.next_game(&mut tags, &mut problems) {
            self.games += 1;
            self.comments.begin_game();
            loop {
                match reader.next::<true>() {
                    Token::Move(_) => self.plies += 1,
                    Token::Annotation(annotation) => self.annotation(annotation),
                    Token::Result(_) | Token::End => break,
                    _ => {}
                }
            }
        }
    }
}

#[cfg(unix)]
fn device(directory: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(directory).ok().map(|metadata| metadata.dev())
}

#[cfg(not(unix))]
fn device(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed<P: AsRef<Path>>(paths: &[P]) -> Sources {
        crate::source::list(paths, DecodeOptions { threads: 1, memory: 0 }, &()).unwrap()
    }

    fn estimate(text: &str, memory: u64) -> Estimate {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.pgn");
        std::fs::write(&path, text).unwrap();
        Estimate::new(&listed(&[path]), memory, Annotations::All)
    }

    #[test]
    fn samples_estimate_the_plies_of_a_collection() {
        let game = "[Event \"x\"]\n\n1. e4 e5 2. Nf3 {[%clk 1:00]} Nc6 (2... d6 3. d4) 3. Bb5 *\n\n";
        assert_eq!(estimate("", 0), Estimate::default());
        let one = estimate(game, 0);
        assert_eq!((one.games, one.plies, one.spill_bytes), (1, 5, 6 * 16));
        let many = estimate(&game.repeat(20_000), 0);
        assert!(many.games.abs_diff(20_000) < 20 && many.plies.abs_diff(100_000) < 100, "{many:?}");
        assert_eq!(estimate(&game.repeat(20_000), 1 << 30).spill_bytes, 0);
        let long = estimate(&format!("[Event \"x\"]\n\n{}", "Nf3 Nf6 Ng1 Ng8 ".repeat(100_000)), 0);
        assert!(long.plies > 300_000 && long.games < 20, "{long:?}");
    }

    #[test]
    fn the_text_size_of_archives_is_estimated_from_their_beginning() {
        let game = |number: u64| {
            let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!("[Event \"{mixed:x}\"]\n\n1. e4 e5 2. Nf3 {{{mixed:b}}} Nc6 3. Bb5 *\n\n")
        };
        let text: String = (0..40_000).map(game).collect();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.pgn.zst");
        std::fs::write(&path, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
        let estimate = |paths: &[&std::path::Path]| Estimate::new(&listed(paths), 0, Annotations::None);
        let one = estimate(&[&path]);
        assert!(one.text_bytes.abs_diff(text.len() as u64) < text.len() as u64 / 4, "{one:?}");
        assert!(one.games.abs_diff(40_000) < 10_000 && one.plies.abs_diff(200_000) < 50_000, "{one:?}");
        assert_eq!(estimate(&[std::path::Path::new("-")]), Estimate::default());
        assert_eq!(estimate(&[&path, std::path::Path::new("-")]), one);
    }

    #[test]
    fn insufficient_space_is_reported_before_the_run() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.db");
        let estimate = Estimate { database_bytes: u64::MAX / 2, ..Estimate::default() };
        let message = estimate.check(&target, directory.path()).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{}: about ", directory.path().display())), "{message}");
        assert!(Estimate::default().check(&target, directory.path()).is_ok());
        let estimate =
            Estimate { plies: u64::MAX / 100, database_bytes: u64::MAX / 2, ..Estimate::default() };
        let found = estimate.check_open(&target, directory.path()).unwrap_err();
        assert!(matches!(found, Error::Space { compact: Some(0..1_000_000_000), .. }), "{found:?}");
    }
}
