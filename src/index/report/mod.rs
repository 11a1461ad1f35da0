//! What is told of a run: progress, problems, a summary.

pub(crate) mod files;
pub(crate) mod summary;
