//! A request and its parameters. pgndex's own routes refuse unknown parameters.

use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::body::Bytes;

use crate::server::answer::Problem;
use crate::store::nearest;

/// The parameter between two descriptions of positions.
pub(super) const THEN: &str = "then";

/// The parameters that describe a position.
pub(super) const DESCRIBING: [&str; 7] = ["pattern", "material", "structure", "ending", "move", "for", "ply"];

/// A request.
#[derive(Debug, Default)]
pub(in crate::server) struct Call {
    /// The variable segments of the path, each with its name.
    pub(in crate::server) path: Vec<(String, String)>,
    /// The parameters, in order.
    pub(in crate::server) query: Vec<(String, String)>,
    /// The request body.
    pub(in crate::server) body: Bytes,
}

impl Call {
    /// Parses the query string of a URL.
    pub(in crate::server) fn read_query(query: &str) -> Vec<(String, String)> {
        form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    /// The variable segment of the path with this name; empty if there is none.
    pub(in crate::server) fn path(&self, name: &str) -> &str {
        let found = self.path.iter().find(|(other, _)| other == name);
        found.map_or("", |(_, value)| value)
    }

    /// The non-empty values of a parameter.
    pub(in crate::server) fn all<'c>(&'c self, name: &'c str) -> impl Iterator<Item = &'c str> + 'c {
        let values = self.query.iter().filter(move |(other, _)| other == name);
        values.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The first value of a parameter that is not empty, if there is one.
    pub(in crate::server) fn text<'c>(&'c self, name: &'c str) -> Option<&'c str> {
        self.all(name).next()
    }

    /// The parsed value of a parameter; `None` if the parameter is missing or empty.
    pub(in crate::server) fn read<T: FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Problem> {
        let read = |text: &str| text.parse().map_err(|error| Problem::parameter(name, error));
        self.text(name).map(read).transpose()
    }

    /// An integer from 0 to `most`.
    pub(in crate::server) fn number(&self, name: &str, most: u32) -> Result<Option<u32>, Problem> {
        self.within(name, 0..=most)
    }

    /// An integer within a range.
    pub(in crate::server) fn within(
        &self,
        name: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, Problem> {
        let read = |text: &str| {
            let number = text.parse::<u32>().ok().filter(|number| range.contains(number));
            let (least, most) = (range.start(), range.end());
            number
                .ok_or_else(|| Problem::parameter(name, format!("not a whole number from {least} to {most}")))
        };
        self.text(name).map(read).transpose()
    }

    /// Whether a flag is set.
    pub(in crate::server) fn flag(&self, name: &str) -> Result<bool, Problem> {
        let found = self.query.iter().find(|(other, _)| other == name);
        found.map_or(Ok(false), |(_, value)| is_set(name, value))
    }
}

/// Whether a flag with this value is set. A flag without a value is set, as in `…&withEvals`.
pub(super) fn is_set(name: &str, value: &str) -> Result<bool, Problem> {
    match value.to_ascii_lowercase().as_str() {
        "" | "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err(Problem::parameter(name, "write true or false")),
    }
}

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

    /// Fails if the request has an unknown parameter, a value that is not among the words of its parameter,
    /// or two values of a parameter that may be given only once.
    pub(in crate::server) fn check(groups: &[&[Self]], call: &Call) -> Result<(), Problem> {
        let known = || groups.iter().copied().flatten();
        for (at, (name, value)) in call.query.iter().enumerate() {
            let Some(param) = known().find(|param| param.name == *name) else {
                return Err(unknown(name, known().map(|param| param.name)));
            };
            let is_again = call.query[..at].iter().any(|(other, _)| other == name);
            // With `then`, parameters that describe positions may occur once in each step; the parser of the
            // steps checks this.
            let is_of_step = (name == THEN || DESCRIBING.contains(&name.as_str()))
                && call.query.iter().any(|(other, _)| other == THEN);
            if is_again && !param.kind.repeats() && !is_of_step {
                return Err(Problem::parameter(name, "given twice, but allowed only once; remove one"));
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
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None if names.is_empty() => "this address takes no parameters".to_owned(),
        None => format!("known parameters: {}", names.join(", ")),
    };
    Problem::parameter(name, format!("no such parameter; {hint}"))
}
