//! Answers of the server, and its errors in the format of RFC 9457.

use std::error::Error as _;
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use crate::query::{self, PositionError};
use crate::store::{self, Database, ErrorKind};

pub(super) const JSON: &str = "application/json";
pub(super) const JSON_LINES: &str = "application/x-ndjson";
pub(super) const PGN: &str = "application/x-chess-pgn; charset=utf-8";
pub(super) const CSV: &str = "text/csv; charset=utf-8";

/// The format of an answer or of a request body.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) content_type: &'static str,
    /// The schema of JSON; `None` for other formats.
    #[cfg(test)]
    pub(super) schema: Option<fn(&mut schemars::SchemaGenerator) -> schemars::Schema>,
}

/// Types with a schema. Only the test of the API description needs schemas.
#[cfg(test)]
pub(super) use schemars::JsonSchema as Described;
#[cfg(not(test))]
pub(super) trait Described {}
#[cfg(not(test))]
impl<T> Described for T {}

impl Shape {
    /// A value as JSON.
    pub(super) const fn json<T: Described>() -> Self {
        Self {
            content_type: JSON,
            #[cfg(test)]
            schema: Some(schemars::SchemaGenerator::subschema_for::<T>),
        }
    }

    /// Values as JSON Lines.
    pub(super) const fn json_lines<T: Described>() -> Self {
        let mut shape = Self::json::<T>();
        shape.content_type = JSON_LINES;
        shape
    }

    /// A text of the given media type, without a schema.
    pub(super) const fn text(content_type: &'static str) -> Self {
        Self {
            content_type,
            #[cfg(test)]
            schema: None,
        }
    }

    /// The media type without its parameters.
    pub(super) fn media_type(self) -> &'static str {
        self.content_type.split(';').next().unwrap_or(self.content_type)
    }
}

/// An answer to send.
pub(super) enum Answer {
    /// A complete answer.
    Whole { content_type: &'static str, body: Vec<u8> },
    /// An answer sent in pieces while it is written.
    StreamBody { content_type: &'static str, file_name: &'static str, write: WriteChunks },
}

/// Writes an answer piece by piece. Writing a piece fails if the client has disconnected or the deadline has
/// passed.
pub(super) type WriteChunks = Box<dyn FnOnce(&Database, &mut dyn Write) -> io::Result<()>>;

impl Answer {
    /// A value as JSON.
    pub(super) fn json(value: &impl Serialize) -> Result<Self, Problem> {
        let body = serde_json::to_vec(value).map_err(|error| Problem::damaged(error.to_string()))?;
        Ok(Self::Whole { content_type: JSON, body })
    }

    pub(super) fn text(content_type: &'static str, text: String) -> Self {
        Self::Whole { content_type, body: text.into_bytes() }
    }
}

/// An error response: `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    /// The HTTP status.
    pub(super) status: u16,
    /// The kind of problem: the same text for all problems of a kind.
    pub(super) title: &'static str,
    /// What is wrong in this case, and what to do.
    pub(super) detail: String,
    /// The parameter that caused the problem, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameter: Option<String>,
    /// The number of seconds after which the client can try again, if known.
    #[serde(skip)]
    pub(super) retry_after: Option<u32>,
}

impl Problem {
    pub(super) const CONTENT_TYPE: &'static str = "application/problem+json";

    pub(super) fn new(status: u16, title: &'static str, detail: impl Into<String>) -> Self {
        Self { status, title, detail: detail.into(), parameter: None, retry_after: None }
    }

    /// An invalid parameter. A long name is shortened.
    pub(super) fn parameter(name: &str, detail: impl std::fmt::Display) -> Self {
        let name: String = name.chars().take(100).collect();
        let detail = format!("{name}: {detail}");
        Self { parameter: Some(name), ..Self::new(400, "wrong parameter", detail) }
    }

    /// A parameter that is not a valid position, with the reason.
    pub(super) fn position(name: &str, error: &PositionError) -> Self {
        let cause = error.source().map_or_else(String::new, |cause| format!("; because: {cause}"));
        Self::parameter(name, format!("{error}{cause}"))
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(404, "not found", detail)
    }

    pub(super) fn no_database() -> Self {
        Self::not_found("There is no database with this name; /api/databases lists all names.")
    }

    /// `detail` says how to use the path.
    pub(super) fn wrong_method(detail: impl Into<String>) -> Self {
        Self::new(405, "method not allowed", detail)
    }

    pub(super) fn unavailable(title: &'static str, detail: impl Into<String>) -> Self {
        Self { retry_after: Some(5), ..Self::new(503, title, detail) }
    }

    /// The queue is full.
    pub(super) fn busy() -> Self {
        let detail = "Too many requests; try again in a second.";
        Self { retry_after: Some(1), ..Self::new(503, "too busy", detail) }
    }

    /// The maximum number of connections is reached.
    pub(super) fn full() -> Self {
        let detail = "Too many connections; try again in a second.";
        Self { retry_after: Some(1), ..Self::new(503, "too many connections", detail) }
    }

    /// The server is stopping.
    pub(super) fn ending() -> Self {
        Self::unavailable("server is stopping", "The server is stopping; try again later.")
    }

    /// Too many wrong tokens came from an address.
    pub(super) fn too_many_tokens(seconds: u32) -> Self {
        let detail = format!("Too many wrong tokens came from your address; try again in {seconds} s.");
        Self { retry_after: Some(seconds), ..Self::new(429, "too many wrong tokens", detail) }
    }

    /// The timeout of a query has passed.
    pub(super) fn too_slow() -> Self {
        Self::new(504, "took too long", "The query took too long; use filters to reduce the number of games.")
    }

    /// The timeout of a user's statement has passed.
    pub(super) fn too_slow_sql(time: Duration) -> Self {
        let detail = format!(
            "The statement took longer than {} s; make it read fewer rows, with WHERE or an inner LIMIT. The server's option \
             sql-timeout allows more time.",
            time.as_secs_f64()
        );
        Self::new(504, "took too long", detail)
    }

    pub(super) fn internal() -> Self {
        Self::new(500, "internal error", "The server has an internal error; its log has the details.")
    }

    /// Stored data is invalid, or cannot be read.
    pub(super) fn damaged(detail: impl Into<String>) -> Self {
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
