//! Lists problems, page by page.

use std::path::PathBuf;

use rusqlite::named_params;
use serde::Serialize;

use crate::id::GameId;
use crate::store::cell::{Cells, PROBLEM};
use crate::store::database::Database;
use crate::store::error::Result;
use crate::store::read::game::record::GameProblem;

/// The names of the kinds of problems.
pub const PROBLEM_KINDS: &[&str] = &[
    "unreadable-source",
    "damaged-archive",
    "illegal-move",
    "ambiguous-move",
    "unreadable-move",
    "unclosed-comment",
    "unclosed-variation",
    "invalid-fen",
    "unsupported-variant",
    "long-tags",
    "long-annotations",
    "long-game",
    "variation-move",
    "stray-opening",
    "stray-closing",
    "unknown-token",
    "missing-space",
    "missing-result",
    "result-mismatch",
    "unclosed-tag",
    "invalid-tag",
    "duplicate-tag",
    "invalid-text",
    "many-pieces",
    "outside-text",
    "no-game",
];

/// Selects the problems to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProblemPage<'a> {
    /// Only problems with a greater number.
    pub after: u64,
    /// The maximum number of problems.
    pub limit: u32,
    /// Only problems of this kind, such as `illegal-move`.
    pub kind: Option<&'a str>,
    /// Only problems of this severity: `warning` or `error`.
    pub severity: Option<&'a str>,
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

impl Database {
    /// The problems of a page, in the order of their numbers.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn problem_page(&self, page: &ProblemPage<'_>) -> Result<Vec<FoundProblem>> {
        let ProblemPage { after, limit, kind, severity } = *page;
        self.all(
            "read table problem",
            "SELECT problem_id, source.path AS path, game_id, game_number, line, column_number, problem.byte_offset AS byte_offset, ply,
                 token, kind, severity, message
             FROM problem LEFT JOIN source USING (source_id)
             WHERE problem_id > :after AND (:kind IS NULL OR kind = :kind) AND (:severity IS NULL OR severity = :severity)
             ORDER BY problem_id LIMIT :limit",
            named_params! { ":after": after.cast_signed(), ":limit": limit, ":kind": kind, ":severity": severity },
            |row| {
                let cells = Cells::new(row, PROBLEM);
                let path: Option<PathBuf> = cells.get("path")?;
                Ok(FoundProblem {
                    problem_id: cells.get("problem_id")?,
                    source: path.map(|path| path.to_string_lossy().into_owned()),
                    game_id: cells.get::<Option<u32>>("game_id")?.map(GameId),
                    game_number: cells.get("game_number")?,
                    problem: GameProblem::read(cells)?,
                })
            },
        )
    }
}
