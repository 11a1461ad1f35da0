//! Results of games.

use crate::board::Color;

/// The result of a game, from its PGN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// `1-0`
    White,
    /// `0-1`
    Black,
    /// `1/2-1/2`
    Draw,
    /// `*`: in progress, abandoned or unknown.
    #[default]
    Unknown,
}

impl GameResult {
    /// The PGN token.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::White => "1-0",
            Self::Black => "0-1",
            Self::Draw => "1/2-1/2",
            Self::Unknown => "*",
        }
    }

    /// The score of a side in half points; `None` if the result is unknown.
    #[must_use]
    pub const fn half_points(self, side: Color) -> Option<u32> {
        match (self, side) {
            (Self::Unknown, _) => None,
            (Self::Draw, _) => Some(1),
            (Self::White, Color::White) | (Self::Black, Color::Black) => Some(2),
            _ => Some(0),
        }
    }

    /// Parses a result, also in other common forms, such as `1/2`, `½-½`, `1:0`, `0.5-0.5`, `1 - 0`, `1_0`,
    /// `+:-`, `1F-0F`, and with any kind of dash. `None` for all other texts, including `0-0`.
    #[must_use]
    pub fn parse(token: &[u8]) -> Option<Self> {
        match token {
            b"*" => Some(Self::Unknown),
            b"1/2" | b"\xc2\xbd" => Some(Self::Draw),
            _ => Self::read_scores(token)
                .filter(|&(result, length)| length == token.len() && result != Self::Unknown)
                .map(|(result, _)| result),
        }
    }

    /// Parses the value of a tag `Result`. In addition to the forms of [`parse`](Self::parse), text can
    /// follow the scores (`1-0 (time)`), and the result can be in words (`Draw`). If both players lost
    /// (`0-0`), or one lost and the other drew (`0-1/2`), the result is [`Unknown`](Self::Unknown).
    #[must_use]
    pub fn from_tag(value: &str) -> Option<Self> {
        const WORDS: [(&str, GameResult); 6] = [
            ("white win", GameResult::White),
            ("white won", GameResult::White),
            ("black win", GameResult::Black),
            ("black won", GameResult::Black),
            ("draw", GameResult::Draw),
            ("remis", GameResult::Draw),
        ];
        let value = value.trim();
        let scores = || Self::read_scores(value.as_bytes()).map(|(result, _)| result);
        let in_words = || {
            let value = value.to_lowercase();
            WORDS.into_iter().find(|(words, _)| value.starts_with(words)).map(|(_, result)| result)
        };
        Self::parse(value.as_bytes()).or_else(scores).or_else(in_words)
    }

    /// Parses the scores of both players at the start of a text. Returns the result and the length of the
    /// scores in bytes. If both lost, or one lost and the other drew, the result is
    /// [`Unknown`](Self::Unknown).
    #[must_use]
    pub fn read_scores(text: &[u8]) -> Option<(Self, usize)> {
        let (points, end) = Self::read_points(text)?;
        let result = match points {
            [2, 0] => Self::White,
            [0, 2] => Self::Black,
            [1, 1] => Self::Draw,
            [0, _] | [_, 0] => Self::Unknown,
            _ => return None,
        };
        Some((result, end))
    }

    /// The length in bytes of the scores at the start of a text, if their sum is too high for a game:
    /// `1-1/2`.
    pub(crate) fn impossible_scores(text: &[u8]) -> Option<usize> {
        Self::read_points(text).filter(|(points, _)| points.iter().sum::<u8>() > 2).map(|(_, end)| end)
    }

    /// Parses the scores of both players at the start of a text. Returns the scores in half points, and the
    /// length of their text in bytes.
    fn read_points(text: &[u8]) -> Option<([u8; 2], usize)> {
        let (white, length) = Score::read(text)?;
        let blanks = |at: usize| text[at..].iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
        let at = length + blanks(length);
        let at = at + separator(&text[at..], white.is_sign)?;
        let at = at + blanks(at);
        let (black, length) = Score::read(&text[at..]).filter(|(black, _)| black.is_sign == white.is_sign)?;
        // `1.0-0` is not a result: `1.` is a move number, and `0-0` is castling.
        let has_point = |text: &[u8]| matches!(text, [_, b'.' | b',', ..]);
        if (white.is_decimal || black.is_decimal) && !(has_point(text) && has_point(&text[at..])) {
            return None;
        }
        let end = at + length;
        let continues = text.get(end).is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'=' | b':' | b'/' | b'_')
        });
        (!continues).then_some(([white.half_points, black.half_points], end))
    }
}

/// The score of one player.
#[derive(Clone, Copy)]
struct Score {
    half_points: u8,
    /// Whether the score is written as `+`, `-` or `=`.
    is_sign: bool,
    /// Whether the score is written as `1.0` or `0.0`, with a point or a comma.
    is_decimal: bool,
}

