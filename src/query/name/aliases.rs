//! Aliases: several names of one player, and how new aliases are merged with existing ones.

use std::collections::{HashMap, HashSet};

use crate::query::name::similar::near;
use crate::sorted::{distinct, sort_by};
use crate::store::{self, Database, NameFilter, Named, PlayerAlias, UnknownName, WriterLock};

/// The maximum number of names that an error lists.
const LISTED: usize = 5;

/// Why aliases cannot be changed, or why a text does not determine a name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AliasError {
    /// The database cannot be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// No player's name matches.
    #[error("no player has a name that matches \"{name}\"{}", did_you_mean(near))]
    Unknown {
        /// The name as typed.
        name: String,
        /// The most similar names.
        near: Vec<String>,
    },
    /// Another reason, explained by the message: a name is empty or ambiguous, or has no other spellings. Or
    /// an alias contradicts another one, or FIDE numbers differ.
    #[error("{0}")]
    Name(String),
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", quoted(near).join(" or ")) }
}

fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("\"{name}\"")).collect()
}

fn wrong<T>(text: String) -> Result<T> {
    Err(AliasError::Name(text))
}

type Result<T, E = AliasError> = std::result::Result<T, E>;

/// The other spellings of players' names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// For each other spelling, the player's name. A player's name is never a key of this map.
    names: HashMap<String, String>,
    /// For each player's name that has other spellings, these spellings.
    spellings: HashMap<String, HashSet<String>>,
    /// The FIDE numbers of players' names, if known.
    fide_ids: HashMap<String, u32>,
}

