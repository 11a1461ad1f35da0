//! Names for whoever is typing one.

use crate::query::{FoundNames, find_names};
use crate::server::answer::{Answer, Problem, Shape};
use crate::server::api::get;
use crate::server::request::{Call, Kind, Param};
use crate::server::route::{Lane, Route};
use crate::store::{Database, Named};

const KINDS: &[&str] = &["player", "event", "site", "opening"];
/// How many names at most, and unless told.
const MOST: u32 = 100;
const LIMIT: u32 = 10;

const PARAMS: &[Param] = &[
    Param::new("kind", Kind::OneOf(KINDS), "Whose names"),
    Param::new("prefix", Kind::Text, "What has been typed of it"),
    Param::new("limit", Kind::Number, "How many names, 100 at most"),
];

pub(super) const ROUTES: &[Route] = &[get(
    "/api/names",
    "Names that begin as somebody has typed",
    &[PARAMS],
    Lane::Quick,
    Shape::json::<FoundNames>(),
    names,
)];

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
