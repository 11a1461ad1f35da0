//! Parses filters on games.

use crate::board::GameResult;
use crate::pgn::Speed;
use crate::server::answer::Problem;
use crate::server::request::{Call, Param, ParamType};
use crate::store::{FilterError, GameFilter, NameFilter};

const SPEEDS: &[&str] = &["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"];
const RESULTS: &[&str] = &["1-0", "0-1", "1/2-1/2", "draw", "*"];

/// The parameters, named like the command-line options, but in camel case.
pub(in crate::server) const FILTER: &[Param] = &[
    Param::new(
        "white",
        ParamType::Text,
        "White's name, or the beginning of one of its words; =NAME for this name only",
    ),
    Param::new("black", ParamType::Text, "Black's name, in the same form"),
    Param::new(
        "player",
        ParamType::Texts,
        "White's or Black's name. Given twice: games of these two players against each other",
    ),
    Param::new(
        "opponent",
        ParamType::Text,
        "The name of player's opponent; only together with player, or with name in /api/player",
    ),
    Param::new("eloMin", ParamType::Number, "Both players are rated this or higher"),
    Param::new("eloMax", ParamType::Number, "Both players are rated this or lower"),
    Param::new(
        "since",
        ParamType::Text,
        "Played in this year, month or day (2021, 2021.06, 2021-06-30) or later",
    ),
    Param::new("until", ParamType::Text, "Played in this year, month or day or earlier"),
    Param::new("result", ParamType::OneOf(RESULTS), "The result; draw is the same as 1/2-1/2"),
    Param::new("event", ParamType::Text, "The event's name, or the beginning of one of its words"),
    Param::new("site", ParamType::Text, "The site's name, or the beginning of one of its words"),
    Param::new(
        "opening",
        ParamType::Text,
        "The name of the opening that the game reached, or the beginning of one of its words",
    ),
    Param::new("eco", ParamType::Text, "The ECO code that the PGN gives: B90, B9 or B90-C19"),
    Param::new(
        "openingEco",
        ParamType::Text,
        "The ECO code of the opening that the game reached: B90, B9 or B90-C19",
    ),
    Param::new(
        "speed",
        ParamType::AnyOf(SPEEDS),
        "The speed of the game, in the classes of Lichess. Given several times: any of these speeds",
    ),
    Param::new("timeControl", ParamType::Text, "The time control as the PGN gives it, such as 180+2"),
    Param::new("termination", ParamType::Text, "How the game ended, as the PGN gives it"),
    Param::new("pliesMin", ParamType::Number, "The game has this many half-moves or more"),
    Param::new("pliesMax", ParamType::Number, "The game has this many half-moves or fewer"),
    Param::new("withEvals", ParamType::Flag, "The game has engine evaluations"),
    Param::new(
        "source",
        ParamType::Texts,
        "The path or the number of the file from which the game was read. Given several times: any of these files",
    ),
    Param::new(
        "variant",
        ParamType::Text,
        "The variant as the PGN names it, such as Chess960; standard includes games without a variant",
    ),
];

/// Parses the filter.
pub(in crate::server) fn filter(call: &Call) -> Result<GameFilter, Problem> {
    filter_of_player(call, None)
}

/// Like [`filter`], restricted to games of one player.
pub(in crate::server) fn filter_of_player(
    call: &Call,
    player: Option<NameFilter>,
) -> Result<GameFilter, Problem> {
    let (player, opponent) = players(call, player)?;
    let rating = |name| {
        let number = call.number(name, u16::MAX.into())?;
        Ok::<_, Problem>(number.and_then(|number| u16::try_from(number).ok()))
    };
    let text = |name| call.text(name).map(str::to_owned);
    let filter = GameFilter {
        white: call.read("white")?,
        black: call.read("black")?,
        player,
        opponent,
        elo_min: rating("eloMin")?,
        elo_max: rating("eloMax")?,
        since: call.read("since")?,
        until: call.read("until")?,
        result: call.text("result").and_then(result),
        event: call.read("event")?,
        site: call.read("site")?,
        opening: call.read("opening")?,
        eco: call.read("eco")?,
        opening_eco: call.read("openingEco")?,
        speeds: call.all("speed").filter_map(Speed::named).collect(),
        time_control: text("timeControl"),
        termination: text("termination"),
        plies_min: call.number("pliesMin", u32::MAX)?,
        plies_max: call.number("pliesMax", u32::MAX)?,
        with_evals: call.flag("withEvals")?,
        sources: call.all("source").map(Into::into).collect(),
        variant: text("variant"),
    };
    filter.check().map_err(|error| {
        let name = match error {
            FilterError::NoRating { .. } => "eloMin",
            FilterError::NoLength { .. } => "pliesMin",
            _ => "since",
        };
        Problem::parameter(name, error)
    })?;
    Ok(filter)
}

fn result(text: &str) -> Option<GameResult> {
    if text == "draw" { Some(GameResult::Draw) } else { GameResult::parse(text.as_bytes()) }
}

/// Parses the names of a player and the opponent. The player is `player`, or else the first parameter
/// `player`. The opponent is the parameter `opponent`, or the next parameter `player`.
fn players(
    call: &Call,
    player: Option<NameFilter>,
) -> Result<(Option<NameFilter>, Option<NameFilter>), Problem> {
    let read = |text: &str| text.parse::<NameFilter>().map_err(|error| Problem::parameter("player", error));
    let opponent: Option<NameFilter> = call.read("opponent")?;
    let named = call.all("player").map(read).collect::<Result<Vec<_>, _>>()?;
    let mut names = player.into_iter().chain(named);
    let first = names.next();
    if first.is_none() && opponent.is_some() {
        return Err(Problem::parameter(
            "opponent",
            "needs player; give both, or use player alone for all games of a player",
        ));
    }
    let second = names.next();
    if names.next().is_some() || (second.is_some() && opponent.is_some()) {
        return Err(Problem::parameter("player", "a game has two players; give two names at most"));
    }
    Ok((first, second.or(opponent)))
}
