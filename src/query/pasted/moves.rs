//! Parses pasted moves in any language: plays the words with the piece letters of each language.

use std::fmt;

use super::letters::{DUTCH, ENGLISH, LANGUAGES, Language, figurine, names_file_twice};
use super::scan::{Scanned, Stop, Word, other_variant, scan};
use crate::board::{Color, MoveCode, MoveRefusal, Piece, PieceKind, Position};
use crate::query::error::brief;
use crate::query::position::{LineMove, MovesNote, PositionError, PositionQuery, number_before};

impl PositionQuery {
    /// Parses pasted moves: as in PGN, or with small letters, chess symbols, the piece letters of other
    /// languages, or the signs of books and programs. [`notes`](Self::notes) lists the assumptions made.
    ///
    /// # Errors
    /// - If a move cannot be played, is ambiguous or has a wrong number. The error says which move, why, and
    ///   in what position.
    /// - If the text has anything other than comments, tag pairs and the moves of one line.
    /// - If a tag pair has an invalid FEN or an unsupported variant.
    pub fn from_moves(text: &str) -> Result<Self, PositionError> {
        if let Some(name) = other_variant(text) {
            return Err(PositionError::Variant { name });
        }
        let scanned = scan(text);
        let mut query = match &scanned.fen {
            Some(fen) => Self::from_fen(fen)?,
            None => Self::start(),
        };
        if let Some(fen) = scanned.fen.clone().filter(|_| query.position != Position::start()) {
            query.notes.push(MovesNote::Start { fen });
        }
        let (reading, languages) = choose(&scanned, &query.position)?;
        if let Some(refusal) = &reading.refusal {
            return Err(refused(&scanned, &reading, refusal));
        }
        if let Some(stop) = scanned.stop {
            return Err(stopped(stop, reading.line.last()));
        }
        if reading.line.is_empty() {
            return Err(PositionError::NoMoves);
        }
        // Wrong move numbers mean that moves are missing or that another line begins. The moves are then
        // legal only by chance.
        if scanned.fen.is_none()
            && let Some((played, typed)) = reading.misnumbered(&scanned.words)
        {
            let (word, counted) = (brief(&played.word), played.number);
            let missing = if typed > counted { ": a move may be missing" } else { "" };
            return Err(PositionError::Moves(format!(
                "{word} is numbered {typed}, but is White's move {counted}{missing}; write all moves of one variation from the first move, or leave out the numbers"
            )));
        }
        if let Some(word) = scanned.words.iter().find(|word| word.plain == "--") {
            query.notes.push(MovesNote::NullMove { word: word.typed.clone() });
        }
        if !reading.letters.is_empty() {
            query.notes.push(MovesNote::Language { languages, letters: reading.letters });
        }
        if !reading.respelt.is_empty() {
            query.notes.push(MovesNote::Capitals { words: reading.respelt });
        }
        query.notes.extend(scanned.skipped.map(|text| MovesNote::Skipped { text }));
        query.position = reading.position;
        query.line = reading.line;
        Ok(query)
    }
}

/// Chooses the language in which all words are moves, English first. If there is no such language, chooses
/// the one in which the most moves can be played before a word that is not a move. If a language other than
/// English fits all words, also returns the names of the languages that fit. Fails if the words mean
/// different moves in these languages.
fn choose(scanned: &Scanned, start: &Position) -> Result<(Reading, Vec<&'static str>), PositionError> {
    let words = &scanned.words;
    let english = Reading::new(&ENGLISH, start, words);
    if english.is_whole() {
        // The Dutch letter for the knight is the English letter for the pawn, which English moves usually
        // omit.
        let is_dutch = words.iter().any(|word| word.plain.starts_with(['P', 'p']));
        let dutch = is_dutch.then(|| Reading::new(&DUTCH, start, words)).filter(Reading::is_whole);
        let found = std::iter::once(english).chain(dutch).collect();
        return one_line(found, start).map(|(reading, _)| (reading, Vec::new()));
    }
    // If all letters of a reading name pieces in English too, a typo is more likely than another language. So
    // such a reading is ignored if all words are moves in it, or if the English reading ends at an ambiguous word.
    let is_other = |reading: &Reading| {
        let is_open = matches!(english.refusal, Some(WordRefusal::TwoReadings(..)));
        reading.is_foreign() || !(is_open || reading.is_whole())
    };
    let others = LANGUAGES.iter().map(|language| Reading::new(language, start, words)).filter(is_other);
    let (mut whole, failed): (Vec<_>, Vec<_>) = others.partition(Reading::is_whole);
    let is_strict = |reading: &Reading| reading.respelt.is_empty();
    if whole.iter().any(is_strict) {
        whole.retain(is_strict);
    }
    if !whole.is_empty() {
        return one_line(whole, start);
    }
    // `max_by_key` returns the last of several equal readings: English, or the first of the other languages.
    let best = failed.into_iter().rev().chain([english]).max_by_key(Reading::rank);
    best.map(|reading| (reading, Vec::new())).ok_or(PositionError::NoMoves)
}

