//! The commands. Each module contains one command or several similar commands.

pub(crate) mod explore;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod game;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod key;
pub(crate) mod maintenance;
pub(crate) mod player;
pub(crate) mod players;
pub(crate) mod remove;
pub(crate) mod repertoire;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod verify;
pub(crate) mod watch;
