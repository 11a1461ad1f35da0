//! Requests and their parameters. pgndex's own routes refuse unknown parameters.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::body::Bytes;

use crate::board::{Color, Ending, MaterialSignature, MovePattern, Pattern, PawnStructure};
use crate::pgn::Speed;
use crate::query::{FindTarget, PositionQuery, PositionSequence, Step};
use crate::server::answer::Problem;
use crate::store::{FilterError, GameFilter, NameFilter, nearest, read_result};

/// The parameter that separates two descriptions of positions.
const THEN: &str = "then";

/// The parameters that describe a position.
const DESCRIBING: [&str; 7] = ["pattern", "material", "structure", "ending", "move", "for", "ply"];

/// A request.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The segment `{id}` of the path; empty if the route has none.
    pub(super) id: String,
    /// The parameters, in order.
    pub(super) query: Vec<(String, String)>,
    /// The request body.
    pub(super) body: Bytes,
}

impl Call {
    /// The non-empty values of a parameter.
    pub(super) fn all<'c>(&'c self, name: &'c str) -> impl Iterator<Item = &'c str> + 'c {
        let values = self.query.iter().filter(move |(other, _)| other == name);
        values.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The first non-empty value of a parameter, if there is one.
    pub(super) fn text<'c>(&'c self, name: &'c str) -> Option<&'c str> {
        self.all(name).next()
    }

    /// The parsed value of a parameter; `None` if the parameter is missing or empty.
    pub(super) fn read<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, Problem> {
        self.text(name).map_or(Ok(None), |text| parsed(name, text.parse()))
    }

    /// An integer; `None` if the parameter is missing or empty. [`Param::check`] compares it with the bounds
    /// of its parameter.
    pub(super) fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// The parameter `limit`; `None` also for 0, which means all.
    pub(super) fn limit<T: FromStr + Default + PartialEq>(&self) -> Option<T> {
        self.number("limit").filter(|limit| *limit != T::default())
    }

    /// The side that the parameter `side` names.
    pub(super) fn side(&self) -> Option<Color> {
        self.text("side").map(|side| if side == "black" { Color::Black } else { Color::White })
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        let found = self.query.iter().find(|(other, _)| other == name);
        found.map_or(Ok(false), |(_, value)| is_set(name, value))
    }
}

/// Whether a flag with this value is set. A flag without a value is set, as in `…&withEvals`.
fn is_set(name: &str, value: &str) -> Result<bool, Problem> {
    match value.to_ascii_lowercase().as_str() {
        "" | "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err(Problem::parameter(name, "write true or false")),
    }
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) kind: ParamType,
    /// A description for the API documentation.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(super) what: &'static str,
}

/// The types of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParamType {
    Text,
    /// Can be given several times.
    Texts,
    /// An integer from the first to the second number.
    Number(u32, u32),
    Flag,
    OneOf(&'static [&'static str]),
    /// Can be given several times.
    AnyOf(&'static [&'static str]),
}

impl Param {
    pub(super) const fn new(name: &'static str, kind: ParamType, what: &'static str) -> Self {
        Self { name, kind, what }
    }

    pub(super) const fn text(name: &'static str, what: &'static str) -> Self {
        Self::new(name, ParamType::Text, what)
    }

    pub(super) const fn number(name: &'static str, range: RangeInclusive<u32>, what: &'static str) -> Self {
        Self::new(name, ParamType::Number(*range.start(), *range.end()), what)
    }

    pub(super) const fn flag(name: &'static str, what: &'static str) -> Self {
        Self::new(name, ParamType::Flag, what)
    }

