//! What is wrong with a value that clap lets pass.

/// A value of an argument that cannot be read. clap tells of those that need no board.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct WrongValue(pub(crate) anyhow::Error);
