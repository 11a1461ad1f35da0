//! What a run is asked to do, and the space it needs.

pub(crate) mod options;
pub(crate) mod space;
