//! A position: its legal moves and its name.

use crate::query::{DescribedPosition, PositionQuery};
use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, POSITION, position};
use crate::server::route::{Lane, Route, get};
use crate::store::Database;

pub(super) const ROUTES: &[Route] = &[get(
    "/api/position",
    "A position with its legal moves, its opening and the line that led to it",
    &[POSITION],
    Lane::Quick,
    Shape::json::<DescribedPosition>(),
    describe,
)];

fn describe(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let query = position(call)?.unwrap_or_else(PositionQuery::start);
    Answer::json(&DescribedPosition::new(database, &query)?)
}
