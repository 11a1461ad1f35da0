//! One game.

use crate::id::GameId;
use crate::query::{Error, GameAnswer, novelty, replay, write_pgn};
use crate::server::answer::{Answer, PGN, Problem, Shape};
use crate::server::request::{Call, Param, ParamType};
use crate::server::route::{Lane, Route, get};
use crate::store::{Database, GameAnnotations, GameRecord};

const PLAIN: Param = Param::new("plain", ParamType::Flag, "Return only moves, without annotations");
const NOVELTY: Param = Param::new(
    "novelty",
    ParamType::Flag,
    "Also find the first move that led to a position no earlier game had",
);

pub(super) const ROUTES: &[Route] = &[
    get(
        "/api/game/{id}",
        "A game with its positions and annotations, in the JSON format of `pgndex game`",
        &[&[PLAIN, NOVELTY]],
        Lane::Quick,
        Shape::json::<GameAnswer<'_>>(),
        game,
    ),
    get("/api/game/{id}/pgn", "A game as PGN", &[&[PLAIN]], Lane::Quick, Shape::text(PGN), pgn),
];

fn read(call: &Call, database: &Database) -> Result<(GameRecord, GameAnnotations), Problem> {
    let id = call.path("id").parse().map(GameId);
    let game = id.map_err(|_| {
        Problem::not_found("The path must contain the number of a game, such as /api/game/7.")
    })?;
    let record = database.game(game)?;
    // Before anything is sent: a damaged game must not be shown as if it were valid.
    replay(&record, |_, _| {}).map_err(Error::from)?;
    let annotations =
        if call.flag("plain")? { GameAnnotations::default() } else { database.annotations(game)? };
    Ok((record, annotations))
}

fn game(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let (record, annotations) = read(call, database)?;
    let problems = database.problems_of(record.summary.game)?;
    let mut answer = GameAnswer::new(&record, &annotations, &problems);
    if call.flag("novelty")? {
        answer.novelty = Some(novelty(database, &record)?);
    }
    Answer::json(&answer)
}

fn pgn(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let (record, annotations) = read(call, database)?;
    let mut text = String::new();
    write_pgn(&mut text, &record, &annotations).map_err(Error::from)?;
    Ok(Answer::text(PGN, text))
}
