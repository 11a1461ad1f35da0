//! Lists problems, page by page.

use serde::Serialize;

use crate::id::GameId;
use crate::store::{self, Database, GameProblem, ProblemPage};

/// A page of the list of problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundProblems {
    /// The problems, in the order in which they were found.
    pub problems: Vec<FoundProblem>,
    /// Value of the parameter `cursor` for the next page, which can be empty; `null` if this is the last
    /// page.
    pub next_cursor: Option<String>,
}

/// A problem and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoundProblem {
    /// Number of the problem: the row of `problem`.
    pub problem_id: u64,
    /// Path of the file, as given to `index`; `null` if unknown.
    pub source: Option<String>,
    /// Number of the game; `null` if it is not stored, or if the problem is outside any game.
    pub game_id: Option<GameId>,
    /// Number of the game in the file, from 1; `null` if the problem is outside any game.
    pub game_number: Option<u64>,
    /// The problem.
    #[serde(flatten)]
    pub problem: GameProblem,
}

impl FoundProblems {
    /// Reads a page of problems.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn read(database: &Database, page: &ProblemPage<'_>) -> store::Result<Self> {
        let found = database.problem_page(page)?;
        let is_full = found.len() >= page.limit as usize;
        let next_cursor = found.last().filter(|_| is_full).map(|last| last.problem.to_string());
        let problems = found.into_iter().map(|found| FoundProblem {
            problem_id: found.problem,
            source: found.source.map(|path| path.to_string_lossy().into_owned()),
            game_id: found.game,
            game_number: found.game_number,
            problem: found.problem_of_game,
        });
        Ok(Self { problems: problems.collect(), next_cursor })
    }
}
