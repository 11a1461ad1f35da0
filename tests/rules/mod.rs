//! The rules of chess, the PGN reader, and opening names; and how property tests choose their cases.

mod board;
mod cases;
mod opening;
mod pasted;
mod pgn;
