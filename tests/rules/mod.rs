//! The rules of chess, the reading of PGN, and the names of openings; and how property tests choose their cases.

mod board;
mod cases;
mod opening;
mod pasted;
mod pgn;
