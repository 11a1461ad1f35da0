//! Suggests similar names if the database does not contain the name in a filter. If it does, suggests a
//! similar name with many more games, which perhaps belongs to the same person. Lists the players that a name
//! in a filter matches.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use crate::id::NameId;
use crate::query::name::phonetic::{PhoneticMatcher, PhoneticName};
use crate::sorted::{SortedMap, distinct, sort_by_key};
use crate::store::{
    self, Database, GameFilter, KnownPlayers, NameFilter, Named, Selection, UnknownName, fold,
};

/// The maximum number of suggested names.
const SUGGESTED: usize = 3;
/// The maximum number of names to compare. Each comparison takes about a microsecond.
const COMPARED_NAMES: usize = 1_000_000;

/// A name in a filter that does not occur in the database, with similar names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimilarNames {
    /// Field of the filter: `white`, `black`, `player`, `opponent`, `event`, `site` or `opening`.
    pub field: &'static str,
    /// What the name refers to.
    pub named: Named,
    /// The name in the filter, with a leading `=` if games must have exactly this name.
    #[serde(skip)]
    pub wanted: String,
    /// Up to three similar names, the most similar first. Among equally similar names, those that match at an
    /// earlier word come first.
    pub near: Vec<String>,
    /// The field in which games have the name, if the filter's event is the name of a site, or the reverse,
    /// or if the filter's opening is an ECO code. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<OtherField>,
}

/// A field other than the filter's, in which games have the name that the filter contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OtherField {
    /// The field: `event`, `site` or `opening_eco`.
    pub field: &'static str,
    /// Number of games that match the name in this field.
    pub games: u64,
}

/// For a selection: the names in its filters that do not occur in the database, each with similar names.
///
/// # Errors
/// Errors of SQLite.
pub fn similar_names(database: &Database, selection: &Selection) -> store::Result<Vec<SimilarNames>> {
    let unknown = selection.unknown_names().iter();
    unknown
        .map(|name| {
            let sign = if matches!(name.filter, NameFilter::Exactly(_)) { "=" } else { "" };
            let wanted = format!("{sign}{}", name.filter.text());
            let elsewhere = other_field(database, name)?;
            let is_code = name.named == Named::Opening && elsewhere.is_some();
            let near = if is_code { Vec::new() } else { near(database, name)? };
            Ok(SimilarNames { field: name.field, named: name.named, wanted, near, elsewhere })
        })
        .collect()
}

/// Looks up the name of an event among the sites, and the name of a site among the events, because people
/// search for tournaments by place. If the name of an opening is an ECO code, looks up the code.
fn other_field(database: &Database, unknown: &UnknownName) -> store::Result<Option<OtherField>> {
    let name = Some(unknown.filter.clone());
    let (field, filter) = match unknown.named {
        Named::Event => ("site", GameFilter { site: name, ..GameFilter::default() }),
        Named::Site => ("event", GameFilter { event: name, ..GameFilter::default() }),
        Named::Opening => match unknown.filter.text().parse() {
            Ok(code) => ("opening_eco", GameFilter { opening_eco: Some(code), ..GameFilter::default() }),
            Err(_) => return Ok(None),
        },
        Named::Player => return Ok(None),
    };
    let selection = database.select(&filter)?;
    let is_known = selection.unknown_names().is_empty();
    let games = if is_known { database.count_games_of(&selection)? } else { 0 };
    Ok((games > 0).then_some(OtherField { field, games }))
}

/// The names most similar to an unknown name, the most similar first. Among equally similar names, those that
/// match at an earlier word come first, then those that were added to the database first.
pub(crate) fn near(database: &Database, unknown: &UnknownName) -> store::Result<Vec<String>> {
    let wanted = orders(unknown.filter.text(), unknown.named);
    let mut nearest: Vec<((usize, usize), String)> = Vec::new();
    let mut left = COMPARED_NAMES;
    database.walk_names(unknown.named, None, &mut |_, name| {
        // Several positions can have the same opening name.
        let is_new = |name: &str| nearest.iter().all(|(_, other)| other != name);
        if let Some(like) = nearest_words(&wanted, name).filter(|_| is_new(name)) {
            let at = nearest.partition_point(|(other, _)| *other <= like);
            if at < SUGGESTED {
                nearest.insert(at, (like, name.to_owned()));
                nearest.truncate(SUGGESTED);
            }
        }
        left -= 1;
        left > 0
    })?;
    Ok(nearest.into_iter().map(|(_, name)| name).collect())
}

