//! Single games: their rows as people see them, and as they are compared and counted.

pub(crate) mod compared;
pub(crate) mod outcome;
pub(crate) mod record;
