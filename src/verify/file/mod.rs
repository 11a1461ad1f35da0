//! The file and its schema.

pub(crate) mod definition;
pub(crate) mod structure;
