//! Arguments of `pgndex index` and `pgndex watch`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use pgndex::index::{Annotations, DatabaseSettings, Duplicates, IndexOptions};
use pgndex::opening::OpeningBook;
use pgndex::source::TextEncoding;
use pgndex::store::Layout;

use crate::cli::args::{
    LogArgs, PARQUET, ParquetDirectory, ParquetLayoutArgs, ReportArgs, WorkArgs, byte_size, described_one_of,
    layouts, within,
};

/// Index PGN files, compressed or not, into a database
#[derive(Args, Debug)]
#[command(
    override_usage = "pgndex index [OPTIONS] <DB> <PGN>...\n       pgndex index [OPTIONS] --reread <DB>\n       pgndex index [OPTIONS] --parquet <DIR> <PGN>...\n       pgndex index [OPTIONS] --dry-run <PGN>..."
)]
#[command(after_long_help = "\
Archives can be zstd, gzip, bzip2 or zip. All .pgn files in a zip archive are read.

If a game or a file cannot be read, the run reports it and continues; the table `problem` lists all \
problems. If some games or files could not be read completely, the exit status is 3; if no file could be \
read, it is 1.

Examples:
  pgndex index games.db twic/ lichess_db_*.pgn.zst   a directory, and compressed files
  curl -s URL | pgndex index games.db -              from standard input
  pgndex index --dry-run --rejects bad.pgn twic/     check the games, without a database")]
pub(crate) struct IndexArgs {
    /// Database to create or to add to
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// PGN files, archives or directories; - is standard input.
    ///
    /// Patterns such as 'twic*.zip' work too. @FILE is a list of paths, one per line.
    #[arg(value_name = "PGN", required_unless_present_any = ["dry_run", "reread", "parquet"])]
    pub(crate) inputs: Vec<PathBuf>,
    /// Replace an existing database or existing Parquet files
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Write Parquet files into this directory, and no database
    #[arg(help_heading = PARQUET, long, value_name = "DIR", value_parser = ParquetDirectory)]
    #[arg(conflicts_with_all = ["reread", "dry_run", "layout"])]
    pub(crate) parquet: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) parquet_layout: ParquetLayoutArgs,
    /// Read all indexed PGN files again, and replace the database.
    ///
    /// Use this option after an update of pgndex, or to apply changed settings to all games.
    #[arg(long, conflicts_with_all = ["inputs", "dry_run", "overwrite", "ParquetLayoutArgs"])]
    pub(crate) reread: bool,
    /// With --reread: drop games that can no longer be read.
    ///
    /// Without this option, a missing, unreadable or shortened file is an error.
    #[arg(hide_short_help = true, long, requires = "reread")]
    pub(crate) drop_missing: bool,
    /// Fail on any error or warning, and leave the database unchanged
    #[arg(help_heading = WRONG, long)]
    pub(crate) strict: bool,
    /// Read and replay the games, but write no database
    #[arg(long, conflicts_with_all = ["layout", "ParquetLayoutArgs"])]
    pub(crate) dry_run: bool,
    /// Write all problems to this file as JSON, one object per line
    #[arg(help_heading = WRONG, long, value_name = "FILE")]
    pub(crate) problems: Option<PathBuf>,
    /// Write the text of each game that has an error to this file
    #[arg(help_heading = WRONG, long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// What to do with a game that has an error
    #[arg(hide_short_help = true, help_heading = WRONG, long, value_name = "WHAT", value_enum, default_value = "keep")]
    pub(crate) on_problem: OnProblemArg,
    /// Fail, and leave the database unchanged, if there are more errors than this
    #[arg(hide_short_help = true, help_heading = WRONG, long, value_name = "N", value_parser = within(0..=u64::MAX))]
    pub(crate) max_problems: Option<u64>,
    #[command(flatten)]
    pub(crate) made_with: DatabaseSettingsArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// Size of the pieces of input that the threads work on
    #[arg(long, value_name = "SIZE", value_parser = byte_size, hide = true)]
    pub(crate) chunk_size: Option<u64>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// The settings of a database. A later run keeps each setting for which no option is given, but `--reread`
/// without `--annotations` stores all annotations.
#[derive(Args, Clone, Debug)]
pub(crate) struct DatabaseSettingsArgs {
    /// What to do with repeated games.
    ///
    /// [default: the database's setting, or else skip]
    #[arg(help_heading = STORED, long, value_name = "RULE", value_parser = duplicates())]
    duplicates: Option<Duplicates>,
    /// Precompute move statistics for positions reached by at least this many games.
    ///
    /// `explore` then answers immediately for these positions. [default: the database's setting, or else 64]
    #[arg(help_heading = STORED, long, value_name = "GAMES", value_parser = within(1..=u32::MAX))]
    #[arg(hide_short_help = true)]
    continuation_threshold: Option<u32>,
    /// How to store positions.
    ///
    /// compact takes about a third of the space of open. Answers and SQL queries are the same for both. [default: the database's
    /// layout, or else open]
    #[arg(help_heading = STORED, long, value_name = "LAYOUT", value_parser = layouts())]
    layout: Option<Layout>,
    /// Which annotations to store.
    ///
    /// [default: the database's setting, or else all; with `index --reread`: all]
    #[arg(help_heading = STORED, long, value_name = "WHICH", value_parser = annotations())]
    annotations: Option<Annotations>,
    /// Names of openings: a file, or a directory of files.
    ///
    /// TSV (columns eco, name, pgn), Scid's .eco, or PGN with ECO and Opening tags. [default: the database's
    /// setting, or else Lichess's names]
    #[arg(help_heading = STORED, long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Encoding of the files, such as windows-1251.
    ///
    /// A label of the WHATWG standard. auto: UTF-8, or Windows-1252 for bytes that are not valid
    /// UTF-8. A byte order mark overrides this option. [default: the database's setting, or else auto]
    #[arg(help_heading = STORED, long, value_name = "LABEL", value_parser = encoding)]
    encoding: Option<EncodingArg>,
}

