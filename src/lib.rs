//! Index large PGN dumps into one SQLite file in which every position (FEN) and every move (a 32-bit move code) of
//! every game can be looked up.
//!
//! | module | what lives there |
//! |---|---|
//! | [`board`] | the rules of chess on a 0x88 board: squares, pieces, move codes, generator, SAN, FEN, keys |
//! | [`pgn`] | bytes to games: chunks, movetext tokens, tag pairs |
//! | [`source`] | where the bytes come from: files and directories |
//! | [`index`] | the main job: sources in, database out |
//! | [`store`] | the SQLite database: schema, bulk load, look-ups |
//! | [`verify`] | is a database sound? |

pub mod board;
pub mod index;
pub mod pgn;
pub mod source;
pub mod store;
pub mod verify;
