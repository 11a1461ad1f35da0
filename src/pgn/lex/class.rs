//! Classes of bytes in movetext.

/// The kinds of tokens that a byte can begin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Blank,
    LineEnd,
    Digit,
    Move,
    Sign,
    Mark,
    Dollar,
    OpenBrace,
    OpenParenthesis,
    Closing,
    Semicolon,
    Star,
    Bracket,
    Dash,
    High,
    Other,
}

pub(super) static CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'\n' | b'\r' => Class::LineEnd,
            0..=b' ' => Class::Blank,
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N' | b'P' | b'O' | b'o' | b'Z' | b'@' => Class::Move,
            b'!' | b'?' => Class::Mark,
            b'.' | b'+' | b'#' | b'=' | b'/' | b'\\' | b'<' | b'>' | b',' | b'|' | b'~' | b'\'' => {
                Class::Sign
            }
            b'$' => Class::Dollar,
            b'{' => Class::OpenBrace,
            b'(' => Class::OpenParenthesis,
            b')' | b'}' => Class::Closing,
            b';' => Class::Semicolon,
            b'*' => Class::Star,
            b'[' | b']' => Class::Bracket,
            b'-' => Class::Dash,
            0x80..=0xff => Class::High,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

/// Whether a byte continues a word that began with the first byte of a move.
pub(super) static IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric()
            || matches!(letter, b'-' | b'=' | b'+' | b'#' | b':' | b'/' | b'@' | b'_');
        byte += 1;
    }
    table
};