    /// Fails if the request has an unknown parameter or an invalid value, or repeats a parameter that may be
    /// given only once. Changes the letter case of words to that in the list of allowed words.
    pub(super) fn check(groups: &[&[Self]], call: &mut Call) -> Result<(), Problem> {
        let known = || groups.iter().copied().flatten();
        for at in 0..call.query.len() {
            let (name, value) = &call.query[at];
            let Some(param) = known().find(|param| param.name == *name) else {
                return Err(unknown(name, known().map(|param| param.name)));
            };
            let is_again = call.query[..at].iter().any(|(other, _)| other == name);
            // With `then`, parameters that describe positions may occur once in each step; the parser of the
            // steps checks this.
            let is_of_step = (name == THEN || DESCRIBING.contains(&name.as_str()))
                && call.query.iter().any(|(other, _)| other == THEN);
            if is_again && !matches!(param.kind, ParamType::Texts | ParamType::AnyOf(_)) && !is_of_step {
                return Err(Problem::parameter(name, "given twice, but allowed only once; remove one"));
            }
            if let ParamType::Number(least, most) = param.kind
                && !value.is_empty()
                && !value.parse().is_ok_and(|number| (least..=most).contains(&number))
            {
                return Err(Problem::parameter(name, format!("not a whole number from {least} to {most}")));
            }
            if let ParamType::OneOf(words) | ParamType::AnyOf(words) = param.kind
                && !value.is_empty()
            {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(value));
                let wrong = || Problem::parameter(name, format!("not one of these: {}", words.join(", ")));
                call.query[at].1 = (*word.ok_or_else(wrong)?).to_owned();
            }
        }
        Ok(())
    }
}

fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Problem {
    let names = Vec::from_iter(known);
    let hint = match nearest(name, names.iter().copied()) {
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None if names.is_empty() => "this address takes no parameters".to_owned(),
        None => format!("known parameters: {}", names.join(", ")),
    };
    Problem::parameter(name, format!("no such parameter; {hint}"))
}

/// The parameters that give a position.
pub(super) const POSITION: &[Param] = &[
    Param::text(
        "fen",
        "The position as a FEN. Default: the start position; in searches of games: no position",
    ),
    Param::text("play", "Moves played from that position, in UCI notation: e2e4,c7c5"),
    Param::text(
        "moves",
        "The moves that lead to the position, in any usual notation: 1. e4 c5 2. Nf3. Not with fen or play",
    ),
];

/// Parses the position; `None` if none is given.
pub(super) fn position(call: &Call) -> Result<Option<PositionQuery>, Problem> {
    let (fen, play, moves) = (call.text("fen"), call.text("play"), call.text("moves"));
    if moves.is_some() && fen.or(play).is_some() {
        return Err(Problem::parameter("moves", "already describes the position; omit fen and play"));
    }
    if let Some(moves) = moves {
        let query = PositionQuery::from_moves(moves);
        return query.map(Some).map_err(|error| Problem::position("moves", &error));
    }
    fen.or(play).map(|_| played_from(fen, play.unwrap_or_default())).transpose()
}

/// The position after the moves `play` from the position `fen`, or from the start position if `fen` is
/// `None`.
pub(super) fn played_from(fen: Option<&str>, play: &str) -> Result<PositionQuery, Problem> {
    let start = match fen {
        Some(fen) => PositionQuery::from_fen(fen).map_err(|error| Problem::position("fen", &error))?,
        None => PositionQuery::start(),
    };
    start.then_uci(play).map_err(|error| Problem::position("play", &error))
}

const ENDINGS: [&str; Ending::ALL.len()] = {
    let mut names = [""; Ending::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Ending::ALL[at].as_str();
        at += 1;
    }
    names
};

/// The parameters of a search, in addition to those of a position.
pub(super) const TARGET: &[Param] = &[
    Param::text("like", "Find the positions nearest to this FEN, the nearest first"),
    Param::text(
        "pattern",
        "Pieces as in a FEN, or ? anything, ! any piece, A any white one, a any black one, [QR] one of these, * any number of squares",
    ),
    Param::text("material", "All pieces on the board, White's first: KRPvKR, KRP-KR or KRPKR"),
    Param::text("structure", "A FEN with the same pawns; its other pieces are ignored"),
    Param::new("ending", ParamType::OneOf(&ENDINGS), "The kind of ending"),
    Param::text("move", "The move played from the position, such as Qxh7#"),
    Param::number("for", 1..=u32::MAX, "The number of consecutive positions that must match; default 1"),
    Param::text("ply", "Match only positions after this number of half-moves: 20, 20-40, -40 or 60-"),
    Param::flag(THEN, "Separates two descriptions: later in the game, the second one must match"),
    Param::flag("either", "Also match positions with the colours reversed"),
    Param::flag("mirror", "Also match positions with left and right exchanged"),
];

