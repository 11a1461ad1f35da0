//! Arguments of the commands that let others ask what they like: by SQL, over HTTP.

#[cfg(feature = "serve")]
mod serve;
mod sql;

#[cfg(feature = "serve")]
pub(crate) use serve::ServeArgs;
pub(crate) use sql::{SqlArgs, SqlFormat, parameter_name, parameter_value, query_text};
