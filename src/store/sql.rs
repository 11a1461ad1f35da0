//! SQL texts: their words, whether they end with a complete statement, and the places of errors in them.

use std::ffi::CString;
use std::fmt;

use rusqlite::ffi;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The maximum width, in terminal columns, of the text that is shown on each side of the place of an error.
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
    /// The place in `sql` at the byte offset `offset`.
    pub(super) fn at(sql: &str, offset: usize) -> Self {
        let offset = sql.floor_char_boundary(offset);
        let (before, after) = sql.split_at(offset);
        let line = 1 + before.matches('\n').count() as u64;
        let before = visible(before.rsplit('\n').next().unwrap_or_default());
        let after = visible(after.lines().next().unwrap_or_default());
        let cut = before.chars().count() - count_shown(before.chars().rev());
        let mut text: String = if cut > 0 { "…".to_owned() } else { String::new() };
        text.extend(before.chars().skip(cut));
        let column = text.width();
        let shown = count_shown(after.chars());
        text.extend(after.chars().take(shown));
        if shown < after.chars().count() {
            text.push('…');
        }
        Self { line, text, column }
    }
}

/// How many of the first letters fit into [`CONTEXT`] terminal columns.
fn count_shown(letters: impl Iterator<Item = char>) -> usize {
    let mut width = 0;
    letters
        .take_while(|letter| {
            width += letter.width().unwrap_or(0);
            width <= CONTEXT
        })
        .count()
}

/// Makes a text printable on one line: replaces tabs and other control characters with spaces, and removes
/// carriage returns at the end.
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

/// Whether an SQL text ends with a complete statement, its `;` included.
///
/// A text with only blanks and comments is not complete, nor is one with a NUL.
#[must_use]
#[allow(unsafe_code)]
pub fn is_complete(sql: &str) -> bool {
    // Copy only texts that can be complete.
    if !sql.contains(';') {
        return false;
    }
    // SQLite's own function recognises strings, quoted names, comments and bodies of triggers.
    // SAFETY: the text ends with a NUL, SQLite only reads it, and it lives until the call returns.
    CString::new(sql).is_ok_and(|sql| unsafe { ffi::sqlite3_complete(sql.as_ptr()) } == 1)
}

/// The words of a statement, without comments: names, numbers and quoted texts; each other character is a
/// word of its own. Names joined by dots, such as `a.b`, are one word. Apart from that, names, quoted texts
/// and comments end where SQLite ends them. If they ended elsewhere, a statement could hide names from checks
/// that count names.
pub(crate) fn words(sql: &str) -> Vec<&str> {
    // To SQLite, a byte order mark is a space at the start of a word, and a letter inside a word.
    let space = |letter: char| letter.is_ascii_whitespace() || letter == '\u{feff}';
    let (mut words, mut rest) = (Vec::new(), sql.trim_start_matches(space));
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '\'' | '"' | '`' => quoted(rest, letter),
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            _ if is_of_name(letter) => rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len()),
            _ => letter.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        if !word.starts_with("--") && !word.starts_with("/*") {
            words.push(word);
        }
        rest = after.trim_start_matches(space);
    }
    words
}

/// The length of the quoted text at the start of `text`, in bytes. A doubled quote is an escaped quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut length = 1;
    while let Some(end) = text[length..].find(quote) {
        length += end + 1;
        if !text[length..].starts_with(quote) {
            return length;
        }
        length += 1;
    }
    text.len()
}

/// Whether a character can be part of an unquoted name, or of unquoted names joined by dots.
pub(crate) fn is_of_name(letter: char) -> bool {
    !letter.is_ascii() || letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '.')
}

#[cfg(test)]
mod tests {
    use super::{SqlLocation, is_complete};

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

    #[test]
    fn a_semicolon_in_a_string_a_comment_or_a_trigger_ends_nothing() {
        for sql in ["SELECT 1;", "SELECT ';'; -- all", "/* ; */ SELECT 1 ; ", "SELECT 1; SELECT 2;"] {
            assert!(is_complete(sql), "{sql}");
        }
        let trigger = "CREATE TRIGGER t AFTER INSERT ON game BEGIN DELETE FROM tag;";
        for sql in [
            "",
            ";-",
            "SELECT 1",
            "SELECT ';",
            "SELECT 1 -- ;",
            "/* ;",
            "SELECT 1; SELECT 2",
            trigger,
            "1;\0",
        ] {
            assert!(!is_complete(sql), "{sql}");
        }
        assert!(is_complete(&format!("{trigger} END;")));
    }
}
