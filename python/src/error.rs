//! Exceptions.

use std::fmt;

use pgndex::{columnar, index};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

create_exception!(pgndex, Error, PyException, "What pgndex could not do, and what to do next.");
create_exception!(pgndex, PgnError, Error, "Something is wrong with the games, or they cannot be read.");
create_exception!(pgndex, DatabaseError, Error, "Something is wrong with a database, or it cannot be used.");
create_exception!(pgndex, QuestionError, Error, "A question that cannot be answered as it is put.");

/// An error and all that caused it, as one text.
pub(crate) fn message(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}

/// What should not happen.
pub(crate) fn bug(error: impl fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("{error}; this is a bug in pgndex, please report it"))
}

pub(crate) fn of_question(error: &columnar::StreamError) -> PyErr {
    QuestionError::new_err(error.to_string())
}

pub(crate) fn of_run(error: &index::Error) -> PyErr {
    let text = message(error);
    match error {
        index::Error::Store(_) => DatabaseError::new_err(text),
        _ => PgnError::new_err(text),
    }
}
