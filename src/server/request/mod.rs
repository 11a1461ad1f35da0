//! Parses requests.

mod filter;
mod params;
mod position;
mod target;

use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::body::Bytes;

pub(super) use filter::{FILTER, filter, filter_of_player};
pub(super) use params::{Param, ParamType};
pub(super) use position::{POSITION, position};
pub(super) use target::{TARGET, target};

use crate::server::answer::Problem;

/// A request.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The variable segments of the path.
    pub(super) path: Vec<(String, String)>,
    /// The parameters, in order.
    pub(super) query: Vec<(String, String)>,
    /// The request body.
    pub(super) body: Bytes,
}

impl Call {
    /// Parses the query string of a URL.
    pub(super) fn read_query(query: &str) -> Vec<(String, String)> {
        form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    /// A variable segment of the path.
    pub(super) fn path(&self, name: &str) -> &str {
        let found = self.path.iter().find(|(other, _)| other == name);
        found.map_or("", |(_, value)| value)
    }

    /// The non-empty values of a parameter.
    pub(super) fn all<'c>(&'c self, name: &'c str) -> impl Iterator<Item = &'c str> + 'c {
        let values = self.query.iter().filter(move |(other, _)| other == name);
        values.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a parameter, if it is given and not empty.
    pub(super) fn text<'c>(&'c self, name: &'c str) -> Option<&'c str> {
        self.all(name).next()
    }

    /// The parsed value of a parameter.
    pub(super) fn read<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<Option<T>, Problem> {
        let read = |text: &str| text.parse().map_err(|error| Problem::parameter(name, error));
        self.text(name).map(read).transpose()
    }

    /// An integer from 0 on.
    pub(super) fn number(&self, name: &str, most: u32) -> Result<Option<u32>, Problem> {
        self.within(name, 0..=most)
    }

    /// An integer within a range.
    pub(super) fn within(&self, name: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, Problem> {
        let read = |text: &str| {
            let number = text.parse::<u32>().ok().filter(|number| range.contains(number));
            let (least, most) = (range.start(), range.end());
            number
                .ok_or_else(|| Problem::parameter(name, format!("not a whole number from {least} to {most}")))
        };
        self.text(name).map(read).transpose()
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        // A name without a value is set, as in `…&withEvals`.
        let Some((_, value)) = self.query.iter().find(|(other, _)| other == name) else { return Ok(false) };
        match value.to_ascii_lowercase().as_str() {
            "" | "true" | "1" | "on" | "yes" => Ok(true),
            "false" | "0" | "off" | "no" => Ok(false),
            _ => Err(Problem::parameter(name, "write true or false")),
        }
    }
}