/// Parses what to search for; without a position or description, all games match.
pub(super) fn target(call: &Call) -> Result<FindTarget, Problem> {
    let position = position(call)?;
    let sequence = sequence(call)?;
    let like = call.text("like").map(PositionQuery::from_fen).transpose();
    let like = like.map_err(|error| Problem::position("like", &error))?;
    match (position, sequence, like) {
        (None, None, None) => Ok(FindTarget::Games),
        (Some(query), None, None) => Ok(FindTarget::Position(query.into())),
        (None, Some(sequence), None) => Ok(FindTarget::Sequence(sequence.into())),
        (None, None, Some(query)) => Ok(FindTarget::Like(query.into())),
        _ => {
            let detail = "give only one of these: a position, a description, or the parameter like";
            Err(Problem::parameter("fen", detail))
        }
    }
}

fn sequence(call: &Call) -> Result<Option<PositionSequence>, Problem> {
    let mut words = Vec::new();
    for pair in &call.query {
        let (name, value) = (pair.0.as_str(), pair.1.as_str());
        let is_word = match name {
            THEN => is_set(name, value)?,
            _ => DESCRIBING.contains(&name) && !value.is_empty(),
        };
        words.extend(is_word.then_some(pair));
    }
    let (either, mirror) = (call.flag("either")?, call.flag("mirror")?);
    if words.is_empty() {
        return match either || mirror {
            true => Err(Problem::parameter("either", "needs a description of positions, such as material")),
            false => Ok(None),
        };
    }
    let steps = words.split(|(name, _)| name == THEN).map(step).collect::<Result<_, _>>()?;
    Ok(Some(PositionSequence::new(steps, either, mirror)))
}

fn step(words: &[&(String, String)]) -> Result<Step, Problem> {
    let mut step = Step { description: Default::default(), lasting: 1, plies: 0..=u32::MAX };
    let mut is_described = false;
    for (at, (name, value)) in words.iter().enumerate() {
        if words[..at].iter().any(|(other, _)| other == name) {
            let detail = "given twice in one description; to match two descriptions one after the other, put the parameter then \
                          between them";
            return Err(Problem::parameter(name, detail));
        }
        let description = &mut step.description;
        is_described |= !matches!(name.as_str(), "for" | "ply");
        match name.as_str() {
            "pattern" => description.pattern = parsed(name, Pattern::parse(value))?,
            "material" => description.material = parsed(name, MaterialSignature::parse(value))?,
            "structure" => description.structure = parsed(name, PawnStructure::from_fen(value.as_bytes()))?,
            "ending" => description.ending = Ending::ALL.into_iter().find(|ending| ending.as_str() == value),
            "move" => description.played = parsed(name, MovePattern::parse(value))?,
            "for" => step.lasting = value.parse().unwrap_or(step.lasting),
            _ => {
                const WRONG: &str = "not a ply or a range of plies; write 20, 20-40, -40 or 60-";
                step.plies = plies(value).ok_or_else(|| Problem::parameter(name, WRONG))?;
            }
        }
    }
    if is_described {
        return Ok(step);
    }
    // The step has only `for` or `ply` but no description, or nothing is given before or after `then`.
    const DESCRIPTION: &str = "a description of positions: pattern, material, structure, ending or move";
    Err(match words.first() {
        Some((name, _)) => Problem::parameter(name, format!("needs {DESCRIPTION}")),
        None => {
            Problem::parameter(THEN, format!("before and after each parameter `then`, give {DESCRIPTION}"))
        }
    })
}

fn parsed<T, E: Display>(name: &str, value: Result<T, E>) -> Result<Option<T>, Problem> {
    value.map(Some).map_err(|error| Problem::parameter(name, error))
}

fn plies(text: &str) -> Option<RangeInclusive<u32>> {
    let number = |text: &str, open| if text.is_empty() { Some(open) } else { text.parse().ok() };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = number(first, 0)?..=number(last, u32::MAX)?;
    (range.start() <= range.end() && !(first.is_empty() && last.is_empty())).then_some(range)
}

