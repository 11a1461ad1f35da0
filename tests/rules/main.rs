//! The rules of chess, the reading of PGN, and the names of openings; and how property tests choose their cases.

mod board;
mod cases;
#[path = "../common/needs.rs"]
mod needs;
mod opening;
mod pasted;
mod pgn;
#[path = "../common/properties.rs"]
mod properties;
