//! The rules of chess, compared with tables from another program, with the examples of the 0x88 model, and with simple
//! implementations of the same rules.

mod common;
mod fen;
mod model;
mod pattern;
mod perft;
mod play;
mod san;
mod tables;
