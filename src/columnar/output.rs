//! The output directory: files have temporary names until all of them are complete, and then a manifest lists
//! them. Also the errors of writing and reading Parquet files.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use arrow_array::ArrayRef;
use serde::{Deserialize, Serialize};

use super::game::PartitionBy;
use super::part::{Encoder, ListedFile, Part};
use super::schema::{LAYOUT_VERSION, Placed, TABLES, Table};
use crate::parallel::lock;
use crate::sort;
use crate::store::row::CountedGame;
use crate::store::{self, WriterLock, directory_of, sync_directory};

/// The suffix of incomplete files.
pub(super) const PARTIAL: &str = ".partial";

/// Why Parquet files could not be written or read. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or the database could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The directory already contains Parquet files of this shard.
    #[error(
        "{}: already has Parquet files of shard {shard}; name another directory or shard, or allow replacing them",
        directory.display()
    )]
    Exists {
        /// The directory.
        directory: PathBuf,
        /// The shard.
        shard: u32,
    },
    /// The directory contains something that pgndex did not write.
    #[error(
        "{}: not made by pgndex, so nothing is written into {}; name an empty directory",
        path.display(), directory.display()
    )]
    Foreign {
        /// The directory.
        directory: PathBuf,
        /// The unexpected file.
        path: PathBuf,
    },
    /// The path exists, but is not a directory.
    #[error("{}: not a directory; Parquet files are written into a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// The directory has no manifest, so no run has finished writing Parquet files there.
    #[error(
        "{}: has no _manifest-*.json, so no run has finished writing Parquet files here; write them again, or name the \
         directory that they were written to", directory.display()
    )]
    NoManifest {
        /// The directory.
        directory: PathBuf,
    },
    /// The manifest is invalid.
    #[error("{}: not a manifest of this version of pgndex: {reason}; write the files again, or use the version that wrote them", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<sort::Error> for store::Error {
    fn from(sort::Error { directory, source }: sort::Error) -> Self {
        Self::io(&directory, "use a temporary file there", source)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) layout_version: u32,
    pub(super) program_version: String,
    pub(super) shard: u32,
    /// How games are partitioned into directories.
    pub(super) partition_by: String,
    /// The minimum number of games that must reach a position for its moves to be counted.
    pub(super) continuation_threshold: u32,
    /// Who writes the tables that are sorted by key.
    #[serde(default)]
    pub(super) by_key: WrittenBy,
    pub(super) tables: Vec<TableTotals>,
    /// The files, in the order of their paths.
    pub(super) files: Vec<ListedFile>,
}

/// Who writes the tables that are sorted by key: each run for its shard, or a later job for all shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WrittenBy {
    /// Each run writes `position_game` and `continuation`, with the rows of its shard.
    #[default]
    Run,
    /// After all runs, a job writes `position_game` and `continuation`, with the rows of all shards. Before
    /// that, each run writes its rows of `position_game` to one sorted file, and no rows of `continuation`.
    /// The job removes these files from the directory and from the manifests.
    Job,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TableTotals {
    pub(super) table: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// How to write files.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    pub(crate) partition_by: PartitionBy,
    pub(crate) continuation_threshold: u32,
    /// Who writes the tables that are sorted by key.
    pub(crate) by_key: WrittenBy,
    /// The memory for sorting positions, in bytes.
    pub(crate) memory: u64,
    /// The directory of temporary files.
    pub(crate) temp_dir: PathBuf,
}

impl Manifest {
    /// The prefix of a manifest's name. Engines ignore files whose names begin with `_`.
    const PREFIX: &str = "_manifest-";

    fn path(directory: &Path, shard: u32) -> PathBuf {
        directory.join(format!("{}{shard:05}.json", Self::PREFIX))
    }

