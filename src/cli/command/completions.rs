//! `pgndex completions`: writes shell completions.

use std::io::Write as _;

use clap::{ArgGroup, Command, Id};

use crate::cli::args::CompletionsArgs;
use crate::cli::render::stdout;
use crate::cli::usage;

/// Writes the completions for a shell.
///
/// # Errors
/// Errors of writing.
pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut command = shown(&usage::command()).version(env!("CARGO_PKG_VERSION"));
    let name = command.get_name().to_owned();
    // First to memory: a failed write would cause a panic.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    let mut out = stdout();
    out.write_all(&text)?;
    Ok(out.flush()?)
}

/// A command without its hidden options, which the generators would offer, and without groups of arguments.
fn shown(command: &Command) -> Command {
    let is_shown = |id: &&Id| command.get_arguments().any(|arg| arg.get_id() == *id && !arg.is_hide_set());
    let groups = command.get_groups().map(|group| {
        ArgGroup::new(group.get_id().clone()).multiple(true).args(group.get_args().filter(is_shown).cloned())
    });
    Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()))
        .groups(groups)
        .subcommands(command.get_subcommands().map(shown))
}
