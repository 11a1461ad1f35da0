//! Positions as people paste them: FENs, and moves in the letters and signs of many books and programs.
//!
//! Moves are read in three steps: `scan` takes the text apart, `reading` plays its words with the piece letters of one
//! [language](language), and `moves` chooses the language. PGN files are not read here: they are what programs write, and there are
//! many of them.

mod fen;
mod language;
mod moves;
mod reading;
mod scan;
mod signs;

pub(super) use fen::{pasted_fen, variant_of_address};
pub use moves::MovesNote;
pub(super) use moves::read_moves;
pub(super) use scan::other_variant;
