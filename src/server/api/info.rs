//! What a database holds.

use crate::query::Holdings;
use crate::server::answer::{Answer, JSON, Problem};
use crate::server::api::get;
use crate::server::request::Call;
use crate::server::route::{Lane, Route};
use crate::store::Database;

pub(super) const ROUTES: &[Route] = &[get(
    "/api/info",
    "What the database holds, as `pgndex info --format json` tells it",
    &[],
    Lane::Search,
    JSON,
    info,
)];

fn info(_: &Call, database: &Database) -> Result<Answer, Problem> {
    Answer::json(&Holdings::of(database, false)?)
}