/// The words of an unknown name as typed and, for a player, also with the last word first, because surnames
/// come first in most files.
fn orders(name: &str, named: Named) -> Vec<Vec<String>> {
    let typed: Vec<_> = words(&fold(name)).map(str::to_owned).collect();
    let mut orders = vec![typed.clone()];
    if named == Named::Player && typed.len() > 1 {
        let mut turned = typed;
        turned.rotate_right(1);
        orders.push(turned);
    }
    orders
}

/// Compares the wanted words, in each of the given orders, with each sequence of equally many consecutive
/// words of a name. Returns the number of letters to change in the most similar sequence, and the index of
/// its first word; `None` if no sequence is similar.
fn nearest_words(orders: &[Vec<String>], name: &str) -> Option<(usize, usize)> {
    let name = fold(name);
    let words: Vec<_> = words(&name).collect();
    let distances = orders.iter().flat_map(|order| {
        // `windows` needs at least one word. A name without words is not similar to any other.
        let runs = words.windows(order.len().max(1)).enumerate();
        runs.filter_map(move |(place, run)| Some((distance(run, order)?, place)))
    });
    distances.min()
}

/// The number of letters in which words differ from wanted words. An initial matches any word that begins
/// with it, and the last wanted word also matches the beginning of a word. `None` if more than a third of the
/// wanted letters differ. Also `None` if a word is much shorter or longer than the wanted word, or if there
/// are only initials.
fn distance(words: &[&str], wanted: &[String]) -> Option<usize> {
    let (mut wrong, mut letters) = (0, 0);
    for (index, (word, wanted)) in words.iter().zip(wanted).enumerate() {
        let (length, wanted_length) = (word.chars().count(), wanted.chars().count());
        let is_last = index + 1 == words.len();
        if length == 1 || wanted_length == 1 {
            wrong += usize::from(word.chars().next() != wanted.chars().next());
            continue;
        }
        letters += wanted_length;
        let most = (wanted_length / 2).max(1);
        let begins_like = |word: &str| {
            let beginning: String = word.chars().take(wanted_length).collect();
            strsim::osa_distance(&beginning, wanted)
        };
        wrong += match length.abs_diff(wanted_length) {
            difference if difference <= most => {
                let whole = strsim::osa_distance(word, wanted);
                if is_last { whole.min(begins_like(word)) } else { whole }
            }
            _ if is_last && length > wanted_length => begins_like(word),
            _ => return None,
        };
    }
    // Initials alone would be similar to too many names. For the same reason, a single wanted word of two
    // letters must match exactly.
    (letters > 0 && wrong <= letters / 3).then_some(wrong)
}

/// The words of a name that `fold` has normalized. The `s` of `Keene's` is not an initial, so it is omitted.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    let words = parts.flat_map(|part| part.strip_suffix("'s").unwrap_or(part).split('\''));
    words.filter(|word| !word.is_empty())
}

/// If the name in a filter matches more spellings than this, no similar name is suggested: the spellings
/// probably do not belong to one player.
const MOST_SPELLINGS: usize = 16;
/// If the name in a filter matches more spellings than this, their games are not counted, because counting
/// takes some microseconds per spelling.
const MOST_COUNTED: usize = 500;
/// If the matching names together have more games than this, no similar name is suggested: a name with many
/// more games is unlikely.
const MOST_GAMES: u64 = 5_000;
/// The search for similar names stops when this many are found. The games of each are counted.
const MOST_LIKE: usize = 32;
/// The maximum number of names to compare. Each comparison takes about half a microsecond. Only names in the
/// ranges that [`ranges`] returns are compared.
const COMPARED_PLAYERS: usize = 200_000;
/// A name has many more games than another name only if it has at least `TIMES` times as many games.
const TIMES: u64 = 2;
/// A name has many more games than another name only if it has at least `MORE` games more than that name.
/// Without this minimum, there would be too many suggestions for players with very few games.
const MORE: u64 = 4;

/// A name in a filter, and a similar name that has many more games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SimilarPlayer {
    /// The filter's field: `white`, `black`, `player` or `opponent`.
    pub field: &'static str,
    /// The name that the filter matches and that `near` is similar to.
    pub found: String,
    /// The number of games of the player with the name `found`, on either side.
    pub found_games: u64,
    /// The similar name, which the filter does not match.
    pub near: String,
    /// The number of games of the player with the name `near`, on either side.
    pub near_games: u64,
}