impl Score {
    /// Parses the score at the start of a text. Also returns the length of the score in bytes. `F` for a
    /// forfeit can follow `1` or `0`.
    fn read(text: &[u8]) -> Option<(Self, usize)> {
        let is_decimal = matches!(text, [b'0' | b'1', b'.' | b',', b'0', ..]);
        let (half_points, length, is_sign) = match text {
            [digit, ..] if is_decimal => (2 * (digit - b'0'), 3, false),
            [b'1', b'/', b'2', ..] | [b'0', b'.' | b',', b'5', ..] => (1, 3, false),
            [0xc2, 0xbd, ..] => (1, 2, false),
            // `½` in Latin-1.
            [0xbd, ..] => (1, 1, false),
            [digit @ (b'0' | b'1'), b'F' | b'f', ..] => (2 * (digit - b'0'), 2, false),
            [digit @ (b'0' | b'1'), ..] => (2 * (digit - b'0'), 1, false),
            [b'+', ..] => (2, 1, true),
            [b'=', ..] => (1, 1, true),
            [b'-', ..] => (0, 1, true),
            _ => return None,
        };
        Some((Self { half_points, is_sign, is_decimal }, length))
    }
}

/// The length in bytes of the separator between two scores. A separator is a colon, a dash of any kind, `/`
/// between the signs `+`, `-` and `=`, or `_` between other scores. `Lexer::number` must list the first byte
/// of each separator: after a digit, the lexer looks for a separator only if the next byte is listed.
fn separator(text: &[u8], between_signs: bool) -> Option<usize> {
    match text {
        [b':' | b'-', ..] => Some(1),
        [b'/', ..] if between_signs => Some(1),
        [b'_', ..] if !between_signs => Some(1),
        // U+2010 to U+2015, U+2212, U+FE58, U+FE63, U+FF0D; then the two dashes of Windows-1252.
        [0xe2, 0x80, 0x90..=0x95, ..]
        | [0xe2, 0x88, 0x92, ..]
        | [0xef, 0xb9, 0x98 | 0xa3, ..]
        | [0xef, 0xbc, 0x8d, ..] => Some(3),
        [0x96 | 0x97, ..] => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgn::{Lexer, Token};

    #[test]
    fn common_forms_of_results_are_read() {
        fn lexed(text: &[u8]) -> Token<'_> {
            Lexer::new(text, 0).next_token()
        }
        let results = [GameResult::White, GameResult::Black, GameResult::Draw];
        for (texts, result) in [
            (
                &[
                    "1-0",
                    "1:0",
                    "1\u{2013}0",
                    "1 - 0",
                    "1_0",
                    "1\u{2212}0",
                    "+:-",
                    "1-0F",
                    "1F-0F",
                    "1.0-0.0",
                    "1,0:0,0",
                    "1.0 - 0.0",
                ][..],
                0,
            ),
            (&["0-1", "0:1", "0\u{2014}1", "0  -\t1", "-:+", "0F-1", "0.0-1.0"], 1),
            (
                &[
                    "1/2-1/2",
                    "1/2",
                    "\u{bd}-\u{bd}",
                    "\u{bd}",
                    "0.5-0.5",
                    "0,5:0,5",
                    "1/2 - 1/2",
                    "=:=",
                    "=-=",
                    "\u{bd}\u{2010}\u{bd}",
                ],
                2,
            ),
        ] {
            for text in texts {
                assert_eq!(GameResult::parse(text.as_bytes()), Some(results[result]), "{text}");
                assert_eq!(GameResult::from_tag(text), Some(results[result]), "{text}");
                assert_eq!(lexed(text.as_bytes()), Token::Result(results[result]), "{text}");
            }
        }
        for (text, result) in [
            (&b"\xbd-\xbd"[..], GameResult::Draw),
            (b"1\x960", GameResult::White),
            (b"*", GameResult::Unknown),
        ] {
            assert_eq!(GameResult::parse(text), Some(result));
            assert_eq!(lexed(text), Token::Result(result));
        }
    }

    #[test]
    fn a_missing_winner_is_not_a_draw() {
        for text in ["0-0", "0-1/2", "1/2-0", "-:-", "0:0", "0F-0F", "0f-0f", "0.0-0.0", "0 - 0"] {
            assert_eq!(GameResult::parse(text.as_bytes()), None, "{text}");
            assert_eq!(GameResult::from_tag(text), Some(GameResult::Unknown), "{text}");
        }
    }

    #[test]
    fn results_in_words_are_read_from_tags() {
        for (text, result) in [
            ("1-0 (time)", GameResult::White),
            (" 0-1 ff", GameResult::Black),
            ("Draw", GameResult::Draw),
            ("White wins", GameResult::White),
            ("black won on time", GameResult::Black),
            ("+/-", GameResult::White),
            ("+--", GameResult::White),
            ("--+", GameResult::Black),
        ] {
            assert_eq!(GameResult::from_tag(text), Some(result), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_parsed_as_results() {
        for text in [
            "", "1", "0", "1-1", "1-1/2", "1-\u{bd}", "1.0-0", "1-0.0", "1-0-0", "0-0-0", "12-0", "1-01",
            "1.0-0", "+-", "-+", "1-", "-0", "1/0", "1 0", "3-0", "+:0",
        ] {
            assert_eq!(GameResult::parse(text.as_bytes()), None, "{text}");
            assert_eq!(GameResult::from_tag(text), None, "{text}");
        }
    }
}
