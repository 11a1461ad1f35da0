//! Writes games in PGN's export format.

use crate::board::{Color, GameResult};

/// The maximum number of columns of a line: PGN requires fewer than 80.
const MAX_LINE: usize = 79;

/// Writes one game in export format: each tag pair, then each move with its annotations, then the result.
#[derive(Debug)]
pub struct GameWriter<'a> {
    text: &'a mut String,
    /// The number of columns in the last line of the movetext; `None` before the movetext.
    width: Option<usize>,
    /// Whether a move of Black needs a number, because it is the first move or follows a comment or a bracket.
    needs_number: bool,
    /// The number of opening brackets to write right before the next word.
    opened: usize,
    /// Whether the current line must end here, because a `;` comment extends to the end of its line.
    is_line_full: bool,
    /// The maximum number of columns of a line.
    most: usize,
    /// Whether NAGs are written as signs where possible.
    has_signs: bool,
}

impl<'a> GameWriter<'a> {
    /// A writer that appends to `text`.
    pub const fn new(text: &'a mut String) -> Self {
        Self {
            text,
            width: None,
            needs_number: true,
            opened: 0,
            is_line_full: false,
            most: MAX_LINE,
            has_signs: false,
        }
    }

    /// A writer for text that people read: lines have at most `columns` columns, and NAGs such as `$5` are
    /// written as signs such as `!?`. Not all programs can parse this text.
    pub const fn for_reading(text: &'a mut String, columns: usize) -> Self {
        Self { most: columns, has_signs: true, ..Self::new(text) }
    }

    /// Writes a tag pair on one line, with quotes and backslashes escaped.
    pub fn tag(&mut self, name: &str, value: &str) {
        self.text.extend(["[", name, " \""]);
        for letter in value.chars() {
            match letter {
                '"' | '\\' => self.text.extend(['\\', letter]),
                // A line end would end the tag pair.
                '\n' | '\r' => self.text.push(' '),
                _ => self.text.push(letter),
            }
        }
        self.text.push_str("\"]\n");
    }

    /// Writes a move in SAN, with its number if necessary.
    pub fn play(&mut self, number: u32, side: Color, san: &str) {
        if side == Color::White {
            self.token(&format!("{number}."));
        } else if self.needs_number {
            self.token(&format!("{number}..."));
        }
        self.needs_number = false;
        self.token(san);
    }

    /// Writes a NAG.
    pub fn nag(&mut self, nag: u32) {
        match (nag_sign(nag), &mut self.width) {
            (Some(sign), Some(width)) if self.has_signs && self.opened == 0 => {
                *width += sign.chars().count();
                self.text.push_str(sign);
            }
            _ => self.token(&format!("${nag}")),
        }
    }

    /// Writes a comment, in which single spaces must separate the words.
    pub fn comment(&mut self, text: &str) {
        self.needs_number = true;
        if text.contains(['{', '}']) && !self.has_signs {
            // With a brace, the comment could end elsewhere, so the text is written as a comment up to the end of the
            // line.
            self.token(&format!("; {text}"));
            self.is_line_full = true;
            return;
        }
        let (mut before, mut rest) = ("{", text);
        loop {
            let end = word_length(rest);
            let after = if end == rest.len() { "}" } else { "" };
            self.token(&[before, &rest[..end], after].concat());
            if end == rest.len() {
                return;
            }
            (before, rest) = ("", &rest[end + 1..]);
        }
    }

    /// Begins a variation.
    pub fn open(&mut self) {
        self.needs_number = true;
        self.opened += 1;
    }

    /// Ends a variation.
    pub fn close(&mut self) {
        self.needs_number = true;
        match &mut self.width {
            Some(width) if self.opened == 0 && *width < self.most && !self.is_line_full => {
                *width += 1;
                self.text.push(')');
            }
            _ => self.token(")"),
        }
    }

    /// Writes the result and the blank line after the game.
    pub fn finish(mut self, result: GameResult) {
        self.token(result.as_str());
        self.text.push_str("\n\n");
    }

    /// Writes a word of the movetext; lines are broken between words.
    fn token(&mut self, token: &str) {
        let length = std::mem::take(&mut self.opened);
        let columns = length + token.chars().count();
        let is_full = std::mem::take(&mut self.is_line_full);
        let width = match self.width {
            Some(width) if width + 1 + columns <= self.most && !is_full => {
                self.text.push(' ');
                width + 1 + columns
            }
            _ => {
                self.text.push('\n');
                columns
            }
        };
        self.width = Some(width);
        self.text.extend(std::iter::repeat_n('(', length));
        self.text.push_str(token);
    }
}

/// The length in bytes of the word at the start of a comment, with the words after it that cannot begin a line.
/// A command is one word, because many programs expect it on one line.
fn word_length(text: &str) -> usize {
    let length = |text: &str| text.find(' ').unwrap_or(text.len());
    let command = if text.starts_with("[%") { text.find(']').unwrap_or(0) } else { 0 };
    let mut end = command + length(&text[command..]);
    while let Some(next) = text[end..].strip_prefix(' ').filter(|next| !can_begin_line(next)) {
        end += 1 + length(next);
    }
    end
}

/// Whether a line of a comment can begin with this text. Programs ignore lines that begin with `%`, and can take
/// `[` and a letter for the first tag pair of the next game.
fn can_begin_line(text: &str) -> bool {
    let is_tag =
        text.strip_prefix('[').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    !is_tag && !text.starts_with('%')
}

/// The sign of a NAG, such as `!?` for 5, if it has one.
#[must_use]
pub const fn nag_sign(nag: u32) -> Option<&'static str> {
    Some(match nag {
        1 => "!",
        2 => "?",
        3 => "!!",
        4 => "??",
        5 => "!?",
        6 => "?!",
        7 => "\u{25a1}",
        10 | 11 => "=",
        13 => "\u{221e}",
        14 => "\u{2a72}",
        15 => "\u{2a71}",
        16 => "\u{b1}",
        17 => "\u{2213}",
        18 => "+-",
        19 => "-+",
        22 | 23 => "\u{2a00}",
        32 | 33 => "\u{27f3}",
        36 | 37 => "\u{2192}",
        40 | 41 => "\u{2191}",
        132 | 133 => "\u{21c6}",
        138 | 139 => "\u{2295}",
        140 => "\u{2206}",
        142 => "\u{2313}",
        145 => "RR",
        146 => "N",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_comment_begins_like_an_escape_or_a_tag_pair() {
        for length in 1..100 {
            let comment =
                format!("{} 5 %, 6 [Event \"x\"] [%cal Ga1a2] %a %b [x] y", "a ".repeat(length) + "b");
            let mut text = String::new();
            let mut game = GameWriter::new(&mut text);
            game.comment(&comment);
            game.finish(GameResult::Unknown);
            assert!(!text.contains("\n%") && !text.contains("\n[E") && !text.contains("\n[x"), "{text}");
            assert!(text.lines().all(|line| line.len() < 80), "{text}");
            assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), format!("{{{comment}}} *"));
        }
    }
}
