//! Compares games with the text that they were read from.

pub(crate) mod packed;
pub(crate) mod readings;
pub(crate) mod text;