    /// Reads all manifests of a directory. Fails if there are none.
    pub(super) fn all(directory: &Path) -> Result<Vec<Self>> {
        let mut entries = entries(directory)?;
        entries.retain(|entry| is_manifest(&entry.file_name().to_string_lossy()));
        let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
        paths.sort();
        if paths.is_empty() {
            return Err(Error::NoManifest { directory: directory.to_owned() });
        }
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Result<Self> {
        let text = fs::read(path).map_err(|source| store::Error::io(path, "read", source))?;
        let failed = |reason: String| Error::Manifest { path: path.to_owned(), reason };
        let value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
        let version = value["layout_version"].as_u64();
        if version != Some(LAYOUT_VERSION.into()) {
            return Err(failed(format!("its layout version is {}", value["layout_version"])));
        }
        serde_json::from_value(value).map_err(|error| failed(error.to_string()))
    }
}

fn is_manifest(name: &str) -> bool {
    name.starts_with(Manifest::PREFIX) && name.ends_with(".json")
}

/// An output directory, locked for writing one shard.
#[derive(Debug)]
pub(crate) struct Output {
    directory: PathBuf,
    pub(super) shard: u32,
    /// `None` once the output is finished.
    lock: Option<WriterLock>,
    /// The complete files, listed under their final names.
    files: Mutex<Vec<ListedFile>>,
}

impl Output {
    /// Creates the directory if it does not exist, and locks a shard in it. Removes the files of this shard
    /// that an earlier run left incomplete or, if the shard has no manifest, all files of this shard.
    ///
    /// # Errors
    /// If the directory has a manifest of this shard and `overwrite` is false. If the shard is locked. If the
    /// directory contains something that pgndex did not write, or is not a directory. Errors of the system.
    pub(crate) fn create(directory: &Path, shard: u32, overwrite: bool) -> Result<Self> {
        if directory.exists() && !directory.is_dir() {
            return Err(Error::NotADirectory { path: directory.to_owned() });
        }
        if let Err(error) = fs::create_dir(directory)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(store::Error::directory(directory_of(directory), error).into());
        }
        refuse_foreign(directory)?;
        let lock = Some(WriterLock::acquire(&Manifest::path(directory, shard))?);
        let output = Self { directory: directory.to_owned(), shard, lock, files: Mutex::default() };
        let has_files = output.has_files();
        if has_files && !overwrite {
            return Err(Error::Exists { directory: directory.to_owned(), shard });
        }
        // Existing files stay until the new ones are complete.
        output.remove_parts(&|name| !has_files || name.ends_with(PARTIAL))?;
        Ok(output)
    }

    /// Whether the directory has a manifest of this shard. If so, the files of this shard will be replaced.
    pub(crate) fn has_files(&self) -> bool {
        Manifest::path(&self.directory, self.shard).exists()
    }

    /// Begins a file of this shard in the directory of the table, or in its subdirectory `directories`, such
    /// as `year=2026/month=10/`. `number` is the index of the file among the shard's files in this directory.
    pub(super) fn part(&self, encoder: &Encoder, directories: &str, number: u32) -> store::Result<Part> {
        let path = format!("{}/{directories}part-{:05}-{number:05}.parquet", encoder.table.name, self.shard);
        let partial = self.directory.join(format!("{path}{PARTIAL}"));
        if let Some(parent) = partial.parent() {
            fs::create_dir_all(parent).map_err(|source| store::Error::io(parent, "make", source))?;
        }
        Part::create(encoder, path, partial)
    }

    /// Appends rows, if there are any, to the only file of this shard in a directory. The file is created before
    /// the first rows are appended.
    pub(super) fn append(
        &self,
        part: &mut Option<Part>,
        encoder: &Encoder,
        directories: &str,
        columns: &[ArrayRef],
    ) -> store::Result<()> {
        if columns.first().is_none_or(|column| column.is_empty()) {
            return Ok(());
        }
        let part = match part {
            Some(part) => part,
            none => none.insert(self.part(encoder, directories, 0)?),
        };
        part.append(encoder.encode(columns))
    }

    /// Completes a file, if there is one. The file keeps its temporary name.
    pub(super) fn complete(&self, part: Option<Part>) -> store::Result<()> {
        if let Some(part) = part {
            let file = part.finish()?;
            lock(&self.files).push(file);
        }
        Ok(())
    }

    /// Writes a file without rows for each empty table: otherwise engines would not know its columns.
    fn complete_empty_tables(&self, partition_by: PartitionBy) -> store::Result<()> {
        for table in TABLES {
            let is_empty = !lock(&self.files).iter().any(|file| file.table == table.name);
            if is_empty {
                let directories = match table.placed {
                    Placed::ByDate => partition_by.of(CountedGame::NONE).to_string(),
                    Placed::ByKey => "key_prefix=0/".to_owned(),
                    Placed::Together => String::new(),
                };
                self.complete(Some(self.part(&Encoder::new(table), &directories, 0)?))?;
            }
        }
        Ok(())
    }

    /// Removes the earlier files of this shard, renames all new files to their final names, and writes the
    /// manifest. Returns the totals of the files.
    pub(super) fn finish(mut self, options: &WriteOptions) -> store::Result<Totals> {
        self.complete_empty_tables(options.partition_by)?;
        let mut files = std::mem::take(&mut *lock(&self.files));
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let manifest = Manifest::path(&self.directory, self.shard);
        let failed = |source| store::Error::io(&self.directory, "write into", source);
        let of_table = |table: &&Table| {
            let files = files.iter().filter(|file| file.table == table.name);
            let (rows, bytes) =
                files.fold((0, 0), |(rows, bytes), file| (rows + file.rows, bytes + file.bytes));
            TableTotals { table: table.name.to_owned(), rows, bytes }
        };
        let written = Manifest {
            layout_version: LAYOUT_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            shard: self.shard,
            partition_by: options.partition_by.as_str().to_owned(),
            continuation_threshold: options.continuation_threshold,
            by_key: options.by_key,
            tables: TABLES.iter().map(of_table).collect(),
            files,
        };
        // Everything that takes space is written before the earlier files of this shard are removed.
        let text = serde_json::to_string_pretty(&written).map_err(|error| failed(error.into()))?;
        let temporary = self.temporary_manifest();
        let write = || {
            let mut file = fs::File::create(&temporary)?;
            writeln!(file, "{text}")?;
            file.sync_all()?;
            sync_files(&self.directory, &written.files)
        };
        write().map_err(failed)?;
        if manifest.exists() {
            fs::remove_file(&manifest).map_err(failed)?;
            self.remove_parts(&|name| !name.ends_with(PARTIAL))?;
        }
        self.rename_parts(&written.files).map_err(failed)?;
        fs::rename(&temporary, &manifest).and_then(|()| sync_directory(&self.directory)).map_err(failed)?;
        self.lock = None;
        let rows = |name: &str| {
            written.tables.iter().find(|totals| totals.table == name).map_or(0, |totals| totals.rows)
        };
        Ok(Totals {
            games: rows("game"),
            positions: rows("game_position"),
            files: written.files.len() as u64,
            bytes: written.files.iter().map(|file| file.bytes).sum(),
            ..Totals::default()
        })
    }