/// The first reading in `found`, and the languages of all; an error unless all readings play the same moves.
fn one_line(
    mut found: Vec<Reading>,
    start: &Position,
) -> Result<(Reading, Vec<&'static str>), PositionError> {
    let languages = found.iter().map(|reading| reading.language.name).collect();
    let first = found.swap_remove(0);
    let differs = |reading: &&Reading| !reading.codes().eq(first.codes());
    match found.iter().find(differs) {
        None => Ok((first, languages)),
        Some(other) => Err(two_languages(&first, other, start)),
    }
}

fn two_languages(one: &Reading, other: &Reading, start: &Position) -> PositionError {
    let pairs = one.codes().zip(other.codes());
    let at = pairs.take_while(|(one, other)| one == other).count();
    let before = at.checked_sub(1).map_or(start, |before| &one.line[before].position);
    let language_and_san = |reading: &Reading| {
        let san = reading.codes().nth(at).map(|code| before.san(code)).unwrap_or_default();
        (reading.language.name, san)
    };
    let word = one.line.get(at).map(|played| played.numbered()).unwrap_or_default();
    PositionError::Languages { word, one: language_and_san(one), other: language_and_san(other) }
}

/// The error for the word at which a reading ends.
fn refused(scanned: &Scanned, reading: &Reading, refusal: &WordRefusal) -> PositionError {
    let played = reading.line.len();
    let Word { typed, number, .. } = &scanned.words[played];
    let is_unreadable = *refusal == WordRefusal::Refused(MoveRefusal::Unreadable);
    if is_unreadable && !may_be_move(typed) {
        return stopped(Stop::no_move(typed), reading.line.last());
    }
    let at = &reading.position;
    let counted = at.fullmove_number();
    let mut why = refusal.to_string();
    if reading.language.name != ENGLISH.name && !is_unreadable {
        why += &format!(" (with {} piece letters)", reading.language.name);
    }
    if let Some(typed) = number.filter(|&typed| typed != counted) {
        let more = if typed > counted { ": moves before it are missing" } else { "" };
        why += &format!("; it is numbered {typed}, but is move {counted}{more}");
    }
    PositionError::Move {
        number: number_before(counted, at.side()),
        word: typed.clone(),
        ply: played + 1,
        fen: at.fen(),
        source: why.into(),
    }
}

/// Whether an unreadable word looks partly like a move.
fn may_be_move(word: &str) -> bool {
    Position::is_san(word.as_bytes()) || word.chars().any(|letter| letter.is_ascii_digit())
}

/// The error for the place where scanning stopped, after the move `last`.
fn stopped(Stop { begin, end }: Stop, last: Option<&LineMove>) -> PositionError {
    PositionError::Moves(match (end, last) {
        (None, _) => begin,
        (Some(end), None) => format!("{begin} before the first move{end}"),
        (Some(end), Some(last)) => format!("{begin} after {}{end}", last.numbered()),
    })
}

