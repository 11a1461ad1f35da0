//! Converts a game's text to rows: tags, moves, positions, problems.

pub(crate) mod annotate;
pub(crate) mod batch;
pub(crate) mod hash;
pub(crate) mod header;
pub(crate) mod parse;
pub(crate) mod positions;
mod replay;
pub(crate) mod signature;
pub(crate) mod single_game;
pub(crate) mod word;
