//! Players with several names.

use std::collections::HashSet;

use crate::sorted::distinct;
use crate::store::cell::{Cells, PLAYER_ALIAS, read_rows};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::read::name::{NameFilter, Named};
use crate::store::read::player::matcher::PlayerMatcher;

const ACTION: &str = "read table player_alias";

/// Another spelling of a player's name: a row of `player_alias`.
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
    /// All other spellings of players' names, in the order of the spellings.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn player_aliases(&self) -> Result<Vec<PlayerAlias>> {
        let read = || -> rusqlite::Result<Vec<PlayerAlias>> {
            let sql = "SELECT alias, name, fide_id FROM player_alias ORDER BY alias";
            let mut statement = self.connection().prepare_cached(sql)?;
            read_rows(&mut statement, [], |row| {
                let cells = Cells::new(row, PLAYER_ALIAS);
                Ok(PlayerAlias { alias: cells.get(0)?, name: cells.get(1)?, fide_id: cells.get(2)? })
            })
        };
        read().map_err(|source| Error::sqlite(self.path(), ACTION, source))
    }

    /// The ids of all spellings of the players whom a name matches, in ascending order.
    pub(crate) fn players(&self, filter: &NameFilter) -> Result<Vec<u32>> {
        let mut matcher = PlayerMatcher::new(filter);
        let mut ids = Vec::new();
        self.walk_names(Named::Player, matcher.only(), |id, name| {
            if matcher.fits(name) {
                ids.push(id);
            }
            true
        })?;
        let aliases = self.player_aliases()?;
        // A spelling is compared even if it does not occur in a game.
        let mut fits = |alias: &&PlayerAlias| matcher.fits(&alias.alias) || matcher.fits(&alias.name);
        let names: HashSet<&str> =
            aliases.iter().filter(&mut fits).map(|alias| alias.name.as_str()).collect();
        let others = aliases.iter().filter(|alias| names.contains(alias.name.as_str()));
        for spelling in others.map(|alias| alias.alias.as_str()).chain(names.iter().copied()) {
            ids.extend(self.player_id(spelling)?);
        }
        Ok(distinct(ids))
    }

    /// The id of a spelling; `None` if it does not occur in a game.
    fn player_id(&self, name: &str) -> Result<Option<u32>> {
        let mut id = None;
        self.walk_names(Named::Player, Some(name), |found, _| {
            id = Some(found);
            false
        })?;
        Ok(id)
    }
}
