//! What is sent.

mod problem;

use std::io::{self, Write};

use serde::Serialize;

pub(super) use problem::Problem;

use crate::store::Database;

pub(super) const JSON: &str = "application/json";
pub(super) const JSON_LINES: &str = "application/x-ndjson";
pub(super) const PGN: &str = "application/x-chess-pgn; charset=utf-8";
pub(super) const CSV: &str = "text/csv; charset=utf-8";

/// What an answer looks like, for the description of the API.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) content_type: &'static str,
    /// Of what is JSON.
    #[cfg(test)]
    pub(super) schema: Option<fn(&mut schemars::SchemaGenerator) -> schemars::Schema>,
}

/// What is described by a schema, which only the test of the description needs.
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

    /// Values as JSON, a line each.
    pub(super) const fn json_lines<T: Described>() -> Self {
        let mut shape = Self::json::<T>();
        shape.content_type = JSON_LINES;
        shape
    }

    /// A text of some kind.
    pub(super) const fn text(content_type: &'static str) -> Self {
        Self {
            content_type,
            #[cfg(test)]
            schema: None,
        }
    }

    /// The kind without its parameters.
    pub(super) fn media_type(self) -> &'static str {
        self.content_type.split(';').next().unwrap_or(self.content_type)
    }
}

/// What is sent as an answer.
pub(super) enum Answer {
    /// All at once.
    Whole { content_type: &'static str, body: Vec<u8> },
    /// Piece by piece, as it is read.
    Pieces { content_type: &'static str, file_name: &'static str, write: WritePieces },
}

/// Writes an answer piece by piece; a writer that fails has nobody left to read.
pub(super) type WritePieces = Box<dyn FnOnce(&Database, &mut dyn Write) -> io::Result<()>>;

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
