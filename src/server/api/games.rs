//! Games that pass filters, reached a position or passed what is described, page by page.

use serde::Serialize;

use crate::query::{Find, FindTarget, FoundPosition, NearNames, Nothing, Total, near_names};
use crate::server::answer::{Answer, JSON, Problem};
use crate::server::api::get;
use crate::server::request::{Call, FILTER, Kind, POSITION, Param, TARGET, filter, target};
use crate::server::route::{Lane, Route};
use crate::store::{Database, Hit, HitOrder, Lines, Seek as _};

/// How many games a page has at most, and unless told.
const MOST: u32 = 500;
const LIMIT: u32 = 50;

const ORDERS: &[&str] = &["game", "rating", "date"];

pub(super) const SORT: Param = Param::new(
    "sort",
    Kind::OneOf(ORDERS),
    "The order: by number, by mean rating (best first), by date (latest first)",
);

const PARAMS: &[Param] = &[
    SORT,
    Param::new("limit", Kind::Number, "How many on a page, 500 at most"),
    Param::new("cursor", Kind::Text, "Where the page begins: nextCursor of the page before"),
    Param::new("variations", Kind::Flag, "Look into the variations of games too"),
];

pub(super) const ROUTES: &[Route] = &[get(
    "/api/games",
    "Games that pass filters, reached a position or passed what is described, page by page",
    &[POSITION, TARGET, PARAMS, FILTER],
    Lane::Search,
    JSON,
    games,
)];

/// A page of games.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'h> {
    games: Vec<FoundPosition<'h>>,
    /// How many of how many these are; `None` if there are none.
    total: Option<Total>,
    /// Where the next page begins; `None` at the end.
    next_cursor: Option<String>,
    /// Why there are none.
    nothing: Option<Nothing>,
    /// Names in filters that nobody bears.
    unknown_names: Vec<NearNames>,
}

fn games(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let target = target(call)?;
    let selection = database.select(&filter(call)?)?;
    let limit = call.number("limit", MOST)?.unwrap_or(LIMIT).max(1);
    let lines = if call.flag("variations")? { Lines::All } else { Lines::Main };
    if lines == Lines::All && matches!(&target, FindTarget::Course(course) if course.asks_for_moves()) {
        return Err(Problem::parameter("move", "looks at what was played; leave variations out"));
    }
    let offset = cursor(call)?;
    let find = Find {
        database,
        target: &target,
        lines,
        selection: &selection,
        order: order(call.text("sort")),
        limit: Some(limit),
        offset,
    };
    let mut hits: Vec<Hit> = Vec::new();
    let shown = find.visit(|hit| {
        hits.push(hit.clone());
        true
    })?;
    let found = hits.iter().map(|hit| FoundPosition::of(hit, lines)).collect::<Result<Vec<_>, _>>()?;
    let total = if found.is_empty() { None } else { Some(find.total(&shown)?) };
    let next = total.filter(|total| total.is_more).map(|_| offset + found.len() as u32);
    Answer::json(&Page {
        next_cursor: next.map(|next| format!("o{next}")),
        nothing: if found.is_empty() { Some(find.nothing()?) } else { None },
        unknown_names: near_names(database, &selection)?,
        games: found,
        total,
    })
}

pub(super) fn order(word: Option<&str>) -> HitOrder {
    match word {
        Some("rating") => HitOrder::Rating,
        Some("date") => HitOrder::Date,
        _ => HitOrder::Game,
    }
}

fn cursor(call: &Call) -> Result<u32, Problem> {
    let Some(cursor) = call.text("cursor") else { return Ok(0) };
    let read = cursor.strip_prefix('o').and_then(|offset| offset.parse().ok());
    read.ok_or_else(|| Problem::parameter("cursor", "take nextCursor of the page before as it is"))
}
