//! Exceptions.

use std::fmt;
use std::path::Path;

use pgndex::index::ProblemLocation;
use pgndex::{columnar, index, query, store};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};

create_exception!(pgndex, Error, PyException, "Base class of all errors. The message says what to do next.");
create_exception!(pgndex, PgnError, Error, "PGN files that cannot be read, or games with an error.");
create_exception!(pgndex, DatabaseError, Error, "A database that cannot be used, or has an error.");
create_exception!(pgndex, QuestionError, Error, "An invalid query.");

/// An error with all its causes, as one text.
pub(crate) fn message(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        // This cause is only SQLite's error code. The message of the error before it already describes the code.
        let is_code = error.is::<rusqlite::ffi::Error>();
        if !is_code && !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}

/// An error that should not happen.
pub(crate) fn bug(error: impl fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("{error}; this is a bug in pgndex, please report it"))
}

pub(crate) fn of_question(error: &columnar::StreamError) -> PyErr {
    QuestionError::new_err(error.to_string())
}

/// An exception with the place of the error, if known: attributes `path`, `line`, `column`, `byte`, `game`,
/// `ply`.
pub(crate) fn placed<E: PyTypeInfo>(
    text: String,
    path: Option<&Path>,
    place: Option<&ProblemLocation>,
) -> PyErr {
    Python::attach(|py| {
        let error = PyErr::from_type(E::type_object(py), text);
        let value = error.value(py);
        let path = place.map(|place| place.path.as_path()).or(path);
        let set = || {
            value.setattr("path", path.map(|path| path.display().to_string()))?;
            value.setattr("line", place.map(|place| place.line))?;
            value.setattr("column", place.map(|place| place.column))?;
            value.setattr("byte", place.map(|place| place.byte_offset))?;
            value.setattr("game", place.map(|place| place.game_number))?;
            value.setattr("ply", place.and_then(|place| place.ply).map(|ply| ply.0))
        };
        set().map_or_else(|failed| failed, |()| error)
    })
}

pub(crate) fn of_run(error: &index::Error) -> PyErr {
    let text = message(error);
    match error {
        index::Error::Store(error) => of_store(error),
        // The text leaves out "nothing to index", because these errors also occur when files are only read.
        index::Error::NoSource(reason) => placed::<PgnError>(reason.clone(), None, None),
        index::Error::NoFile(_) => {
            placed::<PgnError>(text.trim_start_matches("nothing to index: ").to_owned(), None, None)
        }
        index::Error::TooManyErrors { place, .. } => placed::<PgnError>(text, None, place.as_deref()),
        index::Error::SourceIsTarget { path } | index::Error::Report { path, .. } => {
            placed::<PgnError>(text, Some(path), None)
        }
        _ => placed::<PgnError>(text, None, None),
    }
}

pub(crate) fn of_store(error: &store::Error) -> PyErr {
    let text = message(error);
    match error {
        store::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        store::Error::Query { .. }
        | store::Error::EmptyQuery
        | store::Error::MultipleStatements
        | store::Error::NotReadOnly => placed::<QuestionError>(text, None, None),
        error => placed::<DatabaseError>(text, error.path(), None),
    }
}

pub(crate) fn of_query(error: &query::Error) -> PyErr {
    match error {
        query::Error::Store(error) => of_store(error),
        query::Error::NotAGame { .. } => QuestionError::new_err(error.to_string()),
        error => placed::<DatabaseError>(message(error), None, None),
    }
}
