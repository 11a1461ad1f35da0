//! Lists problems, page by page.

use std::path::PathBuf;

use rusqlite::named_params;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedProblem {
    /// The number of the problem.
    pub problem: u64,
    /// The path of the file; `None` if the database has no such source.
    pub source: Option<PathBuf>,
    /// The game; `None` if the problem is outside any game, or the game was not kept.
    pub game: Option<GameId>,
    /// The number of the game in the source, from 1; `None` if the problem is outside any game.
    pub game_number: Option<u64>,
    /// The problem itself.
    pub problem_of_game: GameProblem,
}

impl Database {
    /// The problems of a page, in the order of their numbers.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn problem_page(&self, page: &ProblemPage<'_>) -> Result<Vec<ListedProblem>> {
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
                Ok(ListedProblem {
                    problem: cells.get("problem_id")?,
                    source: cells.get("path")?,
                    game: cells.get::<Option<u32>>("game_id")?.map(GameId),
                    game_number: cells.get("game_number")?,
                    problem_of_game: GameProblem::read(cells)?,
                })
            },
        )
    }
}
