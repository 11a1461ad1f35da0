//! Finds players' names that are probably spellings of the same name, such as Kortschnoj and Korchnoi, or
//! Wiktor and Viktor.

use crate::store::{PlayerWords, is_initial};

/// The maximum number of letters to read for the first three sounds of a name. One sound can have four
/// letters, such as `tsch`.
const LOOKED_AT: usize = 12;

/// One way to divide a name into surname and given names. The words are stored as sounds.
struct Sounds {
    surname: String,
    /// The first word of the surname. Another spelling can omit a second surname, as in Spanish names.
    first_surname: String,
    given: Vec<String>,
}

/// A name prepared for many comparisons.
pub(crate) struct PhoneticName {
    readings: Vec<Sounds>,
}

impl PhoneticName {
    /// Prepares a name. A name without a given name is treated as similar to no other name, because too many
    /// names would match it.
    pub(crate) fn new(name: &str) -> Self {
        let mut words = PlayerWords::default();
        words.read(name);
        Self { readings: readings(&words) }
    }

    /// The pairs of letters with which similar names can begin, without accents and in lower case.
    pub(crate) fn beginnings(&self) -> Vec<[char; 2]> {
        let (mut beginnings, mut sounds) = (Vec::new(), String::new());
        let after = || ('a'..='z').chain([' ']);
        for surname in self.readings.iter().map(|reading| reading.surname.as_str()) {
            let mut fits = |first, second, third| {
                sounds.clear();
                push_sounds([first, second, third].into_iter(), 2, &mut sounds);
                share_prefix(surname, &sounds)
            };
            for first in surname.chars().next().into_iter().flat_map(letters_of) {
                let seconds = ('a'..='z').filter(|&second| after().any(|third| fits(first, second, third)));
                beginnings.extend(seconds.map(|second| [first, second]));
            }
        }
        beginnings
    }
}

/// The letters with which a word can begin if its first sound is `sound`.
fn letters_of(sound: char) -> impl Iterator<Item = char> {
    let letters = match sound {
        'k' => "ckqx",
        's' => "cstz",
        'h' => "hk",
        'v' => "vw",
        'i' => "ijy",
        'f' => "fp",
        _ => "",
    };
    letters.chars().chain(letters.is_empty().then_some(sound))
}

/// Buffers for comparing many names, one after the other.
#[derive(Default)]
pub(crate) struct PhoneticMatcher {
    words: PlayerWords,
    first: String,
}

impl PhoneticMatcher {
    /// The index of the first name in `others` to which `name` is similar; `None` if there is none. Finds
    /// `name` only if its first word is the surname or a part of it, as in most files.
    pub(crate) fn find_similar(&mut self, name: &str, others: &[PhoneticName]) -> Option<usize> {
        // Compare the first sounds first: most names differ in them.
        self.first.clear();
        let letters = name.chars().take_while(|letter| letter.is_alphanumeric());
        push_sounds(letters.map(|letter| letter.to_ascii_lowercase()), LOOKED_AT, &mut self.first);
        let first = &self.first;
        let may_be =
            |other: &PhoneticName| other.readings.iter().any(|one| share_prefix(&one.surname, first));
        if first.is_ascii() && !others.iter().any(may_be) {
            return None;
        }
        self.words.read(name);
        let readings = readings(&self.words);
        others.iter().position(|other| {
            other.readings.iter().any(|one| readings.iter().any(|reading| are_similar(one, reading)))
        })
    }
}

/// Whether two words, given as sounds, begin with the same three sounds. If one word has fewer than three
/// sounds, whether the other word begins with all of them.
fn share_prefix(one: &str, other: &str) -> bool {
    one.chars().zip(other.chars()).take(3).all(|(one, other)| one == other)
}

/// All ways to divide a name into surname and given names; none if the name has only one word.
fn readings(words: &PlayerWords) -> Vec<Sounds> {
    let read = |(surname, given): (std::ops::Range<usize>, std::ops::Range<usize>)| {
        let sounds = |index| {
            let mut sounds = String::new();
            push_sounds(words.word(index).chars(), usize::MAX, &mut sounds);
            sounds
        };
        let first_surname = sounds(surname.start);
        Sounds { surname: surname.map(sounds).collect(), first_surname, given: given.map(sounds).collect() }
    };
    let count = words.len();
    let splits: Vec<_> = match words.surname() {
        _ if count < 2 => Vec::new(),
        Some(surname) => vec![(0..surname, surname..count)],
        None => vec![(0..1, 1..count), (count - 1..count, 0..count - 1)],
    };
    splits.into_iter().map(read).collect()
}

fn are_similar(one: &Sounds, other: &Sounds) -> bool {
    let is_equal = one.surname == other.surname;
    if one.surname.len() < 3 || !share_prefix(&one.surname, &other.surname) {
        return false;
    }
    // Initials are not enough evidence if the sounds of the surnames differ.
    let is_full = [one, other].iter().all(|name| name.given.first().is_some_and(|given| !is_initial(given)));
    let is_first = one.surname == other.first_surname || other.surname == one.first_surname;
    (is_equal || (is_full && (is_first || differ_little(&one.surname, &other.surname, 6))))
        && one.given.iter().zip(&other.given).all(|(one, other)| match is_initial(one) || is_initial(other) {
            true => one.chars().next() == other.chars().next(),
            false => differ_little(one, other, 4),
        })
}

