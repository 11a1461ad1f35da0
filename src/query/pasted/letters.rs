//! Characters of pasted texts: invisible characters, separators, variants of plain characters, and the piece
//! letters of the languages in which moves are written.

use crate::board::PieceKind;

/// Replaces all dashes except the hyphen. Hyphens are kept, because a word of two hyphens is a null move. A
/// word of other dashes is ignored.
pub(super) const DASH: char = '–';

/// Removes invisible characters, and replaces blanks, line ends, dashes and capture signs by one form each.
pub(super) fn cleaned(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace("&nbsp;", " ");
    text.chars().filter(|&letter| !is_invisible(letter)).map(plain_sign).collect()
}

/// Whether a character is a joiner, a direction mark, a variation selector, a soft hyphen or a byte order
/// mark.
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
pub(super) fn figurine(letter: char) -> Option<PieceKind> {
    let place = "♔♕♖♗♘♙♚♛♜♝♞♟".chars().position(|symbol| symbol == letter)?;
    Some(PieceKind::FROM_KING[place % PieceKind::FROM_KING.len()])
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
    const REMARKS: &str = "ch dis dbl check mate checkmate ep matt schach schaak mat échec échecs jaque scacco \
                           matto шах мат xeque";
    let word = word.to_lowercase();
    REMARKS.split(' ').any(|remark| remark == word)
}

/// Whether a word can precede the moves as the heading of a list or a column.
pub(super) fn is_heading(word: &str) -> bool {
    const HEADINGS: [&str; 9] = ["white", "black", "move", "moves", "pgn", "game", "no", "nr", "#"];
    HEADINGS.contains(&word.to_lowercase().as_str())
}

/// The piece letters of a language.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Language {
    /// The English name of the language. One language represents all languages with the same letters.
    pub(super) name: &'static str,
    /// The letters of king, queen, rook, bishop and knight, in this order; in English also of the pawn. Other
    /// languages have a letter for the pawn too, but it is rarely written, and can mean another piece in
    /// another language.
    letters: &'static [&'static str],
}

pub(super) static ENGLISH: Language = Language::new("English", &["K", "Q", "R", "B", "N", "P"]);

/// In Dutch, the letter for the knight is the English one for the pawn.
pub(super) static DUTCH: Language = Language::new("Dutch", &["K", "D", "T", "L", "P"]);

/// The languages other than English.
pub(super) static LANGUAGES: [Language; 16] = [
    Language::new("German", &["K", "D", "T", "L", "S"]),
    Language::new("French", &["R", "D", "T", "F", "C"]),
    Language::new("Spanish", &["R", "D", "T", "A", "C"]),
    Language::new("Dutch", &["K", "D", "T", "L", "P"]),
    Language::new("Portuguese", &["R", "D", "T", "B", "C"]),
    Language::new("Polish", &["K", "H", "W", "G", "S"]),
    Language::new("Czech", &["K", "D", "V", "S", "J"]),
    Language::new("Hungarian", &["K", "V", "B", "F", "H"]),
    Language::new("Romanian", &["R", "D", "T", "N", "C"]),
    Language::new("Finnish", &["K", "D", "T", "L", "R"]),
    Language::new("Turkish", &["Ş", "V", "K", "F", "A"]),
    Language::new("Russian", &["Кр", "Ф", "Л", "С", "К"]),
    Language::new("Ukrainian", &["Кр", "Ф", "Т", "С", "К"]),
    Language::new("Bulgarian", &["Ц", "Д", "Т", "О", "К"]),
    Language::new("Serbian", &["К", "Д", "Т", "Л", "С"]),
    Language::new("Greek", &["Ρ", "Β", "Π", "Α", "Ι"]),
];

impl Language {
    const fn new(name: &'static str, letters: &'static [&'static str]) -> Self {
        Self { name, letters }
    }

    /// The piece whose letter or symbol a word begins with, and the rest of the word. With `any_case`, small
    /// letters are accepted too.
    pub(super) fn piece<'w>(&self, word: &'w str, any_case: bool) -> Option<(PieceKind, &'w str)> {
        let first = word.chars().next()?;
        if let Some(kind) = figurine(first) {
            return Some((kind, &word[first.len_utf8()..]));
        }
        let begun = self
            .letters
            .iter()
            .zip(PieceKind::FROM_KING)
            .filter_map(|(letters, kind)| Some((kind, strip(word, letters, any_case)?)));
        // In Russian, the king's letters begin with the knight's letter, so the longest match is right.
        begun.min_by_key(|(_, rest)| rest.len())
    }

    /// Translates a move of this language into English letters, if it has the form of a move. With
    /// `any_case`, a small letter is read as a piece if possible, and capital letters can be files.
    pub(super) fn in_english(&self, word: &str, any_case: bool) -> Option<String> {
        let piece = self.piece(word, any_case);
        let (kind, rest) = piece.map_or((None, word), |(kind, rest)| (Some(kind), rest));
        self.joined(kind, rest, any_case)
    }

