//! Watches a search for sources.

use std::ops::ControlFlow;

/// Watches a search for sources, which can take long.
pub trait SearchObserver {
    /// Reports how many more files and directories, and bytes of text, were examined. Returns whether to
    /// continue.
    fn looked_at(&self, entries: u64, bytes: u64) -> ControlFlow<()>;
}

/// No watcher.
impl SearchObserver for () {
    fn looked_at(&self, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
