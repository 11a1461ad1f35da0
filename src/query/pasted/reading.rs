//! Plays the words of a pasted text with the piece letters of one language.

use std::fmt;

use super::characters::figurine;
use super::language::{ENGLISH, Language, names_file_twice};
use super::scan::Word;
use crate::board::{Color, MoveCode, MoveRefusal, Piece, PieceKind, Position};
use crate::query::position::LineMove;

/// The result of playing the words of a text with the piece letters of one language.
pub(super) struct Reading {
    pub(super) language: &'static Language,
    pub(super) line: Vec<LineMove>,
    /// The position after the last move.
    pub(super) position: Position,
    /// Words that are moves only with other capitalization, and these moves.
    pub(super) respelt: Vec<(String, String)>,
    /// Letters that differ from English, and the pieces that they name.
    pub(super) letters: Vec<(&'static str, PieceKind)>,
    /// Why the next word is not a move.
    pub(super) refusal: Option<WordRefusal>,
}

/// Why a word is not a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordRefusal {
    /// The word cannot be played as a move.
    Refused(MoveRefusal),
    /// The word can mean two different moves.
    TwoReadings(String, String),
}

impl fmt::Display for WordRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::TwoReadings(one, other) => write!(f, "it can mean {one} or {other}; write one of them"),
        }
    }
}

/// A word that is a move.
struct Found {
    code: MoveCode,
    is_respelt: bool,
}

impl Reading {
    /// Plays words from a position as long as they are moves in a language.
    pub(super) fn new(language: &'static Language, start: &Position, words: &[Word]) -> Self {
        let mut reading = Self {
            language,
            line: Vec::with_capacity(words.len()),
            position: start.clone(),
            respelt: Vec::new(),
            letters: Vec::new(),
            refusal: None,
        };
        let capitals = words.iter().any(|word| names_piece(language, &word.plain));
        reading.refusal = words.iter().try_for_each(|word| reading.play(word, capitals)).err();
        reading
    }

    pub(super) fn codes(&self) -> impl Iterator<Item = MoveCode> {
        self.line.iter().map(|played| played.code)
    }

    /// Whether all words are moves.
    pub(super) const fn is_whole(&self) -> bool {
        self.refusal.is_none()
    }

    /// Whether one of the letters names no piece in English. If all of them do, a typo is more likely than
    /// another language: `Nc4`, where only a bishop can move to c4, is not Romanian.
    pub(super) fn is_foreign(&self) -> bool {
        self.letters.iter().any(|(letters, _)| !matches!(*letters, "K" | "Q" | "R" | "B" | "N"))
    }

    /// The first of White's moves whose number in the text is wrong, with the number in the text.
    pub(super) fn misnumbered(&self, words: &[Word]) -> Option<(&LineMove, u32)> {
        let mut numbered = self.line.iter().zip(words).filter(|(played, _)| played.side == Color::White);
        numbered
            .find_map(|(played, word)| Some((played, word.number.filter(|&number| number != played.number)?)))
    }

    /// A measure of how well the language fits: the number of moves played, then whether the next word could
    /// be parsed.
    pub(super) fn rank(&self) -> (usize, bool) {
        let is_readable = self.refusal != Some(WordRefusal::Refused(MoveRefusal::Unreadable));
        (self.line.len(), is_readable)
    }

    fn play(&mut self, word: &Word, capitals: bool) -> Result<(), WordRefusal> {
        let Found { code, is_respelt } = self.find(&word.plain, capitals)?;
        let mut position = self.position.clone();
        let Ok(code) = position.make(code) else {
            return Err(WordRefusal::Refused(MoveRefusal::Unreadable));
        };
        if is_respelt {
            self.respelt.push((word.typed.clone(), self.position.san(code)));
        }
        let kind = code.piece().map(Piece::kind).filter(|&kind| kind != PieceKind::Pawn);
        let letters = kind.and_then(|kind| Some((self.language.foreign_letters(&word.plain, kind)?, kind)));
        self.letters.extend(letters.filter(|letters| !self.letters.contains(letters)));
        let (number, side) = (self.position.fullmove_number(), self.position.side());
        self.position = position.clone();
        self.line.push(LineMove { number, side, word: word.typed.clone(), code, position });
        Ok(())
    }

