//! Arguments of `pgndex index`.

use crate::cli::args::ByteSize;
use crate::cli::args::Memory;
use crate::cli::args::log::LogArgs;
use crate::cli::args::parquet::{PARQUET, ParquetLayoutArgs, directory};
use crate::cli::args::within;
use clap::Args;
use clap::ValueEnum;
use pgndex::index::{Annotations, Duplicates, IndexOptions, MadeWith, Writer};
use pgndex::opening::OpeningBook;
use pgndex::source::TextEncoding;
use std::path::PathBuf;
use std::sync::Arc;

/// Index PGN files, packed or not, into a database
#[derive(Args, Debug)]
#[command(
    override_usage = "pgndex index [OPTIONS] <DB> <PGN>...\n       pgndex index [OPTIONS] --reread <DB>\n       pgndex index [OPTIONS] --parquet <DIR> <PGN>...\n       pgndex index [OPTIONS] --dry-run <PGN>..."
)]
#[command(after_help = "\
Examples:
  pgndex index games.db openings.pgn endings.pgn   two files
  pgndex index games.db twic/                      all PGN files of a directory and those below it
  pgndex index games.db lichess_db_*.pgn.zst       archives, as they are
  pgndex index games.db @files.txt                 the files listed there, one path a line
  curl -s URL | pgndex index games.db -            from standard input
  pgndex index --overwrite games.db twic/          the same, replacing what is there
  pgndex index --reread games.db                   all its files once more, with what this version keeps
  pgndex index --parquet tables/ twic/             Parquet files instead of a database
  pgndex index --dry-run --rejects bad.pgn twic/   without a database: are the games sound?

Archives (zstd, gzip, bzip2, zip) are recognised by their first bytes, not by their names. Of a zip archive all .pgn files \
are read. UTF-16 is read too. \
Byte offsets are those of the unpacked UTF-8 text. Archives are unpacked in memory. Only a text of \
tens of MiB in which no game begins goes to a temporary file.

If a game or a file cannot be read, the run reports it and goes on. A damaged archive gives the games before the \
damage. All problems are in the table `problem`. If a game lost something, or a file has text but no game, the exit \
status is 3.")]
pub(crate) struct IndexArgs {
    /// Database to make, or to add to
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// What to read: PGN files, archives, directories, patterns such as 'twic*.zip', @FILE for a list of paths, or - for
    /// standard input
    #[arg(value_name = "PGN", required_unless_present_any = ["dry_run", "reread", "parquet"])]
    pub(crate) inputs: Vec<PathBuf>,
    /// Replace the database, or the Parquet files, if there are some
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Write Parquet files into this directory, and no database
    #[arg(help_heading = PARQUET, long, value_name = "DIR", value_parser = directory())]
    #[arg(conflicts_with_all = ["reread", "dry_run"])]
    pub(crate) parquet: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) parquet_layout: ParquetLayoutArgs,
    /// Read all files that the database was made from once more, and replace it: for what an earlier version or other options
    /// left out, such as annotations
    #[arg(long, conflicts_with_all = ["inputs", "dry_run", "overwrite"])]
    pub(crate) reread: bool,
    /// With --reread: drop the games of files that are gone, cannot be read, or have become shorter. Without this option such a
    /// file is an error
    #[arg(long, requires = "reread")]
    pub(crate) drop_missing: bool,
    /// Fail if there is any error or warning; the database stays as it was
    #[arg(help_heading = WRONG, long)]
    pub(crate) strict: bool,
    /// Only read and replay the games, and write no database
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write all problems to a file as JSON, one object a line
    #[arg(help_heading = WRONG, long, value_name = "FILE")]
    pub(crate) problems: Option<PathBuf>,
    /// Write the text of all games with an error to a file, as it is in the input
    #[arg(help_heading = WRONG, long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// What to do with a game that has an error
    #[arg(help_heading = WRONG, long, value_name = "WHAT", value_enum, default_value = "keep")]
    pub(crate) on_problem: OnProblemArg,
    /// Fail, and write no database, if there are more errors than this
    #[arg(help_heading = WRONG, long, value_name = "N", value_parser = within(0..=u64::MAX))]
    pub(crate) max_problems: Option<u64>,
    #[command(flatten)]
    pub(crate) made_with: MadeWithArgs,
    /// Threads that parse and sort, at most 256 [default: one for each processor]
    #[arg(long, short = 'j', value_name = "N", value_parser = within(1..=256_u16))]
    pub(crate) threads: Option<u16>,
    /// Memory to use, such as 512M or 4G; what does not fit goes to temporary files [default: a quarter of the machine's, at
    /// most 4G]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Memory>,
    /// Directory for temporary files; they take about 20 bytes for each position [default: the database's]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
    /// Size of the pieces that input is cut into for the threads
    #[arg(long, value_name = "SIZE", hide = true)]
    pub(crate) chunk_size: Option<ByteSize>,
    /// How the two big tables are written; the rows are the same
    #[arg(long, value_name = "WRITER", hide = true, value_enum, default_value = "direct")]
    pub(crate) writer: WriterArg,
    /// Show no progress and no summary; errors are still shown
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Write one JSON object to standard output at the end, instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// What a database is made with. Additions keep to it, except for what they are given.
#[derive(Args, Clone, Debug)]
pub(crate) struct MadeWithArgs {
    /// What to do with a game that repeats an earlier one [default: skip, or as the database was made]
    #[arg(long, value_name = "RULE", value_enum)]
    duplicates: Option<DuplicatesArg>,
    /// Keep the counts for `explore` ready for positions that this many games reached [default: 64, or as the database was
    /// made]
    #[arg(long, value_name = "GAMES", value_parser = within(1..=u32::MAX))]
    continuation_threshold: Option<u32>,
    /// Which annotations to keep: what the PGN says about the moves of a game [default: all, or as the database was made]
    #[arg(long, value_name = "WHICH", value_enum)]
    annotations: Option<AnnotationsArg>,
    /// Names of openings: a TSV file with the columns eco, name and pgn, an .eco file of Scid, a PGN file with ECO and
    /// Opening tags, or a directory of such files [default: the names that Lichess gives, or as the database was made]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Encoding of the files, by a label of the WHATWG standard such as windows-1251, koi8-r, utf-16le or gbk; auto is UTF-8, and
    /// Windows-1252 for each byte that is not; a byte order mark overrides it [default: auto, or as the database was made]
    #[arg(long, value_name = "LABEL", value_parser = encoding)]
    encoding: Option<EncodingArg>,
}

