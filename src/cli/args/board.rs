//! How boards are drawn.

use clap::Args;
use clap::ValueEnum;

/// How boards are drawn.
#[derive(Args, Debug)]
pub(crate) struct BoardArgs {
    /// Draw boards with letters instead of figures; this is the default if the locale is not UTF-8
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw boards with Black at the bottom
    #[arg(long)]
    pub(crate) flip: bool,
    /// Draw boards in colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) color: ColorChoice,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}
