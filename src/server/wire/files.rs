//! How many files the process may have open, and who may have how many of them.

use crate::server::error::Error;
use crate::server::options::Options;

/// Threads that search and threads that run SQL, each; threads that export.
pub(super) const SEARCH: usize = 2;
pub(super) const EXPORT: usize = 8;

/// Files of the process itself: standard streams, sockets that listen or wake, temporary files of sorts.
const OWN: usize = 20;
/// Files of an open database: with a write-ahead log it has three.
const DATABASE: usize = 3;
/// How many databases a thread keeps open at most; each has a page cache.
const OPEN: usize = 8;
/// Fewer connections than these are of no use.
const LEAST: usize = 4;
/// How many files are asked of the system at most.
const MOST: u64 = 65_536;

/// What the files that may be open are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Files {
    /// How many databases a thread keeps open.
    pub(super) open: usize,
    /// How many connections from clients there may be.
    pub(super) connections: usize,
    /// All threads that there should be, and all for which there are files.
    wanted: usize,
    affordable: usize,
}

impl Files {
    /// Asks the system for more files, and shares out those that there are.
    pub(super) fn shared_by(options: &Options) -> Result<Self, Error> {
        Self::share(allowed(), options)
    }

    fn share(files: usize, options: &Options) -> Result<Self, Error> {
        let databases = options.databases.len();
        let pools = [options.threads, SEARCH, SEARCH, EXPORT];
        let wanted = pools.iter().sum::<usize>();
        // Each database is watched.
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

    /// How many threads a pool has that should have so many.
    pub(super) fn threads(self, wanted: usize) -> usize {
        (wanted * self.affordable / self.wanted).clamp(1, wanted.max(1))
    }
}

/// How many files may be open, after the system was asked for more.
#[cfg(unix)]
fn allowed() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(MOST).min(MOST);
    if limit.current.is_some_and(|current| current < most) {
        // If it is refused, there are those that there were.
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
    fn no_more_files_are_used_than_there_are() {
        for threads in [1, 2, 16, 64] {
            for databases in [1, 2, 60] {
                let options = Options { threads, ..Options::new(vec![PathBuf::new(); databases]) };
                for files in [40, 100, 256, 1024, 65_536] {
                    let Ok(shared) = Files::share(files, &options) else {
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
        let many = Files::share(20_000, &Options::new(vec![PathBuf::new(); 60])).unwrap();
        assert_eq!((many.open, many.connections), (OPEN, 512));
    }
}
