//! Searches games by filter, position or description, page by page, and returns single games.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::id::GameId;
use crate::query::{
    Error, FindQuery, FindTarget, FoundPosition, GameAnswer, NoHits, SeveralPlayers, SimilarNames, Total,
    check_game, novelty, several_players, similar_names, write_pgn,
};
use crate::server::answer::{Answer, PGN, Problem, Shape};
use crate::server::api::player::NAMED;
use crate::server::request::{Call, FILTER, POSITION, Param, ParamType, TARGET, filter, target};
use crate::server::route::{Lane, Route, route};
use crate::store::{Database, GameAnnotations, GameRecord, GameSortKey, Hit, HitOrder, Lines, Seek as _};

pub(super) const SORT: Param = Param::new(
    "sort",
    ParamType::OneOf(&["game", "rating", "date"]),
    "Order of the games: by number, by mean rating (highest first) or by date (latest first); default game",
);

const PARAMS: &[Param] = &[
    SORT,
    Param::number("limit", 1..=500, "Number of games on a page, from 1 to 500; default 50"),
    Param::text("cursor", "nextCursor of the previous page; without it, the first page"),
    Param::flag("variations", "Also search the variations of games for the position or description"),
];

const PLAIN: Param = Param::flag("plain", "Return only moves, without annotations");
const NOVELTY: Param = Param::flag(
    "novelty",
    "Also find the first move that led to a position that no game of an earlier day had reached",
);

pub(super) const ROUTES: &[Route] = &[
    route("/api/games", games, Lane::Search, Shape::json::<Page<'_>>()).about(
        "Games that pass filters, reached a position or match a description, page by page",
        &[POSITION, TARGET, PARAMS, FILTER],
    ),
    route("/api/game/{id}", game, Lane::Quick, Shape::json::<GameAnswer<'_>>()).about(
        "A game with its positions and annotations, in the JSON format of `pgndex game`",
        &[&[PLAIN, NOVELTY]],
    ),
    route("/api/game/{id}/pgn", pgn, Lane::Quick, Shape::text(PGN)).about("A game as PGN", &[&[PLAIN]]),
];

/// A page of the list of games.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct Page<'h> {
    /// The hits: for each, the game and the position where it matches.
    games: Vec<FoundPosition<'h>>,
    /// Numbers of hits and games on this page and, if known, of all hits and games of the query. `null` if there
    /// are no games, and on all pages but the first.
    total: Option<Total>,
    /// Value of the parameter `cursor` for the next page; `null` on the last page.
    next_cursor: Option<String>,
    /// Reason why there are no games. `null` if there are some, and on all pages but the first.
    nothing: Option<NoHits>,
    /// Names in the filters that do not occur in the database.
    unknown_names: Vec<SimilarNames>,
    /// Names in the filters that match several players. Empty on all pages but the first.
    several_players: Vec<SeveralPlayers>,
}

