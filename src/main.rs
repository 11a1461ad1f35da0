//! The `pgndex` command: parse the arguments, run, say how it went.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::set_up_sqlite();
    let arguments = cli::parse();
    match cli::run(arguments) {
        Ok(status) => status.into(),
        Err(error) if cli::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => cli::report(&error),
    }
}
