//! Memory-mapped files.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memmap2::Mmap;

use super::{Error, Result};
use crate::channel::{self, Sender, bounded};

/// Tells the operating system that pages need not stay in memory.
#[cfg(unix)]
fn drop_pages(map: &Mmap, range: Range<usize>) {
    let advice = memmap2::UncheckedAdvice::DontNeed;
    // SAFETY: the map is shared, read-only and backed by the file: dropped pages are read again from the
    // file.
    let _ = unsafe { map.unchecked_advise_range(advice, range.start, range.len()) };
}

/// Does nothing, because Windows drops pages of a file by itself when it needs memory.
#[cfg(not(unix))]
fn drop_pages(_: &Mmap, _: Range<usize>) {}

/// The bytes of a file, which the operating system reads as needed.
#[derive(Debug)]
pub struct Mapped {
    map: Option<Mmap>,
}

impl Mapped {
    /// Maps a file.
    ///
    /// # Errors
    /// If the file cannot be opened or mapped.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |error| Error::io(path, error);
        Self::from_file(&File::open(path).map_err(io)?).map_err(io)
    }

    /// Maps an open file.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn from_file(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the map is read-only. If another program changes the file meanwhile, the bytes can change,
        // but parsing does not require that they stay the same. If the file is truncated, the process ends
        // with SIGBUS, which is documented for users.
        let map = unsafe { Mmap::map(file) }?;
        // Windows has no such advice.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Self { map: Some(map) })
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Tells the operating system that these bytes will not be read again soon, so that they need not stay in
    /// memory.
    pub fn release(&self, range: Range<usize>) {
        const PAGE: usize = 4096;
        // The first page has been read completely; the last page can still be needed.
        let (start, end) = (range.start / PAGE * PAGE, range.end / PAGE * PAGE);
        if let Some(map) = self.map.as_ref().filter(|_| start < end) {
            drop_pages(map, start..end);
        }
    }

    /// Keeps a long part of the file from accumulating in memory while other threads read it. Until the
    /// returned value is dropped, the whole part is [released](Self::release) repeatedly. `None` if the part
    /// is too short for that, or if no thread can be started.
    #[must_use]
    pub fn keep_small(self: &Arc<Self>, range: Range<usize>) -> Option<MemoryLimitGuard> {
        const LONG: usize = 16 << 20;
        /// The time between two releases. At most about 50 MiB can be read in this time.
        const PAUSE: Duration = Duration::from_millis(10);
        if range.len() < LONG {
            return None;
        }
        let (map, (stop, stopped)) = (Arc::clone(self), bounded::<()>(0));
        let release = move || {
            while stopped.recv_timeout(PAUSE) == Err(channel::Error::Timeout) {
                map.release(range.clone());
            }
        };
        let thread = thread::Builder::new().name("release".into()).spawn(release).ok()?;
        Some(MemoryLimitGuard(Some((stop, thread))))
    }
}

/// While this value exists, a part of a file takes little memory (see [`Mapped::keep_small`]).
#[derive(Debug)]
pub struct MemoryLimitGuard(Option<(Sender<()>, JoinHandle<()>)>);

impl Drop for MemoryLimitGuard {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            // This wakes the thread, which then ends.
            drop(stop);
            let _ = thread.join();
        }
    }
}
