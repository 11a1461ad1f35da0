//! Arguments of `pgndex export`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{ArgGroup, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use pgndex::query::{Course, PositionQuery, Positions, Sample, WantedPositions};

use crate::cli::args::course::{CourseArgs, PlyRange};
use crate::cli::args::filter::{FilterArgs, SortArg, WHICH};
use crate::cli::args::parquet::{ParquetLayoutArgs, directory};
use crate::cli::args::position::PositionArgs;
use crate::cli::args::{WrongValue, read_position, within};

/// Write chosen games as PGN or CSV, or their positions as FEN, EPD or CSV
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("target").args(["output", "parquet"]))]
#[command(after_help = "\
Examples:
  pgndex export games.db -f pgn --player carlsen --since 2019 --output carlsen.pgn
  pgndex export games.db -f pgn --moves \"1. e4 c5 2. Nf3 d6\" --result 1-0 > najdorf-won.pgn
  pgndex export games.db -f pgn --ending rook --player korchnoi --sort rating --limit 200 -o rooks.pgn
  pgndex export games.db -f epd --material KRPvKR
  pgndex export games.db -f fen --ply 16 | sort | uniq -c | sort -rn | head
  pgndex export games.db -f epd --last --elo-min 2700
  pgndex export games.db -f csv-positions --sample 10000 --ply 16- --evaluated --output training.csv
  pgndex export games.db --parquet tables/ --speed blitz --partition-by year
  pgndex export games.db -f csv --sql \"SELECT game_id FROM game ORDER BY ply_count DESC LIMIT 100\"

Without filters all games are written. PGN is in export format, with comments, glyphs, variations, clocks and evaluations unless \
--plain is given; a game with missing moves has the tag Truncated. CSV has a row for each game, with its moves. EPD has the \
full-move number, the half-move clock, game and ply, and the move played. csv-positions has a row for each position, with the move \
played from it, the result, the ratings and the evaluation of the position as the PGN has it, from White's view.

If positions are described, the games with such a position are written. Formats of positions (fen, epd, csv-positions) then write one \
position per game, the one that `find` shows. Without a description they write all positions of the games, or those of --ply or --last.

--sample chooses games evenly among those with such a position, and positions evenly within a game. If positions are described, only \
the one that `find` shows of each game can be chosen. Positions are written in the order in which they are chosen. The same seed \
chooses the same positions from the same database.

The file appears when it is complete. If no game matches, no file is written, an existing file stays unchanged, and the exit status is \
0 with a note.")]
pub(crate) struct ExportArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) format: ExportFormatArgs,
    /// Write moves only: no comments, glyphs, variations, clocks and evaluations
    #[arg(long)]
    pub(crate) plain: bool,
    /// Write all clocks, times and evaluations as [%clk], [%emt] and [%eval], however the PGN wrote them
    #[arg(long, conflicts_with = "plain")]
    pub(crate) normalize: bool,
    /// Order of the games: by their numbers, by the players' mean rating (best first), or by date (latest first)
    #[arg(long, value_name = "ORDER", value_enum, default_value = "game", conflicts_with = "sql")]
    pub(crate) sort: SortArg,
    /// How many games to write; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    #[command(flatten)]
    described: ExportCourseArgs,
    /// Of each game, only the last position
    #[arg(long)]
    last: bool,
    /// Only positions with an evaluation
    #[arg(long)]
    pub(crate) evaluated: bool,
    /// Choose this many positions at random, at most one per game
    #[arg(long, value_name = "N", conflicts_with_all = ["sort", "limit"], value_parser = within(1..=u64::MAX))]
    sample: Option<u64>,
    /// With --sample: at most this many positions per game, up to 100
    #[arg(long, value_name = "N", requires = "sample", conflicts_with_all = ["sort", "limit"], default_value_t = 1)]
    #[arg(value_parser = within(1..=Sample::MOST_PER_GAME))]
    per_game: u32,
    /// With --sample: another number draws other positions
    #[arg(long, value_name = "N", requires = "sample", conflicts_with_all = ["sort", "limit"], default_value_t = 1)]
    #[arg(value_parser = within(0..=u64::MAX))]
    seed: u64,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file, or the Parquet files, if there are some
    #[arg(long, requires = "target")]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) parquet_layout: ParquetLayoutArgs,
    #[command(flatten)]
    pub(crate) position: ExportPositionArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Remove the games whose numbers are in the first column of this query, in its order
    #[arg(help_heading = WHICH, long, value_name = "QUERY")]
    #[arg(conflicts_with_all = ["ExportPositionArgs", "FilterArgs"])]
    pub(crate) sql: Option<String>,
}

