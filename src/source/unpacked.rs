//! Compares a compressed file with the plain file beside it.

use std::io;
use std::ops::ControlFlow;

use super::decode::{DecodeOptions, Decoded, open_text};
use super::{SearchObserver, SourceFile};

/// How the plain file and the compressed file are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnpackedState {
    /// The plain file begins with the whole text of the compressed one.
    Unpacked,
    /// The compressed file continues where the plain one ends: decompression was interrupted, or is still
    /// running.
    Cut,
    /// The texts differ, or one of the files cannot be read as far as needed.
    Other,
}

/// The amount of text compared at once, in bytes.
const PIECE: usize = 1 << 20;

/// Compares the texts of two files, byte by byte, up to the first difference or the end of one of them.
/// Breaks if `watch` stops the search.
pub(super) fn compare(
    plain: &SourceFile,
    packed: &SourceFile,
    options: DecodeOptions,
    watch: &dyn SearchObserver,
) -> ControlFlow<(), UnpackedState> {
    const OTHER: ControlFlow<(), UnpackedState> = ControlFlow::Continue(UnpackedState::Other);
    let Some(mut plain) = Text::open(plain, options) else { return OTHER };
    let Some(mut packed) = Text::open(packed, options) else { return OTHER };
    loop {
        let (Ok(()), Ok(())) = (plain.fill(), packed.fill()) else { return OTHER };
        let common = plain.left().len().min(packed.left().len());
        if common == 0 {
            // If both files end here, their texts are equal. This also counts as unpacked.
            let is_unpacked = packed.left().is_empty();
            let state = if is_unpacked { UnpackedState::Unpacked } else { UnpackedState::Cut };
            return ControlFlow::Continue(state);
        }
        if plain.left()[..common] != packed.left()[..common] {
            return OTHER;
        }
        plain.given += common;
        packed.given += common;
        watch.looked_at(0, common as u64)?;
    }
}

/// A text that is read in pieces.
struct Text {
    decoded: Decoded,
    text: Vec<u8>,
    given: usize,
}

impl Text {
    fn open(file: &SourceFile, options: DecodeOptions) -> Option<Self> {
        let decoded = open_text(file, options).ok()?;
        Some(Self { decoded, text: Vec::new(), given: 0 })
    }

    /// Text that was read but not yet compared.
    fn left(&self) -> &[u8] {
        &self.text[self.given..]
    }

    /// Reads more if nothing is left.
    fn fill(&mut self) -> io::Result<()> {
        if self.left().is_empty() {
            self.text.clear();
            self.given = 0;
            self.decoded.read(&mut self.text, PIECE)?;
        }
        Ok(())
    }
}
