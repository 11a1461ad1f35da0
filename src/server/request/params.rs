//! The parameters of our own addresses: each is known, and none is passed over.

use crate::server::answer::Problem;
use crate::server::request::Call;
use crate::store::nearest;

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Param {
    pub(in crate::server) name: &'static str,
    pub(in crate::server) kind: Kind,
    /// What it is, for the description.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(in crate::server) what: &'static str,
}

/// What a parameter can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Kind {
    Text,
    /// Several of them can be given.
    Texts,
    Number,
    Flag,
    OneOf(&'static [&'static str]),
    /// Several of them can be given.
    AnyOf(&'static [&'static str]),
}

impl Kind {
    pub(in crate::server) const fn repeats(self) -> bool {
        matches!(self, Self::Texts | Self::AnyOf(_))
    }
}

impl Param {
    pub(in crate::server) const fn new(name: &'static str, kind: Kind, what: &'static str) -> Self {
        Self { name, kind, what }
    }

    /// Fails if something is asked that is not among these parameters, or twice what can be asked once.
    pub(in crate::server) fn check(groups: &[&[Self]], call: &Call) -> Result<(), Problem> {
        let known = || groups.iter().copied().flatten();
        for (at, (name, value)) in call.query.iter().enumerate() {
            let Some(param) = known().find(|param| param.name == *name) else {
                return Err(unknown(name, known().map(|param| param.name)));
            };
            let is_again = call.query[..at].iter().any(|(other, _)| other == name);
            // What describes a position can stand once in each part of a course.
            if is_again && !param.kind.repeats() && !call.query.iter().any(|(other, _)| other == "then") {
                return Err(Problem::parameter(name, "is given twice; leave one out"));
            }
            if let Kind::OneOf(words) | Kind::AnyOf(words) = param.kind
                && !value.is_empty()
                && !words.contains(&value.as_str())
            {
                return Err(Problem::parameter(name, format!("not one of these: {}", words.join(", "))));
            }
        }
        Ok(())
    }
}

/// A parameter that there is not.
fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Problem {
    let names = Vec::from_iter(known);
    let hint = match nearest(name, names.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if names.is_empty() => "there are no parameters here".to_owned(),
        None => format!("there are: {}", names.join(", ")),
    };
    Problem::parameter(name, format!("no such parameter; {hint}"))
}
