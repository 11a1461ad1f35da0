//! Matches names of players with a typed name.

use memchr::memmem::Finder;

use super::name::{PlayerWords, can_be_one_person, fold_player, is_full};
use crate::store::read::name::{NameFilter, is_account};

/// A filter on players' names, prepared for matching many names.
pub(crate) struct PlayerMatcher<'f> {
    rule: Rule<'f>,
    /// The current name; kept to reuse its memory.
    name: PlayerWords,
}

enum Rule<'f> {
    Exactly(&'f str),
    Account(&'f str),
    Like(Box<Wanted>),
}

/// A name to search for.
struct Wanted {
    /// The longest of the typed words. A name that contains neither this word nor a word of `surnames` does
    /// not match.
    longest: Finder<'static>,
    /// The typed letters. A name matches if they are at the beginning of one of its words.
    beginning: Finder<'static>,
    /// The typed words.
    words: PlayerWords,
    /// Any other spelling of the same person's name contains one of these words: the longest word of the
    /// surname or, if the surname is unclear, the first and the last word.
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
        let full = candidates.into_iter().map(|index| words.word(index)).filter(|word| is_full(word));
        let surnames = full.map(|word| Finder::new(word).into_owned()).collect();
        let longest = (0..words.len()).map(|index| words.word(index)).max_by_key(|word| word.len());
        let longest = Finder::new(longest.unwrap_or_default()).into_owned();
        Self { beginning: Finder::new(&words.folded).into_owned(), longest, surnames, words }
    }

    /// Whether an ASCII name can match: a fast check that rejects most names. `buffer` is overwritten.
    fn may_fit(&self, name: &str, buffer: &mut String) -> bool {
        buffer.clear();
        buffer.push_str(name);
        buffer.make_ascii_lowercase();
        std::iter::once(&self.longest)
            .chain(&self.surnames)
            .any(|word| word.find(buffer.as_bytes()).is_some())
    }

    /// Whether a name matches. `name` contains the folded letters of `original`.
    fn fits(&self, original: &str, name: &mut PlayerWords) -> bool {
        name.has_word_like(&self.words, &self.beginning) || {
            let text = name.folded.as_bytes();
            self.surnames.iter().any(|surname| surname.find(text).is_some()) && {
                name.split(original);
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

    /// The only name that matches, if there is only one.
    pub(crate) const fn only(&self) -> Option<&'f str> {
        match self.rule {
            Rule::Exactly(name) => Some(name),
            Rule::Account(_) | Rule::Like(_) => None,
        }
    }

    /// Whether a name matches.
    pub(crate) fn fits(&mut self, name: &str) -> bool {
        match &self.rule {
            Rule::Exactly(wanted) => *wanted == name,
            Rule::Account(wanted) => is_account(wanted, name),
            Rule::Like(wanted) => {
                if name.is_ascii() && !wanted.may_fit(name, &mut self.name.folded) {
                    return false;
                }
                fold_player(name, &mut self.name.folded);
                wanted.fits(name, &mut self.name)
            }
        }
    }
}

impl NameFilter {
    /// Whether a player's name matches. Hyphens, dots and apostrophes count as blanks. Other spellings that
    /// can be the same person match too: with first and last name in either order, and with initials or other
    /// prefixes of given names.
    #[must_use]
    pub fn matches_player(&self, name: &str) -> bool {
        PlayerMatcher::new(self).fits(name)
    }
}
