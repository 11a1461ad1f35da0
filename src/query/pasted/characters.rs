//! Characters of pasted texts: invisible characters, separators, and variants of plain characters.

use crate::board::PieceKind;

/// All dashes except the hyphen are replaced by this dash, so that two hyphens, a null move, differ from a
/// separator line of dashes.
pub(super) const DASH: char = '–';

/// Removes invisible characters, and replaces blanks, line ends, dashes and capture signs by one form each.
pub(super) fn cleaned(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace("&nbsp;", " ");
    text.chars().filter(|&letter| !is_invisible(letter)).map(plain_sign).collect()
}

/// Joiners, marks of direction, variation selectors, soft hyphens and byte order marks.
const fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

const fn plain_sign(letter: char) -> char {
    match letter {
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\t' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2e3a}' | '\u{2e3b}' => DASH,
        '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => DASH,
        '\u{d7}' | '\u{2715}' | '\u{2716}' | '\u{2a09}' => 'x',
        letter => letter,
    }
}

/// Whether a character only separates words. Unknown characters are not separators: they could be pieces of a
/// chess font.
pub(super) fn is_separator(letter: char) -> bool {
    letter.is_whitespace()
        || letter.is_control()
        || ".,|~\\<>'\"`_!?*".contains(letter)
        || matches!(letter, '«' | '»' | '·' | '±' | '°' | '¿' | '¡' | '\u{207a}'..='\u{207e}')
        || (letter != DASH && matches!(letter, '\u{2000}'..='\u{206f}' | '\u{2190}'..='\u{23ff}'))
        || matches!(letter, '\u{2500}'..='\u{2653}' | '\u{2660}'..='\u{2bff}' | '\u{3000}'..='\u{303f}')
        || matches!(letter, '\u{1f300}'..='\u{1f9ff}' | '\u{1fa70}'..='\u{1faff}')
}

/// The piece of a chess symbol, white or black.
pub(super) const fn figurine(letter: char) -> Option<PieceKind> {
    Some(match letter {
        '♔' | '♚' => PieceKind::King,
        '♕' | '♛' => PieceKind::Queen,
        '♖' | '♜' => PieceKind::Rook,
        '♗' | '♝' => PieceKind::Bishop,
        '♘' | '♞' => PieceKind::Knight,
        '♙' | '♟' => PieceKind::Pawn,
        _ => return None,
    })
}

/// Whether a text contains a square or castling, so that its words can be moves. `d12` is a search depth, not
/// a square.
pub(super) fn has_moves(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let is_square = |at: usize| {
        letters[at].is_ascii_alphabetic()
            && matches!(letters[at].to_ascii_lowercase(), 'a'..='h')
            && matches!(letters.get(at + 1), Some('1'..='8'))
            && !letters.get(at + 2).is_some_and(char::is_ascii_digit)
    };
    (0..letters.len()).any(is_square)
        || ["O-O", "0-0", "o-o"].iter().any(|castling| text.replace(DASH, "-").contains(castling))
}

/// Whether a word is a remark on a move: check, mate, en passant. People also write such a remark in full, in
/// many languages.
pub(super) fn is_remark(word: &str) -> bool {
    const REMARKS: [&str; 19] = [
        "ch",
        "dis",
        "dbl",
        "check",
        "mate",
        "checkmate",
        "ep",
        "matt",
        "schach",
        "schaak",
        "mat",
        "échec",
        "échecs",
        "jaque",
        "scacco",
        "matto",
        "шах",
        "мат",
        "xeque",
    ];
    REMARKS.contains(&word.to_lowercase().as_str())
}

/// Whether a word can precede the moves as the heading of a list or a column.
pub(super) fn is_heading(word: &str) -> bool {
    const HEADINGS: [&str; 9] = ["white", "black", "move", "moves", "pgn", "game", "no", "nr", "#"];
    HEADINGS.contains(&word.to_lowercase().as_str())
}
