//! Input of PGN text: plain files are memory-mapped; archives and streams are decoded in pieces.

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
mod search_observer;
mod unpacked;
mod zip;

pub use decode::{DecodeOptions, Decoded, Opened, Packed, open, open_text};
pub use encoding::TextEncoding;
pub(crate) use error::shown_path;
pub use error::{Error, Result};
pub use file::SourceFile;
pub(crate) use form::other_text;
pub use list::{Finder, Sources, has_name_of_games, list};
pub use mapped::{Mapped, MemoryLimitGuard};
pub use part::{Parts, parts};
pub use search_observer::SearchObserver;
