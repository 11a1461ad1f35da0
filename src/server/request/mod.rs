//! Parses requests.

mod filter;
mod params;
mod position;
mod target;

pub(super) use filter::{FILTER, filter, filter_of_player};
pub(super) use params::{Call, Param, ParamType};
pub(super) use position::{POSITION, position};
pub(super) use target::{TARGET, target};
