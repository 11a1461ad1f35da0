//! The `pgndex` command: parses the arguments, runs the command, and reports an error if the command fails.

mod cli;

use std::process::ExitCode;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: cli::memory::Allocator = cli::memory::Allocator;

fn main() -> ExitCode {
    #[cfg(unix)]
    cli::memory::allocate_reserve();
    cli::set_up_sqlite();
    let arguments = cli::parse();
    match cli::run(arguments) {
        Ok(status) => status.into(),
        Err(error) if cli::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => cli::report_error(&error),
    }
}
