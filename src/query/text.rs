//! Texts of users, quoted in messages.

use std::borrow::Cow;

/// As many letters of a value are quoted in a message.
const QUOTED: usize = 200;

/// As much of a value as a message quotes.
#[must_use]
pub fn brief(value: &str) -> Cow<'_, str> {
    cut(value, QUOTED)
}

/// The first `most` letters of a text; a dot-dot-dot stands for the others.
#[must_use]
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
