//! A place in an SQL text.

use std::fmt;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How much of a line an error shows before and after the place, in terminal columns.
const CONTEXT: usize = 35;

/// The place of an error in an SQL text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlLocation {
    /// The line, from 1.
    pub line: u64,
    /// The text of the line, or the part of it around the place.
    pub text: String,
    /// The place in `text`, in terminal columns from 0.
    pub column: usize,
}

impl SqlLocation {
    /// The place at a byte offset.
    pub(in crate::store) fn at(sql: &str, offset: usize) -> Self {
        let offset = sql.floor_char_boundary(offset);
        let (before, after) = sql.split_at(offset);
        let line = 1 + before.matches('\n').count() as u64;
        let before = visible(before.rsplit('\n').next().unwrap_or_default());
        let after = visible(after.lines().next().unwrap_or_default());
        let (mut text, mut width) = (String::new(), 0);
        // Find where to cut the text before the place.
        let cut = before.char_indices().rev().find(|(_, letter)| {
            width += letter.width().unwrap_or(0);
            width > CONTEXT
        });
        match cut {
            Some((index, letter)) => {
                text.push('…');
                text += &before[index + letter.len_utf8()..];
            }
            None => text += &before,
        }
        let column = text.width();
        width = 0;
        for letter in after.chars() {
            width += letter.width().unwrap_or(0);
            if width > CONTEXT {
                text.push('…');
                break;
            }
            text.push(letter);
        }
        Self { line, text, column }
    }
}

/// Makes a text printable on one line: without tabs and other characters that move the cursor.
fn visible(text: &str) -> String {
    text.trim_end_matches('\r').chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

impl fmt::Display for SqlLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.to_string();
        write!(f, "  {line} | {}\n  {:2$} | ", self.text, "", line.len())?;
        write!(f, "{:1$}^", "", self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::SqlLocation;

    #[test]
    fn a_location_is_marked_below_its_line() {
        let show = |sql: &str, what: &str| {
            SqlLocation::at(sql, sql.find(what).expect("a part of the statement")).to_string()
        };
        insta::assert_snapshot!(show("SELECT nonsense", "nonsense"), @"
        1 | SELECT nonsense
          |        ^
        ");
        insta::assert_snapshot!(show("SELECT\r\n\t'棋', x\r\nFROM game", "x"), @"
        2 |  '棋', x
          |        ^
        ");
        let long = format!("SELECT {}, x, {} FROM game", "'a', ".repeat(50), "'b', ".repeat(50));
        insta::assert_snapshot!(show(&long, "x"), @"
        1 | …', 'a', 'a', 'a', 'a', 'a', 'a', , x, 'b', 'b', 'b', 'b', 'b', 'b', 'b…
          |                                     ^
        ");
        assert_eq!(
            SqlLocation::at("SELECT", 1000),
            SqlLocation { line: 1, text: "SELECT".to_owned(), column: 6 }
        );
        assert_eq!(SqlLocation::at("", 0), SqlLocation { line: 1, text: String::new(), column: 0 });
    }
}
