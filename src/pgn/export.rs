//! PGN's export format.

use crate::board::{Color, GameResult};

/// Lines have fewer than 80 columns.
const MAX_LINE: usize = 79;

/// Writes one game in export format: each tag pair, then each move, then the result.
#[derive(Debug)]
pub struct GameWriter<'a> {
    text: &'a mut String,
    /// Columns of the last line of the movetext; `None` before the movetext.
    width: Option<usize>,
    is_first: bool,
}

impl<'a> GameWriter<'a> {
    /// Writes to the end of `text`.
    pub const fn new(text: &'a mut String) -> Self {
        Self { text, width: None, is_first: true }
    }

    /// A tag pair: on one line, quotes and backslashes escaped.
    pub fn tag(&mut self, name: &str, value: &str) {
        self.text.extend(["[", name, " \""]);
        for letter in value.chars() {
            match letter {
                '"' | '\\' => self.text.extend(['\\', letter]),
                _ if letter.is_control() => self.text.push(' '),
                _ => self.text.push(letter),
            }
        }
        self.text.push_str("\"]\n");
    }

    /// A move in SAN, its number before it where there must be one.
    pub fn play(&mut self, number: u32, side: Color, san: &str) {
        if side == Color::White {
            self.token(&format!("{number}."));
        } else if self.is_first {
            self.token(&format!("{number}..."));
        }
        self.is_first = false;
        self.token(san);
    }

    /// The result and the blank line after the game.
    pub fn finish(mut self, result: GameResult) {
        self.token(result.as_str());
        self.text.push_str("\n\n");
    }

    /// A word of the movetext, which is broken into lines between words.
    fn token(&mut self, token: &str) {
        let width = match self.width {
            None => {
                self.text.push('\n');
                token.len()
            }
            Some(width) if width + 1 + token.len() <= MAX_LINE => {
                self.text.push(' ');
                width + 1 + token.len()
            }
            Some(_) => {
                self.text.push('\n');
                token.len()
            }
        };
        self.width = Some(width);
        self.text.push_str(token);
    }
}
