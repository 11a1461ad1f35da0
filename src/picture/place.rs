//! Sizes and coordinates in a picture, in the units of its `viewBox`. Also escapes text for XML.

use crate::board::{Color, Square};

/// The width and height of a square.
pub(super) const SQUARE: u16 = 100;
/// The width of the margin around the board.
pub(super) const MARGIN: u16 = 50;
/// The width and height of the board.
pub(super) const BOARD: u16 = 8 * SQUARE;
/// The width and height of the picture.
pub(super) const SIDE: u16 = BOARD + 2 * MARGIN;

/// The x and y coordinates of the upper left corner of a square.
pub(super) fn place(square: Square, orientation: Color) -> (u16, u16) {
    let (file, rank) = (u16::from(square.file()), u16::from(square.rank()));
    let (column, row) = match orientation {
        Color::White => (file, 7 - rank),
        Color::Black => (7 - file, rank),
    };
    (MARGIN + column * SQUARE, MARGIN + row * SQUARE)
}

/// The x and y coordinates of the centre of a square.
pub(super) fn centre(square: Square, orientation: Color) -> [f64; 2] {
    let (x, y) = place(square, orientation);
    [x, y].map(|corner| f64::from(corner) + f64::from(SQUARE) / 2.0)
}

/// Escapes a text for XML or HTML, outside attributes. `&`, `<` and `>` become entities. U+FFFD replaces U+FFFE,
/// U+FFFF and all control characters except tab and line feed.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\n' | '\t' => escaped.push(letter),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_board_is_flipped() {
        let [a1, h8] = [Square::at(0, 0), Square::at(7, 7)];
        for (square, orientation, corner) in [
            (a1, Color::White, (50, 750)),
            (h8, Color::White, (750, 50)),
            (a1, Color::Black, (750, 50)),
            (h8, Color::Black, (50, 750)),
        ] {
            assert_eq!(place(square, orientation), corner, "{square} {orientation:?}");
        }
        assert_eq!(centre(Square::at(4, 3), Color::White), [500.0, 500.0]);
    }
}