    /// Renames files to their final names and syncs their directories.
    fn rename_parts(&self, files: &[ListedFile]) -> io::Result<()> {
        let mut directories = Vec::new();
        for file in files {
            let path = self.directory.join(&file.path);
            fs::rename(format!("{}{PARTIAL}", path.display()), &path)?;
            let parents = path.ancestors().skip(1).take_while(|parent| parent.starts_with(&self.directory));
            directories.extend(parents.map(Path::to_owned));
        }
        directories.sort();
        directories.dedup();
        directories.iter().rev().try_for_each(|directory| sync_directory(directory))
    }

    /// The temporary name of the manifest.
    fn temporary_manifest(&self) -> PathBuf {
        self.lock.as_ref().expect("until the end").temporary("manifest")
    }

    /// Removes the files of this shard whose names satisfy `is_removed`.
    fn remove_parts(&self, is_removed: &dyn Fn(&str) -> bool) -> store::Result<()> {
        let prefix = format!("part-{:05}-", self.shard);
        for table in TABLES {
            let directory = self.directory.join(table.name);
            remove_files(&directory, &|name| name.starts_with(&prefix) && is_removed(name))
                .map_err(|source| store::Error::io(&directory, "remove old files from", source))?;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // The next run removes files that cannot be removed now. Without a manifest, even complete files
            // are useless.
            let _ = fs::remove_file(self.temporary_manifest());
            let has_files = self.has_files();
            let _ = self.remove_parts(&|name| !has_files || name.ends_with(PARTIAL));
            self.lock = None;
            let _ = fs::remove_dir(&self.directory);
        }
    }
}

/// The totals of the written files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of rows of `game`.
    pub games: u64,
    /// The number of rows of `game_position`.
    pub positions: u64,
    /// The number of distinct keys of positions.
    pub distinct_positions: u64,
    /// The number of files.
    pub files: u64,
    /// The size of all files, in bytes.
    pub bytes: u64,
    /// The number of bytes written to temporary files.
    pub spilled_bytes: u64,
}

/// The entries of a directory.
pub(super) fn entries(directory: &Path) -> Result<Vec<fs::DirEntry>> {
    let entries = fs::read_dir(directory).and_then(Iterator::collect);
    Ok(entries.map_err(|source| store::Error::io(directory, "read", source))?)
}

/// Fails if a directory contains anything that does not belong to this layout.
fn refuse_foreign(directory: &Path) -> Result<()> {
    for entry in entries(directory)? {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_table = TABLES.iter().any(|table| table.name == name) && entry.path().is_dir();
        let is_ours = is_table || is_manifest(&name) || name.starts_with(&format!(".{}", Manifest::PREFIX));
        if !is_ours {
            return Err(Error::Foreign { directory: directory.to_owned(), path: entry.path() });
        }
    }
    Ok(())
}

/// Removes the files whose names satisfy `is_removed` from a directory and its subdirectories. Then removes
/// all of these directories that are empty.
fn remove_files(directory: &Path, is_removed: &dyn Fn(&str) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_files(&entry.path(), is_removed)?;
        } else if is_removed(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    // A directory that is not empty stays.
    let _ = fs::remove_dir(directory);
    Ok(())
}

/// Syncs all files to disk together: there can be thousands of them, and syncing each one separately takes
/// many times as long.
#[cfg(target_os = "linux")]
fn sync_files(directory: &Path, _: &[ListedFile]) -> io::Result<()> {
    Ok(rustix::fs::syncfs(fs::File::open(directory)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_files(directory: &Path, files: &[ListedFile]) -> io::Result<()> {
    let sync = |file: &ListedFile| {
        // Windows can sync only files that are open for writing.
        let path = directory.join(format!("{}{PARTIAL}", file.path));
        fs::OpenOptions::new().write(true).open(path)?.sync_all()
    };
    files.iter().try_for_each(sync)
}
