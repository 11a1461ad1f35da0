//! Arguments of `pgndex completions` and `pgndex man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

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
The directory is created if necessary. Pages with these names are replaced.

Examples:
  pgndex man ~/.local/share/man/man1    then: man pgndex, man pgndex-find")]
pub(crate) struct ManArgs {
    /// The directory
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
