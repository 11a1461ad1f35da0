//! The program itself, as a user runs it; and what the documentation says of it.

mod backup;
mod cli;
mod described;
mod engines;
mod environment;
mod explore;
mod explored;
mod export;
mod filter;
mod find;
mod game;
#[path = "../common/games.rs"]
mod games;
mod hostile;
mod index;
mod info;
mod inputs;
mod licences;
#[cfg(unix)]
mod log;
mod missing;
#[path = "../common/needs.rs"]
mod needs;
mod nightly;
mod novelty;
mod parquet;
mod picture;
mod place;
mod player;
mod players;
#[path = "../common/program.rs"]
mod program;
mod python;
mod readers;
mod readme;
mod remove;
mod repertoire;
#[cfg(unix)]
#[path = "../common/schema.rs"]
mod schema;
mod shell;
mod spark;
mod sql;
mod told;
mod variations;
mod versions;
#[cfg(target_os = "linux")]
mod watch;
