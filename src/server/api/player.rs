//! A player's record, and the comparison of a repertoire with the games. Also completes names, and checks the
//! names in filters.

use serde::Serialize;

use crate::query::{
    Book, FoundNames, PlayerQuery, PlayerRecord, Repertoire, RepertoireError, RepertoireQuery,
    SeveralPlayers, SimilarNames, find_names, several_players, similar_names,
};
use crate::server::answer::{Answer, PGN, Problem, Shape};
use crate::server::request::{Call, FILTER, Param, ParamType, filter, filter_of_player};
use crate::server::route::{Lane, Route, route};
use crate::store::{Database, NameFilter, Named};

/// The maximum size of a repertoire, in bytes.
const REPERTOIRE: usize = 4 << 20;

/// The maximum number of players listed if a filter's name matches several.
pub(super) const NAMED: usize = 6;
const KINDS: &[&str] = &["player", "event", "site", "opening"];

const NAMES: &[Param] = &[
    Param::new("kind", ParamType::OneOf(KINDS), "The kind of names; default player"),
    Param::text("prefix", "The beginning of the name or of one of its words; without it, all names match"),
    Param::number("limit", 1..=100, "Number of names, from 1 to 100; default 10"),
];

const PLAYER: &[Param] = &[
    Param::text(
        "name",
        "The player's name, or the beginning of one of its words; =NAME for this name only. Required",
    ),
    Param::number(
        "limit",
        1..=1000,
        "Maximum number of openings, opponents and wins in each list, from 1 to 1,000; default 10",
    ),
    Param::number("depth", 0..=40, "Length of the opening lines in half-moves, at most 40; default 6"),
    Param::number(
        "leastShare",
        0..=100,
        "Return moves played in at least this percentage of the player's games with the same side; default 5",
    ),
];

const REPERTOIRE_PARAMS: &[Param] = &[
    Param::new(
        "side",
        ParamType::OneOf(&["white", "black"]),
        "The side of the repertoire; by default, derived from its tags or its moves",
    ),
    Param::number(
        "leastGames",
        0..=u32::MAX,
        "Return moves outside the repertoire if at least this many games played them; default 2",
    ),
    Param::number(
        "leastShare",
        0..=100,
        "Return moves outside the repertoire if at least this percentage of the games with the position played them; default 5",
    ),
    Param::number("limit", 1..=1000, "Maximum number of moves in each list, from 1 to 1,000; default 1,000"),
    Param::number(
        "games",
        0..=1000,
        "Maximum number of games to list (the latest that followed the repertoire), at most 1,000; default 5",
    ),
    Param::number(
        "leastPlies",
        0..=u32::MAX,
        "List games that followed the repertoire for at least this many half-moves; default 8",
    ),
];

pub(super) const ROUTES: &[Route] = &[
    route("/api/player", player, Lane::Search, Shape::json::<PlayerRecord>())
        .about("A player's record, in the JSON format of `pgndex player`", &[PLAYER, FILTER]),
    route("/api/repertoire", repertoire, Lane::Search, Shape::json::<Vec<Repertoire>>())
        .about("Compare a repertoire, sent as PGN, with the games; the answer has the JSON format of `pgndex repertoire`", &[REPERTOIRE_PARAMS, FILTER])
        .takes(REPERTOIRE, Shape::text(PGN)),
    route("/api/names", names, Lane::Quick, Shape::json::<FoundNames>())
        .about("Names that begin with the given letters, or contain a word that begins with them", &[NAMES]),
    route("/api/filter", fitting, Lane::Quick, Shape::json::<MatchingNames>())
        .about("Names in filters that match several players, or nothing", &[FILTER]),
];

fn player(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let name: NameFilter =
        call.read("name")?.ok_or_else(|| Problem::parameter("name", "give the name of a player"))?;
    let selection = database.select(&filter_of_player(call, Some(name.clone()))?)?;
    let query = PlayerQuery {
        database,
        name: &name,
        selection: &selection,
        limit: call.number("limit").unwrap_or(10),
        depth: call.number("depth").unwrap_or(6),
        least_share: call.number("leastShare").unwrap_or(5),
    };
    Answer::json(&query.answer()?)
}

fn repertoire(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let wrong = |detail: String| Problem::new(400, "wrong repertoire", detail);
    let book = Book::read(&call.body, call.side()).map_err(|error| wrong(error.to_string()))?;
    if book.moves() == 0 {
        let reason = book
            .problems
            .first()
            .map_or_else(String::new, |problem| format!(" Line {}: {}.", problem.line, problem.message));
        return Err(wrong(format!("The request has no moves; send the text of a PGN file.{reason}")));
    }
    let selection = database.select(&filter(call)?)?;
    let query = RepertoireQuery {
        database,
        book: &book,
        selection: &selection,
        least_games: call.number("leastGames").unwrap_or(2),
        least_share: call.number("leastShare").unwrap_or(5),
        limit: call.number("limit").unwrap_or(1000),
        games: call.number("games").unwrap_or(5),
        least_plies: call.number("leastPlies").unwrap_or(8),
    };
    match query.answer() {
        Ok(repertoires) => Answer::json(&repertoires),
        Err(RepertoireError::Store(error)) => Err(error.into()),
        Err(error @ RepertoireError::UnknownSide) => Err(Problem::parameter("side", error)),
    }
}

/// Names in filters that match several players, or nothing.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct MatchingNames {
    /// Names that match several players.
    several_players: Vec<SeveralPlayers>,
    /// Names that do not occur in the database.
    unknown_names: Vec<SimilarNames>,
}

fn names(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let named = match call.text("kind") {
        Some("event") => Named::Event,
        Some("site") => Named::Site,
        Some("opening") => Named::Opening,
        _ => Named::Player,
    };
    Answer::json(&find_names(
        database,
        named,
        call.text("prefix").unwrap_or_default(),
        call.number("limit").unwrap_or(10),
    )?)
}

fn fitting(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let selection = database.select(&filter(call)?)?;
    Answer::json(&MatchingNames {
        several_players: several_players(database, &selection, NAMED)?,
        unknown_names: similar_names(database, &selection)?,
    })
}
