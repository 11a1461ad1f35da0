//! What was played from a position.

use crate::query::{Explore, PositionQuery};
use crate::server::answer::{Answer, JSON, Problem};
use crate::server::api::get;
use crate::server::request::{Call, FILTER, Kind, POSITION, Param, filter, position};
use crate::server::route::{Lane, Route};
use crate::store::{Database, Lines, ListLengths};

const PARAMS: &[Param] = &[
    Param::new("limit", Kind::Number, "How many moves at most, the most frequent first; 0 for all"),
    Param::new("top", Kind::Number, "How many of the highest rated games, 15 at most"),
    Param::new("recent", Kind::Number, "How many of the latest games, 15 at most"),
    Param::new("variations", Kind::Flag, "Count the moves of variations too, apart from what was played"),
];

pub(super) const ROUTES: &[Route] = &[get(
    "/api/explore",
    "What was played from a position, as `pgndex explore` tells it in JSON",
    &[POSITION, PARAMS, FILTER],
    Lane::Quick,
    JSON,
    explore,
)];

fn explore(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let query = position(call)?.unwrap_or_else(PositionQuery::start);
    let selection = database.select(&filter(call)?)?;
    let length = |name, most: u8| {
        let number = call.number(name, most.into())?;
        Ok::<_, Problem>(number.map_or(most, |number| number as u8))
    };
    let explore = Explore {
        database,
        query: &query,
        lines: if call.flag("variations")? { Lines::All } else { Lines::Main },
        selection: &selection,
        lists: ListLengths {
            top: length("top", ListLengths::MAX.top)?,
            recent: length("recent", ListLengths::MAX.recent)?,
        },
        limit: call.number("limit", u32::MAX)?.filter(|&limit| limit > 0),
        openings: None,
    };
    Answer::json(&explore.answer()?)
}
