//! A packed file beside the plain one that it is unpacked to.

use std::io;
use std::ops::ControlFlow;

use super::decode::{DecodeOptions, Opened, open};
use super::file::SourceFile;
use super::watch::Watch;

/// What two such files have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// The plain one begins with all the text of the packed one.
    Unpacked,
    /// The packed one goes on where the plain one ends: unpacking was interrupted, or goes on still.
    Cut,
    /// Neither, or one of them cannot be read to its end.
    Other,
}

/// Text that is compared at once, in bytes.
const BLOCK: usize = 1 << 20;

/// Compares the texts of two files, byte by byte, up to where they differ or one of them ends.
pub(super) fn compare(
    plain: &SourceFile,
    packed: &SourceFile,
    options: DecodeOptions,
    watch: &dyn Watch,
) -> ControlFlow<(), Beside> {
    let (Some(mut plain), Some(mut packed)) = (Text::open(plain, options), Text::open(packed, options))
    else {
        return ControlFlow::Continue(Beside::Other);
    };
    loop {
        let (Ok(()), Ok(())) = (plain.fill(), packed.fill()) else {
            return ControlFlow::Continue(Beside::Other);
        };
        let common = plain.left().len().min(packed.left().len());
        if common == 0 {
            // A packed file that ends here may be as long.
            let is_unpacked = packed.left().is_empty();
            return ControlFlow::Continue(if is_unpacked { Beside::Unpacked } else { Beside::Cut });
        }
        if plain.left()[..common] != packed.left()[..common] {
            return ControlFlow::Continue(Beside::Other);
        }
        plain.given += common;
        packed.given += common;
        watch.looked_at(0, common as u64)?;
    }
}

/// Adds more of a text, and tells how much.
type Next = Box<dyn FnMut(&mut Vec<u8>) -> io::Result<usize>>;

/// A text that comes by.
struct Text {
    next: Next,
    text: Vec<u8>,
    given: usize,
}

impl Text {
    fn open(file: &SourceFile, options: DecodeOptions) -> Option<Self> {
        let next: Next = match open(file).ok()? {
            Opened::Mapped(map) => {
                let mut at = 0;
                Box::new(move |text| {
                    let end = map.bytes().len().min(at + BLOCK);
                    text.extend_from_slice(&map.bytes()[at..end]);
                    map.release(at..end);
                    let read = end - at;
                    at = end;
                    Ok(read)
                })
            }
            Opened::Packed(packed) => {
                let mut decoded = packed.decode(options).ok()?;
                Box::new(move |text| decoded.read(text, BLOCK))
            }
        };
        Some(Self { next, text: Vec::new(), given: 0 })
    }

    /// What has come and was not compared.
    fn left(&self) -> &[u8] {
        &self.text[self.given..]
    }

    /// Lets more come if nothing is left.
    fn fill(&mut self) -> io::Result<()> {
        if self.left().is_empty() {
            self.text.clear();
            self.given = 0;
            (self.next)(&mut self.text)?;
        }
        Ok(())
    }
}
