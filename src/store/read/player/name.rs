//! Names of players: which spellings can be those of one person.
//!
//! Surnames must be equal, given names may be initials. First and last name stand in either order.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::store::read::name::{NameFilter, fold_into, is_account};

/// A filter on names of players, made ready to be held against many.
pub(crate) struct PlayerMatcher<'f> {
    rule: Rule<'f>,
    /// The name that is looked at; kept for its memory.
    name: PlayerWords,
}

enum Rule<'f> {
    Exactly(&'f str),
    Account(&'f str),
    Like(Box<Wanted>),
}

/// A name that is looked for.
struct Wanted {
    /// The longest word of them: a name that has neither this nor a word of `surnames` in it does not fit.
    longest: Finder<'static>,
    /// These letters at the beginning of a word.
    beginning: Finder<'static>,
    /// What was typed, in words.
    words: PlayerWords,
    /// A spelling of the same person has one of these in it: the longest word of the surname or, where that cannot be told, the
    /// first word or the last.
    surnames: Vec<Finder<'static>>,
}

impl Wanted {
    fn new(text: &str) -> Self {
        let mut words = PlayerWords::default();
        words.read(text);
        let candidates: Vec<usize> = match words.surname() {
            _ if words.len() < 2 => Vec::new(),
            Some(length) => (0..length).max_by_key(|&index| words.word(index).len()).into_iter().collect(),
            None => vec![0, words.len() - 1],
        };
        let full = candidates.into_iter().map(|index| words.word(index)).filter(|word| !is_initial(word));
        let surnames = full.map(|word| Finder::new(word).into_owned()).collect();
        let longest = (0..words.len()).map(|index| words.word(index)).max_by_key(|word| word.len());
        let longest = Finder::new(longest.unwrap_or_default()).into_owned();
        Self { beginning: Finder::new(&words.folded).into_owned(), longest, surnames, words }
    }

    /// Whether a name may fit that has only letters of ASCII: most can be told at once that do not. `room` is for its letters.
    fn may_fit(&self, name: &str, room: &mut String) -> bool {
        room.clear();
        room.push_str(name);
        room.make_ascii_lowercase();
        std::iter::once(&self.longest).chain(&self.surnames).any(|word| word.find(room.as_bytes()).is_some())
    }

    fn fits(&self, name: &mut PlayerWords) -> bool {
        name.has_word_like(&self.words, &self.beginning) || {
            let text = name.folded.as_bytes();
            self.surnames.iter().any(|surname| surname.find(text).is_some()) && {
                name.split();
                can_be_one_person(&self.words, name)
            }
        }
    }
}

impl<'f> PlayerMatcher<'f> {
    pub(crate) fn new(filter: &'f NameFilter) -> Self {
        let rule = match filter {
            NameFilter::Exactly(name) => Rule::Exactly(name),
            NameFilter::Account(name) => Rule::Account(name),
            NameFilter::Word(text) => Rule::Like(Box::new(Wanted::new(text))),
        };
        Self { rule, name: PlayerWords::default() }
    }

    /// The only name that fits, if there is only one.
    pub(crate) const fn only(&self) -> Option<&'f str> {
        match self.rule {
            Rule::Exactly(name) => Some(name),
            Rule::Account(_) | Rule::Like(_) => None,
        }
    }

    /// Whether a name fits.
    pub(crate) fn fits(&mut self, name: &str) -> bool {
        match &self.rule {
            Rule::Exactly(wanted) => *wanted == name,
            Rule::Account(wanted) => is_account(wanted, name),
            Rule::Like(wanted) => {
                if name.is_ascii() && !wanted.may_fit(name, &mut self.name.folded) {
                    return false;
                }
                fold_player(name, &mut self.name.folded);
                wanted.fits(&mut self.name)
            }
        }
    }
}

/// A name of a player in words.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlayerWords {
    folded: String,
    words: Vec<Range<usize>>,
    /// How many words stand before the first comma.
    before_comma: Option<usize>,
}

impl PlayerWords {
    /// Reads a name.
    pub(crate) fn read(&mut self, name: &str) {
        fold_player(name, &mut self.folded);
        self.split();
    }

