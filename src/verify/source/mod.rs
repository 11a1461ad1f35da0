//! Compares games with the text that they were read from.

pub(super) mod packed;
mod readings;
mod text;

pub(crate) use readings::{Chain, Marks, Sources};
pub(crate) use text::{Texts, compare_game, compare_moves, piece, report_misplaced};
