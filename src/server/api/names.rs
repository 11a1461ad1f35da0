//! Completes names, and reports what the names of filters match.

use serde::Serialize;

use crate::query::{FoundNames, NearNames, SeveralPlayers, find_names, near_names, several_players};
use crate::server::answer::{Answer, Problem, Shape};
use crate::server::api::{NAMED, get};
use crate::server::request::{Call, FILTER, Kind, Param, filter};
use crate::server::route::{Lane, Route};
use crate::store::{Database, Named};

const KINDS: &[&str] = &["player", "event", "site", "opening"];
/// The maximum and default number of names.
const MOST: u32 = 100;
const LIMIT: u32 = 10;

const PARAMS: &[Param] = &[
    Param::new("kind", Kind::OneOf(KINDS), "Whose names"),
    Param::new("prefix", Kind::Text, "The beginning of the name"),
    Param::new("limit", Kind::Number, "Number of names, at most 100"),
];

pub(super) const ROUTES: &[Route] = &[
    get(
        "/api/names",
        "Names that begin with a text",
        &[PARAMS],
        Lane::Quick,
        Shape::json::<FoundNames>(),
        names,
    ),
    get(
        "/api/filter",
        "The players that names in filters match: several, or none",
        &[FILTER],
        Lane::Quick,
        Shape::json::<Fitting>(),
        fitting,
    ),
];

/// Whom the names of filters fit, where that is not one.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct Fitting {
    /// Names that fit several players.
    several_players: Vec<SeveralPlayers>,
    /// Names that nobody bears.
    unknown_names: Vec<NearNames>,
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
    Answer::json(&Fitting {
        several_players: several_players(database, &selection, NAMED)?,
        unknown_names: near_names(database, &selection)?,
    })
}
