//! Names of players, events, sites and openings, and how typed names match them.

use std::str::FromStr;

use rusqlite::{Params, params_from_iter};
use serde::Serialize;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

use crate::store::cell::{EVENT, OPENING, PLAYER, SITE, Table};
use crate::store::{Database, FilterError, Result};

/// A name to look for.
///
/// A name matches if it contains the typed text at the start of a word: `carlsen` and `magnus` match
/// `Carlsen, Magnus`. Letter case, accents and blanks around commas are ignored ([`fold`]). A text with `=`
/// in front matches only the name with exactly these letters. Names of players
/// ([`matches_player`](Self::matches_player)) and of openings match more loosely: the words of an opening can
/// be in any order and in any usual spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameFilter {
    /// Exactly this name.
    Exactly(String),
    /// This name, ignoring only letter case: the name of an account.
    Account(String),
    /// Names in which this text begins at the start of a word. The text is stored as typed; letter case and
    /// accents are ignored.
    Word(String),
}

impl FromStr for NameFilter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let filter = match text.strip_prefix('=') {
            Some(name) => Self::Exactly(name.to_owned()),
            None => Self::Word(text.trim().to_owned()),
        };
        if filter.is_empty() { Err(FilterError::EmptyName) } else { Ok(filter) }
    }
}

impl NameFilter {
    /// Whether there is no text to search for.
    fn is_empty(&self) -> bool {
        match self {
            Self::Exactly(text) | Self::Account(text) => text.is_empty(),
            Self::Word(text) => fold(text).is_empty(),
        }
    }

    /// Whether a name of an event or a site matches. Names of players and openings match more loosely.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.matcher()(name)
    }

    /// The text to search for, as typed.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Exactly(text) | Self::Account(text) | Self::Word(text) => text,
        }
    }

    /// The name of an [`Exactly`](Self::Exactly) filter; `None` for other filters.
    pub(crate) const fn only(&self) -> Option<&str> {
        match self {
            Self::Exactly(name) => Some(name.as_str()),
            Self::Account(_) | Self::Word(_) => None,
        }
    }

    /// A function that checks whether names match. It reuses its buffer for each name.
    fn matcher(&self) -> impl FnMut(&str) -> bool {
        let (word, mut folded) = (fold(self.text()), String::new());
        move |name| match self {
            Self::Exactly(wanted) => wanted == name,
            Self::Account(wanted) => is_account(wanted, name),
            Self::Word(_) => {
                fold_into(name, &mut folded, char::is_whitespace);
                let begins_word =
                    |at: usize| !folded[..at].chars().next_back().is_some_and(char::is_alphanumeric);
                folded.match_indices(word.as_str()).any(|(at, _)| begins_word(at))
            }
        }
    }
}

/// Whether two names are equal, ignoring case.
pub(crate) fn is_account(wanted: &str, name: &str) -> bool {
    let lower = |name: &'_ str| name.chars().flat_map(char::to_lowercase).collect::<String>();
    wanted.eq_ignore_ascii_case(name)
        || !(wanted.is_ascii() || name.is_ascii()) && lower(wanted) == lower(name)
}

/// Normalizes a name for comparison: lower case, no accents, single blanks, no blanks around commas. `Müller,
/// K` becomes `muller,k`.
#[must_use]
pub fn fold(name: &str) -> String {
    let mut folded = String::new();
    fold_into(name, &mut folded, char::is_whitespace);
    folded
}

/// Like [`fold`], but overwrites an existing string; `is_blank` returns whether a character is a blank.
pub(crate) fn fold_into(name: &str, folded: &mut String, is_blank: impl Fn(char) -> bool) {
    folded.clear();
    let mut blank = false;
    let mut push = |letter: char| {
        if is_blank(letter) {
            blank = true;
            return;
        }
        if std::mem::take(&mut blank) && letter != ',' && !folded.is_empty() && !folded.ends_with(',') {
            folded.push(' ');
        }
        match plain(letter) {
            Some(letters) => folded.push_str(letters),
            None => folded.push(letter),
        }
    };
    if name.is_ascii() {
        name.chars().for_each(|letter| push(letter.to_ascii_lowercase()));
    } else {
        let letters = name.nfd().filter(|&letter| canonical_combining_class(letter) == 0);
        letters.flat_map(char::to_lowercase).for_each(push);
    }
}

/// The ASCII spelling of a letter that Unicode does not decompose; `None` for other letters.
const fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ħ' => "h",
        'ı' => "i",
        _ => return None,
    })
}

/// What a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Named {
    /// A player.
    Player,
    /// An event.
    Event,
    /// A site.
    Site,
    /// An opening.
    Opening,
}

impl Named {
    /// The table of the names.
    pub(super) const fn table(self) -> Table {
        match self {
            Self::Player => PLAYER,
            Self::Event => EVENT,
            Self::Site => SITE,
            Self::Opening => OPENING,
        }
    }
}

