//! Completes names, and reports names in filters that match several players or nothing.

use serde::Serialize;

use crate::query::{FoundNames, SeveralPlayers, SimilarNames, find_names, several_players, similar_names};
use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, FILTER, Param, ParamType, filter};
use crate::server::route::{Lane, Route, get};
use crate::store::{Database, Named};

/// The maximum number of players listed if a filter's name matches several.
pub(super) const NAMED: usize = 6;
const KINDS: &[&str] = &["player", "event", "site", "opening"];
/// The maximum and default number of names.
const MOST: u32 = 100;
const LIMIT: u32 = 10;

const PARAMS: &[Param] = &[
    Param::new("kind", ParamType::OneOf(KINDS), "The kind of names; default player"),
    Param::new(
        "prefix",
        ParamType::Text,
        "The beginning of the name or of one of its words; without it, all names match",
    ),
    Param::new("limit", ParamType::Number, "Maximum number of names, at most 100; default 10"),
];

pub(super) const ROUTES: &[Route] = &[
    get(
        "/api/names",
        "Names that begin with the given letters, or contain a word that begins with them",
        &[PARAMS],
        Lane::Quick,
        Shape::json::<FoundNames>(),
        names,
    ),
    get(
        "/api/filter",
        "Names in filters that match several players, or nothing",
        &[FILTER],
        Lane::Quick,
        Shape::json::<MatchingNames>(),
        fitting,
    ),
];

/// Names in filters that match several players, or nothing.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct MatchingNames {
    /// Names that match several players.
    several_players: Vec<SeveralPlayers>,
    /// Names that do not occur in the database.
    unknown_names: Vec<SimilarNames>,
}

fn names(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let named = match call.text("kind") {
        Some("event") => Named::Event,
        Some("site") => Named::Site,
        Some("opening") => Named::Opening,
        _ => Named::Player,
    };
    let limit = call.number("limit", MOST)?.unwrap_or(LIMIT);
    Answer::json(&find_names(database, named, call.text("prefix").unwrap_or_default(), limit as usize)?)
}

fn fitting(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let selection = database.select(&filter(call)?)?;
    Answer::json(&MatchingNames {
        several_players: several_players(database, &selection, NAMED)?,
        unknown_names: similar_names(database, &selection)?,
    })
}
