//! Parameters of pgndex's own routes. Unknown ones are refused.

use crate::server::answer::Problem;
use crate::server::request::Call;
use crate::store::nearest;

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Param {
    pub(in crate::server) name: &'static str,
    pub(in crate::server) kind: ParamType,
    /// A description for the API documentation.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes the description reads it"))]
    pub(in crate::server) what: &'static str,
}

/// The types of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum ParamType {
    Text,
    /// May be given several times.
    Texts,
    Number,
    Flag,
    OneOf(&'static [&'static str]),
    /// May be given several times.
    AnyOf(&'static [&'static str]),
}

impl ParamType {
    pub(in crate::server) const fn repeats(self) -> bool {
        matches!(self, Self::Texts | Self::AnyOf(_))
    }
}

impl Param {
    pub(in crate::server) const fn new(name: &'static str, kind: ParamType, what: &'static str) -> Self {
        Self { name, kind, what }
    }

    /// Fails if the request has unknown parameters, or repeats one that may be given only once.
    pub(in crate::server) fn check(groups: &[&[Self]], call: &Call) -> Result<(), Problem> {
        let known = || groups.iter().copied().flatten();
        for (at, (name, value)) in call.query.iter().enumerate() {
            let Some(param) = known().find(|param| param.name == *name) else {
                return Err(unknown(name, known().map(|param| param.name)));
            };
            let is_again = call.query[..at].iter().any(|(other, _)| other == name);
            // Parameters that describe positions may occur once in each step, between two `then`.
            if is_again && !param.kind.repeats() && !call.query.iter().any(|(other, _)| other == "then") {
                return Err(Problem::parameter(name, "is given twice, and can be given once; remove one"));
            }
            if let ParamType::OneOf(words) | ParamType::AnyOf(words) = param.kind
                && !value.is_empty()
                && !words.contains(&value.as_str())
            {
                return Err(Problem::parameter(name, format!("not one of these: {}", words.join(", "))));
            }
        }
        Ok(())
    }
}

/// The error for an unknown parameter.
fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Problem {
    let names = Vec::from_iter(known);
    let hint = match nearest(name, names.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if names.is_empty() => "this address takes no parameters".to_owned(),
        None => format!("known parameters: {}", names.join(", ")),
    };
    Problem::parameter(name, format!("no such parameter; {hint}"))
}
