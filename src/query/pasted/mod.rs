//! Parses pasted positions: FENs, and moves in the letters and signs of many books and programs.
//!
//! Moves are parsed in three steps: `scan` splits the text into words, `reading` plays the words with the
//! piece letters of one [language](language), and `moves` chooses the language. PGN files are parsed by
//! [`pgn`](crate::pgn) instead: programs write them, so they need less tolerance and more speed.

mod characters;
mod fen;
mod language;
mod moves;
mod note;
mod reading;
mod scan;

pub(super) use fen::{pasted_fen, variant_of_address};
pub use note::MovesNote;
pub(super) use scan::other_variant;
