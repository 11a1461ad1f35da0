//! Index large PGN dumps into one SQLite file in which every position (FEN) and every move (a 32-bit move code) of
//! every game can be looked up.
//!
//! | module | contents |
//! |---|---|
//! | [`board`] | the rules of chess on a 0x88 board: squares, pieces, move codes, generator, SAN, FEN, keys |
//! | [`id`] | row identifiers |
//! | [`pgn`] | parses PGN (chunks, movetext tokens, tag pairs), and writes it |
//! | [`opening`] | opening names, found by position |
//! | [`source`] | input: files, directories, archives and streams |
//! | [`query`] | queries on a database, with answers as data |
//! | [`picture`] | boards as SVG pictures |
//! | [`index`] | the indexer: sources in, database out |
//! | [`functions`] | the SQL functions |
//! | `server` | an HTTP server for queries on databases: an explorer API and a web page; available with the feature `serve` |
//! | `columnar` | the tables of games and positions as Parquet files; available with the feature `parquet` |
//! | [`store`] | the SQLite database: schema, bulk load, look-ups |
//! | [`verify`] | checks whether a database is consistent |
//!
//! # Versions
//!
//! Versions follow [Semantic Versioning](https://semver.org). Before 1.0, a new minor version may change the
//! API; the changelog describes the changes. The items shown in this documentation are meant to be used.
//! Public items that are not shown, such as the pages and the writers of [`store`], exist for the tests and
//! benchmarks of this project. They may change at any time.
//!
//! The database schema has [its own version](store::SchemaVersion). The program reads databases of all
//! released schema versions up to the version that it writes.

// Without the feature `index`, some code has no caller.
#![cfg_attr(not(feature = "index"), allow(dead_code, unused_imports))]

pub mod board;
#[cfg(any(feature = "index", feature = "serve"))]
mod channel;
#[cfg(feature = "parquet")]
pub mod columnar;
mod error_advice;
pub mod functions;
#[cfg(test)]
#[path = "../tests/common/generated_file.rs"]
mod generated_file;
pub mod id;
#[cfg(feature = "index")]
pub mod index;
pub mod opening;
mod parallel;
mod path_bytes;
pub mod pgn;
pub mod picture;
mod positioned_io;
#[cfg(test)]
#[path = "../tests/common/properties.rs"]
mod properties;
pub mod query;
#[cfg(feature = "serve")]
pub mod server;
#[cfg(feature = "index")]
mod sort;
mod sorted;
#[cfg(feature = "index")]
pub mod source;
pub mod store;
mod utc;
#[cfg(feature = "index")]
pub mod verify;

#[doc(hidden)]
pub use positioned_io::read_start;
pub use sorted::SortedMap;
#[doc(hidden)]
pub use utc::utc;

/// The documentation tests also run the code in `docs/cookbook/developer.md`.
#[cfg(all(doctest, feature = "index"))]
#[doc = include_str!("../docs/cookbook/developer.md")]
struct PageForDevelopers;