const MAX_ELO: u32 = u16::MAX as u32;
const SPEEDS: &[&str] = &["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"];

/// The parameters of the filter, named like the command-line options, but in camel case.
pub(super) const FILTER: &[Param] = &[
    Param::text("white", "White's name, or the beginning of one of its words; =NAME for this name only"),
    Param::text("black", "Black's name, in the same form"),
    Param::new(
        "player",
        ParamType::Texts,
        "White's or Black's name. Given twice: games of these two players against each other",
    ),
    Param::text(
        "opponent",
        "The name of player's opponent; only together with player, or with name in /api/player",
    ),
    Param::number("eloMin", 0..=MAX_ELO, "Both players are rated this or higher"),
    Param::number("eloMax", 0..=MAX_ELO, "Both players are rated this or lower"),
    Param::text("since", "Played in this year, month or day (2021, 2021.06, 2021-06-30) or later"),
    Param::text("until", "Played in this year, month or day or earlier"),
    Param::text("result", "The result: 1-0, 0-1, 1/2-1/2 (or draw), or * for none"),
    Param::text("event", "The event's name, or the beginning of one of its words"),
    Param::text("site", "The site's name, or the beginning of one of its words"),
    Param::text(
        "opening",
        "The name of the opening that the game reached, or the beginning of one of its words",
    ),
    Param::text("eco", "The ECO code in the PGN: B90, B9 or B90-C19"),
    Param::text("openingEco", "The ECO code of the opening that the game reached: B90, B9 or B90-C19"),
    Param::new(
        "speed",
        ParamType::AnyOf(SPEEDS),
        "The speed of the game, in the classes of Lichess. Given several times: any of these speeds",
    ),
    Param::text("timeControl", "The time control as written in the PGN, such as 180+2"),
    Param::text("termination", "How the game ended, as written in the PGN"),
    Param::number("pliesMin", 0..=u32::MAX, "The game has this many half-moves or more"),
    Param::number("pliesMax", 0..=u32::MAX, "The game has this many half-moves or fewer"),
    Param::flag("withEvals", "The game has engine evaluations"),
    Param::new(
        "source",
        ParamType::Texts,
        "The path or the number of the file from which the game was read. Given several times: any of these files",
    ),
    Param::text(
        "variant",
        "The variant as the PGN names it, such as Chess960; standard includes games without a variant",
    ),
];

pub(super) fn filter(call: &Call) -> Result<GameFilter, Problem> {
    filter_of_player(call, None)
}

/// Like [`filter`]. If `player` is given, only games of this player match.
pub(super) fn filter_of_player(call: &Call, player: Option<NameFilter>) -> Result<GameFilter, Problem> {
    let (player, opponent) = players(call, player)?;
    let text = |name| call.text(name).map(str::to_owned);
    let filter = GameFilter {
        white: call.read("white")?,
        black: call.read("black")?,
        player,
        opponent,
        elo_min: call.number("eloMin"),
        elo_max: call.number("eloMax"),
        since: call.read("since")?,
        until: call.read("until")?,
        result: call.text("result").map_or(Ok(None), |text| parsed("result", read_result(text)))?,
        event: call.read("event")?,
        site: call.read("site")?,
        opening: call.read("opening")?,
        eco: call.read("eco")?,
        opening_eco: call.read("openingEco")?,
        speeds: call.all("speed").filter_map(Speed::named).collect(),
        time_control: text("timeControl"),
        termination: text("termination"),
        plies_min: call.number("pliesMin"),
        plies_max: call.number("pliesMax"),
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

/// Parses the names of a player and the opponent. The player is the argument `player` or, without it, the
/// first request parameter `player`. The opponent is the request parameter `opponent`, or the next parameter
/// `player`.
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
        let detail = "needs player; give both, or use player alone for all games of a player";
        return Err(Problem::parameter("opponent", detail));
    }
    let second = names.next();
    if names.next().is_some() || (second.is_some() && opponent.is_some()) {
        return Err(Problem::parameter("player", "a game has two players; give two names at most"));
    }
    Ok((first, second.or(opponent)))
}
