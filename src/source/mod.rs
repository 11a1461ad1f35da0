//! Where PGN text comes from: files and directories, mapped into memory.

mod error;
mod list;
mod mapped;

pub use error::{Error, Result};
pub use list::{SourceFile, Sources, list};
pub use mapped::Mapped;
