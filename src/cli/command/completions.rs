//! `pgndex completions`: what a shell needs to complete the command line.

use std::io::Write as _;

use crate::cli::args::CompletionsArgs;
use crate::cli::render::output::stdout;
use crate::cli::usage;

/// Writes the completions for a shell.
///
/// # Errors
/// Of writing.
pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut command = usage::command();
    let name = command.get_name().to_owned();
    // First into memory: there a write cannot fail, which would end in a panic.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    let mut out = stdout();
    out.write_all(&text)?;
    Ok(out.flush()?)
}
