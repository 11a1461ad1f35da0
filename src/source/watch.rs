//! Whoever follows a search for sources.

use std::ops::ControlFlow;

/// Follows a search for sources, which can take long.
pub trait Watch {
    /// Takes note of how many more files and directories, and bytes of text, were looked at, and tells whether to go on.
    fn looked_at(&self, entries: u64, bytes: u64) -> ControlFlow<()>;
}

/// Nobody watches.
impl Watch for () {
    fn looked_at(&self, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
