//! The cells of a table.

use std::borrow::Cow;

use crate::cli::render::board::sign;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr};

use crate::cli::render::text::printable;

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// One line or several.
    pub(super) text: String,
    pub(super) is_number: bool,
}

impl Cell {
    /// A text; control characters are made visible.
    pub(crate) fn text(text: &str) -> Self {
        Self { text: printable(text), is_number: false }
    }

    /// A text of several lines, such as a board; control characters are made visible.
    pub(crate) fn lines(text: &str) -> Self {
        let lines = text.strip_suffix('\n').unwrap_or(text).split('\n').map(printable);
        Self { text: lines.collect::<Vec<_>>().join("\n"), is_number: false }
    }

    /// The width of its widest line.
    pub(super) fn width(&self) -> usize {
        self.text.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0)
    }

    /// A number; a column of numbers is aligned right.
    pub(crate) fn number(text: String) -> Self {
        Self { text, is_number: true }
    }
}

/// A text shortened to a width, with an ellipsis if it is too long.
pub(super) fn shortened(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let mut room = width.saturating_sub(1);
    let fits = |letter: &char| {
        let needed = letter.width().unwrap_or(0);
        let fits = needed <= room;
        room = room.saturating_sub(needed);
        fits
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push_str(sign("…", "~"));
    short.into()
}
