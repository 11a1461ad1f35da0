//! Explains why no game passes all filters: finds each filter without which some games pass, or values with
//! which games pass.

use crate::board::Position;
use crate::query::{PositionSequence, several_players};
use crate::sorted::sort_by_key;
use crate::store::read_rows;
use crate::store::{self, Database, GameFilter, HitOrder, Lines, ListLengths, Scan};

/// A field of a filter. No game passes the whole filter, but some games pass it without this field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithoutFilter {
    /// The name of the field in [`GameFilter`].
    pub field: &'static str,
    /// The number of games that pass the filter without this field.
    pub games: u64,
}

/// The games among which [`without_one_filter`] counts.
#[derive(Clone, Copy, Debug)]
pub enum CountedGames<'a> {
    /// All games.
    All,
    /// Games that reached a position.
    Reached {
        /// The position.
        position: &'a Position,
        /// Whether only games with a result are counted. If no game has a result, all games are counted.
        finished: bool,
    },
    /// Games with a match of a sequence. If they cannot be counted quickly, none is counted.
    Matching {
        /// The sequence.
        sequence: &'a PositionSequence,
        /// The lines to search.
        lines: Lines,
    },
}

/// For a filter that no counted game passes: omits one field at a time, and counts the games that pass the
/// other fields. Returns the fields without which some games pass, most games first.
///
/// # Errors
/// Errors of SQLite.
pub fn without_one_filter(
    database: &Database,
    filter: &GameFilter,
    counted: CountedGames<'_>,
) -> store::Result<Vec<WithoutFilter>> {
    let mut found = Vec::new();
    for (field, others) in without_each(filter) {
        let selection = database.select(&others)?;
        let games = match counted {
            CountedGames::All => database.count_games_of(&selection)?,
            CountedGames::Matching { sequence, lines } => {
                let order = HitOrder::default();
                let scan = Scan { lines, selection: &selection, order, limit: None, offset: 0 };
                database.count_scanned(&scan, sequence)?.unwrap_or(0)
            }
            CountedGames::Reached { position, finished } => {
                let (key, fen, lists) = (position.key(), position.canonical_fen(), ListLengths::NONE);
                let explored = database.explore(key, &fen, &selection, lists.into())?;
                match explored.results.games() {
                    games if finished && games > 0 => games,
                    games => games + explored.unfinished,
                }
            }
        };
        if games > 0 {
            found.push(WithoutFilter { field, games });
        }
    }
    sort_by_key(&mut found, |without| std::cmp::Reverse(without.games));
    Ok(found)
}

/// Whether a filter requires one player on both sides, and no game has this player on both sides.
///
/// # Errors
/// Errors of SQLite.
pub fn is_one_player_twice(database: &Database, filter: &GameFilter) -> store::Result<bool> {
    let GameFilter { white, black, player, opponent, .. } = filter.clone();
    let names = GameFilter { white, black, player, opponent, ..GameFilter::default() };
    let selection = database.select(&names)?;
    let players = |field| selection.players().iter().find(|known| known.field == field);
    let is_twice = [["player", "opponent"], ["white", "black"]].into_iter().any(|fields| {
        let [one, other] = fields.map(|field| players(field).map(|known| &known.ids));
        one.is_some() && one == other
    });
    // If the names match several players, these can have played each other.
    Ok(is_twice
        && several_players(database, &selection, 1)?.is_empty()
        && database.count_games_of(&selection)? == 0)
}

/// If no game passes a filter: values with which games pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlternativeValues {
    /// The first and the last date of the games; `None` if no game has a known year.
    Dates(Option<(String, String)>),
    /// There is no game in which both ratings are known.
    NoRatings,
    /// There is no game with evaluations.
    NoEvaluations,
    /// For `elo_min`, the highest value with which a game passes; for `elo_max`, the lowest.
    Rating(String),
    /// The number of half-moves of the longest game for `plies_min`, of the shortest for `plies_max`.
    Plies(u64),
    /// At most five values: the most frequent ones in the first 100,000 games.
    Values(Vec<String>),
}

/// For each field that excludes all games even without the other fields: its name in [`GameFilter`], and
/// values with which games pass. For some fields, there are no such values.
///
/// # Errors
/// Errors of SQLite.
pub fn alternative_values(
    database: &Database,
    filter: &GameFilter,
) -> store::Result<Vec<(&'static str, Option<AlternativeValues>)>> {
    let mut found = Vec::new();
    for (field, only) in only_each(filter) {
        if !passes(database, &only)? {
            found.push((field, alternative(database, field)?));
        }
    }
    Ok(found)
}

/// Whether a game passes a filter.
fn passes(database: &Database, filter: &GameFilter) -> store::Result<bool> {
    Ok(database.count_games_of(&database.select(filter)?)? > 0)
}

