//! Parses pasted moves in any language.

use super::language::{DUTCH, ENGLISH, LANGUAGES, Language};
use super::note::MovesNote;
use super::reading::{Reading, WordRefusal};
use super::scan::{Scanned, Stop, Word, other_variant, scan};
use crate::board::{MoveRefusal, Position};
use crate::query::position::{MoveLocation, PositionError, PositionQuery, number_before};

/// Why a move cannot be played, and how it was read.
#[derive(Debug, thiserror::Error)]
#[error("{refusal}{}{}", in_language(.language), other_number(.number))]
struct Why {
    refusal: WordRefusal,
    /// The language of the letters, if it is not English.
    language: Option<&'static str>,
    /// The number in front of the move, and the actual move number, if they differ.
    number: Option<(u32, u32)>,
}

fn in_language(language: &Option<&str>) -> String {
    language.map(|name| format!(" (with the piece letters of {name})")).unwrap_or_default()
}

fn other_number(number: &Option<(u32, u32)>) -> String {
    match number {
        Some((typed, counted)) if typed > counted => {
            format!("; it is numbered {typed}, but is move {counted}: moves before it are missing")
        }
        Some((typed, counted)) => format!("; it is numbered {typed}, but is move {counted}"),
        None => String::new(),
    }
}

impl PositionQuery {
    /// Parses pasted moves: as in PGN, with small letters, chess symbols or the piece letters of other
    /// languages, with the signs of books and programs. [`notes`](Self::notes) has the assumptions made.
    ///
    /// # Errors
    /// If a move cannot be played (the error says which move, why, and in what position), or is ambiguous or
    /// wrongly numbered; if the text does not consist of the moves of one line and, possibly, comments and tag
    /// pairs; or if a tag pair has an invalid FEN or an unsupported variant.
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
        let start = query.position.clone();
        let (reading, languages) = choose(&scanned, &start)?;
        if let Some(refusal) = &reading.refusal {
            return Err(refused(&scanned, &start, &reading, refusal));
        }
        if let Some(stop) = scanned.stop {
            return Err(stopped(stop, MoveLocation::after(reading.line.last())));
        }
        if reading.line.is_empty() {
            return Err(PositionError::NoMoves);
        }
        // Wrong move numbers mean that moves are missing or that another line begins. The moves are then
        // legal only by chance.
        if scanned.fen.is_none()
            && let Some((played, typed)) = reading.misnumbered(&scanned.words)
        {
            let (word, counted) = (played.word.clone(), played.number);
            return Err(PositionError::Numbering { word, counted, typed });
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

/// Reads the words in the language in which all of them are moves, English first; otherwise in the language
/// that gets furthest.
fn choose(scanned: &Scanned, start: &Position) -> Result<(Reading, Vec<&'static str>), PositionError> {
    let words = &scanned.words;
    let english = Reading::new(&ENGLISH, start, words);
    if english.is_whole() {
        // The Dutch letter for the knight is the English letter for the pawn, which English moves usually omit.
        let is_dutch = words.iter().any(|word| word.plain.starts_with(['P', 'p']));
        let dutch = is_dutch.then(|| Reading::new(&DUTCH, start, words)).filter(Reading::is_whole);
        let found = std::iter::once(english).chain(dutch).collect();
        return one_line(found, start).map(|(reading, _)| (reading, Vec::new()));
    }
    // If all letters of a reading name pieces in English too, a typo is more likely than another language:
    // such a reading is not accepted.
    let is_other = |reading: &Reading| {
        let is_open = matches!(english.refusal, Some(WordRefusal::TwoReadings(..)));
        reading.is_foreign() || !(is_open || reading.is_whole())
    };
    let others = LANGUAGES.iter().map(|language| Reading::new(language, start, words)).filter(is_other);
    let (whole, mut failed): (Vec<_>, Vec<_>) = others.partition(Reading::is_whole);
    let is_strict = |reading: &Reading| reading.respelt.is_empty();
    let strict_first: Vec<_> = match whole.iter().any(is_strict) {
        true => whole.into_iter().filter(is_strict).collect(),
        false => whole,
    };
    if !strict_first.is_empty() {
        return one_line(strict_first, start);
    }
    failed.insert(0, english);
    failed.reverse();
    // `max_by_key` returns the last of several equal readings: English.
    let best = failed.into_iter().max_by_key(Reading::rank);
    best.map(|reading| (reading, Vec::new())).ok_or(PositionError::NoMoves)
}

/// The first reading in `found`, and the languages of all, if all play the same moves.
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
    let told = |reading: &Reading| {
        let san = reading.codes().nth(at).map(|code| before.san(code)).unwrap_or_default();
        (reading.language.name, san)
    };
    let word = one.line.get(at).map(|played| played.numbered()).unwrap_or_default();
    PositionError::Languages { word, one: told(one), other: told(other) }
}

/// The error for the word at which a reading ends.
fn refused(scanned: &Scanned, start: &Position, reading: &Reading, refusal: &WordRefusal) -> PositionError {
    let played = reading.line.len();
    let Word { typed, number, .. } = &scanned.words[played];
    let is_unreadable = *refusal == WordRefusal::Refused(MoveRefusal::Unreadable);
    if is_unreadable && !may_be_move(typed) {
        return PositionError::NoMove {
            word: typed.clone(),
            place: MoveLocation::after(reading.line.last()),
        };
    }
    let at = reading.line.last().map_or(start, |last| &last.position);
    let counted = at.fullmove_number();
    let language =
        Some(reading.language).filter(|&language: &&Language| *language != ENGLISH && !is_unreadable);
    let why = Why {
        refusal: refusal.clone(),
        language: language.map(|language| language.name),
        number: number.filter(|&number| number != counted).map(|number| (number, counted)),
    };
    PositionError::Move {
        number: number_before(counted, at.side()),
        word: typed.clone(),
        ply: played + 1,
        fen: at.fen(),
        source: Box::new(why),
    }
}

/// Whether an unreadable word looks partly like a move.
fn may_be_move(word: &str) -> bool {
    Position::is_san(word.as_bytes()) || word.chars().any(|letter| letter.is_ascii_digit())
}

fn stopped(stop: Stop, place: MoveLocation) -> PositionError {
    match stop {
        Stop::UnclosedComment => PositionError::UnclosedComment,
        Stop::Variation => PositionError::Variation { place },
        Stop::UnclosedVariation => PositionError::UnclosedVariation,
        Stop::StrayClosing => PositionError::StrayClosing,
        Stop::NextGame => PositionError::NextGame,
        Stop::AfterResult(result) => PositionError::AfterResult { result: result.as_str() },
        Stop::NoMove(word) => PositionError::NoMove { word, place },
    }
}
