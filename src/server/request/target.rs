//! Parses the target of a search: all games, a position, a description of positions, or the positions nearest
//! to a given one.

use std::ops::RangeInclusive;

use crate::board::{Ending, MaterialSignature, MovePattern, Pattern, PawnStructure};
use crate::query::{FindTarget, PositionQuery, PositionSequence, Step};
use crate::server::answer::Problem;
use crate::server::request::params::{DESCRIBING, THEN, is_set};
use crate::server::request::{Call, Param, ParamType, position};

/// The parameters in addition to those of a position.
pub(in crate::server) const TARGET: &[Param] = &[
    Param::new("like", ParamType::Text, "Find the positions nearest to this FEN, the nearest first"),
    Param::new(
        "pattern",
        ParamType::Text,
        "Pieces as in a FEN, or ? anything, ! any piece, A any white one, a any black one, [QR] one of these, * any number of squares",
    ),
    Param::new(
        "material",
        ParamType::Text,
        "All pieces on the board, White's first: KRPvKR, KRP-KR or KRPKR",
    ),
    Param::new("structure", ParamType::Text, "A FEN with the same pawns; its other pieces are ignored"),
    Param::new("ending", ParamType::Text, "The kind of ending, such as rook or opposite-bishops"),
    Param::new("move", ParamType::Text, "The move played from the position, such as Qxh7#"),
    Param::new("for", ParamType::Number, "The number of consecutive positions that must match; default 1"),
    Param::new(
        "ply",
        ParamType::Text,
        "Match only positions after this number of half-moves: 20, 20-40, -40 or 60-",
    ),
    Param::new(
        THEN,
        ParamType::Flag,
        "Separates two descriptions: later in the game, the second one must match",
    ),
    Param::new("either", ParamType::Flag, "Also match positions with the colours reversed"),
    Param::new("mirror", ParamType::Flag, "Also match positions with left and right exchanged"),
];

/// Parses the target; without one, all games match.
pub(in crate::server) fn target(call: &Call) -> Result<FindTarget, Problem> {
    let position = position(call)?;
    let sequence = sequence(call)?;
    let like = call.text("like").map(PositionQuery::from_fen).transpose();
    let like = like.map_err(|error| Problem::position("like", &error))?;
    match (position, sequence, like) {
        (None, None, None) => Ok(FindTarget::Games),
        (Some(query), None, None) => Ok(FindTarget::Position(query.into())),
        (None, Some(sequence), None) => Ok(FindTarget::Sequence(sequence.into())),
        (None, None, Some(query)) => Ok(FindTarget::Like(query.into())),
        _ => Err(Problem::parameter(
            "fen",
            "give only one of these: a position, a description, a position for like",
        )),
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
            return Err(Problem::parameter(
                name,
                "given twice; to match one after the other, put then between two descriptions",
            ));
        }
        let wrong = |error: &dyn std::fmt::Display| Problem::parameter(name, error);
        let description = &mut step.description;
        is_described |= !matches!(name.as_str(), "for" | "ply");
        match name.as_str() {
            "pattern" => description.pattern = Some(Pattern::parse(value).map_err(|error| wrong(&error))?),
            "material" => {
                description.material = Some(MaterialSignature::parse(value).map_err(|error| wrong(&error))?);
            }
            "structure" => {
                let read = PawnStructure::from_fen(value.as_bytes());
                description.structure = Some(read.map_err(|error| wrong(&error))?);
            }
            "ending" => {
                let ending = Ending::ALL.into_iter().find(|ending| ending.as_str() == value);
                let names = || Ending::ALL.map(Ending::as_str).join(", ");
                description.ending =
                    Some(ending.ok_or_else(|| wrong(&format!("not one of these: {}", names())))?);
            }
            "move" => description.played = Some(MovePattern::parse(value).map_err(|error| wrong(&error))?),
            "for" => {
                let number = value.parse().ok().filter(|&number| number > 0);
                step.lasting = number.ok_or_else(|| wrong(&"not a whole number from 1 on"))?;
            }
            _ => {
                step.plies = plies(value)
                    .ok_or_else(|| wrong(&"not a ply or a range of plies; write 20, 20-40, -40 or 60-"))?;
            }
        }
    }
    if is_described {
        return Ok(step);
    }
    // Only `for` or `ply` is given, without a description, or nothing is given before or after `then`.
    let name = words.first().map_or(THEN, |(name, _)| name.as_str());
    Err(Problem::parameter(
        name,
        "needs a description of positions: pattern, material, structure, ending or move",
    ))
}

fn plies(text: &str) -> Option<RangeInclusive<u32>> {
    let number = |text: &str, open| if text.is_empty() { Some(open) } else { text.parse().ok() };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = number(first, 0)?..=number(last, u32::MAX)?;
    (range.start() <= range.end() && !(first.is_empty() && last.is_empty())).then_some(range)
}
