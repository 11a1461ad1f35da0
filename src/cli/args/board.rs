//! How boards are drawn.

use clap::Args;
use clap::ValueEnum;
use std::path::PathBuf;

/// How boards are drawn.
#[derive(Args, Debug)]
pub(crate) struct BoardArgs {
    /// Draw boards with letters instead of figures; this is the default if the locale is not UTF-8, and where there are no colours
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw boards with Black at the bottom
    #[arg(long)]
    pub(crate) flip: bool,
    /// Draw boards in colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) color: ColorChoice,
}

/// A picture of a position.
#[derive(Args, Debug)]
pub(crate) struct PictureArgs {
    /// Write a picture of the board to this file, as SVG; --flip turns it round
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "svg")]
    pub(crate) overwrite: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}
