//! Shortens users' texts for messages.

use std::borrow::Cow;

/// The maximum number of characters of a value in a message.
const QUOTED: usize = 200;

/// A value, shortened for a message.
#[must_use]
pub fn brief(value: &str) -> Cow<'_, str> {
    cut(value, QUOTED)
}

/// The first `most` characters of a text, followed by an ellipsis if it is longer.
#[must_use]
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
