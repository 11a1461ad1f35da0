//! Suggests names that probably belong to one player.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::RangeInclusive;

use crate::id::NameId;
use crate::query::name::aliases::Aliases;
use crate::sorted::{distinct, insert, sort_by, sort_by_key};
use crate::store::{self, Database, GamePlayers, Named, PlayerWords, can_be_one_person, have_same_words};

/// The maximum span of years in which one player has games.
const YEARS: u16 = 80;
/// Two names whose years overlap belong to different players if their rating ranges are more than this many
/// points apart.
const RATINGS_APART: u16 = 400;
/// The maximum number of omitted names that are listed.
const NAMED: usize = 3;

/// Names that probably belong to one player, and the omitted names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuggestedAliases {
    /// The suggestions, ordered by name, then by alias.
    pub aliases: Vec<SuggestedAlias>,
    /// Names that are omitted because each could belong to any of several players.
    pub unclear: LeftOut,
    /// Names that are omitted because the games of each have several FIDE numbers.
    pub several_fide_ids: LeftOut,
}

/// Omitted names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of omitted names.
    pub names: u64,
    /// Up to three of the names, each with its number of games, most games first.
    pub most: Vec<(String, u64)>,
}

/// A name that is probably another spelling of a player's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedAlias {
    /// The player's name.
    pub name: String,
    /// The other spelling.
    pub alias: String,
    /// The player's FIDE number; `None` if it is not known for certain.
    pub fide_id: Option<u32>,
    /// Why both names probably belong to one player.
    pub reason: Reason,
    /// The games with the name.
    pub name_games: SpellingGames,
    /// The games with the other spelling.
    pub alias_games: SpellingGames,
}

/// Why two names probably belong to one player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The names have the same FIDE number, and are similar.
    FideNumber,
    /// The names have the same FIDE number, but are not similar.
    FideNumberOnly,
    /// The names consist of the same words.
    SameWords,
    /// One given name is a prefix of the other, or a middle name is missing. In both cases, no other player's
    /// name matches.
    ShorterGivenNames,
    /// The two names are not similar, but each belongs to a group of spellings of one player. A spelling in
    /// one group is similar to a spelling in the other group.
    LikeOthers,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FideNumber => "same FIDE number",
            Self::FideNumberOnly => "same FIDE number, but the names differ",
            Self::SameWords => "same name, written differently",
            Self::ShorterGivenNames => "given names shortened; no other name matches",
            Self::LikeOthers => "similar to another spelling of the same player",
        })
    }
}

/// Data about the games with a spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpellingGames {
    /// The number of games.
    pub games: u64,
    /// The first and the last year, among games whose year is known.
    pub years: Option<RangeInclusive<u16>>,
    /// The lowest and the highest rating.
    pub ratings: Option<RangeInclusive<u16>>,
}

impl SpellingGames {
    fn add(&mut self, year: Option<u16>, rating: Option<u16>) {
        self.games += 1;
        widen(&mut self.years, year);
        widen(&mut self.ratings, rating);
    }

    /// Whether one player could have played the games of both spellings.
    fn can_be_of_one(&self, other: &Self) -> bool {
        let Some((one, other_years)) = self.years.as_ref().zip(other.years.as_ref()) else { return true };
        let of_one_time = one.start().max(other_years.start()) <= one.end().min(other_years.end());
        let are_near = match self.ratings.as_ref().zip(other.ratings.as_ref()) {
            Some((one, other)) if of_one_time => {
                let gap = one.start().max(other.start()).saturating_sub(*one.end().min(other.end()));
                gap <= RATINGS_APART
            }
            _ => true,
        };
        one.end().max(other_years.end()) - one.start().min(other_years.start()) < YEARS && are_near
    }
}

fn widen(range: &mut Option<RangeInclusive<u16>>, value: Option<u16>) {
    if let Some(value) = value {
        *range = Some(match range.take() {
            Some(range) => value.min(*range.start())..=value.max(*range.end()),
            None => value..=value,
        });
    }
}

/// A name and the known data about it.
struct Candidate {
    id: NameId,
    name: String,
    words: PlayerWords,
    /// The player's name, if existing aliases contain the candidate's name.
    player: Option<String>,
    games: SpellingGames,
    /// The FIDE numbers in the games with this name. For a name in existing aliases, only the number in the
    /// aliases. If they have none, only the first number in the games with this name.
    fide_ids: Vec<u32>,
}

/// Names that certainly belong to one player: by FIDE number or by existing aliases.
#[derive(Default)]
struct Unit {
    members: Vec<usize>,
    fide_ids: Vec<u32>,
    player: Option<String>,
}

