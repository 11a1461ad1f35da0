//! Restores games that were skipped as duplicates of games that are being removed.

use std::path::PathBuf;

use serde_json::Value;

use crate::id::SourceId;
use crate::index::number::SourceStart;
use crate::index::{Annotations, Duplicates, Error, IndexOptions, OnProblem, Progress, Result};
use crate::source::{self, DecodeOptions, Decoded, Finder, SourceFile, TextEncoding};
use crate::store::{SkippedDuplicate, SkippedSource};

/// Skipped duplicates that could not be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostDuplicates {
    /// The file that contains or contained the games.
    pub path: PathBuf,
    /// The number of games.
    pub games: u64,
    /// Why the games cannot be restored from this file.
    pub reason: String,
}

/// The options with which a run read its games.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOptions {
    pub(crate) duplicates: Duplicates,
    pub(crate) annotations: Annotations,
    /// Whether games with errors were omitted.
    pub(crate) leaves_out: bool,
}

impl ReadOptions {
    /// Parses the options of a run, a JSON object.
    fn of(options: &str) -> Self {
        let options: Value = serde_json::from_str(options).unwrap_or_default();
        let word = |name: &str| options.get(name).and_then(Value::as_str).unwrap_or_default();
        Self {
            duplicates: Duplicates::parse(word("duplicates")).unwrap_or_default(),
            annotations: Annotations::parse(word("annotations")).unwrap_or_default(),
            leaves_out: word("on_problem") == OnProblem::Skip.as_str(),
        }
    }
}

/// The games to restore, file by file, and the games that cannot be restored.
#[derive(Debug, Default)]
pub(crate) struct RestoredGames {
    /// The files, with the games to restore.
    files: Vec<(SourceFile, SkippedSource)>,
    pub(crate) lost: Vec<LostDuplicates>,
}

impl RestoredGames {
    /// Finds the files that exist.
    pub(crate) fn find(sources: Vec<SkippedSource>) -> Self {
        let finder = Finder::default();
        Self::of(sources, |source| finder.find(&source.path).map_err(|error| error.full_message()))
    }

    /// Finds the files that still begin with the text that was indexed. To check a file, reads this whole text.
    pub(crate) fn open(
        sources: Vec<SkippedSource>,
        options: &IndexOptions,
        progress: &Progress,
    ) -> Result<Self> {
        let finder = Finder::default();
        let restored = Self::of(sources, |source| same_file(source, &finder, options, progress));
        progress.check()?;
        Ok(restored)
    }

    /// Calls `find` with each source. `find` returns the file of the source, or the reason why it cannot be
    /// used.
    fn of(
        sources: Vec<SkippedSource>,
        find: impl Fn(&SkippedSource) -> std::result::Result<SourceFile, String>,
    ) -> Self {
        let mut restored = Self::default();
        for source in sources {
            match find(&source) {
                Ok(file) => restored.files.push((file, source)),
                Err(reason) => {
                    let games = source.games.len() as u64;
                    restored.lost.push(LostDuplicates { path: source.path, games, reason });
                }
            }
        }
        restored
    }

    /// The games to restore, each with its source.
    pub(crate) fn games(&self) -> impl Iterator<Item = (SourceId, &SkippedDuplicate)> {
        self.files.iter().flat_map(|(_, source)| source.games.iter().map(|game| (source.id, game)))
    }

    /// For each game, the number of games and the number of lines before it in its source.
    pub(crate) fn starts(&self) -> Vec<SourceStart> {
        let start = |(_, game): (_, &SkippedDuplicate)| SourceStart {
            games: game.game_number.saturating_sub(1),
            lines: game.line.saturating_sub(1),
            columns: 0,
        };
        self.games().map(start).collect()
    }

    /// For each game: its source, its offset in the source's text, and its number in the source.
    pub(crate) fn places(&self) -> Vec<(SourceId, u64, u32)> {
        self.games().map(|(source, game)| (source, game.byte_offset, game.game_number)).collect()
    }

    /// Calls `see` with each game to restore: its source, the options of the run that read the source, the
    /// game's offset in the source, and its text.
    pub(crate) fn for_each(
        &self,
        options: &IndexOptions,
        mut see: impl FnMut(&SkippedSource, ReadOptions, u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        for (file, source) in &self.files {
            let rules = ReadOptions::of(&source.options);
            let changed = |message| Error::NoSource(format!("{}: {message}", file.path.display()));
            let mut text = Text::open(file, options).map_err(changed)?;
            for &SkippedDuplicate { byte_offset, byte_length, .. } in &source.games {
                see(source, rules, byte_offset, text.piece(byte_offset, byte_length).map_err(changed)?)?;
            }
        }
        Ok(())
    }
}

/// The file of a source, if it still begins with the text that was indexed; otherwise the reason why it cannot
/// be used.
fn same_file(
    source: &SkippedSource,
    finder: &Finder,
    options: &IndexOptions,
    progress: &Progress,
) -> std::result::Result<SourceFile, String> {
    const PIECE: u64 = 1 << 20;
    let changed = || "it has changed since it was indexed".to_owned();
    if progress.is_stopped() {
        return Err(changed()); // The caller fails with `Error::Stopped`.
    }
    let Some((bytes, digest)) = &source.text else {
        return Err("it could not be read completely when it was indexed".to_owned());
    };
    let file = finder.find(&source.path).map_err(|error| error.full_message())?;
    let file = file.in_encoding(source.encoding.as_deref().and_then(TextEncoding::parse));
    let mut text = Text::open(&file, options)?;
    let mut hasher = blake3::Hasher::new();
    let mut offset = 0;
    while offset < *bytes && !progress.is_stopped() {
        let length = PIECE.min(*bytes - offset);
        hasher.update(text.piece(offset, length).map_err(|_| changed())?);
        offset += length;
    }
    if hasher.finalize().to_hex().as_str() == digest { Ok(file) } else { Err(changed()) }
}

/// The text of a file, from which parts are read in order.
struct Text {
    decoded: Decoded,
    /// Decoded text that has not been dropped yet, and its offset in the whole text.
    window: Vec<u8>,
    start: u64,
}

impl Text {
    fn open(file: &SourceFile, options: &IndexOptions) -> std::result::Result<Self, String> {
        let decode = DecodeOptions { threads: 1, memory: options.memory };
        let decoded = source::open_text(file, decode).map_err(|error| error.full_message())?;
        Ok(Self { decoded, window: Vec::new(), start: 0 })
    }

    /// Reads a part of the text. This part must not begin before the part that was read last.
    fn piece(&mut self, offset: u64, length: u64) -> std::result::Result<&[u8], String> {
        const PIECE: usize = 1 << 20;
        loop {
            let begin = offset - self.start;
            if begin + length <= self.window.len() as u64 {
                return Ok(&self.window[begin as usize..(begin + length) as usize]);
            }
            let passed = usize::try_from(begin).unwrap_or(usize::MAX).min(self.window.len());
            self.window.drain(..passed);
            self.start += passed as u64;
            match self.decoded.read(&mut self.window, PIECE) {
                Ok(0) => return Err("it is shorter than when it was indexed".to_owned()),
                Ok(_) => {}
                Err(error) => return Err(self.decoded.describe(&error, self.start)),
            }
        }
    }
}
