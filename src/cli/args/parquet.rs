//! Arguments of commands that write Parquet files.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error, ValueEnum};

use crate::cli::args::within;

#[cfg(feature = "parquet")]
use pgndex::columnar::PartitionBy;

/// Heading of the options for Parquet files.
pub(crate) const PARQUET: &str = "Parquet";

/// The parser for the directory of Parquet files. It fails if the program was built without Parquet.
#[derive(Clone)]
pub(crate) struct ParquetDirectory;

impl TypedValueParser for ParquetDirectory {
    type Value = PathBuf;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<PathBuf, Error> {
        if cfg!(feature = "parquet") {
            return PathBufValueParser::new().parse_ref(command, arg, value);
        }
        // An error from `try_map` would say that the value is invalid.
        Err(Error::raw(
            ErrorKind::ArgumentConflict,
            "--parquet: this pgndex was built without Parquet. Install a released package of pgndex, or run \
             `cargo build --release --features parquet`\n",
        ))
    }
}

/// How Parquet files are laid out.
#[derive(Args, Debug)]
pub(crate) struct ParquetLayoutArgs {
    /// With --parquet: divide games into directories by this part of the date
    #[arg(hide_short_help = true)]
    #[arg(help_heading = PARQUET, long, value_name = "PART", value_enum, requires = "parquet", default_value = "month")]
    pub(crate) partition_by: PartitionByArg,
    /// With --parquet: shard number.
    ///
    /// Runs that write into the same directory need different numbers. The number becomes the upper 32
    /// bits of each game_id.
    #[arg(hide_short_help = true)]
    #[arg(help_heading = PARQUET, long, value_name = "N", requires = "parquet", default_value_t = 0)]
    #[arg(value_parser = within(0..=99_999_u32))]
    pub(crate) shard: u32,
}

#[cfg(feature = "parquet")]
impl ParquetLayoutArgs {
    /// A note if partitioning led to many small files; otherwise `None`. `bytes` is the total size of all
    /// files.
    pub(crate) fn note_on(&self, files: u64, bytes: u64) -> Option<&'static str> {
        // Even without directories by date, there can be hundreds of files: two tables have a file for each
        // first byte of the key.
        const FEW: u64 = 800;
        const SMALL: u64 = 1 << 20;
        let is_parted = self.partition_by != PartitionByArg::None;
        (is_parted && files > FEW && bytes / files < SMALL).then_some(
            "many small Parquet files slow down every query engine; --partition-by none writes fewer files",
        )
    }
}

/// The part of the date by which games are divided into directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartitionByArg {
    /// No split by date; best with fewer than about 100,000 games per month
    None,
    /// A directory for each year
    Year,
    /// A directory for each month
    Month,
}

#[cfg(feature = "parquet")]
impl From<PartitionByArg> for PartitionBy {
    fn from(part: PartitionByArg) -> Self {
        match part {
            PartitionByArg::None => Self::Nothing,
            PartitionByArg::Year => Self::Year,
            PartitionByArg::Month => Self::Month,
        }
    }
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn many_small_files_get_a_note() {
        let of = |partition_by| ParquetLayoutArgs { partition_by, shard: 0 };
        let (month, none) = (of(PartitionByArg::Month), of(PartitionByArg::None));
        assert!(month.note_on(801, 801 << 19).is_some());
        assert_eq!(month.note_on(800, 800 << 19), None);
        assert_eq!(month.note_on(801, 801 << 20), None);
        assert_eq!(none.note_on(801, 801 << 19), None);
    }
}
