//! Reports of a run: progress, problems, a summary.

pub(crate) mod files;
pub(crate) mod object;
pub(crate) mod summary;
