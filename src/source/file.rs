//! A file to be read, and where its bytes are.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::form::Form;
use super::frames;
use super::part;
use super::zip::Member;
use super::{Mapped, Result};

/// A file to be read, or a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, as given or as found in a given directory; of a file in a zip archive, the archive's path, a slash and the file's
    /// path in it; `-` is standard input.
    pub path: PathBuf,
    /// Its size when it was listed, packed if it is: in bytes. `None`: nobody knows, it is a stream.
    pub bytes: Option<u64>,
    /// Where reading begins, in bytes of its text: what is before it was read in an earlier run.
    pub first_byte: u64,
    /// The games that are read: those whose first byte stands in this range of the bytes of the file. `None`: all. Of a file that
    /// cannot be read from the middle, whoever has its first byte reads all games, and others none.
    pub range: Option<Range<u64>>,
    pub(super) place: Place,
    /// What its first bytes say, as far as they could be read.
    pub(super) form: Form,
    /// Memory that decoding takes, in bytes, if it is much.
    window: u64,
}

impl SourceFile {
    pub(super) fn new(path: &Path, bytes: Option<u64>, place: Place) -> Self {
        Self { path: path.to_owned(), bytes, first_byte: 0, range: None, place, form: Form::Text, window: 0 }
    }

    /// A file, which may be an archive of one.
    pub(super) fn of_file(path: &Path, bytes: u64) -> Self {
        let head = head(path);
        let form = Form::of(&head);
        let window = if form == Form::Zstd { frames::window(&head) } else { 0 };
        Self { form, window, ..Self::new(path, Some(bytes), Place::File) }
    }

    pub(super) fn of_member(path: &Path, member: Member) -> Self {
        let bytes = member.range.end - member.range.start;
        Self::new(path, Some(bytes), Place::Member(member))
    }

    /// Whether its bytes are its text: it is mapped.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        (&self.place, self.form) == (&Place::File, Form::Text)
    }

    /// Whether it can be read from the middle: it is a plain file, or a zstd archive of several frames that can be found.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn has_parts(&self) -> Result<bool> {
        Ok(match (&self.place, self.form) {
            (Place::File, Form::Text) => true,
            (Place::File, Form::Zstd) => part::has_parts(Mapped::open(&self.path)?.bytes()),
            _ => false,
        })
    }

    /// The memory that decoding takes beyond what it always may, in bytes: of an archive that was packed with a long window.
    #[must_use]
    pub fn extra_memory(&self) -> u64 {
        self.window.saturating_sub(frames::USUAL_WINDOW)
    }
}

/// Where a source's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the file at its path.
    File,
    /// In an archive.
    Member(Member),
    /// On standard input or in a named pipe.
    Stream,
}

/// A file's first bytes, enough for the header of a zstd frame; none if they cannot be read, which will be told when the file is.
pub(super) fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::with_capacity(64);
    let _ = File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
    head
}
