//! The rules of chess, held against tables made with another program, against the model's worked examples and against
//! naive twins of the fast paths.

mod common;
mod fen;
mod model;
mod pattern;
mod perft;
mod play;
#[path = "../common/properties.rs"]
mod properties;
mod san;
mod tables;
