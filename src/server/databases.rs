//! The databases that are served, and whether they have changed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde::Serialize;

use crate::server::answer::Problem;
use crate::server::error::Error;
use crate::store::{self, Database, FileId};

/// The databases that are served.
pub(super) struct Databases {
    served: Vec<Served>,
}

/// A database that is served.
pub(super) struct Served {
    /// What it is called in addresses.
    pub(super) name: String,
    pub(super) path: PathBuf,
    watch: Mutex<Watch>,
}

/// The databases that there are, and where they are to be asked.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct DatabaseList {
    databases: Vec<ListedDatabase>,
}

/// A database of the list.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct ListedDatabase {
    name: String,
    /// What the addresses that ask it begin with.
    path: String,
    /// Whether it is also the one at the root.
    is_first: bool,
}

/// The number of a database among those that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DatabaseIndex(pub(super) usize);

/// What a database holds, told from what it held before: answers to the same question are the same as long as this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// When the server began, as numbers of versions count from there.
    began: SystemTime,
    pub(super) file: FileId,
    /// How often the file was opened.
    opened: u64,
    /// SQLite's own number of the version, on the connection that watches.
    version: i64,
}

/// A connection that does nothing but tell when others have written.
struct Watch {
    began: SystemTime,
    open: Option<(FileId, Database)>,
    opened: u64,
}

impl Watch {
    /// Opens it; before that, nobody of this server reads the file.
    fn open(&mut self, path: &Path, file: FileId) -> store::Result<()> {
        self.open = None;
        Database::share(path);
        self.open = Some((file, Database::open_read_only(path)?));
        self.opened += 1;
        Ok(())
    }
}

impl State {
    /// A text that tells the answer to a question from that in any other state.
    pub(super) fn tag(&self, question: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (self, question, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish())
    }
}

impl Databases {
    /// Looks at all of them: those that cannot be opened are told now, not when somebody asks.
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut served: Vec<Served> = Vec::new();
        for path in paths {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| !stem.is_empty());
            let stem = stem.ok_or_else(|| Error::NoName { path: path.clone() })?;
            let is_free = |name: &String| served.iter().all(|other| other.name != *name);
            let mut names = std::iter::once(stem.to_owned()).chain((2..).map(|n| format!("{stem}-{n}")));
            let name = names.find(is_free).ok_or_else(|| Error::NoName { path: path.clone() })?;
            let mut watch = Watch { began: SystemTime::now(), open: None, opened: 0 };
            drop(Database::open_read_only(path)?);
            if let Ok(file) = FileId::of(path) {
                watch.open(path, file)?;
            }
            served.push(Served { name, path: path.clone(), watch: Mutex::new(watch) });
        }
        if served.is_empty() { Err(Error::NoDatabase) } else { Ok(Self { served }) }
    }

    /// Closes them, when nobody else of this server has one open.
    pub(super) fn close(&self) {
        for served in &self.served {
            let mut watch = served.watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch.open = None;
            Database::end_sharing(&served.path);
        }
    }

    pub(super) fn get(&self, DatabaseIndex(index): DatabaseIndex) -> &Served {
        &self.served[index]
    }

    pub(super) fn list(&self) -> DatabaseList {
        let databases = self.served.iter().enumerate().map(|(at, served)| ListedDatabase {
            name: served.name.clone(),
            path: format!("/db/{}", in_path(&served.name)),
            is_first: at == 0,
        });
        DatabaseList { databases: databases.collect() }
    }

    /// The database with a name; the first one without.
    pub(super) fn named(&self, name: Option<&str>) -> Option<DatabaseIndex> {
        let position = match name {
            None => Some(0),
            Some(name) => self.served.iter().position(|served| served.name == name),
        };
        position.map(DatabaseIndex)
    }
}

/// A name as a part of a path.
fn in_path(name: &str) -> String {
    // As in a form, but for the space.
    form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}

impl Served {
    /// What it holds now.
    pub(super) fn state(&self) -> Result<State, Problem> {
        let file = FileId::of(&self.path).map_err(|error| self.gone(&error))?;
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if watch.open.as_ref().is_none_or(|(open, _)| *open != file) {
            watch.open(&self.path, file).map_err(|error| self.unusable(&error))?;
        }
        let version = match &watch.open {
            Some((_, database)) => database.data_version().map_err(|error| self.unusable(&error))?,
            None => 0,
        };
        Ok(State { began: watch.began, file, opened: watch.opened, version })
    }

    fn gone(&self, error: &io::Error) -> Problem {
        let detail = match error.kind() {
            io::ErrorKind::NotFound => {
                format!("The file of the database {} is gone; put it back or ask for another one.", self.name)
            }
            _ => format!("The file of the database {} cannot be read: {error}.", self.name),
        };
        Problem::unavailable("database is gone", detail)
    }

    pub(super) fn unusable(&self, error: &store::Error) -> Problem {
        Problem::unavailable("database cannot be read", format!("{}: {error}", self.name))
    }
}
