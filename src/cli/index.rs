//! `pgndex index`.

use anyhow::bail;

use super::Status;
use super::args::IndexArgs;

/// Indexes PGN files into a database.
///
/// # Errors
/// Always, so far.
pub(super) fn run(_args: &IndexArgs) -> anyhow::Result<Status> {
    bail!("`pgndex index` is not wired up yet")
}
