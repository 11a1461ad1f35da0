//! Queries on a database, for `pgndex.Database`.

mod games;
mod positions;
mod sql;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pgndex::board::Color;
use pgndex::query::{ExploreAnswer, ExploreQuery, PlayerQuery};
use pgndex::store::{self, Database, Lines, ListLengths, NameFilter, Stop};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::error::{QuestionError, message, of_store};
use crate::filter::filter;
use crate::picture::PositionArguments;
use crate::rows::{Failure, Rows, is_interrupted_now_and_then};

/// A database that is open for reading.
#[pyclass(module = "pgndex", frozen)]
#[derive(Debug)]
pub(crate) struct OpenDatabase {
    path: PathBuf,
    database: Mutex<Option<Database>>,
}

/// Opens a database. Its queries stop when `is_stopped` returns true.
fn open(path: &Path, is_stopped: impl Fn() -> bool + Send + Sync + 'static) -> store::Result<Database> {
    let database = Database::open_read_only(path)?;
    database.stop_when(&Stop::new(is_stopped))?;
    Ok(database)
}

impl OpenDatabase {
    /// Runs a query. Other Python threads can run meanwhile.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Database) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let closed = || QuestionError::new_err("the database has been closed; open it again");
        let answer = py.detach(|| {
            let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
            database.as_ref().map(ask)
        });
        answer.ok_or_else(closed)?.map_err(PyErr::from)
    }
}

fn json(answer: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(answer).map_err(|error| Failure::Other(error.to_string()))
}

#[pymethods]
impl OpenDatabase {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let database =
            py.detach(|| open(&path, is_interrupted_now_and_then)).map_err(|error| of_store(&error))?;
        Ok(Self { path, database: Mutex::new(Some(database)) })
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.database.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// The moves played from a position, as JSON.
    #[pyo3(signature = (told, games, *, side, limit, top, recent, variations, history, depth, least_share))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn explore(
        &self,
        py: Python<'_>,
        told: (Option<String>, Option<String>, Option<String>),
        games: &Bound<'_, PyDict>,
        side: Option<&str>,
        limit: Option<u32>,
        top: u8,
        recent: u8,
        variations: bool,
        history: bool,
        depth: Option<u32>,
        least_share: u64,
    ) -> PyResult<String> {
        let query = position(told)?.read()?;
        let filter = filter(Some(games))?;
        let side = match side {
            None => None,
            Some("white") => Some(Color::White),
            Some("black") => Some(Color::Black),
            Some(word) => {
                return Err(QuestionError::new_err(format!("side={word:?}: write white or black")));
            }
        };
        // With a side, the filter's player is the player on that side.
        let filter = match side {
            Some(side) => filter.with_side(side).map_err(|error| QuestionError::new_err(message(&error)))?,
            None => filter,
        };
        self.ask(py, |database| {
            let selection = database.select(&filter)?;
            let explore = ExploreQuery {
                database,
                query: &query,
                lines: if variations { Lines::All } else { Lines::Main },
                selection: &selection,
                side,
                lists: ListLengths { top, recent },
                limit,
                counts_transposed: true,
                openings: None,
            };
            if let Some(depth) = depth {
                return json(&explore.tree(depth, least_share)?);
            }
            let history = if history { Some(explore.history(HISTORY_MOVES)?) } else { None };
            json(&ExploreAnswer { explored: explore.answer()?, history, versus: None })
        })
    }

    /// A player's record, as JSON.
    #[pyo3(signature = (name, games, *, limit, depth, least_share))]
    fn player(
        &self,
        py: Python<'_>,
        name: &str,
        games: &Bound<'_, PyDict>,
        limit: Option<usize>,
        depth: u32,
        least_share: u64,
    ) -> PyResult<String> {
        let name: NameFilter = name.parse().map_err(|error| QuestionError::new_err(message(&error)))?;
        let mut filter = filter(Some(games))?;
        if let Some(other) = filter.player.replace(name.clone()) {
            filter.opponent = Some(other);
        }
        self.ask(py, |database| {
            let selection = database.select(&filter)?;
            let limit = limit.unwrap_or(usize::MAX);
            let name = &name;
            json(&PlayerQuery { database, name, selection: &selection, limit, depth, least_share }.answer()?)
        })
    }

    /// Positions that games reached.
    #[pyo3(signature = (told, games, *, sort, limit, offset, variations))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn find(
        &self,
        py: Python<'_>,
        told: (Option<String>, Option<String>, Option<String>),
        games: &Bound<'_, PyDict>,
        sort: &str,
        limit: Option<u32>,
        offset: u32,
        variations: bool,
    ) -> PyResult<Rows> {
        let told = position(told)?;
        let query = if told.is_none() { None } else { Some(told.read()?) };
        let question = games::FindQuestion {
            query,
            filter: filter(Some(games))?,
            order: games::order(sort)?,
            limit,
            offset,
            variations,
        };
        games::find(py, self.path.clone(), question)
    }

    /// Games of the view `games`.
    #[pyo3(signature = (games, *, sort, limit))]
    fn games(
        &self,
        py: Python<'_>,
        games: &Bound<'_, PyDict>,
        sort: &str,
        limit: Option<usize>,
    ) -> PyResult<Rows> {
        games::games(py, self.path.clone(), filter(Some(games))?, games::order(sort)?, limit)
    }

    /// Positions of games.
    #[pyo3(signature = (games, columns, *, plies, evaluated, sample, seed, per_game))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn positions(
        &self,
        py: Python<'_>,
        games: &Bound<'_, PyDict>,
        columns: Option<Vec<String>>,
        plies: Option<(u32, u32)>,
        evaluated: bool,
        sample: Option<u64>,
        seed: u64,
        per_game: Option<u32>,
    ) -> PyResult<Rows> {
        let choice = crate::read::choice(plies, evaluated, sample, seed, per_game);
        positions::positions(py, self.path.clone(), filter(Some(games))?, columns, choice)
    }

    /// The rows of a query.
    fn sql(&self, py: Python<'_>, sql: String, parameters: Option<Bound<'_, PyAny>>) -> PyResult<Rows> {
        sql::rows(py, self.path.clone(), sql, sql::parameters(parameters)?)
    }
}

/// The maximum number of moves that are counted year by year: the most frequent ones.
const HISTORY_MOVES: usize = 4;

fn position(
    (fen, moves, play): (Option<String>, Option<String>, Option<String>),
) -> PyResult<PositionArguments> {
    Ok(PositionArguments { fen, moves, play })
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Interrupted => Self::Interrupted,
            error => Self::Store(error),
        }
    }
}

impl From<pgndex::query::Error> for Failure {
    fn from(error: pgndex::query::Error) -> Self {
        match error {
            pgndex::query::Error::Store(error) => error.into(),
            error => Self::Query(error),
        }
    }
}
