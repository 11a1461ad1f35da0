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
