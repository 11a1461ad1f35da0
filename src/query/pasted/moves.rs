//! Parses pasted moves in any language.

use std::fmt;

use super::language::{DUTCH, ENGLISH, LANGUAGES, Language};
use super::reading::{Reading, WordRefusal};
use super::scan::{Scanned, Stop, Word, other_variant, scan};
use crate::board::{MoveRefusal, PieceKind, Position};
use crate::query::position::{MoveLocation, PositionError, PositionQuery, number_before};
use crate::query::text::{brief, cut};

/// An assumption that was necessary to read pasted moves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MovesNote {
    /// The moves are written with the piece letters of another language.
    Language {
        /// The language; several languages if the moves are the same in all of them.
        languages: Vec<&'static str>,
        /// The letters, and the pieces that they name.
        letters: Vec<(&'static str, PieceKind)>,
    },
    /// Some words are moves only with other capitalization.
    Capitals {
        /// Each word as typed, and the move in SAN.
        words: Vec<(String, String)>,
    },
    /// The moves do not start from the standard position.
    Start {
        /// The FEN of the tag pair.
        fen: String,
    },
    /// Two dashes are a null move.
    NullMove {
        /// The sign.
        word: String,
    },
    /// Moves after a `;` were ignored.
    Skipped {
        /// The ignored text.
        text: String,
    },
}

impl fmt::Display for MovesNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language { languages, letters } => {
                let letters: Vec<_> = letters
                    .iter()
                    .enumerate()
                    .map(|(index, (letters, kind))| {
                        let verb = if index == 0 { "is the " } else { "the " };
                        format!("{letters} {verb}{}", kind_name(*kind))
                    })
                    .collect();
                write!(f, "piece letters read as in {}: {}", either(languages), letters.join(", "))
            }
            Self::Capitals { words } => {
                const NAMED: usize = 4;
                let named: Vec<_> =
                    words.iter().take(NAMED).map(|(word, san)| format!("{} as {san}", brief(word))).collect();
                write!(f, "read with other capitals: {}", named.join(", "))?;
                match words.len().saturating_sub(NAMED) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::Start { fen } => {
                write!(f, "the moves start from the FEN in the tag pair: {}", brief(fen))
            }
            Self::NullMove { word } => write!(f, "{word:?} is read as a null move"),
            Self::Skipped { text } => {
                write!(f, "ignored as a comment: {:?}; leave out the ';' if these are moves", cut(text, 60))
            }
        }
    }
}

/// Joins several names, with `or` before the last.
fn either(names: &[&str]) -> String {
    const NAMED: usize = 4;
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] if names.len() < NAMED => format!("{} or {last}", names.join(", ")),
        names => format!("{} and others", names[..NAMED].join(", ")),
    }
}

const fn kind_name(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::Pawn => "pawn",
        PieceKind::Knight => "knight",
        PieceKind::King => "king",
        PieceKind::Bishop => "bishop",
        PieceKind::Rook => "rook",
        PieceKind::Queen => "queen",
    }
}

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

/// Plays the moves of a text.
///
/// # Errors
/// If the text does not consist of the moves of one line and, possibly, comments and tag pairs; if a tag pair
/// has an invalid FEN or an unsupported variant; or if a move is illegal, ambiguous or wrongly numbered.
pub(in crate::query) fn read_moves(text: &str) -> Result<PositionQuery, PositionError> {
    if let Some(name) = other_variant(text) {
        return Err(PositionError::Variant { name });
    }
    let scanned = scan(text);
    let mut query = match &scanned.fen {
        Some(fen) => PositionQuery::from_fen(fen)?,
        None => PositionQuery::start(),
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
    // Wrong move numbers mean that moves are missing or that another line begins. The moves are then legal
    // only by chance.
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

/// Reads the words in the language in which all of them are moves, English first; otherwise in the language
/// that gets furthest.
fn choose(scanned: &Scanned, start: &Position) -> Result<(Reading, Vec<&'static str>), PositionError> {
    let words = &scanned.words;
    let english = Reading::new(&ENGLISH, start, words);
    if english.is_whole() {
        // The Dutch letter for the knight is the letter of a pawn, which is usually omitted.
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