impl Aliases {
    /// Reads the aliases of a database.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn read(database: &Database) -> store::Result<Self> {
        let mut aliases = Self::default();
        for PlayerAlias { alias, name, fide_id } in database.player_aliases()? {
            aliases.fide_ids.extend(fide_id.map(|fide_id| (name.clone(), fide_id)));
            aliases.set_name(alias, &name);
        }
        Ok(aliases)
    }

    /// Writes the aliases to a database, replacing the existing ones.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn write(&self, database: &Database, lock: &WriterLock) -> store::Result<()> {
        database.replace_player_aliases(lock, &self.rows())
    }

    /// All aliases, sorted by name, then by spelling.
    #[must_use]
    pub fn rows(&self) -> Vec<PlayerAlias> {
        let row = |(alias, name): (&String, &String)| PlayerAlias {
            alias: alias.clone(),
            name: name.clone(),
            fide_id: self.fide_id(name),
        };
        let mut rows: Vec<_> = self.names.iter().map(row).collect();
        sort_by(&mut rows, |one, other| (&one.name, &one.alias).cmp(&(&other.name, &other.alias)));
        rows
    }

    /// The number of other spellings; players' names are not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no aliases.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of the player to whom a spelling belongs; the spelling itself if it is not an alias.
    #[must_use]
    pub fn name_of<'a>(&'a self, spelling: &'a str) -> &'a str {
        self.names.get(spelling).map_or(spelling, String::as_str)
    }

    /// The name of the player to whom a spelling or name belongs; `None` if no alias contains it.
    pub(crate) fn player_of(&self, spelling: &str) -> Option<&str> {
        let own = || self.spellings.get_key_value(spelling).map(|(name, _)| name);
        self.names.get(spelling).or_else(own).map(String::as_str)
    }

    /// The FIDE number of a player's name, if known.
    pub(crate) fn fide_id(&self, name: &str) -> Option<u32> {
        self.fide_ids.get(name).copied()
    }

    /// Merges two names into one player, who then has the name `name`. All other spellings of the two names
    /// become spellings of `name`.
    ///
    /// # Errors
    /// [`AliasError::Name`].
    pub fn merge(&mut self, name: &str, alias: &str) -> Result<()> {
        if name.is_empty() || alias.is_empty() {
            return Err(empty());
        }
        if name == alias {
            return wrong(format!(
                "one of the aliases is \"{name}\" itself, or already merged with it; leave out this alias"
            ));
        }
        let roots = distinct(vec![self.name_of(name).to_owned(), self.name_of(alias).to_owned()]);
        let mut fide_id = None;
        for other in roots.iter().filter_map(|root| self.fide_id(root)) {
            set_fide_id(&mut fide_id, other, name)?;
        }
        for root in roots {
            self.fide_ids.remove(&root);
            // The spellings that `name` already has are not changed.
            if root != name {
                let spellings = self.spellings.remove(&root).unwrap_or_default();
                spellings.into_iter().for_each(|spelling| self.set_name(spelling, name));
                self.set_name(root, name);
            }
        }
        self.set_name(alias.to_owned(), name);
        self.fide_ids.extend(fide_id.map(|fide_id| (name.to_owned(), fide_id)));
        Ok(())
    }

    /// Makes `spelling` an alias of `name`. `spelling` must not be a name that has aliases itself. If
    /// `spelling` equals `name`, `name` ceases to be an alias of another name.
    fn set_name(&mut self, spelling: String, name: &str) {
        if spelling == name {
            self.names.remove(name);
            return;
        }
        self.spellings.entry(name.to_owned()).or_default().insert(spelling.clone());
        self.names.insert(spelling, name.to_owned());
    }

    /// Adds a list of aliases. Its rows must not contradict each other. A row can move a spelling from a name
    /// B to a name C only if the list also makes B a spelling of C.
    ///
    /// # Errors
    /// An [`AliasError`] with the index of the wrong row. The aliases are then unchanged.
    pub fn add(&mut self, rows: &[PlayerAlias]) -> Result<(), (usize, AliasError)> {
        let mut listed = HashMap::new();
        for (index, row) in rows.iter().enumerate() {
            if let Some(before) = listed.insert(&row.alias, &row.name).filter(|&before| *before != row.name) {
                return Err((index, two_names(row, before)));
            }
        }
        let mut all = self.clone();
        for (index, row) in rows.iter().enumerate() {
            all.check(row, &listed).and_then(|()| all.add_row(row)).map_err(|error| (index, error))?;
        }
        *self = all;
        Ok(())
    }

    /// Returns an error if a row of a list contradicts other rows or existing aliases.
    fn check(&self, row: &PlayerAlias, listed: &HashMap<&String, &String>) -> Result<()> {
        let PlayerAlias { alias, name, .. } = row;
        let is_listed = |alias: &String, name: &String| listed.get(alias).is_some_and(|&other| other == name);
        let of = listed.get(name).map(|of| (*of).clone());
        let of = of.or_else(|| self.names.get(name).filter(|&of| !is_listed(of, name)).cloned());
        if let Some(of) = of.filter(|of| name != alias && of != name) {
            if of == *alias {
                return wrong(format!(
                    "\"{name}\" and \"{alias}\" are each listed as a spelling of the other; keep one of the two lines"
                ));
            }
            return wrong(format!(
                "\"{name}\" is itself another spelling of \"{of}\"; list \"{alias}\" as a spelling of \"{of}\" instead"
            ));
        }
        match self.names.get(alias).filter(|&before| before != name && !is_listed(before, name)) {
            Some(before) => Err(two_names(row, before)),
            None => Ok(()),
        }
    }

    fn add_row(&mut self, row: &PlayerAlias) -> Result<()> {
        self.merge(&row.name, &row.alias)?;
        if let Some(fide_id) = row.fide_id {
            let mut before = self.fide_id(&row.name);
            set_fide_id(&mut before, fide_id, &row.name)?;
            self.fide_ids.insert(row.name.clone(), fide_id);
        }
        Ok(())
    }

    /// If `spelling` is a player's name, removes all its other spellings. Otherwise, removes `spelling` from
    /// its player. Returns the removed aliases.
    ///
    /// # Errors
    /// [`AliasError::Name`].
    pub fn split(&mut self, spelling: &str) -> Result<Vec<PlayerAlias>> {
        let (gone, kept): (Vec<_>, Vec<_>) =
            self.rows().into_iter().partition(|row| row.alias == spelling || row.name == spelling);
        if gone.is_empty() {
            return wrong(format!(
                "\"{spelling}\" is not merged with another name; the table player_alias lists all merged names"
            ));
        }
        (self.names, self.spellings) = Default::default();
        kept.into_iter().for_each(|row| self.set_name(row.alias, &row.name));
        self.fide_ids.retain(|name, _| self.spellings.contains_key(name));
        Ok(gone)
    }

    /// The name or spelling in these aliases that a text means, by the rules of [`choose_name`].
    ///
    /// # Errors
    /// [`AliasError::Unknown`], [`AliasError::Name`].
    pub fn choose(&self, text: &str) -> Result<String> {
        let (exact, filter) = read_name(text)?;
        if self.player_of(exact).is_some() || matches!(filter, NameFilter::Exactly(_)) {
            return Ok(exact.to_owned());
        }
        let spellings = self.names.iter().flat_map(|(alias, name)| [alias, name]);
        let fits = distinct(spellings.filter(|name| filter.matches_player(name)).cloned().collect());
        self.only(text, fits, Vec::new())
    }

    /// The name in `fits` if there is only one, or the name of the player to whom all names in `fits` belong.
    /// `near` are the names similar to `text`, for the error if `fits` is empty.
    fn only(&self, text: &str, mut fits: Vec<String>, near: Vec<String>) -> Result<String> {
        let players = distinct(fits.iter().map(|name| self.name_of(name)).collect());
        match (fits.len(), players.first()) {
            (0, _) | (_, None) => Err(AliasError::Unknown { name: text.to_owned(), near }),
            (1, _) => Ok(fits.remove(0)),
            (_, Some(&player)) if players.len() == 1 => Ok(player.to_owned()),
            (count, _) => {
                fits.truncate(LISTED);
                let mut names = quoted(&fits);
                names.extend((count > LISTED).then(|| "…".to_owned()));
                wrong(format!(
                    "\"{text}\" matches {count} names: {}; give one of them in full",
                    names.join(", ")
                ))
            }
        }
    }
}

