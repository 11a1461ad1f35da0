//! Filters on games: keyword arguments named like the command-line options.

use pgndex::board::GameResult;
use pgndex::pgn::Speed;
use pgndex::store::{GameFilter, read_result};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Parses the arguments of a filter.
///
/// # Errors
/// If an argument has an unknown name, a wrong type or a wrong form.
pub(crate) fn filter(arguments: Option<&Bound<'_, PyDict>>) -> PyResult<GameFilter> {
    let mut filter = GameFilter::default();
    for (name, value) in arguments.into_iter().flatten() {
        if !value.is_none() {
            set(&mut filter, &name.extract::<String>()?, &value)?;
        }
    }
    Ok(filter)
}

fn set(filter: &mut GameFilter, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    /// Parses a value. A number is converted to text first, because a date can be just a year.
    fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<Option<T>> {
        let text = value.str()?.to_string();
        let parsed = text.parse().map_err(|error| wrong(name, &text, error))?;
        Ok(Some(parsed))
    }
    match name {
        "white" => filter.white = parsed(name, value)?,
        "black" => filter.black = parsed(name, value)?,
        "player" => filter.player = parsed(name, value)?,
        "opponent" => filter.opponent = parsed(name, value)?,
        "elo_min" => filter.elo_min = Some(value.extract()?),
        "elo_max" => filter.elo_max = Some(value.extract()?),
        "since" => filter.since = parsed(name, value)?,
        "until" => filter.until = parsed(name, value)?,
        "result" => filter.result = Some(result(&value.extract::<String>()?)?),
        "event" => filter.event = parsed(name, value)?,
        "site" => filter.site = parsed(name, value)?,
        "opening" => filter.opening = parsed(name, value)?,
        "eco" => filter.eco = parsed(name, value)?,
        "opening_eco" => filter.opening_eco = parsed(name, value)?,
        "speed" => filter.speeds = speeds(value)?,
        "time_control" => filter.time_control = Some(value.extract()?),
        "termination" => filter.termination = Some(value.extract()?),
        "plies_min" => filter.plies_min = Some(value.extract()?),
        "plies_max" => filter.plies_max = Some(value.extract()?),
        "with_evals" => filter.with_evals = value.extract()?,
        "variant" => filter.variant = Some(value.extract()?),
        _ => {
            return Err(PyTypeError::new_err(format!(
                "there is no argument {name:?}; games are chosen by {NAMES}"
            )));
        }
    }
    Ok(())
}

const NAMES: &str = "white, black, player, opponent, elo_min, elo_max, since, until, result, event, site, opening, eco, opening_eco, \
                     speed, time_control, termination, plies_min, plies_max, with_evals, variant";

fn wrong(name: &str, text: &str, error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{name}={text:?}: {error}"))
}

fn result(text: &str) -> PyResult<GameResult> {
    read_result(text).map_err(|error| wrong("result", text, error))
}

/// Parses the name of a speed, or a list of such names.
fn speeds(value: &Bound<'_, PyAny>) -> PyResult<Vec<Speed>> {
    let words: Vec<String> = match value.extract::<String>() {
        Ok(word) => vec![word],
        Err(_) => value.extract()?,
    };
    let named = |word: String| {
        let names = Speed::ALL.map(Speed::as_str).join(", ");
        Speed::named(&word).ok_or_else(|| wrong("speed", &word, format!("not a speed; write one of {names}")))
    };
    words.into_iter().map(named).collect()
}
