//! The database: its file, the pages that are written without SQLite, and look-ups.

mod explore;
mod file;
mod near;
mod page_transaction;
mod pages;
mod rows;
mod search;
mod table_pages;
mod temporary_files;
mod variations;

use pgndex::store::{Database, Hit, Search};

/// The hits of a search.
fn hits(database: &Database, search: &Search<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let visited = database.visit_hits(search, &mut |hit| {
        hits.push(hit);
        true
    });
    visited.expect("hits");
    hits
}
