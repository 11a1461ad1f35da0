//! A player's record, and the comparison of a repertoire with the games.

use crate::board::Color;
use crate::query::{Book, PlayerQuery, PlayerRecord, Repertoire, RepertoireError, RepertoireQuery};
use crate::server::answer::{Answer, PGN, Problem, Shape};
use crate::server::request::{Call, FILTER, Param, ParamType, filter, filter_of_player};
use crate::server::route::{Lane, Route, get, post};
use crate::store::{Database, NameFilter};

/// The maximum size of a repertoire, in bytes.
const REPERTOIRE: usize = 4 << 20;
/// The maximum number of entries in each list.
const LISTED: u32 = 1000;

const PLAYER: &[Param] = &[
    Param::new(
        "name",
        ParamType::Text,
        "The player's name, or the beginning of one of its words; =NAME for this name only. Required",
    ),
    Param::new(
        "limit",
        ParamType::Number,
        "Maximum number of openings, opponents and wins in each list, at most 1,000; default 10",
    ),
    Param::new(
        "depth",
        ParamType::Number,
        "Length of the opening lines in half-moves, at most 40; default 6",
    ),
    Param::new(
        "leastShare",
        ParamType::Number,
        "Return moves played in at least this percentage of the player's games with the same side; default 5",
    ),
];

const REPERTOIRE_PARAMS: &[Param] = &[
    Param::new(
        "side",
        ParamType::OneOf(&["white", "black"]),
        "The side of the repertoire; by default, derived from its tags or its moves",
    ),
    Param::new(
        "leastGames",
        ParamType::Number,
        "Return moves outside the repertoire if at least this many games played them; default 2",
    ),
    Param::new(
        "leastShare",
        ParamType::Number,
        "Return moves outside the repertoire if at least this percentage of the games with the position played them; default 5",
    ),
    Param::new(
        "limit",
        ParamType::Number,
        "Maximum number of moves in each list, at most 1,000; default 1,000",
    ),
    Param::new(
        "games",
        ParamType::Number,
        "Maximum number of listed latest games that followed the repertoire, at most 1,000; default 5",
    ),
    Param::new(
        "leastPlies",
        ParamType::Number,
        "List games that followed the repertoire for at least this many half-moves; default 8",
    ),
];

pub(super) const ROUTES: &[Route] = &[
    get(
        "/api/player",
        "A player's record, in the JSON format of `pgndex player`",
        &[PLAYER, FILTER],
        Lane::Search,
        Shape::json::<PlayerRecord>(),
        player,
    ),
    post(
        "/api/repertoire",
        "Compare a repertoire, sent as PGN, with the games; the answer has the JSON format of `pgndex repertoire`",
        &[REPERTOIRE_PARAMS, FILTER],
        Lane::Search,
        (REPERTOIRE, Shape::text(PGN)),
        Shape::json::<Vec<Repertoire>>(),
        repertoire,
    ),
];

fn player(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let name: NameFilter =
        call.read("name")?.ok_or_else(|| Problem::parameter("name", "give the name of a player"))?;
    let selection = database.select(&filter_of_player(call, Some(name.clone()))?)?;
    let question = PlayerQuery {
        database,
        name: &name,
        selection: &selection,
        limit: call.number("limit", LISTED)?.unwrap_or(10) as usize,
        depth: call.number("depth", 40)?.unwrap_or(6),
        least_share: call.number("leastShare", 100)?.unwrap_or(5).into(),
    };
    Answer::json(&question.answer()?)
}

fn repertoire(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let side = match call.text("side") {
        Some("white") => Some(Color::White),
        Some("black") => Some(Color::Black),
        _ => None,
    };
    let wrong = |detail: String| Problem::new(400, "wrong repertoire", detail);
    let book = Book::read(&call.body, side).map_err(|error| wrong(error.to_string()))?;
    if book.moves() == 0 {
        let reason = book
            .problems
            .first()
            .map_or_else(String::new, |problem| format!(" Line {}: {}.", problem.line, problem.message));
        return Err(wrong(format!("The request has no moves; send the text of a PGN file.{reason}")));
    }
    let selection = database.select(&filter(call)?)?;
    let question = RepertoireQuery {
        database,
        book: &book,
        selection: &selection,
        least_games: call.number("leastGames", u32::MAX)?.unwrap_or(2).into(),
        least_share: call.number("leastShare", 100)?.unwrap_or(5).into(),
        limit: call.number("limit", LISTED)?.unwrap_or(LISTED) as usize,
        games: call.number("games", LISTED)?.unwrap_or(5) as usize,
        least_plies: call.number("leastPlies", u32::MAX)?.unwrap_or(8),
    };
    match question.answer() {
        Ok(repertoires) => Answer::json(&repertoires),
        Err(RepertoireError::Store(error)) => Err(error.into()),
        Err(error @ RepertoireError::UnknownSide) => Err(Problem::parameter("side", error)),
    }
}
