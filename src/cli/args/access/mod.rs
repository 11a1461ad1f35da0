//! Arguments of `pgndex sql` and `pgndex serve`.

#[cfg(feature = "serve")]
mod serve;
mod sql;

#[cfg(feature = "serve")]
pub(crate) use serve::ServeArgs;
pub(crate) use sql::{SqlArgs, SqlFormat, parameter_name, parameter_value, query_text};
