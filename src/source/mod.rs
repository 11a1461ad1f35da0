//! Input of PGN text: files are memory-mapped; archives and streams are decoded in pieces.

mod decode;
mod directory;
mod encoding;
mod error;
mod file;
mod form;
mod frames;
mod input;
mod list;
mod mapped;
mod part;
mod path_list;
mod path_pattern;
mod unpacked;
mod zip;

pub use decode::{DecodeOptions, Decoded, Opened, Packed, open};
pub use encoding::TextEncoding;
pub(crate) use error::shown_path;
pub use error::{Error, Result};
pub use file::SourceFile;
pub(crate) use form::other_text;
pub use list::{Finder, Sources, has_name_of_games, list};
pub use mapped::{Mapped, MemoryLimitGuard};
pub use part::{Parts, parts};

use std::ops::ControlFlow;

/// Watches a search for sources, which can take long.
pub trait SearchObserver {
    /// Called with the number of further files and directories, and of further bytes of text, that were
    /// examined. Returns whether to continue.
    fn looked_at(&self, entries: u64, bytes: u64) -> ControlFlow<()>;
}

/// An observer that never stops the search.
impl SearchObserver for () {
    fn looked_at(&self, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
