//! Where PGN text comes from: files, mapped into memory; archives and streams, decoded piece by piece.

mod beside;
mod decode;
mod directory;
mod error;
mod form;
mod frames;
mod input;
mod list;
mod mapped;
mod pattern;
mod utf16;
mod zip;

pub use decode::{DecodeOptions, Decoded, Opened, Packed, open};
pub use error::{Error, Result};
pub use list::{Finder, SourceFile, Sources, Watch, list};
pub use mapped::{KeptSmall, Mapped};
