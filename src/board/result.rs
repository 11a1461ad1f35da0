//! How games end.

use crate::board::Color;

/// How a game ended, as its PGN says.
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

    /// What a side scored, in half points; `None` without a result.
    #[must_use]
    pub const fn half_points(self, side: Color) -> Option<u32> {
        match (self, side) {
            (Self::Unknown, _) => None,
            (Self::Draw, _) => Some(1),
            (Self::White, Color::White) | (Self::Black, Color::Black) => Some(2),
            _ => Some(0),
        }
    }

    /// Reads a result, also in the forms people write: `1/2`, `½-½`, `1:0`, with an en dash.
    #[must_use]
    pub fn parse(token: &[u8]) -> Option<Self> {
        Some(match token {
            b"1-0" | b"1:0" | b"1\xe2\x80\x930" => Self::White,
            b"0-1" | b"0:1" | b"0\xe2\x80\x931" => Self::Black,
            b"1/2-1/2" | b"1/2" | b"1/2:1/2" | b"1/2\xe2\x80\x931/2" => Self::Draw,
            b"\xc2\xbd-\xc2\xbd" | b"\xc2\xbd" | b"\xc2\xbd:\xc2\xbd" | b"\xc2\xbd\xe2\x80\x93\xc2\xbd" => {
                Self::Draw
            }
            b"*" => Self::Unknown,
            _ => return None,
        })
    }
}
