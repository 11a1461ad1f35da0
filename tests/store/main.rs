//! The database: its file, the pages that are built beside SQLite, and what is looked up in it.

mod btree;
mod explore;
mod file;
mod graft;
#[path = "../common/needs.rs"]
mod needs;
#[path = "../common/properties.rs"]
mod properties;
mod rows;
mod search;
mod temporary_files;