fn games(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let target = target(call)?;
    let selection = database.select(&filter(call)?)?;
    let limit = call.number("limit").unwrap_or(50);
    let lines = if call.flag("variations")? { Lines::All } else { Lines::Main };
    if lines == Lines::All && matches!(&target, FindTarget::Sequence(sequence) if sequence.asks_for_moves()) {
        return Err(Problem::parameter("move", "matches only played moves; leave out variations"));
    }
    if lines == Lines::All && matches!(target, FindTarget::Games) {
        return Err(Problem::parameter("variations", "needs a position or a description"));
    }
    let sort = call.text("sort");
    if matches!(target, FindTarget::Like(_)) && (sort.is_some() || lines == Lines::All) {
        let name = if sort.is_some() { "sort" } else { "variations" };
        let detail = "leave it out: like searches played moves, and lists the nearest positions first";
        return Err(Problem::parameter(name, detail));
    }
    let order = order(sort);
    let cursor: Option<Cursor> = call.read("cursor")?;
    let mut rest = selection.clone();
    if let Some(place) = cursor.and_then(|cursor| cursor.place) {
        rest.begin_at(order, place);
    }
    let find = FindQuery {
        database,
        target: &target,
        lines,
        selection: &rest,
        order,
        limit: Some(limit),
        offset: cursor.map_or(0, |cursor| cursor.skip),
    };
    let mut hits: Vec<Hit> = Vec::new();
    let shown = find.visit(|hit| {
        hits.push(hit.clone());
        true
    })?;
    let is_first = cursor.is_none();
    let total = if is_first && !hits.is_empty() { Some(find.total(&shown)?) } else { None };
    let is_more = total.map_or(shown.is_more(), |total| total.is_more);
    let next = if is_more { next_cursor(&find, cursor, &hits)? } else { None };
    let games = hits.iter().map(|hit| FoundPosition::from_hit(hit, lines)).collect::<Result<Vec<_>, _>>()?;
    Answer::json(&Page {
        next_cursor: next.map(|next| next.to_string()),
        nothing: if is_first && games.is_empty() { Some(find.nothing()?) } else { None },
        unknown_names: similar_names(database, &selection)?,
        several_players: if is_first { several_players(database, &selection, NAMED)? } else { Vec::new() },
        games,
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

/// The start of a page. Later pages take no longer than the first one: the selection excludes the games of
/// earlier pages. Only hits of one game, and the nearest positions, are skipped one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cursor {
    /// The last game of the previous page; it can have more hits. `None` in a search for the nearest
    /// positions, because they are not in the order of games.
    place: Option<GameSortKey>,
    /// The number of hits to skip, because previous pages had them: those of the game in `place`; for the
    /// nearest positions, those of all games.
    skip: u32,
}

/// The start of the next page. `hits` are those of the current page, which begins at `from`.
fn next_cursor(find: &FindQuery<'_>, from: Option<Cursor>, hits: &[Hit]) -> Result<Option<Cursor>, Problem> {
    let shown = |hits: usize| u32::try_from(hits).unwrap_or(u32::MAX);
    if matches!(find.target, FindTarget::Like(_)) {
        return Ok(Some(Cursor { place: None, skip: find.offset.saturating_add(shown(hits.len())) }));
    }
    let Some(last) = hits.last() else { return Ok(None) };
    let game = last.game.game;
    let of_game = hits.iter().rev().take_while(|hit| hit.game.game == game).count();
    // If all hits of the page are in the game at which the page began, earlier pages can have hits of that
    // game too. The next page must skip all of them.
    let began = from.and_then(|from| from.place).map(|place| place.game);
    let before = if of_game == hits.len() && began == Some(game) { find.offset } else { 0 };
    let place = find.database.game_sort_key(game, find.order)?;
    Ok(place.map(|place| Cursor { place: Some(place), skip: before.saturating_add(shown(of_game)) }))
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(GameSortKey { is_unfinished, rank, game }) => {
                write!(f, "{}.{}.{}.{rank}", self.skip, game.0, u8::from(is_unfinished))
            }
            None => write!(f, "{}", self.skip),
        }
    }
}

impl FromStr for Cursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "use nextCursor of the previous page unchanged";
        let mut parts = text.splitn(4, '.');
        let mut part = || parts.next();
        let skip = part().and_then(|skip| skip.parse().ok()).ok_or(WRONG)?;
        let Some(game) = part() else { return Ok(Self { place: None, skip }) };
        let mut place = || {
            let game = GameId(game.parse().ok()?);
            let is_unfinished = part()? == "1";
            Some(GameSortKey { is_unfinished, rank: part()?.parse().ok()?, game })
        };
        let place = place().ok_or(WRONG)?;
        Ok(Self { place: Some(place), skip })
    }
}

/// Parses the game id in the path.
fn number(call: &Call) -> Result<GameId, Problem> {
    call.id
        .parse()
        .map(GameId)
        .map_err(|_| Problem::not_found("The path must contain the number of a game, such as /api/game/7."))
}

fn read(database: &Database, game: GameId, plain: bool) -> Result<(GameRecord, GameAnnotations), Problem> {
    let record = database.game(game)?;
    // All moves are checked before anything is sent: a damaged game must not be shown as if it were valid.
    check_game(&record).map_err(Error::from)?;
    let annotations = if plain { GameAnnotations::default() } else { database.annotations(game)? };
    Ok((record, annotations))
}

fn game(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let (record, annotations) = read(database, number(call)?, call.flag("plain")?)?;
    let problems = database.problems_of(record.summary.game)?;
    let mut answer = GameAnswer::new(&record, &annotations, &problems);
    if call.flag("novelty")? {
        answer.novelty = Some(novelty(database, &record)?);
    }
    Answer::json(&answer)
}

fn pgn(call: &Call, database: &Database) -> Result<Answer, Problem> {
    pgn_of(database, number(call)?, call.flag("plain")?)
}

/// A game as PGN, without annotations if `plain` is true.
pub(in crate::server) fn pgn_of(database: &Database, game: GameId, plain: bool) -> Result<Answer, Problem> {
    let (record, annotations) = read(database, game, plain)?;
    let mut text = String::new();
    write_pgn(&mut text, &record, &annotations).map_err(Error::from)?;
    Ok(Answer::text(PGN, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_parsed_again() {
        let place = GameSortKey { is_unfinished: true, rank: -5_123, game: GameId(77) };
        for cursor in [Cursor { place: Some(place), skip: 1 }, Cursor { place: None, skip: 50 }] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for wrong in ["", "x", "1.2", "1.2.0", "1.-2.0.3", "1.2.0.x", "-1"] {
            assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
        }
    }
}
