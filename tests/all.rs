//! All quick tests in one program, because linking each program takes time. Each folder is a suite: `cargo test --test
//! all index::` runs one of them.

#[path = "common/command.rs"]
mod command;
mod functions;
#[path = "common/games.rs"]
mod games;
#[path = "common/generated_file.rs"]
mod generated_file;
mod index;
#[path = "common/needs.rs"]
mod needs;
#[path = "common/pages.rs"]
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
mod program;
#[path = "common/properties.rs"]
mod properties;
mod rules;
#[cfg(unix)]
#[path = "common/schema.rs"]
mod schema;
#[cfg(feature = "serve")]
mod server;
mod store;
mod structure;
#[path = "common/support.rs"]
mod support;
#[path = "common/workspace.rs"]
mod workspace;
