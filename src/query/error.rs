//! Errors of queries, and functions that shorten texts in messages.

use std::borrow::Cow;

use crate::store;

/// The result of a query.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A stored game is invalid.
    #[error(transparent)]
    Damaged(#[from] DamagedGame),
    /// The first column of a query that should choose games contains something other than a game's number.
    #[error("the first column must contain game numbers (game_id), but contains {found}")]
    NotAGame {
        /// The value, described for the message.
        found: String,
    },
}

/// A position or move of a stored game is invalid: the database is damaged.
#[derive(Debug, thiserror::Error)]
#[error("{what}; check the database with `pgndex verify`")]
pub struct DamagedGame {
    what: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl DamagedGame {
    pub(super) const fn new(what: String) -> Self {
        Self { what, source: None }
    }

    pub(super) fn because(what: String, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { what, source: Some(Box::new(source)) }
    }
}

/// The maximum number of characters of a value in a message.
const QUOTED: usize = 200;

/// The first 200 characters of a value for a message, followed by an ellipsis if the value is longer.
#[must_use]
pub fn brief(value: &str) -> Cow<'_, str> {
    cut(value, QUOTED)
}

/// The first `most` characters of a text, followed by an ellipsis if the text is longer.
#[must_use]
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