fn empty() -> AliasError {
    AliasError::Name("the name is empty".to_owned())
}

fn two_names(PlayerAlias { alias, name, .. }: &PlayerAlias, before: &str) -> AliasError {
    AliasError::Name(format!(
        "\"{alias}\" is already another spelling of \"{before}\", so it cannot also be a spelling of \"{name}\"; choose \
         one of these two players"
    ))
}

/// Sets a FIDE number. If a number is already known, it must be the same.
fn set_fide_id(known: &mut Option<u32>, fide_id: u32, name: &str) -> Result<()> {
    if let Some(before) = known.replace(fide_id).filter(|before| *before != fide_id) {
        return wrong(format!(
            "\"{name}\" has the FIDE number {before}, so it cannot have {fide_id}; keep the correct number"
        ));
    }
    Ok(())
}

/// Parses a typed name. Returns the name without a leading `=`, and the filter for the typed name.
fn read_name(text: &str) -> Result<(&str, NameFilter)> {
    let filter = text.parse().map_err(|_| empty())?;
    Ok((text.strip_prefix('=').unwrap_or(text), filter))
}

/// The name that a text means: the name with exactly these letters. If there is none: the only name that
/// matches, or the name of the player to whom all matching names belong. A name after `=` need not exist yet.
///
/// # Errors
/// [`AliasError::Unknown`], [`AliasError::Name`]; errors of SQLite.
pub fn choose_name(database: &Database, aliases: &Aliases, text: &str) -> Result<String> {
    let (exact, filter) = read_name(text)?;
    if matches!(filter, NameFilter::Exactly(_)) {
        return Ok(exact.to_owned());
    }
    let is_exact = !database.names(Named::Player, &NameFilter::Exactly(exact.to_owned()))?.is_empty();
    if is_exact || aliases.player_of(exact).is_some() {
        return Ok(exact.to_owned());
    }
    let ids: Vec<_> = database.players(&filter)?.into_iter().map(crate::id::NameId).collect();
    let fits = database.player_names(&ids)?;
    let unknown = UnknownName { field: "player", named: Named::Player, filter };
    let near = if fits.is_empty() { near(database, &unknown)? } else { Vec::new() };
    aliases.only(text, fits, near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, alias: &str, fide_id: Option<u32>) -> PlayerAlias {
        PlayerAlias { alias: alias.to_owned(), name: name.to_owned(), fide_id }
    }

    fn rows(pairs: &[[&str; 2]]) -> Vec<PlayerAlias> {
        pairs.iter().map(|[name, alias]| row(name, alias, None)).collect()
    }

    /// Adds `before`, then `list`. Returns all aliases as `name<alias`, or the index of the wrong row with
    /// the reason.
    fn added(before: &[[&str; 2]], list: &[[&str; 2]]) -> Result<String, String> {
        let mut aliases = Aliases::default();
        aliases.add(&rows(before)).expect("a list");
        aliases.add(&rows(list)).map_err(|(index, error)| format!("{index}: {error}"))?;
        Ok(format_aliases(&aliases))
    }

    fn format_aliases(aliases: &Aliases) -> String {
        aliases.rows().iter().map(|row| format!("{}<{}", row.name, row.alias)).collect::<Vec<_>>().join(" ")
    }

    /// 200,000 spellings: half of them belong to one name, the others to many names.
    #[test]
    fn long_lists_are_added_quickly() {
        let started = std::time::Instant::now();
        let of_one = (0..100_000).map(|number| row("A", &format!("a{number}"), Some(1)));
        let of_many =
            (0..100_000).map(|number| row(&format!("B{}", number / 2), &format!("b{number}"), None));
        let rows: Vec<_> = of_one.chain(of_many).collect();
        let mut aliases = Aliases::default();
        aliases.add(&rows).unwrap();
        assert_eq!((aliases.len(), aliases.name_of("a7"), aliases.name_of("b7")), (200_000, "A", "B3"));
        // Calling `add` for each spelling would take many minutes.
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
    }

    #[test]
    fn names_are_merged_with_all_their_spellings() {
        let mut aliases = Aliases::default();
        for (name, alias, expected) in [
            ("B", "C", "B<C"),
            ("A", "B", "A<B A<C"),
            ("D", "E", "A<B A<C D<E"),
            ("A", "E", "A<B A<C A<D A<E"),
            ("A", "B", "A<B A<C A<D A<E"),
            ("C", "A", "C<A C<B C<D C<E"),
        ] {
            aliases.merge(name, alias).expect("two names");
            assert_eq!(format_aliases(&aliases), expected, "{name} {alias}");
        }
        assert_eq!(aliases.split("B").map(|gone| gone.len()).ok(), Some(1));
        assert_eq!(format_aliases(&aliases), "C<A C<D C<E");
        assert_eq!(aliases.split("C").map(|gone| gone.len()).ok(), Some(3));
        assert!(aliases.is_empty() && aliases.split("C").is_err() && aliases.merge("A", "A").is_err());
    }

    #[test]
    fn contradictory_lists_are_rejected() {
        assert_eq!(added(&[], &[["A", "B"], ["A", "B"], ["A", "C"]]).as_deref(), Ok("A<B A<C"));
        assert_eq!(added(&[["B", "C"]], &[["A", "B"]]).as_deref(), Ok("A<B A<C"));
        assert_eq!(added(&[["A", "B"]], &[["B", "A"]]).as_deref(), Ok("B<A"));
        assert_eq!(added(&[["A", "B"]], &[["Z", "A"], ["Z", "B"]]).as_deref(), Ok("Z<A Z<B"));
        assert_eq!(added(&[["A", "B"]], &[["Z", "B"], ["Z", "A"]]).as_deref(), Ok("Z<A Z<B"));
        for (before, list, index) in [
            (
                &[][..],
                &[["A", "A"]][..],
                "0: one of the aliases is \"A\" itself, or already merged with it; leave out this alias",
            ),
            (&[], &[["A", "C"], ["B", "C"]], "1: \"C\" is already another spelling of \"A\""),
            (&[], &[["A", "B"], ["B", "C"]], "1: \"B\" is itself another spelling of \"A\""),
            (&[], &[["B", "C"], ["A", "B"]], "0: \"B\" is itself another spelling of \"A\""),
            (&[], &[["A", "B"], ["B", "A"]], "0: \"A\" and \"B\" are each listed as a spelling of the other"),
            (&[["A", "B"]], &[["Z", "B"]], "0: \"B\" is already another spelling of \"A\""),
            (&[["A", "B"]], &[["B", "C"]], "0: \"B\" is itself another spelling of \"A\""),
        ] {
            let error = added(before, list).expect_err("a contradiction");
            assert!(error.starts_with(index), "{error}");
        }
    }

    #[test]
    fn a_player_has_only_one_fide_id() {
        let mut aliases = Aliases::default();
        aliases.add(&[row("A", "B", Some(7)), row("A", "C", None), row("D", "E", Some(8))]).expect("a list");
        assert!(aliases.rows().iter().take(2).all(|row| row.fide_id == Some(7)));
        let differs = "\"A\" has the FIDE number 7, so it cannot have";
        let (index, error) = aliases.add(&[row("A", "F", Some(9))]).expect_err("another number");
        assert!(index == 0 && error.to_string().starts_with(differs), "{error}");
        let error = aliases.merge("A", "D").expect_err("another number").to_string();
        assert!(error.starts_with(differs), "{error}");
        aliases.split("D").expect("a name");
        aliases.merge("D", "A").expect("two names");
        assert!(aliases.rows().iter().all(|row| row.fide_id == Some(7)) && aliases.len() == 3);
    }
}
