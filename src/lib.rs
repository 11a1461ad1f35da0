//! Index large PGN dumps into one SQLite file in which every position (FEN) and every move (a 32-bit move code) of
//! every game can be looked up.
//!
//! | module | what lives there |
//! |---|---|
//! | [`board`] | the rules of chess on a 0x88 board: squares, pieces, move codes, generator, SAN, FEN, keys |
//! | [`id`] | numbers that rows are told by |
//! | [`pgn`] | bytes to games: chunks, movetext tokens, tag pairs |
//! | [`opening`] | names of openings, told from positions |
//! | [`source`] | where the bytes come from: files and directories |
//! | [`query`] | questions to a database, and the answers as data |
//! | [`picture`] | boards as SVG pictures |
//! | [`index`] | the main job: sources in, database out |
//! | [`functions`] | the SQL functions |
//! | `server` | HTTP on these questions: an explorer API and a page; there with the feature `serve` |
//! | `columnar` | the same tables as Parquet files; there with the feature `parquet` |
//! | [`store`] | the SQLite database: schema, bulk load, look-ups |
//! | [`verify`] | is a database sound? |
//!
//! # Versions
//!
//! Versions follow [Semantic Versioning](https://semver.org); before 1.0, a new minor version may change what is here, and the change log
//! tells how. What this documentation shows is meant to be used. What is public and not shown, as the pages and the writers of
//! [`store`], is there for the tests and benches of this project, and may change at any time.
//!
//! The schema of databases has [a version of its own](store::SchemaVersion): programs read databases of all released versions up to their own.

// What only `index` calls is not dead.
#![cfg_attr(not(feature = "index"), allow(dead_code))]

pub mod board;
#[cfg(feature = "parquet")]
pub mod columnar;
pub mod functions;
pub mod id;
#[cfg(feature = "index")]
pub mod index;
#[cfg(test)]
mod layers;
#[cfg(test)]
#[path = "../tests/common/made_file.rs"]
mod made_file;
pub mod opening;
mod parallel;
mod path_bytes;
pub mod pgn;
pub mod picture;
mod positioned;
#[cfg(test)]
#[path = "../tests/common/properties.rs"]
mod properties;
pub mod query;
mod remedy;
#[cfg(feature = "serve")]
pub mod server;
#[cfg(feature = "index")]
mod sort;
#[cfg(feature = "index")]
pub mod source;
pub mod store;
#[cfg(feature = "index")]
mod turnstile;
#[cfg(feature = "index")]
pub mod verify;

/// The code on the page for developers is run with the examples of the documentation.
#[cfg(all(doctest, feature = "index"))]
#[doc = include_str!("../docs/cookbook/developer.md")]
struct PageForDevelopers;
