//! The program itself, run as a user runs it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a run of the program gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// What came of a run that ended by itself.
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            status: output.status.code().expect("an exit status"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// The program in a directory, with nothing on standard input and no width of a terminal told.
pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgndex"));
    command.current_dir(directory).args(arguments).stdin(Stdio::null()).env_remove("COLUMNS");
    command
}
