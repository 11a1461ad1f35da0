//! Decides whether an SQL text ends with a complete statement.
//!
//! The only unsafe call is that of SQLite's own function, which knows strings, quoted names, comments and
//! bodies of triggers.
#![allow(unsafe_code)]

use std::ffi::CString;

use rusqlite::ffi;

/// Whether an SQL text ends with a complete statement, its `;` included.
///
/// A text with only blanks and comments is not complete, nor is one with a NUL.
#[must_use]
pub fn is_complete(sql: &str) -> bool {
    // Copy only texts that can be complete.
    if !sql.contains(';') {
        return false;
    }
    // SAFETY: the text ends with a NUL, SQLite only reads it, and it lives until the call returns.
    CString::new(sql).is_ok_and(|sql| unsafe { ffi::sqlite3_complete(sql.as_ptr()) } == 1)
}

#[cfg(test)]
mod tests {
    use super::is_complete;

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
