//! Names that are probably those of one player.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::id::NameId;
use crate::query::aliases::Aliases;
use crate::store::{self, Database, Named, PlayerAlias, PlayerWords, can_be_one_person};

/// A name and what is known of it.
struct Candidate {
    name: String,
    /// The player's name, if somebody has said which names are one player's, and this is one of them.
    player: Option<String>,
    words: PlayerWords,
    games: u64,
}

/// Groups of names that are probably those of one player: names that can be, where none of them can be that of somebody else too. The name
/// of a group is the one with the most games. Of names of which something is said already nothing more is.
///
/// # Errors
/// What SQLite says.
pub fn suggest_aliases(database: &Database) -> store::Result<Vec<PlayerAlias>> {
    let candidates = candidates(database)?;
    let mut blocks: HashMap<(&str, char), Vec<usize>> = HashMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        for key in keys(&candidate.words) {
            blocks.entry(key).or_default().push(index);
        }
    }
    let mut suggested = vec![None; candidates.len()];
    for block in blocks.values() {
        suggest_in(&candidates, block, &mut suggested);
    }
    let rows = (0..candidates.len()).filter_map(|alias| {
        let mut name = suggested[alias]?;
        while let Some(next) = suggested[name] {
            name = next; // Each has a smaller number than the one before.
        }
        let (alias, name) = (&candidates[alias], &candidates[name]);
        let fits = can_be_one_person(&alias.words, &name.words);
        let (alias, name) = (alias.name.clone(), name.player.as_ref().unwrap_or(&name.name).clone());
        fits.then_some(PlayerAlias { alias, name, fide_id: None })
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|one, other| (&one.name, &one.alias).cmp(&(&other.name, &other.alias)));
    Ok(rows)
}

/// The first word of the surname and the first initial, for each way to read a name: spellings of one person share such a pair.
fn keys(words: &PlayerWords) -> BTreeSet<(&str, char)> {
    let key = |surname: usize, given: usize| Some((words.word(surname), words.word(given).chars().next()?));
    match words.surname() {
        Some(length) => key(0, length).into_iter().collect(),
        None => (1..words.len()).flat_map(|index| [key(0, index), key(index, 0)]).flatten().collect(),
    }
}

/// The names of two words or more, each of one player, most games first.
fn candidates(database: &Database) -> store::Result<Vec<Candidate>> {
    let aliases = Aliases::read(database)?;
    let known = aliases.rows();
    let known: HashSet<&str> = known.iter().flat_map(|row| [row.alias.as_str(), row.name.as_str()]).collect();
    let (mut ids, mut candidates) = (Vec::new(), Vec::new());
    database.walk_names(Named::Player, None, |id, name| {
        let mut words = PlayerWords::default();
        words.read(name);
        // A colon stands between players who consulted each other.
        if words.len() > 1 && !name.contains(':') {
            let player = known.contains(name).then(|| aliases.name_of(name).to_owned());
            ids.push(vec![NameId(id)]);
            candidates.push(Candidate { name: name.to_owned(), player, words, games: 0 });
        }
        true
    })?;
    for (candidate, count) in candidates.iter_mut().zip(database.player_games(&ids)?) {
        candidate.games = count.games;
    }
    // Those of whom something is said come first: others may be theirs.
    candidates.sort_by(|one, other| {
        let key = |candidate: &Candidate| (candidate.player.is_some(), candidate.games);
        key(other).cmp(&key(one)).then_with(|| one.name.cmp(&other.name))
    });
    Ok(candidates)
}

/// Suggests names among those that share a word. They are in the order of their games.
fn suggest_in(candidates: &[Candidate], block: &[usize], suggested: &mut [Option<usize>]) {
    let fits = |&one: &usize, &other: &usize| {
        let (one, other) = (&candidates[one], &candidates[other]);
        let is_known = one.player.is_some() && one.player == other.player;
        is_known || can_be_one_person(&one.words, &other.words)
    };
    for alias in block.iter().filter(|&&alias| candidates[alias].player.is_none()) {
        let near: Vec<usize> =
            block.iter().copied().filter(|other| other != alias && fits(alias, other)).collect();
        let Some(&first) = near.first() else { continue };
        // Whoever else fits must be the same person: an initial may be that of two.
        let is_clear = near
            .iter()
            .enumerate()
            .all(|(index, one)| near[index + 1..].iter().all(|other| fits(one, other)));
        if is_clear && first < *alias && suggested[*alias].is_none() {
            suggested[*alias] = Some(first);
        }
    }
}
