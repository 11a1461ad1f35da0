//! Lists problems, page by page.

use serde::Serialize;

use crate::id::GameId;
use crate::store::{self, Database, GameProblem, ProblemPage};

/// A page of problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundProblems {
    /// The problems, in the order in which they were found.
    pub problems: Vec<FoundProblem>,
    /// The last one, if there may be more.
    pub next_cursor: Option<String>,
}

/// A problem and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoundProblem {
    /// Its number.
    pub problem_id: u64,
    /// The file.
    pub source: Option<String>,
    /// The game, if it was kept.
    pub game_id: Option<GameId>,
    /// Which game of the file, from 1.
    pub game_number: Option<u64>,
    /// What is wrong, and where.
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