    /// The move that a word means. If the text has no `capitals` for pieces, a small letter can be a piece or
    /// a file.
    fn find(&self, word: &str, capitals: bool) -> Result<Found, WordRefusal> {
        let language = self.language;
        let strict = self.strict(word);
        let respelt = || language.in_english(word, true).into_iter().chain(language.pawn_in_english(word));
        let legal = |text: &String| self.position.resolve(text.as_bytes()).ok();
        if let Some(code) = strict.as_ref().and_then(legal) {
            let other = respelt().filter_map(|text| legal(&text)).find(|&other| other != code);
            return match other.filter(|_| !capitals && is_pawn_capture(word)) {
                Some(other) => Err(self.two(code, other)),
                None => Ok(Found { code, is_respelt: false }),
            };
        }
        let mut captures = self.pawn_captures(word);
        match (captures.pop(), captures.pop()) {
            (Some(code), None) => return Ok(Found { code, is_respelt: false }),
            (Some(one), Some(other)) => return Err(self.two(one, other)),
            (None, _) => {}
        }
        let mut codes: Vec<MoveCode> = Vec::new();
        for code in respelt().filter_map(|text| legal(&text)) {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        match codes[..] {
            [] => {
                let text = strict.or_else(|| respelt().next()).unwrap_or_else(|| word.to_owned());
                let refusal = self.position.resolve_or_explain(text.as_bytes()).err();
                Err(WordRefusal::Refused(refusal.unwrap_or(MoveRefusal::Unreadable)))
            }
            [code] => Ok(Found { code, is_respelt: true }),
            [one, other, ..] => Err(self.two(one, other)),
        }
    }

    /// The word in English letters, with the capitalization of the language.
    fn strict(&self, word: &str) -> Option<String> {
        if let Some(castling) = castling(word) {
            return Some(castling.to_owned());
        }
        if matches!(word, "--" | "Z0" | "0000" | "@@@@") {
            return Some(word.to_owned());
        }
        let word = latin_files(word);
        if names_file_twice(&word) {
            return None;
        }
        // ChessBase writes N for a novelty after a move.
        let novelty = || {
            let plain =
                word.strip_suffix('N').filter(|plain| plain.ends_with(['2', '3', '4', '5', '6', '7']));
            self.language.in_english(plain?, false)
        };
        let english = novelty().or_else(|| self.language.in_english(&word, false));
        let is_english = *self.language == ENGLISH && Position::is_san(word.as_bytes());
        english.or_else(|| is_english.then_some(word))
    }

    /// The legal pawn captures from file to file that `exd` or `ed` can mean.
    fn pawn_captures(&self, word: &str) -> Vec<MoveCode> {
        let letters: Vec<char> = word.chars().filter(|letter| !matches!(letter, 'x' | ':')).collect();
        let &[from @ 'a'..='h', to @ 'a'..='h'] = letters.as_slice() else { return Vec::new() };
        let moves = ('1'..='8').map(|rank| format!("{from}x{to}{rank}"));
        moves.filter_map(|text| self.position.resolve(text.as_bytes()).ok()).collect()
    }

    fn two(&self, one: MoveCode, other: MoveCode) -> WordRefusal {
        WordRefusal::TwoReadings(self.position.san(one), self.position.san(other))
    }
}

/// Whether a word names a piece with a capital letter or a symbol.
fn names_piece(language: &Language, word: &str) -> bool {
    let first = word.chars().next();
    first.is_some_and(|letter| letter.is_uppercase() || figurine(letter).is_some())
        && language.piece(word, false).is_some()
        && language.in_english(word, false).is_some()
}

/// Whether a word is a pawn's capture, such as `bc4` or `bxc4`. People who type small letters may mean a
/// bishop.
const fn is_pawn_capture(word: &str) -> bool {
    matches!(
        word.as_bytes(),
        [b'a'..=b'h', b'a'..=b'h', b'1'..=b'8'] | [b'a'..=b'h', b'x' | b':', b'a'..=b'h', b'1'..=b'8']
    )
}

/// Castling written with zeros or the letter O: Latin, Cyrillic or Greek, in any case.
fn castling(word: &str) -> Option<&'static str> {
    let parts = word.chars().filter(|&letter| letter != '-').count();
    let is_castling =
        word.chars().all(|letter| matches!(letter, 'O' | 'o' | '0' | 'О' | 'о' | 'Ο' | 'ο' | '-'));
    let dashes = word.chars().count() - parts;
    match (is_castling, parts, dashes) {
        (true, 2, 0 | 1) => Some("O-O"),
        (true, 3, 0 | 2) => Some("O-O-O"),
        _ => None,
    }
}

/// Replaces Cyrillic letters by the Latin ones that look like them, where they name a file or a capture.
fn latin_files(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let latin = |at: usize| {
        let names_file =
            letters.get(at + 1).is_some_and(|next| next.is_ascii_digit() || "x:х-".contains(*next));
        match letters[at] {
            'а' if names_file => 'a',
            'с' if names_file => 'c',
            'е' if names_file => 'e',
            'х' => 'x',
            letter => letter,
        }
    };
    (0..letters.len()).map(latin).collect()
}
