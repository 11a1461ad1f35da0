//! An ordered queue for results of parallel work.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::parallel::lock;

/// Admits pieces of work one at a time, in the order of their numbers.
///
/// Workers must take the pieces in order, and each worker must end its turn before it takes its next piece.
/// Then the piece whose turn it is never waits for a later piece, so there cannot be a deadlock.
#[derive(Debug, Default)]
pub(crate) struct OrderedQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    stopped: bool,
}

impl OrderedQueue {
    /// Waits for the turn of a number. Returns `false` if the queue was stopped.
    pub(crate) fn wait(&self, number: u64) -> bool {
        let mut state = lock(&self.state);
        while state.next != number && !state.stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.stopped
    }

    /// Ends the current turn.
    pub(crate) fn pass(&self) {
        lock(&self.state).next += 1;
        self.changed.notify_all();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    /// Stops the queue: all current and later calls of [`wait`](Self::wait) return `false`.
    pub(crate) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.changed.notify_all();
    }
}
