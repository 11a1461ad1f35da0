//! Moves played from a position.

use crate::board::Color;
use crate::query::{ExploreAnswer, ExploreQuery, MoveTree, PositionQuery};
use crate::server::answer::{Answer, Problem, Shape};
use crate::server::api::get;
use crate::server::request::{Call, FILTER, POSITION, Param, ParamType, filter, position};
use crate::server::route::{Lane, Route};
use crate::store::{Database, Lines, ListLengths};

/// The number of moves counted year by year.
const HISTORY_MOVES: usize = 4;

const SIDE: Param = Param::new(
    "side",
    ParamType::OneOf(&["white", "black"]),
    "Results from this side's view; with player, only games in which the player had this side",
);

const PARAMS: &[Param] = &[
    Param::new("limit", ParamType::Number, "Maximum number of moves, the most frequent first; 0 for all"),
    Param::new("top", ParamType::Number, "Number of the highest rated games, at most 15"),
    Param::new("recent", ParamType::Number, "Number of the latest games, at most 15"),
    Param::new("variations", ParamType::Flag, "Also count the moves of variations, separately"),
    SIDE,
    Param::new("history", ParamType::Flag, "Also the games by year"),
];

const TREE: &[Param] = &[
    Param::new("depth", ParamType::Number, "Depth in half-moves, at most 40; default 4"),
    Param::new(
        "leastShare",
        ParamType::Number,
        "Show moves played in at least this percentage of the games with the first position; default 5",
    ),
    SIDE,
];

pub(super) const ROUTES: &[Route] = &[
    get(
        "/api/explore",
        "What was played from a position, as the JSON of `pgndex explore`",
        &[POSITION, PARAMS, FILTER],
        Lane::Quick,
        Shape::json::<ExploreAnswer>(),
        explore,
    ),
    get(
        "/api/tree",
        "What was played from a position, some moves deep, as the JSON of `pgndex explore`",
        &[POSITION, TREE, FILTER],
        Lane::Search,
        Shape::json::<MoveTree>(),
        tree,
    ),
];

fn explore(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let length = |name, most: u8| {
        let number = call.number(name, most.into())?;
        Ok::<_, Problem>(number.map_or(most, |number| number as u8))
    };
    let lines = if call.flag("variations")? { Lines::All } else { Lines::Main };
    let top = length("top", ListLengths::MAX.top)?;
    let lists = ListLengths { top, recent: length("recent", ListLengths::MAX.recent)? };
    let limit = call.number("limit", u32::MAX)?.filter(|&limit| limit > 0);
    let tells_history = call.flag("history")?;
    ask(call, database, |explore| {
        let explore = ExploreQuery { lines, lists, limit, ..*explore };
        let history = tells_history.then(|| explore.history(HISTORY_MOVES)).transpose()?;
        Answer::json(&ExploreAnswer { explored: explore.answer()?, history, versus: None })
    })
}

fn tree(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let depth = call.number("depth", 40)?.unwrap_or(4);
    let least_share = call.number("leastShare", 100)?.unwrap_or(5);
    ask(call, database, |explore| Answer::json(&explore.tree(depth, least_share.into())?))
}

/// Runs a query for the position, the games and the side of a request.
fn ask(
    call: &Call,
    database: &Database,
    answer: impl FnOnce(&ExploreQuery<'_>) -> Result<Answer, Problem>,
) -> Result<Answer, Problem> {
    let query = position(call)?.unwrap_or_else(PositionQuery::start);
    let side = call.text("side").map(|side| if side == "black" { Color::Black } else { Color::White });
    let filter = filter(call)?;
    let filter = match side {
        Some(side) => filter.with_side(side).map_err(|error| Problem::parameter("side", error))?,
        None => filter,
    };
    let selection = database.select(&filter)?;
    answer(&ExploreQuery {
        database,
        query: &query,
        lines: Lines::Main,
        selection: &selection,
        side,
        lists: ListLengths::NONE,
        limit: None,
        counts_transposed: true,
        openings: None,
    })
}