impl ExportArgs {
    /// What is described, if anything is.
    ///
    /// # Errors
    /// Those of [`CourseArgs::course`].
    pub(in crate::cli) fn course(&self) -> anyhow::Result<Option<Course>> {
        self.described.course.course()
    }

    /// Which positions are written of each game, if positions are.
    ///
    /// # Errors
    /// If an option does not go with what is written.
    pub(in crate::cli) fn wanted<'c>(
        &self,
        course: Option<&'c Course>,
    ) -> Result<WantedPositions<'c>, WrongValue> {
        self.check_format()?;
        let which = match (course, &self.described.plies) {
            (Some(course), _) => Positions::First(course),
            (None, _) if self.last => Positions::Last,
            (None, Some(PlyRange(plies))) => Positions::Within(plies.clone()),
            (None, None) => Positions::Within(0..=u32::MAX),
        };
        Ok(WantedPositions { which, evaluated: self.evaluated })
    }

    /// Looks whether the options go with what is written.
    fn check_format(&self) -> Result<(), WrongValue> {
        if self.plain && self.format.format != Some(ExportFormat::Pgn) {
            return Err(WrongValue(anyhow!(
                "--plain leaves out what PGN says of moves; it goes with --format pgn"
            )));
        }
        if self.normalize && self.format.format != Some(ExportFormat::Pgn) {
            return Err(WrongValue(anyhow!(
                "--normalize is about what PGN says of moves; it goes with --format pgn"
            )));
        }
        let of_positions = [
            ("--ply", self.described.plies.is_some()),
            ("--last", self.last),
            ("--evaluated", self.evaluated),
            ("--sample", self.sample.is_some()),
        ];
        match of_positions.into_iter().find(|&(_, is_given)| is_given) {
            Some((option, _)) if self.format.is_of_games() => Err(WrongValue(anyhow!(
                "{option} chooses positions, and pgn, csv and --parquet write whole games; take --format fen, epd or csv-positions, or \
                 describe the positions, as with --ending"
            ))),
            _ => Ok(()),
        }
    }

    /// What is drawn, if not all is written.
    pub(in crate::cli) fn sample(&self) -> Option<Sample> {
        let Self { sample, per_game, seed, .. } = *self;
        sample.map(|positions| Sample { positions, per_game, seed })
    }
}

/// What is written.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct ExportFormatArgs {
    /// What to write: games as pgn or csv; their positions as fen, epd or csv-positions, one a line
    #[arg(long, short, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// Write the tables of the games as Parquet files into this directory
    #[arg(long, value_name = "DIR", value_parser = directory())]
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
    /// Whether whole games are written.
    fn is_of_games(&self) -> bool {
        // Parquet files if there is no format.
        matches!(self.format, None | Some(ExportFormat::Pgn | ExportFormat::Csv))
    }
}

/// What positions are like, or at which plies they stand.
#[derive(Debug)]
struct ExportCourseArgs {
    course: CourseArgs,
    /// Told without a description.
    plies: Option<PlyRange>,
}

impl Args for ExportCourseArgs {
    fn augment_args(command: Command) -> Command {
        let command = CourseArgs::options(command, |option| match option {
            "plies" => &["last"],
            _ => &["fen", "moves", "play", "sql", "last"],
        });
        command.mut_arg("plies", |plies| {
            plies.help(
                "Only positions at these plies: 20, 20-40, -40 or 60-. Without a description: only these positions of each game",
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ExportCourseArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        CourseArgs::read(matches, true).map(|(course, plies)| Self { course, plies })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A position that games must have reached.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct ExportPositionArgs {
    /// Games that reached the position with this FEN
    #[arg(help_heading = WHICH, long, value_name = "FEN", alias = "position")]
    pub(crate) fen: Option<String>,
    /// Games that reached the position after these moves: "1. e4 c5 2. Nf3". They are read as `find` reads them
    #[arg(help_heading = WHICH, long, value_name = "MOVES")]
    pub(crate) moves: Option<String>,
    /// The same in UCI notation: e2e4,c7c5
    #[arg(help_heading = WHICH, long, value_name = "MOVES")]
    pub(crate) play: Option<String>,
}

impl ExportPositionArgs {
    /// The position, if there is one.
    ///
    /// # Errors
    /// Those of [`read_position`].
    pub(in crate::cli) fn query(&self) -> anyhow::Result<Option<PositionQuery>> {
        if let (None, None, None) = (&self.fen, &self.moves, &self.play) {
            return Ok(None);
        }
        let args = PositionArgs { fen: self.fen.clone(), moves: self.moves.clone(), play: self.play.clone() };
        read_position(&args).map(Some)
    }
}
