//! SQL texts: their words, whether they end with a complete statement, and the places of errors in them.

mod location;
mod statement_end;
mod words;

pub use location::SqlLocation;
pub use statement_end::is_complete;
#[cfg(feature = "serve")]
pub(crate) use words::is_of_name;
pub(crate) use words::words;
