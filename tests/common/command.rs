//! The program itself, run as a user runs it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The result of a run of the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The result of a run that was not killed by a signal.
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            status: output.status.code().expect("an exit status"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// The program in a directory, with an empty standard input, no terminal width, a locale with all characters, and no
/// progress, which would appear only on a slow machine.
pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgndex"));
    command
        .current_dir(directory)
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("COLUMNS")
        .env_remove("PGNDEX_DB")
        .env_remove("PGNDEX_THREADS")
        .env("PGNDEX_NO_PROGRESS", "1")
        .env("LC_ALL", "C.UTF-8");
    command
}

/// Returns a command that file permissions apply to even if root runs the tests. `None`, with a message, if root cannot
/// drop the capability to bypass them.
pub(crate) fn bound_by_modes(command: &Command) -> Option<Command> {
    let (program, is_root) = (command.get_program(), is_root());
    let mut bound = Command::new(if is_root { "setpriv".as_ref() } else { program });
    if is_root {
        if !crate::needs::has_program("setpriv") {
            return None;
        }
        bound.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", "--"]).arg(program);
    }
    bound.args(command.get_args()).stdin(Stdio::null()).env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    if let Some(directory) = command.get_current_dir() {
        bound.current_dir(directory);
    }
    Some(bound)
}

fn is_root() -> bool {
    #[cfg(unix)]
    return std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    #[cfg(not(unix))]
    false
}
