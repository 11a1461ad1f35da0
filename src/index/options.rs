//! Options of a run, and the estimate of its output.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::opening::OpeningBook;
use crate::source::TextEncoding;
use crate::store::{Database, Layout, PlayerAlias, SourceContent};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// The maximum number of worker threads, from 1 to [`MAX_THREADS`](Self::MAX_THREADS); other values are
    /// clamped to this range. Fewer threads are started if the input has fewer chunks.
    pub threads: usize,
    /// The memory limit of the run, in bytes. Data beyond it is written to temporary files.
    pub memory: u64,
    /// The directory for temporary files. `None`: the directory of the database or of the Parquet files, or
    /// the system's directory for temporary files if the run writes neither.
    pub temp_dir: Option<PathBuf>,
    /// Whether an existing database is replaced. If not, games are added to it.
    pub overwrite: bool,
    /// Whether a run that would replace an existing database or existing Parquet files fails if it finds no
    /// game. The existing data is then kept.
    pub must_have_games: bool,
    /// Whether any problem, even a warning, makes the run fail.
    pub strict: bool,
    /// What to do with a game that has an error.
    pub on_problem: OnProblem,
    /// The maximum number of problems of severity error. If there are more, the run fails. `None`: no
    /// maximum.
    pub most_errors: Option<u64>,
    /// A file to which all problems are written as they are found: JSON, one object per line.
    pub problems: Option<PathBuf>,
    /// A file for the texts of all games with an error. The texts are unchanged, but in UTF-8 if the source
    /// had to be converted.
    pub rejects: Option<PathBuf>,
    /// What to do with games that repeat an earlier game.
    pub duplicates: Duplicates,
    /// A position gets rows in `level_position` and `level_continuation` only if at least this number of
    /// games of a level reached it. An existing database keeps its own minimum.
    pub continuation_threshold: u32,
    /// Whether an existing database is accepted if its minimum differs from `continuation_threshold`. If not,
    /// a different minimum is an error.
    pub any_threshold: bool,
    /// The layout of the database. `None`: that of an existing database, and [`Layout::Open`] for a new one.
    pub layout: Option<Layout>,
    /// Levels with at most this many games are always rewritten when games are added. Query results do not
    /// depend on this number.
    pub small_level: u32,
    /// The openings for classifying games. A game's opening is that of its last position with an opening
    /// name, whatever moves led to this position.
    pub openings: Arc<OpeningBook>,
    /// The size of the chunks of PGN text, in bytes. The result does not depend on this size.
    pub chunk_size: usize,
    /// The encoding of all sources without a byte order mark; `None`: UTF-8, or Windows-1252 for bytes that are
    /// not valid UTF-8.
    pub encoding: Option<TextEncoding>,
    /// Whether a file that the database already has is read in the encoding in which it was indexed. If not, a
    /// different `encoding` is an error.
    pub any_encoding: bool,
    /// Which annotations are stored.
    pub annotations: Annotations,
    /// The aliases of players for a new database.
    pub player_aliases: Vec<PlayerAlias>,
    /// The minimum contents of files. If a file has fewer games or bytes of text than its minimum, the run
    /// fails and writes nothing.
    pub at_least: Vec<SourceContent>,
}

/// What to do with a game that repeats an earlier game of the same run or of the existing database.
///
/// A game without moves is never a duplicate. If only one of two games can be replayed to the end, neither is a
/// duplicate of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Keep the game like any other; duplicates are not searched for.
    Keep,
    /// If start position, moves, date, result and both players are the same, skip the game, and add a row to
    /// `duplicate`. Both players must be known.
    #[default]
    Skip,
    /// Like `Skip`. Also skip a game of at least 20 plies with the same start position and moves, even if
    /// players, date or result differ.
    Moves,
}

impl Duplicates {
    /// The name of the setting in a database.
    pub(crate) const SETTING: &str = "duplicates";

    /// Parses the word for a rule; `None` if the word is unknown.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Keep, Self::Skip, Self::Moves].into_iter().find(|rule| rule.as_str() == word)
    }

    /// The word on the command line and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Skip => "skip",
            Self::Moves => "moves",
        }
    }
}

/// Which annotations are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Annotations {
    /// All: clocks, times, evaluations, comments, NAGs, commands, variations.
    #[default]
    All,
    /// Clocks, times and evaluations of the main line.
    Numbers,
    /// None.
    None,
}

