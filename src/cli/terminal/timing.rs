//! Measures the time of a command.

use std::time::Instant;

use crate::cli::terminal::log::note;

/// Measures a command, if requested.
#[derive(Debug)]
pub(crate) struct Timing {
    start: Option<Instant>,
}

impl Timing {
    /// Starts measuring.
    pub(crate) fn start(wanted: bool) -> Self {
        Self { start: wanted.then(Instant::now) }
    }

    /// Writes the time since the start to standard error.
    pub(crate) fn report(&self) {
        if let Some(start) = self.start {
            note(&format!("took {:.2} ms", start.elapsed().as_secs_f64() * 1000.0));
        }
    }
}