impl Database {
    /// Passes all names from `from` on, in the order of their bytes, to `visit`, each with its id. Stops when
    /// `visit` returns `false`.
    pub(crate) fn walk_names_from(
        &self,
        named: Named,
        from: &str,
        visit: &mut dyn FnMut(u32, &str) -> bool,
    ) -> Result<()> {
        let table = named.table();
        let (name, id) = (table.name, table.key[0]);
        let sql = match named {
            // Several openings can have the same name.
            Named::Opening => {
                format!("SELECT min({id}) AS {id}, name FROM {name} WHERE name >= ?1 GROUP BY name")
            }
            _ => format!("SELECT {id}, name FROM {name} WHERE name >= ?1 ORDER BY name"),
        };
        self.walk_rows(table, &sql, [from], visit)
    }

    /// The ids of the names that match. For names of players or openings, use [`players`](Self::players) or
    /// [`openings`](Self::openings) instead.
    pub(crate) fn names(&self, named: Named, filter: &NameFilter) -> Result<Vec<u32>> {
        let (mut ids, mut fits) = (Vec::new(), filter.matcher());
        self.walk_names(named, filter.only(), &mut |id, name| {
            if fits(name) {
                ids.push(id);
            }
            true
        })?;
        Ok(ids)
    }

    /// Visits the names that a query returns, with their ids, until `visit` returns `false`.
    fn walk_rows(
        &self,
        table: Table,
        sql: &str,
        params: impl Params,
        visit: &mut dyn FnMut(u32, &str) -> bool,
    ) -> Result<()> {
        let walked = self.connection().prepare_cached(sql).and_then(|mut query| {
            table.walk(query.query(params)?, &mut |cells| Ok(visit(cells.get(0)?, cells.get(1)?)))
        });
        walked.map_err(self.failed("look up a name"))
    }

    /// Passes all names, in the order of their ids, to `visit` until `visit` returns `false`. If `exactly` is
    /// given, passes only this name.
    pub(crate) fn walk_names(
        &self,
        named: Named,
        exactly: Option<&str>,
        visit: &mut dyn FnMut(u32, &str) -> bool,
    ) -> Result<()> {
        let table = named.table();
        let (name, id) = (table.name, table.key[0]);
        let rows = if exactly.is_some() { "WHERE name = ?1".to_owned() } else { format!("ORDER BY {id}") };
        let sql = format!("SELECT {id}, name FROM {name} {rows}");
        self.walk_rows(table, &sql, params_from_iter(exactly), visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(filter: &str, name: &str) -> bool {
        filter.parse::<NameFilter>().unwrap().matches(name)
    }

    #[test]
    fn names_match_at_the_beginning_of_a_word() {
        for filter in ["carlsen", "Magnus", "CARLSEN, M", "carlsen, magnus", "=Carlsen, Magnus", " Carlsen "]
        {
            assert!(fits(filter, "Carlsen, Magnus"), "{filter}");
        }
        for filter in ["arlsen", "agnus", "=carlsen, magnus", "=Carlsen", "Carlsen%", "carlsen_"] {
            assert!(!fits(filter, "Carlsen, Magnus"), "{filter}");
        }
        assert!(fits("ågren", "ÅGREN, Åsa") && fits("åsa", "ÅGREN, Åsa"));
        assert!(fits("li", "Wang Li") && !fits("li", "Caroline"));
        assert!(fits("naka", "GM_naka") && fits("棋", "棋聖"));
        for text in ["", " ", "=", "\u{301}"] {
            assert_eq!(text.parse::<NameFilter>(), Err(FilterError::EmptyName), "{text:?}");
        }
    }

    #[test]
    fn blanks_and_accents_do_not_matter() {
        for filter in ["Carlsen,M", "carlsen , m", "Carlsen,  Magnus", "\u{a0}carlsen"] {
            assert!(fits(filter, "Carlsen, Magnus") && fits(filter, "Carlsen,Magnus"), "{filter}");
        }
        assert!(!fits("carlsen magnus", "Carlsen, Magnus") && !fits("van wely", "vanWely"));
        assert!(fits("van wely", "Van  Wely, Loek"));
        for (plain, name) in [
            ("muller", "MÜLLER, Karsten"),
            ("muller", "Mu\u{308}ller, Karsten"),
            ("capablanca,jose raul", "Capablanca, José Raúl"),
            ("lodz", "Łódź"),
            ("grossmann", "Großmann"),
            ("sorensen", "Sørensen, B"),
            ("izmir", "İzmir"),
            ("DJUKIC", "Djukić"),
        ] {
            assert!(fits(plain, name) && fits(name, name), "{plain}");
        }
        assert!(!fits("=Muller", "Müller"));
    }

    #[test]
    fn accounts_match_in_any_case() {
        let fits = |account: &str, name| NameFilter::Account(account.to_owned()).matches_player(name);
        assert!(
            fits("GHOST", "ghost") && fits("müller", "MÜLLER") && fits("Carlsen, Magnus", "carlsen, magnus")
        );
        for other in ["GhostZilla", "the ghost", "ghos", "ghost,", "ghöst", "Ghost-1"] {
            assert!(!fits("ghost", other), "{other}");
        }
    }

    /// Separate code folds ASCII names.
    #[test]
    fn both_ways_of_folding_agree() {
        for name in ["Carlsen, Magnus", " A  ,B,  C ", "x'); DROP TABLE game; --", "\ta\x0b,\n_"] {
            assert_eq!(fold(&format!("{name} Ø")), fold(&format!("{name} O")), "{name:?}");
        }
    }
}
