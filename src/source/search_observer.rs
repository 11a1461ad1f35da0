//! Watches a search for sources.

use std::ops::ControlFlow;

/// Watches a search for sources, which can take long.
pub trait SearchObserver {
    /// Called with the number of further files and directories, and of further bytes of text, that were
    /// examined. Returns whether to continue.
    fn looked_at(&self, entries: u64, bytes: u64) -> ControlFlow<()>;
}

/// An observer that never stops the search.
impl SearchObserver for () {
    fn looked_at(&self, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
