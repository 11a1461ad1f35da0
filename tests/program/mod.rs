//! The program as a user runs it, and the commands in the documentation.

mod backup;
mod cases;
mod cli;
mod described;
mod environment;
mod explore;
mod explored;
mod export;
mod filter;
mod find;
mod game;
mod hostile;
mod index;
mod info;
mod inputs;
mod layouts;
mod licences;
#[cfg(unix)]
mod log;
mod messages;
mod missing_programs;
mod nightly;
mod notes;
mod novelty;
mod picture;
mod player;
mod players;
mod python;
mod readers;
mod readme;
mod remove;
mod repertoire;
mod shell;
mod sql;
mod stopping;
mod variations;
mod versions;
#[cfg(target_os = "linux")]
mod watch;
mod words;
