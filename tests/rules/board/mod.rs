//! The rules of chess, held against tables made with another program, against the model's worked examples and against
//! naive twins of the fast paths.

mod common;
mod fen;
mod model;
mod pattern;
mod perft;
mod play;
mod san;
mod tables;