/// The result of playing the words of a text with the piece letters of one language.
struct Reading {
    language: &'static Language,
    line: Vec<LineMove>,
    /// The position after the last move.
    position: Position,
    /// Words that are moves only with other capitalization, each with its move in SAN.
    respelt: Vec<(String, String)>,
    /// Letters that differ from English, and the pieces that they name.
    letters: Vec<(&'static str, PieceKind)>,
    /// Why the next word is not a move; `None` if all words are moves.
    refusal: Option<WordRefusal>,
}

/// Why a word is not a move.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WordRefusal {
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

impl Reading {
    /// Plays words from a position until a word is not a move in the given language.
    fn new(language: &'static Language, start: &Position, words: &[Word]) -> Self {
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

    fn codes(&self) -> impl Iterator<Item = MoveCode> {
        self.line.iter().map(|played| played.code)
    }

    /// Whether all words are moves.
    const fn is_whole(&self) -> bool {
        self.refusal.is_none()
    }

    /// Whether at least one of the letters names no piece in English. If every letter names a piece in
    /// English, a typo is more likely than another language: `Nc4`, where only a bishop can move to c4, is
    /// not Romanian.
    fn is_foreign(&self) -> bool {
        self.letters.iter().any(|(letters, _)| !matches!(*letters, "K" | "Q" | "R" | "B" | "N"))
    }

    /// The first of White's moves whose number in the text is wrong, with the number in the text.
    fn misnumbered(&self, words: &[Word]) -> Option<(&LineMove, u32)> {
        let mut numbered = self.line.iter().zip(words).filter(|(played, _)| played.side == Color::White);
        numbered
            .find_map(|(played, word)| Some((played, word.number.filter(|&number| number != played.number)?)))
    }

    /// A measure of how well the language fits: the number of moves played, then whether the next word could
    /// be parsed.
    fn rank(&self) -> (usize, bool) {
        let is_readable = self.refusal != Some(WordRefusal::Refused(MoveRefusal::Unreadable));
        (self.line.len(), is_readable)
    }

    fn play(&mut self, word: &Word, capitals: bool) -> Result<(), WordRefusal> {
        let (code, is_respelt) = self.find(&word.plain, capitals)?;
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

    /// The move that a word means, and whether the word is a move only with other capitalization. `capitals`:
    /// whether the text names pieces with capital letters or symbols. If not, a small letter can be a piece
    /// or a file.
    fn find(&self, word: &str, capitals: bool) -> Result<(MoveCode, bool), WordRefusal> {
        let language = self.language;
        let strict = self.strict(word);
        let respelt = || language.in_english(word, true).into_iter().chain(language.joined(None, word, true));
        let legal = |text: &String| self.position.resolve(text.as_bytes()).ok();
        if let Some(code) = strict.as_ref().and_then(legal) {
            let other = respelt().filter_map(|text| legal(&text)).find(|&other| other != code);
            return match other.filter(|_| !capitals && is_pawn_capture(word)) {
                Some(other) => Err(self.two(code, other)),
                None => Ok((code, false)),
            };
        }
        let mut captures = self.pawn_captures(word);
        match (captures.pop(), captures.pop()) {
            (Some(code), None) => return Ok((code, false)),
            (Some(one), Some(other)) => return Err(self.two(one, other)),
            (None, _) => {}
        }
        // `respelt` returns at most two texts.
        let mut codes: Vec<MoveCode> = respelt().filter_map(|text| legal(&text)).collect();
        codes.dedup();
        match codes[..] {
            [] => {
                let text = strict.or_else(|| respelt().next()).unwrap_or_else(|| word.to_owned());
                let refusal = self.position.resolve_or_explain(text.as_bytes()).err();
                Err(WordRefusal::Refused(refusal.unwrap_or(MoveRefusal::Unreadable)))
            }
            [code] => Ok((code, true)),
            [one, other, ..] => Err(self.two(one, other)),
        }
    }

    /// The word in English letters, if it has the form of a move without a change of capitalization.
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
        // ChessBase marks a novelty with an N at the end of the move.
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

/// Whether a word is a pawn's capture, such as `bc4` or `bxc4`. People who type small letters possibly mean a
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