    /// Translates a move into English letters. `kind` is the kind of its piece, or `None` for a pawn; `rest`
    /// is the word without the piece letter. With `any_case`, the squares can be in capital letters.
    pub(super) fn joined(&self, kind: Option<PieceKind>, rest: &str, any_case: bool) -> Option<String> {
        let (squares, promotion) = self.promotion(rest);
        let squares = if any_case { squares.to_lowercase() } else { squares.to_owned() };
        let is_of_squares = |letter| matches!(letter, 'a'..='h' | '1'..='8' | 'x' | ':' | '-');
        if squares.is_empty() || !squares.chars().all(is_of_squares) {
            return None;
        }
        if kind.is_none() && names_file_twice(&squares) {
            return None;
        }
        let mut text = String::new();
        text.extend(kind.map(|kind| char::from(kind.letter())));
        text.push_str(&squares);
        text.extend(promotion.map(|kind| format!("={}", char::from(kind.letter()))));
        Some(text)
    }

    /// Splits a promotion, written as `=D`, `D`, `/D` or `(D)`, from the end. The letter can be in any case.
    fn promotion<'w>(&self, rest: &'w str) -> (&'w str, Option<PieceKind>) {
        let Some(end) = rest.rfind(|letter: char| letter.is_ascii_digit()) else { return (rest, None) };
        let (squares, tail) = rest.split_at(end + 1);
        let letter = tail.trim_matches(['=', '/', '(', ')']);
        match self.piece(letter, true) {
            Some((kind, "")) => (squares, Some(kind)),
            _ => (rest, None),
        }
    }

    /// The letters that name a piece of this kind, if the word begins with them and they differ from the
    /// English letter.
    pub(super) fn foreign_letters(&self, word: &str, kind: PieceKind) -> Option<&'static str> {
        let (named, _) = self.piece(word, true)?;
        let is_symbol = word.chars().next().and_then(figurine).is_some();
        let (letters, _) = self.letters.iter().zip(PieceKind::FROM_KING).find(|(_, other)| *other == kind)?;
        (named == kind && !is_symbol && letters.as_bytes() != [kind.letter()]).then_some(letters)
    }
}

/// Whether a word names a file twice, as in `bb5`. A pawn's move names two different files or only one, so
/// the first letter of such a word names a piece.
pub(super) const fn names_file_twice(word: &str) -> bool {
    matches!(word.as_bytes(), [file @ b'a'..=b'h', to, b'1'..=b'8'] if *file == *to)
}

/// The rest of a word after the given letters; `None` if the word does not begin with them.
fn strip<'w>(word: &'w str, letters: &str, any_case: bool) -> Option<&'w str> {
    if let Some(rest) = word.strip_prefix(letters) {
        return Some(rest);
    }
    let end = word.char_indices().nth(letters.chars().count()).map_or(word.len(), |(at, _)| at);
    let (begin, rest) = word.split_at(end);
    (any_case && begin.to_lowercase() == letters.to_lowercase()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_translated_to_english_letters() {
        let language = |name: &str| LANGUAGES.iter().find(|language| language.name == name).unwrap();
        for (name, word, english) in [
            ("German", "Sf3", "Nf3"),
            ("German", "Sg1xf3", "Ng1xf3"),
            ("German", "e8D", "e8=Q"),
            ("German", "e8(D)", "e8=Q"),
            ("French", "Rxe2", "Kxe2"),
            ("Russian", "Крe2", "Ke2"),
            ("Russian", "Кe2", "Ne2"),
            ("Turkish", "Şe2", "Ke2"),
            ("Spanish", "♘f3", "Nf3"),
            ("Spanish", "e8=♕", "e8=Q"),
        ] {
            assert_eq!(language(name).in_english(word, false).as_deref(), Some(english), "{name} {word}");
        }
        for (name, word) in [("German", "Nf3"), ("German", "sf3"), ("Dutch", "Sf3"), ("French", "e8=S")] {
            assert_eq!(language(name).in_english(word, false), None, "{name} {word}");
        }
        assert_eq!(language("German").in_english("sf3", true).as_deref(), Some("Nf3"));
        assert_eq!(language("Russian").in_english("крE2", true).as_deref(), Some("Ke2"));
        assert_eq!(language("Czech").joined(None, "EXD5", true).as_deref(), Some("exd5"));
    }

    /// Two languages with the same letters would both be reported.
    #[test]
    fn languages_differ() {
        for (index, language) in LANGUAGES.iter().enumerate() {
            assert!(LANGUAGES[..index].iter().all(|other| other.letters != language.letters));
            assert_eq!(language.letters.len(), 5);
        }
        assert!(LANGUAGES.contains(&DUTCH) && !LANGUAGES.contains(&ENGLISH));
    }
}
