//! pgndex's SQL functions for any program that uses SQLite: `.load libpgndex_sqlite` in the `sqlite3` shell,
//! `connection.load_extension("libpgndex_sqlite")` in Python.
//!
//! The only unsafe code is what SQLite's interface for extensions requires: its [entry
//! point](https://sqlite.org/loadext.html#programming_loadable_extensions).
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};

use rusqlite::{Connection, ffi};

/// The function that SQLite calls when the extension is loaded, whatever the file's name.
///
/// # Safety
/// Must be called by SQLite, with an open connection, a pointer for an error message, and SQLite's own interface.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_extension_init(
    connection: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    interface: *mut ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: the arguments come from SQLite; the call only registers the functions.
    unsafe { Connection::extension_init2(connection, message, interface, register) }
}

fn register(connection: Connection) -> rusqlite::Result<bool> {
    pgndex::functions::register(&connection)?;
    // The main database need not be one of pgndex.
    let _ = pgndex::store::read_views_quickly(&connection);
    Ok(false)
}
