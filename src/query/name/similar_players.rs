//! Finds players with names similar to those that a filter matches, but with many more games: perhaps the
//! same person in another spelling.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use crate::id::NameId;
use crate::query::name::phonetic::{PhoneticMatcher, PhoneticName};
use crate::sorted::{SortedMap, distinct, sort_by_key};
use crate::store::{self, Database, KnownPlayers, NameFilter, Selection};

/// If the name in a filter matches more spellings than this, nothing is suggested: it is not the name of one
/// player.
const MOST_SPELLINGS: usize = 16;
/// If the name in a filter matches more spellings than this, their games are not counted, because each spelling
/// takes some microseconds.
const MOST_COUNTED: usize = 500;
/// A player with more games than this hardly has a spelling with many more.
const MOST_GAMES: u64 = 5_000;
/// The maximum number of similar names to count.
const MOST_LIKE: usize = 32;
/// The maximum number of names to compare, about half a microsecond each. Only names that begin with the
/// right letters are compared.
const COMPARED: usize = 200_000;
/// A name has many more games if it has at least this many times as many ...
const TIMES: u64 = 2;
/// ... and at least this many more. Otherwise there would be too many suggestions for players with very few
/// games.
const MORE: u64 = 4;

/// A name in a filter, and a similar one that has many more games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SimilarPlayer {
    /// The filter's field: `white`, `black`, `player`, `opponent`.
    pub field: &'static str,
    /// The name that the filter matches and that `near` is similar to.
    pub found: String,
    /// Games of all players that match, on either side.
    pub found_games: u64,
    /// The similar name, which the filter does not match.
    pub near: String,
    /// Games with the name `near`, on either side.
    pub near_games: u64,
}

/// A player whose name matches the name in a filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatchingPlayer {
    /// The player's main name.
    pub name: String,
    /// Number of the player's games, with either side.
    pub games: u64,
}

/// A name in a filter that matches several players. The games of all of them are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeveralPlayers {
    /// Field of the filter: `white`, `black`, `player` or `opponent`.
    pub field: &'static str,
    /// Number of matching players. If there are too many to count their games, each spelling counts as a
    /// player.
    pub players: u64,
    /// The matching players with the most games, most games first. Empty if there are too many players to
    /// count their games.
    pub most: Vec<MatchingPlayer>,
}

/// The names of a selection that match several players, with at most `most` of them listed.
///
/// # Errors
/// Errors of SQLite.
pub fn several_players(
    database: &Database,
    selection: &Selection,
    most: usize,
) -> store::Result<Vec<SeveralPlayers>> {
    let known = selection.players().iter().filter(|known| !known.is_exact && known.ids.len() > 1);
    let several = known.map(|known| several(database, known, most));
    several.filter_map(Result::transpose).collect()
}

fn several(database: &Database, known: &KnownPlayers, most: usize) -> store::Result<Option<SeveralPlayers>> {
    let field = known.field;
    if known.ids.len() > MOST_COUNTED {
        return Ok(Some(SeveralPlayers { field, players: known.ids.len() as u64, most: Vec::new() }));
    }
    let aliases = database.player_aliases()?;
    let name_of: HashMap<&str, &str> =
        aliases.iter().map(|alias| (alias.alias.as_str(), alias.name.as_str())).collect();
    let spellings = database.player_names(&known.ids)?;
    let mut players: SortedMap<&str, Vec<NameId>> = SortedMap::new();
    for (spelling, &id) in spellings.iter().zip(&known.ids) {
        let name = name_of.get(spelling.as_str()).copied().unwrap_or(spelling);
        players.entry(name).push(id);
    }
    if players.len() < 2 {
        return Ok(None);
    }
    let count = |(name, ids): (&&str, &Vec<NameId>)| {
        Ok(MatchingPlayer { name: (*name).to_owned(), games: database.count_player_games(ids)? })
    };
    let mut counted = players.iter().map(count).collect::<store::Result<Vec<_>>>()?;
    sort_by_key(&mut counted, |player| Reverse(player.games));
    let players = counted.len() as u64;
    counted.truncate(most);
    Ok((players > 1).then_some(SeveralPlayers { field, players, most: counted }))
}

/// The names of a selection's players that are similar to others with many more games.
///
/// # Errors
/// Errors of SQLite.
pub fn similar_players(database: &Database, selection: &Selection) -> store::Result<Vec<SimilarPlayer>> {
    let near = selection.players().iter().map(|known| similar_player(database, known));
    near.filter_map(Result::transpose).collect()
}

fn similar_player(database: &Database, known: &KnownPlayers) -> store::Result<Option<SimilarPlayer>> {
    if known.is_exact || known.ids.len() > MOST_SPELLINGS {
        return Ok(None);
    }
    let found_games = database.count_player_games(&known.ids)?;
    if found_games > MOST_GAMES {
        return Ok(None);
    }
    let found = database.player_names(&known.ids)?;
    let likeness: Vec<PhoneticName> = found.iter().map(|name| PhoneticName::new(name)).collect();
    let mut like: Vec<(String, usize)> = Vec::new();
    let (mut compared, mut left) = (PhoneticMatcher::default(), COMPARED);
    for (begin, end) in ranges(&likeness) {
        database.visit_players_between(&begin, &end, |id, name| {
            if let Some(index) = compared.find_similar(name, &likeness)
                && known.ids.binary_search(&id).is_err()
            {
                like.push((name.to_owned(), index));
            }
            left = left.saturating_sub(1);
            left > 0 && like.len() < MOST_LIKE
        })?;
    }
    let mut best: Option<SimilarPlayer> = None;
    for (near, index) in like {
        let ids: Vec<_> =
            database.players(&NameFilter::Exactly(near.clone()))?.into_iter().map(NameId).collect();
        let near_games = database.count_player_games(&ids)?;
        let least =
            best.as_ref().map_or((TIMES * found_games).max(found_games + MORE), |best| best.near_games + 1);
        if near_games >= least {
            let found = found[index].clone();
            best = Some(SimilarPlayer { field: known.field, found, found_games, near, near_games });
        }
    }
    Ok(best)
}

/// Ranges of text that contain all names that may be similar, so that an index finds them.
fn ranges(likeness: &[PhoneticName]) -> Vec<(String, String)> {
    let beginnings = distinct(likeness.iter().flat_map(PhoneticName::beginnings).collect());
    let initials = distinct(beginnings.iter().map(|[first, _]| *first).collect());
    let upper = |letter: char| letter.to_ascii_uppercase();
    let cases = beginnings.iter().flat_map(|&[first, second]| {
        [[upper(first), second], [upper(first), upper(second)], [first, second]]
    });
    let plain = cases.map(|[first, second]| {
        let next = char::from_u32(u32::from(second) + 1).unwrap_or(char::MAX);
        (String::from_iter([first, second]), String::from_iter([first, next]))
    });
    // The second letter may be accented in any way.
    let accented = initials
        .iter()
        .flat_map(|&first| [upper(first), first])
        .map(|first| (format!("{first}\u{80}"), format!("{first}{}", char::MAX)));
    plain.chain(accented).collect()
}
