//! Divides the limit of open files among databases and client connections.

use crate::server::options::{Error, Options};

/// The maximum number of threads of the search pool, and also of the SQL pool.
pub(super) const SEARCH: usize = 2;
/// The maximum number of threads of the export pool.
pub(super) const EXPORT: usize = 8;

/// The number of files that the process itself needs: standard streams, listening sockets, descriptors that
/// wake its threads, and temporary files for sorting.
const OWN: usize = 20;
/// The number of files of an open database: the database, its write-ahead log, and the index of the log.
const DATABASE: usize = 3;
/// The maximum number of databases that a thread keeps open. This limits the memory, because each open
/// database has a page cache.
const OPEN: usize = 8;
/// The minimum number of client connections. The server does not start if fewer are possible.
const LEAST: usize = 4;
/// The highest limit of open files that the server requests from the system.
const MOST: u64 = 65_536;

/// How the limit of open files is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileLimits {
    /// The maximum number of databases that a thread keeps open.
    pub(super) open: usize,
    /// The maximum number of client connections.
    pub(super) connections: usize,
    /// The number of threads that all pools want together.
    wanted: usize,
    /// The number of threads that can each have one database open, if these databases together use at most
    /// half of the files that the server does not need itself.
    affordable: usize,
}

impl FileLimits {
    /// Raises the limit of open files as far as the system allows, at most to [`MOST`], and divides it.
    pub(super) fn shared_by(options: &Options) -> Result<Self, Error> {
        Self::share(allowed(), options)
    }

    fn share(files: usize, options: &Options) -> Result<Self, Error> {
        let databases = options.databases.len();
        let pools = [options.threads, SEARCH, SEARCH, EXPORT];
        let wanted = pools.iter().sum::<usize>();
        // There is a watching connection for each database.
        let own = OWN + DATABASE * databases;
        let left = files.saturating_sub(own);
        let affordable = left / 2 / DATABASE;
        let open = (affordable / wanted).clamp(1, OPEN.min(databases.max(1)));
        let mut files_of = Self { open, connections: 0, wanted, affordable };
        let threads: usize = pools.iter().map(|&pool| files_of.threads(pool)).sum();
        let used = threads * open * DATABASE;
        files_of.connections = options.connections.min(left.saturating_sub(used));
        if files_of.connections < LEAST {
            return Err(Error::FewFiles { allowed: files, least: own + pools.len() * DATABASE + LEAST });
        }
        Ok(files_of)
    }

    /// The number of threads that a pool gets if it wants `wanted` threads.
    pub(super) fn threads(self, wanted: usize) -> usize {
        (wanted * self.affordable / self.wanted).clamp(1, wanted.max(1))
    }
}

/// The number of files that can be open at once. Raises the limit first.
#[cfg(unix)]
fn allowed() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(MOST).min(MOST);
    if limit.current.is_some_and(|current| current < most) {
        // If this fails, the limit stays as it is.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum });
    }
    let now = getrlimit(Resource::Nofile).current.unwrap_or(MOST);
    usize::try_from(now).unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
const fn allowed() -> usize {
    MOST as usize
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_number_of_open_files_stays_within_the_limit() {
        for threads in [1, 2, 16, 64] {
            for databases in [1, 2, 60] {
                let options = Options { threads, ..Options::new(vec![PathBuf::new(); databases]) };
                for files in [40, 100, 256, 1024, 65_536] {
                    let Ok(shared) = FileLimits::share(files, &options) else {
                        assert!(files < OWN + DATABASE * databases + 16, "{files} {databases}");
                        continue;
                    };
                    let pools = [threads, SEARCH, SEARCH, EXPORT].map(|pool| shared.threads(pool));
                    let used = pools.iter().sum::<usize>() * shared.open * DATABASE;
                    assert!(OWN + DATABASE * databases + used + shared.connections <= files, "{shared:?}");
                    assert!(pools.iter().all(|&pool| pool > 0) && shared.connections >= LEAST);
                }
            }
        }
        let many = FileLimits::share(20_000, &Options::new(vec![PathBuf::new(); 60])).unwrap();
        assert_eq!((many.open, many.connections), (OPEN, 512));
    }
}
