//! Answers of the server.

mod problem;

use std::io::{self, Write};

use serde::Serialize;

pub(super) use problem::Problem;

use crate::store::Database;

pub(super) const JSON: &str = "application/json";
pub(super) const JSON_LINES: &str = "application/x-ndjson";
pub(super) const PGN: &str = "application/x-chess-pgn; charset=utf-8";
pub(super) const CSV: &str = "text/csv; charset=utf-8";

/// The format of an answer, for the API description.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) content_type: &'static str,
    /// The schema of a JSON answer.
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

    /// A text of any type, without a schema.
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

/// Writes an answer piece by piece. The given writer fails if the client has disconnected or the deadline has
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
