//! Errors in the format of RFC 9457.

use std::error::Error as _;
use std::time::Duration;

use serde::Serialize;

use crate::query::{self, PositionError};
use crate::store::{self, ErrorKind};

/// An error response: `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(in crate::server) struct Problem {
    /// The HTTP status.
    pub(in crate::server) status: u16,
    /// The kind of problem: the same text for all problems of a kind.
    pub(in crate::server) title: &'static str,
    /// What is wrong in this case, and what to do.
    pub(in crate::server) detail: String,
    /// The parameter that caused the problem, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) parameter: Option<String>,
    /// The number of seconds after which to retry.
    #[serde(skip)]
    pub(in crate::server) retry_after: Option<u32>,
}

impl Problem {
    pub(in crate::server) const CONTENT_TYPE: &'static str = "application/problem+json";

    pub(in crate::server) fn new(status: u16, title: &'static str, detail: impl Into<String>) -> Self {
        Self { status, title, detail: detail.into(), parameter: None, retry_after: None }
    }

    /// An invalid parameter. A long name is shortened.
    pub(in crate::server) fn parameter(name: &str, detail: impl std::fmt::Display) -> Self {
        let name: String = name.chars().take(100).collect();
        let detail = format!("{name}: {detail}");
        Self { parameter: Some(name), ..Self::new(400, "wrong parameter", detail) }
    }

    /// A parameter that is not a valid position, with the reason.
    pub(in crate::server) fn position(name: &str, error: &PositionError) -> Self {
        let cause = error.source().map_or_else(String::new, |cause| format!("; because: {cause}"));
        Self::parameter(name, format!("{error}{cause}"))
    }

    pub(in crate::server) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(404, "not found", detail)
    }

    pub(in crate::server) fn no_database() -> Self {
        Self::not_found("There is no database with this name; /api/databases lists all names.")
    }

    /// `detail` says how to use the path.
    pub(in crate::server) fn wrong_method(detail: impl Into<String>) -> Self {
        Self::new(405, "method not allowed", detail)
    }

    pub(in crate::server) fn unavailable(title: &'static str, detail: impl Into<String>) -> Self {
        Self { retry_after: Some(5), ..Self::new(503, title, detail) }
    }

    /// The queue is full.
    pub(in crate::server) fn busy() -> Self {
        let detail = "Too many requests; try again in a second.";
        Self { retry_after: Some(1), ..Self::new(503, "too busy", detail) }
    }

    /// The maximum number of connections is reached.
    pub(in crate::server) fn full() -> Self {
        let detail = "Too many connections; try again in a second.";
        Self { retry_after: Some(1), ..Self::new(503, "too many connections", detail) }
    }

    /// The server is stopping.
    pub(in crate::server) fn ending() -> Self {
        Self::unavailable("server is stopping", "The server is stopping; try again later.")
    }

    /// Too many wrong tokens came from an address.
    pub(in crate::server) fn too_many_tokens(seconds: u32) -> Self {
        let detail = format!("Too many wrong tokens came from your address; try again in {seconds} s.");
        Self { retry_after: Some(seconds), ..Self::new(429, "too many wrong tokens", detail) }
    }

    /// The timeout of a query has passed.
    pub(in crate::server) fn too_slow() -> Self {
        Self::new(504, "took too long", "The query took too long; use filters to reduce the number of games.")
    }

    /// The timeout of a user's statement has passed.
    pub(in crate::server) fn too_slow_sql(time: Duration) -> Self {
        let detail = format!(
            "The statement took longer than {} s; make it read fewer rows, with WHERE or an inner LIMIT. The server's option \
             sql-timeout allows more time.",
            time.as_secs_f64()
        );
        Self::new(504, "took too long", detail)
    }

    pub(in crate::server) fn internal() -> Self {
        Self::new(500, "internal error", "The server has an internal error; its log has the details.")
    }

    /// Stored data is invalid, or cannot be read.
    pub(in crate::server) fn damaged(detail: impl Into<String>) -> Self {
        Self::new(500, "database is damaged", detail)
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        use store::Error as E;
        match error {
            E::Interrupted => Self::too_slow(),
            E::File { kind: ErrorKind::NoSuchGame { game, last }, .. } => {
                Self::not_found(store::no_game(game, last))
            }
            error if error.is_busy() => Self::unavailable("database is locked", error.to_string()),
            E::Query { .. } | E::EmptyQuery | E::MultipleStatements | E::NotReadOnly => {
                Self::new(400, "wrong SQL", error.to_string())
            }
            E::File { kind: ErrorKind::UnknownSource { source_path, near }, .. } => {
                let near = near.first().map(|path| format!("; did you mean \"{}\"?", path.display()));
                let detail = format!(
                    "source: {}{}; /api/sources lists the files of this database",
                    store::no_source(&source_path),
                    near.unwrap_or_default()
                );
                let parameter = Some("source".to_owned());
                Self { parameter, ..Self::new(400, "not in this database", detail) }
            }
            error => Self::damaged(error.to_string()),
        }
    }
}

impl From<query::Error> for Problem {
    fn from(error: query::Error) -> Self {
        match error {
            query::Error::Store(error) => error.into(),
            error => Self::damaged(error.to_string()),
        }
    }
}
