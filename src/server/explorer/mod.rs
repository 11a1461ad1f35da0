//! The routes of Lichess's opening explorer.
//!
//! Requests are parsed leniently: unknown parameters and invalid values are ignored, except for an invalid
//! position.

mod params;

use crate::board::Color;
use crate::pgn::Speed;
use crate::query::{ExploreQuery, ExplorerAnswer, game_of_code, replay, write_pgn};
use crate::server::answer::{Answer, JSON_LINES, PGN, Problem, Shape};
use crate::server::request::{Call, Param, ParamType};
use crate::server::route::{Lane, Method, Params, Route};
use crate::store::{Database, GameFilter, Lines, ListLengths};
use params::ExplorerParams;

/// The default number of moves.
const MOVES: u32 = 12;

const POSITION: &[Param] = &[
    Param::new("fen", ParamType::Text, "The position as a FEN; default the start position"),
    Param::new(
        "play",
        ParamType::Text,
        "Moves played from that position, in UCI notation, separated by commas",
    ),
    Param::new("moves", ParamType::Number, "Maximum number of moves; default 12"),
    Param::new(
        "topGames",
        ParamType::Number,
        "Number of listed games with the highest mean rating, at most 15",
    ),
    Param::new("recentGames", ParamType::Number, "Number of listed latest games, at most 15"),
    Param::new(
        "variant",
        ParamType::Text,
        "The variant: standard (the default), chess960, fromPosition and other names of Lichess",
    ),
    Param::new(
        "speeds",
        ParamType::Text,
        "Speeds in the classes of Lichess, separated by commas; default all. /masters ignores this parameter",
    ),
    Param::new(
        "ratings",
        ParamType::Text,
        "Bands of the players' mean rating, by their lower ends, separated by commas; default all",
    ),
    Param::new("modes", ParamType::Text, "rated, casual, or both separated by a comma (the default)"),
    Param::new("since", ParamType::Text, "The first year or month, such as 2021 or 2021-06"),
    Param::new("until", ParamType::Text, "The last year or month, such as 2021 or 2021-06"),
    Param::new(
        "player",
        ParamType::Text,
        "Only for /player, and required there: the full account name, in any letter case",
    ),
    Param::new("history", ParamType::Flag, "Also count the games by month"),
    Param::new("color", ParamType::Text, "Only for /player: the player's side, white (the default) or black"),
];

pub(super) const ROUTES: &[Route] = &[
    route(
        "/lichess",
        "The moves played from a position, in the form of Lichess's explorer of its own games",
        POSITION,
        ANSWER,
        lichess,
    ),
    route(
        "/masters",
        "The moves played from a position, in the form of Lichess's explorer of masters' games",
        POSITION,
        ANSWER,
        masters,
    ),
    route(
        "/player",
        "The moves played from a position in one player's games with one side, in the form of Lichess's explorer",
        POSITION,
        Shape::json_lines::<ExplorerAnswer>(),
        player,
    ),
    route("/masters/pgn/{id}", "A game as PGN", &[], Shape::text(PGN), pgn),
    route("/master/pgn/{id}", "A game as PGN", &[], Shape::text(PGN), pgn),
];

const ANSWER: Shape = Shape::json::<ExplorerAnswer>();

const fn route(
    path: &'static str,
    summary: &'static str,
    params: &'static [Param],
    shape: Shape,
    answer: fn(&Call, &Database) -> Result<Answer, Problem>,
) -> Route {
    Route {
        method: Method::Get,
        path,
        summary,
        params: Params::Among(params),
        lane: Lane::Quick,
        shape,
        answer,
    }
}

fn lichess(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let asked = ExplorerParams(call);
    let filter = GameFilter { speeds: speeds(asked), ..asked.filter(database)? };
    Answer::json(&explore(asked, database, &filter, None, ListLengths { top: 4, recent: 4 })?)
}

fn masters(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let asked = ExplorerParams(call);
    let filter = asked.filter(database)?;
    Answer::json(&explore(asked, database, &filter, None, ListLengths { top: 15, recent: 0 })?)
}

fn player(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let asked = ExplorerParams(call);
    let name = asked.player().ok_or_else(|| Problem::parameter("player", "give the name of a player"))?;
    let filter = GameFilter { speeds: speeds(asked), player: Some(name), ..asked.filter(database)? };
    let is_black = asked.word("color").is_some_and(|word| word.eq_ignore_ascii_case("black"));
    let side = if is_black { Color::Black } else { Color::White };
    let filter = filter.with_side(side).map_err(|error| Problem::parameter("player", error))?;
    let mut answer = explore(asked, database, &filter, Some(side), ListLengths { top: 0, recent: 8 })?;
    answer.queue_position = Some(0);
    let mut body = serde_json::to_vec(&answer).map_err(|error| Problem::damaged(error.to_string()))?;
    body.push(b'\n');
    Ok(Answer::Whole { content_type: JSON_LINES, body })
}

fn speeds(asked: ExplorerParams<'_>) -> Vec<Speed> {
    let speeds = Vec::from_iter(asked.words("speeds").filter_map(Speed::named));
    // All speeds together include games with an unknown speed.
    if Speed::ALL.iter().all(|speed| speeds.contains(speed)) { Vec::new() } else { speeds }
}

fn explore(
    asked: ExplorerParams<'_>,
    database: &Database,
    filter: &GameFilter,
    side: Option<Color>,
    lists: ListLengths,
) -> Result<ExplorerAnswer, Problem> {
    let query = asked.position()?;
    let mut selection = database.select(filter)?;
    asked.narrow(database, &mut selection)?;
    let most = |name, length| asked.number(name).map_or(length, |number: u32| number.min(255) as u8);
    let explore = ExploreQuery {
        database,
        query: &query,
        lines: Lines::Main,
        selection: &selection,
        side,
        lists: ListLengths { top: most("topGames", lists.top), recent: most("recentGames", lists.recent) },
        limit: Some(asked.number("moves").unwrap_or(MOVES)),
        counts_transposed: false,
        openings: None,
    };
    let mut answer = ExplorerAnswer::new(database, &query.position, explore.answer()?)?;
    // Clients also write `True`, `on` and `1`.
    let asks = |word: &str| ["true", "on", "1"].iter().any(|yes| word.eq_ignore_ascii_case(yes));
    if asked.word("history").is_some_and(asks) {
        answer.history = Some(explore.months()?);
    }
    Ok(answer)
}

fn pgn(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let id = call.path("id");
    let game = game_of_code(database, id)?;
    let game = game.ok_or_else(|| Problem::not_found("There is no game with this id."))?;
    let (record, annotations) = (database.game(game)?, database.annotations(game)?);
    replay(&record, |_, _| {}).map_err(crate::query::Error::from)?;
    let mut text = String::new();
    write_pgn(&mut text, &record, &annotations).map_err(crate::query::Error::from)?;
    Ok(Answer::text(PGN, text))
}