/// Whether two words differ by at most one letter for every `letters` letters of the shorter word.
fn differ_little(one: &str, other: &str, letters: usize) -> bool {
    let most = one.len().min(other.len()) / letters;
    one == other || (one.len().abs_diff(other.len()) <= most && strsim::osa_distance(one, other) <= most)
}

/// Converts a word in lower case, without accents, to sounds that are nearly the same in all
/// transliterations: `tsch`, `tch`, `ch`, `cz`, `sh`, `sz` and `z` become one sign; `y`, `j` and `i` become
/// another. A doubled letter becomes one sign.
///
/// Reads at most `most` letters, and appends their sounds to `sounds`.
fn push_sounds(word: impl Iterator<Item = char>, most: usize, sounds: &mut String) {
    let mut letters = word.peekable();
    let mut before = ' ';
    for _ in 0..most {
        let Some(letter) = letters.next() else { break };
        let next = letters.peek().copied().unwrap_or(' ');
        let sound = match (before, letter, next) {
            (_, 't', 's' | 'z' | 'c') | ('c' | 's' | 'z' | 'k' | 'g' | 't' | 'p', 'h', _) => None,
            // The `e` of an umlaut, as in Huebner, Doerr and Kaeding, but not as in Yue.
            ('a' | 'o' | 'u', 'e', next) if next != ' ' => None,
            (_, 'c', 'h' | 'z' | 's' | 'e' | 'i' | 'y') | (_, 's' | 'z', _) => Some('s'),
            (_, 'k', 'h') => Some('h'),
            (_, 'c' | 'q', _) => Some('k'),
            (_, 'p', 'h') => Some('f'),
            (_, 'w', _) => Some('v'),
            (_, 'y' | 'j', _) => Some('i'),
            (_, 'x', _) => {
                sounds.push('k');
                Some('s')
            }
            (_, letter, _) => Some(letter),
        };
        if let Some(sound) = sound.filter(|&sound| !sounds.ends_with(sound)) {
            sounds.push(sound);
        }
        before = letter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_like(one: &str, other: &str) -> bool {
        let likeness = PhoneticName::new(one);
        let mut letters = other.chars().map(|letter| letter.to_ascii_lowercase());
        let beginning = [letters.next(), letters.next()].map(Option::unwrap_or_default);
        let is_like =
            PhoneticMatcher::default().find_similar(other, std::slice::from_ref(&likeness)).is_some();
        // Similar names are looked up by their first two letters.
        assert!(
            !is_like || !beginning[1].is_ascii() || likeness.beginnings().contains(&beginning),
            "{other}"
        );
        is_like
    }

    #[test]
    fn transliterations_of_a_name_match() {
        for spellings in [
            &["Korchnoi, Viktor", "Kortschnoj, Viktor", "Kortchnoi, Victor", "Korcnoj, Viktor"][..],
            &["Nepomniachtchi,I", "Nepomnjascij, Ian", "Nepomniashchy, Ian", "Nepomniatchi,I"],
            &["Jussupow, Artur", "Yusupov, Artur", "Iusupov, Arthur"],
            &["Chalifman, Alexander", "Chalifman, Aleksandr"],
            &["Hübner, Robert", "Huebner,R"],
            &["Alekhine, Alexander", "Alechine, Alexander", "Alekhine, Aleksandr"],
            &["Vachier Lagrave,M", "Vachier-Lagrave, Maxime"],
            &["Vachier Lagrave, Mexime", "Vachier-Lagrave, Maxime"],
            &["Karlsen, Magnus", "Carlsen,M"],
            &["Vallejo Pons, Francisco", "Vallejo, Francisco"],
        ] {
            for one in spellings {
                for other in spellings {
                    assert!(is_like(one, other), "{one} and {other}");
                }
            }
        }
    }

    #[test]
    fn the_surname_may_be_last() {
        assert!(
            is_like("Wiktor Kortschnoi", "Korchnoi, Viktor")
                && is_like("Jan Nepomniachtschi", "Nepomniachtchi,I")
        );
    }

    #[test]
    fn other_names_do_not_match() {
        for [one, other] in [
            ["Karlsen, Ole", "Carlsen, Magnus"],
            ["Petrov,A", "Petrova,A"],
            ["Wang, Yu", "Wang, Yue"],
            ["Hansen, Curt", "Jansen, Curt"],
            ["Carlsen", "Carlsen, Magnus"],
            ["Korchnoi, Viktor", "Korchnoi, Igor"],
            ["Lee, A", "Li, A"],
            ["Vallejo Pons,F", "Vallejo,F"],
            ["Vallejo Pons, Francisco", "Vallejo, Felipe"],
            ["", ""],
            ["a, b", "a, b"],
        ] {
            assert!(!is_like(one, other) && !is_like(other, one), "{one} and {other}");
        }
    }
}
