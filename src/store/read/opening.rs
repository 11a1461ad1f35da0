//! Names of openings: the table `opening`, and how typed words match names.

#[cfg(feature = "parquet")]
use std::collections::HashSet;

use rusqlite::params;

use crate::board::{Position, PositionKey};
use crate::opening::{NamedPosition, Opening, OpeningBook};
use crate::store::cell::{Cells, OPENING};
use crate::store::{Database, NameFilter, Named, Result, fold};

impl Database {
    /// The list of openings that the database was built with.
    ///
    /// # Errors
    /// Errors of SQLite, or an invalid FEN in a row.
    pub fn opening_book(&self) -> Result<OpeningBook> {
        let sql = "SELECT opening_id, eco, name, fen FROM opening ORDER BY opening_id";
        let openings = self.all("read table opening", OPENING, sql, [], |cells| {
            let position = cells.read("fen", "the FEN of a legal position", |value| {
                Position::from_fen(value.as_bytes().ok()?).ok().map(|(position, _)| position)
            })?;
            Ok(NamedPosition::new(opening(cells)?, &position))
        })?;
        Ok(OpeningBook::new(openings))
    }

    /// The opening with this position, from the list that the database was built with; `None` if the position
    /// has no name. `fen` is the canonical FEN.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn opening_of(&self, key: PositionKey, fen: &str) -> Result<Option<Opening>> {
        let sql = "SELECT eco, name FROM opening WHERE key = ?1 AND fen = ?2";
        let found = OPENING.first(self.connection(), sql, params![key.as_i64(), fen], opening);
        found.map_err(self.failed("look up an opening"))
    }

    /// The ids of the openings that a filter matches. If some names contain the typed words one after the
    /// other, only these names match.
    pub(crate) fn openings(&self, name: &NameFilter) -> Result<Vec<u32>> {
        let NameFilter::Word(typed) = name else { return self.names(Named::Opening, name) };
        let mut matches = Matches::new(typed);
        self.walk_names(Named::Opening, None, &mut |id, name| {
            matches.add(id, name);
            true
        })?;
        Ok(matches.finish())
    }
}

/// The names among `names` that a filter matches, as in [`Database::openings`].
#[cfg(feature = "parquet")]
pub(super) fn matching_openings<'n>(
    filter: &NameFilter,
    names: impl IntoIterator<Item = &'n str>,
) -> HashSet<String> {
    let names = names.into_iter();
    let NameFilter::Word(typed) = filter else {
        return names.filter(|name| filter.matches(name)).map(str::to_owned).collect();
    };
    let mut matches = Matches::new(typed);
    names.for_each(|name| matches.add(name, name));
    matches.finish().into_iter().map(str::to_owned).collect()
}

/// Collects the openings whose names match typed words. If some names contain the words one after the other,
/// only these names match.
struct Matches<T> {
    wanted: Vec<Word>,
    phrases: Vec<T>,
    others: Vec<T>,
}

impl<T> Matches<T> {
    fn new(typed: &str) -> Self {
        Self { wanted: words(typed), phrases: Vec::new(), others: Vec::new() }
    }

    fn add(&mut self, opening: T, name: &str) {
        match fit(&self.wanted, name) {
            Some(Fit::Phrase) => self.phrases.push(opening),
            Some(Fit::Words) => self.others.push(opening),
            None => {}
        }
    }

    fn finish(self) -> Vec<T> {
        if self.phrases.is_empty() { self.others } else { self.phrases }
    }
}

fn opening(cells: Cells<'_>) -> rusqlite::Result<Opening> {
    Ok(Opening { eco: cells.get("eco")?, name: cells.get("name")? })
}

/// How an opening's name matches the typed words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// The name contains the typed words one after the other; the last typed word can be the beginning of a
    /// word.
    Phrase,
    /// Each typed word is a word of the name or the beginning of a word. The order of the typed words does
    /// not matter.
    Words,
}

/// How the name of an opening matches the typed words, if it does.
///
/// Letter case, accents and apostrophes are ignored. Hyphens and all other punctuation only separate words.
/// Usual spellings are accepted: `caro kann`, `kings gambit`, `Queen’s Gambit Defence` and `petroff` match
/// `Caro-Kann Defense`, `King's Gambit`, `Queen's Gambit Defense` and `Petrov's Defense`.
fn fit(wanted: &[Word], name: &str) -> Option<Fit> {
    let (last, before) = wanted.split_last()?;
    let name = words(name);
    let is_phrase = |run: &[Word]| {
        let (end, start) = run.split_last().expect("a run has as many words as are wanted");
        start.iter().zip(before).all(|(word, wanted)| word.is(wanted)) && end.begins_with(last)
    };
    if name.windows(wanted.len()).any(is_phrase) {
        return Some(Fit::Phrase);
    }
    let is_in_name = |wanted: &Word| name.iter().any(|word| word.begins_with(wanted));
    wanted.iter().all(is_in_name).then_some(Fit::Words)
}