impl Annotations {
    /// The name of the setting in a database.
    pub(crate) const SETTING: &str = "annotations";

    /// The word on the command line and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Numbers => "numbers",
            Self::None => "none",
        }
    }

    /// Parses the word for a value; `None` if the word is unknown.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::All, Self::Numbers, Self::None].into_iter().find(|value| value.as_str() == word)
    }
}

/// Settings of an existing database. Runs that add games to it use these settings by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseSettings {
    /// What to do with games that repeat an earlier game.
    pub duplicates: Duplicates,
    /// Which annotations are stored.
    pub annotations: Annotations,
    /// The encoding of sources without a byte order mark. `None`: as in [`IndexOptions::encoding`].
    pub encoding: Option<TextEncoding>,
}

impl DatabaseSettings {
    /// The settings of the database at this path, or the defaults if there is no database or it cannot be read.
    /// Adding to an unreadable database fails later.
    ///
    /// # Errors
    /// [`Busy`](crate::store::ErrorKind::Busy) if another program has locked it.
    pub fn read(path: &Path) -> crate::store::Result<Self> {
        let database = match Database::open_read_only(path) {
            Ok(database) => database,
            Err(error) if error.is_busy() => return Err(error),
            Err(_) => return Ok(Self::default()),
        };
        let word = |name| database.setting::<String>(name).unwrap_or_default();
        Ok(Self {
            duplicates: Duplicates::parse(&word(Duplicates::SETTING)).unwrap_or_default(),
            annotations: Annotations::parse(&word(Annotations::SETTING)).unwrap_or_default(),
            encoding: TextEncoding::parse(&word(TextEncoding::SETTING)),
        })
    }
}

/// What to do with a game that has a problem of severity error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnProblem {
    /// Keep the moves before the error, or only the tags if there are no such moves.
    #[default]
    Keep,
    /// Leave the game out of the database, but store its problems.
    Skip,
}

impl OnProblem {
    /// The word in `import.options`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Skip => "skip",
        }
    }
}

impl Default for IndexOptions {
    /// One thread per logical processor, a quarter of the machine's memory (at most 4 GiB), and chunks of 1 MiB.
    /// The continuation threshold is 64 games. The openings are the built-in list. Duplicates are skipped.
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory: default_memory(),
            temp_dir: None,
            overwrite: false,
            must_have_games: false,
            strict: false,
            on_problem: OnProblem::Keep,
            most_errors: None,
            problems: None,
            rejects: None,
            duplicates: Duplicates::default(),
            continuation_threshold: 64,
            any_threshold: true,
            layout: None,
            small_level: 1000,
            openings: OpeningBook::built_in(),
            chunk_size: 1 << 20,
            encoding: None,
            any_encoding: true,
            annotations: Annotations::default(),
            player_aliases: Vec::new(),
            at_least: Vec::new(),
        }
    }
}

impl IndexOptions {
    /// The maximum number of worker threads. Each thread has its own buffers.
    pub const MAX_THREADS: usize = 256;

    /// The number of worker threads to start for `bytes` bytes of input.
    pub(crate) fn threads_for(&self, bytes: u64) -> usize {
        let chunks = bytes.div_ceil(self.chunk_size.max(1) as u64);
        let useful = usize::try_from(chunks).unwrap_or(usize::MAX);
        self.threads.min(useful).clamp(1, Self::MAX_THREADS)
    }
}

const GIB: u64 = 1 << 30;

/// A quarter of the machine's memory, at most 4 GiB; 1 GiB if the size of the memory is unknown.
fn default_memory() -> u64 {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
    });
    total.map_or(GIB, |bytes| (bytes / 4).min(4 * GIB))
}

/// The expected output of a run, estimated from samples. Streams are not included, because their size is
/// unknown. Deviations of up to 25 percent are normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Number of games to read from all sources.
    pub games: u64,
    /// Number of plies in these games.
    pub plies: u64,
    /// Size of the PGN text to read from all sources, decompressed, in bytes.
    pub text_bytes: u64,
    /// Size of a new database or of the Parquet files, in bytes; for an existing database, the additional
    /// space that it needs.
    pub database_bytes: u64,
    /// Size of the temporary files beside the database, in bytes.
    pub beside_bytes: u64,
    /// Size of the temporary files for data beyond the memory limit, in bytes. These files are in the
    /// directory for temporary files.
    pub spill_bytes: u64,
}
