//! The cells of a table.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// One cell.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(super) text: String,
    pub(super) is_number: bool,
}

impl Cell {
    /// A text; its control characters are made visible.
    pub(crate) fn text(text: &str) -> Self {
        Self { text: printable(text), is_number: false }
    }

    /// A number; a column of numbers is aligned right.
    pub(crate) fn number(text: String) -> Self {
        Self { text, is_number: true }
    }
}

/// As much of a text as fits a width, with an ellipsis if that is not all.
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
    short.push('…');
    short.into()
}

/// A text without characters that move the cursor, colour the terminal or turn the direction of writing: names come
/// from files that anybody may have written.
pub(crate) fn printable(text: &str) -> String {
    let visible = |letter: char| match letter {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + letter as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => letter,
    };
    text.chars().map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{7f}\u{9b}\u{202e}"), "a␛[2Jb␊c␡��");
    }
}
