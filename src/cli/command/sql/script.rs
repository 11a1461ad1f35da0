//! Splits SQL texts into pieces: statements, and commands that begin with a dot.

use std::io::{self, BufRead};

use pgndex::store::is_complete;

/// A piece of a script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// One or more statements, and the number of the line at which they begin, counted from 1.
    Sql { text: String, line: u64 },
    /// A command and its argument, such as `.mode csv`.
    Command { text: String, line: u64 },
}

/// Reads a script piece by piece; only the lines of one piece are in memory.
pub(crate) struct Script<'s> {
    input: &'s mut dyn BufRead,
    lines: u64,
}

impl<'s> Script<'s> {
    pub(crate) fn new(input: &'s mut dyn BufRead) -> Self {
        Self { input, lines: 0 }
    }

    /// The next statements, or the next command; `None` at the end of the script.
    ///
    /// # Errors
    /// If the script cannot be read, or is not UTF-8 text.
    pub(crate) fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        let (mut text, mut first) = (String::new(), 0);
        while let Some(line) = self.next_line()? {
            if text.is_empty() {
                if let Some(command) = command_of(&line) {
                    return Ok(Some(Piece::Command { text: command.to_owned(), line: self.lines }));
                }
                match line.trim_start() {
                    "" => continue,
                    comment if comment.starts_with("--") => continue,
                    command if command.starts_with('.') => {
                        let text = command.trim_end().trim_end_matches(';').to_owned();
                        return Ok(Some(Piece::Command { text, line: self.lines }));
                    }
                    _ => first = self.lines,
                }
            }
            text += &line;
            // Only a line with a semicolon can complete a statement.
            if line.contains(';') && is_complete(&text) {
                break;
            }
        }
        Ok((!text.is_empty()).then_some(Piece::Sql { text, line: first }))
    }

    fn next_line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        if self.input.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        self.lines += 1;
        let text = String::from_utf8(line).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("line {} is not UTF-8 text", self.lines))
        })?;
        Ok(Some(match text.strip_prefix('\u{feff}').filter(|_| self.lines == 1) {
            Some(rest) => rest.to_owned(),
            None => text,
        }))
    }
}

/// The command that a line such as `help` or `exit;` means; `None` for other lines. Users expect these words,
/// and no SQL statement begins with them.
pub(super) fn command_of(line: &str) -> Option<&'static str> {
    let word = line.trim().trim_end_matches(';').trim_end().to_ascii_lowercase();
    match word.as_str() {
        "help" | "?" => Some(".help"),
        "exit" | "quit" => Some(".quit"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<Piece> {
        let mut text = text.as_bytes();
        let mut script = Script::new(&mut text);
        std::iter::from_fn(|| script.next_piece().unwrap()).collect()
    }

    fn sql(text: &str, line: u64) -> Piece {
        Piece::Sql { text: text.to_owned(), line }
    }

    fn command(text: &str, line: u64) -> Piece {
        Piece::Command { text: text.to_owned(), line }
    }

    #[test]
    fn statements_end_where_they_end_in_sqlite() {
        assert_eq!(
            pieces(
                "\u{feff}-- both\nSELECT 1; SELECT ';\n'; -- x\n\n .mode csv \nSELECT 2\n.5;\n.quit;\nSELECT 3"
            ),
            [
                sql("SELECT 1; SELECT ';\n'; -- x\n", 2),
                command(".mode csv", 5),
                sql("SELECT 2\n.5;\n", 6),
                command(".quit", 8),
                sql("SELECT 3", 9),
            ]
        );
        assert_eq!(
            pieces("help\nSELECT\nexit;\n Quit ;\n"),
            [command(".help", 1), sql("SELECT\nexit;\n", 2), command(".quit", 4)]
        );
        assert_eq!(pieces(""), []);
        assert_eq!(pieces("\n-- nothing\n  \n"), []);
    }

    #[test]
    fn input_that_is_not_utf_8_is_rejected() {
        for mut text in [&b"SELECT 1;\nSELECT '\xff'"[..], b"SELECT 1;\n\0"] {
            let mut script = Script::new(&mut text);
            assert!(script.next_piece().is_ok());
            insta::allow_duplicates! {
                insta::assert_snapshot!(script.next_piece().unwrap_err(), @"line 2 is not UTF-8 text");
            }
        }
    }
}
