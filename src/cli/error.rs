//! Errors of commands, and functions that recognise errors of the library.

use std::io;

#[cfg(feature = "parquet")]
use pgndex::columnar;
use pgndex::{index as index_job, query, store, verify};

/// The error for an invalid value of an argument that clap cannot check.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct WrongValue(pub(crate) anyhow::Error);

/// A command that writes a file was stopped.
#[derive(Debug, thiserror::Error)]
#[error("stopped; nothing was written")]
pub(crate) struct Stopped;

/// Whether the reader of the output has disconnected, as in `pgndex sql … | head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    io_errors(error).any(|kind| kind == io::ErrorKind::BrokenPipe)
}

/// The kinds of system errors within an error.
pub(crate) fn io_errors(error: &anyhow::Error) -> impl Iterator<Item = io::ErrorKind> {
    error.chain().flat_map(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let csv = cause.downcast_ref::<csv::Error>().and_then(|error| match error.kind() {
            csv::ErrorKind::Io(error) => Some(error.kind()),
            _ => None,
        });
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        [io, csv, json].into_iter().flatten()
    })
}

/// Whether another program is writing the database.
pub(crate) fn is_busy(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| store_error(cause).is_some_and(store::Error::is_busy))
}

/// Whether the work was stopped on request.
pub(crate) fn is_stop(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        matches!(store_error(cause), Some(store::Error::Interrupted))
            || matches!(
                cause.downcast_ref(),
                Some(index_job::Error::Stopped | index_job::Error::Partial { source: None, .. })
            )
            || matches!(cause.downcast_ref(), Some(verify::Error::Stopped))
            || cause.is::<Stopped>()
    })
}

/// The error of Parquet files within an error, if there is one.
#[cfg(feature = "parquet")]
pub(crate) fn parquet_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e columnar::Error> {
    match error.downcast_ref() {
        Some(index_job::Error::Parquet(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// The error of a database within an error, if there is one.
pub(crate) fn store_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e store::Error> {
    if let Some(index_job::Error::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    #[cfg(feature = "parquet")]
    if let Some(columnar::Error::Store(error)) = parquet_error(error) {
        return Some(error);
    }
    #[cfg(feature = "serve")]
    if let Some(pgndex::server::Error::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(query::Error::Store(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_recognised_through_every_layer() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_closed_pipe(&anyhow::Error::from(broken()).context("writing")));
        assert!(is_closed_pipe(&csv::Error::from(broken()).into()));
        assert!(is_closed_pipe(&serde_json::Error::io(broken()).into()));
        assert!(!is_closed_pipe(&io::Error::other("full").into()));
    }
}