    /// Whether the letters wanted stand at the beginning of a word.
    fn has_word_like(&self, wanted: &Self, beginning: &Finder<'_>) -> bool {
        let is_begin = |at: usize| !self.folded[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        !wanted.folded.is_empty() && beginning.find_iter(self.folded.as_bytes()).any(is_begin)
    }

    /// Finds the words of the folded name.
    fn split(&mut self) {
        self.words.clear();
        self.before_comma = None;
        let mut begin = None;
        for (at, letter) in self.folded.char_indices() {
            match (letter.is_alphanumeric(), begin) {
                (true, None) => begin = Some(at),
                (false, Some(first)) => {
                    self.words.push(first..at);
                    begin = None;
                }
                _ => {}
            }
            if letter == ',' && self.before_comma.is_none() {
                self.before_comma = Some(self.words.len());
            }
        }
        self.words.extend(begin.map(|first| first..self.folded.len()));
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, index: usize) -> &str {
        &self.folded[self.words[index].clone()]
    }

    /// How many words the surname has, if a comma tells it.
    pub(crate) fn surname(&self) -> Option<usize> {
        self.before_comma.filter(|&words| (1..self.len()).contains(&words))
    }

    /// The name with a surname of so many words, at the beginning or at the end.
    fn part(&self, surname: usize, is_last: bool) -> Person<'_> {
        let rest = self.len() - surname;
        let (surname, given) =
            if is_last { (rest..self.len(), 0..rest) } else { (0..surname, surname..self.len()) };
        Person { name: self, surname, given }
    }

    /// All ways to read the name with a surname of so many words.
    fn readings(&self, surname: usize) -> impl Iterator<Item = Person<'_>> {
        let ends: &[bool] = match self.surname() {
            Some(words) if words == surname => &[false],
            None if surname < self.len() => &[false, true],
            _ => &[],
        };
        ends.iter().map(move |&is_last| self.part(surname, is_last))
    }
}

/// One way to read a name.
struct Person<'n> {
    name: &'n PlayerWords,
    surname: Range<usize>,
    given: Range<usize>,
}

impl<'n> Person<'n> {
    fn surname(&self) -> impl Iterator<Item = &'n str> + use<'n> {
        let name = self.name;
        self.surname.clone().map(|index| name.word(index))
    }

    fn given(&self) -> impl Iterator<Item = &'n str> + use<'n> {
        let name = self.name;
        self.given.clone().map(|index| name.word(index))
    }

    fn fits(&self, other: &Self) -> bool {
        self.surname().eq(other.surname())
            && self.surname().any(|word| !is_initial(word))
            // Names in the middle may be missing.
            && self.given().zip(other.given()).all(|(one, other)| given_names_fit(one, other))
    }

    /// Whether surname and given names have changed places.
    fn is_turned(&self, other: &Self) -> bool {
        let is_full = |word| !is_initial(word);
        self.surname().eq(other.given())
            && self.given().eq(other.surname())
            && self.surname().chain(self.given()).all(is_full)
    }
}

/// Whether two names can be those of one person.
pub(crate) fn can_be_one_person(one: &PlayerWords, other: &PlayerWords) -> bool {
    let most = one.len().min(other.len());
    let fits = (1..most).any(|surname| {
        one.readings(surname).any(|one| other.readings(surname).any(|other| one.fits(&other)))
    });
    fits || one
        .surname()
        .zip(other.surname())
        .is_some_and(|(words, other_words)| one.part(words, false).is_turned(&other.part(other_words, false)))
}

fn given_names_fit(one: &str, other: &str) -> bool {
    one == other
        || (is_initial(one) && other.starts_with(one))
        || (is_initial(other) && one.starts_with(other))
}

/// Whether a word is one letter.
pub(crate) fn is_initial(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some() && letters.next().is_none()
}

