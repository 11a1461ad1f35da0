//! What a run is asked to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::opening::OpeningBook;
use crate::source::TextEncoding;
use crate::store::{Database, PlayerAlias, SourceContent};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// Worker threads, 1 to [`MAX_THREADS`](Self::MAX_THREADS); a number beyond is taken for the nearest of these. No more are
    /// started than there are chunks.
    pub threads: usize,
    /// Memory for the run, in bytes. What does not fit goes to temporary files.
    pub memory: u64,
    /// Directory for temporary files; `None` is the database's.
    pub temp_dir: Option<PathBuf>,
    /// Whether an existing database may be replaced.
    pub overwrite: bool,
    /// Whether it stays, and the run fails, if no game is found.
    pub must_have_games: bool,
    /// Whether any problem, even a warning, makes the run fail.
    pub strict: bool,
    /// What becomes of a game with an error.
    pub on_problem: OnProblem,
    /// The most problems of severity error that the input may have; one more makes the run fail.
    pub most_errors: Option<u64>,
    /// A file for all problems, while they are found: JSON, one object a line.
    pub problems: Option<PathBuf>,
    /// A file for the text of all games with an error, as it stands in its source.
    pub rejects: Option<PathBuf>,
    /// What becomes of games that repeat an earlier one.
    pub duplicates: Duplicates,
    /// How many games must have reached a position for it to be kept in `visited_position` and `continuation`. A database that is
    /// added to goes on with its own number.
    pub continuation_threshold: u32,
    /// Whether that number may be another one; else it is an error.
    pub any_threshold: bool,
    /// Up to how many games a level of `occurrence` is written anew with each addition. Answers do not depend on it.
    pub small_level: u32,
    /// The openings that games are classified by: a game's is the last of its positions that has a name, whatever the order
    /// of moves.
    pub openings: Arc<OpeningBook>,
    /// Size of the pieces that PGN text is cut into, in bytes. The result does not depend on it.
    pub chunk_size: usize,
    /// The encoding of all sources that do not begin with a byte order mark; `None` is UTF-8 or, byte by byte, Windows-1252.
    pub encoding: Option<TextEncoding>,
    /// Which annotations are kept.
    pub annotations: Annotations,
    /// What a new database says of players with several names.
    pub player_aliases: Vec<PlayerAlias>,
    /// What files must still have at least. If one has fewer games or bytes, the run fails and writes nothing.
    pub at_least: Vec<SourceContent>,
    /// How the two big tables are written. The result does not depend on it, but for the layout of pages.
    pub writer: Writer,
}

/// What becomes of a game that repeats an earlier one, of the same run or of the database that is added to.
///
/// A game without moves repeats none, and of two games both or neither can be replayed to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// It is kept like any other; nobody looks for such games.
    Keep,
    /// It is skipped, and noted down in `duplicate`, if moves, date, result and both players, who must be known, are the same.
    #[default]
    Skip,
    /// It is also skipped if it has at least 20 plies and the same moves, whoever played.
    Moves,
}

impl Duplicates {
    /// The name of the setting in a database.
    pub(crate) const SETTING: &str = "duplicates";

    /// The rule that the word means.
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

/// Which annotations are kept: what a PGN says about the moves of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Annotations {
    /// All: clocks, times, evaluations, comments, glyphs, commands, variations.
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

    const ALL: [Self; 3] = [Self::All, Self::Numbers, Self::None];

    /// The word on the command line and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Numbers => "numbers",
            Self::None => "none",
        }
    }

    /// The value that the word means.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|value| value.as_str() == word)
    }
}

/// What a database was made with, and additions go on with unless they say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MadeWith {
    /// What becomes of games that repeat an earlier one.
    pub duplicates: Duplicates,
    /// Which annotations are kept.
    pub annotations: Annotations,
    /// The encoding of sources without a byte order mark.
    pub encoding: Option<TextEncoding>,
}

impl MadeWith {
    /// What the database with this path was made with. The default if there is none, or if it cannot be read: adding to it fails then.
    ///
    /// # Errors
    /// [`Busy`](crate::store::Error::Busy) if another program has locked it.
    pub fn of(path: &Path) -> crate::store::Result<Self> {
        let database = match Database::open_read_only(path) {
            Ok(database) => database,
            Err(error @ crate::store::Error::Busy { .. }) => return Err(error),
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

/// A way to write the tables `game_position` and `position_game`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writer {
    /// Build the pages in the workers.
    #[default]
    Direct,
    /// Let SQLite insert the rows.
    Sql,
}

/// What becomes of a game with a problem of severity error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnProblem {
    /// The moves before the error are kept, or if there are none, the tags.
    #[default]
    Keep,
    /// It is left out of the database; its problems are not.
    Skip,
}

impl OnProblem {
    /// The word that `import.options` has.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Skip => "skip",
        }
    }
}

impl Default for IndexOptions {
    /// One thread per core, a quarter of the machine's memory (at most 4 GiB), continuations from 64 games on, the built-in
    /// openings, duplicates skipped, chunks of 1 MiB.
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
            small_level: 1000,
            openings: OpeningBook::built_in(),
            chunk_size: 1 << 20,
            encoding: None,
            annotations: Annotations::default(),
            player_aliases: Vec::new(),
            at_least: Vec::new(),
            writer: Writer::default(),
        }
    }
}

impl IndexOptions {
    /// The most worker threads: each has buffers of its own.
    pub const MAX_THREADS: usize = 256;

    /// The worker threads to be started for so much input.
    pub(crate) fn threads_for(&self, bytes: u64) -> usize {
        let chunks = bytes.div_ceil(self.chunk_size.max(1) as u64);
        let useful = usize::try_from(chunks).unwrap_or(usize::MAX);
        self.threads.min(useful).clamp(1, Self::MAX_THREADS)
    }
}

const GIB: u64 = 1 << 30;

/// A quarter of the machine's memory, at most 4 GiB; 1 GiB where the system does not tell.
fn default_memory() -> u64 {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
    });
    total.map_or(GIB, |bytes| (bytes / 4).min(4 * GIB))
}