/// A player whose name matches the name in a filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatchingPlayer {
    /// The player's main name.
    pub name: String,
    /// Number of the player's games, on either side.
    pub games: u64,
}

/// A name in a filter that matches several players. The games of all these players pass the filter.
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

/// For a selection: the names in its filters that match several players. For each name, at most `most`
/// players are listed.
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
    Ok(Some(SeveralPlayers { field, players, most: counted }))
}

/// For each player's name in the filters of a selection: the similar name with the most games. Omits similar
/// names that do not have many more games.
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
    let matching_games = database.count_player_games(&known.ids)?;
    if matching_games > MOST_GAMES {
        return Ok(None);
    }
    let found = database.player_names(&known.ids)?;
    let likeness: Vec<PhoneticName> = found.iter().map(|name| PhoneticName::new(name)).collect();
    let mut like: Vec<(String, usize)> = Vec::new();
    let (mut compared, mut left) = (PhoneticMatcher::default(), COMPARED_PLAYERS);
    for (begin, end) in ranges(&likeness) {
        if left == 0 || like.len() >= MOST_LIKE {
            break;
        }
        database.walk_names_from(Named::Player, &begin, &mut |id, name| {
            if name >= end.as_str() {
                return false;
            }
            if let Some(index) = compared.find_similar(name, &likeness)
                && known.ids.binary_search(&NameId(id)).is_err()
            {
                like.push((name.to_owned(), index));
            }
            left -= 1;
            left > 0 && like.len() < MOST_LIKE
        })?;
    }
    let games_of = |name: &str| {
        let ids = database.players(&NameFilter::Exactly(name.to_owned()))?;
        database.count_player_games(&ids.into_iter().map(NameId).collect::<Vec<_>>())
    };
    let mut best: Option<SimilarPlayer> = None;
    for (near, index) in like {
        let near_games = games_of(&near)?;
        let least = (TIMES * matching_games).max(matching_games + MORE);
        if near_games >= best.as_ref().map_or(least, |best| best.near_games + 1) {
            let found = found[index].clone();
            let found_games = games_of(&found)?;
            best = Some(SimilarPlayer { field: known.field, found, found_games, near, near_games });
        }
    }
    Ok(best)
}

/// The ranges of names that can be similar, by their first two letters. The first letter can be small or
/// capital, and the second can have an accent. SQLite finds the names of a range with an index.
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
    // Names whose second letter has an accent.
    let accented = initials
        .iter()
        .flat_map(|&first| [upper(first), first])
        .map(|first| (format!("{first}\u{80}"), format!("{first}{}", char::MAX)));
    plain.chain(accented).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_few_different_letters_are_similar() {
        let distance = |wanted, name: &str| Some(nearest_words(&orders(wanted, Named::Player), name)?.0);
        for (wanted, name, expected) in [
            ("Carlson", "Carlsen, Magnus", Some(1)),
            ("Carlson, M", "Carlsen, Magnus", Some(1)),
            ("Magnus Carlsen", "Carlsen, Magnus", Some(0)),
            ("magnsu", "Carlsen, Magnus", Some(1)),
            ("Mueller", "Müller, Karsten", Some(1)),
            ("Kasparow", "Kasparov, Garry", Some(1)),
            ("Tal", "Taimanov, Mark E", Some(1)),
            ("Carlson", "Kasparov, Garry", None),
            ("Carlsen, Magnus", "Carlsen", None),
            ("Carlsen, Magnus", "Carlsen,M", Some(0)),
            ("Carlsen, H", "Carlsen,M", Some(1)),
            ("Carlsen, Magnus", "Karpov,M", None),
            ("?", "Carlsen", None),
            ("Carlsen", "Hasty, C", None),
            ("Li", "", None),
            ("zz", "Adams, Edwin Ziegler", None),
            ("O'Kely", "O'Kelly, Albéric", Some(1)),
        ] {
            assert_eq!(distance(wanted, name), expected, "{wanted}: {name}");
        }
        let distance = |wanted, name: &str| Some(nearest_words(&orders(wanted, Named::Opening), name)?.0);
        for (wanted, name, expected) in [
            ("Sicilain Defense", "Sicilian Defense: Keres Variation", Some(1)),
            ("Sicilain Defense", "King's Gambit Declined: Keene's Defense", None),
            ("Sicilain Defense", "Zukertort Defense: Sicilian Knight Variation", None),
            ("Kings Gambit", "King's Gambit Accepted", Some(1)),
        ] {
            assert_eq!(distance(wanted, name), expected, "{wanted}: {name}");
        }
    }
}