/// For a field that excludes all games: values that would let games pass, if there are any.
fn alternative(database: &Database, field: &str) -> store::Result<Option<AlternativeValues>> {
    let values = |sql: &str| -> store::Result<Vec<String>> {
        let read = || read_rows(&mut database.connection().prepare(sql)?, [], |row| row.get(0));
        let failed = |source| store::Error::sqlite(database.path(), "read the values of games", source);
        let found: Vec<Option<String>> = read().map_err(failed)?;
        Ok(found.into_iter().flatten().collect())
    };
    Ok(Some(match field {
        "since" | "until" => {
            let end = |order: &str| {
                // In text order, '?' follows the digits.
                values(&format!(
                    "SELECT date FROM game WHERE date GLOB '[0-9][0-9][0-9][0-9]*' AND status <> 'skipped'
                     ORDER BY replace(date, '?', '0') {order} LIMIT 1"
                ))
            };
            let ends = [end("ASC")?, end("DESC")?].concat();
            AlternativeValues::Dates(<[_; 2]>::try_from(ends).ok().map(Into::into))
        }
        "elo_min" | "elo_max"
            if !passes(database, &GameFilter { elo_min: Some(0), ..GameFilter::default() })? =>
        {
            AlternativeValues::NoRatings
        }
        "elo_min" | "elo_max" => {
            let best = if field == "elo_min" {
                "SELECT CAST(max(min(white_elo, black_elo)) AS TEXT) FROM game WHERE status <> 'skipped'"
            } else {
                "SELECT CAST(min(max(white_elo, black_elo)) AS TEXT) FROM game WHERE status <> 'skipped'"
            };
            let Some(rating) = values(best)?.pop() else { return Ok(None) };
            AlternativeValues::Rating(rating)
        }
        "plies_min" | "plies_max" => {
            let most = if field == "plies_min" { "max" } else { "min" };
            let best = format!("SELECT CAST({most}(ply_count) AS TEXT) FROM game WHERE status <> 'skipped'");
            let plies = values(&best)?.pop().and_then(|plies| plies.parse().ok());
            let Some(plies) = plies else { return Ok(None) };
            AlternativeValues::Plies(plies)
        }
        "with_evals" => AlternativeValues::NoEvaluations,
        "time_control" | "termination" | "variant" | "speeds" => {
            let column = if field == "speeds" { "speed" } else { field };
            AlternativeValues::Values(values(&format!(
                "SELECT {column} FROM (SELECT {column} FROM game LIMIT 100000)
                 WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 5"
            ))?)
        }
        _ => return Ok(None),
    }))
}

/// The number of given filters.
#[must_use]
pub fn filters_given(filter: &GameFilter) -> usize {
    without_each(filter).count()
}

type ClearField = fn(&mut GameFilter);

const FIELDS: [(&str, ClearField); 22] = [
    ("white", |filter| filter.white = None),
    ("black", |filter| filter.black = None),
    ("player", |filter| filter.player = None),
    ("opponent", |filter| filter.opponent = None),
    ("elo_min", |filter| filter.elo_min = None),
    ("elo_max", |filter| filter.elo_max = None),
    ("since", |filter| filter.since = None),
    ("until", |filter| filter.until = None),
    ("result", |filter| filter.result = None),
    ("eco", |filter| filter.eco = None),
    ("opening_eco", |filter| filter.opening_eco = None),
    ("event", |filter| filter.event = None),
    ("site", |filter| filter.site = None),
    ("opening", |filter| filter.opening = None),
    ("speeds", |filter| filter.speeds.clear()),
    ("time_control", |filter| filter.time_control = None),
    ("termination", |filter| filter.termination = None),
    ("plies_min", |filter| filter.plies_min = None),
    ("plies_max", |filter| filter.plies_max = None),
    ("with_evals", |filter| filter.with_evals = false),
    ("sources", |filter| filter.sources.clear()),
    ("variant", |filter| filter.variant = None),
];

/// For each field that is set: its name, and the filter without it.
fn without_each(filter: &GameFilter) -> impl Iterator<Item = (&'static str, GameFilter)> {
    FIELDS.into_iter().filter_map(move |(field, take_away)| {
        let mut others = filter.clone();
        take_away(&mut others);
        (others != *filter).then_some((field, others))
    })
}

/// For each field that is set: its name, and the filter with this field alone.
fn only_each(filter: &GameFilter) -> impl Iterator<Item = (&'static str, GameFilter)> {
    without_each(filter).map(|(field, _)| {
        let mut only = filter.clone();
        let others = FIELDS.iter().filter(|(other, _)| *other != field);
        others.for_each(|(_, take_away)| take_away(&mut only));
        (field, only)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_can_be_removed() {
        // Without `..`, so that a new field must be added here; the check below then requires it in `FIELDS`
        // too.
        let all = GameFilter {
            white: "a".parse().ok(),
            black: "a".parse().ok(),
            player: "a".parse().ok(),
            opponent: "a".parse().ok(),
            elo_min: Some(1),
            elo_max: Some(1),
            since: "2000".parse().ok(),
            until: "2000".parse().ok(),
            result: Some(crate::board::GameResult::Draw),
            eco: "B".parse().ok(),
            opening_eco: "B".parse().ok(),
            event: "a".parse().ok(),
            site: "a".parse().ok(),
            opening: "a".parse().ok(),
            speeds: vec![crate::pgn::Speed::Blitz],
            time_control: Some("60".to_owned()),
            termination: Some("a".to_owned()),
            plies_min: Some(1),
            plies_max: Some(1),
            with_evals: true,
            sources: vec!["a".into()],
            variant: Some("a".to_owned()),
        };
        assert_eq!(without_each(&all).count(), FIELDS.len());
        let mut none = all;
        FIELDS.into_iter().for_each(|(_, take_away)| take_away(&mut none));
        assert!(none.is_empty() && without_each(&none).next().is_none());
    }
}
