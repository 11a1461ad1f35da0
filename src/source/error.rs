//! Errors of sources.

use std::io;
use std::path::{Path, PathBuf};

use crate::error_advice::error_advice;

/// The result of reading a source.
pub type Result<T> = std::result::Result<T, Error>;

/// The path of a source, as shown in messages: `standard input` instead of `-`.
pub(crate) fn shown_path(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such file.
    #[error("{}: no such file or directory; check the path", shown_path(path))]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The file or directory cannot be read.
    #[error("{}: cannot be read; {}", shown_path(path), error_advice(source).unwrap_or("check the permissions"))]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is not enough memory to read the source.
    #[error("{}: cannot be read: the system provides no more memory to this process", shown_path(path))]
    Memory {
        /// The path.
        path: PathBuf,
    },
    /// Neither a file nor a directory.
    #[error("{}: neither a file nor a directory; give a PGN file", shown_path(path))]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A named pipe that matches a pattern, but was not given by its name.
    #[error(
        "{}: a named pipe, which patterns skip; to read it, give its name without a pattern",
        shown_path(path)
    )]
    Pipe {
        /// The path.
        path: PathBuf,
    },
    /// An invalid list of paths.
    #[error("{}: {reason}", shown_path(path))]
    List {
        /// The path of the list.
        path: PathBuf,
        /// The problem, and what to do.
        reason: String,
    },
    /// A file in a list of paths cannot be read.
    #[error("{}:{line}: {source}", list.display())]
    Listed {
        /// The path of the list.
        list: PathBuf,
        /// The line of the list, from 1.
        line: u64,
        /// The error of the file.
        source: Box<Error>,
    },
    /// No file matches a pattern.
    #[error("{}: no file matches this pattern; check the pattern", shown_path(path))]
    NoMatch {
        /// The pattern as given.
        path: PathBuf,
    },
    /// A damaged zip archive, or a file whose offset in its zip archive is unknown. Other files in the
    /// archive can still be readable.
    #[error("{}: damaged: {reason}. Download the file again, or create it again", shown_path(path))]
    Damaged {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A zip archive without PGN files.
    #[error(
        "{}: no file in this zip archive has a name ending in .pgn; `unzip -l` lists its files",
        shown_path(path)
    )]
    NoMember {
        /// The path of the archive.
        path: PathBuf,
    },
    /// A file in an unsupported format.
    #[error("{}: {form}, not PGN text; {error_advice}", shown_path(path))]
    Form {
        /// The path.
        path: PathBuf,
        /// The format.
        form: &'static str,
        /// What to do.
        error_advice: &'static str,
    },
}

impl Error {
    /// Converts a system error about a path.
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::OutOfMemory => Self::Memory { path },
            _ => Self::Unreadable { path, source },
        }
    }

    /// The path of the source.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Missing { path }
            | Self::Memory { path }
            | Self::Unreadable { path, .. }
            | Self::NotAFile { path }
            | Self::Pipe { path }
            | Self::List { path, .. }
            | Self::NoMatch { path }
            | Self::Damaged { path, .. }
            | Self::NoMember { path }
            | Self::Form { path, .. } => path,
            Self::Listed { source, .. } => source.path(),
        }
    }

    /// The message with its causes, on one line.
    #[must_use]
    pub fn full_message(&self) -> String {
        match self {
            Self::Unreadable { source, .. } => format!("{self}: {source}"),
            Self::Listed { list, line, source } => {
                format!("{}:{line}: {}", list.display(), source.full_message())
            }
            _ => self.to_string(),
        }
    }
}