/// An encoding; `None` for `auto`.
#[derive(Clone, Copy, Debug)]
struct EncodingArg(Option<TextEncoding>);

impl MadeWithArgs {
    /// These options with what is given here.
    ///
    /// # Errors
    /// When the list of openings cannot be read.
    pub(crate) fn given(&self, options: IndexOptions) -> anyhow::Result<IndexOptions> {
        let options = self.or(options, MadeWith::default());
        Ok(IndexOptions {
            continuation_threshold: self.continuation_threshold.unwrap_or(options.continuation_threshold),
            any_threshold: self.continuation_threshold.is_none(),
            openings: match &self.openings {
                Some(path) => Arc::new(OpeningBook::read(path)?),
                None => options.openings,
            },
            ..options
        })
    }

    /// These options for a database that was made with something, which counts where nothing is given.
    pub(crate) fn or(&self, options: IndexOptions, before: MadeWith) -> IndexOptions {
        IndexOptions {
            duplicates: match self.duplicates {
                Some(DuplicatesArg::Keep) => Duplicates::Keep,
                Some(DuplicatesArg::Skip) => Duplicates::Skip,
                Some(DuplicatesArg::Moves) => Duplicates::Moves,
                None => before.duplicates,
            },
            annotations: match self.annotations {
                Some(AnnotationsArg::All) => Annotations::All,
                Some(AnnotationsArg::Numbers) => Annotations::Numbers,
                Some(AnnotationsArg::None) => Annotations::None,
                None => before.annotations,
            },
            encoding: self.encoding.map_or(before.encoding, |given| given.0),
            ..options
        }
    }
}

/// Heading of the options on what is wrong with the input.
pub(crate) const WRONG: &str = "What is wrong with the input";

/// What becomes of a game with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnProblemArg {
    /// Keep its moves before the error
    Keep,
    /// Leave the game out
    Skip,
    /// Fail at the first error and write no database
    Stop,
}

/// What becomes of games that repeat an earlier one.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DuplicatesArg {
    /// Keep all games, and do not look for duplicates
    Keep,
    /// Skip a game with the same moves, players, date and result as an earlier one; the table `duplicate` names both
    Skip,
    /// Also skip a game of 20 plies or more with the same moves as an earlier one, whoever played
    Moves,
}

/// Annotations that are kept.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AnnotationsArg {
    /// Clocks, times, evaluations, comments, glyphs, commands and variations
    All,
    /// Clocks, times and evaluations of the main line
    Numbers,
    /// Moves only
    None,
}

/// Ways to write the two big tables.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WriterArg {
    /// Pages are built in the worker threads.
    Direct,
    /// SQLite inserts the rows.
    Sql,
}

impl From<WriterArg> for Writer {
    fn from(writer: WriterArg) -> Self {
        match writer {
            WriterArg::Direct => Self::Direct,
            WriterArg::Sql => Self::Sql,
        }
    }
}

/// Reads the label of an encoding.
fn encoding(label: &str) -> Result<EncodingArg, String> {
    if label == TextEncoding::AUTO {
        return Ok(EncodingArg(None));
    }
    let advice =
        "not the label of an encoding; https://encoding.spec.whatwg.org/#names-and-labels lists them";
    TextEncoding::parse(label).map(|encoding| EncodingArg(Some(encoding))).ok_or_else(|| advice.to_owned())
}
