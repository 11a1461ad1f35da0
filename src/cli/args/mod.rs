//! The arguments. Each file contains the arguments of one command, those of several similar commands, or
//! options that several commands share.

mod export;
mod filter;
mod game;
mod index;
mod maintenance;
mod parquet;
mod players;
mod position;
mod search;
mod sequence;
#[cfg(feature = "serve")]
mod serve;
mod small;
mod sql;
mod value;

use clap::{Parser, Subcommand};
use filter::{FilterArgs, WHICH, order};
use maintenance::{LogArgs, WorkArgs, layouts};
use parquet::{PARQUET, ParquetDirectory, ParquetLayoutArgs};
use players::side;
use position::{BOARDS, POSITION, PositionArgs};
use sequence::SequenceArgs;
use value::{byte_size, described_one_of, memory, one_of, within};

pub(crate) use export::{ExportArgs, ExportFormat};
pub(crate) use filter::filter_option;
pub(crate) use game::{BoardPly, GameArgs, GameFormat};
pub(crate) use index::{IndexArgs, OnProblemArg, WatchArgs};
pub(crate) use maintenance::{
    BackupArgs, LogFormat, MaintenanceArgs, OptimizeArgs, RemoveArgs, ReportArgs, VerifyArgs,
};
pub(crate) use players::{PlayerArgs, PlayerFormat, PlayersArgs, RepertoireArgs};
pub(crate) use position::{BoardArgs, PictureArgs, read_fen, read_position};
pub(crate) use search::{ExploreArgs, ExploreFormat, FindArgs, FindFormat, FindTargetArgs};
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArgs;
pub(crate) use small::{CompletionsArgs, InfoArgs, InfoFormat, KeyArgs, ManArgs};
pub(crate) use sql::{SqlArgs, SqlFormat, parameter_name, parameter_value, query_text};
pub(crate) use value::{FORMAT, RowFormat, formats};

const NOTES: &str = "\
Answers go to standard output; notes, progress and errors to standard error. The environment variable PGNDEX_DB sets the default \
database of `info`, `find`, `explore`, `export`, `verify` and `serve`; PGNDEX_THREADS sets the number of threads.

Exit status: 0: done, even if nothing was found. 1: failed. 2: wrong usage. 3: done, but some games or files \
could not be read completely. 4: another program is writing the database. 130: stopped by Ctrl-C. 143: stopped by SIGTERM. \
After either signal, `serve` and `watch` exit with 0.

Examples:
  pgndex index games.db *.pgn *.pgn.zst           index PGN files into a new database
  pgndex find games.db --moves \"1. e4 c5 2. Nf3\"  games with this position
  pgndex game games.db 42                         score sheet of game 42
  pgndex sql games.db \"SELECT white, black, date FROM games WHERE eco = 'B90'\"";

/// Index PGN dumps into one SQLite file and look up any position or move of any game
#[derive(Debug, Parser)]
#[command(name = "pgndex", version, after_long_help = NOTES, arg_required_else_help = true)]
#[command(max_term_width = 100)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Index(IndexArgs),
    Watch(WatchArgs),
    Info(InfoArgs),
    Find(Box<FindArgs>),
    Explore(Box<ExploreArgs>),
    Game(GameArgs),
    Export(Box<ExportArgs>),
    Player(Box<PlayerArgs>),
    Players(PlayersArgs),
    Repertoire(Box<RepertoireArgs>),
    Sql(SqlArgs),
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    Remove(Box<RemoveArgs>),
    Optimize(OptimizeArgs),
    Backup(BackupArgs),
    Verify(VerifyArgs),
    /// Make the tables consistent again after another program changed rows
    #[command(after_long_help = maintenance::REPAIR)]
    Repair(MaintenanceArgs),
    Key(KeyArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

impl Command {
    /// The format of the command's log; text if the command does not take [`LogArgs`].
    pub(crate) fn log_format(&self) -> LogFormat {
        let log = match self {
            Self::Index(args) => args.report.log,
            Self::Watch(args) => args.log,
            Self::Backup(args) => args.report.log,
            Self::Remove(args) => args.report.log,
            Self::Optimize(args) => args.work.report.log,
            Self::Verify(args) => args.report.log,
            Self::Repair(args) => args.report.log,
            _ => return LogFormat::Text,
        };
        log.log_format
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
