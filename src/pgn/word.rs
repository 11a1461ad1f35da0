//! Words of movetext that cannot be parsed as moves.

use super::text::decode;

/// Whether a word that cannot be parsed as a move was probably meant as a move. That is so if at least one of
/// these is true:
///
/// - It names a square.
/// - It has only characters that occur in moves, and is not a known remark.
/// - It begins like a move, is as short as a move, and has a digit (`Qh9`).
///
/// Any other word is a remark and can be ignored.
#[must_use]
pub fn looks_like_move(word: &[u8]) -> bool {
    const LONGEST: usize = 7;
    let names_square = word.windows(2).any(|pair| matches!(pair, [b'a'..=b'h', b'1'..=b'8']));
    let letters = |byte: &u8| matches!(byte, b'a'..=b'h' | b'1'..=b'8' | b'x' | b'-' | b'=' | b'+' | b'#' | b'K' | b'Q' | b'R' | b'B' | b'N' | b'P' | b'O' | b'0');
    let has_digit = || word.iter().any(u8::is_ascii_digit);
    let begins = || matches!(word, [b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N' | b'P', ..]);
    names_square
        || (!is_remark(word) && word.iter().all(letters))
        || (word.len() <= LONGEST && begins() && has_digit())
}

/// Whether a word that cannot be parsed as a move has the form of a piece's move in another language, such as
/// `Sf3`, `Txd1+` or `Крe2`. If such a word were ignored, the rest of the game would be played from a wrong
/// position.
#[must_use]
pub fn is_foreign_move(word: &[u8]) -> bool {
    const LONGEST: usize = 24;
    if word.len() > LONGEST {
        return false;
    }
    let (letters, rest) = match word {
        [letter, rest @ ..] if letter.is_ascii_alphabetic() => (&word[..1], rest),
        _ => word.split_at(word.iter().take_while(|byte| !byte.is_ascii()).count()),
    };
    let alphabetic = match std::str::from_utf8(letters) {
        Ok(letters) => letters.chars().all(char::is_alphabetic),
        Err(_) => letters.iter().all(|&byte| byte >= 0xc0), // a letter in most 8-bit character sets
    };
    !letters.is_empty() && alphabetic && crate::board::Position::is_san(&[b"N", rest].concat())
}

/// Whether a word has the form of a move in descriptive notation, such as `P-K4`, `Kt-KB3` or `BxKt`.
#[must_use]
pub fn is_descriptive_move(word: &[u8]) -> bool {
    let kind = |text: &[u8]| matches!(text, b"K" | b"Q" | b"R" | b"B" | b"N" | b"Kt" | b"P");
    let piece = |text: &[u8]| {
        let is_pawn_of_file = text.strip_suffix(b"P").is_some_and(kind);
        kind(text) || is_pawn_of_file || matches!(text, [b'K' | b'Q', rest @ ..] if kind(rest))
    };
    let square =
        |text: &[u8]| matches!(text, [file @ .., b'1'..=b'8'] if !file.ends_with(b"P") && piece(file));
    let word = word.strip_suffix(b"+").unwrap_or(word);
    match word.iter().position(|&byte| matches!(byte, b'-' | b'x')) {
        Some(at) if word[at] == b'-' => piece(&word[..at]) && square(&word[at + 1..]),
        Some(at) => piece(&word[..at]) && piece(&word[at + 1..]),
        None => false,
    }
}

/// Whether a word that cannot be parsed as a move has the form of a move except for its letters. It can have
/// capital letters (`E4`, `NF3`), a lower-case letter for the piece (`nf3`), or letters of another alphabet
/// (`е4`).
#[must_use]
pub fn is_misspelt_move(word: &[u8]) -> bool {
    const LONGEST: usize = 24;
    let has_digit = word.iter().any(u8::is_ascii_digit);
    if word.len() > LONGEST || (!has_digit && word.is_ascii()) {
        return false;
    }
    let letters: Vec<char> = decode(word).trim_end_matches(['+', '#']).chars().collect();
    let is_foreign = |letter: char| !letter.is_ascii() && letter.is_alphabetic();
    let is_castling = match letters[..] {
        [king, '-', rook] | [king, '-', rook, '-', _] => king == rook && is_foreign(king),
        _ => false,
    };
    if is_castling {
        return true;
    }
    if !has_digit {
        return false;
    }
    let is_file = |at: usize| {
        let is_letter = matches!(letters[at], 'A'..='H' | 'a'..='h') || is_foreign(letters[at]);
        is_letter && matches!(letters.get(at + 1), Some('1'..='8'))
    };
    // The name of a piece can have several letters in another alphabet.
    let foreign = (0..letters.len()).take_while(|&at| is_foreign(letters[at]) && !is_file(at)).count();
    let piece = if foreign == 0 && !is_file(0) && letters[0].is_ascii_alphabetic() { 1 } else { foreign };
    let plain = letters.iter().enumerate().skip(piece).map(|(at, &letter)| match letter {
        'x' | 'X' | '\u{d7}' => 'x',
        letter if is_file(at) && !letter.is_ascii() => 'e',
        'A'..='H' if is_file(at) || (at + 1 < letters.len() && is_file(at + 1)) => {
            letter.to_ascii_lowercase()
        }
        'a'..='h' => letter,
        // Any other letter is the promotion piece.
        letter => letter.to_ascii_uppercase(),
    });
    let plain: String = (piece > 0).then_some('N').into_iter().chain(plain).collect();
    crate::board::Position::is_san(plain.as_bytes())
}

/// Whether a number has the form of a move in correspondence notation, such as `5254`.
#[cold]
pub(super) fn is_numeric_move(number: &[u8]) -> bool {
    matches!(number.len(), 4 | 5) && number.iter().all(|byte| matches!(byte, b'1'..=b'8'))
}

/// Whether a word is an annotator's remark, not a move. A remark marks a novelty (`N`), an editorial comment (`RR`), a
/// diagram (`D`), check or mate in old books (`dbl`, `ch`, `mate`), or en passant.
#[must_use]
pub fn is_remark(word: &[u8]) -> bool {
    let is_mark = matches!(word, b"" | b"N" | b"TN" | b"D" | b"RR" | b"^" | b"%");
    let is_en_passant = matches!(word, b"e.p." | b"e.p" | b"e. p." | b"e. p" | b"ep");
    let is_check =
        matches!(word, b"ch" | b"chk" | b"check" | b"dbl" | b"dis" | b"disch" | b"mate" | b"checkmate");
    is_mark || is_en_passant || is_check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_in_other_languages_are_distinguished_from_remarks() {
        for word in ["Sf3", "Lb5+", "Txd1", "T1e1", "Se2xd4", "Cf6", "Крe2", "Кf3"] {
            assert!(is_foreign_move(word.as_bytes()), "{word}");
        }
        assert!(is_foreign_move(b"\xcaf3"));
        for word in ["still", "S", "Sf", "me", "Table4x", "\"e4", "%clk", "été", "", "see9", "Schach", "€e4"]
        {
            assert!(!is_foreign_move(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn descriptive_moves_are_distinguished_from_other_words() {
        for word in ["P-K4", "N-KB3", "Kt-QB3", "KR-Q1", "BxKt", "PxP", "QxBP", "B-Kt5+", "R-R8"] {
            assert!(is_descriptive_move(word.as_bytes()), "{word}");
        }
        for word in ["e4", "O-O", "P-P4", "P-K9", "P-", "-K4", "x", "PxK4", "T-K4", "Kt", ""] {
            assert!(!is_descriptive_move(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn moves_in_other_letters_are_distinguished_from_remarks() {
        for word in [
            "E4",
            "NF3",
            "nf3",
            "kxe2",
            "EXD5",
            "BXC4+",
            "E2-E4",
            "E2E4",
            "E8=Q",
            "e8=q",
            "E8Q#",
            "NBD7",
            "R1E1",
            "\u{435}4",
            "\u{43a}f3",
            "\u{41a}\u{440}\u{435}2",
            "\u{433}7-\u{433}8",
            "n\u{d7}d4",
        ] {
            assert!(is_misspelt_move(word.as_bytes()), "{word}");
        }
        for word in [
            "see9",
            "Table4x",
            "%clk",
            "r23",
            "12th",
            "v2",
            "Boleslavsky1",
            "\u{e9}t\u{e9}",
            "",
            "E",
            "E9",
            "No5",
            "12",
            "h2o2",
        ] {
            assert!(!is_misspelt_move(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn remarks_are_distinguished_from_misread_moves() {
        for word in ["Sf3", "e4e5d", "exd", "Nf", "Kg9e4", "Qh9", "Nf33", "K", "d", "O", "Nx", "xf4"] {
            assert!(looks_like_move(word.as_bytes()), "{word}");
        }
        for word in
            ["hello", "N", "RR", "ch", "mate", "e.p.", "ep", "D", "check", "Boleslavsky1", "r23", "12th", ""]
        {
            assert!(!looks_like_move(word.as_bytes()), "{word}");
        }
    }
}
