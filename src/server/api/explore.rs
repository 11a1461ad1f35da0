//! A position, and the moves played from it.

use crate::query::{DescribedPosition, ExploreAnswer, ExploreQuery, MoveTree, PositionQuery};
use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, FILTER, POSITION, Param, ParamType, filter, position};
use crate::server::route::{Lane, Route, route};
use crate::store::{Database, Lines, ListLengths};

/// The maximum number of moves whose games are also counted by year. The most frequent moves are chosen.
const HISTORY_MOVES: usize = 4;

const SIDE: Param = Param::new(
    "side",
    ParamType::OneOf(&["white", "black"]),
    "Also return this side's performance and its opponents' mean rating; with player, count only games with the player on this side",
);

const PARAMS: &[Param] = &[
    Param::number(
        "limit",
        0..=u32::MAX,
        "Maximum number of moves, the most frequent first; 0 (the default): all",
    ),
    Param::number("top", 0..=15, "Maximum number of games in the list of top-rated games; default 15"),
    Param::number("recent", 0..=15, "Maximum number of games in the list of latest games; default 15"),
    Param::flag("variations", "Also count moves in variations, separately from played moves"),
    SIDE,
    Param::flag("history", "Also count the games by year"),
];

const TREE: &[Param] = &[
    Param::number("depth", 0..=40, "Depth of the tree in half-moves, at most 40; default 4"),
    Param::number(
        "leastShare",
        0..=100,
        "Return moves played in at least this percentage of the games with the first position; default 5",
    ),
    SIDE,
];

pub(super) const ROUTES: &[Route] = &[
    route("/api/position", describe, Lane::Quick, Shape::json::<DescribedPosition>())
        .about("A position with its legal moves, its opening and the line that led to it", &[POSITION]),
    route("/api/explore", explore, Lane::Quick, Shape::json::<ExploreAnswer>()).about(
        "The moves played from a position and their results, in the JSON format of `pgndex explore`",
        &[POSITION, PARAMS, FILTER],
    ),
    route("/api/tree", tree, Lane::Search, Shape::json::<MoveTree>()).about(
        "The moves played from a position as a tree, in the JSON format of `pgndex explore`",
        &[POSITION, TREE, FILTER],
    ),
];

fn describe(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let query = position(call)?.unwrap_or_else(PositionQuery::start);
    Answer::json(&DescribedPosition::new(database, &query)?)
}

fn explore(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let lines = if call.flag("variations")? { Lines::All } else { Lines::Main };
    let ListLengths { top, recent } = ListLengths::MAX;
    let lists = ListLengths {
        top: call.number("top").unwrap_or(top),
        recent: call.number("recent").unwrap_or(recent),
    };
    let limit = call.limit();
    let with_history = call.flag("history")?;
    with_query(call, database, |explore| {
        let explore = ExploreQuery { lines, lists, limit, ..*explore };
        let history = with_history.then(|| explore.history(HISTORY_MOVES)).transpose()?;
        Answer::json(&ExploreAnswer { explored: explore.answer()?, history, versus: None })
    })
}

fn tree(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let depth = call.number("depth").unwrap_or(4);
    let least_share = call.number("leastShare").unwrap_or(5);
    with_query(call, database, |explore| Answer::json(&explore.tree(depth, least_share)?))
}

/// Builds the query for the position, the games and the side of a request, and passes it to `answer`.
fn with_query(
    call: &Call,
    database: &Database,
    answer: impl FnOnce(&ExploreQuery<'_>) -> Result<Answer, Problem>,
) -> Result<Answer, Problem> {
    let query = position(call)?.unwrap_or_else(PositionQuery::start);
    let side = call.side();
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
