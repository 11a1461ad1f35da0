//! Lists the players of a database, each once, with all spellings of the name.

use std::collections::HashMap;

use serde::Serialize;

use crate::id::NameId;
use crate::query::name::Aliases;
use crate::sorted::{sort_by, sort_by_key};
use crate::store::{self, Database, NameFilter, Named, PlayerGames, fold};

/// The order of a list of players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlayerOrder {
    /// Most games first, then by name.
    #[default]
    Games,
    /// By name, ignoring letter case and accents.
    Name,
}

/// Which players to list, and how.
#[derive(Debug)]
pub struct PlayersQuery<'a> {
    /// The database.
    pub database: &'a Database,
    /// The name that the players must match; `None`: all players.
    pub name: Option<&'a NameFilter>,
    /// The order of the players.
    pub order: PlayerOrder,
    /// The maximum number of players; `None`: all.
    pub limit: Option<u32>,
    /// How many players to skip first.
    pub offset: u32,
}

/// A player, with all spellings of the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedPlayer {
    /// The player's main name.
    pub name: String,
    /// FIDE ID from the table `player_alias`; `null` if unknown.
    pub fide_id: Option<u32>,
    /// Number of games. A game with the player on both sides counts once.
    pub games: u64,
    /// Number of games with White.
    pub as_white: u64,
    /// Number of games with Black.
    pub as_black: u64,
    /// Year of the player's first game with a known year; `null` if there is none.
    pub first_year: Option<u16>,
    /// Year of the player's last game with a known year; `null` if there is none.
    pub last_year: Option<u16>,
    /// All spellings of the name in games, most games first.
    pub spellings: Vec<Spelling>,
}

/// A spelling of a player's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spelling {
    /// The name as written in the PGN.
    pub name: String,
    /// Number of games with this spelling.
    pub games: u64,
}

/// A part of a list of players.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPlayers {
    /// The requested players.
    pub players: Vec<ListedPlayer>,
    /// The number of all matching players, regardless of limit and offset.
    pub total: u64,
}

/// The spellings of one player.
struct Group {
    name: String,
    fide_id: Option<u32>,
    ids: Vec<NameId>,
    spellings: Vec<String>,
}

impl PlayersQuery<'_> {
    /// Lists the players, in order.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn list(&self) -> store::Result<ListedPlayers> {
        let snapshot = self.database.snapshot()?;
        let groups = self.groups()?;
        let ids: Vec<Vec<NameId>> = groups.iter().map(|group| group.ids.clone()).collect();
        let counts = self.database.player_games(&ids)?;
        let total = groups.len() as u64;
        let mut players: Vec<(Group, PlayerGames)> = groups.into_iter().zip(counts).collect();
        match self.order {
            PlayerOrder::Games => {
                sort_by(&mut players, |(one, games), (other, more)| {
                    more.games.cmp(&games.games).then_with(|| one.name.cmp(&other.name))
                });
            }
            PlayerOrder::Name => {
                sort_by_key(&mut players, |(group, _)| (fold(&group.name), group.name.clone()))
            }
        }
        let limit = self.limit.map_or(usize::MAX, |limit| limit as usize);
        let chosen = players.into_iter().skip(self.offset as usize).take(limit).collect();
        let players = self.with_spellings(chosen)?;
        drop(snapshot);
        Ok(ListedPlayers { players, total })
    }

    /// The matching players, in no particular order.
    fn groups(&self) -> store::Result<Vec<Group>> {
        let matching = self.name.map(|name| self.database.players(name)).transpose()?;
        let aliases = Aliases::read(self.database)?;
        let (mut groups, mut at) = (Vec::<Group>::new(), HashMap::<String, usize>::new());
        self.database.walk_names(Named::Player, None, &mut |id, spelling| {
            if matching.as_ref().is_some_and(|ids| ids.binary_search(&id).is_err()) {
                return true;
            }
            let name = aliases.name_of(spelling);
            let index = *at.entry(name.to_owned()).or_insert_with(|| {
                let fide_id = aliases.fide_id(name);
                groups.push(Group { name: name.to_owned(), fide_id, ids: Vec::new(), spellings: Vec::new() });
                groups.len() - 1
            });
            groups[index].ids.push(NameId(id));
            groups[index].spellings.push(spelling.to_owned());
            true
        })?;
        Ok(groups)
    }

    /// Players with their spellings. The games of each spelling are counted only for players with several
    /// spellings.
    fn with_spellings(&self, players: Vec<(Group, PlayerGames)>) -> store::Result<Vec<ListedPlayer>> {
        let several = players.iter().filter(|(group, _)| group.ids.len() > 1);
        let ids: Vec<Vec<NameId>> = several.flat_map(|(group, _)| &group.ids).map(|&id| vec![id]).collect();
        let counted = if ids.is_empty() { Vec::new() } else { self.database.player_games(&ids)? };
        let mut counted = counted.into_iter();
        let listed = players.into_iter().map(|(group, count)| {
            let is_one = group.ids.len() == 1;
            let spelling = |name| {
                let count = if is_one { count } else { counted.next().unwrap_or_default() };
                Spelling { name, games: count.games }
            };
            let mut spellings: Vec<_> = group.spellings.into_iter().map(spelling).collect();
            sort_by(&mut spellings, |one, other| {
                other.games.cmp(&one.games).then_with(|| one.name.cmp(&other.name))
            });
            let PlayerGames { games, white: as_white, black: as_black, first_year, last_year } = count;
            let (name, fide_id) = (group.name, group.fide_id);
            ListedPlayer { name, fide_id, games, as_white, as_black, first_year, last_year, spellings }
        });
        Ok(listed.collect())
    }
}
