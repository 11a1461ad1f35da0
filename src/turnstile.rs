//! Work side by side that is handed over in order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets one piece of work after the other through, in the order of their numbers.
///
/// A worker takes pieces in order and passes each turn before it takes the next piece, so the piece whose turn it is is always
/// being worked on, and nobody waits for ever.
#[derive(Debug, Default)]
pub(crate) struct Turnstile {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    stopped: bool,
}

impl Turnstile {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is the turn of a number. Tells whether it is: nobody's turn comes any more after a stop.
    pub(crate) fn wait(&self, number: u64) -> bool {
        let mut state = self.lock();
        while state.next != number && !state.stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.stopped
    }

    /// Ends the turn of the number whose turn it is.
    pub(crate) fn pass(&self) {
        self.lock().next += 1;
        self.changed.notify_all();
    }

    /// Whether everybody is turned away.
    pub(crate) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// Turns everybody away.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}
