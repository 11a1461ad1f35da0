//! A file that an answer is written to.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use tempfile::NamedTempFile;

use crate::cli::refuse_file_of;

/// A file that is written under another name until it is whole. If it is dropped before, there is nothing of it.
pub(crate) struct OutputFile {
    path: PathBuf,
    file: NamedTempFile,
    overwrite: bool,
}

impl OutputFile {
    /// Begins a file, beside where it is to be.
    ///
    /// # Errors
    /// Those of [`check`]; if its directory cannot be written to.
    pub(crate) fn create(
        path: &Path,
        overwrite: bool,
        database: Option<&Path>,
        instead: &str,
    ) -> anyhow::Result<Self> {
        check(path, overwrite, database, instead)?;
        let shown = path.display();
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        ensure!(directory.is_dir(), "{shown}: its directory is not there; make it first");
        let mut builder = tempfile::Builder::new();
        builder.prefix(".pgndex-export-");
        #[cfg(unix)]
        {
            // As any new file; the user's mask takes its bits away.
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder
            .tempfile_in(directory)
            .map_err(|error| io::Error::from(error.kind()))
            .with_context(|| format!("{shown}: cannot write into its directory"))?;
        Ok(Self { path: path.to_owned(), file, overwrite })
    }

    /// Where it is to be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What to write to.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Puts the file into place. Gives back where it is.
    ///
    /// # Errors
    /// If it cannot be written or put there.
    pub(crate) fn finish(self) -> anyhow::Result<PathBuf> {
        let Self { path, file, overwrite } = self;
        file.as_file().sync_all().with_context(|| format!("{}: cannot write it", path.display()))?;
        let persisted = if overwrite { file.persist(&path) } else { file.persist_noclobber(&path) };
        persisted
            .map_err(|error| error.error)
            .with_context(|| format!("{}: cannot put the file there", path.display()))?;
        Ok(path)
    }
}

/// Looks whether a file may be written; `instead` says what to do if the path is that of something else than a file.
///
/// # Errors
/// If it is the database or belongs to it; if it is there and must not be overwritten.
pub(crate) fn check(
    path: &Path,
    overwrite: bool,
    database: Option<&Path>,
    instead: &str,
) -> anyhow::Result<()> {
    let shown = path.display();
    if let Some(database) = database {
        refuse_file_of(database, path)?;
    }
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => bail!("{shown}: not a file; {instead}"),
        Ok(_) if !overwrite => {
            bail!("{shown}: exists already; use --overwrite to replace it, or name another file")
        }
        _ => Ok(()),
    }
}

/// Says that no game fits, and what becomes of the file that was to be written.
pub(crate) fn not_written(path: &Path) -> String {
    let shown = path.display();
    match path.exists() {
        true => format!("no game fits; {shown} is as it was"),
        false => format!("no game fits; {shown} is not written"),
    }
}
