//! The served databases, and detection of their changes.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use form_urlencoded::byte_serialize;
use serde::Serialize;

use crate::parallel::lock;
use crate::server::answer::Problem;
use crate::server::options::Error;
use crate::store::{self, Database, FileId};

pub(super) struct Databases {
    served: Vec<Arc<ServedDatabase>>,
}

pub(super) struct ServedDatabase {
    /// Its name in URLs.
    pub(super) name: String,
    pub(super) path: PathBuf,
    watch: Mutex<ChangeWatch>,
}

/// The served databases.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct DatabaseList {
    /// The databases, in the order given when the server was started.
    databases: Vec<ListedDatabase>,
}

/// A served database.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct ListedDatabase {
    /// Name of the database: its file name without the extension, made unique.
    name: String,
    /// Prefix of the paths of this database's routes: `/db/NAME`.
    path: String,
    /// Whether routes without a prefix use this database, too.
    is_first: bool,
}

/// Identifies the state of a database. In equal states, the answers to the same request are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// When the server started. An earlier run of the server can have had the same version numbers.
    began: SystemTime,
    pub(super) file: FileId,
    /// How many times [`ChangeWatch`] opened its connection. Each connection has its own version numbers.
    opened: u64,
    /// SQLite's data version on this connection.
    version: i64,
}

/// A connection that is used only to detect changes of the database.
struct ChangeWatch {
    began: SystemTime,
    open: Option<(FileId, Database)>,
    opened: u64,
}

impl ChangeWatch {
    /// The data version on the connection. If the connection is not open, or is open to another file, first
    /// switches the file to a write-ahead log, then opens the connection. The switch is possible only while
    /// the file is not in use, so this server must not have the file open either.
    fn version(&mut self, path: &Path, file: FileId) -> store::Result<i64> {
        if let Some((open, database)) = &self.open
            && *open == file
        {
            return database.data_version();
        }
        self.open = None;
        Database::share(path);
        let database = Database::open_read_only(path)?;
        self.opened += 1;
        self.open.insert((file, database)).1.data_version()
    }
}

impl State {
    /// An entity tag for the answer to a request in this state.
    pub(super) fn tag(&self, target: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (self, target, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish())
    }
}

impl Databases {
    /// Opens all databases once, so that errors are reported at the start, not with the first request.
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut served: Vec<Arc<ServedDatabase>> = Vec::new();
        for path in paths {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| !stem.is_empty());
            let stem = stem.ok_or_else(|| Error::NoName { path: path.clone() })?;
            let is_free = |name: &String| served.iter().all(|other| other.name != *name);
            let mut names = std::iter::once(stem.to_owned()).chain((2..).map(|n| format!("{stem}-{n}")));
            let name = names.find(is_free).expect("a number is free");
            let mut watch = ChangeWatch { began: SystemTime::now(), open: None, opened: 0 };
            drop(Database::open_read_only(path)?);
            if let Ok(file) = FileId::from_path(path) {
                watch.version(path, file)?;
            }
            served.push(Arc::new(ServedDatabase { name, path: path.clone(), watch: Mutex::new(watch) }));
        }
        if served.is_empty() { Err(Error::NoDatabase) } else { Ok(Self { served }) }
    }

    /// Closes the watching connections, and removes the write-ahead logs. The log of a database that is still
    /// in use is not removed.
    pub(super) fn close(&self) {
        for served in &self.served {
            let mut watch = lock(&served.watch);
            watch.open = None;
            Database::end_sharing(&served.path);
        }
    }

    pub(super) fn list(&self) -> DatabaseList {
        let databases = self.served.iter().enumerate().map(|(at, served)| ListedDatabase {
            name: served.name.clone(),
            // Encoded as in a form, except for the space.
            path: format!(
                "/db/{}",
                byte_serialize(served.name.as_bytes()).collect::<String>().replace('+', "%20")
            ),
            is_first: at == 0,
        });
        DatabaseList { databases: databases.collect() }
    }

    /// The database called `name`, or the first database if `name` is `None`. Returns `None` if there is no such
    /// database.
    pub(super) fn named(&self, name: Option<&str>) -> Option<&Arc<ServedDatabase>> {
        self.served.iter().find(|served| name.is_none_or(|name| served.name == name))
    }
}

/// The title of problems with an existing database.
const UNREADABLE: &str = "database cannot be read";

impl ServedDatabase {
    /// The current state. Opens the watching connection again if the file was replaced.
    pub(super) fn state(&self) -> Result<State, Problem> {
        let file = FileId::from_path(&self.path).map_err(|error| self.unavailable(&error))?;
        let mut watch = lock(&self.watch);
        let version = watch.version(&self.path, file).map_err(|error| self.unusable(&error))?;
        Ok(State { began: watch.began, file, opened: watch.opened, version })
    }

    fn unavailable(&self, error: &io::Error) -> Problem {
        let name = &self.name;
        if error.kind() == io::ErrorKind::NotFound {
            let detail =
                format!("The file of the database {name} is missing; restore it, or use another database.");
            return Problem::unavailable("database is missing", detail);
        }
        Problem::unavailable(UNREADABLE, format!("The file of the database {name} cannot be read: {error}."))
    }

    pub(super) fn unusable(&self, error: &store::Error) -> Problem {
        Problem::unavailable(UNREADABLE, format!("{}: {error}", self.name))
    }
}