/// A word without capital letters and accents, in two forms: as written, and in a normalized spelling.
struct Word {
    written: String,
    sound: String,
}

impl Word {
    fn new(written: &str) -> Self {
        /// Groups of letters, each with its normalized spelling.
        const SPELLINGS: [(&str, &str); 9] = [
            ("defence", "defense"),
            ("centre", "center"),
            ("tsch", "ch"),
            ("tch", "ch"),
            ("ue", "u"),
            ("oe", "o"),
            ("ae", "a"),
            ("w", "v"),
            ("y", "i"),
        ];
        let mut sound = SPELLINGS.iter().fold(written.to_owned(), |word, (from, to)| word.replace(from, to));
        if sound.len() > 3 && sound.ends_with('s') {
            sound.pop();
        }
        if let Some(stem) = sound.strip_suffix("ff") {
            sound = format!("{stem}v");
        }
        Self { written: written.to_owned(), sound }
    }

    fn is(&self, wanted: &Self) -> bool {
        self.sound == wanted.sound
    }

    fn begins_with(&self, wanted: &Self) -> bool {
        self.written.starts_with(&wanted.written) || self.sound.starts_with(&wanted.sound)
    }
}

fn words(name: &str) -> Vec<Word> {
    let is_apostrophe = |letter: char| matches!(letter, '\'' | '’' | '‘' | 'ʼ' | '`' | '´');
    let name: String = name.chars().filter(|&letter| !is_apostrophe(letter)).collect();
    let folded = fold(&name);
    let words = folded.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(Word::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_match_in_common_spellings() {
        let fit = |typed: &str, name: &str| fit(&words(typed), name);
        for (typed, name) in [
            ("kings gambit", "King's Gambit Accepted: Kieseritzky Gambit"),
            ("King Gambit", "King's Gambit"),
            ("Queen’s Gambit", "Queen's Gambit Declined"),
            ("queens gamb", "Queen's Gambit"),
            ("Caro Kann", "Caro-Kann Defense: Advance Variation"),
            ("caro-kann", "Caro-Kann Defense"),
            ("Sicilian Defence", "Sicilian Defense"),
            ("Sicilian Def", "Sicilian Defence"),
            ("Petroff", "Petrov's Defense"),
            ("petroffs defence", "Petrov's Defense: Cochrane Gambit"),
            ("Gruenfeld", "Grünfeld Defense"),
            ("Grunfeld Defence", "Grünfeld Defense"),
            ("Tchigorin", "Chigorin Defense"),
            ("Nimzovich", "Nimzowitsch Defense"),
            ("Alekhine's Defence", "Alekhine Defense"),
            ("Sokolski", "Polish Opening: Sokolsky Variation"),
            ("nimzo indian", "Nimzo-Indian Defense"),
            ("reti", "Réti Opening"),
            ("Sicilian Defense: Najdorf", "Sicilian Defense: Najdorf Variation"),
            ("naj", "Sicilian Defense: Najdorf Variation"),
        ] {
            assert_eq!(fit(typed, name), Some(Fit::Phrase), "{typed}: {name}");
        }
        for (typed, name) in [
            ("Sicilian Najdorf", "Sicilian Defense: Najdorf Variation"),
            ("najdorf sicilian", "Sicilian Defense: Najdorf Variation"),
            ("gambit kings", "King's Gambit"),
        ] {
            assert_eq!(fit(typed, name), Some(Fit::Words), "{typed}: {name}");
        }
        for (typed, name) in [
            ("icilian", "Sicilian Defense"),
            ("Sicilian Dragon", "Sicilian Defense: Najdorf Variation"),
            ("'", "King's Gambit"),
            ("", "King's Gambit"),
        ] {
            assert_eq!(fit(typed, name), None, "{typed}: {name}");
        }
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn words_in_another_order_match_only_if_no_name_contains_the_phrase() {
        let names = ["King's Gambit", "Gambit of the Kings", "Sicilian Defense: Najdorf Variation"];
        for (typed, expected) in [
            ("kings gambit", vec!["King's Gambit"]),
            ("gambit kings", vec!["King's Gambit", "Gambit of the Kings"]),
            ("najdorf sicilian", vec!["Sicilian Defense: Najdorf Variation"]),
            ("=King's Gambit", vec!["King's Gambit"]),
            ("=king's gambit", vec![]),
            ("icilian", vec![]),
        ] {
            let found = matching_openings(&typed.parse().unwrap(), names);
            assert_eq!(found, HashSet::from_iter(expected.into_iter().map(str::to_owned)), "{typed}");
        }
    }
}