/// A name as names of players are compared: hyphens, dots and apostrophes are blanks, and the rest is as in [`fold`].
///
/// [`fold`]: crate::store::fold
fn fold_player(name: &str, folded: &mut String) {
    let is_blank = |letter: char| {
        letter.is_whitespace()
            || matches!(letter, '-' | '.' | '\'' | '`' | '´' | '\u{2bb}'..='\u{2bd}' | '\u{2010}'..='\u{2015}' | '\u{2018}' | '\u{2019}')
    };
    fold_into(name, folded, is_blank);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(filter: &str, name: &str) -> bool {
        filter.parse::<NameFilter>().unwrap().matches_player(name)
    }

    /// Names in a line are spellings that all fit one another.
    const ALIKE: &[&[&str]] = &[
        &[
            "Caruana, Fabiano",
            "Caruana,F",
            "Fabiano Caruana",
            "F. Caruana",
            "CARUANA,  Fabiano",
            "Caruana F.",
        ],
        &[
            "Vachier-Lagrave, Maxime",
            "Vachier Lagrave,M",
            "Maxime Vachier-Lagrave",
            "M. Vachier\u{2010}Lagrave",
        ],
        &["Ding, Liren", "Ding Liren", "Liren Ding", "Ding,L"],
        &["Liren, Ding", "Ding, Liren"],
        &["Korchnoi, Viktor L", "Korchnoi,V", "Viktor Korchnoi", "Korchnoi, V.L.", "Korchnoi, Viktor"],
        &["O'Kelly de Galway, Alberic", "O Kelly de Galway,A", "Alberic O\u{2019}Kelly de Galway"],
        &["Van Wely, Loek", "Loek van Wely", "Van Wely,L", "L. van Wely"],
        &["Müller, Karsten", "Muller,K", "Karsten Muller"],
        &["Capablanca, José Raúl", "Capablanca,J", "Jose Raul Capablanca", "J. R. Capablanca"],
        &["Nimzowitsch, Aaron", "Aaron Nimzowitsch"],
    ];

    /// Names that fit neither way.
    const DIFFERENT: &[[&str; 2]] = &[
        ["Caruana, Fabiano", "Caruana, Francesco"],
        ["Carlsen, Magnus", "Carlsen,H"],
        ["Carlsen, Magnus", "Carlsen"],
        ["Carlsen, Magnus", "Carlsen, Henrik"],
        ["Fabiano Caruana", "Francesco Caruana"],
        ["Ding, Liren", "Ding Linlin"],
        ["Ding, Liren", "Ding,Jun"],
        ["Ding Liren", "Zhu Dinglong"],
        ["Liren, D", "Ding, Liren"],
        ["Korchnoi, Viktor L", "Korchnoi, Igor"],
        ["Korchnoi, Viktor", "Kortschnoj, Viktor"],
        ["Lagrave, Maxime", "Vachier Lagrave,M"],
        ["C, Fabiano", "Caruana, Fabiano"],
        ["Polgar, Judit", "Polgar, Zsofia"],
        ["Capablanca, Jose Raul", "Capablanca, Jose Maria"],
        ["Wang, Yue", "Wang, Yu"],
        ["van Wely, Loek", "Wely, Kees van"],
    ];

    #[test]
    fn spellings_of_one_person_fit_one_another() {
        for spellings in ALIKE {
            for one in *spellings {
                for other in *spellings {
                    assert!(fits(one, other), "{one} does not fit {other}");
                }
            }
        }
    }

    #[test]
    fn other_persons_do_not_fit() {
        for [one, other] in DIFFERENT {
            assert!(!fits(one, other), "{one} fits {other}");
            let begins_so = other.len() < one.len() && one.starts_with(other);
            assert!(begins_so || !fits(other, one), "{other} fits {one}");
        }
    }

    #[test]
    fn the_beginning_of_a_word_is_enough() {
        for filter in ["carlsen", "Magnus", "CARLSEN, M", "carlsen, magnus", "carls", "=Carlsen, Magnus"] {
            assert!(fits(filter, "Carlsen, Magnus"), "{filter}");
        }
        for filter in ["vachier lagrave", "vachier-l", "lagrave", "vachier lagrave, m"] {
            assert!(
                fits(filter, "Vachier-Lagrave, Maxime") && fits(filter, "Vachier Lagrave,Maxime"),
                "{filter}"
            );
        }
        for filter in ["arlsen", "agnus", "=carlsen, magnus", "=Carlsen", "=Carlsen,Magnus", "m c"] {
            assert!(!fits(filter, "Carlsen, Magnus"), "{filter}");
        }
        assert!(fits("naka", "GM_naka") && fits("li", "Wang Li") && !fits("li", "Caroline"));
    }

    #[test]
    fn odd_names_fit_nothing_by_chance() {
        for name in ["", ",", "...", "-", ",,", " , a", "a,", "a b", "a, b", "a.b.c"] {
            assert!(!fits("Carlsen, Magnus", name) && !fits("M Carlsen", name), "{name:?}");
        }
        for filter in ["-", "a, b", ", magnus", "carlsen,", "...", "a b c d e f g"] {
            let filter = filter.parse::<NameFilter>().unwrap();
            assert!(!filter.matches_player("Tal, Mihail"), "{filter:?}");
        }
    }
}
