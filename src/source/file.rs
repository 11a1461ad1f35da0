//! A file to read, and where its bytes are.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::encoding::TextEncoding;
use super::form::Form;
use super::frames;
use super::zip::Member;
use crate::positioned_io::read_start;

/// A file to read, or a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path, as given or as found in a given directory. For a file in a zip archive: the archive's path,
    /// a slash and the file's path in it. `-` is standard input.
    pub path: PathBuf,
    /// The size of the file when it was listed, in (compressed) bytes. If reading is restricted to a range,
    /// the size of this range. `None` for a stream.
    pub bytes: Option<u64>,
    /// The offset at which reading starts, in bytes of the file's text. An earlier run has read the text
    /// before this offset.
    pub first_byte: u64,
    /// Whether an earlier run has reported damage of the file.
    pub(crate) is_damage_known: bool,
    /// Restricts reading to games that begin in this range of the file's (compressed) bytes; `None` for all
    /// games.
    pub(super) range: Option<Range<u64>>,
    pub(super) place: Location,
    /// The format according to the file's first bytes; [`Form::Text`] if these bytes could not be read, or
    /// for a stream or a file in a zip archive.
    pub(super) form: Form,
    /// The encoding of the text, if given.
    pub(super) encoding: Option<TextEncoding>,
    /// The window that decoding needs in memory, in bytes; 0 if the file is not a zstd archive.
    window: u64,
}

impl SourceFile {
    pub(super) fn new(path: &Path, bytes: Option<u64>, place: Location) -> Self {
        let path = path.to_owned();
        Self {
            path,
            bytes,
            first_byte: 0,
            is_damage_known: false,
            range: None,
            place,
            form: Form::Text,
            encoding: None,
            window: 0,
        }
    }

    /// Whether the file begins with a byte order mark of UTF-16.
    pub(crate) const fn is_utf_16(&self) -> bool {
        matches!(self.form, Form::Utf16(_))
    }

    /// A file that is not in a zip archive; it can be compressed.
    pub(super) fn from_file(path: &Path, bytes: u64) -> Self {
        let head = head(path);
        let (form, window) = (Form::of(&head), frames::window(&head));
        Self { form, window, ..Self::new(path, Some(bytes), Location::File) }
    }

    pub(super) fn from_member(path: &Path, member: Member) -> Self {
        let bytes = member.range.end - member.range.start;
        Self::new(path, Some(bytes), Location::Member(member))
    }

    /// Sets the encoding of the text; a byte order mark in the text overrides it. `None`: UTF-8, or
    /// Windows-1252 for bytes that are not valid UTF-8.
    #[must_use]
    pub const fn in_encoding(mut self, encoding: Option<TextEncoding>) -> Self {
        self.encoding = encoding;
        self
    }

    /// Restricts reading to games that begin in this range of the file's bytes. If a file cannot be read from
    /// the middle, a range from byte 0 contains all games, and any other range contains none.
    pub fn restrict(&mut self, range: &Range<u64>) {
        let length = self.bytes.unwrap_or(u64::MAX);
        let can_be_cut = self.place == Location::File
            && self.encoding.is_none()
            && matches!(self.form, Form::Text | Form::Zstd);
        let range = match can_be_cut {
            true => range.start.min(length)..range.end.min(length),
            false if range.start == 0 => 0..length,
            false => length..length,
        };
        if range != (0..length) {
            self.bytes = self.bytes.map(|_| range.end.saturating_sub(range.start));
            self.range = Some(range);
        }
    }

    /// The range of the file's bytes in which the games to read begin; `None` if all games are read.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        self.range.clone()
    }

    /// The path of the file that contains the bytes: for a file in an archive, the archive. `None` for a
    /// stream.
    #[must_use]
    pub fn file_path(&self) -> Option<&Path> {
        match &self.place {
            Location::File => Some(&self.path),
            Location::Member(member) => Some(&member.archive),
            Location::Stream => None,
        }
    }

    /// Whether the file's bytes are its text, and reading is not restricted to a range.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let is_text = (&self.place, self.form) == (&Location::File, Form::Text);
        is_text && self.range.is_none() && self.encoding.is_none()
    }

    /// Additional memory for decoding, in bytes, for an archive that was compressed with a long window.
    #[must_use]
    pub fn extra_memory(&self) -> u64 {
        self.window.saturating_sub(frames::USUAL_WINDOW)
    }
}

/// Where the bytes of a source are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// In the file at its path.
    File,
    /// In an archive.
    Member(Member),
    /// On standard input or in a named pipe.
    Stream,
}

/// The first bytes of a file, enough to detect its format and to read the header of a zstd frame. Empty if
/// the file cannot be read; the error is reported when the file is read later.
pub(super) fn head(path: &Path) -> Vec<u8> {
    read_start(path, Form::HEAD as u64).unwrap_or_default()
}
