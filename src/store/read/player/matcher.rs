//! Compares players' names, and their aliases, with a typed name.

use std::collections::HashSet;

use memchr::memmem::Finder;

use super::name::{PlayerWords, can_be_one_person, fold_player, is_full};
use crate::sorted::distinct;
use crate::store::cell::PLAYER_ALIAS;
use crate::store::read::name::is_account;
use crate::store::{Database, NameFilter, Named, Result};

/// A filter on players' names, prepared for matching many names.
pub(crate) struct PlayerMatcher<'f> {
    filter: &'f NameFilter,
    wanted: Wanted,
    /// The name compared last; kept to reuse its memory.
    name: PlayerWords,
}

/// A name to search for.
struct Wanted {
    /// The longest of the typed words. Every matching name contains this word or one of `surnames`.
    longest: Finder<'static>,
    /// The typed text, folded. A name matches if it contains this text, beginning at the first letter of a
    /// word.
    beginning: Finder<'static>,
    /// The typed words.
    words: PlayerWords,
    /// Words of the typed name: the longest word of the surname or, if no comma shows the surname, the first
    /// and the last word. Initials are left out. A name that does not contain `beginning` matches only if it
    /// contains one of these words.
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

    /// Whether the name `original` matches. `name.folded` must be `original`, folded. This function splits
    /// `name` into words if necessary.
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
        Self { filter, wanted: Wanted::new(filter.text()), name: PlayerWords::default() }
    }

    /// Whether a name matches.
    pub(crate) fn fits(&mut self, name: &str) -> bool {
        match self.filter {
            NameFilter::Exactly(wanted) => wanted == name,
            NameFilter::Account(wanted) => is_account(wanted, name),
            NameFilter::Word(_) => {
                if name.is_ascii() && !self.wanted.may_fit(name, &mut self.name.folded) {
                    return false;
                }
                fold_player(name, &mut self.name.folded);
                self.wanted.fits(name, &mut self.name)
            }
        }
    }
}

impl NameFilter {
    /// Whether a player's name matches. For a [`Word`](Self::Word), hyphens, dots and apostrophes are treated
    /// as blanks. A `Word` also matches other spellings that can belong to the same person: with first and
    /// last name in either order, and with initials or other prefixes of given names.
    #[must_use]
    pub fn matches_player(&self, name: &str) -> bool {
        PlayerMatcher::new(self).fits(name)
    }
}

/// An alias, another spelling of a player's name: a row of `player_alias`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlayerAlias {
    /// The spelling.
    pub alias: String,
    /// The player's main name, which is not itself an alias.
    pub name: String,
    /// The player's FIDE ID; `None` if it is unknown.
    pub fide_id: Option<u32>,
}

impl Database {
    /// All aliases of players, ordered by alias.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn player_aliases(&self) -> Result<Vec<PlayerAlias>> {
        let sql = "SELECT alias, name, fide_id FROM player_alias ORDER BY alias";
        self.all("read table player_alias", PLAYER_ALIAS, sql, [], |cells| {
            Ok(PlayerAlias { alias: cells.get(0)?, name: cells.get(1)?, fide_id: cells.get(2)? })
        })
    }

    /// The ids of all spellings of the players that a filter matches, in ascending order.
    pub(crate) fn players(&self, filter: &NameFilter) -> Result<Vec<u32>> {
        let mut matcher = PlayerMatcher::new(filter);
        let mut ids = Vec::new();
        self.walk_names(Named::Player, filter.only(), &mut |id, name| {
            if matcher.fits(name) {
                ids.push(id);
            }
            true
        })?;
        let aliases = self.player_aliases()?;
        // An alias and its main name are compared even if they do not occur in a game.
        let mut fits = |alias: &&PlayerAlias| matcher.fits(&alias.alias) || matcher.fits(&alias.name);
        let names: HashSet<&str> =
            aliases.iter().filter(&mut fits).map(|alias| alias.name.as_str()).collect();
        let others = aliases.iter().filter(|alias| names.contains(alias.name.as_str()));
        for spelling in others.map(|alias| alias.alias.as_str()).chain(names.iter().copied()) {
            // A spelling that does not occur in a game has no id.
            self.walk_names(Named::Player, Some(spelling), &mut |id, _| {
                ids.push(id);
                false
            })?;
        }
        Ok(distinct(ids))
    }
}
