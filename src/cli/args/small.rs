//! Arguments of commands with few options: `info`, `key`, `completions` and `man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use crate::cli::args::{BOARDS, PictureArgs, PositionArgs, RowFormat};

/// Show the contents of a database
#[derive(Args, Debug)]
#[command(after_long_help = "\
If no game has an opening name, openings are counted by the PGN's ECO code. JSON lists every source and \
every run.

Examples:
  pgndex info games.db --sizes
  pgndex info games.db --format json | jq .games")]
pub(crate) struct InfoArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Output format.
    ///
    /// json is one object.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: InfoFormat,
    /// List all sources and all runs, not only the latest 20 of each
    #[arg(long)]
    pub(crate) all: bool,
    /// Measure each table and index; this reads the whole file
    #[arg(long)]
    pub(crate) sizes: bool,
}

/// Output formats of `pgndex info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    Table,
    Json,
}

/// Show the key and the canonical FEN of a position
#[derive(Args, Debug)]
#[command(after_long_help = "\
The key is the Polyglot hash of the canonical FEN, stored as a signed 64-bit integer.

Examples:
  pgndex key \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1\"
  pgndex key \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --svg ending.svg
  pgndex sql games.db \"SELECT * FROM positions WHERE key = -9062197578030825066\"")]
pub(crate) struct KeyArgs {
    /// The position as a FEN; the quotes can be left out
    #[arg(value_name = "FEN", conflicts_with = "PositionArgs")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Output format.
    ///
    /// json is one object.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: RowFormat,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    /// Draw the picture with Black at the bottom
    #[arg(help_heading = BOARDS, long, requires = "svg")]
    pub(crate) flip: bool,
}

/// Write a completion script for a shell
#[derive(Args, Debug)]
#[command(after_long_help = "\
Write the script with one of these commands, then open a new shell.

Examples:
  pgndex completions bash > ~/.local/share/bash-completion/completions/pgndex
  pgndex completions zsh > ~/.zfunc/_pgndex       with ~/.zfunc in fpath, before compinit
  pgndex completions fish > ~/.config/fish/completions/pgndex.fish
  pgndex completions powershell >> $PROFILE
  pgndex completions elvish >> ~/.config/elvish/rc.elv")]
pub(crate) struct CompletionsArgs {
    /// The shell: bash, elvish, fish, powershell or zsh
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Write the manual pages, one per command, into a directory
#[derive(Args, Debug)]
#[command(after_long_help = "\
The directory is created if necessary. Existing pages with the same names are replaced.

Examples:
  pgndex man ~/.local/share/man/man1    then: man pgndex, man pgndex-find")]
pub(crate) struct ManArgs {
    /// The directory
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
