//! A file to be read, and where its bytes are.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::encoding::TextEncoding;
use super::form::Form;
use super::frames;
use super::zip::Member;

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
    /// The games that are read: those that begin in this range of the bytes of the file, packed if it is. `None`: all.
    pub(super) range: Option<Range<u64>>,
    pub(super) place: Place,
    /// What its first bytes say, as far as they could be read.
    pub(super) form: Form,
    /// The encoding of its text, if somebody said so.
    pub(super) encoding: Option<TextEncoding>,
    /// Memory that decoding takes, in bytes, if it is much.
    window: u64,
}

impl SourceFile {
    pub(super) fn new(path: &Path, bytes: Option<u64>, place: Place) -> Self {
        Self {
            path: path.to_owned(),
            bytes,
            first_byte: 0,
            range: None,
            place,
            form: Form::Text,
            encoding: None,
            window: 0,
        }
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

    /// The same file, whose text is in this encoding unless it begins with a byte order mark. `None`: UTF-8 or Windows-1252.
    #[must_use]
    pub const fn in_encoding(mut self, encoding: Option<TextEncoding>) -> Self {
        self.encoding = encoding;
        self
    }

    /// Chooses those games alone that begin in this range of the bytes of the file. Of one that cannot be read from the middle, whoever has
    /// its first byte reads all games, and others none.
    pub fn restrict(&mut self, range: &Range<u64>) {
        let length = self.bytes.unwrap_or(u64::MAX);
        let can_be_cut = self.place == Place::File
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

    /// The range of its bytes in which the games begin that are read, if these are not all.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        self.range.clone()
    }

    /// The file that its bytes are in: of a file in an archive, that. `None`: it is a stream.
    #[must_use]
    pub fn file_path(&self) -> Option<&Path> {
        match &self.place {
            Place::File => Some(&self.path),
            Place::Member(member) => Some(&member.archive),
            Place::Stream => None,
        }
    }

    /// Whether its bytes are its text and all of it is read: it is mapped.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let is_text = (&self.place, self.form) == (&Place::File, Form::Text);
        is_text && self.range.is_none() && self.encoding.is_none()
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

/// The path of a source as people know it.
pub(crate) fn shown_path(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// A file's first bytes, enough for its form and for the header of a zstd frame; none if they cannot be read, which will be told when the file is.
pub(super) fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::with_capacity(Form::HEAD);
    let _ = File::open(path).and_then(|file| file.take(Form::HEAD as u64).read_to_end(&mut head));
    head
}
