//! Arguments of `pgndex export`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use pgndex::query::{PositionSequence, Positions, Sample, WantedPositions};
use pgndex::store::HitOrder;

use crate::cli::args::{
    FilterArgs, ParquetDirectory, ParquetLayoutArgs, PositionArgs, SequenceArgs, WHICH, order, within,
};
use crate::cli::error::wrong_value;

/// Write chosen games as PGN or CSV, or their positions as FEN, EPD or CSV
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("target").args(["output", "parquet"]))]
#[command(after_long_help = "\
Without filters all games are written. pgn is PGN's export format, with all annotations unless --plain is \
given. A game with missing moves has the tag Truncated. csv has a row for each game, with its moves. epd has \
the full-move number, the half-move clock, game and ply, and the move played. csv-positions has the move \
played, the result, the ratings, and the PGN's evaluation from White's point of view.

With a description (--ending, --move and so on), games with a matching position are written. fen, epd and \
csv-positions then write one position per game, the one that `find` shows. Otherwise they write all \
positions, or those chosen by --ply or --last.

With --sample, each game is equally likely to be chosen, and so is each position within a game.

The file appears when it is complete. If no game matches, no file is written or changed, and the exit status \
is 0.

Examples:
  pgndex export games.db -f pgn --player carlsen --since 2019 --output carlsen.pgn
  pgndex export games.db -f csv-positions --sample 10000 --ply 16- --evaluated --output training.csv
  pgndex export games.db --parquet tables/ --speed blitz --partition-by year")]
pub(crate) struct ExportArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) format: ExportFormatArgs,
    /// Write moves only: no comments, glyphs, variations, clocks or evaluations
    #[arg(long, hide_short_help = true)]
    pub(crate) plain: bool,
    /// Write clocks, times and evaluations as [%clk], [%emt] and [%eval].
    ///
    /// These comment commands replace the notation of the original PGN.
    #[arg(long, hide_short_help = true, conflicts_with = "plain")]
    pub(crate) normalize: bool,
    /// Order of the games.
    ///
    /// rating is the players' mean rating, highest first; date begins with the latest.
    #[arg(long, value_name = "ORDER", value_parser = order(), default_value = "game", conflicts_with = "sql")]
    pub(crate) sort: HitOrder,
    /// Number of games to write; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    #[command(flatten)]
    described: SequenceArgs<true>,
    /// Only the last position of each game
    #[arg(long)]
    last: bool,
    /// Only positions with an evaluation
    #[arg(long, hide_short_help = true)]
    pub(crate) evaluated: bool,
    /// Choose this many positions at random, at most one per game.
    ///
    /// --per-game allows more. With a description, only the position that `find` shows for a game can be
    /// chosen.
    #[arg(long, value_name = "N", conflicts_with_all = ["sort", "limit"], value_parser = within(1..=u64::MAX))]
    sample: Option<u64>,
    /// With --sample: at most this many positions per game, up to 100
    #[arg(hide_short_help = true, long, value_name = "N", requires = "sample", conflicts_with_all = ["sort", "limit"], default_value_t = 1)]
    #[arg(value_parser = within(1..=Sample::MOST_PER_GAME))]
    per_game: u32,
    /// With --sample: a different number chooses different positions
    #[arg(hide_short_help = true, long, value_name = "N", requires = "sample", conflicts_with_all = ["sort", "limit"], default_value_t = 1)]
    #[arg(value_parser = within(0..=u64::MAX))]
    seed: u64,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file or existing Parquet files
    #[arg(long, requires = "target")]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) parquet_layout: ParquetLayoutArgs,
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// The games whose game_id is in the first column of this query.
    ///
    /// They are written in the order of the query.
    #[arg(help_heading = WHICH, long, hide_short_help = true, value_name = "QUERY")]
    #[arg(conflicts_with_all = ["PositionArgs", "FilterArgs"])]
    pub(crate) sql: Option<String>,
}

impl ExportArgs {
    /// The described positions, if any.
    ///
    /// # Errors
    /// Those of [`SequenceArgs::sequence`].
    pub(in crate::cli) fn sequence(&self) -> anyhow::Result<Option<PositionSequence>> {
        self.described.sequence()
    }

    /// Which positions of each game to write, if positions are written.
    ///
    /// # Errors
    /// If an option conflicts with the output format.
    pub(in crate::cli) fn wanted<'c>(
        &self,
        sequence: Option<&'c PositionSequence>,
    ) -> anyhow::Result<WantedPositions<'c>> {
        self.check_format()?;
        let which = match (sequence, &self.described.plies) {
            (Some(sequence), _) => Positions::First(sequence),
            (None, _) if self.last => Positions::Last,
            (None, Some(plies)) => Positions::Within(plies.clone()),
            (None, None) => Positions::Within(0..=u32::MAX),
        };
        Ok(WantedPositions { which, evaluated: self.evaluated })
    }

    /// Checks whether the options fit the output format.
    fn check_format(&self) -> anyhow::Result<()> {
        if self.plain && self.format.format != Some(ExportFormat::Pgn) {
            return Err(wrong_value("--plain leaves out the annotations of PGN; it needs --format pgn"));
        }
        if self.normalize && self.format.format != Some(ExportFormat::Pgn) {
            return Err(wrong_value("--normalize rewrites the annotations of PGN; it needs --format pgn"));
        }
        let of_positions = [
            ("--ply", self.described.plies.is_some()),
            ("--last", self.last),
            ("--evaluated", self.evaluated),
            ("--sample", self.sample.is_some()),
        ];
        match of_positions.into_iter().find(|&(_, is_given)| is_given) {
            Some((option, _)) if self.format.is_of_games() => {
                let instead = match option {
                    "--ply" => "describe the positions, for example with --ending",
                    _ => "choose games with filters instead",
                };
                Err(wrong_value(format!(
                    "{option} chooses positions, but pgn, csv and --parquet write whole games; use --format fen, epd or csv-positions, \
                     or {instead}"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The random sample, if one is requested.
    pub(in crate::cli) fn sample(&self) -> Option<Sample> {
        let Self { sample, per_game, seed, .. } = *self;
        sample.map(|positions| Sample { positions, per_game, seed })
    }
}

/// The kind of output.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct ExportFormatArgs {
    /// Games: pgn, csv; positions: fen, epd, csv-positions.
    ///
    /// Each position is one line.
    #[arg(long, short, value_enum, conflicts_with = "ParquetLayoutArgs")]
    pub(crate) format: Option<ExportFormat>,
    /// Write the tables of the games into this directory, as Parquet
    #[arg(long, value_name = "DIR", value_parser = ParquetDirectory)]
    pub(crate) parquet: Option<PathBuf>,
}

/// Formats of games, and of their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Pgn,
    Csv,
    Fen,
    Epd,
    CsvPositions,
}

impl ExportFormatArgs {
    /// Whether the output has whole games, not positions.
    pub(crate) fn is_of_games(&self) -> bool {
        // Without a format, Parquet files are written.
        matches!(self.format, None | Some(ExportFormat::Pgn | ExportFormat::Csv))
    }
}