/// An encoding; `None` for `auto`.
#[derive(Clone, Copy, Debug)]
struct EncodingArg(Option<TextEncoding>);

impl DatabaseSettingsArgs {
    /// `options` with the threshold, the layout and the openings that these arguments give.
    ///
    /// # Errors
    /// If the list of openings cannot be read.
    pub(crate) fn given(&self, options: IndexOptions) -> anyhow::Result<IndexOptions> {
        Ok(IndexOptions {
            continuation_threshold: self.continuation_threshold.unwrap_or(options.continuation_threshold),
            any_threshold: self.continuation_threshold.is_none(),
            layout: self.layout.or(options.layout),
            openings: match &self.openings {
                Some(path) => Arc::new(OpeningBook::read(path)?),
                None => options.openings,
            },
            ..options
        })
    }

    /// Whether an encoding is given.
    pub(crate) const fn has_encoding(&self) -> bool {
        self.encoding.is_some()
    }

    /// The given options that determine which games and annotations of a file are stored, or how its text is
    /// decoded.
    pub(crate) fn changing_games(&self) -> Vec<&'static str> {
        let options = [
            ("--duplicates", self.duplicates.is_some()),
            ("--annotations", self.annotations.is_some()),
            ("--encoding", self.encoding.is_some()),
        ];
        options.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option).collect()
    }

    /// `options` with the rule for duplicates, the annotations and the encoding that these arguments give.
    /// Any of the three that is not given is taken from `before`.
    pub(crate) fn or(&self, options: IndexOptions, before: DatabaseSettings) -> IndexOptions {
        IndexOptions {
            duplicates: self.duplicates.unwrap_or(before.duplicates),
            annotations: self.annotations.unwrap_or(before.annotations),
            encoding: self.encoding.map_or(before.encoding, |given| given.0),
            any_encoding: self.encoding.is_none(),
            ..options
        }
    }
}

/// Heading of the options that choose what is stored.
const STORED: &str = "What is stored";

/// Heading of the options for errors in the input.
pub(crate) const WRONG: &str = "Errors in the input";

/// What to do with a game that has an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnProblemArg {
    /// Keep the moves before the error
    Keep,
    /// Leave the game out
    Skip,
    /// Fail at the first error, and leave the database unchanged
    Stop,
}

/// The parser for the value of `--duplicates`: what to do with games that repeat an earlier game.
fn duplicates() -> impl TypedValueParser<Value = Duplicates> {
    described_one_of([
        ("keep", "Keep all games, and do not look for duplicates", Duplicates::Keep),
        (
            "skip",
            "Skip games with the same moves, players, date and result; the table `duplicate` lists them",
            Duplicates::Skip,
        ),
        (
            "moves",
            "Also skip games of 20 plies or more with the same moves, even if players, date or result differ",
            Duplicates::Moves,
        ),
    ])
}

/// The parser for the choice of the annotations to store.
fn annotations() -> impl TypedValueParser<Value = Annotations> {
    described_one_of([
        (
            "all",
            "Clocks, times used, evaluations, comments, other comment commands (such as [%csl]), glyphs and variations",
            Annotations::All,
        ),
        ("numbers", "Clocks, times used and evaluations of the main line", Annotations::Numbers),
        ("none", "Moves only", Annotations::None),
    ])
}

/// Parses the label of an encoding.
fn encoding(label: &str) -> Result<EncodingArg, String> {
    if label == TextEncoding::AUTO {
        return Ok(EncodingArg(None));
    }
    let advice =
        "not the label of an encoding; https://encoding.spec.whatwg.org/#names-and-labels lists all labels";
    TextEncoding::parse(label).map(|encoding| EncodingArg(Some(encoding))).ok_or_else(|| advice.to_owned())
}

/// Watch a directory and add the games of new files
#[derive(Args, Debug)]
#[command(after_long_help = "\
The command adds the files that `pgndex index games.db incoming/` would read. Files that are ready at the \
same time are added in one transaction. The command ignores files and directories whose names begin with a dot or end in .part, .tmp, \
.partial or .crdownload.

Ctrl-C or SIGTERM ends the command with status 0. Files that were not completely added are added at the next start.

Examples:
  pgndex watch games.db incoming/
  pgndex watch games.db incoming/ --once --settle 60")]
pub(crate) struct WatchArgs {
    /// Database to create or to add to
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Directory to watch, with its subdirectories
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Seconds that a file must stay unchanged before it is read
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = within(0..=86_400_u64))]
    pub(crate) settle: u64,
    /// Seconds between two scans of the directory
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = within(1..=86_400_u64))]
    pub(crate) interval: u64,
    /// Add the files that are ready, and exit.
    ///
    /// If some files changed recently, the command waits once for --settle seconds, but not if --settle exceeds 60. The exit status is the
    /// same as that of `index`.
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) made_with: DatabaseSettingsArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}
