//! Splits sources into chunks of whole games, in order.

pub(crate) mod feed;
pub(crate) mod lines;
pub(crate) mod stream;
