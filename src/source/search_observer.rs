//! Watches a search for sources.

use std::ops::ControlFlow;

/// Breaks if the observer stops the search.
pub(super) type Flow = ControlFlow<()>;

/// Watches a search for sources, which can take a long time.
pub trait SearchObserver {
    /// Called with the number of files and directories, and the number of bytes of text, that were examined
    /// since the last call. Returns whether to continue.
    fn looked_at(&self, entries: u64, bytes: u64) -> ControlFlow<()>;
}

/// An observer that never stops the search.
impl SearchObserver for () {
    fn looked_at(&self, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