/// Groups names that probably belong to one player: names with the same FIDE number, and names that match
/// each other. Names that also match the name of another person are omitted. The name of a group is the
/// player's name in existing aliases, or otherwise the name with the most games. Names in existing aliases
/// are not suggested as spellings of other names. But other names can be suggested as spellings of them.
///
/// # Errors
/// Errors of SQLite.
pub fn suggest_aliases(database: &Database) -> store::Result<SuggestedAliases> {
    let snapshot = database.snapshot()?;
    let mut candidates = candidates(database)?;
    let mut alike = SimilarPairs::of(&candidates);
    add_games(database, &mut candidates, &mut alike)?;
    drop(snapshot);
    let units = units(&candidates);
    let mut all = Groups { candidates, alike, units, near: Vec::new() };
    all.near = all.find_near();
    Ok(all.suggest())
}

/// Pairs of candidates whose names can belong to one player; each pair as two indexes, the smaller one first.
struct SimilarPairs(HashSet<(usize, usize)>);

impl SimilarPairs {
    fn of(candidates: &[Candidate]) -> Self {
        let mut blocks: HashMap<(&str, char), Vec<usize>> = HashMap::new();
        for (index, candidate) in candidates.iter().enumerate() {
            for key in keys(&candidate.words) {
                blocks.entry(key).or_default().push(index);
            }
        }
        let mut pairs = HashSet::new();
        for block in blocks.values() {
            for (place, &one) in block.iter().enumerate() {
                let words = &candidates[one].words;
                let fits = |other: &&usize| {
                    let other = &candidates[**other].words;
                    words.marks == other.marks
                        && can_be_one_person(words, other)
                        && !is_whole_beside(words, other)
                        && !is_whole_beside(other, words)
                };
                pairs.extend(block[place + 1..].iter().filter(fits).map(|&other| (one, other)));
            }
        }
        Self(pairs)
    }

    fn has(&self, one: usize, other: usize) -> bool {
        one == other || self.0.contains(&(one.min(other), one.max(other)))
    }

    fn remove(&mut self, one: usize, other: usize) {
        self.0.remove(&(one.min(other), one.max(other)));
    }
}

/// The first word of the surname and the first initial, for each way to read a name. Two spellings of one
/// person's name share at least one of these pairs.
fn keys(words: &PlayerWords) -> Vec<(&str, char)> {
    let key = |surname: usize, given: usize| Some((words.word(surname), words.word(given).chars().next()?));
    let keys = match words.surname() {
        Some(length) => {
            let particles = words.len() - words.particles();
            // A particle at the end can precede the surname; surname and given name can be swapped.
            vec![key(0, length), key(particles % words.len(), length), key(length, 0)]
        }
        None => (1..words.len()).flat_map(|index| [key(0, index), key(index, 0)]).collect(),
    };
    distinct(keys.into_iter().flatten().collect())
}

/// Whether `words` look like a Chinese name, and the other name contains one of them only as the beginning of
/// a longer word: `Xu,Yi` is not short for `Xu,Yinglun`.
fn is_whole_beside(words: &PlayerWords, other: &PlayerWords) -> bool {
    let all = |words: &'_ PlayerWords| 0..words.len();
    let is_shorter = |word: &str| {
        let others = || all(other).map(|index| other.word(index));
        others().all(|other| other != word)
            && others().any(|other| other.len() > word.len() && other.starts_with(word))
    };
    all(words).all(|index| is_pinyin_syllable(words.word(index)))
        && all(words).any(|index| is_shorter(words.word(index)))
}

/// Whether a word is one Pinyin syllable: an optional initial consonant, and a final (the rest).
fn is_pinyin_syllable(word: &str) -> bool {
    const FINALS: [&str; 34] = [
        "a", "ai", "an", "ang", "ao", "e", "ei", "en", "eng", "er", "i", "ia", "ian", "iang", "iao", "ie",
        "in", "ing", "iong", "iu", "o", "ong", "ou", "u", "ua", "uai", "uan", "uang", "ue", "ui", "un", "uo",
        "v", "ve",
    ];
    let begin = word.find(['a', 'e', 'i', 'o', 'u', 'v']).unwrap_or(word.len());
    let (initial, end) = word.split_at(begin);
    let is_initial = match initial {
        "zh" | "ch" | "sh" => true,
        _ => initial.len() < 2 && !initial.starts_with('v'),
    };
    word.len() > 1 && is_initial && FINALS.contains(&end)
}

/// The names in existing aliases, and all other names of at least two words that can belong to one person, in
/// the order of their ids.
fn candidates(database: &Database) -> store::Result<Vec<Candidate>> {
    let aliases = Aliases::read(database)?;
    let mut candidates = Vec::new();
    database.walk_names(Named::Player, None, &mut |id, name| {
        let mut words = PlayerWords::default();
        words.read(name);
        let player = aliases.player_of(name);
        if player.is_some() || can_be_of_one_person(name, &words) {
            candidates.push(Candidate {
                id: NameId(id),
                name: name.to_owned(),
                words,
                player: player.map(str::to_owned),
                games: SpellingGames::default(),
                fide_ids: player.and_then(|player| aliases.fide_id(player)).into_iter().collect(),
            });
        }
        true
    })?;
    Ok(candidates)
}

