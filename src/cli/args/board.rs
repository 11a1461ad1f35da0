//! How boards are drawn.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Heading of the options on boards and pictures.
pub(crate) const BOARDS: &str = "Boards and pictures";

/// How boards are drawn.
#[derive(Args, Debug)]
pub(crate) struct BoardArgs {
    /// Draw boards with letters instead of figures.
    ///
    /// This is the default without colours, or if the locale is not UTF-8.
    #[arg(help_heading = BOARDS, long, hide_short_help = true)]
    pub(crate) ascii: bool,
    /// Draw boards with Black at the bottom
    #[arg(help_heading = BOARDS, long)]
    pub(crate) flip: bool,
    /// When to draw boards in colour.
    ///
    /// auto: on a terminal, unless NO_COLOR is set.
    #[arg(help_heading = BOARDS, hide_short_help = true, long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) color: ColorChoice,
}

/// A picture of a position.
#[derive(Args, Debug)]
pub(crate) struct PictureArgs {
    /// Write a picture of the board to this file, as SVG.
    ///
    /// With --flip, Black is at the bottom.
    #[arg(help_heading = BOARDS, long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(help_heading = BOARDS, long, requires = "svg", hide_short_help = true)]
    pub(crate) overwrite: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}
