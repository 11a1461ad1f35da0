//! Where PGN text comes from: files, mapped into memory; archives and streams, decoded piece by piece.

mod decode;
mod error;
mod form;
mod frames;
mod input;
mod list;
mod mapped;
mod utf16;
mod zip;

pub use decode::{DecodeOptions, Decoded, Opened, Packed, open};
pub use error::{Error, Result};
pub use list::{SourceFile, Sources, find, list};
pub use mapped::{KeptSmall, Mapped};