/// Whether a name looks like that of one person, not of a program, of a team or of consulting players.
fn can_be_of_one_person(name: &str, words: &PlayerWords) -> bool {
    let is_name =
        |word: &str| word.starts_with(char::is_alphabetic) && !matches!(word, "and" | "und" | "team");
    words.len() > 1
        && !name.contains([':', ';', '&', '+', '/', '\\', '@', '#', '_'])
        && (0..words.len()).all(|index| is_name(words.word(index)))
}

/// Adds the data of all games to the candidates. If the names of the two players of a game are a pair in
/// `alike`, removes the pair, because the names do not belong to one player.
fn add_games(
    database: &Database,
    candidates: &mut [Candidate],
    alike: &mut SimilarPairs,
) -> store::Result<()> {
    let places: HashMap<NameId, usize> =
        candidates.iter().enumerate().map(|(place, candidate)| (candidate.id, place)).collect();
    database.visit_game_players(|game: &GamePlayers| {
        let found = game.names.map(|name| name.and_then(|name| places.get(&name).copied()));
        for (side, place) in found.iter().enumerate() {
            let Some(candidate) = place.map(|place| &mut candidates[place]) else { continue };
            candidate.games.add(game.year, game.ratings[side]);
            if candidate.player.is_none() || candidate.fide_ids.is_empty() {
                game.fide_ids[side].into_iter().for_each(|number| insert(&mut candidate.fide_ids, number));
            }
        }
        if let [Some(white), Some(black)] = found {
            alike.remove(white, black);
        }
    })
}

/// Groups names that certainly belong to one player.
fn units(candidates: &[Candidate]) -> Vec<Unit> {
    let (mut units, mut of_player, mut of_number) = (Vec::<Unit>::new(), HashMap::new(), HashMap::new());
    let mut order: Vec<_> = (0..candidates.len()).collect();
    sort_by_key(&mut order, |&place| candidates[place].player.is_none());
    for place in order {
        let candidate = &candidates[place];
        let number = candidate.fide_ids.first().filter(|_| candidate.fide_ids.len() == 1);
        let known = match &candidate.player {
            Some(player) => of_player.get(player),
            None => number.and_then(|number| of_number.get(number)),
        };
        let unit = known.copied().unwrap_or_else(|| {
            units.push(Unit::default());
            units.len() - 1
        });
        units[unit].members.push(place);
        candidate.fide_ids.iter().for_each(|&number| insert(&mut units[unit].fide_ids, number));
        units[unit].player = units[unit].player.take().or_else(|| candidate.player.clone());
        of_player.extend(candidate.player.as_ref().map(|player| (player, unit)));
        if let Some(&number) = number {
            of_number.entry(number).or_insert(unit);
        }
    }
    units
}

/// Units, and which of them can be one player.
struct Groups {
    candidates: Vec<Candidate>,
    alike: SimilarPairs,
    units: Vec<Unit>,
    /// For each unit, the units that it matches.
    near: Vec<Vec<usize>>,
}

impl Groups {
    fn find_near(&self) -> Vec<Vec<usize>> {
        let mut unit_of = vec![0; self.candidates.len()];
        for (unit, Unit { members, .. }) in self.units.iter().enumerate() {
            members.iter().for_each(|&member| unit_of[member] = unit);
        }
        let mut near = vec![Vec::new(); self.units.len()];
        for &(one, other) in &self.alike.0 {
            let units = [unit_of[one], unit_of[other]];
            if units[0] != units[1] && self.fits(units, [one, other]) {
                insert(&mut near[units[0]], units[1]);
                insert(&mut near[units[1]], units[0]);
            }
        }
        near
    }

    /// Whether two units can be one player, given that `one`, a name of the first unit, matches `other`, a
    /// name of the second. Short names match too many names. So each name of the first unit that matches `one`
    /// must match `other` too. Likewise, each name of the second unit that matches `other` must match `one`.
    fn fits(&self, units: [usize; 2], [one, other]: [usize; 2]) -> bool {
        let [one_unit, other_unit] = units.map(|unit| &self.units[unit]);
        let numbers = one_unit.fide_ids.first().zip(other_unit.fide_ids.first());
        let differ = numbers.is_some_and(|(one, other)| one != other);
        // A unit with several FIDE numbers can be more than one person, so its numbers do not rule out the
        // other unit.
        let is_several = one_unit.fide_ids.len() > 1 || other_unit.fide_ids.len() > 1;
        let all_like = |unit: &Unit, name: usize, other: usize| {
            let like = unit.members.iter().filter(|&&member| self.alike.has(member, name));
            like.copied().all(|member| self.alike.has(member, other))
        };
        (is_several || !differ)
            && !(one_unit.player.is_some() && other_unit.player.is_some())
            && self.candidates[one].games.can_be_of_one(&self.candidates[other].games)
            && all_like(one_unit, one, other)
            && all_like(other_unit, other, one)
    }

    /// Whether a unit and all units that it matches can be one player: all of them match each other, and none
    /// has several FIDE numbers.
    fn is_clear(&self, unit: usize) -> bool {
        let near: Vec<usize> = self.near[unit].iter().copied().chain([unit]).collect();
        let fit = |one: usize, other: usize| self.near[one].binary_search(&other).is_ok();
        let all_fit = || {
            near.iter().enumerate().all(|(place, &one)| near[..place].iter().all(|&other| fit(one, other)))
        };
        near.iter().all(|&unit| self.units[unit].fide_ids.len() < 2) && all_fit()
    }

    fn suggest(&self) -> SuggestedAliases {
        let is_clear: Vec<bool> = (0..self.units.len()).map(|unit| self.is_clear(unit)).collect();
        let mut suggested = SuggestedAliases::default();
        let (mut unclear, mut several) = (Vec::new(), Vec::new());
        for (unit, Unit { members, fide_ids, player }) in self.units.iter().enumerate() {
            if !is_clear[unit] && player.is_none() {
                let left_out = if fide_ids.len() > 1 { &mut several } else { &mut unclear };
                left_out.extend(members.iter().filter(|_| members.len() == 1));
            }
            let others = self.near[unit].iter().copied().filter(|&other| is_clear[unit] && is_clear[other]);
            let group = distinct(others.chain([unit]).collect());
            // Each group is added only once, for its first unit.
            if group.first() == Some(&unit) {
                suggested.aliases.extend(self.aliases_of(&group));
            }
        }
        sort_by(&mut suggested.aliases, |one, other| {
            (&one.name, &one.alias).cmp(&(&other.name, &other.alias))
        });
        suggested.unclear = self.left_out(unclear);
        suggested.several_fide_ids = self.left_out(several);
        suggested
    }

    fn left_out(&self, names: Vec<usize>) -> LeftOut {
        let mut most: Vec<_> = names
            .iter()
            .map(|&place| &self.candidates[place])
            .map(|candidate| (candidate.name.clone(), candidate.games.games))
            .collect();
        sort_by(&mut most, |one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        most.truncate(NAMED);
        LeftOut { names: names.len() as u64, most }
    }

    fn aliases_of(&self, group: &[usize]) -> Vec<SuggestedAlias> {
        let units = || group.iter().map(|&unit| &self.units[unit]);
        let members =
            || units().flat_map(|unit| &unit.members).map(|&place| (place, &self.candidates[place]));
        // The name from existing aliases; otherwise the name with the most games. Of several names with the
        // most games, the longest.
        let Some((head, first)) = members().min_by(|(_, one), (_, other)| {
            let key = |candidate: &Candidate| {
                let is_name = candidate.player.as_ref() == Some(&candidate.name);
                let most = (candidate.games.games, candidate.name.len());
                (candidate.player.is_none(), !is_name, std::cmp::Reverse(most))
            };
            key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
        }) else {
            return Vec::new();
        };
        let fide_ids = distinct(units().flat_map(|unit| unit.fide_ids.iter().copied()).collect());
        let fide_id = fide_ids.first().copied().filter(|_| fide_ids.len() == 1);
        let aliases = members().filter(|&(place, alias)| place != head && alias.player.is_none());
        let row = |(place, alias): (usize, &Candidate)| SuggestedAlias {
            name: first.player.as_ref().unwrap_or(&first.name).clone(),
            alias: alias.name.clone(),
            fide_id,
            reason: self.reason(head, place),
            name_games: first.games.clone(),
            alias_games: alias.games.clone(),
        };
        aliases.map(row).collect()
    }

    fn reason(&self, name: usize, alias: usize) -> Reason {
        let [one, other] = [name, alias].map(|place| &self.candidates[place]);
        let has_number = !one.fide_ids.is_empty() && one.fide_ids == other.fide_ids;
        match (has_number, self.alike.has(name, alias)) {
            (true, true) => Reason::FideNumber,
            (true, false) => Reason::FideNumberOnly,
            (false, true) if have_same_words(&one.words, &other.words) => Reason::SameWords,
            (false, true) => Reason::ShorterGivenNames,
            (false, false) => Reason::LikeOthers,
        }
    }
}
